# The life of an index: concurrent build, REINDEX, VACUUM, dump, upgrade, replica, crash.

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
	my ($server, $table, $name, $type) = @_;
	is(answers($server, $by_index, $table), answers($server, $by_scan, $table), $name);
	like($server->safe_psql('postgres', "$by_index EXPLAIN SELECT id FROM $table WHERE hamming(si, 42::$type) <= 3"),
		qr/Index Cond: \(si <@/, "$name: by the index");
}

my $fingerprints = q{SELECT i AS id, CASE WHEN i % 40 = 0 THEN NULL WHEN i % 2 = 0 THEN hashint8extended(i, 1)
	ELSE hashint8extended(i / 100, 2) # (1::bigint << (i % 60)) END AS si FROM generate_series(1, 10000) AS i};
# Near fingerprints become near codes of two words.
my $codes = "SELECT id, (si::bit(64) || hashint4(id / 100)::bit(32))::bit(96) AS si FROM ($fingerprints) AS f";
my %kinds = (document => 'gist (si gist_hamming_ops)', twin => 'hamming (si)', code => 'hamming (si)');
my @tables = sort keys %kinds;
my %rows = (document => $fingerprints, twin => $fingerprints, code => $codes);
my %types = (document => 'bigint', twin => 'bigint', code => 'bit(96)');
for my $table (@tables)
{
	$_->{"unlogged_$table"} = $_->{$table} for \%kinds, \%rows, \%types;
}
for my $table (sort keys %kinds)
{
	my $unlogged = $table =~ /unlogged/ ? 'UNLOGGED' : '';
	$node->safe_psql('postgres', "CREATE $unlogged TABLE $table AS $rows{$table};
		CREATE INDEX CONCURRENTLY ON $table USING $kinds{$table};");
	same_both_ways($node, $table, "$table: built concurrently", $types{$table});
	$node->safe_psql('postgres',
		"UPDATE $table SET si = si # 4::$types{$table} WHERE id % 3 = 0; DELETE FROM $table WHERE id % 7 = 0;");
	same_both_ways($node, $table, "$table: changed", $types{$table});
	$node->safe_psql('postgres', "VACUUM $table");
	same_both_ways($node, $table, "$table: vacuumed", $types{$table});
	$node->safe_psql('postgres', "INSERT INTO $table SELECT id + 20000, si FROM $table WHERE id % 2 = 1");
	same_both_ways($node, $table, "$table: grown", $types{$table});
	$node->safe_psql('postgres', "REINDEX INDEX CONCURRENTLY ${table}_si_idx");
	same_both_ways($node, $table, "$table: reindexed", $types{$table});
}
for my $table (@tables)
{
	# The results are the same with and without the index.
	my $count = sub {
		return $node->safe_psql('postgres', "CREATE TEMP TABLE t AS $rows{$table}; $_[0]
			INSERT INTO t SELECT id, si FROM t; DELETE FROM t WHERE id % 3 = 0;
				$_[1] INSERT INTO t SELECT id, si # 1::$types{$table} FROM t;
			SELECT count(*) FROM t WHERE hamming(si, (SELECT si FROM t WHERE id = 101 ORDER BY si LIMIT 1)) <= 3");
	};
	is($count->("CREATE INDEX ON t USING $kinds{$table}; $by_index", 'VACUUM t;'), $count->('', ''),
		"a temporary table like $table");
}

# A replica returns the same results while the primary continues.
my $replica = PostgreSQL::Test::Cluster->new('replica');
$node->backup('base');
$replica->init_from_backup($node, 'base', has_streaming => 1);
$replica->start;
for my $table (@tables)
{
	$node->safe_psql('postgres',
		"INSERT INTO $table SELECT id + 50000, si # 2::$types{$table} FROM $table WHERE id % 2 = 0");
	$node->safe_psql('postgres', "VACUUM $table");
	$node->wait_for_catchup($replica);
	same_both_ways($replica, $table, "replica of $table", $types{$table});
	is(answers($replica, $by_index, $table), answers($node, $by_scan, $table), "replica and primary agree on $table");
}
$replica->stop;

# A crash loses the unlogged rows, and nothing else.
my %before = map { $_ => answers($node, $by_scan, $_) } @tables;
$node->stop('immediate');
$node->start;
for my $table (@tables)
{
	is(answers($node, $by_index, $table), $before{$table}, "$table after a crash");
	is($node->safe_psql('postgres',
		"$by_index SELECT count(*) FROM unlogged_$table WHERE hamming(si, 42::$types{$table}) <= 96"), 0,
		"the index of unlogged_$table is as empty as its table");
	$node->safe_psql('postgres', "INSERT INTO unlogged_$table SELECT * FROM $table");
	same_both_ways($node, "unlogged_$table", "unlogged_$table, filled again", $types{$table});
}
is($node->safe_psql('postgres', "SELECT * FROM hamming_index_check('${_}_si_idx', true)"), '',
	"the index of $_ is sound") for 'twin', 'code';

# After the type of a column was extended, the dump can still be restored.
$node->safe_psql('postgres', q{CREATE TABLE lengthened (id integer, si varbit(100));
	INSERT INTO lengthened SELECT i, repeat(i::bit(20)::text, 5)::varbit FROM generate_series(1, 100) AS i;
	CREATE INDEX lengthened_si_idx ON lengthened USING hamming (si);
	ALTER TABLE lengthened ALTER COLUMN si TYPE varbit(200)});
# A restored dump has the index and the constraint.
$node->safe_psql('postgres',
	'CREATE TABLE refusing (id integer, si bigint, EXCLUDE USING hamming (hamming_ball(si, 3) WITH ~));
	INSERT INTO refusing VALUES (1, 0)');
my $dump = $node->basedir . '/life.dump';
$node->command_ok([ 'pg_dump', '--format', 'custom', '--file', $dump, $node->connstr('postgres') ], 'dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--dbname', $node->connstr('restored'), $dump ], 'restore');
is( $node->safe_psql('restored',
	"SELECT count(*) FROM pg_index WHERE indexrelid::regclass::text LIKE '%si%' AND indisvalid"),
	$node->safe_psql('postgres',
		"SELECT count(*) FROM pg_index WHERE indexrelid::regclass::text LIKE '%si%' AND indisvalid"),
	'all indexes are restored');
(undef, undef, my $err) = run_psql($node, 'restored', 'INSERT INTO refusing VALUES (2, 1)');
like($err, qr/conflicting key value violates exclusion constraint/, 'the constraint refuses as before');

# pg_upgrade copies the files unchanged.
my %expected = map { $_ => answers($node, $by_scan, $_) } @tables;
my $upgraded = PostgreSQL::Test::Cluster->new('upgraded');
$upgraded->init(extra => [ '--encoding', 'UTF8', '--locale', 'C' ]);
$node->stop;
my $bindir = bindir();
chdir $node->basedir;
command_ok(
	[
		'pg_upgrade', '--link', '-d', $node->data_dir, '-D', $upgraded->data_dir, '-b', $bindir, '-B', $bindir,
		'-s', $node->host, '-p', $node->port, '-P', $upgraded->port
	],
	'pg_upgrade --link');
$upgraded->start;
is(answers($upgraded, $by_index, $_), $expected{$_}, "the upgraded cluster answers the same from $_") for @tables;

done_testing();
