# Everything can be canceled, and uses at most a few times the memory of its arguments, however large they are.
#
# A library (uninterrupted.c) measures the longest CPU time in which a statement does not check for interrupts, and the
# largest amount of memory that it uses. The arguments of each statement have many megabytes: texts of several kinds,
# bit strings, and sketches. Every function of the extension, according to the catalog, has a statement, or a reason why
# it has none. The result of a statement, or its error, is ignored. It is canceled after a second, or later if values
# are larger.
#
# Because the CPU time of the process is measured, other processes do not matter. The limits are several times the
# values of a slow machine, and a tenth of the time of a loop that does not check for interrupts. All times are printed.
# SIZE is the number of megabytes of a text; SIZE=64 takes half an hour and 2 GB.

use strict;
use warnings;
use File::Basename;
use Test::More;
use SimhashTest;

my $size = $ENV{SIZE} || 2;
my $seconds = 1 + int($size / 8);
# A bit string takes 32 MB. A sketch has nearly as many values as the limit allows, which take 64 MB.
my $bits = 256_000_000;
my $values = 8_000_000;
# In milliseconds, and in megabytes. PostgreSQL itself takes some of both to copy large values.
my $longest_allowed = 300 + 5 * $size;
my $memory_allowed = 1000 + 30 * $size;

my $node = PostgreSQL::Test::Cluster->new('cancel');
my $library = $node->basedir . '/uninterrupted.so';
chomp(my $headers = `pg_config --includedir-server`);
plan skip_all => 'needs a C compiler, Linux and its /proc'
  if !-w '/proc/self/clear_refs' || system('cc', '-shared', '-fPIC', '-O1', "-I$headers", '-o', $library,
	dirname(__FILE__) . '/uninterrupted.c') != 0;

$node->init(extra => [ '--encoding', 'UTF8', '--locale', 'C' ]);
$node->append_conf('postgresql.conf',
	"fsync = off\nautovacuum = off\nshared_buffers = 16MB\nmax_parallel_workers_per_gather = 0");
$node->start;
# Values are not compressed, since PostgreSQL decompresses without looking at a cancel.
$node->safe_psql('postgres', qq{
	CREATE EXTENSION simhash_pg;
	CREATE FUNCTION watch() RETURNS void LANGUAGE c AS '$library';
	CREATE FUNCTION uninterrupted() RETURNS float8 LANGUAGE c AS '$library';
	CREATE FUNCTION memory_taken() RETURNS integer LANGUAGE c AS '$library';
	CREATE TABLE text (kind text, id bigint, si bigint DEFAULT 1, body text);
	ALTER TABLE text ALTER body SET STORAGE EXTERNAL;
	INSERT INTO text (kind, id, body) VALUES
		('words', 1, (SELECT string_agg(md5(n::text), ' ') FROM generate_series(1, $size * 30000) AS n)),
		('letters', 2, repeat('a', $size * 1000000)),
		('blanks', 3, repeat(' ', $size * 1000000)),
		('dots', 4, repeat('.', $size * 1000000)),
		('lines', 5, repeat(E'the same line\\n', $size * 70000)),
		('tags', 6, repeat('<a b="c">&amp;', $size * 70000)),
		('han', 7, repeat('漢', $size * 330000)),
		('marks', 8, 'a' || repeat(U&'\\0301', $size * 500000));
	CREATE TABLE code (id bigint, c varbit, hex text);
	ALTER TABLE code ALTER c SET STORAGE EXTERNAL, ALTER hex SET STORAGE EXTERNAL;
	INSERT INTO code SELECT i, repeat('01', $bits / 2)::varbit, repeat('0f', $size * 500000)
		FROM generate_series(1, 2) AS i;
	CREATE TABLE sketch (up bigint[], down bigint[], mixed bigint[], signature integer[]);
	ALTER TABLE sketch ALTER up SET STORAGE EXTERNAL, ALTER down SET STORAGE EXTERNAL, ALTER mixed SET STORAGE EXTERNAL;
	INSERT INTO sketch SELECT array_agg(n), array_agg(3 * $values - n * 2), array_agg(hashint8extended(n, 1)),
		'{1,2,3,4}' FROM generate_series(1::bigint, $values) AS n;
	CREATE TABLE widest (c bit(83886080));
	CREATE TABLE limited (id integer, c bit(8192), body text DEFAULT 'a');
	INSERT INTO limited SELECT i, (SELECT string_agg(hashint8extended(n % 3, i % 9)::bit(64)::text, '')
		FROM generate_series(1, 128) AS n)::bit(8192) FROM generate_series(1, 200 * $size) AS i;
	CREATE TABLE si AS SELECT i AS id, hashint8extended(i / 2, 1) AS si, hamming_ball(hashint8extended(i / 2, 1), 3)
		AS ball FROM generate_series(1, 20000 * $size) AS i;
	CREATE INDEX si_gist ON si USING gist (si gist_hamming_ops);
	CREATE INDEX si_hamming ON si USING hamming (si);
	CREATE INDEX limited_hamming ON limited USING hamming (c);
	CREATE TABLE triggered (body text, si bigint);
	CREATE TRIGGER fingerprint BEFORE INSERT ON triggered FOR EACH ROW EXECUTE FUNCTION simhash_trigger('si', 'body');
	ANALYZE;});

