-- The access method hamming against the exact alternatives: half of the fingerprints scattered, half in clusters of
-- 50. Called with -v rows=N; with -v peers=0 only the index itself is measured.
\if :{?peers} \else \set peers 1 \endif
SET client_min_messages = warning;
DROP TABLE IF EXISTS fingerprint, query, answer, result CASCADE;
CREATE TABLE fingerprint (id integer, si bigint);
\timing on
INSERT INTO fingerprint
SELECT i AS id, CASE WHEN i % 2 = 0 THEN hashint8extended(i, 1)
       ELSE hashint8extended(i / 100, 2) # (1::bigint << (i % 61)) # (1::bigint << (i / 7 % 61)) END AS si
FROM generate_series(1, :rows) AS i;
\timing off
VACUUM (FREEZE, ANALYZE) fingerprint;

-- What one run of a query takes: execution time and processor time in ms, pages, rows.
\ir processor_seconds.sql
CREATE OR REPLACE FUNCTION run_once(query text, OUT ms double precision, OUT processor_ms double precision, OUT pages bigint, OUT rows bigint) LANGUAGE plpgsql AS $$
DECLARE
    before double precision := processor_seconds();
    result json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, BUFFERS, FORMAT json) ' || query INTO result;
    ms := (result #>> '{0,Execution Time}')::double precision;
    pages := (result #>> '{0,Plan,Shared Hit Blocks}')::bigint + (result #>> '{0,Plan,Shared Read Blocks}')::bigint;
    rows := (result #>> '{0,Plan,Actual Rows}')::numeric;
    processor_ms := (processor_seconds() - before) * 1000;
END $$;

-- 1,000 queries that are the center of a cluster, and 1,000 that are near to nothing.
CREATE TABLE query AS
SELECT n, n % 2 = 0 AS near, CASE WHEN n % 2 = 0 THEN hashint8extended(n * 37 % (:rows / 100), 2) ELSE hashint8extended(n, 99) END AS si
FROM generate_series(1, 2000) AS n;
CREATE TABLE answer (kind text, question text, n integer, ms double precision, processor_ms double precision, pages bigint, rows bigint);

-- Each query is run once after all the others, since one that is repeated finds its pages in the processor's cache. The
-- pass before, which is not counted, brings them into shared buffers. "again" are those that are repeated at once.
CREATE OR REPLACE FUNCTION measure(kind text, radii integer[], queries integer, template text, nearest boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    asked record;
    spent record;
BEGIN
    FOR asked IN SELECT 'r=' || radius || CASE WHEN near THEN ', rows near' ELSE ', none near' END AS question, n,
                        replace(replace(template, '$si', format('(%s)', si)), '$r', radius::text) AS statement, radius, pass
                 FROM query, unnest(radii) AS radius, generate_series(0, 1) AS pass WHERE n <= queries
                 UNION ALL
                 SELECT CASE WHEN near THEN 'nearest 10, rows near' ELSE 'nearest 10, none near' END, n,
                        format('SELECT id FROM fingerprint ORDER BY hamming(si, %s) LIMIT 10', si), NULL, pass
                 FROM query, generate_series(0, 1) AS pass WHERE nearest AND n <= queries
                 ORDER BY 4, pass, n
    LOOP
        spent := run_once(asked.statement);
        CONTINUE WHEN asked.pass = 0;
        INSERT INTO answer VALUES (kind, asked.question, asked.n, spent.ms, spent.processor_ms, spent.pages, spent.rows);
        IF queries >= 1000 AND asked.radius = 6 THEN
            spent := run_once(asked.statement);
            INSERT INTO answer VALUES (kind, asked.question || ', again', asked.n, spent.ms, spent.processor_ms, spent.pages, spent.rows);
        END IF;
    END LOOP;
END $$;

\set range 'SELECT id FROM fingerprint WHERE hamming(si, $si) <= $r'
SELECT FROM measure('scan', '{6}', 2, :'range', true);

\timing on
CREATE INDEX fingerprint_hamming ON fingerprint USING hamming (si);
\timing off
SELECT round(pg_relation_size('fingerprint_hamming')::numeric / :rows, 1) AS "hamming, bytes a row";
SET enable_seqscan = off;
SELECT FROM measure('hamming', '{0,3,6,10,12}', 2000, :'range', true);
-- Radii at which doc2 is searched for candidates that a recheck verifies.
SELECT FROM measure('hamming', '{16,20}', 1000, :'range', false);
\if :peers
-- Every pair within 3 bits.
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT count(*) FROM fingerprint AS a JOIN fingerprint AS b ON hamming(a.si, b.si) <= 3 AND a.id < b.id;
\timing on
SELECT count(*) AS "pairs within 3 bits" FROM fingerprint AS a JOIN fingerprint AS b ON hamming(a.si, b.si) <= 3 AND a.id < b.id;
\timing off
-- What an insert costs, into this table and into a table without an index.
CREATE TABLE new AS SELECT (:rows + i)::integer AS id, hashint8extended(i, 9) AS si FROM generate_series(1, 200000) AS i;
CREATE TABLE plain AS SELECT * FROM fingerprint;
CREATE FUNCTION seconds(statement text) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    start timestamptz := clock_timestamp();
BEGIN
    EXECUTE statement;
    RETURN extract(epoch FROM clock_timestamp() - start);
END $$;
CHECKPOINT;
SELECT round(((seconds('INSERT INTO fingerprint SELECT * FROM new') - seconds('INSERT INTO plain SELECT * FROM new')) * 5)::numeric, 1)
       AS "µs an insert takes more: 200,000 after building",
       round(((seconds('INSERT INTO fingerprint SELECT * FROM new') - seconds('INSERT INTO plain SELECT * FROM new')) * 5)::numeric, 1)
       AS "the next 200,000";
\timing on
DELETE FROM fingerprint WHERE id > :rows;
VACUUM fingerprint;
\timing off
DROP TABLE new, plain;
\endif
DROP INDEX fingerprint_hamming;

\if :peers
-- An index that was grown from nothing, row by row in random order.
CREATE TABLE grown (LIKE fingerprint);
CREATE INDEX ON grown USING hamming (si);
\timing on
INSERT INTO grown SELECT * FROM fingerprint ORDER BY hashint4(id);
\timing off
VACUUM ANALYZE grown;
SELECT round(pg_relation_size('grown_si_idx')::numeric / :rows, 1) AS "grown, bytes a row";
ALTER TABLE fingerprint RENAME TO kept;
ALTER TABLE grown RENAME TO fingerprint;
SELECT FROM measure('hamming, grown', '{0,3,6,10,12}', 2000, :'range', true);
-- The longest single insert.
CREATE FUNCTION longest_insert_ms(target regclass, inserts integer) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    start timestamptz;
    longest interval := '0';
BEGIN
    FOR i IN 1..inserts LOOP
        start := clock_timestamp();
        EXECUTE format('INSERT INTO %s VALUES ($1, hashint8extended($1, 77))', target) USING i;
        longest := greatest(longest, clock_timestamp() - start);
    END LOOP;
    RETURN round((extract(epoch FROM longest) * 1000)::numeric, 2);
END $$;
CREATE TABLE plain (LIKE fingerprint);
SELECT longest_insert_ms('plain', 100000) AS "longest of 100,000 inserts without an index, ms", longest_insert_ms('fingerprint', 100000) AS "with";
DROP TABLE plain;
DROP TABLE fingerprint;
ALTER TABLE kept RENAME TO fingerprint;

-- Skewed: a tenth of the rows share one value; bits that are set with 80 %.
CREATE TABLE skewed AS SELECT id, CASE WHEN id % 10 = 0 THEN 4242 ELSE si END AS si FROM fingerprint;
CREATE INDEX ON skewed USING hamming (si);
VACUUM ANALYZE skewed;
CREATE TABLE biased AS SELECT id, (hashint8extended(id, 1) | hashint8extended(id, 2)) | (hashint8extended(id, 3) & hashint8extended(id, 4) & hashint8extended(id, 5)) AS si FROM fingerprint;
CREATE INDEX ON biased USING hamming (si);
VACUUM ANALYZE biased;
SELECT avg(bit_count(si::bit(64))) / 64 AS "share of bits that are set" FROM biased WHERE id <= 10000;
ALTER TABLE fingerprint RENAME TO kept;
ALTER TABLE skewed RENAME TO fingerprint;
SELECT FROM measure('hamming, a tenth equal', '{3,6,10,12}', 1000, :'range', true);
ALTER TABLE fingerprint RENAME TO skewed;
ALTER TABLE biased RENAME TO fingerprint;
UPDATE query SET si = (hashint8extended(n, 11) | hashint8extended(n, 12)) | (hashint8extended(n, 13) & hashint8extended(n, 14) & hashint8extended(n, 15)) WHERE NOT near;
UPDATE query SET si = (SELECT si FROM fingerprint WHERE id = n * 37) # 1 WHERE near;
SELECT FROM measure('hamming, bits 80/20', '{3,6,10,12}', 1000, :'range', true);
DROP TABLE fingerprint, skewed;
ALTER TABLE kept RENAME TO fingerprint;
UPDATE query SET si = CASE WHEN near THEN hashint8extended(n * 37 % (:rows / 100), 2) ELSE hashint8extended(n, 99) END;

\timing on
CREATE INDEX fingerprint_gist ON fingerprint USING gist (si gist_hamming_ops);
\timing off
SELECT round(pg_relation_size('fingerprint_gist')::numeric / :rows, 1) AS "GiST, bytes a row";
SELECT FROM measure('GiST', '{3,6,10,12}', 8, :'range', true);
DROP INDEX fingerprint_gist;

-- By hand: a B-tree for each band of 16 bits, probed for the values that are near, all of it index-only.
CREATE OR REPLACE FUNCTION band(si bigint, n integer) RETURNS smallint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT (((si >> (48 - 16 * n)) & 65535) - 32768)::smallint $$;
\timing on
SELECT format('CREATE INDEX fingerprint_band_%s ON fingerprint (band(si, %s), si) INCLUDE (id)', n, n) FROM generate_series(0, 3) AS n
\gexec
\timing off
SELECT round((sum(pg_relation_size('fingerprint_band_' || n)) / :rows)::numeric, 1) AS "four B-trees, bytes a row" FROM generate_series(0, 3) AS n;
VACUUM ANALYZE fingerprint;
CREATE OR REPLACE FUNCTION strings_within(share integer) RETURNS SETOF integer LANGUAGE sql IMMUTABLE AS $$
    SELECT v FROM generate_series(0, 65535) AS v WHERE bit_count(v::bit(16)) <= share $$;
CREATE OR REPLACE FUNCTION by_hand(q bigint, radius integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(format('SELECT id FROM fingerprint WHERE band(si, %s) = ANY (%L::smallint[]) AND bit_count((si # %s)::bit(64)) <= %s',
        n, (SELECT array_agg(((band(q, n)::integer + 32768) # v) - 32768) FROM strings_within(radius / 4 - (n > radius % 4)::integer) AS v), q, radius), ' UNION ')
    FROM generate_series(0, 3) AS n WHERE radius / 4 - (n > radius % 4)::integer >= 0 $$;
SELECT count(m.ms) AS "queries by four B-trees, to warm up" FROM query, unnest('{3,6,10,12}'::integer[]) AS radius, run_once(by_hand(si, radius)) AS m WHERE n <= 40;
INSERT INTO answer SELECT 'four B-trees', 'r=' || radius || CASE WHEN near THEN ', rows near' ELSE ', none near' END, n, m.* FROM query, unnest('{3,6,10,12}'::integer[]) AS radius, run_once(by_hand(si, radius)) AS m WHERE n <= 40;
DROP INDEX fingerprint_band_0, fingerprint_band_1, fingerprint_band_2, fingerprint_band_3;
\endif

CREATE VIEW median AS
SELECT kind, question, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS ms, avg(processor_ms) AS processor_ms, percentile_cont(0.5) WITHIN GROUP (ORDER BY pages)::integer AS pages,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY rows)::integer AS rows, count(*) AS queries
FROM answer GROUP BY kind, question;
SELECT m.kind, question, round(m.ms::numeric, 3) AS "ms, median", round(m.processor_ms::numeric, 3) AS "of the processor, mean", m.pages, m.rows, m.queries,
       round((scan.ms / m.ms)::numeric, 1) AS "times faster than the scan"
FROM median AS m, LATERAL (SELECT ms FROM median AS s WHERE s.kind = 'scan' AND (s.question = m.question OR s.question = 'r=6, none near' AND m.question LIKE 'r=%')) AS scan
ORDER BY kind, length(question) > 5, length(question), question;
