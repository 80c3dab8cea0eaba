-- An index of codes and further columns: a search in a tenant's rows finds the same as a scan of the table.
-- Disabled nodes have such costs that PostgreSQL would compile queries.
SET jit = off;
SELECT opcname, amvalidate(c.oid) FROM pg_opclass AS c JOIN pg_opfamily AS f ON f.oid = opcfamily WHERE opfname = 'hamming_filter_ops' ORDER BY opcname;
-- tenants of very different sizes, among them NULL; half of the codes scattered, half clustered, with NULLs
CREATE TYPE mood AS ENUM ('glad', 'sad');
CREATE TABLE document AS
SELECT i AS id, CASE WHEN i % 97 = 0 THEN NULL ELSE floor(40 * (abs(hashint8extended(i, 9) % 1000) / 1000.0) ^ 4)::integer END AS tenant_id,
       'language ' || i % 3 AS language, (ARRAY['glad', 'sad']::mood[])[1 + i % 2] AS mood,
       CASE WHEN i % 50 = 0 THEN NULL WHEN i % 2 = 0 THEN hashint8extended(i, 1)
            ELSE hashint8extended(i / 100, 2) # (1::bigint << (i % 60)) END AS si
FROM generate_series(1, 6000) AS i;
ALTER TABLE document ADD wide bit(128) GENERATED ALWAYS AS (si::bit(64) || (~si)::bit(64)) STORED;
CREATE INDEX by_tenant ON document USING hamming (si, tenant_id);
VACUUM ANALYZE document;
SELECT si AS q FROM document WHERE id = 101 \gset
-- the plans
SET enable_seqscan = off;
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT id FROM document WHERE hamming(si, :q) <= 6 AND tenant_id = 3;
EXPLAIN (COSTS OFF) SELECT id FROM document WHERE tenant_id = 3 ORDER BY hamming(si, :q) LIMIT 5;
EXPLAIN (COSTS OFF) SELECT id FROM document WHERE tenant_id IS NULL ORDER BY hamming(si, :q) LIMIT 5;
EXPLAIN (COSTS OFF) SELECT id FROM document WHERE hamming(si, :q) <= 6;
EXPLAIN (COSTS OFF) SELECT id FROM document WHERE tenant_id = 3::bigint AND si = :q;
RESET enable_sort;
-- further columns are no codes, and an index has no order by them
EXPLAIN (COSTS OFF) SELECT id FROM document WHERE tenant_id = 3 AND tenant_id > 2 ORDER BY hamming(tenant_id, 3) LIMIT 5;
-- all results, with the index and without it
CREATE FUNCTION differing(condition text, ordered boolean, scan text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    -- The distance of each of the first rows; of rows that are equally far, any may be among them.
    query text := format('SELECT %s AS d FROM document WHERE %s', CASE WHEN ordered THEN 'hamming(si, $1)' ELSE 'id' END, condition)
        || CASE WHEN ordered THEN ' ORDER BY hamming(si, $1) LIMIT 40' ELSE '' END;
    differing bigint := 0;
    probe bigint;
    by_index text;
    by_table text;
BEGIN
    FOR probe IN SELECT si FROM document WHERE id IN (101, 2000, 5998) LOOP
        probe := coalesce(probe, 4711);
        PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', (scan = 'index')::text, true),
            set_config('enable_bitmapscan', (scan = 'bitmap')::text, true);
        EXECUTE format('SELECT array_agg(d ORDER BY d)::text FROM (%s) AS x', query) INTO by_index USING probe;
        PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'off', true),
            set_config('enable_bitmapscan', 'off', true);
        EXECUTE format('SELECT array_agg(d ORDER BY d)::text FROM (%s) AS x', query) INTO by_table USING probe;
        differing := differing + (by_index IS DISTINCT FROM by_table)::integer;
    END LOOP;
    RETURN differing;
