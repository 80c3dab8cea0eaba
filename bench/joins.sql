-- Joins of a table with itself: by near join, by near_pairs with array_agg, and by a nested loop through the index, in
-- processor seconds of one run. near_pairs finds each pair once, and the join from either side. Called with -v rows=N.
SET client_min_messages = warning;
\ir fingerprints.sql
CREATE INDEX fingerprint_si ON fingerprint USING hamming (si);
VACUUM ANALYZE fingerprint;
SET work_mem = '1GB';
CREATE TABLE measured_joins (radius integer, what text, seconds double precision, rows bigint);
CREATE FUNCTION processor_seconds() RETURNS double precision LANGUAGE sql VOLATILE AS
    $$SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::double precision / 1e9$$;
-- The query has to have this in its plan.
CREATE PROCEDURE measure_join(radius integer, what text, plan text, query text) LANGUAGE plpgsql AS $$
DECLARE
    started double precision;
    rows bigint;
    line text;
    shown text := '';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN ' || format(query, radius) LOOP
        shown := shown || line || E'\n';
    END LOOP;
    IF shown !~ plan THEN
        RAISE EXCEPTION 'not by %: %', plan, shown;
    END IF;
    started := processor_seconds();
    EXECUTE format(query, radius) INTO rows;
    INSERT INTO measured_joins VALUES (radius, what, processor_seconds() - started, rows);
END $$;
SET enable_nestloop = off;
SELECT format('CALL measure_join(%s, ''near join'', ''Near Join'', ''SELECT count(*) FROM fingerprint AS a JOIN fingerprint AS b ON hamming(a.si, b.si) <= %%s'')', radius),
       format('CALL measure_join(%s, ''not exists'', ''Near Anti Join'', ''SELECT count(*) FROM fingerprint AS a WHERE NOT EXISTS (SELECT FROM fingerprint AS b WHERE b.id < a.id AND hamming(a.si, b.si) <= %%s)'')', radius)
FROM unnest('{3, 6}'::integer[]) AS radius \gexec
RESET enable_nestloop;
SELECT format('CALL measure_join(%s, ''near_pairs'', ''near_pairs'', ''SELECT count(*) FROM (SELECT array_agg(id) AS ids, array_agg(si) AS sis FROM fingerprint) AS g, near_pairs(ids, sis, %%s)'')', radius)
FROM unnest('{3, 6}'::integer[]) AS radius \gexec
SET enable_hashjoin = off;
SELECT format('CALL measure_join(%s, ''index'', ''Index Scan'', ''SELECT count(*) FROM fingerprint AS a JOIN fingerprint AS b ON hamming(a.si, b.si) <= %%s'')', radius)
FROM unnest('{3, 6}'::integer[]) AS radius \gexec
RESET enable_hashjoin;
-- The border: some rows against all.
SELECT format('SET enable_nestloop = %s', is_index), format('SET enable_hashjoin = %s', NOT is_index),
       format('CALL measure_join(6, ''%s rows %s'', '''', ''SELECT count(*) FROM (SELECT * FROM fingerprint ORDER BY id LIMIT %s) AS a JOIN fingerprint AS b ON hamming(a.si, b.si) <= %%s'')',
              few, CASE WHEN is_index THEN 'by index' ELSE 'by near join' END, few)
FROM unnest('{100, 1000, 10000, 100000}'::integer[]) AS few, unnest('{t, f}'::boolean[]) AS is_index \gexec
SELECT radius, what, round(seconds::numeric, 2) AS "s of CPU", rows,
       round((seconds / min(seconds) FILTER (WHERE what = 'near_pairs') OVER (PARTITION BY radius))::numeric, 1) AS "times near_pairs"
FROM measured_joins ORDER BY radius, rows, seconds;
