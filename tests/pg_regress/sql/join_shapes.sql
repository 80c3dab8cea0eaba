-- Near joins of every kind of relation and in every kind of statement give the same rows as other joins.
SET max_parallel_workers_per_gather = 0;
CREATE TABLE code (id integer, grp integer, si bigint, note text);
-- Scattered codes, families of near ones, and NULLs.
INSERT INTO code SELECT i, i % 7,
    CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN hashint8extended(i, 0) ELSE hashint8extended(i % 90, 1) # (1::bigint << (i % 63)) END, repeat('x', i % 11)
FROM generate_series(1, 600) AS i;
CREATE TABLE parted (LIKE code) PARTITION BY HASH (grp);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT id, coalesce(grp, 0), si # 1, note FROM code;
CREATE TABLE batched (LIKE code) PARTITION BY HASH (grp);
CREATE TABLE batched_0 PARTITION OF batched FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE batched_1 PARTITION OF batched FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO batched SELECT id, grp, si # 2, note FROM code WHERE id % 3 = 0;
CREATE TABLE family (LIKE code);
CREATE TABLE child (extra text) INHERITS (family);
INSERT INTO family SELECT id, grp, si # 4, note FROM code WHERE id % 2 = 0;
INSERT INTO child SELECT id, grp, si # 4, note, 'child' FROM code WHERE id % 2 = 1;
ANALYZE code, parted, batched, family;

