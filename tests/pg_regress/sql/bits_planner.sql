-- conditions and orders on distances of strings of bits: plans, and the same answers as by scan
CREATE TABLE document (id integer PRIMARY KEY, tenant_id integer, code bit(20) NOT NULL, maybe bit(20), varying varbit(20), loose varbit);
INSERT INTO document
SELECT i, i % 100, code, CASE WHEN i % 10 > 0 THEN code END, code, code
FROM generate_series(1, 5000) AS i, LATERAL (SELECT hashint8extended(CASE WHEN i % 2 = 0 THEN i ELSE i / 500 END, 1)::bit(20)) AS made (code);
CREATE INDEX by_code ON document USING hamming (code);
CREATE INDEX by_maybe ON document USING hamming (maybe);
CREATE INDEX by_varying ON document USING hamming (varying);
CREATE INDEX by_loose ON document USING hamming ((loose::bit(20)));
CREATE TABLE probe (id integer, code bit(20));
INSERT INTO probe SELECT id, code FROM document WHERE id % 500 = 101;
VACUUM ANALYZE document, probe;

CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        CONTINUE WHEN line ~ '^ *(Disabled: true|Replaces: .*)$';
        line := regexp_replace(line, 'InitPlan (expr|minmax)_\d+', 'InitPlan 1');
        line := regexp_replace(line, '(InitPlan 1) \(returns \$0\)', '\1');
        line := replace(line, $q$'01011100111101100101'::"bit"$q$, 'Q');
        line := replace(line, '01011100111101100101', 'Q');
        RETURN NEXT regexp_replace(line, '\(InitPlan 1\)\.col1|\$0', 'init', 'g');
    END LOOP;
