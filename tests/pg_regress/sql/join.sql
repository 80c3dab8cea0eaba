-- Near joins: inner, semi and anti joins on distances give the same rows as a nested loop, and EXPLAIN shows their work.
\getenv folder PG_ABS_SRCDIR
\set functions :folder '/include/join_functions.sql'
\set ways :folder '/include/join_ways.sql'
\i :functions
SET max_parallel_workers_per_gather = 0;
CREATE TABLE join_a (id integer, grp integer, si bigint, note text);
CREATE TABLE join_b (LIKE join_a);
-- Scattered codes, families of near ones, equal ones, and NULLs.
INSERT INTO join_a SELECT i, i % 7,
    CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN hashint8extended(i, 0) WHEN 2 THEN 1 ELSE (hashint8extended(i % 20, 1) # (1::bigint << (i % 63))) END,
    repeat('x', i % 11)
FROM generate_series(1, 1500) AS i;
INSERT INTO join_b SELECT i, i % 5,
    CASE i % 6 WHEN 0 THEN NULL WHEN 1 THEN hashint8extended(i, 2) WHEN 2 THEN 1 ELSE (hashint8extended(i % 20, 1) # (1::bigint << (i % 61))) END,
    nullif(repeat('y', i % 3), '')
FROM generate_series(1, 1000) AS i;
-- A second code: half of it equals the code, half is random, and some are NULL.
ALTER TABLE join_a ADD look bit(128);
ALTER TABLE join_b ADD look bit(128);
UPDATE join_a SET look = (si # (3::bigint << (id % 60)))::bit(64) || hashint8extended(id % 3, 7)::bit(64) WHERE id % 13 <> 0;
UPDATE join_b SET look = si::bit(64) || hashint8extended(id % 4, 7)::bit(64) WHERE id % 11 <> 0;
ANALYZE join_a, join_b;

-- The queries, and their plans.
EXPLAIN (COSTS OFF) SELECT a.id, b.note FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 3 AND a.grp < b.grp;
EXPLAIN (COSTS OFF) SELECT a.id FROM join_a AS a WHERE EXISTS (SELECT FROM join_b AS b WHERE hamming_similarity(a.si, b.si) >= 0.95);
EXPLAIN (COSTS OFF) SELECT a.id FROM join_a AS a WHERE NOT EXISTS (SELECT FROM join_b AS b WHERE hamming(a.si, b.si # 5) <= 3 AND b.note > a.note);
SELECT join_work('SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 3 AND a.id <> b.id');
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT join_work('SELECT count(a.note), count(b.note), count(a.look), count(b.look) FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 3');
RESET work_mem;
RESET hash_mem_multiplier;
-- Further distances are compared before a row is formed. The one that needs the fewest comparisons is searched for.
SELECT join_work('SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 9 AND hamming(a.look, b.look) <= 35 AND a.id <> b.id');
EXPLAIN (COSTS OFF) SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming(b.look, a.look) <= 70 AND hamming(a.si, b.si) <= 3 AND hamming(a.si # 1, b.id) <= 60;
-- One distance or the other: two near joins.
EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 3
UNION SELECT a.id, b.id FROM join_a AS a JOIN join_b AS b ON hamming(a.look, b.look) <= 35;
SELECT count(*), count(*) = (SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 3 OR hamming(a.look, b.look) <= 35) AS same
FROM (SELECT a.id, b.id FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 3
      UNION SELECT a.id, b.id FROM join_a AS a JOIN join_b AS b ON hamming(a.look, b.look) <= 35) AS either;
-- The switch of near joins. A full join has no other plan.
SET simhash_pg.enable_near_join = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 3;
EXPLAIN (COSTS OFF) SELECT count(*) FROM join_a AS a FULL JOIN join_b AS b ON hamming(a.si, b.si) <= 3;
SET simhash_pg.enable_other = off;
RESET simhash_pg.enable_near_join;
SET enable_hashjoin = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 3;
RESET enable_hashjoin;

-- Queries without a table: CTEs, VALUES, arrays.
EXPLAIN (COSTS OFF) WITH a AS MATERIALIZED (SELECT * FROM join_a), b AS MATERIALIZED (SELECT * FROM join_b)
SELECT count(*) FROM a LEFT JOIN b ON hamming(a.si, b.si) <= 3 AND hamming_similarity(a.look, b.look) > 0.5;
WITH a AS MATERIALIZED (SELECT * FROM join_a), b AS MATERIALIZED (SELECT * FROM join_b)
SELECT (SELECT count(*) FROM a JOIN b ON hamming(a.si, b.si) <= 3) AS near,
    (SELECT count(*) FROM a JOIN b ON bit_count((a.si # b.si)::bit(64)) <= 3) AS counted;
SET enable_nestloop = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM unnest('{1, 2, 4}'::bigint[]) AS a (si) JOIN generate_series(1, 9::bigint) AS b (si) ON hamming(a.si, b.si) <= 1;
SELECT count(*) FROM unnest('{1, 2, 4}'::bigint[]) AS a (si) JOIN generate_series(1, 9::bigint) AS b (si) ON hamming(a.si, b.si) <= 1;
EXPLAIN (COSTS OFF) SELECT count(*) FROM (VALUES (1::bigint), (4), (7)) AS a JOIN unnest('{1, 5, 64}'::bigint[]) AS b ON hamming(a.column1, b) < 2.5;
SELECT count(*), sum(b) FROM (VALUES (1::bigint), (4), (7)) AS a JOIN unnest('{1, 5, 64}'::bigint[]) AS b ON hamming(a.column1, b) < 2.5;
SELECT count(*), sum(b) FROM (VALUES (1::bigint), (4), (7)) AS a JOIN unnest('{1, 5, 64}'::bigint[]) AS b ON hamming(a.column1, b) = 0;
RESET enable_nestloop;
-- The number of rows is estimated as for tables.
CREATE FUNCTION estimated(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan #>> '{0,Plan,Plan Rows}';
END $$;
SELECT estimated('SELECT FROM generate_series(1, 1000::bigint) AS a JOIN generate_series(1, 1000::bigint) AS b ON hamming(a, b) <= 3') < 100000 AS few,
    estimated('SELECT FROM generate_series(1, 1000::bigint) AS a LEFT JOIN generate_series(1, 10::bigint) AS b ON hamming(a, b) <= 0') >= 1000 AS all_left,
    estimated('SELECT FROM generate_series(1, 10::bigint) AS a LEFT JOIN generate_series(1, 1000::bigint) AS b ON hamming(a, b) < 0.5') < 2000 AS few_left;

-- The number of rows is estimated by statistics, also if half of them are in clusters: its power of ten.
-- Statistics of columns that the user may not read are not used.
CREATE TABLE join_many AS SELECT i AS id, hashint8extended(i, 1) AS scattered,
    CASE WHEN i % 2 = 0 THEN hashint8extended(i, 1) ELSE hashint8extended(i % 400, 2) # (1::bigint << (i % 61)) # (1::bigint << (i % 53)) END AS si
FROM generate_series(1, 20000) AS i;
ALTER TABLE join_many ADD code bit(128) GENERATED ALWAYS AS (si::bit(64) || si::bit(64)) STORED;
CREATE INDEX ON join_many USING hamming (si);
CREATE INDEX ON join_many USING hamming (code);
CREATE INDEX ON join_many USING hamming ((scattered # 1));
ANALYZE join_many;
SELECT condition, counted, round(log(estimated::numeric / counted)) AS power_of_ten FROM unnest(ARRAY[
    'hamming(a.si, b.si) <= 0', 'hamming(a.si, b.si) <= 3', 'hamming(a.si, b.si) <= 6', 'hamming(a.si, b.si) <= 8',
    'hamming(a.scattered, b.si) <= 6', 'hamming(a.scattered # 1, b.scattered # 1) <= 3',
    'hamming(a.code, b.code) <= 6', 'hamming(a.code, b.code) <= 12', 'hamming(a.code, b.code) <= 20']) AS condition, join_estimate(condition);
-- EXISTS and NOT EXISTS are estimated by rows, not by pairs, also with a second distance and another condition.
SELECT estimated('SELECT FROM join_many AS a WHERE EXISTS (SELECT FROM join_many AS b WHERE hamming(a.si, b.si) <= 3)') BETWEEN 5000 AND 15000 AS some,
    estimated('SELECT FROM join_many AS a WHERE NOT EXISTS (SELECT FROM join_many AS b WHERE hamming(a.si, b.si) <= 3)') BETWEEN 5000 AND 15000 AS others,
    estimated('SELECT FROM join_many AS a WHERE EXISTS (SELECT FROM join_many AS b WHERE hamming(a.si, b.si) <= 3 AND hamming(a.code, b.code) <= 9 AND b.id < a.id)') BETWEEN 2000 AND 5000 AS later,
    estimated('SELECT FROM join_many AS a WHERE EXISTS (SELECT FROM join_many AS b WHERE hamming(a.scattered, b.scattered) <= 3 AND b.id < 10)') < 100 AS few;
DROP FUNCTION estimated;
CREATE ROLE regress_join_reader;
GRANT SELECT ON join_many TO regress_join_reader;
ALTER TABLE join_many ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON join_many USING (id > 0);
SELECT (join_estimate('hamming(a.si, b.si) <= 3')).estimated = (join_estimate('hamming(a.si, b.si) <= 6')).estimated AS hidden;
SET ROLE regress_join_reader;
SELECT (join_estimate('hamming(a.si, b.si) <= 3')).estimated = (join_estimate('hamming(a.si, b.si) <= 6')).estimated AS hidden;
RESET ROLE;
DROP TABLE join_many;
DROP ROLE regress_join_reader;

-- EXISTS with few inner rows: for each, the index of the outer table is searched, and each outer row is kept once. Some codes are equal, some NULL.
CREATE TABLE join_big AS SELECT i AS id, i % 7 AS grp, hashint8extended(i % 4000, 1) # (1::bigint << i % 50) AS si FROM generate_series(1, 20000) AS i;
ALTER TABLE join_big ADD code bit(128) GENERATED ALWAYS AS (si::bit(64) || (si # 5)::bit(64)) STORED;
CREATE INDEX ON join_big USING hamming (si);
CREATE INDEX ON join_big USING hamming (code);
CREATE TABLE join_few AS SELECT id % 13 AS id, CASE WHEN id % 5 > 0 THEN si END AS si, code FROM join_big WHERE id < 12 UNION ALL SELECT id, si, code FROM join_big WHERE id < 8;
VACUUM ANALYZE join_big, join_few;
EXPLAIN (COSTS OFF) SELECT id FROM join_big AS a WHERE EXISTS (SELECT FROM join_few AS b WHERE hamming(a.si, b.si) <= 3 AND a.id <> b.id);
EXPLAIN (COSTS OFF) SELECT count(*) FROM join_big AS a WHERE EXISTS (SELECT FROM join_few AS b WHERE hamming(a.si, b.si) <= 3);
EXPLAIN (COSTS OFF) DELETE FROM join_big AS a WHERE EXISTS (SELECT FROM join_few AS b WHERE hamming(a.code, b.code) <= 6);
EXPLAIN (COSTS OFF) SELECT count(*) FROM join_big AS a WHERE NOT EXISTS (SELECT FROM join_few AS b WHERE hamming(a.si, b.si) <= 3);
SELECT (SELECT array[count(*), sum(id), sum(si % 1000)] FROM join_big AS a WHERE EXISTS (SELECT FROM join_few AS b WHERE hamming(a.si, b.si) <= 3 AND a.id <> b.id)) AS near,
    (SELECT array[count(*), sum(id), sum(si % 1000)] FROM join_big AS a WHERE EXISTS (SELECT FROM join_few AS b WHERE bit_count((a.si # b.si)::bit(64)) <= 3 AND a.id <> b.id)) AS counted;
SELECT (SELECT count(*) FROM join_big AS a WHERE EXISTS (SELECT FROM join_few AS b WHERE hamming(a.si, b.si) <= 3)) AS near,
    (SELECT count(*) FROM join_big AS a WHERE EXISTS (SELECT FROM join_few AS b WHERE bit_count((a.si # b.si)::bit(64)) <= 3)) AS counted;
-- Two such joins below a join, one for each outer row, and rows that are locked.
SELECT count(*), sum(a.id), sum(c.id) FROM join_big AS a JOIN join_few AS c ON c.id = a.grp
WHERE EXISTS (SELECT FROM join_few AS b WHERE hamming(a.si, b.si) <= 3) AND EXISTS (SELECT FROM join_few AS d WHERE hamming(a.code, d.code) <= 2 AND d.id < 5);
SELECT count(*), sum(a.id), sum(c.id) FROM join_big AS a JOIN join_few AS c ON c.id = a.grp
WHERE EXISTS (SELECT FROM join_few AS b WHERE bit_count((a.si # b.si)::bit(64)) <= 3) AND EXISTS (SELECT FROM join_few AS d WHERE bit_count(a.code # d.code) <= 2 AND d.id < 5);
SELECT r, count FROM generate_series(0, 4, 2) AS r, LATERAL (SELECT count(*) FROM join_big AS a WHERE EXISTS (SELECT FROM join_few AS b WHERE hamming(a.si, b.si) <= r) OFFSET 0) AS c;
SELECT count(*) FROM (SELECT id FROM join_big AS a WHERE EXISTS (SELECT FROM unnest(ARRAY[1, NULL, (SELECT min(si) FROM join_few)]) AS b WHERE hamming(a.si, b) <= 3) FOR UPDATE) AS locked;
-- Rows are deleted and changed. Those of partitions are found by a near join.
BEGIN;
WITH gone AS (DELETE FROM join_big AS a WHERE EXISTS (SELECT FROM join_few AS b WHERE hamming(a.code, b.code) <= 6) RETURNING a.id) SELECT count(*), count(DISTINCT id), sum(id) FROM gone;
SELECT count(*) FROM join_big AS a WHERE EXISTS (SELECT FROM join_few AS b WHERE bit_count(a.code # b.code) <= 6);
ROLLBACK;
BEGIN;
UPDATE join_big AS a SET grp = -1 WHERE EXISTS (SELECT FROM join_few AS b WHERE hamming(a.si, b.si) <= 3);
SELECT count(*) FROM join_big WHERE grp = -1;
ROLLBACK;
CREATE TABLE join_parts (LIKE join_big) PARTITION BY HASH (id);
CREATE TABLE join_part_0 PARTITION OF join_parts FOR VALUES WITH (modulus 2, remainder 0);
CREATE TABLE join_part_1 PARTITION OF join_parts FOR VALUES WITH (modulus 2, remainder 1);
INSERT INTO join_parts (id, grp, si) SELECT id, grp, si FROM join_big;
CREATE INDEX ON join_parts USING hamming (si);
ANALYZE join_parts;
SELECT count(*) FROM join_parts AS a WHERE EXISTS (SELECT FROM join_few AS b WHERE hamming(a.si, b.si) <= 3);
DROP TABLE join_big, join_few, join_parts;

CREATE TABLE join_query (number serial, query text);
INSERT INTO join_query (query)
SELECT format(query, condition) FROM unnest(ARRAY[
    'SELECT a.id, b.id AS other, a.note, b.note FROM join_a AS a JOIN join_b AS b ON %s',
    'SELECT a.id, b.id AS other, b.note FROM join_a AS a JOIN join_b AS b ON %s AND a.grp < b.grp',
    'SELECT a.id FROM join_a AS a WHERE EXISTS (SELECT FROM join_b AS b WHERE %s AND a.id > b.id)',
    'SELECT a.id FROM join_a AS a WHERE NOT EXISTS (SELECT FROM join_b AS b WHERE %s)',
    'SELECT a.id FROM join_a AS a WHERE NOT EXISTS (SELECT FROM join_b AS b WHERE %s AND a.grp = b.grp)',
    'SELECT a.id, b.id AS other FROM join_a AS a JOIN join_a AS b ON a.id < b.id AND %s']) AS query,
    unnest(ARRAY['hamming(a.si, b.si) <= 3', 'hamming(b.si, a.si) < (SELECT 1)', 'hamming(a.si # 6, b.si) <= 9', 'hamming(a.si, b.si) <= -1', 'hamming(a.si, b.si) <= 64',
        'hamming(a.si, b.si) <= 9 AND hamming(b.look, a.look) <= 35', 'hamming(a.si, b.si) <= 5 AND hamming(a.look, b.look) <= (SELECT NULL::integer)',
        'hamming(a.look, b.look) < 3 AND hamming(a.si, b.si) <= 12 AND hamming(a.id, b.id) <= 4']) AS condition;
\i :ways

-- Empty sides, and radii that are NULL.
SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= (SELECT NULL::integer);
SELECT count(*) FROM join_a AS a JOIN (SELECT * FROM join_b WHERE id < 0 OFFSET 0) AS b ON hamming(a.si, b.si) <= 3;
SELECT count(*) FROM (SELECT * FROM join_a WHERE id < 0 OFFSET 0) AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 3;

-- Strings of bits, and those of different lengths.
SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming(a.si::bit(64), b.si::bit(64)) <= 3;
SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 3;
SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming(a.si::bit(64) || b'101', b.si::bit(64)) <= 3;
SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming(a.si::bit(64), substring(b.si::bit(64), b.id % 2 + 1)) <= 3;
SELECT count(*) FROM (SELECT * FROM join_a WHERE si IS NULL OFFSET 0) AS a JOIN join_b AS b ON hamming(a.si::bit(64), substring(b.si::bit(64), b.id % 2 + 1)) <= 3;

-- A further condition may separate lengths, so if these are unknown, it is tested first.
EXPLAIN (COSTS OFF) SELECT count(*) FROM (SELECT id % 2 AS odd, substring(si::bit(64), id % 2 + 1) AS code FROM join_a) AS a
    JOIN (SELECT id % 2 AS odd, substring(si::bit(64), id % 2 + 1) AS code FROM join_b) AS b ON a.odd = b.odd AND hamming(a.code, b.code) <= 3;
SELECT count(*) FROM (SELECT id % 2 AS odd, substring(si::bit(64), id % 2 + 1) AS code FROM join_a) AS a
    JOIN (SELECT id % 2 AS odd, substring(si::bit(64), id % 2 + 1) AS code FROM join_b) AS b ON a.odd = b.odd AND hamming(a.code, b.code) <= 3;

-- The changed side is read again for each outer row.
SELECT r, count FROM (VALUES (NULL), (0), (2), (-1), (4)) AS v (r), LATERAL (SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= r OFFSET 0) AS c;
SELECT r, count FROM generate_series(0, 4, 2) AS r, LATERAL (SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si # r) <= 2 OFFSET 0) AS c;
-- The first rows are returned before the others are found, and a cursor goes back.
SELECT count(*) FROM (SELECT FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 3 LIMIT 5) AS s;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT a.id < b.id AS less FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 1 AND a.id < b.id;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
COMMIT;

-- An error in the middle leaves nothing behind.
SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 3 AND 1 / (a.id - 700) < 5;
SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 3;

-- Changes rows that are near rows of another table.
BEGIN;
DELETE FROM join_b AS b USING join_a AS a WHERE hamming(a.si, b.si) <= 1 AND a.id < b.id;
UPDATE join_a AS a SET note = 'near' FROM join_b AS b WHERE hamming(a.si, b.si) <= 1;
SELECT (SELECT count(*) FROM join_b), count(*) FILTER (WHERE note = 'near') FROM join_a;
ROLLBACK;
-- Where there are so many parts that reading all rows for each would take long, each side is divided into files.
CREATE TABLE filed AS SELECT i AS id, CASE WHEN i % 11 > 0 THEN hashint8extended(i % 2000, 1) # (1::bigint << (i % 63)) END AS si, repeat('x', 130) || i AS note
FROM generate_series(1, 20000) AS i;
ANALYZE filed;
SET hash_mem_multiplier = 1;
SET work_mem = '256kB';
SELECT substring(line FROM '\d+')::integer > 3 * 4 AS has_files FROM join_work('SELECT count(a.note || b.note) FROM filed AS a JOIN filed AS b ON hamming(a.si, b.si) <= 2') AS line WHERE line ~ 'Batches';
CREATE TABLE joined AS SELECT query, join_answer(query) AS answer FROM (VALUES
    ('SELECT a.note, b.note AS other FROM filed AS a FULL JOIN filed AS b ON hamming(a.si, b.si) <= 2 AND a.id < b.id'),
    ('SELECT note FROM filed AS a WHERE NOT EXISTS (SELECT FROM filed AS b WHERE hamming(a.si, b.si) <= 2 AND b.id <> a.id)'),
    ('SELECT note FROM filed AS a WHERE EXISTS (SELECT FROM filed AS b WHERE hamming(a.si, b.si) <= 2 AND b.id < a.id)')) AS q (query);
SET work_mem = '64MB';
SELECT split_part(answer, ' ', 1) AS rows, answer = join_answer(query) AS same FROM joined;
RESET work_mem;
RESET hash_mem_multiplier;
DROP TABLE filed, joined;
-- A small table that was never analysed, which PostgreSQL takes for a larger one, asks the index for each row.
CREATE TABLE asked AS SELECT i AS id, hashint8extended(i, 1) AS si FROM generate_series(1, 20000) AS i;
CREATE INDEX ON asked USING hamming (si);
ANALYZE asked;
CREATE TABLE few WITH (autovacuum_enabled = off) AS SELECT i AS id, hashint8extended(i, 1) AS si FROM generate_series(1, 10) AS i;
SET enable_nestloop = on;
SELECT join_plan('SELECT few.id, asked.id AS other FROM few JOIN asked ON hamming(few.si, asked.si) <= 3');
-- If it has as many pages as PostgreSQL assumes, the loop remains as expensive as PostgreSQL estimates.
INSERT INTO few SELECT i, hashint8extended(i, 1) FROM generate_series(11, 1500) AS i;
SELECT join_plan('SELECT few.id, asked.id AS other FROM few JOIN asked ON hamming(few.si, asked.si) <= 3');
DROP TABLE asked, few;
DROP TABLE join_a, join_b, join_query, join_truth;
DROP FUNCTION join_answer, join_estimate, join_plan, join_work;