CREATE TABLE shape (number serial, name text, query text);
INSERT INTO shape (name, query) VALUES
    ('partitions', 'SELECT a.id, b.id AS other, a.tableoid FROM parted AS a JOIN batched AS b ON hamming(a.si, b.si) <= 3'),
    ('partitions, left', 'SELECT a.id, b.id AS other, b.tableoid FROM batched AS a LEFT JOIN parted AS b ON hamming(a.si, b.si) <= 3 AND a.id <> b.id'),
    ('partition by partition', 'SELECT a.id, b.id AS other, a AS row FROM parted AS a JOIN batched AS b ON a.grp = b.grp AND hamming(a.si, b.si) <= 3'),
    ('partition by partition, left', 'SELECT a.id, b.id AS other FROM parted AS a LEFT JOIN batched AS b ON a.grp = b.grp AND hamming(a.si, b.si) <= 3'),
    ('partitions, anti', 'SELECT a.id FROM parted AS a WHERE NOT EXISTS (SELECT FROM batched AS b WHERE hamming(a.si, b.si) <= 3)'),
    ('children', 'SELECT a.id, b.id AS other, b.tableoid FROM code AS a JOIN family AS b ON hamming(a.si, b.si) <= 3'),
    ('union', 'SELECT a.id, u.id AS other, u.x FROM code AS a JOIN (SELECT id, si, 1 AS x FROM batched UNION ALL SELECT id, si, 2 FROM family) AS u ON hamming(a.si, u.si) <= 3'),
    ('materialized', 'WITH w AS MATERIALIZED (SELECT * FROM batched) SELECT a.id, w.id AS other FROM code AS a JOIN w ON hamming(a.si, w.si) <= 3'),
    ('array', 'SELECT a.id, u.number FROM code AS a JOIN unnest((SELECT array_agg(si ORDER BY id) FROM batched)) WITH ORDINALITY AS u (si, number) ON hamming(a.si, u.si) <= 3'),
    ('three tables', 'SELECT a.id, b.id AS second, c.id AS third FROM code AS a JOIN batched AS b ON hamming(a.si, b.si) <= 2 JOIN family AS c ON hamming(b.si, c.si) <= 2'),
    ('three tables, left', 'SELECT a.id, b.id AS second, c.id AS third FROM code AS a LEFT JOIN batched AS b ON hamming(a.si, b.si) <= 2 LEFT JOIN family AS c ON hamming(b.si, c.si) <= 2 AND a.id > 0'),
    ('a join in a join', 'SELECT a.id, b.id AS second FROM code AS a LEFT JOIN (SELECT b.*, c.id AS third FROM batched AS b JOIN family AS c ON hamming(b.si, c.si) <= 2) AS b ON hamming(a.si, b.si) <= 2'),
    ('computed below', 'SELECT a.id, b.x FROM code AS a LEFT JOIN (SELECT si, coalesce(note, ''none'') AS x FROM batched) AS b ON hamming(a.si, b.si) <= 2'),
    ('strings of C', 'SELECT a.id, b.name FROM code AS a JOIN (SELECT si, int4out(id) AS name FROM batched OFFSET 0) AS b ON hamming(a.si, b.si) <= 3'),
    ('a condition on no row', 'SELECT c.id, a.id AS other FROM family AS c LEFT JOIN (code AS a JOIN batched AS b ON hamming(a.si, b.si) <= 3 AND (SELECT true)) ON c.id = a.id'),
    ('radius from outside', 'SELECT r, j.* FROM (VALUES (NULL), (2), (-1), (0), (3), (NULL), (1)) AS v (r), LATERAL (SELECT a.id, b.id AS other FROM code AS a JOIN batched AS b ON hamming(a.si, b.si) <= r OFFSET 0) AS j'),
    ('two radii from outside', 'SELECT r, s, j.* FROM (VALUES (3, NULL), (3, 40), (NULL, 40), (2, 30)) AS v (r, s), LATERAL (SELECT a.id, b.id AS other FROM code AS a LEFT JOIN batched AS b ON hamming(a.si, b.si) <= r AND hamming(a.id, b.id) <= s OFFSET 0) AS j'),
    ('code from outside', 'SELECT x, j.* FROM generate_series(0, 3) AS x, LATERAL (SELECT a.id, b.id AS other FROM code AS a JOIN batched AS b ON hamming(a.si # x, b.si # 1) <= 1 WHERE b.id > x OFFSET 0) AS j'),
    ('not in a subquery', 'SELECT a.id, (SELECT count(*) FROM batched AS b JOIN family AS c ON hamming(b.si, c.si) <= a.grp WHERE b.grp = a.grp) FROM code AS a WHERE a.id < 20'),
    ('update', 'UPDATE code AS a SET note = ''near'' FROM parted AS b WHERE hamming(a.si, b.si) <= 2 AND a.id <> b.id'),
    ('delete', 'DELETE FROM code AS a USING batched AS b WHERE hamming(a.si, b.si) <= 2 AND a.id > b.id'),
    ('delete what is near before', 'DELETE FROM code AS a WHERE EXISTS (SELECT FROM code AS b WHERE hamming(a.si, b.si) <= 2 AND b.id < a.id)'),
    ('merge', 'MERGE INTO code AS a USING batched AS b ON hamming(a.si, b.si) <= 2 AND a.id <= b.id AND a.id >= b.id WHEN MATCHED AND a.grp = 1 THEN DELETE WHEN MATCHED THEN UPDATE SET note = ''near'' WHEN NOT MATCHED THEN INSERT VALUES (-b.id, b.grp, b.si, ''far'')'),
    ('update of partitions', 'UPDATE parted AS a SET note = ''near'' FROM code AS b WHERE hamming(a.si, b.si) <= 2 AND a.id <> b.id'),
    ('delete in children', 'DELETE FROM family AS a WHERE EXISTS (SELECT FROM code AS b WHERE hamming(a.si, b.si) <= 2 AND b.id < a.id)');

-- The result of a query: the number of rows, and a hash of them. A statement that changes rows gives those of its tables, and is rolled back.
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    IF query ~ '^SELECT|^WITH' THEN
        EXECUTE format('SELECT count(*) || '' '' || coalesce(sum(hashtextextended(s::text, 0)), 0) FROM (%s) AS s', query) INTO result;
        RETURN result;
    END IF;
    EXECUTE query;
    SELECT count(*) || ' ' || sum(hashtextextended(s::text, 0)) INTO result FROM (TABLE code UNION ALL TABLE parted UNION ALL TABLE family) AS s;
    RAISE EXCEPTION 'undone' USING ERRCODE = 'UNDO0';
EXCEPTION WHEN SQLSTATE 'UNDO0' THEN
    RETURN result;
