-- What of the algorithms' speed is left inside Postgres, and which share of the time goes to reading a row.
-- Called after rows.sql, with -v crate=PATH: the same calls over the same rows in their crate, with KB a row and MB/s.
\pset footer off
CREATE TABLE crate (number integer GENERATED ALWAYS AS IDENTITY, kb integer, call text, mbs double precision);
COPY crate (kb, call, mbs) FROM :'crate';
CREATE VIEW line AS SELECT call, min(number) AS line FROM crate GROUP BY call;

-- CPU time of this session. A pause brings the kernel's account up to date.
CREATE FUNCTION cpu_ms() RETURNS double precision LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_sleep(0.001);
    RETURN split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::double precision / 1e6;
END $$;

-- The fastest of several scans of each table. All take turns, so that a busy moment of the machine does not hit all scans of one.
CREATE TABLE scan (number integer, call text, ms double precision);
DO $$
DECLARE
    place record;
    begun double precision;
BEGIN
    FOR turn IN 1..7 LOOP
        -- The first call reads the row without its text, the second the text.
        FOR place IN SELECT * FROM place, (
                SELECT unnest('{octet_length(body),ascii(body)}'::text[]) AS call UNION ALL SELECT call FROM line) AS c LOOP
            begun := cpu_ms();
            EXECUTE format('SELECT count(%s) FROM %I', place.call, place.rows);
            INSERT INTO scan VALUES (place.number, place.call, cpu_ms() - begun);
        END LOOP;
    END LOOP;
END $$;

CREATE VIEW fastest AS
SELECT number, call, min(ms) AS ms, format('%s, %s KB', storage, kb) AS place, kb
FROM scan JOIN place USING (number) GROUP BY number, call, storage, kb;

\echo 'CPU time, in MB/s: in the crate over rows of 5 KB; then through SQL, of the speed in the crate over the same rows:'
SELECT call, 'in the crate' AS place, mbs::text AS cell, 0 AS number, line FROM crate JOIN line USING (call) WHERE kb = 5
UNION ALL
SELECT call, place, format('%s, %s%%', round(20000 / ms), round(100 * 20000 / ms / mbs)), fastest.number, line
FROM fastest JOIN crate USING (call, kb) JOIN line USING (call) ORDER BY line
\crosstabview call place cell number

\echo 'The share of this time in which Postgres fetches the text of a row from its TOAST table and decompresses it, and that time:'
WITH fetching AS (
    SELECT number, place, kb, ms, ms * kb / 20 AS us
    FROM (SELECT number, place, kb, max(ms) FILTER (WHERE call = 'ascii(body)') - max(ms) FILTER (WHERE call = 'octet_length(body)') AS ms
          FROM fastest WHERE place NOT LIKE 'inline%' GROUP BY number, place, kb) AS of_place)
SELECT call, place, format('%s%%', round(100 * fetching.ms / fastest.ms)) AS cell, number, line
FROM fetching JOIN fastest USING (number, place, kb) JOIN line USING (call)
UNION ALL
SELECT 'for a row', place, format('%s µs', round(us::numeric, 1)), number, 0 FROM fetching ORDER BY line
\crosstabview call place cell number

-- Pairs of texts of 2 KB, which have half of their words in common.
CREATE TABLE pair (a text, b text);
ALTER TABLE pair ALTER a SET STORAGE PLAIN, ALTER b SET STORAGE PLAIN;
INSERT INTO pair
SELECT convert_from(substr(body, place, 2000), 'LATIN1'), convert_from(substr(body, place + 1000, 2000), 'LATIN1')
FROM licences, LATERAL (SELECT 1 + (i * 7919) % (octet_length(body) - 3000) AS place FROM generate_series(1, 5000) AS i) AS p;
CREATE TABLE scan_of_pairs (call text, ms double precision);
DO $$
DECLARE
    call text;
    begun double precision;
BEGIN
    FOR turn IN 1..5 LOOP
        FOREACH call IN ARRAY '{"text_containment(a, b)","text_containment(a, b, ''word:2'')"}'::text[] LOOP
            begun := cpu_ms();
            EXECUTE format('SELECT count(%s) FROM pair', call);
            INSERT INTO scan_of_pairs VALUES (call, cpu_ms() - begun);
        END LOOP;
    END LOOP;
END $$;
\echo 'CPU time of two texts of 2 KB, inline:'
SELECT call, round((min(ms) * 1000 / (SELECT count(*) FROM pair))::numeric, 1) AS "µs" FROM scan_of_pairs GROUP BY call ORDER BY call;
