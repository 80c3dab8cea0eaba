# If the system refuses memory to the extension, or a statement is canceled, the statement ends, but neither its session
# nor the server.
#
# A preloaded library (refused_memory.c) refuses the allocations of each statement from one of them on: in turn from the
# first one, the last one, and some in between. Allocations of 32 kB and more, which are those that grow with the user's
# data, must cause the error 53200. Smaller ones may also be satisfied from the reserve of the process, so that the
# statement continues. Every function of the extension has a statement here, or a reason why it has none. Then
# allocations are refused from a random one on, and a cancellation occurs at a random moment, before or after it.
# REFUSALS=200 runs each statement that often, which takes minutes; SEED repeats a run.

use strict;
use warnings;
use File::Basename;
use IPC::Run;
use List::Util 'sum';
use Test::More;
use SimhashTest;

use constant { LARGE => 32 << 10, ANY => 1 };
my $refusals = $ENV{REFUSALS} || 4;
my $seed = $ENV{SEED} // int(rand(2**31));
srand($seed);
note("SEED=$seed");

my $node = PostgreSQL::Test::Cluster->new('refused_memory');
my $library = $node->basedir . '/refused_memory.so';
chomp(my $headers = `pg_config --includedir-server`);
my $source = dirname(__FILE__) . '/refused_memory.c';
plan skip_all => 'needs a C compiler and glibc'
  if system('cc', '-shared', '-fPIC', '-O1', "-I$headers", '-o', $library, $source) != 0;

$node->init(extra => [ '--encoding', 'UTF8', '--locale', 'C' ]);
# A server that crashes is restarted, and the crash is counted.
$node->append_conf('postgresql.conf',
	"fsync = off\nrestart_after_crash = on\nautovacuum = off\nmax_parallel_workers_per_gather = 0");
{
	local $ENV{LD_PRELOAD} = $library;
	$node->start;
}
$node->safe_psql('postgres', qq{
	CREATE EXTENSION simhash_pg;
	CREATE FUNCTION refuse(number bigint, size bigint, nanoseconds bigint) RETURNS boolean
		LANGUAGE c STRICT PARALLEL SAFE AS '$library';
	CREATE FUNCTION requests_seen() RETURNS bigint LANGUAGE c AS '$library';
	CREATE FUNCTION time_taken() RETURNS bigint LANGUAGE c AS '$library';
	CREATE FUNCTION leave_memory(bytes bigint) RETURNS boolean LANGUAGE c STRICT AS '$library';
	CREATE TABLE text (id bigint PRIMARY KEY, body text, html text);
	INSERT INTO text SELECT i, body, '<p>' || body || '</p>'
		FROM generate_series(1, 3) AS i, LATERAL (SELECT string_agg(CASE WHEN n % 7 = i THEN 'x' ELSE md5(n::text) END,
			' ') AS body FROM generate_series(1, 4000) AS n) AS t;
	CREATE TABLE code (id bigint PRIMARY KEY, si bigint, bits bit(256), sketch bigint[]);
	INSERT INTO code SELECT i, hashint8extended(i / 2, 1),
		(SELECT string_agg(hashint8extended(i / 2, n)::bit(64)::text, '') FROM generate_series(1, 4) AS n)::bit(256),
		ARRAY[hashint8(i), hashint8(i + 1), i % 100] FROM generate_series(1, 10000) AS i;
	CREATE TABLE target (LIKE code);
	INSERT INTO target SELECT * FROM code WHERE id <= 200;
	CREATE TABLE triggered (id bigint, body text, si bigint);
	CREATE TRIGGER fingerprint BEFORE INSERT ON triggered FOR EACH ROW EXECUTE FUNCTION simhash_trigger('si', 'body');
	CREATE INDEX code_si ON code USING hamming (si);
	CREATE INDEX code_bits ON code USING hamming (bits);
	CREATE INDEX code_sketch ON code USING gin (sketch sketch_ops);
	CREATE TABLE code_gist AS SELECT * FROM code;
	CREATE INDEX code_gist_si ON code_gist USING gist (si gist_hamming_ops);
	CREATE INDEX target_si ON target USING hamming (si);
	CREATE INDEX target_bits ON target USING hamming (bits);
	CREATE INDEX target_sketch ON target USING gin (sketch sketch_ops);
	CREATE INDEX target_gist ON target USING gist (si gist_hamming_ops);
	CREATE TABLE plain AS SELECT sketch FROM code;
	CREATE VIEW coded AS SELECT id, 1::bigint AS si, left(body, 2000) AS body FROM text;
	VACUUM ANALYZE;});

