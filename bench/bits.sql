-- The index on strings of bits against the sequential scan: half of the codes scattered, half in clusters of 8 that have up
-- to radius - 1 bits changed. Called with -v rows=N -v bits=N -v radius=N, and with -v inserts=0 to leave out inserts.
SET client_min_messages = warning;
DROP TABLE IF EXISTS mask, image, query, answer CASCADE;

-- A code that follows from a number.
CREATE OR REPLACE FUNCTION scattered(n bigint, bits integer) RETURNS bit varying LANGUAGE sql IMMUTABLE STRICT AS
    $$ SELECT ('x' || substr(encode(sha512(int8send(n)) || sha256(int8send(n)), 'hex'), 1, (bits + 3) / 4))::bit varying $$;

-- What is changed in codes of a cluster: 0 to radius - 1 bits; and in queries, from number 4096 on: radius - 5 to radius bits.
CREATE TABLE mask AS
SELECT n, repeat('0', :bits)::bit(:bits) | coalesce(bit_or(changed), repeat('0', :bits)::bit(:bits)) AS bits
FROM generate_series(0, 5095) AS n LEFT JOIN LATERAL (
    SELECT set_bit(repeat('0', :bits)::bit(:bits), place, 1) AS changed FROM generate_series(0, :bits - 1) AS place
    ORDER BY hashint8extended(place, n) LIMIT CASE WHEN n < 4096 THEN n % :radius ELSE :radius - n % 6 END
) AS places ON true
GROUP BY n;
ANALYZE mask;

CREATE TABLE image (id integer, code bit(:bits));
INSERT INTO image
SELECT i, CASE WHEN i % 16 < 8 THEN scattered(-i / 16, :bits)::bit(:bits) # mask.bits ELSE scattered(i, :bits)::bit(:bits) END
FROM generate_series(1, :rows) AS i JOIN mask ON mask.n = hashint4(i) & 4095;
VACUUM (FREEZE, ANALYZE) image;

-- 1,000 stored codes with radius - 5 to radius bits changed, and 1,000 that are near to nothing.
CREATE TABLE query AS
SELECT query.n, kind, CASE kind WHEN 'near' THEN image.code # mask.bits ELSE scattered(-1000000000 - query.n, :bits)::bit(:bits) END AS code
FROM generate_series(0, 999) AS query (n) CROSS JOIN (VALUES ('near'), ('none near')) AS kinds (kind)
JOIN mask ON mask.n = 4096 + query.n JOIN image ON image.id = query.n::bigint * 7919 * 7919 % :rows + 1;
ALTER TABLE query ADD PRIMARY KEY (kind, n);
VACUUM ANALYZE query;

CREATE TABLE answer (way text, question text, n integer, ms double precision, processor_ms double precision, pages bigint, rows bigint);
\ir processor_seconds.sql
PREPARE range (bit) AS SELECT id FROM image WHERE hamming(code, $1) <= :radius;
PREPARE nearest_within (bit) AS SELECT id FROM image WHERE hamming(code, $1) <= :radius ORDER BY hamming(code, $1) LIMIT 1;
PREPARE nearest_1 (bit) AS SELECT id FROM image ORDER BY hamming(code, $1) LIMIT 1;
PREPARE nearest_10 (bit) AS SELECT id FROM image ORDER BY hamming(code, $1) LIMIT 10;

-- Execution times of prepared queries. Each is run once after all the others, so its pages are in shared buffers and not in the
-- processor's cache.
CREATE OR REPLACE PROCEDURE measure(way text, statement text, kind text, queries integer) LANGUAGE plpgsql AS $$
DECLARE
    asked record;
    before double precision;
    plan json;