# Texts: of each kind. The largest distance between two words of `limited` is 64, so nearly all of their pairs are
# compared.
my $weights = "(SELECT feature_weights('the same line', 'word:2'))";
my @of_texts = (
	"simhash(body)", "simhash(body, 'doc1')", "simhash(body, 'char:8')", "simhash(ARRAY[body, body], NULL)",
		"simhash(to_tsvector('simple', left(body, 1000000)))",
	"octet_length(simhash_text(VARIADIC ARRAY[body, body]))", "(SELECT count(*) FROM simhash_features(body))",
		"octet_length(simhash_explain(body, left(body, 1000))::text)",
	"(SELECT simhash_agg(body, 1) FROM generate_series(1, 3))", "simhash_encode(1, body)", "simhash_decode(body)",
		"code_decode(body)",
	"cardinality(manber_sketch(body))", "cardinality(winnow_sketch(body))", "cardinality(excerpt_sketch(body))",
		"cardinality(heintze_sketch(body))",
	"cardinality(passage_sketch(body, 26))", "cardinality(minhash(body, 4096))", "length(minhash_bits(body, 4096))",
		"length(minhash_bits(body, 256, $weights))",
	"octet_length(feature_weights(body, 'word:2'))", "text_similarity(body, body, $weights)",
		"text_containment(body, body)", "text_containment(body, body, $weights)", "version_score(body, body, $weights)",
		"length(rare_code(body, $weights))", "(SELECT count(*) FROM shared_passages(body, body))",
	"(SELECT count(*) FROM shared_passages(body, (SELECT body FROM text WHERE kind = 'lines')))",
		"(SELECT count(*) FROM recursive_shingles(body))", "octet_length(passage_headline(body, body))",
	"octet_length(extract_text(body))", "(SELECT count(*) FROM near_differences(body, body))", "body::hamming_ball",
		"body::hamming_bit_ball", "body::sketch_query",
	"(SELECT count(*) FROM repeated_passages(format('SELECT id, body FROM text WHERE kind = %L', kind), 50))");
