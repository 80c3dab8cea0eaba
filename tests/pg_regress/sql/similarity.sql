-- limits that are similarities, or numbers of any type: plans, and the same answers as by scan
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
        CONTINUE WHEN line LIKE '%Disabled: true';
        line := regexp_replace(line, '(InitPlan 1) \(returns \$0\)', '\1');
        RETURN NEXT regexp_replace(line, '\(InitPlan 1\)\.col1|\$0', 'init', 'g');
    END LOOP;
END $$;
\pset tuples_only on
\pset format unaligned
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
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
-- of parameters
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
-- distances that are computed with, or are one of several: what cannot fail is tried while planning
RESET plan_cache_mode;
SELECT plan('SELECT id FROM document WHERE 1 - hamming(si, 42) / 64.0 >= 0.9');
SELECT plan('SELECT id FROM document WHERE (64 - hamming(si, 42))::float8 / 64 >= 0.9');
SELECT plan('SELECT id FROM document WHERE 100 * hamming_similarity(si, 42) > 90');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) IN (0, 1, 2)');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) = ANY (''{1,5,NULL}'')');
SELECT plan('SELECT id FROM document WHERE 1 - hamming(si, 42) / 64.0 >= 0.9 OR id = 5 OR hamming(si, 43) IN (1, 3)');
SELECT plan('SELECT d.id FROM probe AS p JOIN document AS d ON 1 - hamming(d.si, p.si) / 64.0 >= 0.9');
PREPARE computed (bigint, float8) AS SELECT id FROM document WHERE 1 - hamming(si, $1) / 64.0 >= $2;
SELECT plan('EXECUTE computed(42, 0.9)');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) NOT IN (1, 2)');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) <> 6');
SELECT plan('SELECT id FROM document WHERE 12 / hamming(si, 42) >= 2');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) / 0 = 2');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) + 2147483647 <= 0');
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) + hamming(si, 43) <= 6');
SELECT plan('SELECT id FROM document WHERE coalesce(hamming(si, 42), 0) <= 6');
-- every comparison with every kind of limit, known to the planner or not, finds what arithmetic on counted bits finds
CREATE TABLE at_distance AS
SELECT 65 * n + d AS id, d, 42 # CASE d WHEN 64 THEN -1::bigint ELSE ~(-1::bigint << d) END AS si FROM generate_series(0, 64) AS d, generate_series(0, 9) AS n;
SELECT bool_and(length(replace((si # 42::bigint)::bit(64)::text, '0', '')) = d) AS counted FROM at_distance;
INSERT INTO at_distance SELECT 650 + n FROM generate_series(0, 9) AS n;
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
    arithmetic text := replace(replace(comparison, 'hamming_similarity(si, 42)', '(1 - d / 64::float8)'), 'hamming(si, 42)', 'd');
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
SELECT disagreements(comparison, type)
FROM unnest('{real, double precision, numeric}'::text[]) AS type,
     unnest(ARRAY['1 - hamming(si, 42) / 64.0 >= $1', '(64 - hamming(si, 42)) / 64::float8 > $1', 'hamming_similarity(si, 42) * 64 >= $1', '7 * (hamming(si, 42) - 0.1) < $1']) AS comparison;
DROP TABLE document, probe, at_distance, limits;
DROP FUNCTION plan, disagreements;
