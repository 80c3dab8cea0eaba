-- GiST against the sequential scan: half of the fingerprints scattered, half in clusters of 50.
CREATE TABLE clustered AS
SELECT i AS id, CASE WHEN i % 2 = 0 THEN hashint8extended(i, 1)
       ELSE hashint8extended(i / 100, 2) # (1::bigint << (i % 61)) # (1::bigint << (i / 7 % 61)) END AS si
FROM generate_series(1, 1000000) AS i;
VACUUM (FREEZE, ANALYZE) clustered;

-- Both run in EXPLAIN ANALYZE, so that plans are the same in each repetition; execution time in ms.
CREATE FUNCTION execution_ms(query text, runs integer DEFAULT 7) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    result json;
    times double precision[];
BEGIN
    FOR run IN 0..runs LOOP
        EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT json) ' || query INTO result;
        IF run > 0 THEN times := times || (result #>> '{0,Execution Time}')::double precision; END IF;
    END LOOP;
    RETURN (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY t) FROM unnest(times) AS t);
END $$;

-- Medians over this many queries, which are rows of the table: half of them with neighbours.
CREATE TABLE query AS SELECT id, si FROM clustered WHERE id % 50000 IN (101, 202);
CREATE TABLE by_scan AS
SELECT radius, percentile_cont(0.5) WITHIN GROUP (ORDER BY execution_ms(format('SELECT id FROM clustered WHERE hamming(si, %s) <= %s', si, radius), 3)) AS ms
FROM (SELECT si FROM query LIMIT 5) AS q, unnest('{0,3,6,10}'::integer[]) AS radius GROUP BY radius;
CREATE TABLE nearest_by_scan AS
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY execution_ms(format('SELECT id FROM clustered ORDER BY hamming(si, %s) LIMIT 10', si), 3)) AS ms
FROM (SELECT si FROM query LIMIT 5) AS q;

\timing on
CREATE INDEX clustered_si ON clustered USING gist (si gist_hamming_ops);
\timing off
SELECT round(pg_relation_size('clustered_si') / 1e6, 1) AS "index, MB", round(pg_relation_size('clustered_si') / 1e6, 1) AS "bytes a row";
VACUUM clustered;
SET enable_seqscan = off;
SELECT radius, round(scan.ms::numeric, 1) AS "scan, ms", round(index.ms::numeric, 3) AS "GiST, ms", round((scan.ms / index.ms)::numeric, 1) AS "times faster"
FROM by_scan AS scan JOIN (
    SELECT radius, percentile_cont(0.5) WITHIN GROUP (ORDER BY execution_ms(format('SELECT id FROM clustered WHERE hamming(si, %s) <= %s', si, radius), 3)) AS ms
    FROM query, unnest('{0,3,6,10}'::integer[]) AS radius GROUP BY radius) AS index USING (radius)
ORDER BY radius;
SELECT id % 2 = 1 AS "near ones exist", round((SELECT ms FROM nearest_by_scan)::numeric, 1) AS "scan, ms", round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 3) AS "GiST nearest 10, ms"
FROM (SELECT id, execution_ms(format('SELECT id FROM clustered ORDER BY hamming(si, %s) LIMIT 10', si), 3) AS ms FROM query) AS q
GROUP BY 1 ORDER BY 1 DESC;

-- What an index grown by inserts costs and gives.
DROP INDEX clustered_si;
CREATE TABLE grown (id integer, si bigint);
CREATE INDEX grown_si ON grown USING gist (si gist_hamming_ops);
\timing on
INSERT INTO grown SELECT id, si FROM clustered WHERE id <= 200000 ORDER BY hashint8(id);
\timing off
VACUUM ANALYZE grown;
CREATE TABLE built AS SELECT * FROM grown;
CREATE INDEX built_si ON built USING gist (si gist_hamming_ops);
VACUUM ANALYZE built;
SELECT radius, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY execution_ms(format('SELECT id FROM built WHERE hamming(si, %s) <= %s', si, radius), 3))::numeric, 3) AS "built at 200,000 rows, ms",
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY execution_ms(format('SELECT id FROM grown WHERE hamming(si, %s) <= %s', si, radius), 3))::numeric, 3) AS "grown, ms"
FROM query, unnest('{0,3,6}'::integer[]) AS radius GROUP BY radius ORDER BY radius;
SELECT pg_size_pretty(pg_relation_size('built_si')) AS built, pg_size_pretty(pg_relation_size('grown_si')) AS grown;

-- Planning with the integration and without anything of ours.
CREATE FUNCTION planning_us(query text, runs integer DEFAULT 301) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    result json;
    times double precision[];
BEGIN
    FOR run IN 1..runs LOOP
        EXECUTE 'EXPLAIN (SUMMARY ON, FORMAT json) ' || query INTO result;
        times := times || (result #>> '{0,Planning Time}')::double precision;
    END LOOP;
    RETURN 1000 * (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY t) FROM unnest(times) AS t);
END $$;
SELECT query, round(planning_us(query)::numeric) AS "planning, µs"
FROM (VALUES ('SELECT id FROM built WHERE si = 42'), ('SELECT id FROM built WHERE hamming(si, 42) <= 6'),
             ('SELECT id FROM built ORDER BY hamming(si, 42) LIMIT 10')) AS q (query);
DROP TABLE grown, built, clustered, query, by_scan, nearest_by_scan;
