SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'hamming_ops';
-- half scattered, half clustered, with equal values and NULLs
CREATE TABLE document AS
SELECT i AS id, i % 7 AS tenant_id, 'text ' || i AS body,
       CASE WHEN i % 50 = 0 THEN NULL WHEN i % 2 = 0 THEN hashint8extended(i, 1)
            ELSE hashint8extended(i / 100, 2) # (1::bigint << (i % 60)) END AS si
FROM generate_series(1, 20000) AS i;
CREATE INDEX ON document USING hamming (si);
CREATE TABLE probe AS SELECT id, si FROM document WHERE id % 1000 = 101;
VACUUM ANALYZE document, probe;
SELECT si AS q FROM document WHERE id = 101 \gset
SELECT si AS other FROM document WHERE id = 103 \gset
-- what a sequential scan says
CREATE FUNCTION by_scan(query bigint, radius integer) RETURNS SETOF integer LANGUAGE sql
    SET enable_indexscan = off SET enable_bitmapscan = off AS 'SELECT id FROM document WHERE hamming(si, query) <= radius';
CREATE FUNCTION by_index(query bigint, radius integer) RETURNS SETOF integer LANGUAGE sql
    SET enable_seqscan = off SET enable_bitmapscan = off AS 'SELECT id FROM document WHERE hamming(si, query) <= radius';
CREATE FUNCTION by_bitmap(query bigint, radius integer) RETURNS SETOF integer LANGUAGE sql
    SET enable_seqscan = off SET enable_indexscan = off AS 'SELECT id FROM document WHERE hamming(si, query) <= radius';
SELECT radius, (SELECT count(*) FROM by_index(:q, radius)) AS rows,
       (SELECT count(*) FROM (SELECT by_index(:q, radius) EXCEPT SELECT by_scan(:q, radius)) AS x) AS too_many,
       (SELECT count(*) FROM (SELECT by_scan(:q, radius) EXCEPT SELECT by_index(:q, radius)) AS x) AS missing,
       (SELECT count(*) FROM by_bitmap(:q, radius)) = (SELECT count(*) FROM by_scan(:q, radius)) AS same_by_bitmap
FROM unnest('{-1,0,1,2,3,6,12,24,32,63,64,65}'::integer[]) AS radius;
SET enable_seqscan = off;
SET enable_sort = off;
SET enable_bitmapscan = off;
-- nearest, NULLs last
EXPLAIN (COSTS OFF) SELECT si FROM document ORDER BY hamming(si, :q) LIMIT 5;
SELECT hamming(si, :q) FROM document ORDER BY hamming(si, :q) LIMIT 5;
SELECT array_agg(d) = (SELECT array_agg(d ORDER BY d) FROM (SELECT hamming(si, :q) AS d FROM document OFFSET 0) AS x) AS same_order
FROM (SELECT hamming(si, :q) AS d FROM document ORDER BY hamming(si, :q)) AS x;
SELECT count(*) FROM (SELECT si FROM document ORDER BY hamming(si, :q) OFFSET 19600) AS x WHERE si IS NULL;
SET work_mem = '64kB';
SELECT array_agg(d) = (SELECT array_agg(d ORDER BY d) FROM (SELECT hamming(si, :q) AS d FROM document OFFSET 0) AS x) AS same_with_little_memory
FROM (SELECT hamming(si, :q) AS d FROM document ORDER BY hamming(si, :q)) AS x;
RESET work_mem;
-- nearest within a radius, also of something else
EXPLAIN (COSTS OFF) SELECT id FROM document WHERE hamming(si, :q) <= 12 ORDER BY hamming(si, :q) LIMIT 5;
SELECT hamming(si, :q) FROM document WHERE hamming(si, :q) <= 4 ORDER BY hamming(si, :q) LIMIT 5;
EXPLAIN (COSTS OFF) SELECT id FROM document WHERE hamming(si, :q) <= 3 ORDER BY hamming(si, :other);
SELECT array_agg(hamming(si, :other)), count(*) = (SELECT count(*) FROM by_scan(:q, 3)) AS all_of_them
FROM (SELECT si FROM document WHERE hamming(si, :q) <= 3 ORDER BY hamming(si, :other) LIMIT 100) AS x;
SELECT count(*) FROM document WHERE hamming(si, :q) <= 4 AND hamming(si, :other) <= 1;
SELECT count(*) FROM (SELECT FROM document WHERE hamming(si, :q) <= 2 AND si IS NULL ORDER BY hamming(si, :q)) AS x;
-- by two distances at once, and by a distance from NULL
EXPLAIN (COSTS OFF) SELECT id FROM document ORDER BY hamming(si, :q), hamming(si, :other) LIMIT 3;
SELECT array_agg(d) = (SELECT array_agg(d ORDER BY d) FROM (SELECT ROW(hamming(si, :q), hamming(si, :other)) AS d FROM document OFFSET 0) AS x) AS same_order
FROM (SELECT ROW(hamming(si, :q), hamming(si, :other)) AS d FROM document ORDER BY hamming(si, :q), hamming(si, :other)) AS x;
SELECT count(*) FROM (SELECT FROM document ORDER BY hamming(si, (SELECT NULL::bigint))) AS x;
-- equality, NULL, and everything
EXPLAIN (COSTS OFF) SELECT id FROM document WHERE si = :q;
SELECT id FROM document WHERE si = :q;
EXPLAIN (COSTS OFF) SELECT count(*) FROM document WHERE si IS NULL;
SELECT count(*) FROM document WHERE si IS NULL;
SELECT count(*) FROM document WHERE si IS NOT NULL;
SELECT count(*) FROM document WHERE si = NULL::bigint OR hamming(si, 1) <= (SELECT NULL::integer);
-- every shape of query goes by the index
CREATE FUNCTION plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    plan text := '';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        plan := plan || line || E'\n';
    END LOOP;
    RETURN plan;