END $$;
-- The query, in which Q is a constant, is planned and asked with indexes, and asked without.
CREATE FUNCTION both_ways(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE by_index text; by_scan text; asked text := replace(query, 'Q', $q$X'5cf65'$q$);
BEGIN
    RETURN QUERY SELECT plan(asked);
    asked := format('SELECT string_agg(a::text, '','' ORDER BY a::text) FROM (%s) AS a', asked);
    EXECUTE asked INTO by_index;
    SET LOCAL enable_indexscan = off;
    SET LOCAL enable_bitmapscan = off;
    EXECUTE asked INTO by_scan;
    SET LOCAL enable_indexscan = on;
    SET LOCAL enable_bitmapscan = on;
    RETURN NEXT CASE WHEN by_index IS NOT DISTINCT FROM by_scan THEN coalesce(length(by_scan) - length(replace(by_scan, '(', '')), 0) || ' rows'
        ELSE format(E'BY INDEX %s\nBY SCAN %s', by_index, by_scan) END;
END $$;
\pset tuples_only on
\pset format unaligned
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
SET enable_hashjoin = off;
SET simhash_pg.enable_near_join = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
-- constants
SELECT both_ways('SELECT id FROM document WHERE hamming(code, Q) <= 3');
SELECT both_ways('SELECT id FROM document WHERE hamming(Q, code) <= 3');
SELECT both_ways('SELECT id FROM document WHERE 3 >= hamming(code, Q)');
SELECT both_ways('SELECT id FROM document WHERE code <^> Q < 4');
SELECT both_ways('SELECT id FROM document WHERE hamming(code, Q) = 3');
SELECT both_ways('SELECT id FROM document WHERE hamming(code, Q) BETWEEN 2 AND 3');
SELECT both_ways('SELECT id FROM document WHERE hamming(code, Q) IN (1, 3)');
SELECT both_ways('SELECT id FROM document WHERE NOT hamming(code, Q) > 3');
SELECT both_ways('SELECT id FROM document WHERE hamming(code, Q) <= 3.5');
SELECT both_ways('SELECT id FROM document WHERE hamming(code, Q) < 3::bigint');
SELECT both_ways('SELECT id FROM document WHERE hamming_within(code, Q, 3)');
SELECT both_ways('SELECT id FROM document WHERE code <@ hamming_ball(Q, 3)');
SELECT both_ways('SELECT id FROM document WHERE hamming_similarity(code, Q) >= 0.85');
SELECT both_ways('SELECT id FROM document WHERE hamming_similarity(Q, code) > 0.85');
SELECT both_ways('SELECT id FROM document WHERE hamming_similarity(code, Q) = 0.85');
SELECT both_ways('SELECT id FROM document WHERE maybe <^> Q <= 3');
SELECT both_ways('SELECT id FROM document WHERE maybe = X''5cf60''');
SELECT both_ways('SELECT id FROM document WHERE maybe IS NULL');
-- a distance of 0 is no equality: other lengths have to raise an error
SELECT both_ways('SELECT id FROM document WHERE hamming(code, X''5cf60'') = 0');
SELECT both_ways('SELECT id FROM document WHERE hamming(code, X''5cf60'') <= 0');
SELECT both_ways('SELECT id FROM document WHERE hamming_within(code, X''5cf60'', 0)');
-- limits beyond all distances
SELECT plan('SELECT id FROM document WHERE hamming(code, X''5cf65'') <= 21');
SELECT plan('SELECT id FROM document WHERE hamming(code, X''5cf65'') = 21');
SELECT plan('SELECT id FROM document WHERE hamming(code, X''5cf65'') < 9223372036854775807');
SELECT plan('SELECT id FROM document WHERE hamming(code, X''5cf65'') <= -1');
SELECT plan('SELECT id FROM document WHERE hamming_similarity(code, X''5cf65'') >= ''NaN''');
SELECT plan('SELECT id FROM document WHERE hamming(code, X''5cf65'') > 3');
-- nearest
SELECT both_ways('SELECT hamming(code, Q) FROM document ORDER BY hamming(code, Q) LIMIT 10');
SELECT both_ways('SELECT hamming(code, Q) FROM document WHERE hamming(code, Q) <= 4 ORDER BY code <^> Q LIMIT 10');
SELECT both_ways('SELECT hamming(code, Q) FROM document ORDER BY hamming_similarity(code, Q) DESC LIMIT 10');
SELECT both_ways('SELECT hamming(maybe, Q) FROM document ORDER BY hamming_similarity(Q, maybe) DESC NULLS LAST LIMIT 10');
SELECT both_ways('SELECT hamming(maybe, Q) FROM document ORDER BY maybe <^> Q');
-- by two distances an index has no order
SELECT both_ways('SELECT hamming(code, Q), hamming(code, ~Q) FROM document ORDER BY code <^> Q, code <^> (~Q) LIMIT 10');
PREPARE by_two(bit, bit) AS SELECT array_agg(d) FROM (SELECT maybe <^> $2 AS d FROM document ORDER BY maybe <^> $1, maybe <^> $2 LIMIT 5) AS n;
SET plan_cache_mode = force_generic_plan;
SELECT plan('EXECUTE by_two(NULL, X''5cf65'')');
EXECUTE by_two(NULL, X'5cf65');
RESET plan_cache_mode;
-- bit varying, and expressions
SELECT both_ways('SELECT id FROM document WHERE hamming(varying, Q) <= 3');
SELECT both_ways('SELECT id FROM document WHERE hamming_similarity(varying, Q) >= 0.85');
SELECT both_ways('SELECT hamming(varying, Q) FROM document ORDER BY hamming(varying, Q) LIMIT 10');
SELECT both_ways('SELECT id FROM document WHERE hamming(loose::bit(20), Q) <= 3');
-- without a known length: the radius of a similarity when the query runs
SELECT plan('SELECT d.id FROM document AS d, document AS e WHERE hamming_similarity(d.loose, e.varying) >= 0.85 AND e.id = 7');
SELECT plan('SELECT d.id FROM document AS d, document AS e WHERE hamming(d.loose, e.varying) <= 30 AND e.id = 7');
SELECT plan('SELECT d.id FROM document AS d ORDER BY hamming_similarity(loose, varying) DESC NULLS LAST LIMIT 1');
SELECT plan('SELECT d.id FROM document AS d ORDER BY hamming_similarity(loose, X''5cf65'') DESC NULLS LAST LIMIT 1');
-- parameters
PREPARE untyped AS SELECT count(*) FROM document WHERE hamming(code, $1) <= $2;
PREPARE less (bit, bigint) AS SELECT count(*) FROM document WHERE $2 > hamming($1, code);
PREPARE alike AS SELECT count(*) FROM document WHERE hamming_similarity(code, $1) >= $2;
PREPARE more_alike AS SELECT count(*) FROM document WHERE hamming_similarity($1, varying) > $2;
PREPARE nearest (bit) AS SELECT array_agg(d) FROM (SELECT code <^> $1 AS d FROM document ORDER BY hamming(code, $1) LIMIT 5) AS n;
SELECT plan('EXECUTE untyped(X''5cf65'', 3)');
SET plan_cache_mode = force_generic_plan;
SELECT plan('EXECUTE untyped(X''5cf65'', 3)');
SELECT plan('EXECUTE less(X''5cf65'', 4)');
SELECT plan('EXECUTE alike(X''5cf65'', 0.85)');
SELECT plan('EXECUTE more_alike(X''5cf65'', 0.8)');
SELECT plan('EXECUTE nearest(X''5cf65'')');
EXECUTE untyped(X'5cf65', 3);
EXECUTE less(X'5cf65', 4);
EXECUTE alike(X'5cf65', 0.85);
EXECUTE more_alike(X'5cf65', 0.8);
EXECUTE nearest(X'5cf65');
EXECUTE untyped(NULL, 3);
EXECUTE untyped(X'5cf65', NULL);
EXECUTE untyped(X'5cf65', -1);
EXECUTE alike(X'5cf65', 'NaN');
-- strings of another length, with and without an index
EXECUTE untyped(X'2a', 3);
EXECUTE untyped(X'2a', -1);
EXECUTE alike(X'2a', 1);
EXECUTE nearest(X'2a');
RESET plan_cache_mode;
SELECT count(*) FROM document WHERE hamming(code, X'2a') <= 3;
SELECT count(*) FROM document WHERE hamming(code, X'2a') = 0;
SELECT count(*) FROM document WHERE code <@ hamming_ball(X'2a', 3);
SELECT count(*) FROM document WHERE code = X'2a';
SELECT count(*) FROM document WHERE hamming(code, X'2a') <= 3 AND code = X'2a';
-- a subquery as query value, and joins driven from either side
SELECT both_ways('SELECT id FROM document WHERE hamming(code, (SELECT code FROM probe WHERE id = 101)) <= 2');
SELECT both_ways('SELECT d.id FROM probe AS p JOIN document AS d ON hamming(d.code, p.code) <= 2');
SELECT both_ways('SELECT d.id FROM probe AS p, document AS d WHERE hamming_similarity(p.code, d.code) >= 0.9');
SELECT both_ways('SELECT d.id FROM probe AS p LEFT JOIN document AS d ON hamming(p.code, d.varying) <= 1');
SELECT both_ways('SELECT d.d FROM probe AS p, LATERAL (SELECT code <^> p.code AS d FROM document ORDER BY hamming(code, p.code) LIMIT 3) AS d');
SELECT both_ways('SELECT p.id FROM probe AS p WHERE EXISTS (SELECT FROM document AS d WHERE hamming(d.code, p.code) <= 2 AND d.id <> p.id)');
-- OR and AND, changes, views
SET enable_bitmapscan = on;
SELECT both_ways('SELECT id FROM document WHERE hamming(code, Q) <= 1 OR hamming(code, ~Q) <= 1');
SELECT both_ways('SELECT id FROM document WHERE hamming(code, Q) <= 2 AND hamming(maybe, Q) <= 3');
SET enable_bitmapscan = off;
SELECT plan('UPDATE document SET tenant_id = 0 WHERE hamming(code, X''5cf65'') <= 3');
CREATE VIEW near AS SELECT id, hamming(code, X'5cf65') AS hd FROM document;
SELECT both_ways('SELECT id FROM near WHERE hd <= 3');
DROP VIEW near;
-- domains
CREATE DOMAIN fingerprint AS bit(20);
SELECT plan('SELECT id FROM document WHERE hamming_similarity(code::fingerprint, X''5cf65'') >= 0.85');
CREATE TABLE of_domain AS SELECT id, code::fingerprint AS code FROM document;
CREATE INDEX by_domain ON of_domain USING hamming (code);
ANALYZE of_domain;
SELECT both_ways('SELECT id FROM of_domain WHERE hamming(code, Q) <= 3');
SELECT both_ways('SELECT id FROM of_domain WHERE hamming_similarity(code, Q) >= 0.85');
SELECT both_ways('SELECT hamming(code, Q) FROM of_domain ORDER BY hamming(code, Q) LIMIT 10');
DROP DOMAIN fingerprint CASCADE;
DROP TABLE of_domain;
-- partial indexes, partitions
CREATE INDEX partial_tenant ON document USING hamming (maybe) WHERE tenant_id = 5;
DROP INDEX by_maybe;
-- (some versions of PostgreSQL ask about the tenant once more)
SELECT line FROM plan('SELECT id FROM document WHERE hamming(maybe, X''5cf65'') <= 3 AND tenant_id = 5') AS line WHERE line NOT LIKE '%Filter%';
CREATE INDEX partial_distance ON document (id) WHERE hamming(code, X'00000') <= 6;
SELECT plan('SELECT id FROM document WHERE hamming(code, X''00000'') <= 6 AND id < 100');
DROP INDEX partial_distance;
CREATE INDEX by_distance ON document (hamming(code, X'00000'));
SELECT plan('SELECT id FROM document ORDER BY hamming(code, X''00000'') LIMIT 3');
DROP INDEX by_distance;
CREATE TABLE parted (id integer, code bit(20)) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (2500);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (2500) TO (30000);
INSERT INTO parted SELECT id, code FROM document;
CREATE INDEX ON parted USING hamming (code);
ANALYZE parted;
SELECT both_ways('SELECT id FROM parted WHERE hamming(code, Q) <= 3');
SELECT both_ways('SELECT hamming(code, Q) FROM parted ORDER BY hamming(code, Q) LIMIT 3');
-- in parallel workers there is no order by the distance from a parameter, which they do not have
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET enable_bitmapscan = on;
SELECT line FROM both_ways('SELECT d.d FROM probe AS p LEFT JOIN LATERAL (SELECT u.code <^> p.code AS d FROM (SELECT code FROM parted_1
    UNION ALL SELECT code FROM parted_2 WHERE id <> 2600) AS u WHERE hamming(u.code, Q) <= 9 ORDER BY d LIMIT 2) AS d ON true') AS line WHERE line ~ 'Parallel Index|rows';
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
SET max_parallel_workers_per_gather = 0;
SET enable_bitmapscan = off;
CREATE TABLE rings (id integer, code bit(20)) PARTITION BY RANGE ((hamming(code, X'00000')));
CREATE TABLE rings_near PARTITION OF rings FOR VALUES FROM (MINVALUE) TO (7);
CREATE TABLE rings_far PARTITION OF rings FOR VALUES FROM (7) TO (MAXVALUE);
INSERT INTO rings SELECT id, code FROM document;
SET enable_seqscan = on;
SELECT (SELECT count(*) FROM rings WHERE hamming(code, X'00000') <= 5) = (SELECT count(*) FROM document WHERE bit_count(code) <= 5) AS near,
    (SELECT count(*) FROM rings WHERE hamming(code, X'00000') = 7) = (SELECT count(*) FROM document WHERE bit_count(code) = 7) AS far;
