# Features of newer servers: REPACK, parallel autovacuum and plan advice (19); asynchronous reads, and extensions in
# additional directories (18). Indexes remain intact, and return the same rows.

use strict;
use warnings;
use Test::More;
use SimhashTest;

my $node = PostgreSQL::Test::Cluster->new('newer_servers');
my $version = $node->pg_version->major;
plan skip_all => "PostgreSQL $version has none of it" if $version < 18;
$node->init(extra => [ '--encoding', 'UTF8', '--locale', 'C' ], allows_streaming => 'logical');
$node->append_conf('postgresql.conf', "fsync = off\nmin_parallel_index_scan_size = 0");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION simhash_pg;
	CREATE TABLE document (id integer PRIMARY KEY, si bigint, code bit(128), tags bigint[])
		WITH (autovacuum_enabled = off);
	INSERT INTO document SELECT i, hashint8extended(i % 5000, 1),
		hashint8extended(i, 2)::bit(64) || hashint8extended(i, 3)::bit(64),
		ARRAY[i % 100, 100 + i % 7] FROM generate_series(1, 30000) AS i;
	CREATE INDEX by_si ON document USING hamming (si);
	CREATE INDEX by_code ON document USING hamming (code);
	CREATE INDEX by_gist ON document USING gist (si gist_hamming_ops);
	CREATE INDEX by_tags ON document USING gin (tags sketch_ops);
	VACUUM ANALYZE document;});

# The results of each index compared with a scan of the table, and the check of its pages and rows.
my %questions = (
	by_si => 'hamming(si, hashint8extended(77, 1)) <= 20',
	by_code => "hamming(code, hashint8extended(78, 2)::bit(64) || hashint8extended(78, 3)::bit(64)) <= 40",
	by_gist => "si <@ hamming_ball(hashint8extended(76, 1), 18)",
	by_tags => "sketch_similarity(tags, '{76,103}') >= 0.5");

sub check_indexes
{
	my ($when) = @_;
	for my $index (sort keys %questions)
	{
		my $query = "SELECT array_agg(id ORDER BY id) FROM document WHERE $questions{$index}";
		my @others = grep { $_ ne $index } sort keys %questions;
		my $hidden = join ' ', map { "DROP INDEX $_;" } @others;
		my (undef, $plan) = run_psql($node, 'postgres',
			"BEGIN; $hidden SET enable_seqscan = off; EXPLAIN (COSTS OFF) $query");
		like($plan, qr/\b$index\b/, "$when: $index is used");
		my ($status, $by_index, $err) = run_psql($node, 'postgres', "BEGIN; $hidden SET enable_seqscan = off; $query");
		my (undef, $by_scan) = run_psql($node, 'postgres',
			"SET enable_indexscan = off; SET enable_bitmapscan = off; $query");
		is($by_index, $by_scan, "$when: $index answers what a scan does") or diag($err);
	}
	is($node->safe_psql('postgres', "SELECT * FROM hamming_index_check('$_', true)"), '', "$when: $_ is sound")
		for qw(by_si by_code);
}

# Reads from files: the servers' own ways to read, with nothing cached.
my @methods = $node->safe_psql('postgres', q{SELECT unnest(enumvals) FROM pg_settings WHERE name = 'io_method'})
	=~ /\w+/g;
for my $method (@methods)
{
	$node->stop;
	$node->adjust_conf('postgresql.conf', 'io_method', $method);
	my $started = $node->start(fail_ok => 1);
	SKIP:
	{
		skip "io_method = $method does not start here", 1 if !$started;
		check_indexes("io_method = $method");
		$node->safe_psql('postgres', "UPDATE document SET si = si # 1 WHERE id % 10 = 3; VACUUM document");
		check_indexes("io_method = $method, after VACUUM");
	}
}
$node->adjust_conf('postgresql.conf', 'io_method', 'worker');