END $$;
CREATE VIEW near AS SELECT id, hamming(si, 42) AS hd FROM document;
CREATE TABLE parted (id integer, si bigint) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10000);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (10000) TO (30000);
INSERT INTO parted SELECT id, si FROM document;
CREATE INDEX ON parted USING hamming (si);
ANALYZE parted;
PREPARE generic (bigint, integer) AS SELECT id FROM document WHERE hamming(si, $1) <= $2;
PREPARE generic_nearest (bigint) AS SELECT id FROM document ORDER BY hamming(si, $1) LIMIT 3;
SET plan_cache_mode = force_generic_plan;
SET enable_hashjoin = off;
SET simhash_pg.enable_near_join = off;
SET enable_mergejoin = off;
SET jit = off;
SELECT query AS not_by_the_index, plan(query)
FROM unnest(ARRAY[
    'SELECT id FROM document WHERE hamming(si, 42) <= 6',
    'SELECT id FROM document WHERE 6 >= hamming(42, si)',
    'SELECT id FROM document WHERE hamming(si, 42) = 6',
    'SELECT id FROM document WHERE hamming(si, 42) < 1',
    'SELECT id FROM document WHERE hamming(si, 42) BETWEEN 2 AND 6::bigint',
    'SELECT id FROM document WHERE si <~> 42 <= 6::smallint',
    'SELECT id FROM document WHERE hamming_within(42, si, 6)',
    'SELECT id FROM document WHERE hamming(si, (SELECT si FROM probe WHERE id = 101)) <= 6',
    'SELECT id FROM document WHERE hamming(si, 42) <= 12 ORDER BY hamming(si, 42) LIMIT 10',
    'SELECT id, hamming(si, 42) AS d FROM document ORDER BY d LIMIT 10',
    'EXECUTE generic(42, 6)',
    'EXECUTE generic_nearest(42)',
    'SELECT id FROM near WHERE hd <= 6',
    'SELECT d.id FROM probe AS p JOIN document AS d ON hamming(p.si, d.si) <= 3',
    'SELECT d.id FROM probe AS p LEFT JOIN document AS d ON hamming(d.si, p.si) <= 3',
    'SELECT d.id FROM probe AS p, LATERAL (SELECT id FROM document ORDER BY hamming(si, p.si) LIMIT 2) AS d',
    'SELECT p.id FROM probe AS p WHERE NOT EXISTS (SELECT FROM document AS d WHERE hamming(d.si, p.si) <= 3 AND d.id <> p.id)',
    'UPDATE document SET tenant_id = 0 WHERE hamming(si, 42) <= 3',
    'DELETE FROM document AS d USING probe AS p WHERE hamming(d.si, p.si) <= 3 AND d.id > p.id',
    'SELECT id FROM parted WHERE hamming(si, 42) <= 3',
    'SELECT id FROM parted ORDER BY hamming(si, 42) LIMIT 3',
    'SELECT id, hamming(si, 42) AS d FROM document UNION ALL SELECT id, hamming(si, 42) FROM parted ORDER BY d LIMIT 3',
    'SELECT id FROM (SELECT id, si FROM document UNION ALL SELECT id, si FROM parted) AS u ORDER BY hamming(si, 42) LIMIT 3',
    'SELECT id, row_number() OVER (ORDER BY hamming(si, 42)) FROM document LIMIT 3',
    'SELECT id FROM document WHERE si = ANY (''{1,2,3}'')',
    'SELECT id FROM document WHERE si IN (42, 43)']) AS query