END $$;
CREATE TABLE condition (number integer GENERATED ALWAYS AS IDENTITY, condition text);
INSERT INTO condition (condition)
SELECT concat_ws(' AND ', tenant, near) FROM unnest(ARRAY[
    'tenant_id = 0', 'tenant_id = 3', 'tenant_id = 30', 'tenant_id = 1000', 'tenant_id IS NULL', 'tenant_id IS NOT NULL',
    'tenant_id = 3::bigint', 'tenant_id = 3 AND tenant_id = 4', 'tenant_id = ANY (''{3,5,NULL}'')',
    'tenant_id = NULL', 'tenant_id > 20']) AS tenant,
    unnest(ARRAY[NULL, 'hamming(si, $1) <= 0', 'hamming(si, $1) <= 6', 'hamming(si, $1) <= 24', 'si IS NULL', 'si IS NOT NULL', 'si = $1']) AS near;
SELECT scan, count(*), sum(differing(condition, false, scan)) AS differing FROM condition, unnest('{index,bitmap}'::text[]) AS scan GROUP BY scan;
SELECT count(*), sum(differing(condition, true, 'index')) AS differing FROM condition;
-- the same with other columns, after changes
DROP INDEX by_tenant;
CREATE INDEX by_two ON document USING hamming (si, tenant_id, language) WITH (fillfactor = 60);
INSERT INTO document (id, tenant_id, language, mood, si)
SELECT id + 6000, tenant_id, language, mood, si # (1 << (id % 20)) FROM document WHERE id % 3 = 0;
UPDATE document SET tenant_id = 3 WHERE id % 11 = 0;
DELETE FROM document WHERE id % 5 = 0;
VACUUM ANALYZE document;
SELECT * FROM hamming_index_check('by_two', true);
UPDATE condition SET condition = condition || ' AND language = ''language 1''' WHERE number % 3 > 0;
SELECT scan, count(*), sum(differing(condition, false, scan)) AS differing FROM condition, unnest('{index,bitmap}'::text[]) AS scan GROUP BY scan;
SELECT count(*), sum(differing(condition, true, 'index')) AS differing FROM condition;
-- strings of bits
DROP INDEX by_two;
CREATE INDEX by_wide ON document USING hamming (wide, tenant_id);
SELECT * FROM hamming_index_check('by_wide', true);
SELECT wide AS w FROM document WHERE id = 101 \gset
EXPLAIN (COSTS OFF) SELECT id FROM document WHERE tenant_id = 3 ORDER BY hamming(wide, :'w') LIMIT 5;
SELECT tenant, (SELECT array_agg(d) FROM (SELECT hamming(wide, :'w') AS d FROM document WHERE tenant_id = tenant ORDER BY 1 LIMIT 7) AS x) =
    (SELECT array_agg(d) FROM (SELECT hamming(wide, :'w') AS d FROM (SELECT * FROM document OFFSET 0) AS d WHERE tenant_id = tenant ORDER BY 1 LIMIT 7) AS x) AS nearest,
    (SELECT count(*) FROM document WHERE tenant_id = tenant AND hamming(wide, :'w') <= 60) =
    (SELECT count(*) FROM (SELECT * FROM document OFFSET 0) AS d WHERE tenant_id = tenant AND hamming(wide, :'w') <= 60) AS within
FROM unnest('{0,3,30}'::integer[]) AS tenant;
DROP INDEX by_wide;
-- the planner chooses between a tenant's part of the index, all of it, and other indexes
RESET enable_seqscan;
CREATE INDEX by_tenant ON document USING hamming (si, tenant_id);
CREATE INDEX by_code ON document USING hamming (si);
CREATE INDEX by_id ON document (tenant_id);
ANALYZE document;
CREATE FUNCTION index_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line ~ 'Index Scan|Seq Scan' THEN
            RETURN coalesce(substring(line FROM '(?:using|on) (by_\w+)'), 'none');
        END IF;
    END LOOP;
END $$;
SELECT query, index_of('SELECT id FROM document ' || replace(query, '$1', :'q')) FROM (VALUES
    ('ORDER BY hamming(si, $1) LIMIT 10'),
    ('WHERE hamming(si, $1) <= 6'),
    ('WHERE tenant_id = 3 ORDER BY hamming(si, $1) LIMIT 10'),
    ('WHERE tenant_id = 30 ORDER BY hamming(si, $1) LIMIT 10'),
    ('WHERE tenant_id = 0 ORDER BY hamming(si, $1) LIMIT 10'),
    ('WHERE tenant_id = 30 AND hamming(si, $1) <= 6'),
    ('WHERE tenant_id = 30')) AS q (query);
