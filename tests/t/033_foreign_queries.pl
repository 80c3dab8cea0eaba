# Queries that do not use the extension are planned as without the library, whatever the session has done before. Their
# plans, with costs, are compared in one session before the library is loaded, and after queries with distances and
# sketches. Our own plans are determined by statistics, so they are the same in every session, and planning reads no
# leaves of indexes and no rows.

use strict;
use warnings;
use Test::More;
use SimhashTest;

my $node = start_node('foreign_queries');
$node->append_conf('postgresql.conf', 'autovacuum = off');
$node->reload;
$node->safe_psql('postgres', q{
	CREATE TABLE doc AS SELECT i AS id, i % 50 AS grp, i * 7919 % 10007 AS n, hashint8extended(i, 1)
		AS si, hashint8extended(i, 2)::bit(64) AS code,
		ARRAY[i % 97, i % 101 + 1000, i + 10000]::bigint[] AS tags, ARRAY[i % 9, i % 11]::integer[] AS small
			FROM generate_series(1, 5000::bigint) AS i;
	ALTER TABLE doc ADD PRIMARY KEY (id);
	CREATE INDEX ON doc (si);
	CREATE INDEX ON doc (code);
	CREATE INDEX ON doc (grp, n);
	CREATE INDEX ON doc ((tags && '{7}'));
	CREATE INDEX ON doc (n) WHERE tags && '{7}';
	CREATE INDEX ON doc USING gin (tags);
	CREATE INDEX ON doc USING gin (small);
	CREATE INDEX ON doc USING brin (n);
	CREATE TABLE plain AS SELECT id, grp, n, si, code, tags, small FROM doc WHERE id % 5 = 0;
	CREATE TABLE star (id bigint, a bigint[], b bigint[], c bigint[], d bigint[]);
	INSERT INTO star SELECT id, tags, tags, tags, tags FROM plain;
	CREATE INDEX ON star USING gin (a, b);
	CREATE TABLE dim_a AS SELECT * FROM plain WHERE id % 3 = 0;
	CREATE TABLE dim_b AS SELECT * FROM plain WHERE id % 4 = 0;
	CREATE TABLE dim_c AS SELECT * FROM plain WHERE id % 7 = 0;
	CREATE TABLE parted (id bigint, n bigint, tags bigint[]) PARTITION BY RANGE (id);
	CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (2000);
	CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (2000) TO (4000);
	CREATE TABLE parted_3 PARTITION OF parted DEFAULT;
	CREATE INDEX ON parted USING gin (tags);
	INSERT INTO parted SELECT id, n, tags FROM doc;
	CREATE TABLE listed (id bigint, tags bigint[]) PARTITION BY LIST ((tags && '{5}'));
	CREATE TABLE listed_with PARTITION OF listed FOR VALUES IN (true);
	CREATE TABLE listed_without PARTITION OF listed FOR VALUES IN (false);
	INSERT INTO listed SELECT id, tags FROM plain;
	CREATE TABLE checked (id bigint, tags bigint[], si bigint, CHECK (NOT (tags && '{9}')), CHECK (si # 5 > 0));
	CREATE TABLE parent (id bigint, tags bigint[]);
	CREATE TABLE child (CHECK (id > 100)) INHERITS (parent);
	INSERT INTO child SELECT id, tags FROM plain WHERE id > 100;
	CREATE VIEW seven AS SELECT id, tags, tags && '{7}' AS has_seven FROM doc;
	CREATE FUNCTION plan(query text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		line text;
		lines text := '';
	BEGIN
		FOR line IN EXECUTE 'EXPLAIN (VERBOSE) ' || query LOOP
			lines := lines || line || E'\n';
		END LOOP;
		RETURN lines;
	EXCEPTION WHEN OTHERS THEN
		RETURN SQLSTATE || ' ' || SQLERRM;
	END $$;
	VACUUM ANALYZE;});

my @foreign = split /\n/, <<'SQL';
SELECT id FROM doc WHERE tags && '{7}'
SELECT id FROM doc WHERE tags && '{7,10050}' AND grp = 3
SELECT id FROM doc WHERE tags @> '{7}'
SELECT id FROM doc WHERE tags <@ '{7,8,9}'
SELECT id FROM doc WHERE tags = '{7,1007,10007}'
SELECT id FROM doc WHERE 7 = ANY (tags)
SELECT id FROM doc WHERE small && '{3,4}' OR tags && '{12}'
SELECT id FROM doc WHERE tags && ARRAY(SELECT id FROM dim_a WHERE grp = 9)
SELECT id FROM plain WHERE tags && '{7}'
SELECT id FROM seven WHERE has_seven
SELECT count(*) FROM doc WHERE tags && '{7}' AND n > 9000
SELECT count(*) FROM plain AS a JOIN dim_a AS b ON a.tags && b.tags
SELECT count(*) FROM plain AS a JOIN doc AS b ON a.tags && b.tags
SELECT count(*) FROM dim_a AS a JOIN dim_b AS b ON a.tags && b.tags AND a.grp = b.grp
SELECT count(*) FROM plain AS a LEFT JOIN dim_a AS b ON a.tags && b.tags
SELECT count(*) FROM plain AS a FULL JOIN dim_a AS b ON a.tags && b.tags
SELECT a.id FROM plain AS a WHERE EXISTS (SELECT FROM dim_a AS b WHERE a.tags && b.tags)
SELECT a.id FROM plain AS a WHERE NOT EXISTS (SELECT FROM dim_a AS b WHERE a.tags && b.tags AND a.id <> b.id)
SELECT a.id FROM plain AS a JOIN dim_a AS b ON a.tags @> b.tags
SELECT a.id FROM plain AS a JOIN dim_a AS b ON a.small && b.small
SELECT count(*) FROM star AS s JOIN dim_a AS a ON s.a && a.tags JOIN dim_b AS b ON s.b && b.tags
	JOIN dim_c AS c ON s.c && c.tags
SELECT count(*) FROM star AS s, dim_a AS a, dim_b AS b, dim_c AS c, plain AS d
	WHERE s.a && a.tags AND s.b && b.tags AND s.c && c.tags AND s.d && d.tags
SELECT a.id, l.id FROM dim_a AS a, LATERAL (SELECT id FROM doc AS d WHERE d.tags && a.tags ORDER BY d.n LIMIT 3) AS l
WITH a AS MATERIALIZED (SELECT * FROM dim_a), b AS MATERIALIZED (SELECT * FROM dim_b) SELECT count(*) FROM a
	JOIN b ON a.tags && b.tags
SELECT count(*) FROM (VALUES ('{1}'::bigint[]), ('{7}')) AS v (x) JOIN unnest('{7,8}'::bigint[]) AS u ON v.x && ARRAY[u]
UPDATE plain AS p SET n = 0 FROM dim_a AS a WHERE p.tags && a.tags
DELETE FROM plain AS p USING dim_b AS b WHERE p.tags && b.tags AND b.id < 100
SELECT id FROM parted WHERE id = 1500 AND tags && '{7}'
SELECT id FROM parted WHERE id BETWEEN 1900 AND 2100 ORDER BY id
SELECT p.id FROM parted AS p JOIN dim_a AS a ON p.id = a.id WHERE p.tags && '{7}'
SELECT id FROM listed WHERE tags && '{5}'
SELECT id FROM checked WHERE tags && '{9}'
SELECT id FROM checked WHERE si # 5 > 0
SELECT id FROM parent WHERE id < 50 AND tags && '{7}'
SELECT a.id FROM doc AS a JOIN doc AS b USING (id) WHERE a.n < 100
SELECT a.id FROM doc AS a LEFT JOIN plain AS b ON a.id = b.id AND b.n > 5 WHERE b.id IS NULL
SELECT a.id FROM doc AS a JOIN plain AS b ON a.si = b.si
SELECT a.id FROM doc AS a JOIN plain AS b ON a.si < b.si AND a.grp = b.grp
SELECT a.id FROM doc AS a FULL JOIN plain AS b ON a.id = b.id
SELECT a.id FROM plain AS a JOIN plain AS b ON bit_count((a.si # b.si)::bit(64)) <= 3
SELECT id FROM doc WHERE bit_count((si # 42)::bit(64)) <= 3
SELECT id FROM doc WHERE si BETWEEN -1000 AND 1000000
SELECT id FROM doc WHERE si IN (1, 2, 3) OR n = ANY ('{4,5}')
SELECT id FROM doc WHERE code = B'0101'::bit(64)
SELECT id FROM doc WHERE code < B'0101'::bit(64) ORDER BY code LIMIT 5
SELECT id FROM doc WHERE code & B'1111'::bit(64) = B'0101'::bit(64)
SELECT a.id FROM doc AS a JOIN plain AS b ON a.code = b.code
SELECT id FROM doc ORDER BY si LIMIT 10
SELECT id FROM doc ORDER BY bit_count((si # 42)::bit(64)) LIMIT 10
SELECT id FROM doc ORDER BY cardinality(tags) DESC, id
SELECT grp, count(*), max(n) FROM doc GROUP BY grp HAVING count(*) > 5 ORDER BY 2 DESC
SELECT grp, tags, count(*) FROM doc GROUP BY GROUPING SETS ((grp), (tags))
SELECT DISTINCT tags FROM doc
SELECT id, row_number() OVER (PARTITION BY grp ORDER BY n) FROM doc
WITH RECURSIVE r AS (SELECT 1::bigint AS id UNION ALL SELECT d.id FROM doc AS d JOIN r ON d.id = r.id + 1
	WHERE d.id < 5) SELECT * FROM r
SELECT id FROM doc WHERE tags && '{7}' UNION SELECT id FROM plain WHERE tags @> '{8}'
SELECT max(n) FROM doc WHERE grp = 3
SELECT id FROM doc WHERE n > (SELECT avg(n) FROM plain) AND grp IN (SELECT grp FROM dim_a)
SELECT count(*) FROM doc TABLESAMPLE SYSTEM (10) WHERE tags && '{7}'
SQL

my @settings = ('', 'SET enable_nestloop = off;', 'SET enable_seqscan = off;',
	'SET constraint_exclusion = on; SET enable_hashjoin = off;');
my $is_loaded = q{SELECT pg_read_file('/proc/self/maps') ~ '/simhash_pg[.]';};
my $ours = q{SELECT count(*) FROM plain AS a JOIN plain AS b ON hamming(a.si, b.si) <= 3;
	SELECT count(*) FROM plain AS a JOIN plain AS b ON hamming(a.code, b.code) <= 3;
	SELECT count(*) FROM plain AS a JOIN plain AS b ON sketch_overlaps(a.tags, b.tags);
	SELECT count(*) FROM doc WHERE sketch_similarity(tags, '{7}') >= 0.5 AND sketch_overlaps(tags, '{7}');
	SELECT count(*) FROM (SELECT id FROM doc ORDER BY hamming(si, 42) LIMIT 5) AS s;};
my $count = @foreign;
cmp_ok($count, '>=', 30, "$count foreign queries");
for my $settings (@settings)
{
	my $values = join ', ', map { "(\$query\$$_\$query\$)" } @foreign;
	my ($before, $planned, $after, @different) = split /\n/, $node->safe_psql('postgres', "$settings $is_loaded
		CREATE TEMPORARY TABLE planned AS SELECT query, plan(query) AS before FROM (VALUES $values) AS v (query);
		SELECT count(before) FROM planned;
\\o /dev/null\n $ours\n\\o\n $is_loaded
		SELECT query, before, now FROM (SELECT query, before, plan(query) AS now FROM planned) AS p
			WHERE before <> now");
	is("$before $planned $after", "f $count t", "'$settings': planned before and after the library is loaded");
	is(join("\n", @different), '', "'$settings': with the same plans");
}

# Our own queries: the same plans in a new session and after others, and no leaves or rows are read.
$node->safe_psql('postgres', q{
	CREATE INDEX ON plain USING hamming (si);
	CREATE INDEX ON plain USING hamming (code);
	CREATE INDEX ON plain USING gin (tags sketch_ops);
	ANALYZE plain;
	CREATE FUNCTION blocks_of_planning(query text) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		plan json;
	BEGIN
		EXECUTE 'EXPLAIN (FORMAT json, BUFFERS) ' || query INTO plan;
		RETURN (plan -> 0 -> 'Planning' ->> 'Shared Hit Blocks')::bigint +
			(plan -> 0 -> 'Planning' ->> 'Shared Read Blocks')::bigint;
	END $$;});
my @ours = (
	'SELECT count(*) FROM plain AS a JOIN plain AS b ON hamming(a.si, b.si) <= RADIUS',
	'SELECT count(*) FROM doc AS a JOIN plain AS b ON hamming(a.code, b.code) <= RADIUS',
	'SELECT count(*) FROM doc AS a JOIN plain AS b ON sketch_overlaps(a.tags, b.tags) AND a.id <> b.id + RADIUS',
	'SELECT count(*) FROM doc AS a JOIN plain AS b ON sketch_similarity(a.tags, b.tags) >= 1.0 / RADIUS',
	'SELECT id FROM plain WHERE hamming(si, 42) <= RADIUS',
	"SELECT id FROM plain WHERE sketch_similarity(tags, '{7,8}') >= 1.0 / RADIUS");
for my $query (@ours)
{
	my ($three, $five, $seven) = map { $query =~ s/RADIUS/$_/r } 3, 5, 7;
	my $fresh = $node->safe_psql('postgres', "SELECT plan(\$query\$$five\$query\$)");
	my $later = $node->safe_psql('postgres',
		"\\o /dev/null\n$ours; $three; $seven;\n\\o\nSELECT plan(\$query\$$five\$query\$)");
	is($later, $fresh, "$query: the same plan in every session");
	# The first query reads the catalog.
	my (undef, $blocks) = split /\n/, $node->safe_psql('postgres', join ' ',
		map { "SELECT blocks_of_planning(\$query\$$_\$query\$);" } $three, $five);
	cmp_ok($blocks, '<', 20, "$query: planning reads $blocks blocks");
}

done_testing();
