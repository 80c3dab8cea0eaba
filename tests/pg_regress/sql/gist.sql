SELECT opcname, amvalidate(oid) FROM pg_opclass WHERE opcname LIKE 'gist_hamming%' ORDER BY opcname;
-- half scattered, half clustered, with equal values and NULLs
CREATE TABLE document AS
SELECT i AS id, i % 7 AS tenant_id,
       CASE WHEN i % 50 = 0 THEN NULL WHEN i % 2 = 0 THEN hashint8extended(i, 1)
            ELSE hashint8extended(i / 100, 2) # (1::bigint << (i % 60)) END AS si
FROM generate_series(1, 20000) AS i;
CREATE INDEX document_si ON document USING gist (si gist_hamming_ops);
VACUUM ANALYZE document;
-- the fingerprint of row 101, which has neighbours
SELECT si AS q FROM document WHERE id = 101 \gset
-- what a sequential scan says
CREATE FUNCTION by_scan(query bigint, radius integer) RETURNS SETOF integer LANGUAGE sql
    SET enable_indexscan = off SET enable_bitmapscan = off SET enable_indexonlyscan = off
    AS 'SELECT id FROM document WHERE hamming(si, query) <= radius';
CREATE FUNCTION by_index(query bigint, radius integer) RETURNS SETOF integer LANGUAGE sql
    SET enable_seqscan = off AS 'SELECT id FROM document WHERE hamming(si, query) <= radius';
SELECT radius, (SELECT count(*) FROM by_index(:q, radius)) AS rows,
       (SELECT count(*) FROM (SELECT by_index(:q, radius) EXCEPT SELECT by_scan(:q, radius)) AS x) AS too_many,
       (SELECT count(*) FROM (SELECT by_scan(:q, radius) EXCEPT SELECT by_index(:q, radius)) AS x) AS missing
FROM unnest('{-1,0,1,2,3,6,12,24,32,63,64,65}'::integer[]) AS radius;
SET enable_seqscan = off;
-- nearest, NULLs last
EXPLAIN (COSTS OFF) SELECT si FROM document ORDER BY hamming(si, :q) LIMIT 5;
SELECT hamming(si, :q) FROM document ORDER BY hamming(si, :q) LIMIT 5;
SELECT array_agg(d) = (SELECT array_agg(d ORDER BY d) FROM (SELECT hamming(si, :q) AS d FROM document OFFSET 0) AS x) AS same_order
FROM (SELECT hamming(si, :q) AS d FROM document ORDER BY hamming(si, :q)) AS x;
SELECT count(*) FROM (SELECT si FROM document ORDER BY hamming(si, :q) OFFSET 19600) AS x WHERE si IS NULL;
-- equality and IS NULL
EXPLAIN (COSTS OFF) SELECT id FROM document WHERE si = :q;
SELECT id FROM document WHERE si = :q;
SELECT count(*) FROM document WHERE si IS NULL;
-- index-only
EXPLAIN (COSTS OFF) SELECT si FROM document WHERE hamming(si, :q) <= 2;
SELECT count(*), bool_and(hamming(si, :q) <= 2) FROM (SELECT si FROM document WHERE hamming(si, :q) <= 2) AS x;
DROP INDEX document_si;
-- an index grown by inserts answers the same
CREATE INDEX document_si ON document USING gist (si gist_hamming_ops) WITH (buffering = off);
INSERT INTO document SELECT id + 20000, tenant_id, si # 1 FROM document WHERE id % 3 = 0;
DELETE FROM document WHERE id % 5 = 0;
VACUUM document;
SELECT radius, (SELECT count(*) FROM by_index(:q, radius)) = (SELECT count(*) FROM by_scan(:q, radius)) AS same
FROM unnest('{0,3,6,30}'::integer[]) AS radius;
DROP INDEX document_si;
-- beside other columns
CREATE EXTENSION btree_gist;
CREATE INDEX document_tenant ON document USING gist (tenant_id, si gist_hamming_ops) INCLUDE (id);
VACUUM ANALYZE document;
EXPLAIN (COSTS OFF) SELECT id FROM document WHERE tenant_id = 3 AND hamming(si, :q) <= 3;
SELECT count(*) FROM document WHERE tenant_id = 3 AND hamming(si, :q) <= 3;
EXPLAIN (COSTS OFF) SELECT id FROM document WHERE tenant_id = 3 ORDER BY si <~> :q LIMIT 3;
DROP TABLE document CASCADE;
DROP EXTENSION btree_gist;
-- a table that refuses near-duplicates
CREATE TABLE unique_document (
    id integer PRIMARY KEY,
    si bigint,
    EXCLUDE USING gist (hamming_ball(si, 3) WITH ~)
);
INSERT INTO unique_document VALUES (1, 0), (2, -1), (3, NULL), (4, NULL);
INSERT INTO unique_document VALUES (5, 7);
INSERT INTO unique_document VALUES (5, 15);
INSERT INTO unique_document VALUES (6, 0) ON CONFLICT DO NOTHING;
UPDATE unique_document SET si = 1 WHERE id = 5;
SELECT id, si FROM unique_document ORDER BY id;
DROP TABLE unique_document;
-- keys are made by the index alone
SELECT 'x'::gist_hamming_key;