SET enable_seqscan = off;
-- row-level security: conditions that may raise an error are asked after the policy, as for all of PostgreSQL's own that may
CREATE ROLE simhash_reader;
GRANT SELECT ON document TO simhash_reader;
ALTER TABLE document ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON document USING (tenant_id = 1);
SET ROLE simhash_reader;
SELECT plan('SELECT id FROM document WHERE hamming(code, X''5cf65'') <= 1');
RESET ROLE;
DROP POLICY own ON document;
CREATE POLICY near ON document USING (hamming(code, X'5cf65') <= 3);
SET ROLE simhash_reader;
SELECT plan('SELECT id FROM document');
RESET ROLE;
ALTER TABLE document DISABLE ROW LEVEL SECURITY;
DROP POLICY near ON document;
DROP OWNED BY simhash_reader;
DROP ROLE simhash_reader;
-- estimates know of clusters, whatever the type of the column, and of lengths
CREATE TABLE crowd AS
SELECT code, code::varbit AS varying, CASE WHEN i % 2 = 0 THEN code END AS half
FROM generate_series(1, 10000) AS i, LATERAL (SELECT CASE WHEN i % 100 = 0 THEN set_bit(repeat('0', 256)::bit(256), i / 100 % 8, 1)
    ELSE (hashint8extended(i, 1)::bit(64) || hashint8extended(i, 2)::bit(64) || hashint8extended(i, 3)::bit(64) || hashint8extended(i, 4)::bit(64)) END::bit(256)) AS made (code);
