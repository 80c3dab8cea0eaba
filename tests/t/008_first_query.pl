# Every form of a query is planned as an index scan in the first query of a session, with nothing preloaded. Each query
# has its own connection.

use strict;
use warnings;
use Test::More;
use SimhashTest;

my $node = start_node('first_query');
$node->safe_psql(
	'postgres', q{
	CREATE TABLE document (id integer PRIMARY KEY, si bigint);
	INSERT INTO document SELECT i, hashint8extended(i, 1) FROM generate_series(1, 20000) AS i;
	CREATE TABLE probe AS SELECT id, si FROM document WHERE id % 5000 = 1;
	CREATE VIEW near AS SELECT id, hamming(si, 42) AS hd FROM document;
	VACUUM ANALYZE document, probe;
	ALTER DATABASE postgres SET jit = off;
	ALTER DATABASE postgres SET enable_mergejoin = off;
	ALTER DATABASE postgres SET enable_hashjoin = off;
	ALTER DATABASE postgres SET simhash_pg.enable_near_join = off;
	CREATE FUNCTION count_near(query bigint, radius integer) RETURNS bigint LANGUAGE plpgsql AS $$
	BEGIN
		RETURN (SELECT count(*) FROM document WHERE hamming(si, query) <= radius);
	END $$;});
is($node->safe_psql('postgres', 'SHOW shared_preload_libraries')
	. $node->safe_psql('postgres', 'SHOW session_preload_libraries'),
	'', 'nothing is preloaded');

