-- Near joins: outer joins on distances give the same rows as a nested loop.
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
ANALYZE join_a, join_b;

-- The queries, and their plans.
EXPLAIN (COSTS OFF) SELECT * FROM join_a AS a LEFT JOIN join_b AS b ON hamming(b.si, a.si) < 4 AND a.id <> b.id WHERE b.id IS NULL OR b.grp > 2;
EXPLAIN (COSTS OFF) SELECT count(*) FROM join_a AS a FULL JOIN join_b AS b ON hamming(a.si, b.si) <= 2;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT join_work('SELECT count(b.note) FROM join_a AS a LEFT JOIN join_b AS b ON hamming(a.si, b.si) <= 3 WHERE b.id IS DISTINCT FROM 4');
RESET work_mem;
RESET hash_mem_multiplier;

CREATE TABLE join_query (number serial, query text);
INSERT INTO join_query (query)
SELECT format(query, condition) FROM unnest(ARRAY[
    'SELECT a.id, b.id AS other, b.note FROM join_a AS a LEFT JOIN join_b AS b ON %s AND a.grp = b.grp WHERE b.id IS NULL OR b.note IS NOT NULL',
    'SELECT a.id, b.id AS other, a.note FROM join_a AS a RIGHT JOIN join_b AS b ON %s AND a.id %% 3 = 1',
    'SELECT a.id, b.id AS other, b.note FROM join_a AS a LEFT JOIN join_b AS b ON %s',
    'SELECT a.id, b.note FROM join_a AS a LEFT JOIN join_b AS b ON %s AND a.id < b.id WHERE b.id IS NULL']) AS query,
    unnest(ARRAY['hamming(a.si, b.si) <= 3', 'hamming(b.si, a.si) < (SELECT 1)', 'hamming(a.si, b.si) <= -1', 'hamming(a.si, b.si) <= 64']) AS condition;
\i :ways

