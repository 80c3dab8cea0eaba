# What happens to an index in its life: concurrent build, REINDEX, VACUUM, dump, upgrade, replica, crash.

use strict;
use warnings;
use Test::More;
use SimhashTest;
use PostgreSQL::Test::Utils;

my $node = start_node('life', allows_streaming => 1);
my $by_index = "SET enable_seqscan = off; SET enable_bitmapscan = off;";
my $by_scan = "SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;";

# Ranges and nearest neighbours, as one string.
sub answers
{
	my ($server, $how, $table) = @_;
	my $q = "(SELECT si FROM $table WHERE id = 101)";
	return $server->safe_psql('postgres', "$how
		SELECT r, (SELECT count(*) || ' ' || coalesce(sum(id), 0) FROM $table WHERE hamming(si, $q) <= r)
		FROM unnest('{0,3,6,20}'::integer[]) AS r;
		SELECT array_agg(d) FROM (SELECT hamming(si, $q) AS d FROM $table ORDER BY hamming(si, $q) LIMIT 50) AS n");
}

sub same_both_ways
{
	my ($server, $table, $name) = @_;
	is(answers($server, $by_index, $table), answers($server, $by_scan, $table), $name);
	like($server->safe_psql('postgres', "$by_index EXPLAIN SELECT id FROM $table WHERE hamming(si, 42) <= 3"),
		qr/Index Cond: \(si <@/, "$name: by the index");
}

my $rows = q{SELECT i AS id, CASE WHEN i % 40 = 0 THEN NULL WHEN i % 2 = 0 THEN hashint8extended(i, 1)
	ELSE hashint8extended(i / 100, 2) # (1::bigint << (i % 60)) END AS si FROM generate_series(1, 10000) AS i};
for my $table ('document', 'unlogged_document')
{
	my $unlogged = $table eq 'document' ? '' : 'UNLOGGED';
	$node->safe_psql('postgres', "CREATE $unlogged TABLE $table AS $rows;
		CREATE INDEX CONCURRENTLY ON $table USING gist (si gist_hamming_ops);");
	same_both_ways($node, $table, "$table: built concurrently");
	$node->safe_psql('postgres', "UPDATE $table SET si = si # 4 WHERE id % 3 = 0; DELETE FROM $table WHERE id % 7 = 0;");
	same_both_ways($node, $table, "$table: changed");
	$node->safe_psql('postgres', "VACUUM $table");
	same_both_ways($node, $table, "$table: vacuumed");
	$node->safe_psql('postgres', "INSERT INTO $table SELECT id + 20000, si FROM $table WHERE id % 2 = 1");
	same_both_ways($node, $table, "$table: grown");
	$node->safe_psql('postgres', "REINDEX INDEX CONCURRENTLY ${table}_si_idx");
	same_both_ways($node, $table, "$table: reindexed");
}
is($node->safe_psql('postgres', "CREATE TEMP TABLE t AS $rows; CREATE INDEX ON t USING gist (si gist_hamming_ops);
	$by_index SELECT count(*) FROM t WHERE hamming(si, (SELECT si FROM t WHERE id = 101)) <= 3"),
	$node->safe_psql('postgres', "CREATE TEMP TABLE t AS $rows;
	SELECT count(*) FROM t WHERE hamming(si, (SELECT si FROM t WHERE id = 101)) <= 3"), 'a temporary table');

# A replica answers the same while the primary goes on.
my $replica = PostgreSQL::Test::Cluster->new('replica');
$node->backup('base');
$replica->init_from_backup($node, 'base', has_streaming => 1);
$replica->start;
$node->safe_psql('postgres', 'INSERT INTO document SELECT id + 50000, si # 2 FROM document WHERE id % 2 = 0; VACUUM document');
$node->wait_for_catchup($replica);
same_both_ways($replica, 'document', 'replica');
is(answers($replica, $by_index, 'document'), answers($node, $by_scan, 'document'), 'replica and primary agree');
$replica->stop;

# A crash takes the unlogged rows and nothing else.
my $before = answers($node, $by_scan, 'document');
$node->stop('immediate');
$node->start;
is(answers($node, $by_index, 'document'), $before, 'after a crash');
is($node->safe_psql('postgres', "$by_index SELECT count(*) FROM unlogged_document WHERE hamming(si, 42) <= 64"), 0,
	'the unlogged index is as empty as its table');
$node->safe_psql('postgres', "INSERT INTO unlogged_document SELECT * FROM document");
same_both_ways($node, 'unlogged_document', 'the unlogged table, filled again');

# A dump restores index and constraint.
$node->safe_psql('postgres', 'CREATE TABLE refusing (id integer, si bigint, EXCLUDE USING gist (hamming_ball(si, 3) WITH ~));
	INSERT INTO refusing VALUES (1, 0)');
my $dump = $node->basedir . '/life.dump';
$node->command_ok([ 'pg_dump', '--format', 'custom', '--file', $dump, $node->connstr('postgres') ], 'dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--dbname', $node->connstr('restored'), $dump ], 'restore');
is( $node->safe_psql('restored', "SELECT count(*) FROM pg_index WHERE indexrelid::regclass::text LIKE '%si%' AND indisvalid"),
	$node->safe_psql('postgres', "SELECT count(*) FROM pg_index WHERE indexrelid::regclass::text LIKE '%si%' AND indisvalid"),
	'all indexes are restored');
(undef, undef, my $err) = run_psql($node, 'restored', 'INSERT INTO refusing VALUES (2, 1)');
like($err, qr/conflicting key value violates exclusion constraint/, 'the constraint refuses as before');

# pg_upgrade takes the files along as they are.
my $expected = answers($node, $by_scan, 'document');
my $upgraded = PostgreSQL::Test::Cluster->new('upgraded');
$upgraded->init(extra => [ '--encoding', 'UTF8', '--locale', 'C' ]);
$node->stop;
my $bindir = $node->config_data('--bindir');
chdir $node->basedir;
command_ok(
	[
		'pg_upgrade', '--link', '-d', $node->data_dir, '-D', $upgraded->data_dir, '-b', $bindir, '-B', $bindir,
		'-s', $node->host, '-p', $node->port, '-P', $upgraded->port
	],
	'pg_upgrade --link');
$upgraded->start;
is(answers($upgraded, $by_index, 'document'), $expected, 'the upgraded cluster answers the same');

done_testing();