BEGIN
    FOR pass IN 0..1 LOOP
        FOR asked IN SELECT q.n, q.code FROM query AS q WHERE q.kind = measure.kind AND q.n < queries ORDER BY q.n LOOP
            before := processor_seconds();
            EXECUTE format('EXPLAIN (ANALYZE, TIMING OFF, BUFFERS, FORMAT json) EXECUTE %s(%L)', statement, asked.code) INTO plan;
            CONTINUE WHEN pass = 0;
            INSERT INTO answer VALUES (way, statement || ', ' || kind, asked.n, (plan #>> '{0,Execution Time}')::double precision,
                (processor_seconds() - before) * 1000,
                (plan #>> '{0,Plan,Shared Hit Blocks}')::bigint + (plan #>> '{0,Plan,Shared Read Blocks}')::bigint,
                (plan #>> '{0,Plan,Actual Rows}')::numeric);
        END LOOP;
    END LOOP;
END $$;

CALL measure('scan', 'range', 'near', 5);
CALL measure('scan', 'nearest_10', 'near', 5);

-- The processor time of a statement.
CREATE OR REPLACE FUNCTION seconds(statement text) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    before double precision := processor_seconds();
BEGIN
    EXECUTE statement;
    RETURN processor_seconds() - before;
END $$;
\timing on
SELECT round(seconds('CREATE INDEX image_code ON image USING hamming (code)')::numeric, 1) AS "build, s of processor time";
\timing off
SELECT round(pg_relation_size('image_code')::numeric / :rows, 1) AS "bytes a row";
-- Plans that were made without the index are forgotten; what follows is measured with the index in any case.
SET enable_seqscan = off;
CALL measure('index', 'range', 'near', 1000);
CALL measure('index', 'range', 'none near', 1000);
CALL measure('index', 'nearest_within', 'near', 1000);
CALL measure('index', 'nearest_within', 'none near', 1000);
CALL measure('index', 'nearest_1', 'near', 1000);
-- Clusters have 8 codes, so the tenth is as far as any.
CALL measure('index', 'nearest_10', 'near', 1000);
RESET enable_seqscan;

CREATE VIEW median AS
SELECT way, question, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS ms, percentile_cont(0.95) WITHIN GROUP (ORDER BY ms) AS most, avg(processor_ms) AS processor_ms,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY pages)::integer AS pages, round(avg(rows), 1) AS rows, count(*) AS queries
FROM answer GROUP BY way, question;
SELECT m.way, m.question, round(m.ms::numeric, 3) AS "ms, median", round(m.most::numeric, 3) AS "95 %", round(m.processor_ms::numeric, 3) AS "of the processor, mean", m.pages, m.rows, m.queries,
       round((scan.ms / m.ms)::numeric) AS "times as fast as the scan"
FROM median AS m JOIN median AS scan ON scan.way = 'scan'
     AND scan.question = CASE WHEN m.question ~ '^nearest_1' THEN 'nearest_10, near' ELSE 'range, near' END
ORDER BY m.way DESC, m.question DESC;
SELECT count(*) AS "queries asked of both", count(*) FILTER (WHERE scan.rows <> found.rows) AS "with another number of rows"
FROM answer AS scan JOIN answer AS found USING (question, n) WHERE scan.way = 'scan' AND found.way = 'index';

-- How long the planner takes for a query that is not prepared.
CREATE OR REPLACE FUNCTION planning_ms(asked text) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    plan json;
    times double precision[];
BEGIN
    FOR run IN 1..300 LOOP
        EXECUTE 'EXPLAIN (SUMMARY, FORMAT json) ' || asked INTO plan;
        times := times || (plan #>> '{0,Planning Time}')::double precision;
    END LOOP;
    RETURN (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY t) FROM unnest(times) AS t);
END $$;
SELECT round(planning_ms(format('SELECT id FROM image WHERE hamming(code, %L) <= %s', code, :radius))::numeric, 3) AS "planning, ms",
       round(planning_ms('SELECT id FROM image WHERE id = 5')::numeric, 3) AS "planning of id = 5, ms"
FROM query WHERE kind = 'near' AND n = 0;

\if :inserts
CREATE OR REPLACE PROCEDURE insert_each(target regclass) LANGUAGE plpgsql AS $$
DECLARE
    row record;
BEGIN
    FOR row IN SELECT * FROM new LOOP
        EXECUTE format('INSERT INTO %s VALUES ($1, $2)', target) USING row.id, row.code;
    END LOOP;
END $$;
CREATE TABLE new AS SELECT (:rows + i)::integer AS id, scattered(:rows + i, :bits)::bit(:bits) AS code FROM generate_series(1, 50000) AS i;
CREATE TABLE plain (LIKE image);
CALL insert_each('plain');
CHECKPOINT;
-- Processor time of single rows in one transaction. Right after a checkpoint, Postgres logs whole pages.
SELECT round(((seconds('CALL insert_each(''image'')') - seconds('CALL insert_each(''plain'')')) * 20)::numeric, 1)
       AS "µs an insert takes more, after a checkpoint",
       round(((seconds('CALL insert_each(''image'')') - seconds('CALL insert_each(''plain'')')) * 20)::numeric, 1)
       AS "the next 50,000";
DELETE FROM image WHERE id > :rows;
VACUUM image;
DROP TABLE new, plain;
\endif