-- Empty sides, and radii that are NULL, or larger than any distance.
SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming_within(a.si, b.si, 2147483647) AND hamming_within(a.si # 5, b.si # 5, 0);
SELECT count(*), count(b.id) FROM join_a AS a LEFT JOIN (SELECT * FROM join_b WHERE id < 0 OFFSET 0) AS b ON hamming(a.si, b.si) <= 3;
SELECT count(*), count(a.id), count(b.id) FROM join_a AS a FULL JOIN join_b AS b ON hamming(a.si, b.si) <= (SELECT NULL::integer);
-- A full join on a distance has no other plan.
SELECT count(*), count(a.id), count(b.id) FROM join_a AS a FULL JOIN join_b AS b ON hamming(a.si, b.si) <= 2;

-- Full joins of tables, of constants and expressions computed below, of CTEs, arrays and VALUES, by every form of a distance.
-- Without near joins they need an equality, which is always true.
CREATE FUNCTION full_join(a text, b text, condition text, OUT nodes text, OUT rows text, OUT same boolean) LANGUAGE plpgsql AS $$
DECLARE
    query text := format('WITH w AS MATERIALIZED (SELECT * FROM join_a WHERE id <= 300), v AS MATERIALIZED (SELECT * FROM join_b WHERE id <= 250)
        SELECT concat_ws('' '', count(*), count(a.id), count(b.id), count(a), count(b), sum(a.id * b.id)) FROM %s AS a FULL JOIN %s AS b ON %s', a, b, condition);
    truth text;
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
        nodes := coalesce(nodes, substring(line FROM '(Near|Hash|Merge) Full Join'));
    END LOOP;
    EXECUTE query INTO rows;
    query := replace(query, 'hamming(a.si, b.si)', 'bit_count((a.si # b.si)::bit(64))');
    query := replace(query, 'hamming_similarity(a.si, b.si)', '((64 - bit_count((a.si # b.si)::bit(64))) / 64::float8)');
    EXECUTE query || ' AND a.id * 0 = b.id * 0' INTO truth;
    same := rows = truth;
END $$;
CREATE TABLE full_side (name text, a text, b text);
INSERT INTO full_side VALUES
    ('tables', '(SELECT * FROM join_a WHERE id <= 300)', '(SELECT * FROM join_b WHERE id <= 250)'),
    ('placeholders', '(SELECT id, si, ''x''::text AS src FROM join_a WHERE id <= 300)', '(SELECT *, ''y''::text AS src, coalesce(note, ''none'') AS label FROM join_b WHERE id <= 250)'),
    ('computed codes', '(SELECT id, coalesce(si, 7) AS si FROM join_a WHERE id <= 300)', '(SELECT id, CASE WHEN grp = 1 THEN 1::bigint ELSE si END AS si FROM join_b WHERE id <= 250)'),
    ('CTEs', 'w', 'v'),
    ('a join', '(SELECT b.id, a.si, ''x''::text AS src FROM join_a AS a LEFT JOIN (SELECT id, coalesce(grp, 1) AS id2 FROM join_b) AS b ON a.id = b.id WHERE a.id <= 300)', 'v');
SELECT name, condition, full_join.* FROM full_side, unnest(ARRAY['hamming(a.si, b.si) <= 0', 'hamming(a.si, b.si) = 2', 'hamming(a.si, b.si) <= 2 AND a.id <> b.id']) AS condition,
    full_join(a, b, condition);
SELECT condition, full_join.* FROM full_side, unnest(ARRAY['hamming(a.si, b.si) = 0', '1 > hamming(a.si, b.si)', 'hamming(a.si, b.si) < 2.5', 'hamming(a.si, b.si) BETWEEN 1 AND 2', 'hamming(a.si, b.si) <= 64',
        'hamming(a.si, b.si) <= -1', 'hamming(a.si, b.si) <= (SELECT 2)', 'hamming(a.si, b.si) <= NULL', 'hamming_similarity(a.si, b.si) > 0.96', 'hamming_similarity(a.si, b.si) = 1']) AS condition,
    full_join(a, b, condition) WHERE name = 'CTEs';
SELECT a.column1 AS a, b AS b FROM (VALUES (1::bigint), (4), (7)) AS a FULL JOIN unnest('{1, 5, 64}'::bigint[]) AS b ON hamming(a.column1, b) <= 0 ORDER BY a, b;
SELECT a.column1 AS a, b AS b FROM (VALUES (1::bigint), (4), (7)) AS a FULL JOIN unnest('{1, 5, 64}'::bigint[]) AS b ON hamming(a.column1, b) = 2 ORDER BY a, b;

-- A similarity that is not known when the query is planned, of codes whose type says their length.
CREATE DOMAIN wide_code AS bit(100);
CREATE TABLE wide AS SELECT g AS id, (g::bigint::bit(64) || g::bigint::bit(36))::bit(100) AS code FROM generate_series(1, 100) AS g;
ALTER TABLE wide ADD named wide_code;
UPDATE wide SET named = code;
SET plan_cache_mode = force_generic_plan;
PREPARE alike (float8) AS SELECT count(*), count(a.id) AS a, count(b.id) AS b FROM wide AS a FULL JOIN wide AS b ON hamming_similarity(a.code, b.named) >= $1;
PREPARE counted (float8) AS SELECT count(*), count(a.id) AS a, count(b.id) AS b FROM wide AS a
    FULL JOIN wide AS b ON (100 - bit_count(a.code # b.named)) / 100::float8 >= $1 AND a.id * 0 = b.id * 0;
EXECUTE alike (0.99);
EXECUTE counted (0.99);
EXECUTE alike (0.93);
EXECUTE counted (0.93);
EXECUTE alike (NULL);
SELECT count(*) FROM wide AS a FULL JOIN wide AS b ON (SELECT 0.93) < hamming_similarity(a.code, b.code);
EXECUTE counted (0.935);
RESET plan_cache_mode;

-- Bit strings of unknown length: a full join has no other plan, with a further condition, a WHERE, or by a similarity. If an equality of another
-- condition makes a hash join possible, that is the plan: the condition may keep lengths apart.
CREATE TABLE varying_a AS SELECT i AS id, i % 5 AS grp, (i * 7)::bit(16)::varbit AS code FROM generate_series(1, 60) AS i UNION ALL SELECT 61, 1, NULL;
CREATE TABLE varying_b AS SELECT i AS id, i % 4 AS grp, (i * 5)::bit(16)::varbit AS code FROM generate_series(1, 50) AS i UNION ALL SELECT 51, 1, NULL;
ANALYZE varying_a, varying_b;
CREATE FUNCTION varying_full(near text, counted text, filter text DEFAULT 'true') RETURNS TABLE (rows bigint, same boolean) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT array_agg((s.a, s.b) ORDER BY s.a, s.b) FROM (SELECT a.id AS a, b.id AS b FROM varying_a AS a FULL JOIN varying_b AS b ON %s WHERE %s) AS s', near, filter) INTO near;
    EXECUTE format('SELECT count(*), array_agg((s.a, s.b) ORDER BY s.a, s.b)::text = %L FROM (SELECT a.id AS a, b.id AS b FROM varying_a AS a LEFT JOIN varying_b AS b ON %s WHERE %s
        UNION ALL SELECT a.id, b.id FROM varying_b AS b LEFT JOIN varying_a AS a ON false WHERE NOT EXISTS (SELECT FROM varying_a AS a WHERE %2$s) AND %3$s) AS s', near, counted, filter) INTO rows, same;
    RETURN NEXT;
END $$;
SELECT * FROM varying_full('hamming(a.code, b.code) <= 2 AND a.grp <> b.grp', 'bit_count(a.code # b.code) <= 2 AND a.grp <> b.grp');
SELECT * FROM varying_full('hamming(a.code, b.code) <= 2', 'bit_count(a.code # b.code) <= 2', 'coalesce(a.grp, 1) + coalesce(b.grp, 2) > 3');
SELECT * FROM varying_full('hamming_similarity(a.code, b.code) >= 0.9', '1 - bit_count(a.code # b.code) / 16.0 >= 0.9');
SELECT * FROM varying_full('hamming_within(a.code, b.code, a.grp)', 'bit_count(a.code # b.code) <= a.grp');
EXPLAIN (COSTS OFF) SELECT FROM varying_a AS a FULL JOIN varying_b AS b ON hamming_similarity(a.code, b.code) >= 0.9;
INSERT INTO varying_b VALUES (52, 1, B'101');
SELECT count(*) FROM varying_a AS a FULL JOIN varying_b AS b ON hamming(a.code, b.code) <= 2 AND a.grp <> b.grp;
SELECT count(*) FROM varying_a AS a FULL JOIN varying_b AS b ON length(a.code) = length(b.code) AND hamming(a.code, b.code) <= 2 AND a.grp <> b.grp;
DROP TABLE varying_a, varying_b;
DROP FUNCTION varying_full;

-- A join that begins again after it has returned an unmatched inner row returns that row again.
CREATE TABLE one_row AS SELECT 1 AS id, 5::bigint AS si;
ANALYZE one_row;
SELECT v, (SELECT b.id FROM (SELECT * FROM join_a WHERE id < v - 10) AS a RIGHT JOIN (SELECT * FROM one_row OFFSET 0) AS b ON hamming(a.si, b.si) <= 3 LIMIT 1) FROM generate_series(1, 3) AS v;
DROP TABLE one_row;

-- PlaceHolderVars below, at and above near joins. Since 16, phnullingrels has the outer joins that may have made one NULL.
CREATE TABLE doc AS SELECT g AS id, hashint8extended(g / 10, 1) # (1::bigint << (g % 60)) AS si FROM generate_series(1, 5000) AS g;
CREATE TABLE meta AS SELECT g AS id, 't' || g AS title FROM generate_series(1, 4000) AS g;
ANALYZE doc, meta;
SELECT count(*), sum(a_id), sum(b_id), count(label), count(title) FROM (
    SELECT a.id AS a_id, b.id AS b_id, m.label, m.title FROM doc a LEFT JOIN (SELECT id, title, coalesce(title, 'none') AS label FROM meta) m ON m.id = a.id
    JOIN doc b ON hamming(a.si, b.si) <= 3 WHERE m.title IS NULL OR m.title LIKE 't1%') AS s;
EXPLAIN (COSTS OFF) SELECT a.id, b.src FROM doc AS a LEFT JOIN (SELECT *, 'x'::text AS src FROM doc) AS b ON hamming(a.si, b.si) <= 2 AND a.id <> b.id;
SELECT count(*), count(src), count(b), sum(b_id) FROM (
    SELECT a.id, b.src, b, b.id AS b_id FROM doc AS a LEFT JOIN (SELECT *, 'x'::text AS src FROM doc) AS b ON hamming(a.si, b.si) <= 2 AND a.id <> b.id) AS s;
SELECT count(*), count(src), count(label), count(title) FROM (
    SELECT a.id, b.src, m.label, m.title FROM (SELECT *, 'y'::text AS src FROM doc) AS b
    RIGHT JOIN doc AS a ON hamming(a.si, b.si) <= 2 AND a.id > b.id LEFT JOIN (SELECT id, title, coalesce(title, 'none') AS label FROM meta) AS m ON m.id = b.id) AS s;
SELECT count(*), count(most), count(either) FROM (
    SELECT a.id, n.most, n.either FROM meta AS a LEFT JOIN (
        SELECT b.id, coalesce(c.id, b.id) AS either, (SELECT max(m.id) FROM meta AS m WHERE m.id = b.id) AS most FROM doc AS b LEFT JOIN doc AS c ON hamming(b.si, c.si) <= 2 AND b.id < c.id) AS n
    ON a.id = n.id + 2000) AS s;
SELECT count(*), sum(a.id) FROM (SELECT *, 'w'::text AS src FROM doc) AS a WHERE NOT EXISTS (SELECT FROM (SELECT *, 'x' || id AS src FROM doc) AS b WHERE hamming(a.si, b.si) <= 2 AND a.src < b.src AND a.id <> b.id);
DROP TABLE doc, meta, full_side;
DROP FUNCTION full_join;
DROP TABLE join_a, join_b, join_query, join_truth;
DROP FUNCTION join_answer, join_estimate, join_plan, join_work;