WHERE plan(query) !~ '(document|parted_1)_si_idx.*(Index Cond|Order By): \(.*si (<@|=|<~>) ';
SET enable_bitmapscan = on;
SET enable_indexscan = off;
SELECT plan('SELECT id FROM document WHERE hamming(si, 42) <= 3 OR hamming(si, 43) <= 3') ~ 'BitmapOr' AS bitmap_or;
RESET enable_indexscan;
RESET plan_cache_mode;
DROP VIEW near;
DROP TABLE parted;
-- joins search again and again
SELECT count(*), count(DISTINCT p.id) FROM probe AS p JOIN document AS d ON hamming(p.si, d.si) <= 3;
SELECT sum(d) FROM probe AS p, LATERAL (SELECT hamming(si, p.si) AS d FROM document ORDER BY hamming(si, p.si) LIMIT 20) AS n;
-- cursors, forwards and backwards
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT hamming(si, :q) FROM document ORDER BY hamming(si, :q);
MOVE FORWARD 30 FROM c;
FETCH 2 FROM c;
FETCH BACKWARD 2 FROM c;
COMMIT;
-- which index and whether any: the cheaper one
CREATE TABLE big AS SELECT hashint8extended(i, 1) AS si FROM generate_series(1, 200000) AS i;
CREATE INDEX big_hamming ON big USING hamming (si);
CREATE INDEX big_gist ON big USING gist (si gist_hamming_ops);
VACUUM ANALYZE big;
RESET enable_seqscan;
RESET enable_sort;
SELECT radius, substring(plan(format('SELECT count(*) FROM big WHERE hamming(si, 42) <= %s', radius)) FROM '(big_\w+|Seq Scan)') AS chosen
FROM unnest('{1,2,3,6,10,12,16,20,64}'::integer[]) AS radius;
SELECT substring(plan('SELECT * FROM big ORDER BY hamming(si, 42) LIMIT 10') FROM '(big_\w+|Seq Scan)') AS nearest_10;
-- the pages that a search visits are counted, the second time as well, when the session knows where they are
SET enable_seqscan = off;
BEGIN;
SELECT pg_stat_get_xact_blocks_fetched('big_hamming'::regclass) AS before \gset
SELECT count(*) FROM big WHERE hamming(si, 42) <= 6;
SELECT pg_stat_get_xact_blocks_fetched('big_hamming'::regclass) AS between \gset
SELECT count(*) FROM big WHERE hamming(si, 42) <= 6;
SELECT pg_stat_get_xact_blocks_fetched('big_hamming'::regclass) - :between = :between - :before AS "the same",
       :between > :before AS "not none";
