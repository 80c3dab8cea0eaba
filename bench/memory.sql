-- How the time of a near join grows with the rows at several values of work_mem, in processor seconds: a table of 400 bytes a row
-- with itself. Called with -v rows=N, once for each size; the results of all sizes stay in one table.
SET client_min_messages = warning;
\ir fingerprints.sql
\ir processor_seconds.sql
DROP TABLE IF EXISTS wide;
CREATE TABLE wide AS SELECT id, si, rpad(id::text, 400, 'x') AS body FROM fingerprint;
VACUUM ANALYZE wide;
CREATE TABLE IF NOT EXISTS measured_memory (rows bigint, memory text, seconds double precision, pairs bigint);
CREATE OR REPLACE PROCEDURE measure_memory(rows bigint, memory text) LANGUAGE plpgsql AS $$
DECLARE
    before double precision := processor_seconds();
    pairs bigint;
BEGIN
    PERFORM set_config('work_mem', memory, true);
    SELECT count(a.body || b.body) INTO pairs FROM wide AS a JOIN wide AS b ON a.id < b.id AND hamming(a.si, b.si) <= 3;
    INSERT INTO measured_memory VALUES (rows, memory, processor_seconds() - before, pairs);
    COMMIT;
END $$;
CALL measure_memory(:rows, '64kB');
CALL measure_memory(:rows, '1MB');
CALL measure_memory(:rows, '64MB');