my ($body, $other) = map { "(SELECT body FROM text WHERE id = $_)" } 1, 2;
my $code = "repeat('01', 128)::bit(256)";
my $long = 'array_fill(1::bigint, ARRAY[1000000])';
# Settings that make the planner use an index scan, a bitmap scan, or an ordered scan.
my $index = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off';
my $bitmap = 'SET enable_seqscan = off; SET enable_indexscan = off';

# Name, statement, the statements before it (once in a session, and before each run), and the expected error, if any.
my @statements = (
	[ 'index search', 'SELECT count(*) FROM code WHERE hamming(si, 42) <= 40', $index ],
	[ 'bitmap search', 'SELECT count(*) FROM code WHERE hamming(si, 42) <= 40', $bitmap ],
	[ 'ordered search', 'SELECT count(*), sum(d) FROM (SELECT hamming(si, 42) AS d FROM code '
		. 'ORDER BY hamming(si, 42) OFFSET 0) AS q', $index ],
	[ 'nearest rows', 'SELECT sum(d) FROM (SELECT hamming(si, 42) AS d FROM code ORDER BY hamming(si, 42) '
		. 'LIMIT 5000) AS q', $index ],
	[ 'index search of bits', "SELECT count(*) FROM code WHERE hamming(bits, $code) <= 120", $index ],
	[ 'bitmap search of bits', "SELECT count(*) FROM code WHERE hamming(bits, $code) <= 120", $bitmap ],
	[ 'nearest rows of bits', "SELECT sum(d) FROM (SELECT hamming(bits, $code) AS d FROM code "
		. "ORDER BY hamming(bits, $code) LIMIT 5000) AS q", $index ],
	[ 'nearest rows by gist', 'SELECT sum(d) FROM (SELECT hamming(si, 42) AS d FROM code_gist '
		. 'ORDER BY hamming(si, 42) LIMIT 3000) AS q', $index ],
	[ 'search by gist', 'SELECT count(*) FROM code_gist WHERE hamming(si, 42) <= 20', $index ],
	[ 'join by index', 'SELECT count(*) FROM code AS a JOIN code AS b ON hamming(a.si, b.si) <= 3 WHERE a.id < 50',
		$index ],
	[ 'search of sketches', "SELECT count(*) FROM code WHERE sketch_similarity(sketch, (SELECT array_agg(n) "
		. "FROM generate_series(200, 6200) AS n)) >= 0.0001", $bitmap ],
	[ 'search of common values', "SELECT count(*) FROM code WHERE sketch_overlaps(sketch, '{7,8}')", $bitmap ],
	[ 'plan of a long constant', "EXPLAIN (COSTS OFF) SELECT FROM plain WHERE sketch_overlaps(sketch, $long)" ],
	[ 'plan of a long share', "SELECT count(*) FROM code WHERE sketch_containment($long, sketch) >= 0.5 AND id < 0" ],
	[ 'plan of core\'s operator', "EXPLAIN (COSTS OFF) SELECT FROM plain WHERE sketch && $long" ],
	[ 'plan for bits', "EXPLAIN (COSTS OFF) SELECT FROM code WHERE hamming(bits, $code) <= 20" ],
	[ 'plan for unknown bits',
		'EXPLAIN (COSTS OFF) SELECT FROM code AS a JOIN code AS b ON hamming(b.bits, a.bits) <= 20 WHERE a.id = 1' ],
	[ 'build', 'CREATE INDEX new ON code USING hamming (si)', '', 'DROP INDEX IF EXISTS new' ],
	[ 'build of bits', 'CREATE INDEX new ON target USING hamming (bits)', '', 'DROP INDEX IF EXISTS new' ],
	[ 'build of gist', 'CREATE INDEX new ON target USING gist (si gist_hamming_ops)', '', 'DROP INDEX IF EXISTS new' ],
	[ 'build of gin', 'CREATE INDEX new ON target USING gin (sketch sketch_ops)', '', 'DROP INDEX IF EXISTS new' ],
	[ 'insert', 'WITH new AS (INSERT INTO target SELECT id + 20000, si, bits, sketch FROM code '
		. 'WHERE id BETWEEN 300 AND 400 RETURNING 1) SELECT count(*) FROM new' ],
	[ 'vacuum', 'VACUUM (INDEX_CLEANUP ON) target', '',
		'DELETE FROM target WHERE id > 20000; UPDATE target SET si = si' ],
	[ 'trigger', "WITH new AS (INSERT INTO triggered SELECT id, body FROM text RETURNING si) SELECT sum(si) FROM new" ],
	[ 'hamming_index_check', "SELECT count(*) FROM hamming_index_check('code_bits', true)" ],
	[ 'hamming_index_stats', "SELECT rows FROM hamming_index_stats('code_bits')" ],
	[ 'hamming_histogram', "SELECT sum(pairs) FROM hamming_histogram('code', 'si', 5000)",
		'SET max_parallel_workers = 0', 'SELECT setseed(0.5)' ],
	[ 'near_differences', "SELECT sum(pairs) FROM near_differences('coded', 'si', 'body', 6)", '',
		'SELECT setseed(0.5)' ],
	[ 'hamming_histogram of bits', "SELECT sum(pairs) FROM hamming_histogram('code', 'bits', 3000)", '',
		'SELECT setseed(0.5)' ],
	[ 'near join', 'SELECT count(b.bits) FROM code AS a LEFT JOIN code AS b ON hamming(a.si, b.si) <= 3 '
		. 'AND a.id <> b.id', 'SET enable_nestloop = off' ],
	[ 'near join in files', "SELECT count(b.si), count(a.sketch) FROM code AS a "
		. "FULL JOIN code AS b ON hamming(a.bits, b.bits) <= 20", "SET work_mem = '64kB'" ],
	[ 'near join of equal codes',
		'SELECT count(*), count(b.id) FROM (SELECT id, si & 1 AS si FROM code WHERE id <= 1500) AS a '
		. 'FULL JOIN (SELECT id, si & 1 AS si FROM code WHERE id > 8500) AS b ON hamming(a.si, b.si) <= 3' ],
	[ 'near join in blocks', "SELECT count(DISTINCT (a.id, b.id)) FROM (SELECT id, si, unnest(near_blocks(si, 3, 4))
		AS block FROM code WHERE id <= 1000) AS a
		JOIN (SELECT id, si, unnest(near_blocks(si, 3, 4)) AS block FROM code) AS b ON a.block = b.block
			AND hamming(a.si, b.si) <= 3", 'SET enable_nestloop = off' ],
	[ 'near_cluster', 'SELECT count(DISTINCT c) FROM (SELECT near_cluster(id::text, si, 8) OVER (ORDER BY id) AS c '
		. 'FROM code) AS q' ],
	[ 'near_cluster', "SELECT count(DISTINCT c) FROM (SELECT near_cluster(id, bits, 20, 'connected') "
		. "OVER (ORDER BY id) AS c FROM code) AS q" ],
	[ 'near_cluster in files',
		"SELECT count(DISTINCT c) FROM (SELECT near_cluster(id::text, si, 8) OVER (ORDER BY id) AS c FROM code) AS q",
		"SET work_mem = '64kB'" ],
	[ 'clusters_of_pairs', "SELECT count(*) FROM clusters_of_pairs((SELECT array_agg(n) "
		. "FROM generate_series(1, 9000) AS n), (SELECT array_agg(n * 71 % 9000) "
		. "FROM generate_series(1, 9000) AS n), 'connected')" ],
	[ 'simhash', "SELECT simhash($body), simhash($body, 'doc1'), simhash($body, 'char:8'), simhash($body, 'word:3')" ],
	[ 'simhash of features', "SELECT simhash(string_to_array($body, ' '), NULL), "
		. "simhash(to_tsvector('simple', left($body, 100000)))" ],
	[ 'simhash_features', "SELECT count(*) FROM simhash_features($body)" ],
	[ 'simhash_agg', "SELECT simhash_agg(feature, weight), simhash_agg(feature, 1) "
		. "FROM simhash_features($body, 'word:1')" ],
	[ 'simhash_explain', "SELECT length(simhash_explain($body, $other)::text)" ],
	[ 'simhash_text', 'SELECT sum(length(simhash_text(VARIADIC ARRAY[body, html]))) FROM text' ],
	[ 'spelling', "SELECT simhash_encode(1, 'doc1'), simhash_encode(1), simhash_decode(simhash_encode(1, 'doc1')), "
		. "(SELECT count(*) FROM simhash_schemes())" ],
	[ 'code_encode', "SELECT length(code_encode(repeat('01', 100000)::varbit)), "
		. "length(code_decode(repeat('0f', 100000)))" ],
	[ 'recursive_shingles', "SELECT count(*) FROM recursive_shingles($body)" ],
	[ 'shared_passages', "SELECT count(*), sum(length(passage)) FROM shared_passages($body, $other, 10)" ],
	[ 'passage_headline', "SELECT length(passage_headline($body, $other, 10))" ],
	[ 'repeated_passages', "SELECT count(*) FROM repeated_passages('SELECT id, body FROM text', 20)" ],
	[ 'repeated_passages of keys',
		"SELECT count(*) FROM repeated_passages('SELECT body, body FROM text', 20, NULL::text)" ],
	[ 'extract_text', 'SELECT sum(length(extract_text(html))) FROM text' ],
	[ 'sketches', "SELECT cardinality(manber_sketch($body, 50, 1)), cardinality(winnow_sketch($body)), "
		. "cardinality(excerpt_sketch($body)), cardinality(passage_sketch($body, 26))" ],
	[ 'heintze_sketch', "SELECT cardinality(heintze_sketch($body))" ],
	[ 'comparison of sketches',
		"SELECT sketch_similarity(a, b), sketch_containment(a, b), sketch_overlaps(a, b), sketch_similar(a, b, 0.5), "
		. "sketch_contained(a, b, 0.5), sketch_matches(a, sketch_query_of(b, 0, 0.5)), "
		. "length(sketch_query_of(b, 1, 0.5)::text), length(sketch_query_of(b, 2, 0.5)::text)"
		. ' FROM (SELECT array_agg(n) AS a, array_agg(20000 - n * 2) AS b '
		. 'FROM generate_series(1::bigint, 20000) AS n) AS q' ],
	[ 'minhash', "SELECT cardinality(minhash($body, 4096)), length(minhash_bits($body, 4096))" ],
	[ 'minhash in SQL', "SELECT minhash_similarity(a, b) FROM (SELECT minhash($body, 4096) "
		. "AS a, minhash($other, 4096) AS b) AS q" ],
	[ 'rarity', "SELECT length(minhash_bits($body, 4096, w)), text_similarity($body, $other, w), "
		. "text_containment($body, $other), text_containment($body, $other, w), version_score($body, $other, w) "
		. "FROM (SELECT feature_weights(body, 'word:2') AS w FROM text) AS q" ],
	[ 'rare_code', "SELECT length(rare_code($body, w)), create_rare_code('rare', 'text', 'body') "
		. "FROM (SELECT feature_weights(body, 'word:2') AS w FROM text) AS q", '',
		'DROP FUNCTION IF EXISTS rare(text)' ],
	[ 'distances', "SELECT hamming(si, 1), hamming_similarity(si, 1), hamming_within(si, 1, 3), "
		. "hamming(bits, $code), hamming_similarity(bits, $code), hamming_within(bits, $code, 3), "
		. "hamming_radius(0.9), hamming_radius(0.9, 256) FROM code WHERE id = 7" ],
	[ 'balls', "SELECT hamming_ball(si, 3)::text::hamming_ball ~ hamming_ball(si, 3), si <@ hamming_ball(1, 3), "
		. "hamming_ball(1, 3) ~ hamming_ball(1, 3), hamming_ball(bits, 3)::text::hamming_bit_ball::text, bits <@ "
		. "hamming_ball($code, 3), hamming_ball_send(hamming_ball(1, 3)), "
		. "hamming_bit_ball_send(hamming_ball(bits, 3)) FROM code WHERE id = 7" ],
	[ 'blocks', "SELECT near_blocks(42, 6, 64), near_blocks($code, 20, 64)" ],
	[ 'a long name', "SELECT simhash('a', repeat('x', 100000))", '', '', '22023' ],
);

