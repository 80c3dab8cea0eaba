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

CREATE TABLE measured_cold (number serial, what text, ms double precision, read bigint, cached bigint);
CREATE PROCEDURE measure_reads(queries integer) LANGUAGE plpgsql AS $$
DECLARE
    started timestamptz;
    page bigint;
BEGIN
    FOR n IN 1..queries LOOP
        EXECUTE current_setting('cold.forget');
        page := (hashint8extended(n, 3) & 9223372036854775807) % (pg_relation_size('fingerprint_si') / 8192);
        started := clock_timestamp();
        PERFORM pg_prewarm('fingerprint_si', 'read', 'main', page, page);
        INSERT INTO measured_cold (what, ms, read, cached) VALUES ('a random page', extract(epoch FROM clock_timestamp() - started) * 1000, 1, 0);
    END LOOP;
END $$;
-- Each query is another one, and finds in shared buffers what those before have left there.
CREATE PROCEDURE measure_searches(rows bigint, radius integer, near boolean, queries integer) LANGUAGE plpgsql AS $$
DECLARE
    si bigint;
    plan json;
BEGIN
    FOR n IN 1..queries LOOP
        EXECUTE current_setting('cold.forget');
        si := CASE WHEN near THEN hashint8extended(2 * (n * 7919::bigint % (rows / 100)) + 1, 2) ELSE hashint8extended(n, 99) END;
        EXECUTE format('EXPLAIN (ANALYZE, TIMING OFF, BUFFERS, FORMAT json) SELECT id FROM fingerprint WHERE hamming(si, %s) <= %s', si, radius) INTO plan;
        INSERT INTO measured_cold (what, ms, read, cached)
        SELECT format('within %s, %s', radius, CASE WHEN near THEN 'rows near' ELSE 'none near' END), (plan #>> '{0,Execution Time}')::double precision,
               (plan #>> '{0,Plan,Shared Read Blocks}')::bigint, (plan #>> '{0,Plan,Shared Hit Blocks}')::bigint;
    END LOOP;
END $$;
CALL measure_reads(:queries);
CALL measure_searches(:rows, 3, false, :queries);
CALL measure_searches(:rows, 6, false, :queries);
CALL measure_searches(:rows, 3, true, :queries);
CALL measure_searches(:rows, 6, true, :queries);
SELECT what, count(*) AS queries, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 3) AS "ms, median",
       round((percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)
              / (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FROM measured_cold WHERE what = 'a random page'))::numeric, 1) AS "random reads",
       round(avg(read), 1) AS "pages read", round(avg(cached), 1) AS "pages in shared buffers"
FROM measured_cold GROUP BY what ORDER BY min(number);
SELECT pg_size_pretty(pg_relation_size('fingerprint_si')) AS index, current_setting('shared_buffers') AS shared_buffers;