DROP INDEX by_code, by_id;
-- a join on both columns
EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM document AS a JOIN document AS b ON b.tenant_id = a.tenant_id AND hamming(b.si, a.si) <= 3 WHERE a.id IN (1, 2, 3);
-- types
CREATE TABLE types (si bigint, i2 smallint, i8 bigint, n numeric, t text, v varchar(9), c char(3), by bytea, u uuid, d date, m mood);
INSERT INTO types SELECT i, i % 5, i % 5, i % 5, i % 5, i % 5, i % 5, convert_to((i % 5)::text, 'UTF8'), md5((i % 5)::text)::uuid,
    '2020-01-01'::date + i % 5, (ARRAY['glad', 'sad']::mood[])[1 + i % 2]
FROM generate_series(1, 200) AS i;
CREATE INDEX by_all ON types USING hamming (si, i2, i8, n, t, v, c, by, u, d, m);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM types WHERE i2 = 3 AND i8 = 3 AND n = 3 AND t = '3' AND v = '3' AND c = '3' AND by = '3'
    AND u = md5('3')::uuid AND d = '2020-01-04' AND m = 'sad' AND hamming(si, 3) <= 64;
SELECT count(*) FROM types WHERE i2 = 3 AND i8 = 3 AND n = 3.00 AND t = '3' AND v = '3' AND c = '3 ' AND by = '3'
    AND u = md5('3')::uuid AND d = '2020-01-04' AND m = 'sad' AND hamming(si, 3) <= 64;
DROP INDEX by_all;
-- two codes: the second is a filter, neither searched nor ordered by
CREATE INDEX by_both ON types USING hamming (si, i8);
SELECT count(*), sum(si) FROM types WHERE i8 = 3 AND hamming(si, 3) <= 2;
SELECT count(*), sum(si) FROM types WHERE hamming(i8, 3) <= 0 AND hamming(si, 3) <= 2;
SELECT array_agg(i8) FROM (SELECT i8 FROM types WHERE hamming(si, 3) <= 1 ORDER BY hamming(i8, 3)) AS x;
SELECT column_number, pg_index_column_has_property('by_both', column_number, 'distance_orderable') FROM generate_series(1, 2) AS column_number;
-- errors
CREATE INDEX ON types USING hamming (i2);
CREATE INDEX ON types USING hamming (t, si);
CREATE TABLE other_codes (number numeric, code bytea, id uuid);
CREATE INDEX ON other_codes USING hamming (number);
CREATE INDEX ON other_codes USING hamming (simhash_decode(number));
CREATE INDEX ON other_codes USING hamming (code);
CREATE INDEX ON other_codes USING hamming ((code_decode(encode(code, 'hex'))::bit(256)));
CREATE INDEX ON other_codes USING hamming (id);
CREATE INDEX ON other_codes USING hamming ((code_decode(replace(id::text, '-', ''))::bit(128)));
DROP TABLE other_codes;
CREATE INDEX ON types USING hamming (si, (i2::integer::bit(3)));
CREATE INDEX ON types USING hamming (si, (point(1, 2)));
CREATE TABLE none_yet (si bigint, tenant_id integer);
CREATE INDEX none_yet_si ON none_yet USING hamming (si, tenant_id);
SELECT pages, fill FROM hamming_index_stats('none_yet_si');
INSERT INTO none_yet VALUES (1, 1), (NULL, 1), (2, NULL), (NULL, NULL);
SELECT * FROM none_yet WHERE tenant_id = 1 ORDER BY hamming(si, 1);
SELECT * FROM none_yet WHERE tenant_id IS NULL ORDER BY hamming(si, 1);
SELECT * FROM none_yet ORDER BY hamming(si, 1), tenant_id;
SELECT * FROM hamming_index_check('none_yet_si', true);
-- a constraint: no two rows of a tenant have one code
ALTER TABLE none_yet ADD EXCLUDE USING hamming (si WITH =, tenant_id WITH =);
INSERT INTO none_yet VALUES (1, 2), (2, 1);
INSERT INTO none_yet VALUES (1, 1);
-- nor codes within a distance, and more of another tenant; balls of several radii contain each other's centers
CREATE TABLE apart (id integer, tenant_id integer, si bigint, radius integer DEFAULT 10,
    CONSTRAINT far_apart EXCLUDE USING hamming (hamming_ball(si, radius) WITH ~, tenant_id WITH =));