# Functions that no statement names: the statement that calls them, or why there is nothing to be refused.
my %elsewhere = (
	gist_hamming_consistent => 'search by gist',
	gist_hamming_distance => 'nearest rows by gist',
	(map { $_ => 'build of gist' } qw(gist_hamming_compress gist_hamming_sortsupport)),
	(map { $_ => 'insert' } qw(gist_hamming_penalty gist_hamming_picksplit gist_hamming_same gist_hamming_union)),
	(map { $_ => 'search of sketches' } qw(gin_sketch_consistent gin_sketch_query_keys sketch_support)),
	gin_sketch_keys => 'build of gin',
	hamming_handler => 'build',
	(map { $_ => 'index search' } qw(hamming_support hamming_ball_sel)),
	hamming_ball_joinsel => 'join by index',
	(map { $_ => 'balls' } qw(hamming_ball_contained hamming_ball_near hamming_ball_in hamming_ball_out
		hamming_bit_ball_in hamming_bit_ball_out)),
	(map { $_ => 'rarity' } qw(feature_weights_add feature_weights_combine feature_weights_final)),
	(map { $_ => 'simhash_agg' } qw(simhash_agg_add simhash_agg_combine simhash_agg_final)),
	sketch_query_out => 'comparison of sketches',
	simhash_trigger => 'trigger',
	(map { $_ => 'no memory: reads what the client sent, and fails or returns a number' }
		qw(gist_hamming_key_in gist_hamming_key_out hamming_ball_recv hamming_bit_ball_recv sketch_query_in sketch_above
		hamming_radius_ge hamming_radius_gt hamming_radius_le hamming_radius_lt)));