END $$;
-- The near joins of a query. EXPLAIN VERBOSE can print each of them.
CREATE FUNCTION near_joins(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    joins text[];
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
        joins := joins || substring(line FROM '\((Near .*)\)');
    END LOOP;
    RETURN array_to_string(joins, ', ');
END $$;
CREATE FUNCTION answer_of_loop(query text) RETURNS text LANGUAGE sql
    SET simhash_pg.enable_near_join = off SET enable_mergejoin = off AS 'SELECT answer(query)';
CREATE TABLE truth AS SELECT number, answer_of_loop(query) AS answer FROM shape;

SET enable_nestloop = off;
SET enable_mergejoin = off;
SET enable_partitionwise_join = on;
-- A condition on no row is above the join, where only PostgreSQL 17 and later offer the join to a custom node: Near Join.
SELECT name, nullif(near_joins(query), CASE WHEN name = 'a condition on no row' AND current_setting('server_version_num')::integer >= 170000 THEN 'Near Join' END) AS near_joins, split_part(truth.answer, ' ', 1) AS rows, answer(query) = truth.answer AS same FROM shape JOIN truth USING (number) ORDER BY number;
SET enable_partitionwise_join = off;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT name, near_joins(query) FROM shape WHERE name ~ '^part' ORDER BY number;
SELECT count(*) FILTER (WHERE answer(query) <> truth.answer) AS wrong FROM shape JOIN truth USING (number);
RESET work_mem;
RESET hash_mem_multiplier;

-- Prepared, with radii and codes as parameters, by a generic plan.
CREATE FUNCTION batch() RETURNS bigint[] LANGUAGE sql STABLE AS 'SELECT array_agg(si) FROM batched';
SET plan_cache_mode = force_generic_plan;
PREPARE near (bigint[], integer) AS SELECT count(*), sum(a.id) FROM code AS a JOIN unnest($1) AS u (si) ON hamming(a.si, u.si) <= $2;
EXPLAIN (COSTS OFF) EXECUTE near('{}', 3);
EXECUTE near(batch(), 3);
EXECUTE near(batch(), NULL);
EXECUTE near(NULL, 3);
EXECUTE near(batch(), 3);
SELECT count(*), sum(a.id) FROM code AS a JOIN batched AS b ON hamming(a.si, b.si) <= 3;
RESET plan_cache_mode;

-- A cursor outlives its transaction, moves in both directions, and is closed early.
BEGIN;
DECLARE kept SCROLL CURSOR WITH HOLD FOR SELECT a.id < b.id AS less FROM code AS a JOIN batched AS b ON hamming(a.si, b.si) <= 3 AND a.id < b.id;
FETCH 2 FROM kept;
COMMIT;
FETCH BACKWARD 1 FROM kept;
MOVE ALL FROM kept;
CLOSE kept;
BEGIN;
DECLARE locked CURSOR FOR SELECT a.id <> b.id AS other FROM code AS a JOIN batched AS b ON hamming(a.si, b.si) <= 3 AND a.id <> b.id FOR UPDATE OF a;
FETCH 1 FROM locked;
DELETE FROM code WHERE CURRENT OF locked RETURNING id IS NOT NULL AS gone;
CLOSE locked;
ROLLBACK;
-- A row of a join belongs to no table.
BEGIN;
DECLARE early CURSOR FOR SELECT 1 AS found FROM code AS a JOIN batched AS b ON hamming(a.si, b.si) <= 3;
FETCH 1 FROM early;
DELETE FROM code WHERE CURRENT OF early;
ROLLBACK;

-- Workers share the outer side, or both. Rolled back statements left dead rows, which autovacuum may or may not have removed.
VACUUM ANALYZE code, parted, batched, family;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT count(*) FROM code AS a FULL JOIN code AS b ON hamming(a.si, b.si) <= 3;
SELECT name, near_joins(query) FROM shape WHERE name ~ '^part' ORDER BY number;
SELECT count(*) FILTER (WHERE answer(query) <> truth.answer) AS wrong FROM shape JOIN truth USING (number) WHERE name ~ '^part|^three|^union|^delete';
-- An error in a worker is an error of the query. Its context is not the same in all versions.
\set SHOW_CONTEXT never
SET parallel_leader_participation = off;
SELECT count(*) FROM code AS a JOIN batched AS b ON hamming(a.si, b.si) <= 3 AND 1 / (a.id - 500) < 5;
SELECT count(*) FROM code AS a JOIN batched AS b ON hamming(a.si, b.si) <= 3;
DROP TABLE code, parted, batched, child, family, shape, truth;
DROP FUNCTION answer, near_joins, answer_of_loop, batch;