ANALYZE crowd;
CREATE FUNCTION estimate(condition text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE result json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) SELECT FROM crowd WHERE ' || replace(condition, 'ZERO', 'repeat(''0'', 256)::bit(256)') INTO result;
    RETURN result #>> '{0,Plan,Plan Rows}';
END $$;
SELECT condition, estimate(condition) BETWEEN least AND most AS is_near FROM (VALUES
    ('hamming(code, ZERO) <= 31', 50, 200),
    ('hamming(varying, ZERO) <= 31', 50, 200),
    ('hamming(half, ZERO) <= 31', 50, 200),
    ('code <@ hamming_ball(ZERO, 31)', 50, 200),
    ('hamming_similarity(code, ZERO) >= 0.9', 50, 200),
    ('hamming(code, ~ZERO) <= 31', 1, 10),
    ('hamming(code, ZERO) <= 128', 4900, 6500),
    ('hamming(code, ZERO) <= 256', 10000, 10000),
    ('hamming(half, ZERO) <= 256', 5000, 5000),
    ('hamming(code, ZERO) <= -1', 1, 1),
    ('hamming(code, (SELECT ZERO)) <= 31', 1, 10),
    ('hamming(code, (SELECT ZERO)) <= 128', 4900, 5500),
    ('hamming(code, X''00'') <= 3', 1, 10)
) AS asked (condition, least, most);
-- radii of any size, in any shape, for short and long strings: estimates stay between none and all
CREATE TABLE small_one AS
SELECT i AS id, hashint4(i)::bit(1) AS one, hashint4(i)::bit(8192) AS long, hashint4(i)::bit(32)::varbit AS loose FROM generate_series(1, 20) AS i;
CREATE INDEX ON small_one USING hamming (one);
CREATE INDEX ON small_one USING hamming (long);
ANALYZE small_one;
CREATE FUNCTION plans(query text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    radius integer;
    planned integer := 0;
    line text;
BEGIN
    FOREACH radius IN ARRAY '{-1,0,1,2,64,4096,8191,8192,8193,2147483647}'::integer[] LOOP
        FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || replace(query, 'RADIUS', format('(%s)', radius)) LOOP
        END LOOP;
        planned := planned + 1;
    END LOOP;
    RETURN planned;
END $$;
SELECT plans(query) AS planned, query FROM unnest(ARRAY[
    'SELECT FROM small_one WHERE hamming(one, B''1'') <= RADIUS',
    'SELECT FROM small_one WHERE hamming(one, B''1'') = RADIUS',
    'SELECT FROM small_one WHERE hamming(long, 42::bit(8192)) <= RADIUS',
    'SELECT FROM small_one WHERE hamming(long, 42::bit(8192)) < RADIUS::bigint',
    'SELECT FROM small_one WHERE hamming(long, ~long) <= RADIUS ORDER BY hamming(long, 42::bit(8192)) LIMIT 1',
    'SELECT FROM small_one WHERE hamming_similarity(long, 42::bit(8192)) >= RADIUS / 8192.0',
    'SELECT FROM small_one WHERE hamming(loose, B''1'') <= RADIUS',
    'SELECT FROM small_one WHERE hamming_within(loose, loose, RADIUS)',
    'SELECT FROM small_one WHERE hamming_within(loose, loose, (SELECT RADIUS))',
    'SELECT FROM small_one WHERE loose <@ hamming_ball(loose, RADIUS)',
    'SELECT FROM small_one WHERE ''''::varbit <@ hamming_ball(''''::varbit, RADIUS)',
    'SELECT FROM small_one AS a, small_one AS b WHERE hamming(a.long, b.long) <= RADIUS',
    'SELECT FROM small_one AS a FULL JOIN small_one AS b ON a.id = b.id AND hamming(a.loose, b.loose) <= RADIUS'
]) AS query;
-- a table that refuses equal strings: its scans see rows of others that are being written
CREATE TABLE one_of_each (code bit(70), EXCLUDE USING hamming (code WITH =));
INSERT INTO one_of_each VALUES (1::bit(70)), (2::bit(70)), (NULL), (NULL);
\set VERBOSITY terse
INSERT INTO one_of_each VALUES (2::bit(70));
\set VERBOSITY default
INSERT INTO one_of_each VALUES (2::bit(70)) ON CONFLICT DO NOTHING;
UPDATE one_of_each SET code = 3::bit(70) WHERE code = 2::bit(70);
INSERT INTO one_of_each VALUES (2::bit(70));
-- a type without a length takes the index along, until its next use
ALTER TABLE one_of_each ALTER code TYPE "bit";
INSERT INTO one_of_each VALUES (B'1');
SET enable_seqscan = off;
SELECT count(*) FROM one_of_each WHERE hamming(code, 2::bit(70)) <= 1;
SELECT * FROM hamming_index_check('one_of_each_code_excl');
VACUUM one_of_each;
REINDEX TABLE one_of_each;
VACUUM FULL one_of_each;
-- the hint works
ALTER TABLE public.one_of_each ALTER COLUMN code TYPE bit(70);
SELECT count(*) FROM one_of_each WHERE hamming(code, 2::bit(70)) <= 1;
SELECT * FROM hamming_index_check('one_of_each_code_excl', true);
VACUUM FULL one_of_each;
RESET enable_seqscan;
DROP TABLE one_of_each;
-- Plans for codes that are not scattered. In `popular`, each row has one of its four words (docs/developers/index-format.md)
-- of zeros; in `copied`, every tenth row is a copy of one code; `scattered` has neither.
RESET enable_bitmapscan;
RESET enable_sort;
CREATE FUNCTION scattered(i integer) RETURNS bit(256) LANGUAGE sql IMMUTABLE AS $$ SELECT ('x' || md5(i::text) || md5((-i)::text))::bit(256) $$;
CREATE TABLE scattered AS SELECT i AS id, scattered(i)::bit(256) AS code FROM generate_series(1, 20000) AS i;
CREATE TABLE popular AS SELECT id, (code & ~word)::bit(256) AS code FROM scattered JOIN (
    SELECT word, bit_or(set_bit(repeat('0', 256)::bit(256), (word * 64 + bit) * 159 % 256, 1))::bit(256)
    FROM generate_series(0, 3) AS word, generate_series(0, 63) AS bit GROUP BY word) AS words (number, word) ON number = id % 4;
CREATE TABLE copied AS SELECT id, CASE WHEN id % 10 = 0 THEN set_bit(scattered(0), id % 256, 1)::bit(256) ELSE code END AS code FROM scattered;
CREATE INDEX ON scattered USING hamming (code);
CREATE INDEX ON popular USING hamming (code);
CREATE INDEX ON copied USING hamming (code);
VACUUM ANALYZE scattered, popular, copied;
SELECT line FROM (VALUES
    ('SELECT FROM scattered WHERE hamming(code, :zeros) <= 15'),
    ('SELECT FROM scattered WHERE hamming(code, :zeros) <= 28'),
    ('SELECT FROM popular WHERE hamming(code, :zeros) <= 3'),
    ('SELECT FROM popular WHERE hamming(code, :zeros) <= 28'),
    ('SELECT FROM popular WHERE hamming(code, :zeros) <= 7'),
    ('SELECT FROM popular WHERE hamming(code, ~ :zeros) <= 20'),
    ('SELECT FROM popular WHERE hamming(code, (SELECT :zeros)) <= 7'),
    ('SELECT FROM copied WHERE hamming(code, :zeros) <= 15'),
    ('SELECT FROM copied WHERE hamming(code, scattered(0)) <= 15'),
    ('SELECT FROM copied WHERE hamming(code, (SELECT :zeros)) <= 15'),
    ('SELECT FROM scattered ORDER BY hamming(code, :zeros) LIMIT 10'),
    ('SELECT FROM scattered ORDER BY hamming(code, :zeros) LIMIT 1000')
) AS asked (query), plan(replace(query, ':zeros', 'repeat(''0'', 256)::bit(256)')) AS line WHERE line ~ 'Scan|Sort$';
DROP TABLE scattered, popular, copied;
DROP FUNCTION scattered;
-- codes that are computed by an expression: they are stored as a whole, so that no search computes it
CREATE TABLE halves AS SELECT i AS id, hashint8extended(i % 2000, 1)::bit(64) AS a, hashint8extended(i % 2000, 2)::bit(64) AS b FROM generate_series(1, 4000) AS i;
CREATE INDEX of_words ON halves USING hamming (((a || b)::bit(128))) WITH (trees = words);
CREATE INDEX of_words ON halves USING hamming (((a || b)::varbit(128))) WITH (trees = both);
CREATE INDEX of_both ON halves USING hamming (((a || b)::bit(128)));
ALTER INDEX of_both SET (trees = words);
REINDEX INDEX of_both;
ALTER INDEX of_both SET (trees = whole);
REINDEX INDEX of_both;
SELECT bands AS none FROM hamming_index_stats('of_both');
ANALYZE halves;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT (a || b)::bit(128) AS q FROM halves WHERE id = 5 \gset
SELECT line ~ 'Index Scan using of_both' AS by_index FROM plan(format('SELECT id FROM halves WHERE hamming((a || b)::bit(128), %L) <= 9', :'q')) AS line LIMIT 1;
SELECT id FROM halves WHERE hamming((a || b)::bit(128), :'q') <= 9 ORDER BY id;
SELECT id FROM halves WHERE hamming((a || b)::bit(128), :'q') <= 9 AND hamming((a || b)::bit(128), :'q'::bit(128) # 7::bit(128)) <= 3 ORDER BY id;
SELECT id FROM halves WHERE hamming((a || b)::bit(128), :'q') <= 9 AND hamming((a || b)::bit(128), :'q'::bit(128) # 7::bit(128)) <= 2 ORDER BY id;
SELECT id FROM halves ORDER BY hamming((a || b)::bit(128), :'q'), id LIMIT 2;
-- a scan does not compute the expression either to raise the error of another length
CREATE FUNCTION seen(bit) RETURNS bit LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE 'row seen'; RETURN $1; END $$;
SET client_min_messages = warning;
CREATE INDEX of_seen ON halves USING hamming ((seen(a || b)::bit(128)));
CREATE INDEX of_seen_word ON halves USING hamming ((seen(a)::bit(64)));
RESET client_min_messages;
SELECT line ~ 'Index Scan using of_seen' AS by_index FROM plan('SELECT id FROM halves ORDER BY hamming(seen(a || b)::bit(128), B''101'') LIMIT 1') AS line WHERE line ~ 'Scan';
SELECT id FROM halves ORDER BY hamming(seen(a || b)::bit(128), B'101') LIMIT 1;
SELECT id FROM halves ORDER BY hamming(seen(a)::bit(64), B'101') LIMIT 1;
DROP FUNCTION seen CASCADE;
-- the trees of a column, and of codes of one word, can be chosen
ALTER TABLE halves ADD code bit(128) GENERATED ALWAYS AS (a || b) STORED;
CREATE INDEX of_column ON halves USING hamming (code) WITH (trees = words);
SELECT bands FROM hamming_index_stats('of_column');
SELECT id FROM halves WHERE hamming(code, :'q') <= 9 ORDER BY id;
CREATE INDEX of_one_word ON halves USING hamming ((a::bit(40))) WITH (trees = words);
SELECT id FROM halves WHERE hamming(a::bit(40), (SELECT a::bit(40) FROM halves WHERE id = 5)) <= 3 ORDER BY id;
DROP TABLE halves;
-- codes that the table keeps compressed
CREATE TABLE squeezed (id integer, code bit(8192), filler text);
ALTER TABLE squeezed ALTER filler SET STORAGE PLAIN;
INSERT INTO squeezed SELECT 1, repeat('01', 4096)::bit(8192), string_agg(md5(i::text), '') FROM generate_series(1, 60) AS i;
SELECT pg_column_size(code) < 1024 AS is_compressed FROM squeezed;
CREATE INDEX squeezed_code ON squeezed USING hamming (code);
INSERT INTO squeezed SELECT 2, ~code, filler FROM squeezed;
SELECT * FROM hamming_index_check('squeezed_code', true);
SELECT id FROM squeezed WHERE hamming(code, repeat('01', 4096)::bit(8192)) <= 3;
DROP TABLE squeezed;
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE document, probe, parted, rings, crowd, small_one CASCADE;
DROP FUNCTION plan, both_ways, estimate, plans;