my $all_statements = join ' ', map { $_->[1] } @statements;
my @functions = function_names($node);
is(join(' ', grep { !$elsewhere{$_} && $all_statements !~ /\b$_\b/ } @functions), '', 'each function has a statement');
my %names = map { $_->[0] => 1 } @statements;
is(join(' ', grep { !$names{ $elsewhere{$_} } && $elsewhere{$_} !~ /^no memory: / } sort keys %elsewhere), '',
	'and those that have none a reason');

my $prologue = "\\set VERBOSITY verbose\nSELECT hamming(1, 2) \\g /dev/null\n";

# Output and errors of a session.
sub run
{
	my ($script) = @_;
	my $out = '';
	my $err = '';
	my $file = $node->basedir . '/script.sql';
	open my $handle, '>', $file or die $!;
	print $handle $prologue, $script;
	close $handle;
	IPC::Run::run([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-f', $file ], '>', \$out, '2>', \$err);
	return ($out, $err);
}

# What the statement answers, how many requests of at least each size it makes when it is run again, and how long it
# takes.
sub usual
{
	my ($statement, $setting, $before) = @_;
	my $script = "$setting;\n$before$statement;\n";
	for my $size (LARGE, ANY)
	{
		$script .= "${before}SELECT refuse(0, $size, 0) AS refuse \\gset\n\\o /dev/null\n$statement;\n\\o\n"
		  . "SELECT E'\@total\\n' || time_taken() || ' ' || requests_seen();\n";
	}
	my ($out, $err) = run($script);
	my ($answer, $large, $any) = split /\@total\n/, $out;
	return ($answer, $err =~ /ERROR:  (\w+)/ ? $1 : '', map { split ' ' } grep { defined } $large, $any);
}

# The numbers of the allocations that are refused: in turn the first one, the last one, and some in between.
sub some_of
{
	my ($count) = @_;
	return $count <= $refusals ? 1 .. $count : map { 1 + int($_ * ($count - 1) / ($refusals - 1)) } 0 .. $refusals - 1;
}

# Runs the statement once for each pair, of a request of at least this size that is refused and of the nanoseconds until
# a cancel. Returns how many runs ended in which way.
sub refuse
{
	my ($statement, $setting, $before, $size, $pairs, $expected, $code) = @_;
	my %ends;
	while (@$pairs)
	{
		my $script = "$setting;\n";
		$script .= "${before}SELECT refuse($$_[0], $size, $$_[1]) "
			. "AS refuse \\gset\n\\echo \@run\n\\warn \@run\n$statement;\n\\echo \@end\n\\warn \@end\nSELECT "
			. "requests_seen() AS seen \\gset\n"
		  for @$pairs;
		my ($out, $err) = run($script);
		my @answers = map { s/\@end\n.*//sr } split /\@run\n/, $out;
		my @errors = map { s/[^\n]*\@end\n.*//sr } split /[^\n]*\@run\n/, $err;
		die "no run of $statement: $err" if @errors < 2;
		for my $run (1 .. $#errors)
		{
			my ($number, $time) = @{ shift @$pairs };
			my $error = $errors[$run];
			my $end = $error =~ /FATAL:  53200/ ? 'fatal' : $error =~ /ERROR:  53200/ ? 'error' : $time
				&& $error =~ /ERROR:  57014/ ? 'cancel'
			  : $error =~ /closed the connection|connection to server was lost/ ? 'crash'
			  : ($code ? $error =~ /ERROR:  $code/ : $error !~ /ERROR:/) && $answers[$run] eq $expected ? 'right'
			  : 'wrong';
			$ends{$end}++;
			diag("$statement: request $number of at least $size bytes, cancel after $time ns: $answers[$run]$error")
				if $end eq 'wrong' || $end eq 'fatal';
			wait_for_server() if $end eq 'crash';
		}
	}
	return \%ends;
}

# Waits until the server has restarted.
sub wait_for_server
{
	$node->poll_query_until('postgres', 'SELECT true') or die 'the server does not come back';
}

my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
my @kinds = qw(right error cancel fatal crash wrong);
my %sums;
my @columns = ('>= 32 kB', 'any size', 'cancel');
note(sprintf '%-28s' . ' %8s %-38s' x 3, 'statement', map { ($_, "  @kinds") } @columns);
for (@statements)
{
	my ($name, $statement, $setting, $before, $error) = @$_;
	$_ //= '' for $setting, $before, $error;
	$before &&= "\\o /dev/null\n$before;\n\\o\n";
	my ($answer, $code, undef, $large, $time, $any) = usual($statement, $setting, $before);
	is($code, $error, "$name ends as usual");
	die "$name cannot be run" if !defined $any;
	cmp_ok($large, '==', 0, 'and copies no long constant') if $name =~ /^plan of (a long constant|core)/;
	my %runs = ('>= 32 kB' => [ LARGE, map { [ $_, 0 ] } some_of($large) ],
		'any size' => [ ANY, map { [ $_, 0 ] } some_of($any) ],
		cancel => [ ANY, map { [ int(rand(2 * $any)), 1 + int(rand($time)) ] } 1 .. $refusals ]);
	my @line;
	for my $column (@columns)
	{
		my ($size, @pairs) = @{ $runs{$column} };
		push @line, scalar @pairs;
		my $ends = refuse($statement, $setting, $before, $size, \@pairs, $answer, $code);
		$sums{$column}{$_} += $ends->{$_} // 0 for @kinds;
		$sums{$column}{"statements with a $_"}++ for keys %$ends;
		push @line, join '', map { sprintf '%6d', $ends->{$_} // 0 } @kinds;
	}
	note(sprintf '%-28s' . ' %8d %-38s' x 3, $name, @line);
}
note(sprintf '%-28s' . ' %8s %-38s' x 3, 'all', map { my $column = $_;
('', join '', map { sprintf '%6d', $sums{$column}{$_} } @kinds) } @columns);
for my $column (@columns)
{
	is($sums{$column}{crash}, 0, "$column: no refusal takes the server down")
		or diag(scalar(@statements) . ' statements, of which crash ' . $sums{$column}{'statements with a crash'});
	is($sums{$column}{fatal}, 0, 'nor ends a session');
	is($sums{$column}{wrong}, 0, 'nor leads to a wrong answer');
	cmp_ok($sums{$column}{error}, '>', 0, 'some end in an error');
}
cmp_ok($sums{cancel}{cancel}, '>', 0, 'and some are cancelled');

# If a worker is refused memory, its leader raises the error.
my $parallel = PostgreSQL::Test::Utils::slurp_file($node->data_dir . '/PG_VERSION') >= 16 ? 'debug_parallel_query'
	: 'force_parallel_mode';
for my $size (LARGE, ANY)
{
	my ($out, $err) = run("SET $parallel = on;\nSET max_parallel_workers_per_gather = 2;\nSELECT "
		. "count(simhash(body, 'char:8')) FROM text WHERE refuse(1, $size, 0);\n\\echo alive\n");
	like($err, qr/ERROR:  53200/, "a worker without memory ends the statement ($size)");
	is($out, "alive\n", 'and not the session');
}

# Memory is exhausted, also for PostgreSQL's own code.
for my $bytes (50_000, 200_000, 500_000, 1_500_000)
{
	for my $statement ("SET work_mem = '200MB'; SET enable_seqscan = off; "
		. "SELECT count(d) FROM (SELECT hamming(si, 42) AS d FROM code ORDER BY hamming(si, 42) OFFSET 0) AS q",
		'SELECT count(*) FROM code AS a JOIN code AS b ON hamming(a.si, b.si) <= 6 AND a.id < b.id',
			"SELECT count(*) FROM shared_passages($body, $other, 10)")
	{
		my ($out, $err) = run("SELECT leave_memory($bytes);\n$statement;\n");
		my $is_told = $err =~ /(ERROR|FATAL):  53200/ || $err eq '' && $out =~ /^t\n\d+$/;
		ok($is_told, "$bytes bytes are left") or diag("$statement: $out$err");
	}
}

is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started, 'the server has run all the time');
unlike(PostgreSQL::Test::Utils::slurp_file($node->logfile), qr/terminated by signal/,
	'and no process of it has fallen');
for my $name (qw(code_si code_bits target_si target_bits))
{
	is($node->safe_psql('postgres', "SELECT count(*) FROM hamming_index_check('$name', true)"), 0, "$name is sound");
}
is($node->safe_psql('postgres',
	"SET enable_seqscan = off; SELECT count(*) FROM target WHERE sketch_overlaps(sketch, '{1,2,3}')"),
	$node->safe_psql('postgres',
		"SET enable_bitmapscan = off; SELECT count(*) FROM target WHERE sketch_overlaps(sketch, '{1,2,3}')"),
		'the index of sketches is sound');
my ($runs, $errors, $sessions, $servers) = map { my @ends = @$_; sum map { @{$_}{@ends} } @sums{@columns} } \@kinds,
	['error'], ['fatal'], ['crash'];
note("Of $runs runs, $errors ended in an error 53200, $sessions in the end of the session, $servers in the end of "
	. "the server");

done_testing();