COMMIT;
RESET enable_seqscan;
-- what does not fit into memory is sorted in files
SET maintenance_work_mem = '1MB';
REINDEX INDEX big_hamming;
RESET maintenance_work_mem;
SELECT * FROM hamming_index_check('big_hamming', true);
SELECT rows, fill > 0.9 AS full FROM hamming_index_stats('big_hamming');
DROP INDEX big_hamming;
SELECT radius, substring(plan(format('SELECT count(*) FROM big WHERE hamming(si, 42) <= %s', radius)) FROM '(big_\w+|Seq Scan)') AS without_hamming
FROM unnest('{0,3,6,20}'::integer[]) AS radius;
DROP TABLE big;
-- an index grown by inserts answers the same, and vacuum gives pages back
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CREATE TABLE grown (id integer, si bigint);
CREATE INDEX grown_si ON grown USING hamming (si);
INSERT INTO grown SELECT id, si FROM document;
SELECT * FROM hamming_index_check('grown_si', true);
SELECT rows, nulls, bits, bands, leaf_pages > 100 AS leaves, inner_pages, height, fill BETWEEN 0.5 AND 0.95 AS fill,
       pages = leaf_pages + inner_pages + unused_pages AS adds_up, expected_pages[1:8]
FROM hamming_index_stats('grown_si');
SELECT radius, (SELECT count(*) FROM grown WHERE hamming(si, :q) <= radius) = (SELECT count(*) FROM by_scan(:q, radius)) AS same
FROM unnest('{0,3,6,30}'::integer[]) AS radius;
DELETE FROM grown WHERE id % 20 > 0;
VACUUM grown;
SELECT * FROM hamming_index_check('grown_si', true);
SELECT rows, nulls, leaf_pages < 20 AS leaves, height, unused_pages > 100 AS unused FROM hamming_index_stats('grown_si');
SELECT pg_relation_size('grown_si') AS size_before \gset
INSERT INTO grown SELECT id, si # 1 FROM document WHERE id % 20 > 0;
SELECT pg_relation_size('grown_si') <= :size_before * 1.1 AS pages_are_used_again;
SELECT * FROM hamming_index_check('grown_si', true);
INSERT INTO grown VALUES (0, -7);
SELECT id FROM grown WHERE si = (-7)::smallint;
DELETE FROM grown;
VACUUM grown;
SELECT rows, nulls, leaf_pages, height FROM hamming_index_stats('grown_si');
SELECT count(*) FROM grown WHERE hamming(si, :q) <= 64;
DROP TABLE grown;
-- the page that a split has taken before its parent was split is used by the next split, without VACUUM
CREATE TABLE widened AS SELECT i AS id, hashint8extended(i, 4) AS si FROM generate_series(1, 230000) AS i;
CREATE INDEX widened_si ON widened USING hamming (si);
INSERT INTO widened SELECT i, hashint8extended(i, 4) FROM generate_series(230001, 245000) AS i;
SELECT inner_pages > 4 AS parents_were_split, unused_pages FROM hamming_index_stats('widened_si');
DROP TABLE widened;
-- partial and expression indexes, more than one index
CREATE INDEX partial ON document USING hamming (si) WHERE tenant_id = 5;
DROP INDEX document_si_idx;
-- (what is locked is filtered again; of the rest, some minor versions of Postgres filter by what the index implies, some do not)
EXPLAIN (COSTS OFF) SELECT id FROM document WHERE hamming(si, 42) <= 3 AND tenant_id = 5 FOR UPDATE;
-- no column of the index is needed here, and it is not scanned for itself
SELECT count(*) FROM document WHERE tenant_id = 5;
SELECT count(*) FROM document WHERE tenant_id = 5 AND hamming(si, :q) <= 24;
EXPLAIN (COSTS OFF) SELECT FROM document WHERE tenant_id = 5 ORDER BY hamming(si, 42) LIMIT 1;
SELECT * FROM hamming_index_check('partial', true);
-- nor where what is sorted is a constant of the table's rows
SELECT count(*) FROM (SELECT s.c <~> 42 FROM probe LEFT JOIN (SELECT 5::bigint AS c FROM document WHERE tenant_id = 5 LIMIT 1) AS s ON true ORDER BY s.c <~> 42) AS x;
SELECT count(*) FROM (SELECT s.c <~> 42 FROM probe LEFT JOIN (SELECT 5::bigint AS c FROM document WHERE tenant_id = 5) AS s ON true ORDER BY s.c <~> 42) AS x;
SELECT count(*) FROM (SELECT si FROM (SELECT si, id FROM probe UNION ALL SELECT 5::bigint, tenant_id FROM document) AS u WHERE id = 5 ORDER BY si <~> 42) AS x;
CREATE INDEX expression ON document USING hamming (simhash(body, 'char:4'));
EXPLAIN (COSTS OFF) SELECT id FROM document WHERE hamming(simhash(body, 'char:4'), simhash('text 77', 'char:4')) <= 3;
SELECT min(id) FROM document WHERE hamming(simhash(body, 'char:4'), simhash('text 77', 'char:4')) = 0;
SELECT * FROM hamming_index_check('expression', true);
-- a table that refuses equal fingerprints: its scans see rows of others that are being written
CREATE TABLE one_of_each (si bigint, EXCLUDE USING hamming (si WITH =));
INSERT INTO one_of_each VALUES (1), (2), (NULL), (NULL);
INSERT INTO one_of_each VALUES (2);
INSERT INTO one_of_each VALUES (2) ON CONFLICT DO NOTHING;
UPDATE one_of_each SET si = 3 WHERE si = 2;
INSERT INTO one_of_each VALUES (2);
DROP TABLE one_of_each;
-- storage parameters
CREATE INDEX full_pages ON document USING hamming (si) WITH (fillfactor = 100);
CREATE INDEX roomy_pages ON document USING hamming (si) WITH (fillfactor = 50);
SELECT pg_relation_size('full_pages') * 1.8 < pg_relation_size('roomy_pages') AS roomy;
ALTER INDEX full_pages SET (fillfactor = 60);
ALTER INDEX full_pages RESET (fillfactor);
CREATE INDEX ON document USING hamming (si) WITH (fillfactor = 49);
CREATE INDEX ON document USING hamming (si) WITH (bands = 4);
CREATE INDEX ON document USING hamming (si) WITH (trees = leaves);
-- what it cannot do
CREATE INDEX ON document USING hamming (si) INCLUDE (id);
CREATE UNIQUE INDEX ON document USING hamming (si);
CREATE INDEX ON document USING hamming (id);
CREATE INDEX ON document USING hamming (body);
SELECT pg_indexam_has_property(oid, 'can_order') AS can_order, pg_indexam_has_property(oid, 'can_unique') AS can_unique,
       pg_indexam_has_property(oid, 'can_multi_col') AS can_multi_col