my @statements = (
	"SELECT count(*) FROM hamming_histogram('text', 'si', 5, 'body')",
		"SELECT count(*) FROM near_differences('text', 'si', 'body', 5)",
	'INSERT INTO triggered SELECT body FROM text',
	'SELECT octet_length(code_encode(c)) FROM code', 'SELECT octet_length(code_decode(hex)::text) FROM code',
	(map { "SELECT $_(a.c, b.c) FROM code AS a, code AS b" } qw(hamming hamming_similarity)),
		'SELECT hamming_within(a.c, b.c, 3) FROM code AS a, code AS b',
	'SELECT octet_length(hamming_ball(substring(c, 1, 10000000), 3)::text) FROM code',
		'SELECT octet_length(hamming_bit_ball_send(hamming_ball(c, 3))) FROM code',
	'SELECT a.c <@ hamming_ball(b.c, 3) FROM code AS a, code AS b',
		'SELECT hamming_radius_ge(0.5::float8, length(c)), hamming_radius_gt(1e-9::float8, 2147483647) FROM code',
	'SELECT hamming_radius(0.5, 2147483647), hamming_radius(1e-12, 2147483647)',
		'SELECT near_blocks(c, 3, 4096) FROM code', 'SELECT near_blocks(c, 4000, 4096) FROM limited',
	(map { "SELECT near_cluster(id, c, $_) OVER (ORDER BY id) FROM code" } 3, "3, 'connected'"),
	(map { "SELECT near_cluster(id, c, $_, c, $_) OVER (ORDER BY id) FROM limited" } 100, 4000),
	(map { "SELECT near_cluster(id, si, $_) OVER (ORDER BY id) FROM si" } 3, "20, 'connected'"),
	"SELECT count(*) FROM hamming_histogram('code', 'c', 6)",
		"SELECT count(*) FROM hamming_histogram('code', 'c', 6, 'hex')",
		"SELECT count(*) FROM hamming_histogram('limited', 'c', 1000, 'body')",
	"SELECT * FROM near_differences('code', 'c', 'hex', 5)",
	(map { ("SELECT count(*) FROM code AS a $_ code AS b ON hamming(a.c, b.c) <= 3",
		"SELECT count(*) FROM code AS a $_ code AS b ON hamming(a.c, b.c) <= 2000000000") } 'JOIN', 'FULL JOIN'),
	(map { my $radius = $_; map {
		"$_ SELECT count(*) FROM limited AS a FULL JOIN limited AS b ON hamming(a.c, b.c) <= $radius" } 'EXPLAIN',
		'' } 0, 100, 3000, 4000, 8192),
	(map { my $radius = $_; map {
		"EXPLAIN SELECT count(*) FROM $_" } "widest AS a, widest AS b WHERE hamming(a.c, b.c) <= $radius",
		"widest AS a FULL JOIN widest AS b ON hamming(a.c, b.c) <= $radius",
		"widest WHERE hamming(c, (SELECT c FROM widest)) <= $radius",
			"widest AS a WHERE EXISTS (SELECT FROM widest AS b WHERE hamming(a.c, b.c) <= $radius)" } 100, 40000000),
	'EXPLAIN SELECT count(*) FROM widest AS a, widest AS b WHERE hamming_similarity(a.c, b.c) >= 0.5',
		'SELECT count(*) FROM limited WHERE hamming(c, (SELECT c FROM limited LIMIT 1)) <= 4000',
	'EXPLAIN SELECT count(*) FROM code AS a, code AS b, code AS d '
		. 'WHERE hamming(a.c, b.c) <= 40000000 AND hamming(b.c, d.c) <= 40000000',
	(map { "SELECT count(*) FROM si WHERE hamming(si, 42) <= $_" } 0, 30),
		'SELECT * FROM si ORDER BY hamming(si, 42) OFFSET 100000000',
		'SELECT count(*) FROM si AS a JOIN si AS b ON hamming(a.si, b.si) <= 12',
	'SELECT count(*) FROM si WHERE ball && hamming_ball(1, 30) OR ball ~ hamming_ball(1, 30)',
	'REINDEX INDEX si_gist', 'REINDEX INDEX si_hamming', 'REINDEX INDEX limited_hamming',
		'VACUUM (INDEX_CLEANUP ON) si', "SELECT * FROM hamming_index_check('si_hamming', true)",
	"SELECT * FROM hamming_index_check('limited_hamming', true)", "SELECT * FROM hamming_index_stats('si_hamming')",
		'SELECT * FROM hamming_indexes',
	(map { my $pair = $_; map { "SELECT $_ FROM sketch" } "sketch_similarity($pair)", "sketch_containment($pair)",
		"sketch_overlaps($pair)", "sketch_similar($pair, 0.5)", "sketch_contained($pair, 0.5)" }
		'up, down', 'mixed, mixed', 'mixed, down'),
	'SELECT octet_length(sketch_query_of(mixed, 0, 0.5)::text) FROM sketch',
		'SELECT sketch_matches(mixed, sketch_query_of(down, 0, 0.5)) FROM sketch',
	'EXPLAIN SELECT * FROM sketch WHERE sketch_similarity(up, (SELECT mixed FROM sketch)) >= 0.5',
	'CREATE INDEX ON sketch USING gin ((mixed[:50000]) sketch_ops)',
		'SELECT count(*) FROM sketch WHERE sketch_containment(mixed, up) >= 0.1',
	'SELECT minhash_similarity(signature, signature) FROM sketch',
		'SELECT minhash_similarity(array_fill(1, ARRAY[9000]), array_fill(1, ARRAY[9000]))',
	"SELECT count(*) FROM clusters_of_pairs((SELECT up FROM sketch), (SELECT down FROM sketch), 'connected')",
		"SELECT count(*) FROM clusters_of_pairs((SELECT mixed FROM sketch), (SELECT down FROM sketch))",
	'SELECT heintze_sketch(body, 1000, 20, up) FROM text, sketch',
	'SELECT feature_weights(body) FROM text',
		'DROP FUNCTION IF EXISTS rare(text); SELECT create_rare_code(\'rare\', \'text\', \'body\')');

