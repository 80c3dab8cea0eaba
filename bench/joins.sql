-- Near joins: by the node, and by a nested loop through the index, in processor seconds of one run, beside PostgreSQL's own hash
-- join on equality. Called with -v rows=N -v without='dense text': what is left out, as in scale.sql.
SET client_min_messages = warning;
SET joins.without = :'without';
\ir fingerprints.sql
CREATE INDEX fingerprint_si ON fingerprint USING hamming (si);
VACUUM ANALYZE fingerprint;
-- A batch of new ones: half of them near to stored ones.
CREATE TABLE newcomer AS
SELECT 2 * i - 1 AS id, hashint8extended(i, 9) AS si FROM generate_series(1, 50000) AS i
UNION ALL SELECT 2 * row_number() OVER (), si # 5 FROM fingerprint WHERE id % (:rows / 50000) = 0;
-- Uploaded pictures and a blocklist, of which one of a thousand is a changed copy.
CREATE FUNCTION picture(i bigint) RETURNS bit(256) LANGUAGE sql IMMUTABLE AS
    $$SELECT string_agg(hashint8extended(i, seed)::bit(64)::text, '' ORDER BY seed)::bit(256) FROM generate_series(1, 4) AS seed$$;
CREATE TABLE blocked AS SELECT i AS id, picture(i)::bit(256) AS code FROM generate_series(1, :rows::bigint / 10) AS i;
CREATE TABLE upload AS
SELECT i AS id, CASE WHEN i % 1000 = 0 THEN set_bit(set_bit(picture(i / 1000), 3, 0), (i / 1000 % 256)::integer, 1) ELSE picture(-i) END::bit(256) AS code
FROM generate_series(1, :rows::bigint) AS i;
CREATE INDEX blocked_code ON blocked USING hamming (code);
CREATE TABLE dense AS SELECT i AS id, i AS si FROM generate_series(1, 300000::bigint) AS i;
CREATE TABLE half_equal AS SELECT i AS id, CASE WHEN i % 2 = 0 THEN hashint8extended(i, 1) ELSE 1 END AS si FROM generate_series(1, 10000::bigint) AS i;
CREATE TABLE copy AS TABLE fingerprint;
CREATE TABLE looked AS SELECT id, si, (si # (id % 3))::bit(64) || hashint8extended(id % 4, 1)::bit(64) AS look FROM dense;
VACUUM ANALYZE newcomer, blocked, upload, dense, half_equal, looked, copy;

CREATE TABLE measured_joins (number serial, part text, what text, seconds double precision, rows bigint, memory text);
\ir processor_seconds.sql
-- The query has to have this in its plan. A nested loop and a near join are each forced by what else is off.
CREATE PROCEDURE measure_join(part text, what text, plan text, query text) LANGUAGE plpgsql AS $$
DECLARE
    started double precision;
    rows bigint;
    line text;
    shown text := '';
BEGIN
    IF concat_ws(', ', part, what) ~ ANY (string_to_array(current_setting('joins.without'), ' ')) THEN
        RETURN;
    END IF;
    PERFORM set_config('simhash_pg.enable_near_join', (plan !~ 'Index')::text, true), set_config('enable_nestloop', (plan !~ 'Near')::text, true);
    FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
        shown := shown || line || E'\n';
    END LOOP;
    IF shown !~ plan THEN
        RAISE EXCEPTION 'not by %: %', plan, shown;
    END IF;
    started := processor_seconds();
    EXECUTE query INTO rows;
    INSERT INTO measured_joins (part, what, seconds, rows) VALUES (part, what, processor_seconds() - started, rows);
END $$;

SET work_mem = '1GB';
SET enable_mergejoin = off;
-- A table with itself. The index is left out where it takes minutes.
SELECT format('CALL measure_join(''itself, radius %s'', ''%s'', ''%s'', ''%s'')', radius, what, plan, format(query, radius))
FROM unnest('{3, 6, 10}'::integer[]) AS radius, (VALUES
    ('near join', 'Near Join', 'SELECT count(*) FROM fingerprint AS a JOIN fingerprint AS b ON hamming(a.si, b.si) <= %s'),
    ('near join, not exists', 'Near Anti Join', 'SELECT count(*) FROM fingerprint AS a WHERE NOT EXISTS (SELECT FROM fingerprint AS b WHERE b.id < a.id AND hamming(a.si, b.si) <= %s)'),
    ('index', 'Index.* Scan', 'SELECT count(*) FROM fingerprint AS a JOIN fingerprint AS b ON hamming(a.si, b.si) <= %s')) AS way (what, plan, query)
WHERE what <> 'index' OR :rows * radius <= 6000000 \gexec
CALL measure_join('itself, equal', 'hash join', 'Hash Join', 'SELECT count(*) FROM fingerprint AS a JOIN fingerprint AS b ON a.si = b.si');
CALL measure_join('itself, radius 3', 'delete where an earlier one exists', 'Near Semi Join', 'WITH gone AS (DELETE FROM copy AS a WHERE EXISTS (SELECT FROM copy AS b WHERE b.id < a.id AND hamming(a.si, b.si) <= 3) RETURNING 1) SELECT count(*) FROM gone');
-- New ones against stored ones; the border lies where both ways take as long.
SELECT format('CALL measure_join(''%s new ones, radius 6'', ''%s'', ''%s'', ''%s'')', few, what, plan, format(query, few))
FROM unnest('{100, 1000, 10000, 100000}'::integer[]) AS few, (VALUES
    ('near join', 'Near .*Join', 'SELECT count(b.id) FROM newcomer AS a LEFT JOIN fingerprint AS b ON hamming(a.si, b.si) <= 6 WHERE a.id <= %s'),
    ('near join, not exists', 'Near .*Join', 'SELECT count(*) FROM newcomer AS a WHERE NOT EXISTS (SELECT FROM fingerprint AS b WHERE hamming(a.si, b.si) <= 6) AND a.id <= %s'),
    ('index', 'Index.* Scan', 'SELECT count(b.id) FROM newcomer AS a LEFT JOIN fingerprint AS b ON hamming(a.si, b.si) <= 6 WHERE a.id <= %s')) AS way (what, plan, query) \gexec
-- Pictures: all uploads by a near join, some by the index.
CALL measure_join('uploads, 256 bits, radius 31', 'near join', 'Near Join', 'SELECT count(*) FROM upload AS a JOIN blocked AS b ON hamming(a.code, b.code) <= 31');
SET work_mem = '4MB';
CALL measure_join('uploads, 256 bits, radius 31', 'near join, work_mem 4MB', 'Near Join', 'SELECT count(*) FROM upload AS a JOIN blocked AS b ON hamming(a.code, b.code) <= 31');
SET work_mem = '1GB';
CALL measure_join('uploads, 256 bits, radius 31', 'index, a hundredth of them', 'Index.* Scan', 'SELECT count(*) FROM (SELECT * FROM upload WHERE id % 100 = 0 OFFSET 0) AS a JOIN blocked AS b ON hamming(a.code, b.code) <= 31');
-- Dense rows: as long as the result.
CALL measure_join('dense', '300,000 numbers, radius 3', 'Near Join', 'SELECT count(*) FROM dense AS a JOIN dense AS b ON hamming(a.si, b.si) <= 3');
CALL measure_join('dense', 'half of 10,000 equal, radius 3', 'Near Join', 'SELECT count(*) FROM half_equal AS a JOIN half_equal AS b ON hamming(a.si, b.si) <= 3');
CALL measure_join('dense', 'half of 10,000 equal, radius 3, exists', 'Near Semi Join', 'SELECT count(*) FROM half_equal AS a WHERE EXISTS (SELECT FROM half_equal AS b WHERE hamming(a.si, b.si) <= 3 AND a.id <> b.id)');
CALL measure_join('dense', 'those numbers, and a recheck', 'Near Join', 'SELECT count(*) FROM looked AS a JOIN looked AS b ON hamming(a.si, b.si) <= 3 AND hamming(a.look, b.look) <= 2');
-- Pieces of 2,000 characters, every 1,000, of the text files that Debian's packages bring, and a recheck of each pair.
CREATE TABLE file (path text);
COPY file FROM :'files';
CREATE TABLE piece AS
SELECT row_number() OVER ()::integer AS id, simhash(piece) AS si, minhash_bits(piece, 256, 'doc2')::bit(256) AS look
FROM (SELECT convert_from(pg_read_binary_file(path), 'LATIN1') AS body FROM file) AS f,
     generate_series(1, greatest(length(body) - 1000, 1), 1000) AS start, substr(body, start, 2000) AS piece;
VACUUM ANALYZE piece;
SELECT format('CALL measure_join(''%s pieces of text, radius %s'', ''%s'', ''Near Join'', ''SELECT count(*) FROM piece AS a JOIN piece AS b ON hamming(a.si, b.si) <= %s%s'')',
              (SELECT count(*) FROM piece), radius, what, radius, look)
FROM unnest('{10, 14, 18}'::integer[]) AS radius,
     (VALUES ('near join', ''), ('near join with a recheck', ' AND hamming(a.look, b.look) <= 70')) AS way (what, look) \gexec
-- Less memory: both sides are divided into files.
SELECT format('SET work_mem = ''%s''', memory),
       format('CALL measure_join(''itself, radius %s'', ''near join, work_mem %s'', ''Near Join'', ''SELECT count(*) FROM fingerprint AS a JOIN fingerprint AS b ON hamming(a.si, b.si) <= %s'')', radius, memory, radius)
FROM unnest('{64MB, 4MB}'::text[]) AS memory, unnest('{3, 6, 10}'::integer[]) AS radius \gexec
CALL measure_join('itself, equal', 'hash join, work_mem 4MB', 'Hash Join', 'SELECT count(*) FROM fingerprint AS a JOIN fingerprint AS b ON a.si = b.si');
SELECT part, what, round(seconds::numeric, 2) AS "s of CPU", rows,
       round((seconds / min(seconds) FILTER (WHERE what LIKE 'near%') OVER (PARTITION BY part))::numeric, 1) AS "times the fastest near one"
FROM measured_joins ORDER BY min(number) OVER (PARTITION BY part), seconds;
-- With workers it is the time that counts.
SET work_mem = '4MB';
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
CREATE TABLE measured_times (workers integer, seconds double precision);
\set query 'SELECT count(*) FROM fingerprint AS a JOIN fingerprint AS b ON hamming(a.si, b.si) <= 6'
SELECT clock_timestamp() AS started \gset
:query \g /dev/null
INSERT INTO measured_times VALUES (0, extract(epoch FROM clock_timestamp() - :'started'));
SET max_parallel_workers_per_gather = 1;
SELECT clock_timestamp() AS started \gset
:query \g /dev/null
INSERT INTO measured_times VALUES (1, extract(epoch FROM clock_timestamp() - :'started'));
SELECT workers, round(seconds::numeric, 2) AS seconds, round((max(seconds) OVER () / seconds)::numeric, 2) AS "times as fast" FROM measured_times ORDER BY workers;

-- Sketches of as many texts as rows / 100, which share a sentence with some others each, and of 577 values as those of 15 KB have.
CREATE TABLE sketched AS
SELECT i AS id, ARRAY(SELECT v FROM (SELECT hashint8extended(j, i) AS v FROM generate_series(1, 571) AS j UNION ALL SELECT hashint8extended(j, -1 - i % (:rows / 2000)) FROM generate_series(1, 6) AS j) AS all_values ORDER BY v) AS sketch
FROM generate_series(1, :rows / 100) AS i;
ANALYZE sketched;
SET max_parallel_workers_per_gather = 0;
SELECT format('CALL measure_join(''sketches'', ''%s'', ''Hash Join'', ''SELECT count(*) FROM (SELECT a.id, b.id FROM sketched AS a, unnest(a.sketch) AS x, sketched AS b, unnest(b.sketch) AS y WHERE x = y GROUP BY a.id, b.id HAVING count(*) >= %s) AS s'')', what, least)
FROM (VALUES ('a value in common', 1), ('half of the values in common', 289)) AS w (what, least) \gexec
SELECT what, round(seconds::numeric, 2) AS "s of CPU", rows FROM measured_joins WHERE part = 'sketches' ORDER BY number;
