-- limits that are similarities, or numbers of any type; sorting by similarity: plans, and the same answers as by scan
CREATE TABLE document (id integer PRIMARY KEY, si bigint, sure bigint NOT NULL);
INSERT INTO document
SELECT i, CASE WHEN i % 100 <> 0 THEN hashint8extended(i / 50, 1) # (1::bigint << (i % 60)) # (1::bigint << (i % 7)) END, hashint8extended(i / 50, 2) # (1::bigint << (i % 60))
FROM generate_series(1, 5000) AS i;
CREATE INDEX by_si ON document USING hamming (si);
CREATE INDEX by_sure ON document USING hamming (sure);
CREATE TABLE probe (id integer, si bigint);
INSERT INTO probe SELECT id, si FROM document WHERE id % 1000 = 101;
VACUUM ANALYZE document, probe;

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
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET simhash_pg.enable_near_join = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
-- similarities
SELECT plan('SELECT id FROM document WHERE hamming_similarity(si, 42) >= 0.9');
SELECT plan('SELECT id FROM document WHERE hamming_similarity(42, si) > 58.0 / 64');
SELECT plan('SELECT id FROM document WHERE 0.9 <= hamming_similarity(si, 42)');
SELECT plan('SELECT id FROM document WHERE 0.9 < hamming_similarity(si, 42)');
SELECT plan('SELECT id FROM document WHERE hamming_similarity(si, 42) >= 0.9::real');
SELECT plan('SELECT id FROM document WHERE hamming_similarity(si, 42) >= 0.90625::numeric');
SELECT plan('SELECT id FROM document WHERE hamming_similarity(si, 42) BETWEEN 0.9 AND 0.95');
SELECT plan('SELECT id FROM document WHERE hamming_similarity(si, 42) = 0.90625');
SELECT plan('SELECT id FROM document WHERE hamming_similarity(si, 42) = 0.9');
SELECT plan('SELECT id FROM document WHERE hamming_similarity(si, 42) = 1');
SELECT plan('SELECT id FROM document WHERE hamming_similarity(si, 42) >= 1');
SELECT plan('SELECT id FROM document WHERE hamming_similarity(si, 42) >= ''NaN''');
SELECT plan('SELECT id FROM document WHERE hamming_similarity(si, 42) > 1');
SELECT plan('SELECT id FROM document WHERE NOT hamming_similarity(si, 42) < 0.9');
SELECT plan('SELECT id FROM document WHERE hamming_similarity(si, 42) >= 0.9 OR id = 5');
SELECT plan('SELECT d.id FROM probe AS p JOIN document AS d ON hamming_similarity(d.si, p.si) >= 0.9');
SELECT plan('SELECT id FROM (SELECT id, hamming_similarity(si, 42) AS s FROM document) AS d WHERE s >= 0.9');
-- limits of distances: floating-point numbers and numerics
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) <= 6.5');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) < 6.5');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) < 6.0');
SELECT plan('SELECT id FROM document WHERE 6.0 >= hamming(si, 42)');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) <= 6.5::float8');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) < 6.5::real');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42)::bigint <= 6');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) = 6.0');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) = 6.5');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) = 0.0');
-- parameters
SET plan_cache_mode = force_generic_plan;
PREPARE alike (bigint, float8) AS SELECT id FROM document WHERE hamming_similarity(si, $1) >= $2;
PREPARE more_alike (bigint, real) AS SELECT id FROM document WHERE $2 < hamming_similarity(si, $1);
PREPARE as_alike (bigint, numeric) AS SELECT id FROM document WHERE hamming_similarity(si, $1) = $2;
PREPARE near_numeric (bigint, numeric) AS SELECT id FROM document WHERE hamming(si, $1) <= $2;
PREPARE nearer_real (bigint, real) AS SELECT id FROM document WHERE hamming(si, $1) < $2;
PREPARE near_double (bigint, float8) AS SELECT id FROM document WHERE hamming(si, $1) = $2;
SELECT plan('EXECUTE alike(42, 0.9)');
SELECT plan('EXECUTE more_alike(42, 0.9)');
SELECT plan('EXECUTE as_alike(42, 0.9)');
SELECT plan('EXECUTE near_numeric(42, 6)');
SELECT plan('EXECUTE nearer_real(42, 6)');
SELECT plan('EXECUTE near_double(42, 6)');
EXECUTE alike(42, NULL);
EXECUTE near_numeric(NULL, 6);
-- conditions that compute with a distance by constants
RESET plan_cache_mode;
SELECT plan('SELECT id FROM document WHERE 1 - hamming(si, 42) / 64.0 >= 0.9');
SELECT plan('SELECT id FROM document WHERE 64 - hamming(si, 42) >= 58');
SELECT plan('SELECT id FROM document WHERE 0 < 7 - hamming(si, 42)');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) * 2 = 12');
SELECT plan('SELECT d.id FROM probe AS p JOIN document AS d ON hamming(d.si, p.si) + 1 <= 7');
-- others, or those that accept several distances, are answered by a scan
SELECT plan('SELECT id FROM document WHERE 64 - hamming(si, 42) >= id');
SELECT plan('SELECT id FROM document WHERE 64 - hamming(si, 42) <= 58');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) % 2 <= 3');
SELECT plan('SELECT id FROM document WHERE power(hamming(si, 42), 2) <= 36');
SELECT plan('SELECT id FROM document WHERE 64 / hamming(si, 42) >= 9');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) + hamming(si, 43) <= 6');
SELECT plan('SELECT id FROM document WHERE (hamming(si, 42) / 64.0)::real <= 0.1');
SELECT plan('SELECT id FROM document WHERE ((hamming(si, 42) / 1e18 + 1e6) - 1e6) * 1e18 <= 6');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) <> 6');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) <> ANY (''{0,1}'')');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) = ALL (''{0,1}'')');
SELECT plan('SELECT id FROM document WHERE coalesce(hamming(si, 42), 0) <= 6');
SELECT plan('SELECT id FROM document WHERE coalesce(hamming(si, 42), id) <= 6');
SELECT plan('SELECT id FROM document WHERE CASE WHEN id > 5 THEN hamming(si, 42) <= 6 ELSE false END');
SELECT plan('SELECT id FROM document WHERE least(hamming(si, 42), id) <= 6');
-- what does not name the extension is not touched
SELECT plan('SELECT id FROM document WHERE (id <= 6) IS TRUE AND CASE WHEN id > 5 THEN true ELSE false END');
-- every comparison with every kind of limit, constant or not, finds the same as arithmetic on counted bits
CREATE TABLE at_distance AS
SELECT 65 * n + d AS id, d, 42 # CASE d WHEN 64 THEN -1::bigint ELSE ~(-1::bigint << d) END AS si FROM generate_series(0, 64) AS d, generate_series(0, 1) AS n;
SELECT bool_and(length(replace((si # 42::bigint)::bit(64)::text, '0', '')) = d) AS counted FROM at_distance;
INSERT INTO at_distance SELECT 650 + n FROM generate_series(0, 1) AS n;
CREATE INDEX at_distance_si ON at_distance USING hamming (si);
VACUUM ANALYZE at_distance;
CREATE TABLE limits AS
SELECT number FROM (
    SELECT unnest(ARRAY[d, d + 0.5, d / 64.0]::float8[]) AS number FROM generate_series(0, 66) AS d
    UNION SELECT unnest(ARRAY[d - 1e-9, d / 64.0 - 1e-15, d / 50.0]::float8[]) FROM generate_series(0, 66, 6) AS d
    UNION ALL SELECT unnest('{NaN, Infinity, -Infinity, -0, -0.5, 1e-30, 1e30, -1e30, 9223372036854775808, 2147483648}'::float8[])) AS n;
CREATE FUNCTION disagreements(comparison text, type text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    known text;
    condition text;
    arithmetic text := replace(replace(comparison, 'hamming_similarity(si, 42)', '((64 - d) / 64::float8)'), 'hamming(si, 42)', 'd');
    expected text;
    answer text;
BEGIN
    FOR known IN SELECT format('%L::%s', number, type) FROM limits LOOP
        EXECUTE 'SELECT array_agg(id ORDER BY id) FROM at_distance WHERE ' || replace(arithmetic, '$1', known) INTO expected;
        FOREACH condition IN ARRAY ARRAY[replace(comparison, '$1', known), replace(comparison, '$1', '(SELECT ' || known || ')')] LOOP
            EXECUTE 'SELECT array_agg(id ORDER BY id) FROM at_distance WHERE ' || condition INTO answer;
            IF answer IS DISTINCT FROM expected THEN
                RETURN NEXT format('%s: %s instead of %s', condition, answer, expected);
            END IF;
        END LOOP;
    END LOOP;
    IF NOT EXISTS (SELECT FROM plan('SELECT id FROM at_distance WHERE ' || replace(comparison, '$1', '7.5::' || type)) AS line WHERE line LIKE '%<@%') THEN
        RETURN NEXT 'not by the index: ' || comparison || ' ' || type;
    END IF;
END $$;
SELECT disagreements(measure || ' ' || operator || ' $1', type)
FROM unnest('{real, double precision, numeric}'::text[]) AS type,
     (VALUES ('hamming(si, 42)', '<'), ('hamming(si, 42)', '<='), ('hamming(si, 42)', '='),
             ('hamming_similarity(si, 42)', '>'), ('hamming_similarity(si, 42)', '>='), ('hamming_similarity(si, 42)', '=')) AS c (measure, operator);
SELECT disagreements('$1 ' || operator || ' ' || measure, type)
FROM unnest('{real, double precision, numeric}'::text[]) AS type,
     (VALUES ('hamming(si, 42)', '>'), ('hamming(si, 42)', '>='), ('hamming(si, 42)', '='),
             ('hamming_similarity(si, 42)', '<'), ('hamming_similarity(si, 42)', '<='), ('hamming_similarity(si, 42)', '=')) AS c (measure, operator);
SELECT disagreements(measure || ' ' || operator || ' $1', type)
FROM unnest('{real, double precision, numeric}'::text[]) AS type,
     (VALUES ('64 - hamming(si, 42)', '>='), ('64 - hamming(si, 42)', '='), ('1 - hamming(si, 42) / 64.0', '>='), ('1 - hamming(si, 42) / 64.0', '>'), ('hamming(si, 42) * 3 - 7', '<'), ('hamming(si, 42) + 0.1::float8 - 0.1', '<'),
             ('(hamming(si, 42) + 1) / -3.0::float8', '>='), ('1 - (100 - hamming(si, 42)) * 1e-6', '<='), ('100 * hamming_similarity(si, 42)', '>')) AS c (measure, operator);
-- roundings
SELECT disagreements(measure || ' ' || operator || ' $1', 'numeric')
FROM (VALUES ('hamming(si, 42) / 8', '<='), ('100 - hamming(si, 42) * 100 / 64', '>='), ('-hamming(si, 42)', '>='), ('- (hamming(si, 42) / -3)', '<'),
             ('floor(hamming(si, 42) / 8.0)', '='), ('ceil(hamming(si, 42) * 0.3::float8)', '<='), ('round(hamming(si, 42) * 1.5)', '<'),
             ('round(100.0 * hamming(si, 42) / 64, 1)', '<='), ('trunc(hamming(si, 42), -1)', '<='), ('hamming(si, 42)::numeric(5, 2)', '='),
             ('(hamming(si, 42) / 64.0)::numeric(2, 1)', '<='), ('(hamming(si, 42) * 0.7)::integer', '<='), ('(100 - hamming(si, 42) * 1.5)::bigint', '>'),
             ('round(hamming_similarity(si, 42)::numeric, 2)', '>='), ('floor(100 * hamming_similarity(si, 42))', '>')) AS c (measure, operator);
-- NULL is accepted by IS NOT FALSE
SET enable_bitmapscan = on;
SELECT disagreements('(' || measure || ' ' || operator || ' $1) IS NOT FALSE', 'numeric')
FROM (VALUES ('hamming(si, 42)', '<='), ('64 - hamming(si, 42)', '='), ('hamming_similarity(si, 42)', '>')) AS c (measure, operator);
SET enable_bitmapscan = off;
-- nearest by similarity: NULLs would come first, so that the column has to be declared NOT NULL, or a condition or NULLS LAST to exclude them
-- what is computed with the distance
SELECT plan('SELECT id FROM document ORDER BY 64 - hamming(sure, 42) DESC LIMIT 5');
SELECT plan('SELECT id FROM document ORDER BY 1 - hamming(sure, 42) / 64.0 DESC LIMIT 5');
SELECT plan('SELECT id, 64 - hamming(si, 42) FROM document ORDER BY 2 DESC NULLS LAST LIMIT 5');
SELECT plan('SELECT id FROM document ORDER BY hamming(sure, 42)::real + 1 LIMIT 5');
SELECT plan('SELECT id FROM document ORDER BY 64 - hamming(si, 42) DESC LIMIT 5');
SELECT plan('SELECT id FROM document ORDER BY 64 - hamming(sure, 42) LIMIT 5');
SELECT plan('SELECT id FROM document ORDER BY hamming(sure, 42) / 8, id LIMIT 5');
SELECT plan('SELECT id FROM document ORDER BY round(hamming(sure, 42) / 64.0, 2), id LIMIT 5');
-- similarity
SELECT plan('SELECT id FROM document ORDER BY hamming_similarity(sure, 42) DESC LIMIT 3');
SELECT plan('SELECT id, hamming_similarity(42, sure) AS s FROM document ORDER BY s DESC LIMIT 3');
SELECT plan('SELECT id FROM document ORDER BY hamming_similarity(si, 42) DESC NULLS LAST LIMIT 3');
SELECT plan('SELECT id FROM document WHERE si IS NOT NULL ORDER BY hamming_similarity(si, 42) DESC LIMIT 3');
SELECT plan('SELECT id, hamming_similarity(si, 42) AS s FROM document WHERE hamming_similarity(si, 42) >= 0.8 ORDER BY s DESC LIMIT 3');
SELECT plan('SELECT id FROM document ORDER BY hamming_similarity(sure, (SELECT min(si) FROM probe)) DESC LIMIT 3');
SELECT plan('SELECT p.id, n.id FROM probe AS p, LATERAL (SELECT id FROM document ORDER BY hamming_similarity(sure, p.si) DESC LIMIT 2) AS n');
SELECT plan('SELECT max(hamming_similarity(si, 42)) FROM document');
SELECT plan('SELECT d.id FROM document AS d LEFT JOIN probe AS p ON p.id = d.id ORDER BY hamming_similarity(d.sure, 42) DESC LIMIT 3');
SELECT plan('SELECT id FROM document ORDER BY hamming_similarity(sure, 42) DESC FOR UPDATE LIMIT 3');
SELECT plan('SELECT id FROM document ORDER BY hamming_similarity(sure, 42) DESC FETCH FIRST 3 ROWS WITH TIES');
SET plan_cache_mode = force_generic_plan;
PREPARE nearest (bigint) AS SELECT id, hamming_similarity(sure, $1) AS s FROM document ORDER BY s DESC LIMIT 3;
SELECT plan('EXECUTE nearest(42)');
RESET plan_cache_mode;
CREATE TABLE parted (id integer, si bigint NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (2000);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (2000) TO (9000);
INSERT INTO parted SELECT id, sure FROM document;
CREATE INDEX ON parted USING hamming (si);
ANALYZE parted;
SELECT plan('SELECT id FROM parted ORDER BY hamming_similarity(si, 42) DESC LIMIT 3');
SELECT plan('SELECT id FROM (SELECT id, si FROM document UNION ALL SELECT id, si FROM parted) AS u ORDER BY hamming_similarity(si, 42) DESC NULLS LAST LIMIT 3');
-- the order of NULLs, and all other sorting, is not changed
SELECT plan('SELECT id FROM document ORDER BY hamming_similarity(si, 42) DESC LIMIT 3');
SELECT plan('SELECT id FROM document ORDER BY hamming_similarity(sure, 42) LIMIT 3');
SELECT plan('SELECT id FROM document ORDER BY hamming_similarity(sure, si) DESC LIMIT 3');
SELECT plan('SELECT d.id FROM probe AS p LEFT JOIN document AS d ON p.id = d.id ORDER BY hamming_similarity(d.sure, 42) DESC LIMIT 3');
SET enable_hashagg = off;
SELECT plan('SELECT DISTINCT hamming_similarity(sure, 42) AS s FROM document ORDER BY s DESC LIMIT 3');
RESET enable_hashagg;
SELECT plan('SELECT DISTINCT ON (hamming_similarity(sure, 42)) id FROM document ORDER BY hamming_similarity(sure, 42) DESC LIMIT 3');
CREATE INDEX by_similarity ON document (hamming_similarity(sure, 42));
SELECT plan('SELECT id FROM document ORDER BY hamming_similarity(sure, 42) DESC LIMIT 3');
DROP INDEX by_similarity;
CREATE TABLE child () INHERITS (document);
-- from PostgreSQL 18 on, a child has the NOT NULL of its parents
SELECT current_setting('server_version_num')::integer < 180000 AS may_be_null \gset
\if :may_be_null
ALTER TABLE child ALTER sure DROP NOT NULL;
INSERT INTO child VALUES (0);
\else
INSERT INTO child VALUES (0, NULL, 42);
\endif
SELECT id FROM document ORDER BY hamming_similarity(sure, 42) DESC LIMIT 1;
DROP TABLE child;
-- compares the order by index with that by scan: similarities, and ids among equal ones
CREATE FUNCTION order_disagreements(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    answers text[] := '{}';
    answer text;
    by_index boolean;
BEGIN
    FOREACH by_index IN ARRAY '{true, false}'::boolean[] LOOP
        PERFORM set_config('enable_indexscan', by_index::text, true), set_config('enable_seqscan', (NOT by_index)::text, true), set_config('enable_sort', (NOT by_index)::text, true);
        EXECUTE 'SELECT array_agg(q.*)::text FROM (' || CASE WHEN by_index THEN query ELSE replace(query, ' DESC', ' ^ 1 DESC') END || ') AS q' INTO answer;
        answers := answers || answer;
    END LOOP;
    IF answers[1] IS DISTINCT FROM answers[2] THEN
        RETURN NEXT query || ': ' || answers::text;
    END IF;
END $$;
SELECT order_disagreements(format(query, q, n)) FROM unnest('{42, -1, NULL, 81985529216486895}'::bigint[]) AS q, unnest('{1, 30, 6000}'::integer[]) AS n, unnest(ARRAY[
    'SELECT hamming_similarity(sure, %L) AS s FROM document ORDER BY hamming_similarity(sure, %1$L) DESC LIMIT %2$s',
    'SELECT hamming_similarity(si, %L) AS s FROM document ORDER BY hamming_similarity(si, %1$L) DESC LIMIT %2$s',
    'SELECT hamming_similarity(si, %L) AS s FROM document ORDER BY hamming_similarity(si, %1$L) DESC NULLS LAST LIMIT %2$s',
    'SELECT hamming_similarity(si, %L) AS s FROM document WHERE si IS NOT NULL ORDER BY hamming_similarity(si, %1$L) DESC LIMIT %2$s',
    'SELECT hamming_similarity(d.si, %L) AS s FROM probe AS p JOIN document AS d ON d.id = p.id AND d.si IS NOT NULL ORDER BY hamming_similarity(d.si, %1$L) DESC LIMIT %2$s',
    'SELECT id, hamming_similarity(sure, (SELECT %L::bigint)) AS s FROM document ORDER BY hamming_similarity(sure, (SELECT %1$L::bigint)) DESC, id LIMIT %2$s',
    'SELECT id, hamming_similarity(si, (SELECT %L::bigint)) AS s FROM document ORDER BY hamming_similarity(si, (SELECT %1$L::bigint)) DESC NULLS LAST, id LIMIT %2$s',
    'SELECT hamming_similarity(si, %L) AS s FROM document ORDER BY hamming_similarity(si, %1$L) DESC NULLS LAST FETCH FIRST %2$s ROWS WITH TIES',
    'SELECT p.id, s FROM probe AS p, LATERAL (SELECT hamming_similarity(sure, p.si # %L::bigint) AS s FROM document ORDER BY hamming_similarity(sure, p.si # %1$L::bigint) DESC LIMIT %2$s) AS n',
    'SELECT d.id, hamming_similarity(d.sure, %L) AS s FROM probe AS p LEFT JOIN document AS d ON p.id = d.id + 1 ORDER BY hamming_similarity(d.sure, %1$L) DESC, p.id LIMIT %2$s',
    'SELECT max(hamming_similarity(si, %L)) AS s FROM document']) AS query;
-- what is computed with the distance, as the same without an index: a power is not understood
SELECT order_disagreements(format(query, q, n)) FROM unnest('{42, -1, NULL}'::bigint[]) AS q, unnest('{1, 30, 6000}'::integer[]) AS n, unnest(ARRAY[
    'SELECT 64 - hamming(si, %L) AS s FROM document ORDER BY (64 - hamming(si, %1$L)) DESC NULLS LAST LIMIT %2$s',
    'SELECT 64 - hamming(sure, %L) AS s FROM document ORDER BY (64 - hamming(sure, %1$L)) DESC LIMIT %2$s',
    'SELECT 1 - hamming(sure, %L) / 64.0 AS s FROM document ORDER BY (1 - hamming(sure, %1$L) / 64.0) DESC LIMIT %2$s',
    'SELECT 100 * hamming_similarity(sure, %L) AS s FROM document ORDER BY (100 * hamming_similarity(sure, %1$L)) DESC LIMIT %2$s']) AS query;
-- the distance that is sorted by is not an output column
CREATE FUNCTION most_similar(bigint) RETURNS float8 LANGUAGE sql STABLE AS $$ SELECT hamming_similarity(sure, $1) FROM document ORDER BY 1 DESC LIMIT 1 $$;
SELECT most_similar(42), (SELECT * FROM most_similar(-1));
SELECT ARRAY(SELECT hamming_similarity(sure, 42) FROM document ORDER BY 1 DESC LIMIT 3);
CREATE TABLE copy AS SELECT hamming_similarity(sure, 42) AS s FROM document ORDER BY s DESC LIMIT 1;
INSERT INTO copy SELECT hamming_similarity(sure, 42) AS s FROM document ORDER BY s DESC LIMIT 1;
TABLE copy;
(SELECT hamming_similarity(sure, 42) AS s FROM document ORDER BY s DESC LIMIT 1) UNION ALL (SELECT hamming_similarity(sure, -1) AS s FROM document ORDER BY s DESC LIMIT 1);
BEGIN;
DECLARE alike SCROLL CURSOR FOR SELECT hamming_similarity(sure, 42) AS s FROM document ORDER BY s DESC;
FETCH 2 FROM alike;
FETCH BACKWARD 1 FROM alike;
COMMIT;
-- an exact similarity of bit strings whose length is not known when the query is planned
CREATE TABLE varying_bits (code bit varying);
INSERT INTO varying_bits VALUES (B'1010'), (B'1011'), (B'0101');
SET plan_cache_mode = force_generic_plan;
PREPARE exactly(bit varying) AS SELECT code FROM varying_bits WHERE hamming_similarity(code, $1) = 0.75;
EXECUTE exactly(B'1010');
RESET plan_cache_mode;
DROP TABLE varying_bits;
DROP FUNCTION most_similar;
DROP TABLE copy, document, probe, parted, at_distance, limits;
DROP FUNCTION plan, disagreements, order_disagreements;