# Functions that no statement names: the statement that calls them, or why they take no time.
my %elsewhere = (
	(map { $_ => 'FROM si' } qw(hamming_support hamming_ball_sel hamming_ball_joinsel gist_hamming_consistent
		gist_hamming_distance
		hamming_ball_contained hamming_ball_near)),
	(map { $_ => 'REINDEX INDEX si_gist' } qw(gist_hamming_compress gist_hamming_sortsupport)),
	hamming_handler => 'REINDEX INDEX si_hamming', sketch_support => 'sketch_similarity',
		(map { $_ => 'USING gin' } qw(gin_sketch_keys)),
	(map { $_ => 'sketch_containment' } qw(gin_sketch_query_keys gin_sketch_consistent)),
		sketch_query_out => 'sketch_query_of', simhash_trigger => 'INSERT INTO triggered',
	(map { $_ => 'body::' } qw(hamming_ball_in hamming_bit_ball_in sketch_query_in)),
		hamming_bit_ball_out => 'hamming_ball',
	(map { $_ => 'feature_weights' } qw(feature_weights_add feature_weights_combine feature_weights_final)),
		(map { $_ => 'simhash_agg' } qw(simhash_agg_add simhash_agg_combine simhash_agg_final)),
	(map { $_ => 'no time: for numbers' } qw(hamming_radius_le hamming_radius_lt sketch_above hamming_ball_out
		hamming_ball_recv hamming_ball_send gist_hamming_key_in gist_hamming_key_out simhash_schemes)),
	(map { $_ => 'no time: for a page' } qw(gist_hamming_penalty gist_hamming_picksplit gist_hamming_same
		gist_hamming_union)),
	hamming_bit_ball_recv => 'no time: PostgreSQL reads the message');
my $all = join ' ', @of_texts, @statements;
my @functions = function_names($node);
is(join(' ', grep { !$elsewhere{$_} && $all !~ /\b$_\b/ } @functions), '', 'each function has a statement');
is(join(' ', grep { $elsewhere{$_} !~ /^no time: / && $all !~ /\Q$elsewhere{$_}\E/ } sort keys %elsewhere), '',
	'or a reason');

# Runs a statement, and returns the milliseconds, the megabytes, and how it ended.
sub measure
{
	my ($statement) = @_;
	my (undef, $out, $err) = run_psql($node, 'postgres',
		"SET statement_timeout = '${seconds}s'; SET client_min_messages = error;\n\\set ON_ERROR_STOP off\nSELECT "
		. "watch() \\g /dev/null\n\\o /dev/null\n"
		. "$statement;\n\\o\nRESET statement_timeout;\n\\pset tuples_only\n\\pset format unaligned\nSELECT "
		. "uninterrupted(), memory_taken()\n\\g\n");
	my ($time, $memory) = $out =~ /^([\d.e+-]+)\|(-?\d+)$/m or diag("$statement: $out$err");
	return ($time, $memory, $err =~ /ERROR:  ([^\n]*)/ ? $1 : '');
}

my (@measured, %worst);
for my $statement (@statements, map { my $text = $_;
map { "SELECT $text FROM text WHERE kind = '$_'" } qw(words letters blanks dots lines tags han marks) } @of_texts)
{
	my ($time, $memory, $end) = measure($statement);
	ok(defined $time, "$statement: the session goes on") or next;
	push @measured, [ $time, $memory, $statement, $end ];
	for my $function (grep { $statement =~ /\b$_\b/ } @functions)
	{
		$worst{$function} = $time if $time >= ($worst{$function} // 0);
	}
}
is(join("\n", map { "$_->[0] ms: $_->[2]" } grep { $_->[0] > $longest_allowed } @measured), '',
	"nothing takes $longest_allowed ms between two looks at a cancel");
is(join("\n", map { "$_->[1] MB: $_->[2]" } grep { $_->[1] > $memory_allowed } @measured), '',
	"nothing takes $memory_allowed MB");
note('milliseconds of CPU time between two looks at a cancel, megabytes, and the statement, the longest first');
note(sprintf '%6.0f %6d  %s%s', $_->[0], $_->[1], substr($_->[2], 0, 110), $_->[3] ? ": $_->[3]" : '')
	for grep { defined } (sort { $b->[0] <=> $a->[0] } @measured)[0 .. 39];
note('and each function');
note(sprintf '%6.0f  %s', $worst{$_}, $_) for sort { $worst{$b} <=> $worst{$a} || $a cmp $b } keys %worst;
note('the most memory');
note(sprintf '%6d  %s', $_->[1], substr($_->[2], 0, 110)) for grep {
	defined } (sort { $b->[1] <=> $a->[1] } @measured)[0 .. 9];

done_testing();
