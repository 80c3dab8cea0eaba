-- Index-only scans: codes of one word and whole codes come from the index, without a look at the table.
SET jit = off;
-- VACUUM of a temporary table need not wait for other sessions
CREATE TEMP TABLE document AS
SELECT i AS id, i % 3 AS tenant_id, CASE WHEN i % 50 = 0 THEN NULL WHEN i % 2 = 0 THEN hashint8extended(i, 1)
    ELSE hashint8extended(i / 100, 2) # (1::bigint << (i % 60)) END AS si
FROM generate_series(1, 4000) AS i;
ALTER TABLE document ADD b1 bit(1), ADD b40 bit(40), ADD b64 bit(64), ADD b65 bit(65), ADD b300 bit(300), ADD v40 varbit(40);
UPDATE document SET b1 = si::bit(1), b40 = si::bit(40), b64 = si::bit(64), b65 = si::bit(64)::bit(65), b300 = si::bit(300), v40 = si::bit(40);
CREATE INDEX by_si ON document USING hamming (si);
VACUUM ANALYZE document;
SELECT si AS q FROM document WHERE id = 101 \gset
CREATE FUNCTION plan(query text, option text DEFAULT 'COSTS OFF') RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('EXPLAIN (%s) %s', option, query);
END $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT si FROM document WHERE hamming(si, :q) <= 6;
EXPLAIN (COSTS OFF) SELECT count(*) FROM document WHERE hamming(si, :q) <= 6;
EXPLAIN (COSTS OFF) SELECT si FROM document ORDER BY hamming(si, :q) LIMIT 3;
EXPLAIN (COSTS OFF) SELECT hamming(si, :q), hamming(si, 0) FROM document WHERE hamming(si, 3) < 40 ORDER BY 1, 2;
SELECT line FROM plan('SELECT EXISTS (SELECT FROM document WHERE hamming(si, 42) <= 3)') AS line WHERE line ~ 'Scan';
EXPLAIN (COSTS OFF) SELECT count(*) FROM document WHERE si IS NULL;
-- not if another column is needed, or the row itself
EXPLAIN (COSTS OFF) SELECT id FROM document WHERE hamming(si, :q) <= 6;
EXPLAIN (COSTS OFF) SELECT si FROM document WHERE hamming(si, :q) <= 6 AND tenant_id = 1;
EXPLAIN (COSTS OFF) SELECT ctid FROM document WHERE hamming(si, :q) <= 6;
-- first without reading the table, and then with reading it
SELECT line FROM plan('SELECT si FROM document WHERE hamming(si, 42) <= 64', 'ANALYZE, COSTS OFF') AS line WHERE line ~ 'Heap Fetches';
DELETE FROM document WHERE id % 4 = 0;
UPDATE document SET si = si # 1 WHERE id % 4 = 1;
SELECT line ~ 'Heap Fetches: [1-9]' AS reads_table FROM plan('SELECT si FROM document WHERE hamming(si, 42) <= 64', 'ANALYZE, COSTS OFF') AS line WHERE line ~ 'Heap Fetches';
-- the same results, whether all blocks of the table are all-visible or not
CREATE TEMP TABLE question AS SELECT format(query, condition) AS query, condition FROM
    unnest(ARRAY['SELECT array_agg(%%1$s ORDER BY %%1$s)::text FROM document WHERE %s', 'SELECT count(*)::text FROM document WHERE %s',
        'SELECT array_agg(d)::text FROM (SELECT hamming(%%1$s, $1) AS d FROM document WHERE %s ORDER BY hamming(%%1$s, $1)) AS x',
        'SELECT array_agg(%%1$s ORDER BY %%1$s)::text FROM (SELECT %%1$s FROM document WHERE %s ORDER BY hamming(%%1$s, $1)) AS x']) AS query,
    unnest(ARRAY['hamming(%1$s, $1) <= 0', 'hamming(%1$s, $1) <= 6', 'hamming(%1$s, $1) < 33', '%1$s = $1', '%1$s IS NULL', '%1$s IS NOT NULL',
        'hamming(%1$s, $1) <= 20 AND hamming(%1$s, $2) <= 30', 'hamming(%1$s, $1) <= (SELECT NULL::integer)', 'hamming(%1$s, $1) <= 64']) AS condition;