my %shapes = (
	'range' => 'SELECT id FROM document WHERE hamming(si, 42) <= 3',
	'operator' => 'SELECT id FROM document WHERE 3 >= 42::bigint <~> si',
	'within' => 'SELECT id FROM document WHERE hamming_within(si, 42, 3)',
	'ball' => "SELECT id FROM document WHERE si <@ '<42,3>'",
	'view' => 'SELECT id FROM near WHERE hd = 3',
	'subquery' => 'SELECT id FROM document WHERE hamming(si, (SELECT min(si) FROM probe)) < 3',
	'join' => 'SELECT d.id FROM probe AS p JOIN document AS d ON hamming(p.si, d.si) <= 3',
	'left join' => 'SELECT d.id FROM probe AS p LEFT JOIN document AS d ON hamming(d.si, p.si) BETWEEN 1 AND 3',
	'not exists' => 'SELECT id FROM probe AS p WHERE NOT EXISTS (SELECT FROM document AS d '
		. 'WHERE hamming(p.si, d.si) <= 3 AND d.id <> p.id)',
	'or' => 'SELECT id FROM document WHERE hamming(si, 42) <= 2 OR hamming(si, 43) <= 2',
	'nearest' => 'SELECT id FROM document ORDER BY hamming(si, 42) LIMIT 3',
	'similarity' => 'SELECT id FROM document WHERE hamming_similarity(si, 42) >= 0.96',
	'nearest by similarity' => 'SELECT id FROM document ORDER BY hamming_similarity(si, 42) DESC NULLS LAST LIMIT 3',
	'limit that is no integer' => 'SELECT id FROM document WHERE hamming(si, 42) <= 3.5',
	'update' => 'UPDATE document SET si = si WHERE hamming(si, 42) <= 3',
	'delete' => 'DELETE FROM document WHERE hamming(si, 42) <= 3',
	'merge' => 'MERGE INTO document AS d USING probe AS p ON hamming(d.si, p.si) <= 3
		WHEN MATCHED THEN UPDATE SET si = p.si WHEN NOT MATCHED THEN DO NOTHING');

for my $kind ('gist (si gist_hamming_ops)', 'hamming (si)')
{
	$node->safe_psql('postgres',
		"DROP INDEX IF EXISTS document_si_idx; CREATE INDEX document_si_idx ON document USING $kind");
	for my $shape (sort keys %shapes)
	{
		my (undef, $plan, $err) = run_psql($node, 'postgres', "EXPLAIN (COSTS OFF) $shapes{$shape}");
		like($plan, qr/document_si_idx.*?(Index Cond: \(si <@ |Order By: \(si <~> )/s,
			"$shape, as the first query, by $kind")
		  or diag($err);
	}
}

# Conditions on sketches, by the class for them and by PostgreSQL's own.
$node->safe_psql('postgres', q{
	CREATE TABLE page AS SELECT i AS id, ARRAY(SELECT hashint8extended(i * 10 + j, 1) FROM generate_series(1, 20) AS j
		ORDER BY 1) AS sketch
		FROM generate_series(1, 3000) AS i;
	ANALYZE page;});
my %sketch_shapes = (
	'overlap' => q{SELECT id FROM page WHERE sketch_overlaps(sketch, '{1,2}')},
	'overlap of a join' => 'SELECT b.id FROM page AS a JOIN page AS b ON sketch_overlaps(a.sketch, b.sketch) '
		. 'WHERE a.id = 7',
	'resemblance' => q{SELECT id FROM page WHERE sketch_similarity(sketch, '{1,2}') >= 0.5},
	'containment' => q{SELECT id FROM page WHERE sketch_containment('{1,2}', sketch) > 0.5},
	'the most similar' => q{SELECT id FROM page WHERE sketch_similarity(sketch, '{1,2}') >= 0.5
		ORDER BY sketch_similarity(sketch, '{1,2}') DESC LIMIT 3},
	'containment of the stored, with a further condition' => q{SELECT id FROM page WHERE sketch_containment(sketch,
		'{1,2}') >= 0.5 AND id > 1000});
for my $class ('sketch_ops', 'array_ops')
{
	$node->safe_psql('postgres',
		"DROP INDEX IF EXISTS page_sketch; CREATE INDEX page_sketch ON page USING gin (sketch $class)");
	for my $shape (sort keys %sketch_shapes)
	{
		my (undef, $plan, $err) = run_psql($node, 'postgres', "EXPLAIN (COSTS OFF) $sketch_shapes{$shape}");
		like($plan, qr/Bitmap Index Scan on page_sketch/, "$shape, as the first query, by $class")
			or diag($plan . $err);
	}
}

# The extended protocol's parameters, and PL/pgSQL's, as the server logs their plans.
my $explain = q{LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on;
	SET client_min_messages = log;};
my (undef, undef, $log) = run_psql($node, 'postgres', "$explain SELECT count_near(42, 3)");
like($log, qr/Index Cond: \(si <@ /, 'inside PL/pgSQL');
SKIP:
{
	skip 'psql has no \bind', 1 unless `psql --version` =~ /(\d+)/ && $1 >= 16;
	(undef, undef, $log) = run_psql($node, 'postgres',
		"$explain SELECT id FROM document WHERE hamming(si, \$1) <= \$2 \\bind 42 3 \\g");
	like($log, qr/Index Cond: \(si <@ /, 'with bound parameters');
}

# An extension that was created again in the same session has other OIDs for everything.
(undef, my $plan, my $err) = run_psql($node, 'postgres', q{
	SELECT count(*) FROM document WHERE hamming(si, 42) <= 3;
	DROP EXTENSION simhash_pg CASCADE;
	CREATE EXTENSION simhash_pg;
	CREATE INDEX anew ON document USING gist (si gist_hamming_ops);
	EXPLAIN (COSTS OFF) SELECT id FROM document WHERE hamming(si, 42) <= 3;});
like($plan, qr/anew.*Index Cond: \(si <@ /s, 'after DROP and CREATE EXTENSION') or diag($err);

# A role that may use the table, but not the schema of the extension.
$node->safe_psql('postgres', q{
	CREATE SCHEMA hidden; ALTER EXTENSION simhash_pg SET SCHEMA hidden;
	CREATE VIEW near AS SELECT id, hidden.hamming(si, 42) AS hd FROM document;
	CREATE ROLE reader LOGIN; GRANT SELECT ON near, document TO reader;});
(undef, $plan, $err) =
  run_psql($node, 'postgres', 'EXPLAIN (COSTS OFF) SELECT id FROM near WHERE hd <= 3', '-U', 'reader');
like($plan, qr/Index Cond: \(si OPERATOR\(hidden\.<@\) |Index Cond: \(si <@ /, 'without USAGE on the schema')
	or diag($err);

done_testing();
