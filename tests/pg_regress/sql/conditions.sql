-- every shape of query that an index answers, and its plan
CREATE TABLE document (id integer PRIMARY KEY, tenant_id integer, body text, si bigint, other bigint);
INSERT INTO document
SELECT i, i % 100, 'text ' || i, CASE WHEN i % 2 = 0 THEN hashint8extended(i, 1) ELSE hashint8extended(i / 100, 2) # (1::bigint << (i % 60)) END,
       hashint8extended(i, 3)
FROM generate_series(1, 20000) AS i;
CREATE INDEX ON document USING gist (si gist_hamming_ops);
CREATE INDEX ON document (tenant_id);
CREATE TABLE probe (id integer, si bigint);
INSERT INTO probe SELECT id, si FROM document WHERE id % 1000 = 101;
VACUUM ANALYZE document, probe;

-- Versions of PostgreSQL differ in how they name subqueries, and in whether they show disabled and replaced nodes.
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        CONTINUE WHEN line ~ '^ *(Disabled: true|Replaces: .*)$';
        line := regexp_replace(line, 'InitPlan (expr|minmax)_\d+', 'InitPlan 1');
        line := regexp_replace(line, '(InitPlan 1) \(returns \$0\)', '\1');
        RETURN NEXT regexp_replace(line, '\(InitPlan 1\)\.col1|\$0', 'init', 'g');
    END LOOP;