INSERT INTO apart VALUES (1, 7, 0), (2, 7, 2047), (3, 8, 0), (4, NULL, 0), (5, NULL, 0), (6, 7, NULL), (7, 7, NULL);
INSERT INTO apart VALUES (8, 7, 1023);
INSERT INTO apart VALUES (8, 7, 1023) ON CONFLICT DO NOTHING;
INSERT INTO apart VALUES (9, 7, 1023, 0), (10, 8, 1023, -1), (11, 8, 0, -1), (12, 8, 1, 0);
UPDATE apart SET si = 3 WHERE id = 2;
UPDATE apart SET si = 4095 WHERE id = 2;
INSERT INTO apart SELECT i, 9, hashint8extended(i, 1) FROM generate_series(100, 2099) AS i;
SELECT count(*) FILTER (WHERE b.id IS NOT NULL) AS refused, count(*) FILTER (WHERE b.id IS NULL) AS accepted FROM (
    SELECT hashint8extended(i % 2000 + 100, 1) # (1023::bigint << i % 54) # (i % 3) AS si FROM generate_series(1, 200) AS i) AS a
LEFT JOIN apart AS b ON b.tenant_id = 9 AND hamming(a.si, b.si) <= 10;
WITH added AS (INSERT INTO apart SELECT 5000 + i, 9, hashint8extended(i % 2000 + 100, 1) # (1023::bigint << i % 54) # (i % 3)
    FROM generate_series(1, 200) AS i ON CONFLICT DO NOTHING RETURNING id) SELECT count(*) > 0 AS some, count(*) < 200 AS not_all FROM added;
SELECT count(*) AS near FROM apart AS a JOIN apart AS b ON a.id < b.id AND a.tenant_id = b.tenant_id AND hamming(a.si, b.si) <= least(a.radius, b.radius);
SELECT * FROM hamming_index_check('far_apart', true);
EXPLAIN (COSTS OFF) SELECT id FROM apart WHERE hamming_ball(si, radius) ~ hamming_ball(4095, 11) AND tenant_id = 7;
SELECT id FROM apart WHERE hamming_ball(si, radius) ~ hamming_ball(4095, 11) AND tenant_id = 7;
SET enable_indexscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM apart WHERE hamming_ball(si, radius) ~ hamming_ball(4095, 11);
SELECT id FROM apart WHERE hamming_ball(si, radius) ~ hamming_ball(4095, 11);
RESET enable_indexscan;
SELECT pg_index_column_has_property('far_apart', 1, 'distance_orderable') AS orderable, pg_index_column_has_property('far_apart', 1, 'returnable') AS returnable;
\set VERBOSITY terse
ALTER TABLE apart ADD EXCLUDE USING hamming (hamming_ball(si, radius) WITH ~);
\set VERBOSITY default
-- an index of balls has no other operator
CREATE FUNCTION same(hamming_ball, hamming_ball) RETURNS boolean LANGUAGE sql IMMUTABLE RETURN $1::text = $2::text;
CREATE OPERATOR === (LEFTARG = hamming_ball, RIGHTARG = hamming_ball, FUNCTION = same, COMMUTATOR = ===);
CREATE OPERATOR CLASS bad_ball_ops FOR TYPE hamming_ball USING hamming AS OPERATOR 3 === (hamming_ball, hamming_ball);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'bad_ball_ops';
\set VERBOSITY terse
CREATE INDEX ON apart USING hamming (hamming_ball(si, 3) bad_ball_ops);
\set VERBOSITY default
-- 17 makes an index with a search path of the system alone, and names the type with its schema
DO $$ BEGIN CREATE INDEX ON apart USING hamming (si, hamming_ball(si, 3));
EXCEPTION WHEN invalid_object_definition THEN RAISE INFO '%', replace(SQLERRM, 'public.', ''); END $$;
DROP OPERATOR FAMILY bad_ball_ops USING hamming;
DROP OPERATOR === (hamming_ball, hamming_ball);
DROP FUNCTION same;
DROP TABLE document, condition, types, none_yet, apart;
DROP FUNCTION differing(text, boolean, text), index_of(text);
DROP TYPE mood;
