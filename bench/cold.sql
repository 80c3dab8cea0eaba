-- Searches that find nothing of a table and its index in the system's cache. Called with -v rows=N -v queries=N, and with
-- -v forget=PROGRAM, which drops what is cached of files.
SET client_min_messages = warning;
\ir fingerprints.sql
CREATE INDEX fingerprint_si ON fingerprint USING hamming (si);
VACUUM (FREEZE, ANALYZE) fingerprint;
CHECKPOINT;
SELECT string_agg(format('%s/%s*', current_setting('data_directory'), pg_relation_filepath(oid)), ' ') AS files
FROM pg_class WHERE relname IN ('fingerprint', 'fingerprint_si') \gset
SELECT format('COPY (SELECT 1) TO PROGRAM %L', 'sync ' || :'files') \gexec
SELECT set_config('cold.forget', format('COPY (SELECT 1) TO PROGRAM %L', :'forget' || ' ' || :'files'), false) AS forget \gset

CREATE TABLE measured_cold (number serial, what text, ms double precision, random_read_ms double precision, read bigint, cached bigint);
-- Each query is another one, finds in shared buffers what those before have left there, and has a random read of 8 kB before it.
CREATE PROCEDURE measure_searches(rows bigint, radius integer, near boolean, queries integer) LANGUAGE plpgsql AS $$
DECLARE
    page bigint;
    started timestamptz;
    random_read interval;
    si bigint;
    plan json;
BEGIN
    FOR n IN radius * 10000 + 1 .. radius * 10000 + queries LOOP
        EXECUTE current_setting('cold.forget');
        page := (hashint8extended(n, 3) & 9223372036854775807) % (pg_relation_size('fingerprint_si') / 8192);
        started := clock_timestamp();
        PERFORM pg_prewarm('fingerprint_si', 'read', 'main', page, page);
        random_read := clock_timestamp() - started;
        EXECUTE current_setting('cold.forget');
        si := CASE WHEN near THEN hashint8extended(2 * (n * 7919::bigint % (rows / 100)) + 1, 2) ELSE hashint8extended(n, 99) END;
        EXECUTE format('EXPLAIN (ANALYZE, TIMING OFF, BUFFERS, FORMAT json) SELECT id FROM fingerprint WHERE hamming(si, %s) <= %s', si, radius) INTO plan;
        INSERT INTO measured_cold (what, ms, random_read_ms, read, cached)
        SELECT format('within %s, %s', radius, CASE WHEN near THEN 'rows near' ELSE 'none near' END), (plan #>> '{0,Execution Time}')::double precision,
               extract(epoch FROM random_read) * 1000, (plan #>> '{0,Plan,Shared Read Blocks}')::bigint, (plan #>> '{0,Plan,Shared Hit Blocks}')::bigint;
    END LOOP;
END $$;
CALL measure_searches(:rows, 3, false, :queries);
CALL measure_searches(:rows, 6, false, :queries);
CALL measure_searches(:rows, 3, true, :queries);
CALL measure_searches(:rows, 6, true, :queries);
SELECT what, queries, round(ms::numeric, 3) AS "ms, median", round(random_read_ms::numeric, 3) AS "a random read, ms",
       round((ms / random_read_ms)::numeric, 1) AS "random reads", round(read, 1) AS "pages read", round(cached, 1) AS "pages in shared buffers"
FROM (SELECT what, count(*) AS queries, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS ms,
             percentile_cont(0.5) WITHIN GROUP (ORDER BY random_read_ms) AS random_read_ms, avg(read) AS read, avg(cached) AS cached, min(number) AS number
      FROM measured_cold GROUP BY what) AS m ORDER BY number;
SELECT pg_size_pretty(pg_relation_size('fingerprint_si')) AS index, current_setting('shared_buffers') AS shared_buffers;