END $$;
\pset tuples_only on
\pset format unaligned
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET simhash_pg.enable_near_join = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
-- constants
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) <= 6');
SELECT plan('SELECT id FROM document WHERE hamming(42, si) <= 6');
SELECT plan('SELECT id FROM document WHERE 6 >= hamming(si, 42)');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) < 6');
SELECT plan('SELECT id FROM document WHERE 6 > hamming(si, 42)');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) = 6');
SELECT plan('SELECT id FROM document WHERE 6 = hamming(si, 42)');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) = 0');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) <= 0');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) < 1');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) BETWEEN 2 AND 6');
SELECT plan('SELECT id FROM document WHERE NOT hamming(si, 42) > 6');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) <= 6::smallint');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) <= 6::bigint');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) < 9223372036854775807');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) <= -1');
SELECT plan('SELECT id FROM document WHERE si <~> 42 <= 6');
SELECT plan('SELECT id FROM document WHERE hamming_within(si, 42, 6)');
SELECT plan('SELECT id FROM document WHERE hamming_within(42, si, 6)');
SELECT plan('SELECT id FROM document WHERE si <@ hamming_ball(42, 6)');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) <= NULL');
-- a radius that is implied by what contains the distance
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) IN (0, 1, 2)');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) = ANY (''{0,NULL,3}'')');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42)::bigint IN (0, 1, 2)');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) < ANY (''{}'')');
SELECT plan('SELECT id FROM document WHERE 64 - hamming(si, 42) IN (64, 60)');
SELECT plan('SELECT id FROM document WHERE (hamming(si, 42) <= 6) IS TRUE');
SELECT plan('SELECT id FROM document WHERE (hamming(si, 42) <= 6 AND tenant_id > 3) IS TRUE');
SELECT plan('SELECT id FROM document WHERE coalesce(hamming(si, 42) <= 6, false)');
SELECT plan('SELECT id FROM document WHERE coalesce(hamming(si, 42), 99) <= 6');
SELECT plan('SELECT id FROM document WHERE CASE WHEN hamming(si, 42) <= 6 THEN true ELSE false END');
SELECT plan('SELECT id FROM document WHERE abs(hamming(si, 42)) <= 6');
SELECT plan('SELECT id FROM document WHERE least(hamming(si, 42), hamming(si, -1)) <= 6');
SELECT plan('SELECT id FROM document WHERE 6 > greatest(hamming(si, 42), hamming(si, 43))');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) <= 3 OR (hamming(si, -1) <= 3) IS TRUE');
-- IS NOT FALSE also accepts NULL
SELECT plan('SELECT id FROM document WHERE (hamming(si, 42) <= 6) IS NOT FALSE');
SELECT plan('SELECT id FROM document WHERE (hamming(si, 42) = 6) IS NOT FALSE AND tenant_id > 3');
SELECT plan('SELECT id FROM document WHERE (hamming(si, 42) IN (0, 2)) IS NOT FALSE');
-- a FILTER that all aggregates of a query have excludes rows like WHERE
SELECT plan('SELECT count(*) FILTER (WHERE hamming(si, 42) <= 6) FROM document');
SELECT plan('SELECT count(*) FILTER (WHERE hamming(si, 42) <= 6 AND tenant_id > 3), max(id) FILTER (WHERE hamming(si, 42) <= 6 AND tenant_id > 3) FROM document WHERE id > 7');
SELECT plan('SELECT p.id, (SELECT count(*) FILTER (WHERE hamming(d.si, p.si) <= 6) FROM document AS d) FROM probe AS p');
SELECT plan('SELECT count(*) FILTER (WHERE hamming(si, 42) <= 6) FROM document HAVING count(*) FILTER (WHERE hamming(si, 42) <= 6) > 3');
SELECT plan('SELECT count(*) FILTER (WHERE hamming(si, 42) <= 6), count(*) FROM document');
SELECT plan('SELECT count(*) FILTER (WHERE hamming(si, 42) <= 6), count(*) FILTER (WHERE hamming(si, 42) <= 7) FROM document');
SELECT plan('SELECT count(*) FILTER (WHERE hamming(si, 42) <= 6) FROM document HAVING count(*) > 3');
SELECT plan('SELECT tenant_id, count(*) FILTER (WHERE hamming(si, 42) <= 6) FROM document GROUP BY tenant_id');
SELECT plan('SELECT count(*) FILTER (WHERE hamming(si, 42) <= 6) FROM document GROUP BY ()');
SELECT plan('SELECT count(*) FILTER (WHERE hamming(si, 42) <= 6 AND random() < 2) FROM document');
SELECT plan('SELECT count(*) FILTER (WHERE tenant_id <= 6) FROM document');
SELECT count(*) FILTER (WHERE hamming(si, si # 5) = 2 AND hamming(si, 42) <= 25), sum(id) FILTER (WHERE hamming(si, si # 5) = 2 AND hamming(si, 42) <= 25) FROM document;
SELECT count(*), sum(id) FROM document WHERE bit_count((si # 42)::bit(64)) <= 25;
SELECT count(*) FILTER (WHERE hamming(d.si, p.si) <= 9) FROM probe AS p LEFT JOIN document AS d ON d.id = p.id;
SELECT max(id) FILTER (WHERE hamming(si, 42) <= -1) FROM document;
-- a filter on a UNION ALL
SELECT plan('SELECT id FROM (SELECT id, si FROM document UNION ALL SELECT id, si FROM probe OFFSET 0) AS u WHERE hamming(si, 42) <= 6');
SELECT plan('SELECT id FROM (SELECT id, si FROM document UNION ALL SELECT id, other FROM document) AS u WHERE hamming(si, 42) <= 6');
SELECT plan('SELECT id FROM (SELECT id, si FROM document UNION ALL SELECT id, si # 1 FROM document) AS u WHERE hamming(si, 42) = 6 OR hamming(si, 43) <= 2');
SELECT plan('SELECT id FROM (SELECT id, si FROM document UNION ALL SELECT id, si FROM document) AS u WHERE hamming(si, 42) IN (0, 2) AND id > 3');
-- an index on balls, as a constraint makes it, is an index on their centers as well, for any radius
CREATE TABLE balls AS SELECT id, tenant_id, si FROM document UNION ALL SELECT -i, i, NULL FROM generate_series(1, 5) AS i;
CREATE INDEX of_balls ON balls USING hamming (hamming_ball(si, 5), tenant_id);
ANALYZE balls;
SELECT plan('SELECT id FROM balls WHERE hamming(si, 42) <= 20 AND tenant_id = 3');
SELECT plan('SELECT id FROM balls WHERE hamming(si, 42) <= 3');
SELECT plan('SELECT id FROM balls WHERE si = 42');
SELECT plan('SELECT id FROM balls WHERE si IS NULL');
SELECT plan('SELECT id FROM balls ORDER BY hamming(si, 42) LIMIT 3');
SELECT plan('SELECT id FROM balls WHERE hamming_ball(si, 5) ~ hamming_ball(42, 5)');
SELECT count(*) FROM balls WHERE hamming(si, 42) <= 20 AND tenant_id = 3;
SELECT count(*) FROM balls WHERE bit_count((si # 42)::bit(64)) <= 20 AND tenant_id = 3;
SELECT id FROM balls WHERE si IS NULL ORDER BY id;
DROP INDEX of_balls;
-- a radius that may be NULL
CREATE INDEX of_balls ON balls USING hamming (hamming_ball(si, tenant_id));
SELECT plan('SELECT id FROM balls WHERE hamming(si, 42) <= 3');
DROP TABLE balls;
-- parameters, whatever is computed with the distance
SET plan_cache_mode = force_generic_plan;
PREPARE of_integer (bigint, integer) AS SELECT count(*) FROM document WHERE 64 - hamming(si, $1) >= $2;
PREPARE of_numeric (bigint, numeric) AS SELECT count(*) FROM document WHERE 1 - hamming(si, $1) / 64.0 >= $2;
PREPARE of_double (bigint, float8) AS SELECT count(*) FROM document WHERE hamming(si, $1) * 0.5::float8 < $2;
SELECT line FROM plan('EXECUTE of_integer (42, 60)') AS line;
SELECT line FROM plan('EXECUTE of_numeric (42, 0.9)') AS line;
SELECT line FROM plan('EXECUTE of_double (42, 3)') AS line;
PREPARE of_list (bigint, integer, integer) AS SELECT count(*) FROM document WHERE hamming(si, $1) IN ($2, $3);
PREPARE of_line_list (bigint, float8) AS SELECT count(*) FROM document WHERE 1 - hamming(si, $1) / 64.0::float8 = ANY (ARRAY[1, $2, NULL]);
PREPARE of_filter (bigint, integer) AS SELECT count(*) FILTER (WHERE hamming(si, $1) < $2) FROM document;
SELECT line FROM plan('EXECUTE of_list (42, 0, 2)') AS line;
SELECT line FROM plan('EXECUTE of_line_list (42, 0.9)') AS line;
SELECT line FROM plan('EXECUTE of_filter (42, 6)') AS line;
EXECUTE of_list (42, 24, 25);
EXECUTE of_list (42, NULL, 25);
EXECUTE of_list (42, NULL, NULL);
EXECUTE of_line_list (42, 0.609375);
EXECUTE of_filter (42, 26);
SELECT count(*) FILTER (WHERE d IN (24, 25)), count(*) FILTER (WHERE d = 25), count(*) FILTER (WHERE d < 26) FROM (SELECT bit_count((si # 42)::bit(64)) AS d FROM document) AS s;
EXECUTE of_integer (42, 40);
EXECUTE of_integer (42, -2147483648);
EXECUTE of_integer (42, NULL);
EXECUTE of_numeric (42, 0.6);
EXECUTE of_numeric (42, 'NaN');
EXECUTE of_numeric (42, -1e400);
EXECUTE of_numeric (42, 1e400);
EXECUTE of_double (42, 12);
EXECUTE of_double (42, 'NaN');
EXECUTE of_double (42, 1e308);
EXECUTE of_double (42, '-Infinity');
SELECT count(*) FILTER (WHERE 64 - d >= 40) AS of_integer, count(*) FILTER (WHERE 1 - d / 64.0 >= 0.6) AS of_numeric, count(*) FILTER (WHERE d * 0.5 < 12) AS of_double, count(d) AS of_all
FROM (SELECT bit_count((si # 42)::bit(64)) AS d FROM document) AS s;
DEALLOCATE of_integer;
DEALLOCATE of_numeric;
DEALLOCATE of_double;
RESET plan_cache_mode;
-- a second comparison with the same radius
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) <= 6 AND hamming(si, 42) < 7');
-- nearest
SELECT plan('SELECT id FROM document ORDER BY hamming(si, 42) LIMIT 10');
SELECT plan('SELECT id FROM document ORDER BY hamming(42, si) LIMIT 10');
SELECT plan('SELECT id FROM document ORDER BY si <~> 42 LIMIT 10');
SELECT plan('SELECT id, hamming(si, 42) AS d FROM document ORDER BY d LIMIT 10');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) <= 12 ORDER BY hamming(si, 42) LIMIT 10');
-- parameters
PREPARE untyped AS SELECT id FROM document WHERE hamming(si, $1) <= $2;
PREPARE small (bigint, smallint) AS SELECT id FROM document WHERE hamming(si, $1) <= $2;
PREPARE big (bigint, bigint) AS SELECT id FROM document WHERE hamming(si, $1) < $2;
PREPARE less (bigint, integer) AS SELECT id FROM document WHERE $2 > hamming($1, si);
PREPARE equal (bigint, integer) AS SELECT id FROM document WHERE hamming(si, $1) = $2;
PREPARE nearest (bigint) AS SELECT id FROM document ORDER BY hamming(si, $1) LIMIT 3;
SELECT plan('EXECUTE untyped(42, 6)');
SET plan_cache_mode = force_generic_plan;
SELECT plan('EXECUTE untyped(42, 6)');
SELECT plan('EXECUTE small(42, 6::smallint)');
SELECT plan('EXECUTE big(42, 6)');
SELECT plan('EXECUTE less(42, 6)');
SELECT plan('EXECUTE equal(42, 6)');
SELECT plan('EXECUTE nearest(42)');
-- NULLs and odd limits as parameters
SELECT (SELECT count(*) FROM document WHERE hamming(si, NULL::bigint) <= 64) AS no_query;
EXECUTE untyped(NULL, 64);
EXECUTE untyped(42, NULL);
EXECUTE untyped(42, -1);
EXECUTE big(42, -9223372036854775808);
RESET plan_cache_mode;
-- a subquery as query value
SELECT plan('SELECT id FROM document WHERE hamming(si, (SELECT si FROM probe WHERE id = 101)) <= 6');
-- views, subqueries, CTEs
CREATE VIEW near AS SELECT id, hamming(si, 42) AS hd FROM document;
SELECT plan('SELECT id FROM near WHERE hd <= 6');
SELECT plan('SELECT id FROM (SELECT id, hamming(si, 42) AS hd FROM document) AS d WHERE hd <= 6 ORDER BY hd');
SELECT plan('WITH d AS (SELECT id, hamming(si, 42) AS hd FROM document) SELECT id FROM d WHERE hd < 7');
DROP VIEW near;
-- joins, driven from either side
SELECT plan('SELECT d.id FROM probe AS p JOIN document AS d ON hamming(d.si, p.si) <= 3');
SELECT plan('SELECT d.id FROM probe AS p, document AS d WHERE hamming(p.si, d.si) <= 3');
SELECT plan('SELECT d.id FROM probe AS p LEFT JOIN document AS d ON hamming(p.si, d.si) <= 3');
SELECT plan('SELECT d.id FROM (VALUES (42::bigint), (43)) AS q (si) LEFT JOIN document AS d ON hamming(d.si, q.si) <= 3');
SELECT plan('SELECT d.id FROM probe AS p, LATERAL (SELECT id FROM document WHERE hamming(si, p.si) <= 3) AS d');
SELECT plan('SELECT d.id FROM probe AS p, LATERAL (SELECT id FROM document ORDER BY hamming(si, p.si) LIMIT 2) AS d');
SELECT plan('SELECT p.id FROM probe AS p WHERE EXISTS (SELECT FROM document AS d WHERE hamming(d.si, p.si) <= 3 AND d.id <> p.id)');
SELECT plan('SELECT p.id FROM probe AS p WHERE NOT EXISTS (SELECT FROM document AS d WHERE hamming(d.si, p.si) <= 3 AND d.id <> p.id)');
-- a join on distance 0 is an equality
SET enable_hashjoin = on;
SET simhash_pg.enable_near_join = on;
SET enable_seqscan = on;
SET enable_nestloop = off;
SELECT plan('SELECT d.id FROM probe AS p JOIN document AS d ON hamming(d.si, p.si) = 0');
RESET enable_nestloop;
SET enable_hashjoin = off;
SET simhash_pg.enable_near_join = off;
SET enable_seqscan = off;
-- OR and AND
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) <= 3 OR hamming(si, 43) <= 3');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) = 3 OR tenant_id = 5');
SELECT plan('SELECT id FROM document WHERE (hamming(si, 42) <= 1 AND tenant_id = 4) OR (tenant_id = 5 AND hamming(si, 43) < 2)');
-- changes
SELECT plan('UPDATE document SET tenant_id = 0 WHERE hamming(si, 42) <= 3');
SELECT plan('DELETE FROM document WHERE hamming(si, 42) <= 3');
SELECT plan('DELETE FROM document AS d USING probe AS p WHERE hamming(d.si, p.si) <= 3 AND d.id > p.id');
-- partitions
CREATE TABLE parted (id integer, si bigint) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10000);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (10000) TO (30000);
INSERT INTO parted SELECT id, si FROM document;
CREATE INDEX ON parted USING gist (si gist_hamming_ops);
ANALYZE parted;
SELECT plan('SELECT id FROM parted WHERE hamming(si, 42) <= 3');
SELECT plan('SELECT id FROM parted ORDER BY hamming(si, 42) LIMIT 3');
DROP TABLE parted;
-- partial indexes, also with a predicate that is a distance itself
CREATE INDEX partial_tenant ON document USING gist (other gist_hamming_ops) WHERE tenant_id = 5;
SELECT plan('SELECT id FROM document WHERE hamming(other, 42) <= 3 AND tenant_id = 5');
DROP INDEX partial_tenant;
CREATE INDEX partial_distance ON document (id) WHERE hamming(other, 0) <= 16;
SELECT plan('SELECT id FROM document WHERE hamming(other, 0) <= 16 AND id < 100');
DROP INDEX partial_distance;
-- expressions
CREATE INDEX ON document USING gist (simhash(body, 'char:4') gist_hamming_ops);
ANALYZE document;
SELECT plan('SELECT id FROM document WHERE hamming(simhash(body, ''char:4''), 42) <= 3');
CREATE INDEX by_distance ON document (hamming(other, 42));
ANALYZE document;
SELECT plan('SELECT id FROM document ORDER BY hamming(other, 42) LIMIT 3');
DROP INDEX by_distance;
-- ON CONFLICT finds such indexes as well
CREATE UNIQUE INDEX unique_distance ON document (id, hamming(other, 42));
CREATE UNIQUE INDEX unique_partial ON document (body) WHERE hamming(other, 0) <= 16;
INSERT INTO document SELECT * FROM document WHERE id = 1 ON CONFLICT (id, hamming(other, 42)) DO NOTHING;
INSERT INTO document SELECT * FROM document WHERE id = 1 ON CONFLICT (body) WHERE hamming(other, 0) <= 16 DO UPDATE SET body = excluded.body;
DROP INDEX unique_distance, unique_partial;
-- row-level security: leakproof conditions reach the index
CREATE ROLE simhash_reader;
GRANT SELECT ON document TO simhash_reader;
ALTER TABLE document ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON document USING (tenant_id = 1);
SET ROLE simhash_reader;
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) <= 1');
RESET ROLE;
DROP POLICY own ON document;
CREATE POLICY near ON document USING (hamming(si, 42) <= 3);
SET ROLE simhash_reader;
SELECT plan('SELECT id FROM document');
RESET ROLE;
ALTER TABLE document DISABLE ROW LEVEL SECURITY;
DROP POLICY near ON document;
DROP OWNED BY simhash_reader;
DROP ROLE simhash_reader;
-- queries that no index can answer
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) > 6');
SELECT plan('SELECT id FROM document WHERE hamming(si, (random() * 9)::bigint) = 3');
SELECT plan('SELECT * FROM (SELECT id, si FROM document UNION ALL SELECT id, si FROM probe) AS u WHERE hamming(si, 42) <= 6');
SELECT plan('SELECT * FROM (SELECT id, si FROM document UNION ALL SELECT id, si FROM probe) AS u WHERE hamming_within(si, 42, 6)');
-- the cheaper plan is chosen
SET enable_seqscan = on;
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) <= 64');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) <= 3');
SELECT plan('SELECT id FROM probe WHERE hamming(si, 42) <= 3');
-- estimates take clusters into account: a hundredth of the table is near a value
CREATE TABLE crowd AS SELECT CASE WHEN i % 100 = 0 THEN 7::bigint << (i / 100 % 8) ELSE hashint8extended(i, 4) END AS si FROM generate_series(1, 10000) AS i;
ANALYZE crowd;
CREATE FUNCTION estimate(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE result json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO result;
    RETURN result #>> '{0,Plan,Plan Rows}';
END $$;
SELECT estimate('SELECT * FROM crowd WHERE hamming(si, 7) <= 6') BETWEEN 50 AND 200 AS crowd,
       estimate('SELECT * FROM crowd WHERE hamming(si, -1) <= 6') < 50 AS desert,
       estimate('SELECT * FROM crowd WHERE hamming(si, 7) <= 64') = 10000 AS everything,
       estimate('SELECT * FROM crowd WHERE hamming(si, 7) <= -1') = 1 AS nothing;
-- radii of any size, however they are written: estimates stay between no rows and all, and take no time
CREATE TABLE small_one AS SELECT i AS id, hashint8extended(i, 1) AS si FROM generate_series(1, 20) AS i;
CREATE INDEX ON small_one USING hamming (si);
CREATE INDEX ON small_one USING gist (si gist_hamming_ops);
ANALYZE small_one;
CREATE FUNCTION plans(query text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    radius integer;
    planned integer := 0;
    line text;
BEGIN
    FOREACH radius IN ARRAY '{-1,0,1,60,61,63,64,65,2147483647}'::integer[] LOOP
        FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || replace(query, 'RADIUS', format('(%s)', radius)) LOOP
        END LOOP;
        planned := planned + 1;
    END LOOP;
    RETURN planned;
END $$;
SELECT plans(query) AS planned, query FROM unnest(ARRAY[
    'SELECT FROM small_one WHERE hamming(si, 42) <= RADIUS',
    'SELECT FROM small_one WHERE hamming(si, 42) = RADIUS',
    'SELECT FROM small_one WHERE hamming(si, 42) < RADIUS::bigint',
    'SELECT FROM small_one WHERE hamming_within(si, 42, RADIUS)',
    'SELECT FROM small_one WHERE hamming_within(si, 42, (SELECT RADIUS))',
    'SELECT FROM small_one WHERE si <@ hamming_ball(42, RADIUS)',
    'SELECT FROM small_one WHERE si <@ hamming_ball(id, RADIUS)',
    'SELECT FROM small_one WHERE (si # id) <@ hamming_ball(si, RADIUS)',
    'SELECT FROM small_one WHERE hamming(si # id, si) <= RADIUS',
    'SELECT FROM small_one WHERE hamming_within(si # id, si, RADIUS)',
    'SELECT FROM small_one AS a, small_one AS b WHERE hamming(a.si # b.si, 42) <= RADIUS',
    'SELECT FROM small_one AS a, small_one AS b WHERE hamming_within(a.si # b.si, b.si, RADIUS)',
    'SELECT FROM small_one AS a, small_one AS b WHERE (a.si # b.si) <@ hamming_ball(a.si, RADIUS)',
    'SELECT FROM small_one AS a, small_one AS b WHERE hamming(a.si, b.si) <= RADIUS',
    'SELECT FROM small_one AS a LEFT JOIN small_one AS b ON hamming(a.si, b.si) <= RADIUS',
    'SELECT FROM small_one AS a FULL JOIN small_one AS b ON a.id = b.id AND hamming(a.si # b.si, 42) <= RADIUS',
    'SELECT FROM small_one AS a WHERE EXISTS (SELECT FROM small_one AS b WHERE hamming(a.si # b.si, 42) <= RADIUS)',
    'SELECT FROM small_one AS a WHERE NOT EXISTS (SELECT FROM small_one AS b WHERE hamming(a.si, b.si) <= RADIUS)',
    'SELECT FROM small_one WHERE hamming(si, 42) <= RADIUS ORDER BY hamming(si, 42) LIMIT 1',
    'SELECT FROM small_one WHERE hamming(si, 42) <= RADIUS OR hamming(si # id, 42) <= RADIUS',
    'SELECT FROM (SELECT 1 FROM small_one) AS s WHERE hamming_within(42, 43 + (random() * 9)::integer, RADIUS)'
]) AS query;
SET enable_seqscan = off;
SELECT plans('SELECT FROM small_one WHERE si <@ hamming_ball(42, RADIUS)');
SET plan_cache_mode = force_custom_plan;
PREPARE folded (integer) AS SELECT count(*) FROM small_one WHERE hamming_within(si, 42, $1 + 0);
EXPLAIN (COSTS OFF) EXECUTE folded(2147483647);
EXECUTE folded(2147483647);
RESET plan_cache_mode;
DEALLOCATE folded;
-- orders above outer joins of a UNION ALL, whose columns are constants or may be NULL
CREATE TABLE outer_one AS SELECT i AS id FROM generate_series(1, 3) AS i;
ANALYZE outer_one;
CREATE VIEW branches AS SELECT si, 1 AS x, si <~> 42 AS d FROM small_one UNION ALL SELECT si, 2, 7 FROM small_one
    UNION ALL (SELECT id::bigint, 3, id <~> 42 FROM outer_one UNION ALL SELECT 5::bigint, 4, 5 <~> si FROM small_one);
SELECT hamming(1::bigint, id) FROM small_one ORDER BY id LIMIT 1;
SELECT u.x FROM outer_one AS a LEFT JOIN branches AS u ON a.id = 1 ORDER BY u.x LIMIT 1;
SELECT u.x, count(*) FROM outer_one AS a LEFT JOIN branches AS u ON a.id = 1 GROUP BY u.x ORDER BY u.x;
SELECT sum(n) FROM (SELECT d, count(*) AS n FROM (SELECT si <~> 42 AS d FROM small_one) AS s GROUP BY ROLLUP (d) ORDER BY d) AS g;
SELECT DISTINCT u.x FROM outer_one AS a LEFT JOIN branches AS u ON a.id = 1 ORDER BY u.x;
SELECT DISTINCT sum(u.x) OVER (PARTITION BY u.x ORDER BY u.d) > 0 AS summed FROM outer_one AS a LEFT JOIN branches AS u ON a.id = 1 ORDER BY 1;
SELECT count(*) FROM (SELECT u.d FROM outer_one AS a LEFT JOIN branches AS u ON a.id = 1 ORDER BY u.d) AS s;
SELECT count(*) FROM (SELECT u.si <~> 42 FROM outer_one AS a LEFT JOIN branches AS u ON a.id = 1 ORDER BY u.si <~> 42) AS s;
SELECT count(*) FROM (SELECT u.si <~> a.id FROM outer_one AS a FULL JOIN branches AS u ON a.id = u.x ORDER BY u.si <~> a.id, u.x, count(*) OVER ()) AS s;
CREATE TABLE levels (id integer, si bigint) PARTITION BY LIST (id);
CREATE TABLE levels_1 PARTITION OF levels FOR VALUES IN (1) PARTITION BY RANGE (si);
CREATE TABLE levels_1_1 (si bigint, gone text, id integer);
ALTER TABLE levels_1_1 DROP COLUMN gone;
ALTER TABLE levels_1 ATTACH PARTITION levels_1_1 FOR VALUES FROM (MINVALUE) TO (0);
CREATE TABLE levels_1_2 PARTITION OF levels_1 FOR VALUES FROM (0) TO (MAXVALUE);
CREATE TABLE levels_2 PARTITION OF levels DEFAULT;
INSERT INTO levels SELECT id % 3, si FROM small_one;
CREATE INDEX ON levels USING hamming (si);
SET enable_sort = off;
SELECT plan('SELECT id FROM levels ORDER BY si <~> 42 LIMIT 3');
RESET enable_sort;
SELECT count(*) FROM (SELECT l.si <~> 42 FROM outer_one AS a LEFT JOIN levels AS l ON a.id = l.id ORDER BY l.si <~> 42) AS s;
DROP VIEW branches;
-- tables that are partitioned by a distance, or have a CHECK with one
CREATE TABLE rings (id integer, si bigint) PARTITION BY RANGE ((hamming(si, 0)));
CREATE TABLE rings_near PARTITION OF rings FOR VALUES FROM (0) TO (10);
CREATE TABLE rings_middle PARTITION OF rings FOR VALUES FROM (10) TO (20) PARTITION BY LIST ((si <~> 0));
CREATE TABLE rings_middle_15 PARTITION OF rings_middle FOR VALUES IN (15);
CREATE TABLE rings_middle_rest PARTITION OF rings_middle DEFAULT;
CREATE TABLE rings_far PARTITION OF rings DEFAULT;
INSERT INTO rings SELECT i, (1::numeric * 2 ^ (i % 25) - 1)::bigint FROM generate_series(1, 300) AS i;
CREATE INDEX ON rings USING hamming (si);
CREATE TABLE scattered (id integer, si bigint) PARTITION BY HASH ((hamming(si, 0)));
CREATE TABLE scattered_0 PARTITION OF scattered FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE scattered_1 PARTITION OF scattered FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE family (id integer, si bigint);
CREATE TABLE family_near (CHECK (hamming(si, 0) <= 10)) INHERITS (family);
CREATE TABLE family_far (CHECK (si <~> 0 >= 20)) INHERITS (family);
INSERT INTO scattered SELECT * FROM rings;
INSERT INTO family_near SELECT * FROM rings WHERE hamming(si, 0) <= 10;
INSERT INTO family_far SELECT * FROM rings WHERE hamming(si, 0) >= 20;
ANALYZE rings, scattered, family;
CREATE FUNCTION counted(source text, condition text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE counted bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM %s AS r WHERE %s', source, condition) INTO counted;
    RETURN counted;
END $$;
SET constraint_exclusion = on;
SELECT condition, found AS rows FROM unnest('{rings,scattered,family}'::text[]) AS source,
    unnest(ARRAY['<= 5', '< 10', 'BETWEEN 12 AND 14', '= 15', '= 0', '<= 2 OR si <~> 0 > 30', '> 10', '<= (SELECT 7)', '= ANY (''{3,15}'')']) AS condition,
    counted(source, 'hamming(si, 0) ' || condition) AS found,
    counted('(SELECT id, si FROM ' || source || ' OFFSET 0)', 'bit_count(si::bit(64)) ' || replace(condition, 'si <~> 0', 'bit_count(si::bit(64))')) AS truth
WHERE found = truth;
RESET constraint_exclusion;
SELECT count(*), sum(a.id) FROM rings AS a JOIN family AS b ON hamming(a.si, b.si) <= 1 AND hamming(a.si, 0) <= 8;
SELECT count(*), sum(a.id) FROM rings AS a JOIN family AS b ON bit_count((a.si # b.si)::bit(64)) <= 1 AND bit_count(a.si::bit(64)) <= 8;
BEGIN;
UPDATE rings SET si = 1 WHERE hamming(si, 0) BETWEEN 12 AND 14;
SELECT tableoid::regclass, count(*) FROM rings WHERE hamming(si, 1) <= 0 GROUP BY tableoid;
ROLLBACK;
-- Each condition of nested ANDs and ORs is estimated once, although PostgreSQL makes index conditions of it for each OR
-- below it. An estimate calls a stable function, which counts the calls.
CREATE TABLE nested AS SELECT hashint8extended(i, 1) AS si FROM generate_series(1, 1000) AS i;
CREATE INDEX nested_si ON nested USING hamming (si);
ANALYZE nested;
CREATE SEQUENCE estimates;
CREATE FUNCTION center(i bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
    PERFORM nextval('estimates');
    RETURN hashint8extended(i, 2);
END $$;
CREATE FUNCTION estimates_of_nested(conditions integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    condition text;
    before bigint := nextval('estimates');
BEGIN
    FOR i IN REVERSE conditions .. 1 LOOP
        condition := concat_ws(CASE i % 2 WHEN 0 THEN ' AND ' ELSE ' OR ' END, format('hamming(si, center(%s)) <= 3', i), '(' || condition || ')');
    END LOOP;
    EXECUTE 'EXPLAIN SELECT FROM nested WHERE ' || condition;
    RETURN nextval('estimates') - before - 1;
END $$;
SELECT estimates_of_nested(10) >= 10 AS are_counted;
SELECT estimates_of_nested(80) <= 4 * estimates_of_nested(20) AS are_proportional;
DROP FUNCTION estimates_of_nested, center(bigint);
DROP SEQUENCE estimates;
DROP TABLE nested;
DROP FUNCTION counted;
DROP TABLE crowd, document, probe, small_one, outer_one, levels, rings, scattered, family CASCADE;
DROP FUNCTION plan, plans, estimate;