# An image of the extension, as CloudNativePG mounts one: a folder with lib and share/extension, which two settings
# name.
my $image = $node->basedir . '/image';
my ($share, $lib) = map { `pg_config --$_` =~ s/\n//r } qw(sharedir pkglibdir);
system("mkdir -p $image/lib $image/share/extension && cp $lib/simhash_pg.so $image/lib && cp "
	. "$share/extension/simhash_pg* $image/share/extension") == 0
  or die 'cannot make an image';
$node->append_conf('postgresql.conf',
	"extension_control_path = '$image/share'\ndynamic_library_path = '$image/lib:\$libdir'");
$node->restart;
my $loaded = $node->safe_psql('postgres', q{
	CREATE DATABASE imaged TEMPLATE template0;
	\c imaged
	CREATE EXTENSION simhash_pg;
	CREATE TEMPORARY TABLE loaded (name text);
	COPY loaded FROM PROGRAM 'grep -o "/.*simhash_pg.so" /proc/$PPID/maps | sort -u';
	SELECT * FROM loaded});
is($loaded, "$image/lib/simhash_pg.so", 'the library of an image is the one that is loaded');

SKIP:
{
	skip 'since PostgreSQL 19', 1 if $version < 19;

	# Tables that are written again, with their indexes.
	for my $how ('', '(CONCURRENTLY)')
	{
		for my $order ('', 'USING INDEX document_pkey')
		{
			$node->safe_psql('postgres',
				"UPDATE document SET si = si # 2 WHERE id % 10 = 4; REPACK $how document $order");
			check_indexes("REPACK $how $order");
		}
	}
	my (undef, undef, $refused) = run_psql($node, 'postgres', 'REPACK document USING INDEX by_si');
	like($refused, qr/access method does not support clustering/, 'no order of distances to write a table by');

	# Rows are inserted and deleted while a table is rewritten.
	my $dir = $node->basedir;
	open my $script, '>', "$dir/change.sql" or die $!;
	print $script "\\set row random(1, 30000)\n"
		. "UPDATE document SET si = si # 4, code = code # B'1'::bit(128) WHERE id = :row;\n";
	close $script;
	my $load = IPC::Run::start([ 'pgbench', '-n', '-c', '2', '-T', '600', '-f', "$dir/change.sql",
		$node->connstr('postgres') ], '>', \my $out, '2>&1');
	$node->safe_psql('postgres', 'REPACK (CONCURRENTLY) document') for 1 .. 3;
	$load->kill_kill;
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'pgbench'");
	check_indexes('REPACK (CONCURRENTLY) under load');

	# Workers of autovacuum have an index each.
	$node->append_conf('postgresql.conf',
		"autovacuum_naptime = 1\nautovacuum_max_parallel_workers = 2\nlog_autovacuum_min_duration = 0");
	$node->safe_psql('postgres', 'DELETE FROM document WHERE id % 3 = 0');
	$node->restart;
	my $before = -s $node->logfile;
	$node->safe_psql('postgres', 'ALTER TABLE document SET (autovacuum_enabled = on, autovacuum_parallel_workers = 2)');
	$node->wait_for_log(qr/automatic (?:aggressive )?vacuum of table "postgres\.public\.document": index scans: 1/,
		$before);
	ok($node->wait_for_log(qr/index scan needed: .*\n\tparallel workers: index vacuum: \d planned, [1-9] launched/,
		$before),
		'indexes are vacuumed by workers');
	check_indexes('parallel autovacuum');

	# The advice of a plan with our nodes leads to the same plan, when the planner would choose another one. Indexes are
	# made expensive for that: where they are disabled, they stay so with the advice, and all plans compete by cost
	# alone.
	my %queries = (
		near => 'SELECT id FROM document WHERE hamming(si, 42) <= 6',
		nearest => 'SELECT id FROM document ORDER BY hamming(si, 42) LIMIT 5',
		bits => "SELECT id FROM document WHERE hamming(code, repeat('01', 64)::bit(128)) <= 20",
		join => 'SELECT a.id FROM document AS a JOIN document AS b ON hamming(a.si, b.si) <= 3 WHERE b.id = 7',
		sketch => "SELECT id FROM document WHERE sketch_similarity(tags, '{76,103}') >= 0.5");
	for my $query (sort keys %queries)
	{
		my $ask = sub {
			my ($settings) = @_;
			my $text = $node->safe_psql('postgres',
				"LOAD 'pg_plan_advice'; $settings; EXPLAIN (COSTS OFF, PLAN_ADVICE) $queries{$query}");
			my ($plan, $supplied, $advice) = $text
				=~ /^(.*?)(?:Supplied Plan Advice:\n(.*?))?Generated Plan Advice:\n(.*)/s;
			return ($plan, $supplied, $advice);
		};
		my ($plan, undef, $advice) = $ask->('SET enable_seqscan = off');
		like($plan, qr/by_\w+/, "$query: by an index");
		my ($other) = $ask->("SET pg_plan_advice.advice = 'SEQ_SCAN(document a)'");
		like($other, qr/Seq Scan/, "$query: advice for a scan of the table is taken");
		my ($again, $fate) = $ask->("SET random_page_cost = 1000000; SET pg_plan_advice.advice = '$advice'");
		is($again, $plan, "$query: the same plan by its advice");
		unlike($fate, qr/failed|not matched/, "$query: all advice is taken");
	}
}

done_testing();
