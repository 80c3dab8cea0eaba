# The example of crates/pg_border: a node of a plan that returns the rows of a table in reverse order, in a library of
# its own, which contains no unsafe code. It shows that a node, its path and its hook can be written above the border.

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
$node->safe_psql(
	'postgres', q{
	CREATE TABLE t AS
		SELECT i AS id, md5(i::text) AS body, nullif(i % 3, 0) AS third FROM generate_series(1, 1000) AS i;
	ANALYZE t;
});

# tools/tests/test has built it.
my $library = dirname(__FILE__) . '/libreversed.so';
my $reverse = "LOAD '$library';\nSET toy.reverse = on;\n";

sub rows
{
	my ($query, $setup) = @_;
	return $node->safe_psql('postgres', ($setup // '') . $query);
}

# Usage: reversed(QUERY, ROWS, NAME)
sub reversed
{
	my ($query, $expected, $name) = @_;
	return is(rows($query, $reverse), $expected, $name);
}

reversed('SELECT * FROM t', join("\n", reverse split /\n/, rows('SELECT * FROM t')), 'all rows, the last one first');
reversed('SELECT id FROM t LIMIT 3', "1000\n999\n998", 'the last rows');
reversed('SELECT id * 2 FROM t WHERE third = 1 LIMIT 2', "2000\n1994", 'columns are computed, and rows are filtered');
reversed('SELECT count(*), count(third), sum(length(body)) FROM t', '1000|667|32000', 'no columns, and NULLs');
reversed('SELECT count(*) FROM t WHERE false', '0', 'no rows');

# The inner side of a nested loop is restarted.
is( rows(
		'SELECT count(*), sum(a.id - b.id) FROM t AS a, t AS b WHERE a.id < 20 AND b.id = a.id',
		$reverse . "SET enable_hashjoin = off;\nSET enable_mergejoin = off;\nSET enable_material = off;\n"),
	'19|0',
	'the node is restarted');
reversed(
	'SELECT a.id, (SELECT b.id FROM t AS b WHERE b.id < a.id LIMIT 1) FROM t AS a WHERE a.id IN (1, 2, 500)',
	"500|499\n2|1\n1|",
	'parameters of the child change');

my $plan = rows('EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) SELECT id FROM t WHERE id <= 10', $reverse);
like($plan, qr/^Custom Scan \(Reversed\) \(actual rows=10(\.00)? loops=1\)$/m, 'EXPLAIN shows the node');
like($plan, qr/^  Rows Kept: 10$/m, 'and how many rows it has kept');
like($plan, qr/^  ->  Seq Scan on t /m, 'and its child');

# An error in the child ends the statement only.
my ($status, $out, $error) = $node->psql(
	'postgres',
	$reverse . "SELECT 1 / (id - 5) FROM (SELECT id FROM t OFFSET 0) AS t;\nSELECT id FROM t LIMIT 1;",
	on_error_stop => 0);
is($out, '1000', 'the session goes on after an error');
like($error, qr/division by zero/, 'which was raised while the node was executed');

my $plain = rows('EXPLAIN SELECT id FROM t', "LOAD '$library';\n");
unlike($plain, qr/Reversed/, 'without the setting, PostgreSQL plans as before');

$node->stop;
done_testing();
