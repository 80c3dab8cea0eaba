-- How cost grows with the rows: one size. Called with -v rows=N -v without='join cluster', in a session of its own; the results
-- of all sizes stay in one table. Half of the fingerprints are scattered, half come in clusters of 50.
SET client_min_messages = warning;
\ir fingerprints.sql
SET scale.without = :'without';
CREATE TABLE IF NOT EXISTS measured_scale (number serial, rows bigint, what text, unit text, spent double precision, peak_mb numeric, temporary_mb numeric);
\ir processor_seconds.sql
-- What a statement takes of the processor, of memory beside what the session has already and shared buffers, and of temporary
-- files. A query is given as one of EXPLAIN, which counts the files.
CREATE OR REPLACE PROCEDURE measure_scale(rows bigint, what text, statement text) LANGUAGE plpgsql AS $$
DECLARE
    before double precision;
    plan json;
BEGIN
    IF what ~ ANY (string_to_array(current_setting('scale.without'), ' ')) THEN
        RETURN;
    END IF;
    -- The peak is counted from here on.
    COPY (SELECT 5) TO '/proc/self/clear_refs';
    before := processor_seconds();
    IF statement LIKE 'EXPLAIN%' THEN
        EXECUTE statement INTO plan;
    ELSE
        EXECUTE statement;
    END IF;
    INSERT INTO measured_scale (rows, what, unit, spent, peak_mb, temporary_mb)
    SELECT measure_scale.rows, what, 's', processor_seconds() - before,
           round((substring(status FROM 'VmHWM:\s+(\d+)')::bigint - substring(status FROM 'RssShmem:\s+(\d+)')::bigint) / 1024.0),
           round((plan #>> '{0,Plan,Temp Written Blocks}')::numeric / 128)
    FROM pg_read_file('/proc/self/status') AS status;
    COMMIT;
END $$;
-- The median of 1,000 different queries, each run once after all the others: of centers of clusters, or of codes that are near to
-- nothing. Or of their second of two runs, one right after the other.
CREATE OR REPLACE PROCEDURE measure_searches(rows bigint, what text, near boolean, template text, runs integer DEFAULT 1) LANGUAGE plpgsql AS $$
DECLARE
    si bigint;
    plan json;
    times double precision[];
BEGIN
    IF what ~ ANY (string_to_array(current_setting('scale.without'), ' ')) THEN
        RETURN;
    END IF;
    FOR pass IN 0..1 LOOP
        times := '{}';
        FOR n IN 1..1000 LOOP
            si := CASE WHEN near THEN hashint8extended(2 * (n * 7919 % (rows / 100)) + 1, 2) ELSE hashint8extended(n, 99) END;
            FOR run IN 1..runs LOOP
                EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT json) ' || format(template, si) INTO plan;
            END LOOP;
            times := times || (plan #>> '{0,Execution Time}')::double precision;
        END LOOP;
    END LOOP;
    INSERT INTO measured_scale (rows, what, unit, spent) SELECT rows, what, 'ms', percentile_cont(0.5) WITHIN GROUP (ORDER BY t) FROM unnest(times) AS t;
    COMMIT;
END $$;

-- The first scan of a new table reads its pages into shared buffers. Searches, which find theirs there, are compared with the fastest
-- of the next twenty.
SELECT format('CALL measure_scale(%s, ''a sequential scan%s'', ''EXPLAIN (ANALYZE, TIMING OFF, BUFFERS, FORMAT json) SELECT id FROM fingerprint WHERE hamming(si, 42) <= 6'')', :rows, again)
FROM (SELECT CASE WHEN i > 0 THEN ', again' END FROM generate_series(0, 20) AS i) AS scan (again) \gexec
DELETE FROM measured_scale AS slower USING measured_scale AS faster
WHERE (slower.rows, slower.what) = (faster.rows, faster.what) AND (slower.spent, slower.number) > (faster.spent, faster.number);
CALL measure_scale(:rows, 'index built', 'CREATE INDEX fingerprint_si ON fingerprint USING hamming (si)');
INSERT INTO measured_scale (rows, what, unit, spent) SELECT :rows, 'index', 'MB', pg_relation_size(c) / 1048576.0 FROM to_regclass('fingerprint_si') AS c WHERE c IS NOT NULL;
VACUUM (FREEZE, ANALYZE) fingerprint;
\set within 'SELECT id FROM fingerprint WHERE hamming(si, %s) <= '
\set nearest 'SELECT id FROM fingerprint ORDER BY hamming(si, %s) LIMIT 10'
CALL measure_searches(:rows, 'within 3, none near', false, :'within' || 3);
CALL measure_searches(:rows, 'within 3, rows near', true, :'within' || 3);
CALL measure_searches(:rows, 'within 6, none near', false, :'within' || 6);
CALL measure_searches(:rows, 'within 6, rows near', true, :'within' || 6);
CALL measure_searches(:rows, 'within 6, none near, again', false, :'within' || 6, 2);
CALL measure_searches(:rows, 'within 12, none near', false, :'within' || 12);
CALL measure_searches(:rows, 'nearest 10, none near', false, :'nearest');
CALL measure_searches(:rows, 'nearest 10, rows near', true, :'nearest');
CALL measure_scale(:rows, 'joined with itself within 3', 'EXPLAIN (ANALYZE, TIMING OFF, BUFFERS, FORMAT json) SELECT count(*) FROM fingerprint AS a JOIN fingerprint AS b ON a.id < b.id AND hamming(a.si, b.si) <= 3');
CREATE TABLE newcomer AS SELECT -i AS id, CASE WHEN i % 2 = 0 THEN hashint8extended(2 * (i * 7919 % (:rows / 100)) + 1, 2) ELSE hashint8extended(i, 9) END AS si FROM generate_series(1, 10000::bigint) AS i;
ANALYZE newcomer;
CALL measure_scale(:rows, '10,000 new rows joined within 3', 'EXPLAIN (ANALYZE, TIMING OFF, BUFFERS, FORMAT json) SELECT count(*) FROM newcomer AS a JOIN fingerprint AS b ON hamming(a.si, b.si) <= 3');
CALL measure_scale(:rows, 'near_cluster within 3', 'EXPLAIN (ANALYZE, TIMING OFF, BUFFERS, FORMAT json) SELECT count(*) FROM (SELECT id, near_cluster(id, si, 3) OVER (ORDER BY id) AS keeper FROM fingerprint) AS c WHERE id = keeper');
CALL measure_scale(:rows, '10,000 rows inserted', 'INSERT INTO fingerprint SELECT * FROM newcomer');
DELETE FROM fingerprint WHERE id % 10 = 0;
SELECT processor_seconds() AS before \gset
VACUUM fingerprint;
INSERT INTO measured_scale (rows, what, unit, spent) SELECT :rows, what, 's', processor_seconds() - :before FROM (VALUES ('VACUUM, a tenth dead')) AS v (what)
WHERE NOT what ~ ANY (string_to_array(current_setting('scale.without'), ' '));
DROP TABLE fingerprint, newcomer;