FROM pg_am WHERE amname = 'hamming';
SELECT pg_index_column_has_property('full_pages', 1, 'distance_orderable') AS distance_orderable,
       pg_index_column_has_property('full_pages', 1, 'search_nulls') AS search_nulls,
       pg_index_column_has_property('full_pages', 1, 'returnable') AS returnable,
       pg_index_has_property('full_pages', 'bitmap_scan') AS bitmap_scan;
-- how far a build is, in pg_stat_progress_create_index
SELECT phase, pg_indexam_progress_phasename(oid, phase) AS name FROM pg_am, generate_series(1, 5) AS phase WHERE amname = 'hamming' ORDER BY phase;
-- looking into what is no such index
SELECT * FROM hamming_index_stats('document');
SELECT * FROM hamming_index_check('pg_class_oid_index');
SELECT * FROM hamming_index_check(0);
SELECT * FROM hamming_index_check(1, true);
-- no row, as pg_relation_size returns NULL
SELECT * FROM hamming_index_stats(0);
\set VERBOSITY sqlstate
SELECT * FROM hamming_index_check(0);
SELECT * FROM hamming_index_stats('document');
\set VERBOSITY default
SELECT * FROM hamming_index_check(NULL);
CREATE TABLE parted (si bigint) PARTITION BY RANGE (si);
CREATE TABLE part PARTITION OF parted DEFAULT;
CREATE INDEX parted_si ON parted USING hamming (si);
SELECT * FROM hamming_index_check('parted_si');
SELECT * FROM hamming_index_stats('parted_si');
SELECT relid AS index, problem FROM pg_partition_tree('parted_si') LEFT JOIN LATERAL hamming_index_check(relid) ON true WHERE isleaf;
DROP TABLE parted;
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'roomy_pages'::regclass;
SELECT * FROM hamming_index_check('roomy_pages');
UPDATE pg_index SET indisvalid = true WHERE indexrelid = 'roomy_pages'::regclass;
-- an index that is younger than the snapshot lacks the version of the row that the snapshot sees
CREATE TABLE young AS SELECT 5::bigint AS si;
BEGIN ISOLATION LEVEL REPEATABLE READ;
UPDATE young SET si = 6;
CREATE INDEX young_si ON young USING hamming (si);
SELECT * FROM hamming_index_check('young_si');
SELECT * FROM hamming_index_check('young_si', true);
ROLLBACK;
DROP TABLE young;
-- rows that an index has not, as its expression has changed its mind
CREATE FUNCTION shifted(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT $1 + nullif(current_setting('test.shift'), '')::bigint $$;
CREATE TABLE shifting AS SELECT 7::bigint AS si, 1::bigint AS tenant;
SET test.shift = 0;
CREATE INDEX of_codes ON shifting USING hamming (shifted(si));
CREATE INDEX of_tenants ON shifting USING hamming (si, shifted(tenant));
CREATE INDEX of_whole ON shifting USING hamming ((shifted(si)::bit(100))) WITH (trees = whole);
SET test.shift = 1;
SELECT index, c.* FROM unnest('{of_codes,of_tenants,of_whole}'::regclass[]) AS index, hamming_index_check(index, true) AS c;
SET test.shift = '';
SELECT index, c.* FROM unnest('{of_codes,of_tenants,of_whole}'::regclass[]) AS index, hamming_index_check(index, true) AS c;
RESET test.shift;
DROP TABLE shifting;
DROP FUNCTION shifted;
-- what an index computes is computed as its owner, whoever checks
CREATE ROLE simhash_owner;
CREATE FUNCTION whose(bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE '%', current_user; RETURN $1; END $$;
CREATE TABLE owned AS SELECT 1::bigint AS si;
ALTER TABLE owned OWNER TO simhash_owner;
CREATE INDEX owned_si ON owned USING hamming (whose(si));
SELECT * FROM hamming_index_check('owned_si', true);
SELECT current_user = session_user AS back;
DROP TABLE owned;
DROP FUNCTION whose;
DROP ROLE simhash_owner;
CREATE ROLE simhash_reader;
SET ROLE simhash_reader;
SELECT * FROM hamming_index_stats('full_pages');
SELECT * FROM hamming_index_check('full_pages');
RESET ROLE;
GRANT pg_stat_scan_tables TO simhash_reader;
SET ROLE simhash_reader;
SELECT rows FROM hamming_index_stats('full_pages');
RESET ROLE;
DROP ROLE simhash_reader;
-- operator classes that the access method cannot serve
CREATE FUNCTION always(bigint, hamming_ball) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE OPERATOR <@@ (LEFTARG = bigint, RIGHTARG = hamming_ball, FUNCTION = always);
CREATE OPERATOR CLASS broken_ops FOR TYPE bigint USING hamming AS
    OPERATOR 1 <@@ (bigint, hamming_ball),
    OPERATOR 2 < (bigint, bigint),
    OPERATOR 3 > (bigint, bigint);
\set VERBOSITY terse
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'broken_ops';
CREATE OPERATOR CLASS text_ops FOR TYPE text USING hamming AS OPERATOR 1 =, OPERATOR 2 <;
SELECT amvalidate(oid) FROM pg_opclass AS c WHERE opcname = 'text_ops' AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'hamming');
\set VERBOSITY default
-- operators that are there for something else, and values without a hash
CREATE OPERATOR CLASS odd_ops FOR TYPE bigint USING hamming AS
    OPERATOR 1 <@ (bigint, hamming_ball),
    OPERATOR 2 + (bigint, bigint) FOR ORDER BY integer_ops,
    OPERATOR 2 = (integer, bigint),
    OPERATOR 15 = (bigint, integer),
    OPERATOR 15 * (bigint, money) FOR ORDER BY money_ops,
    OPERATOR 15 # (bigint, bigint) FOR ORDER BY integer_ops;
CREATE OPERATOR CLASS point_ops FOR TYPE point USING hamming AS OPERATOR 2 ~= (point, point);
\set VERBOSITY terse
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'odd_ops';
SELECT amvalidate(oid) FROM pg_opclass AS c WHERE opcname = 'point_ops' AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'hamming');
\set VERBOSITY default
DROP OPERATOR FAMILY odd_ops USING hamming;
DROP OPERATOR FAMILY point_ops USING hamming;
DROP OPERATOR FAMILY broken_ops USING hamming;
DROP OPERATOR FAMILY text_ops USING hamming;
DROP OPERATOR <@@ (bigint, hamming_ball);
DROP FUNCTION always;
-- several distances, of which some are NULL: the others decide, in the order of the query
CREATE TABLE ordered AS SELECT i AS id, CASE WHEN i % 9 > 0 THEN hashint8extended(i, 3) END AS si FROM generate_series(1, 500) AS i;
CREATE INDEX ON ordered USING hamming (si);
CREATE FUNCTION by_distances(a bigint, b bigint, c bigint) RETURNS TABLE (x integer, y integer, z integer) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT hamming(si, a), hamming(si, b), hamming(si, c) FROM ordered
        ORDER BY hamming(si, a), hamming(si, b), hamming(si, c);