CREATE FUNCTION answers(code text, index text, OUT compared bigint, OUT by_index_only bigint, OUT differing bigint) LANGUAGE plpgsql AS $$
DECLARE
    asked text;
    type text := (SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'document'::regclass AND attname = code);
    answer text;
    scanned text;
BEGIN
    compared := 0; by_index_only := 0; differing := 0;
    FOR asked IN SELECT replace(replace(format(query, code), '$1', format('%L::bigint::%s', q.one, type)), '$2', format('%L::bigint::%s', q.other, type))
        FROM question, (SELECT d.si AS one, d.si # 5 AS other FROM document AS d WHERE d.id IN (101, 2002)) AS q LOOP
        PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_indexonlyscan', 'on', true);
        by_index_only := by_index_only + (SELECT bool_or(line ~ ('Index Only Scan using ' || index)) FROM plan(asked) AS line)::integer;
        EXECUTE asked INTO answer;
        PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexonlyscan', 'off', true), set_config('enable_indexscan', 'off', true);
        EXECUTE asked INTO scanned;
        PERFORM set_config('enable_indexscan', 'on', true);
        differing := differing + (answer IS DISTINCT FROM scanned)::integer;
        compared := compared + 1;
    END LOOP;
END $$;
SELECT * FROM answers('si', 'by_si');
VACUUM document;
SELECT * FROM answers('si', 'by_si');
-- with little memory, ordered rows are found in pieces
SET work_mem = '64kB';
SELECT * FROM answers('si', 'by_si');
RESET work_mem;
-- with further columns, which cannot be returned
DROP INDEX by_si;
CREATE INDEX by_tenant ON document USING hamming (si, tenant_id);
SELECT * FROM answers('si', 'by_tenant');
EXPLAIN (COSTS OFF) SELECT tenant_id FROM document WHERE hamming(si, :q) <= 6;
EXPLAIN (COSTS OFF) SELECT count(*) FROM document WHERE hamming(si, :q) <= 6 AND tenant_id = 1;
EXPLAIN (COSTS OFF) SELECT si FROM document WHERE tenant_id = 1 ORDER BY hamming(si, :q) LIMIT 3;
DROP INDEX by_tenant;
-- partial indexes
CREATE INDEX by_part ON document USING hamming (si) WHERE tenant_id = 1;
SELECT count(*) = (SELECT count(*) FROM (SELECT * FROM document OFFSET 0) AS d WHERE tenant_id = 1 AND hamming(si, :q) <= 30) AS same
FROM document WHERE tenant_id = 1 AND hamming(si, :q) <= 30;
EXPLAIN (COSTS OFF) SELECT si FROM document WHERE tenant_id = 1 AND hamming(si, :q) <= 30;
-- the predicate alone is a condition, too
EXPLAIN (COSTS OFF) SELECT count(*) FROM document WHERE tenant_id = 1;
SELECT count(*) = (SELECT count(*) FROM (SELECT * FROM document OFFSET 0) AS d WHERE tenant_id = 1) AS same FROM document WHERE tenant_id = 1;
DROP INDEX by_part;
CREATE INDEX by_part ON document USING hamming (b65) WHERE tenant_id = 1;
EXPLAIN (COSTS OFF) SELECT count(*) FROM document WHERE tenant_id = 1;
DROP INDEX by_part;
-- strings of bits
CREATE INDEX by_b1 ON document USING hamming (b1);
CREATE INDEX by_b40 ON document USING hamming (b40);
CREATE INDEX by_b64 ON document USING hamming (b64, tenant_id);
CREATE INDEX by_b65 ON document USING hamming (b65);
CREATE INDEX by_words ON document USING hamming (b65) WITH (trees = words);
CREATE INDEX by_b300 ON document USING hamming (b300, tenant_id) WITH (trees = whole);
CREATE INDEX by_v40 ON document USING hamming (v40);
ANALYZE document;
SELECT code, a.* FROM unnest('{b1,b40,b64,b65,b300}'::text[]) AS code, answers(code, 'by_' || code) AS a;
DELETE FROM document WHERE id % 5 = 0;
SELECT code, a.* FROM unnest('{b1,b40,b64,b65,b300}'::text[]) AS code, answers(code, 'by_' || code) AS a;
SET work_mem = '64kB';
SELECT code, a.* FROM unnest('{b65,b300}'::text[]) AS code, answers(code, 'by_' || code) AS a;
RESET work_mem;
SELECT index, column_number, pg_index_column_has_property(index::regclass, column_number, 'returnable') AS returnable
FROM unnest('{by_b1,by_b40,by_b64,by_b64,by_b65,by_words,by_b300,by_v40}'::text[], '{1,1,1,2,1,1,1,1}'::integer[]) AS c (index, column_number);
-- a code of another length is the same error as without an index, unless no row has a code
EXPLAIN (COSTS OFF) SELECT b40 FROM document ORDER BY hamming(b40, B'101') LIMIT 1;
SELECT b40 FROM document ORDER BY hamming(b40, B'101') LIMIT 1;
SELECT b40 FROM document WHERE hamming(b40, B'101') <= 3;
SELECT b40 FROM document WHERE b40 = B'101';
EXPLAIN (COSTS OFF) SELECT b300 FROM document ORDER BY hamming(b300, B'101') LIMIT 1;
SELECT b300 FROM document ORDER BY hamming(b300, B'101') LIMIT 1;
-- a partitioned index has no pages, and those of its partitions return codes
CREATE TEMP TABLE parted (id integer, b300 bit(300)) PARTITION BY HASH (id);
CREATE TEMP TABLE part PARTITION OF parted FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE INDEX by_parts ON parted USING hamming (b300);
INSERT INTO parted SELECT id, b300 FROM document;
VACUUM ANALYZE part;
SELECT index, pg_index_column_has_property(index::regclass, 1, 'returnable') AS returnable FROM unnest('{by_parts,part_b300_idx}'::text[]) AS index;
SELECT count(*) FROM parted;
SELECT line FROM plan('SELECT b300 FROM parted ORDER BY hamming(b300, 5::bit(300)) LIMIT 1') AS line WHERE line ~ 'Scan';
SELECT count(*) FROM parted AS a JOIN parted AS b ON hamming(a.b300, b.b300) <= 1;
UPDATE document SET b40 = NULL;
SELECT count(*) FROM (SELECT b40 FROM document ORDER BY hamming(b40, B'101')) AS x;
-- an expression is not returned, and a domain is
CREATE INDEX by_expression ON document USING hamming ((si # 1));
EXPLAIN (COSTS OFF) SELECT si # 1 FROM document WHERE hamming(si # 1, 3) <= 2;
CREATE DOMAIN print AS bigint CHECK (value <> 0);
CREATE TEMP TABLE named (si print);
INSERT INTO named VALUES (1), (3), (NULL);
CREATE INDEX by_print ON named USING hamming (si);
EXPLAIN (COSTS OFF) SELECT si FROM named ORDER BY hamming(si, 2);
SELECT si FROM named ORDER BY hamming(si, 2);
-- an update that keeps the code
UPDATE document SET id = -id WHERE id % 7 = 0;
CREATE INDEX by_si ON document USING hamming (si);
SELECT * FROM answers('si', 'by_si');
DROP TABLE document, question, named, parted;
DROP DOMAIN print;
DROP FUNCTION plan(text, text), answers(text, text);
