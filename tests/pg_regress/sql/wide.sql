-- Bit strings that are longer than the limit are compared by every function of two codes, and joined with the same rows in
-- every plan. What is found by words refuses them, with one message.
CREATE FUNCTION wide_code(family bigint, member bigint, bits integer) RETURNS bit varying LANGUAGE sql IMMUTABLE AS $$
    -- Members of a family differ in one bit before the limit, and in up to three bits behind it.
    SELECT string_agg(CASE WHEN n IN (3, bits / 64) THEN (hashint8extended(family, n) # (1::bigint << (member % 3 * 20)::integer))::bit(64)
        WHEN n = bits / 64 - 1 THEN (member % 4)::bit(64) ELSE hashint8extended(family, n)::bit(64) END::text, '')::varbit
    FROM generate_series(1, bits / 64) AS n $$;
CREATE TABLE wide_a AS SELECT i AS id, wide_code(i % 11, i, 8320) AS loose, wide_code(i % 11, i, 8320)::bit(8320) AS code,
    wide_code(i % 11, i, 256) AS short, i % 7 > 0 AS has FROM generate_series(1, 120) AS i;
UPDATE wide_a SET loose = NULL, code = NULL, short = NULL WHERE NOT has;
CREATE TABLE wide_b AS SELECT id + 1000 AS id, loose, code, short FROM wide_a WHERE id % 3 > 0;
ANALYZE wide_a, wide_b;

-- The same rows as by arithmetic, whatever joins.
CREATE FUNCTION wide_answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer text;
BEGIN
    EXECUTE format('SELECT count(*) || '' '' || md5(string_agg(q::text, '' '' ORDER BY q::text)) FROM (%s) AS q', query) INTO answer;
    RETURN answer;
END $$;
CREATE FUNCTION wide_plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line ~ 'Near' THEN
            RETURN 'near join';
        END IF;
    END LOOP;
    RETURN 'other';
END $$;
CREATE TABLE wide_query AS SELECT code, radius, join_type, format(query, join_type, code, radius) AS query,
    format(replace(query, 'hamming(a.%2$s, b.%2$s)', 'bit_count((a.%2$s # b.%2$s)::bit(8320))'), join_type, code, radius) AS truth
FROM unnest('{loose,code,short}'::text[]) AS code, unnest('{0,1,2,3,5,4096,9000,2147483647}'::integer[]) AS radius,
    (VALUES ('JOIN', 'SELECT a.id, b.id AS other FROM wide_a AS a %1$s wide_b AS b ON hamming(a.%2$s, b.%2$s) <= %3$s'),
        ('LEFT JOIN', 'SELECT a.id, b.id AS other FROM wide_a AS a %1$s wide_b AS b ON hamming(a.%2$s, b.%2$s) <= %3$s'),
        ('FULL JOIN', 'SELECT a.id, b.id AS other FROM wide_a AS a %1$s wide_b AS b ON hamming(a.%2$s, b.%2$s) <= %3$s'),
        ('', 'SELECT a.id FROM wide_a AS a WHERE EXISTS %1$s (SELECT FROM wide_b AS b WHERE hamming(a.%2$s, b.%2$s) <= %3$s)'),
        ('(SELECT) OR NOT EXISTS', 'SELECT a.id FROM wide_a AS a WHERE NOT EXISTS (SELECT FROM wide_b AS b WHERE hamming(a.%2$s, b.%2$s) <= %3$s)')) AS j (join_type, query);
CREATE TABLE wide_truth AS SELECT q.*, CASE WHEN join_type = 'FULL JOIN' THEN wide_answer(
    replace(truth, 'FULL JOIN', 'LEFT JOIN') || ' UNION ALL SELECT NULL, b.id FROM wide_b AS b WHERE NOT EXISTS (SELECT FROM wide_a AS a WHERE' || split_part(truth, ' ON', 2) || ')')
    ELSE wide_answer(truth) END AS answer FROM wide_query AS q;
SELECT count(*), count(DISTINCT answer) > 20 AS differ FROM wide_truth;
SET enable_nestloop = off;
SELECT count(*) FROM wide_truth WHERE wide_plan(query) <> 'near join';
SELECT * FROM wide_truth WHERE answer <> wide_answer(query);
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT * FROM wide_truth WHERE answer <> wide_answer(query);
RESET hash_mem_multiplier;
RESET work_mem;
RESET enable_nestloop;
SET simhash_pg.enable_near_join = off;
SELECT * FROM wide_truth WHERE answer <> wide_answer(query);
RESET simhash_pg.enable_near_join;
-- Different lengths are an error, as in a nested loop.
SELECT count(*) FROM wide_a AS a FULL JOIN wide_b AS b ON hamming(a.loose, b.loose || b'1') <= 3;
SELECT count(*) FROM wide_a AS a FULL JOIN wide_b AS b ON hamming(a.loose, b.short) <= 3;

SELECT hamming(a.code, b.code), hamming_within(a.code, b.code, 2), hamming_similarity(a.code, b.code) > 0.99 AS similar, a.code <@ hamming_ball(b.code, 2) AS is_within
FROM wide_a AS a, wide_b AS b WHERE (a.id, b.id) = (13, 1046);
SELECT near_cluster(id, code, 3) OVER () FROM wide_a;
SELECT near_cluster(id, 1::bigint, 3, loose, 3) OVER () FROM wide_a;
SELECT near_blocks(code, 3, 4) FROM wide_a WHERE id = 1;
SELECT * FROM hamming_histogram('wide_a', 'loose', 5);
CREATE TABLE wide_empty (code bit(83886080));
SELECT count(*) FROM hamming_histogram('wide_empty', 'code');
CREATE INDEX ON wide_a USING hamming (code);
CREATE INDEX ON wide_a USING hamming ((loose::bit(8193)));
DROP TABLE wide_a, wide_b, wide_empty, wide_query, wide_truth;
DROP FUNCTION wide_answer, wide_code, wide_plan;