END $$;
CREATE FUNCTION are_sorted(a bigint, b bigint, c bigint) RETURNS boolean LANGUAGE sql AS $$
    SELECT array_agg((x, y, z) ORDER BY n) = array_agg((x, y, z) ORDER BY x, y, z)
    FROM by_distances(a, b, c) WITH ORDINALITY AS d (x, y, z, n) $$;
SET plan_cache_mode = force_generic_plan;
PREPARE by_distances AS SELECT id FROM ordered ORDER BY hamming(si, $1), hamming(si, $2), hamming(si, $3);
SET enable_seqscan = off;
SET enable_sort = off;
EXPLAIN (COSTS OFF) EXECUTE by_distances(1, 2, 3);
SELECT a, b, c, are_sorted(a, b, c)
FROM (VALUES (1, 2, 3), (1, 1, 2), (NULL, 42, 7), (42, NULL, 7), (NULL, NULL, 7), (NULL, 42, NULL), (NULL, NULL, NULL)) AS v(a, b, c);
RESET plan_cache_mode;
RESET enable_seqscan;
RESET enable_sort;
DEALLOCATE by_distances;
DROP FUNCTION are_sorted, by_distances;
DROP TABLE ordered;
DROP TABLE document, probe CASCADE;
DROP FUNCTION by_scan, by_index, by_bitmap, plan;
-- all indexes and whether REINDEX is due
CREATE TABLE thinned AS SELECT i AS id, hashint8extended(i, 1) AS si FROM generate_series(1, 20000) AS i;
CREATE INDEX thinned_si ON thinned USING hamming (si);
CREATE INDEX thinned_some ON thinned USING hamming (si) WHERE id < 100;
SELECT index, relation, rows, size = pg_relation_size(index) AS size, fill > 0.9 AS full, size_after_reindex BETWEEN 0.9 * size AND size AS same_size, reindex FROM hamming_indexes WHERE index = 'thinned_si'::regclass;
DELETE FROM thinned WHERE id % 10 <> 0;
VACUUM thinned;
SELECT index, rows, reindex, size > 2 * size_after_reindex AS halved FROM hamming_indexes WHERE relation = 'thinned'::regclass ORDER BY index::text;
REINDEX TABLE thinned;
SELECT index, rows, reindex FROM hamming_indexes WHERE relation = 'thinned'::regclass ORDER BY index::text;
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'thinned_some'::regclass;
SELECT index, rows, fill, reindex, problem FROM hamming_indexes WHERE index = 'thinned_some'::regclass;
SELECT * FROM hamming_index_check('thinned_some');
CREATE ROLE index_watcher IN ROLE pg_stat_scan_tables;
CREATE ROLE index_stranger;
SET ROLE index_watcher;
SELECT index, rows, reindex FROM hamming_indexes WHERE index = 'thinned_si'::regclass;
SET ROLE index_stranger;
SELECT index FROM hamming_indexes;
RESET ROLE;
DROP TABLE thinned;
DROP ROLE index_watcher, index_stranger;
-- A check without the table lets others write; where changes are not logged, they wait.
CREATE TABLE looked AS SELECT i AS id, hashint8extended(i, 1) AS si FROM generate_series(1, 100) AS i;
CREATE UNLOGGED TABLE looked_unlogged AS TABLE looked;
CREATE INDEX looked_si ON looked USING hamming (si);
CREATE INDEX looked_unlogged_si ON looked_unlogged USING hamming (si);
BEGIN;
SELECT * FROM hamming_index_check('looked_si');
SELECT * FROM hamming_index_check('looked_unlogged_si');
SELECT relation::regclass, mode FROM pg_locks WHERE relation IN ('looked'::regclass, 'looked_unlogged'::regclass) ORDER BY relation::regclass::text, mode;
ROLLBACK;
DROP TABLE looked, looked_unlogged;
-- A column whose type is made longer: the index goes on with the length that its values have, also when it is made anew.
CREATE TABLE lengthened (id integer, code varbit(100));
INSERT INTO lengthened VALUES (0, NULL);
INSERT INTO lengthened SELECT i, (hashint8extended(i, 1)::bit(64)::text || hashint8extended(i, 2)::bit(36)::text)::varbit FROM generate_series(1, 2000) AS i;
CREATE INDEX lengthened_code ON lengthened USING hamming (code);
ALTER TABLE lengthened ALTER COLUMN code TYPE varbit(200);
INSERT INTO lengthened VALUES (2001, repeat('1', 100)::varbit);
REINDEX TABLE lengthened;
VACUUM FULL lengthened;
SELECT * FROM hamming_index_check('lengthened_code', true);
SET enable_seqscan = off;
SELECT id FROM lengthened WHERE hamming(code, (SELECT code FROM lengthened WHERE id = 7)) <= 20;
RESET enable_seqscan;
INSERT INTO lengthened VALUES (2002, repeat('1', 200)::varbit);
-- The hint works.
DROP INDEX lengthened_code;
UPDATE lengthened SET code = code || code;
CREATE INDEX lengthened_code ON lengthened USING hamming (code);
INSERT INTO lengthened VALUES (2002, repeat('1', 200)::varbit);
SELECT * FROM hamming_index_check('lengthened_code', true);
-- Without a length, an index could not be made again. So it ends its service until the type has one; the hint says how.
ALTER TABLE lengthened ALTER COLUMN code TYPE bit varying;
INSERT INTO lengthened VALUES (2003, repeat('1', 200)::varbit);
SELECT * FROM hamming_index_check('lengthened_code');
REINDEX INDEX lengthened_code;
ALTER TABLE public.lengthened ALTER COLUMN code TYPE bit varying(200);
INSERT INTO lengthened VALUES (2003, repeat('1', 200)::varbit);
SELECT * FROM hamming_index_check('lengthened_code', true);
CREATE INDEX ON lengthened USING hamming ((code || code));
SELECT rows, nulls, bits, bands, cardinality(expected_pages) AS radii FROM hamming_index_stats('lengthened_code');
DROP INDEX lengthened_code;
TRUNCATE lengthened;
INSERT INTO lengthened VALUES (0, '');
CREATE INDEX ON lengthened USING hamming (code);
DROP TABLE lengthened;
CREATE TABLE too_long (code bit(8193));
CREATE INDEX ON too_long USING hamming (code);
DROP TABLE too_long;
