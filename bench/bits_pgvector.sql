-- pgvector's HNSW with its default settings on the codes that bits.sql has made: the nearest code of each query.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS vector;
DROP TABLE IF EXISTS exact;
SET enable_seqscan = off;
CREATE TABLE exact AS
SELECT n, query.code, (SELECT hamming(image.code, query.code) FROM image ORDER BY hamming(image.code, query.code) LIMIT 1) AS distance
FROM query WHERE kind = 'near';
DROP INDEX image_code;
\timing on
CREATE INDEX image_hnsw ON image USING hnsw (code bit_hamming_ops);
\timing off
SELECT round(pg_relation_size('image_hnsw') / count(*)::numeric, 1) AS "HNSW, bytes a row" FROM image;

CREATE OR REPLACE FUNCTION share_right() RETURNS numeric LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT avg((exact.distance = found.distance)::integer)
            FROM exact, LATERAL (SELECT hamming(image.code, exact.code) AS distance FROM image ORDER BY image.code <~> exact.code LIMIT 1) AS found);
END $$;
PREPARE hnsw (bit) AS SELECT id FROM image ORDER BY code <~> $1 LIMIT 1;
CALL measure('HNSW, ef_search 40', 'hnsw', 'near', 1000);
SELECT round(100 * share_right()) AS "ef_search 40: % right";
SET hnsw.ef_search = 400;
CALL measure('HNSW, ef_search 400', 'hnsw', 'near', 1000);
SELECT round(100 * share_right()) AS "ef_search 400: % right";
SELECT way, round(ms::numeric, 3) AS "ms, median", pages FROM median WHERE way LIKE 'HNSW%' ORDER BY way DESC;
DROP INDEX image_hnsw;
