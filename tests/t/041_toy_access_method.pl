# The example of crates/pg_border: an access method in a library of its own, which contains no unsafe code. Its indexes
# are in the memory of a session. It shows that an access method can be written above the border.

use strict;
use warnings FATAL => 'all';
use File::Basename;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use SimhashTest;

my $node = PostgreSQL::Test::Cluster->new('toy');
$node->init(extra => [ '--encoding', 'UTF8', '--locale', 'C' ]);
$node->append_conf('postgresql.conf', "fsync = off\nautovacuum = off");
$node->start;

# tools/tests/test has built it.
my $library = dirname(__FILE__) . '/libremembered.so';
$node->safe_psql(
	'postgres', qq{
	CREATE FUNCTION remembered_handler(internal) RETURNS index_am_handler LANGUAGE c
		AS '$library', 'simhash_pg_remembered_handler';
	CREATE ACCESS METHOD remembered TYPE INDEX HANDLER remembered_handler;
	CREATE OPERATOR CLASS remembered_ops DEFAULT FOR TYPE integer USING remembered AS OPERATOR 1 =;
});

my $setup = q{
	CREATE TEMPORARY TABLE t AS SELECT i AS id, nullif(i % 100, 0) AS value FROM generate_series(1, 10000) AS i;
	CREATE INDEX t_value ON t USING remembered (value);
	ANALYZE t;
	SET enable_seqscan = off;
};
my $count = 'SELECT count(*), sum(id) FROM t WHERE value = 7';

# Usage: is_found(STATEMENTS, ROWS, NAME)
sub is_found
{
	my ($statements, $expected, $name) = @_;
	return is($node->safe_psql('postgres', "$setup$statements"), $expected, $name);
}

is_found($count, '100|495700', 'a bitmap of the rows');
is_found("SET enable_bitmapscan = off; $count", '100|495700', 'one row after the other');
is_found('SELECT count(*) FROM t WHERE value IS NULL', '100', 'NULLs are not in the index');
is_found('SELECT count(*) FROM t WHERE value = NULL', '0', 'nothing equals NULL');
is_found('SELECT count(*) FROM t WHERE value = 7 AND value = 8', '0', 'two keys');
is_found("INSERT INTO t VALUES (20000, 7), (20001, NULL); $count", '101|515700', 'a row is inserted');
is_found("UPDATE t SET value = 7 WHERE id = 8; $count", '101|495708', 'a row is updated');
is_found("BEGIN; INSERT INTO t VALUES (1, 7); ROLLBACK; $count", '100|495700', 'an insert is rolled back');
is_found("BEGIN; TRUNCATE t; ROLLBACK; $count", '100|495700', 'TRUNCATE is rolled back');
is_found("TRUNCATE t; $count", '0|', 'the table is empty');
is_found("REINDEX INDEX t_value; $count", '100|495700', 'the index is rebuilt');

# VACUUM passes the dead rows, whose places are used again.
is_found(
	"DELETE FROM t WHERE id % 2 = 1; VACUUM t; INSERT INTO t SELECT i, 8 FROM generate_series(1, 5000) AS i; $count",
	'0|',
	'dead rows are removed');
is_found(
	q{DELETE FROM t WHERE value = 7; VACUUM t; SELECT reltuples FROM pg_class WHERE relname = 't_value'},
	'9800', 'VACUUM counts the rows that remain');

# The inner side of a nested loop searches again for each row.
is_found(
	'SET enable_hashjoin = off; SET enable_mergejoin = off;
	SELECT count(*) FROM generate_series(1, 3) AS a (n) JOIN t ON t.value = a.n',
	'300', 'the search begins again');
like(
	$node->safe_psql('postgres', "$setup EXPLAIN (COSTS off) $count"),
	qr/Bitmap Index Scan on t_value/,
	'the planner chooses the index');
is($node->safe_psql('postgres', "SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'remembered_ops'"),
	't', 'the operator class is valid');

my ($status, $out, $error) = $node->psql('postgres',
	'CREATE TABLE permanent (value integer); CREATE INDEX ON permanent USING remembered (value);');
like(
	$error,
	qr/ERROR:  access method "remembered" is for integers of temporary tables/,
	'an error is one of the statement');
($status, $out, $error) =
	$node->psql('postgres', "$setup CREATE INDEX ON t USING remembered (value) WITH (speed = 1);");
like($error, qr/ERROR:  unrecognized parameter "speed"/, 'parameters are checked');

$node->stop;
done_testing();
