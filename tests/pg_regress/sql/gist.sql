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
-- the result of a sequential scan
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
-- no index-only scan, since GiST lets VACUUM remove rows that it has found
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT si FROM document WHERE hamming(si, :q) <= 2;
SELECT count(*), bool_and(hamming(si, :q) <= 2) FROM (SELECT si FROM document WHERE hamming(si, :q) <= 2) AS x;
SELECT pg_index_column_has_property('document_si', 1, 'returnable') AS returnable;
DROP INDEX document_si;
CREATE INDEX document_near ON document USING gist (si gist_hamming_ops) WHERE hamming(si, 42) <= 20;
SET enable_seqscan = on;
EXPLAIN (COSTS OFF) SELECT count(*) FROM document WHERE hamming(si, 42) <= 20;
DROP INDEX document_near;
SET enable_seqscan = off;
-- an index that grew by inserts gives the same results
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
RESET enable_bitmapscan;
DROP TABLE document CASCADE;
DROP EXTENSION btree_gist;
-- several tenants: an index with other columns is searched where it reads less, not because it knows more conditions
CREATE EXTENSION btree_gist;
CREATE TABLE document AS
SELECT i AS id, i % 200 AS tenant_id, i / 200 % 3 AS kind, hashint8extended(i, 1) AS si FROM generate_series(1, 40000) AS i;
CREATE TABLE probe AS SELECT si, tenant_id FROM document WHERE id % 3989 = 1;
CREATE INDEX global ON document USING hamming (si);
CREATE INDEX tenant ON document (tenant_id);
CREATE INDEX tenant_si ON document USING gist (tenant_id, si gist_hamming_ops);
VACUUM ANALYZE document, probe;
RESET enable_seqscan;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
CREATE FUNCTION index_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    names text[];
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        names := names || (regexp_match(line, '(?:Bitmap Index Scan on|Index(?: Only)? Scan using) (\w+)'));
    END LOOP;
    RETURN coalesce(array_to_string(names, ', '), 'none');
END $$;
CREATE TABLE shape (n integer GENERATED ALWAYS AS IDENTITY, shape text, query text);
INSERT INTO shape (shape, query) VALUES
    ('range', 'SELECT id FROM document WHERE hamming(si, 42) <= 6'),
    ('nearest', 'SELECT id FROM document ORDER BY hamming(si, 42) LIMIT 10'),
    ('join', 'SELECT d.id FROM probe AS p JOIN document AS d ON hamming(d.si, p.si) <= 6'),
    ('range of a tenant', 'SELECT id FROM document WHERE tenant_id = 7 AND hamming(si, 42) <= 12'),
    ('nearest of a tenant', 'SELECT id FROM document WHERE tenant_id = 7 ORDER BY hamming(si, 42) LIMIT 10'),
    ('nearest of a tenant without rows', 'SELECT id FROM document WHERE tenant_id = 777 ORDER BY hamming(si, 42) LIMIT 10'),
    ('join within tenants', 'SELECT d.id FROM probe AS p JOIN document AS d ON d.tenant_id = p.tenant_id AND hamming(d.si, p.si) <= 12'),
    ('range of two tenants', 'SELECT id FROM document WHERE tenant_id IN (7, 8) AND hamming(si, 42) <= 12'),
    ('nearest of two tenants', 'SELECT id FROM document WHERE tenant_id IN (7, 8) ORDER BY hamming(si, 42) LIMIT 10'),
    ('nearest of tenants in a row', 'SELECT id FROM document WHERE tenant_id BETWEEN 7 AND 9 ORDER BY hamming(si, 42) LIMIT 10'),
    ('nearest, most rows pass', 'SELECT id FROM document WHERE kind < 2 ORDER BY hamming(si, 42) LIMIT 10');
SELECT shape, index_of(query) AS tenant_first FROM shape WHERE shape <> 'nearest of two tenants' ORDER BY n;
DROP INDEX tenant_si;
SELECT shape, index_of(query) AS without FROM shape WHERE shape NOT LIKE 'range of %' AND shape <> 'join within tenants' ORDER BY n;
CREATE INDEX si_tenant ON document USING gist (si gist_hamming_ops, tenant_id);
SELECT shape AS fingerprint_first FROM shape WHERE index_of(query) LIKE '%si_tenant%';
BEGIN;
DROP INDEX global;
SELECT radius, index_of('SELECT id FROM document WHERE tenant_id < 100 AND hamming(si, 42) <= ' || radius) = 'si_tenant' AS without_global
FROM unnest('{2,12}'::integer[]) AS radius;
ROLLBACK;
DROP INDEX si_tenant;
CREATE INDEX three ON document USING gist (tenant_id, kind, si gist_hamming_ops) INCLUDE (id);
SELECT shape, index_of(query) AS three_columns FROM shape WHERE shape <> 'nearest of two tenants' ORDER BY n;
-- without a better index, this one is used
BEGIN;
DROP INDEX global;
SELECT index_of(query) AS alone FROM shape WHERE shape = 'range';
ROLLBACK;
DROP INDEX three;
CREATE INDEX of_kind ON document USING gist (tenant_id, si gist_hamming_ops) WHERE kind = 1;
SELECT shape, index_of(replace(query, 'WHERE', 'WHERE kind = 1 AND')) AS partial
FROM shape WHERE query LIKE '%WHERE tenant_id%' OR shape = 'range' ORDER BY n;
RESET max_parallel_workers_per_gather;
RESET jit;
DROP TABLE document, probe, shape;
DROP FUNCTION by_scan, by_index, index_of;
DROP EXTENSION btree_gist;
-- only the index can make its keys
SELECT 'x'::gist_hamming_key;
