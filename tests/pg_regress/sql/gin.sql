-- the plain query on sketches, however it is written
SET client_min_messages = warning;
CREATE TABLE document (id integer, tags bigint[]);
-- three documents in a row have every second value, or every third, in common
INSERT INTO document SELECT i, ARRAY(SELECT DISTINCT hashint8extended(i / 3 * 100 + j * (1 + i % 3), 7) FROM generate_series(1, 30) AS j ORDER BY 1)
FROM generate_series(1, 3000) AS i;
INSERT INTO document VALUES (-1, NULL), (-2, '{}'), (-3, '{NULL}'), (-4, '{3,1,NULL,2,2}'), (-5, '{{1,2},{3,4}}'), (-6, '{1}'), (-7, '[5:6]={7,1}');
ANALYZE document;
SELECT tags AS sketch FROM document WHERE id = 300 \gset
-- Long arrays are left out of plans, and the names of parameters are those of PostgreSQL 15.
CREATE FUNCTION sketch_plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        CONTINUE WHEN line ~ '^ *Replaces: ';
        line := regexp_replace(line, 'InitPlan (expr|minmax)_\d+', 'InitPlan 1');
        line := regexp_replace(replace(line, '(InitPlan 1).col1', '$0'), 'InitPlan 1.*', 'InitPlan 1');
        RETURN NEXT regexp_replace(line, '\{[-0-9,]{50,}\}', '{...}', 'g');
    END LOOP;
END $$;
-- the same result as PostgreSQL's own operator, for every array
SELECT a, b, sketch_overlaps(a, b), a && b AS by_postgres
FROM (VALUES ('{}'::bigint[], '{}'::bigint[]), ('{}', '{1}'), ('{1}', '{1}'), ('{1,2,3}', '{0,4}'), ('{3,1,2}', '{2}'), ('{1,1,2}', '{2,2}'),
             ('{NULL}', '{NULL}'), ('{NULL,1}', '{1,NULL}'), ('{NULL,1}', '{2,NULL}'), ('{{1,2},{3,4}}', '{4}'), ('[3:4]={5,6}', '{6}'),
             (NULL, '{1}'), ('{9,1}', '{5,9}'), ('{1,2}', '{5,1}')) AS v (a, b);
-- an index of PostgreSQL's own class is used as before: literals, parameters, generic plans, subqueries, joins, OR
CREATE INDEX document_tags ON document USING gin (tags);
SELECT sketch_plan(format('SELECT id FROM document WHERE sketch_overlaps(tags, %L)', :'sketch'));
SELECT sketch_plan('SELECT id FROM document WHERE sketch_overlaps(''{7,8}'', tags)');
SELECT sketch_plan('SELECT id FROM document WHERE sketch_overlaps(tags, ''{1}'') OR sketch_overlaps(tags, ''{7,8}'')');
SELECT sketch_plan('SELECT id FROM document WHERE sketch_overlaps(tags, (SELECT tags FROM document WHERE id = 7 LIMIT 1))');
SELECT sketch_plan('SELECT a.id FROM document AS a JOIN document AS b ON sketch_overlaps(a.tags, b.tags) AND b.id = 7');
PREPARE overlap(bigint[]) AS SELECT id FROM document WHERE sketch_overlaps(tags, $1) ORDER BY id;
SELECT sketch_plan('EXECUTE overlap(''{1,7}'')');
SET plan_cache_mode = force_generic_plan;
SELECT sketch_plan('EXECUTE overlap(''{1,7}'')');
EXECUTE overlap('{1,7}');
EXECUTE overlap('{NULL,1}');
EXECUTE overlap(:'sketch');
EXECUTE overlap('{}');
EXECUTE overlap(NULL);
RESET plan_cache_mode;
-- a share that is not 0 needs a common value
SELECT sketch_plan('SELECT id FROM document WHERE sketch_similarity(tags, ''{1,2}'') >= 0.5');
SELECT sketch_plan('SELECT id FROM document WHERE sketch_similarity(tags, ''{1,2}'') >= 0');
-- one value of 3,000 rows, a common one, and a whole sketch: none of them seems to find a large part of the table
CREATE FUNCTION rows_expected(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
SELECT rows_expected(format('SELECT FROM document WHERE sketch_overlaps(tags, %L)', :'sketch')) BETWEEN 1 AND 30 AS sketch,
       rows_expected('SELECT FROM document WHERE sketch_overlaps(tags, ''{1}'')') BETWEEN 1 AND 5 AS value,
       rows_expected(format('SELECT FROM document WHERE sketch_similarity(tags, %L) >= 0.5', :'sketch')) BETWEEN 1 AND 30 AS share,
       rows_expected(format('SELECT FROM document WHERE sketch_similarity(tags, %L) >= 0', :'sketch')) > 2900 AS any_share;
CREATE TABLE common AS SELECT i, ARRAY[i % 2, i % 10 + 10, i + 1000]::bigint[] AS tags FROM generate_series(1, 1000) AS i;
ANALYZE common;
SELECT rows_expected('SELECT FROM common WHERE sketch_overlaps(tags, ''{1}'')') BETWEEN 400 AND 600 AS half, rows_expected('SELECT FROM common WHERE sketch_overlaps(tags, ''{12,15}'')') BETWEEN 150 AND 250 AS fifth,
       rows_expected('SELECT FROM common WHERE sketch_containment(''{1,12,13,14}'', tags) >= 0.5') BETWEEN 200 AND 500 AS contained;
DROP TABLE common;
DELETE FROM document WHERE id IN (-3, -4);
-- the class for sketches: PostgreSQL's own operator too, and shares of each kind, however they are written
DROP INDEX document_tags;
CREATE INDEX document_sketch ON document USING gin (tags sketch_ops);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'sketch_ops';
SELECT sketch_plan('SELECT id FROM document WHERE tags && ''{7}''');
SELECT sketch_plan(format('SELECT id FROM document WHERE sketch_overlaps(tags, %L)', :'sketch'));
SELECT sketch_plan(format('SELECT id FROM document WHERE sketch_similarity(tags, %L) >= 0.5', :'sketch'));
SELECT sketch_plan(format('SELECT id FROM document WHERE 0.5 < sketch_similarity(%L, tags)', :'sketch'));
SELECT sketch_plan(format('SELECT id FROM document WHERE sketch_containment(%L, tags) >= 1', :'sketch'));
SELECT sketch_plan(format('SELECT id FROM document WHERE sketch_containment(tags, %L) > 0.5::real', :'sketch'));
SELECT sketch_plan('SELECT id FROM document WHERE sketch_containment(''{1,7}'', tags) = 1');
SELECT sketch_plan('SELECT id FROM document WHERE sketch_containment(''{1,7}'', tags) BETWEEN 0.2 AND 0.7');
SELECT sketch_plan('SELECT b.id FROM document AS a JOIN document AS b ON sketch_similarity(a.tags, b.tags) >= 0.3 WHERE a.id = 7');
PREPARE share(bigint[], double precision) AS SELECT id FROM document WHERE sketch_similarity(tags, $1) > $2 ORDER BY id;
SET plan_cache_mode = force_generic_plan;
SELECT sketch_plan('EXECUTE share(''{1}'', 0.5)');
EXECUTE share(:'sketch', 0.2);
EXECUTE share(:'sketch', 1);
EXECUTE share(:'sketch', 'NaN');
PREPARE count_share(bigint[], double precision) AS SELECT count(*) FROM document WHERE sketch_similarity(tags, $1) >= $2;
EXECUTE count_share('{}', 0);
EXECUTE count_share('{}', 0.1);
EXECUTE count_share('{1}', -1);
EXECUTE share('{1}', 0.4);
EXECUTE share('{1}', NULL);
RESET plan_cache_mode;
SELECT id FROM document WHERE sketch_containment('{1,7}', tags) = 1;
SELECT id FROM document WHERE sketch_containment('{1,7}', tags) BETWEEN 0.2 AND 0.7 ORDER BY id;
SELECT id FROM document WHERE sketch_overlaps(tags, '{1,NULL}') ORDER BY id;
-- a share that no sketch reaches, as a constant
SELECT sketch_plan('SELECT id FROM document WHERE sketch_similarity(tags, ''{1}'') > 1');
SELECT count(*) FROM document WHERE sketch_similarity(tags, '{1}') > 1 OR sketch_similarity(tags, '{1}') >= 'NaN';
-- conditions that are not rewritten: upper bounds, shares of other functions
SELECT sketch_plan('SELECT id FROM document WHERE sketch_similarity(tags, ''{1}'') <= 0.5');
SELECT sketch_plan('SELECT id FROM document WHERE hamming_similarity(id, 7) >= 0.99');
-- Rows that cannot reach the share are not fetched.
CREATE FUNCTION rows_removed(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    found text := '';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
        found := found || coalesce(substring(line FROM '(Rows Removed by \w+.*: \d+)') || '; ', '')
            || coalesce('rows of the index: ' || substring(line FROM 'Bitmap Index Scan.*rows=(\d+)'), '');
    END LOOP;
    RETURN found;
END $$;
SELECT rows_removed(format('SELECT id FROM document WHERE sketch_overlaps(tags, %L)', :'sketch')) AS overlap,
       rows_removed(format('SELECT id FROM document WHERE sketch_containment(%L, tags) >= 0.6', :'sketch')) AS share,
       rows_removed(format('SELECT id FROM document WHERE sketch_containment(tags, %L) >= 0.6', :'sketch')) AS share_of_stored,
       rows_removed(format('SELECT id FROM document WHERE sketch_similarity(tags, %L) >= 0.6', :'sketch')) AS similarity;
-- a value that is the key of a size as well
INSERT INTO document VALUES (-8, '{-9223372036854775806}');
SELECT id FROM document WHERE sketch_overlaps(tags, '{-9223372036854775806}');
SELECT id FROM document WHERE sketch_containment(tags, '{-9223372036854775806,7}') >= 0.5 ORDER BY id;
DELETE FROM document WHERE id = -8;
-- conditions and predicates of indexes are compared as they were written
DROP INDEX document_sketch;
CREATE INDEX partial ON document (id) WHERE sketch_overlaps(tags, '{1,7}') AND sketch_similarity(tags, '{1,2}') >= 0.3;
SELECT sketch_plan('SELECT id FROM document WHERE sketch_overlaps(tags, ''{1,7}'') AND sketch_similarity(tags, ''{1,2}'') >= 0.3 AND id > 5');
DROP INDEX partial;
-- an index on an expression
CREATE TABLE text_document AS SELECT i AS id, string_agg(md5((i * 100 + j)::text), ' ') AS body FROM generate_series(1, 300) AS i, generate_series(1, 10) AS j GROUP BY i;
CREATE INDEX ON text_document USING gin (excerpt_sketch(body, 60) sketch_ops);
CREATE INDEX ON text_document USING gin (passage_sketch(body, 106));
ANALYZE text_document;
SET enable_seqscan = off;
SELECT 'quoted: ' || substr(body, 20, 70) AS quoted FROM text_document WHERE id = 42 \gset
SELECT sketch_plan(format('SELECT id FROM text_document WHERE sketch_overlaps(excerpt_sketch(body, 60), excerpt_sketch(%L, 60))', :'quoted'));
SELECT sketch_plan(format('SELECT id FROM text_document WHERE sketch_overlaps(passage_sketch(body, 106), passage_sketch(%L, 106))', :'quoted'));
SELECT id, s.* FROM text_document, shared_passages(body, :'quoted', 60) AS s WHERE sketch_overlaps(excerpt_sketch(body, 60), excerpt_sketch(:'quoted', 60));
RESET enable_seqscan;
-- row-level security: an index on sketches is used, for sketch_overlaps is leakproof
CREATE INDEX document_sketch ON document USING gin (tags sketch_ops);
ALTER TABLE document ENABLE ROW LEVEL SECURITY;
CREATE POLICY even ON document USING (id % 2 = 0);
CREATE ROLE sketch_reader;
GRANT SELECT ON document TO sketch_reader;
SET ROLE sketch_reader;
SELECT sketch_plan('SELECT id FROM document WHERE sketch_overlaps(tags, ''{1,7}'')');
SELECT id FROM document WHERE sketch_overlaps(tags, '{1,7}') ORDER BY id;
SELECT sketch_plan('SELECT id FROM document WHERE sketch_similarity(tags, ''{1,7}'') >= 0.5');
RESET ROLE;
DROP TABLE document, text_document;
DROP ROLE sketch_reader;
DROP FUNCTION rows_expected, rows_removed;
-- queries exist in index conditions only; errors are those of the comparison
SELECT '{1}'::sketch_query;
SELECT sketch_query_of('{3,1,1}', 1, 0.5) AS share, '{1}'::bigint[] @@ sketch_query_of('{3,1}', 1, 0.5) AS half, '{}'::bigint[] @@ sketch_query_of('{1}', 2, 0.5) AS none;
SELECT sketch_query_of('{NULL}', 1, 0.5);
SELECT sketch_query_of('{1}', 3, 0.5);
SELECT sketch_similar('{1}', '{NULL}', 0.5);
SELECT sketch_similar('{}', '{}', 0) AS both_empty, sketch_contained('{}', '{1}', 0) AS first_empty, sketch_contained('{1}', '{}', 0) AS second_empty,
       sketch_above(0.5) > 0.5 AS above, sketch_above('NaN') AS nan, sketch_above('Infinity') AS infinity;
-- a class of arrays of another type
CREATE OPERATOR CLASS bad_ops FOR TYPE integer[] USING gin AS
    OPERATOR 1 && (anyarray, anyarray), FUNCTION 1 btint4cmp(integer, integer), FUNCTION 2 gin_sketch_keys(bigint[], internal, internal),
    FUNCTION 3 gin_sketch_query_keys(bigint[], internal, smallint, internal, internal, internal, internal),
    FUNCTION 6 gin_sketch_consistent(internal, smallint, bigint[], integer, internal, internal, internal), STORAGE integer;
CREATE TABLE of_integers AS SELECT '{1,2,3}'::integer[] AS tags;
CREATE INDEX ON of_integers USING gin (tags bad_ops);
DROP TABLE of_integers;
DROP OPERATOR FAMILY bad_ops USING gin;
-- A join searches the index for each row. How many rows it has is estimated by statistics, also if half of them are in clusters: its power of ten.
-- Statistics of columns that the user may not read are not used.
\getenv folder PG_ABS_SRCDIR
\set functions :folder '/include/join_functions.sql'
\i :functions
CREATE TABLE join_many AS SELECT i AS id, ARRAY(SELECT hashint8extended(j, i) FROM generate_series(1, 40) AS j) AS scattered,
    ARRAY(SELECT hashint8extended(j, i) FROM generate_series(1, 20) AS j
        UNION ALL SELECT hashint8extended(j, -1 - i % 100) FROM generate_series(1, 20) AS j WHERE i % 2 = 0) AS sketch
FROM generate_series(1, 1000) AS i;
CREATE INDEX ON join_many USING gin (scattered);
CREATE INDEX ON join_many USING gin (sketch sketch_ops);
ANALYZE join_many;
SELECT join_plan('SELECT count(*) FROM join_many AS a JOIN join_many AS b ON sketch_similarity(a.sketch, b.sketch) >= 0.3');
SELECT condition, counted, round(log(estimated::numeric / counted)) AS power_of_ten FROM unnest(ARRAY[
    'sketch_overlaps(a.scattered, b.scattered)', 'sketch_overlaps(a.sketch, b.sketch)', 'sketch_overlaps(a.scattered, b.sketch)',
    'sketch_similarity(a.sketch, b.sketch) >= 0.3', 'sketch_similarity(a.sketch, b.sketch) > 0.5',
    'sketch_containment(a.sketch, b.sketch) >= 0.4', 'sketch_containment(b.sketch, a.sketch) > 0.6']) AS condition, join_estimate(condition);
CREATE ROLE regress_join_reader;
GRANT SELECT ON join_many TO regress_join_reader;
ALTER TABLE join_many ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON join_many USING (id > 0);
SET ROLE regress_join_reader;
SELECT (join_estimate('sketch_similarity(a.sketch, b.sketch) >= 0.3')).estimated = (join_estimate('sketch_similarity(a.sketch, b.sketch) > 0.5')).estimated AS hidden;
RESET ROLE;
DROP TABLE join_many;
DROP ROLE regress_join_reader;
DROP FUNCTION join_answer, join_estimate, join_plan, join_work;
-- PostgreSQL's own && is not changed: a partition by it is pruned, a CHECK with it excludes, an index on it is used
\c -
SET client_min_messages = warning;
CREATE TABLE flagged AS SELECT i AS id, ARRAY[i]::bigint[] AS tags FROM generate_series(1, 5000) AS i;
CREATE INDEX flagged_seven ON flagged ((tags && '{7}'));
ANALYZE flagged;
CREATE TABLE parted (id bigint, tags bigint[]) PARTITION BY LIST ((tags && '{5}'));
CREATE TABLE parted_with PARTITION OF parted FOR VALUES IN (true);
CREATE TABLE parted_without PARTITION OF parted FOR VALUES IN (false);
CREATE TABLE checked (id bigint, tags bigint[] CHECK (NOT (tags && '{9}')));
SET constraint_exclusion = on;
PREPARE flagged_id AS SELECT id FROM flagged WHERE tags && '{7}';
PREPARE parted_id AS SELECT id FROM parted WHERE tags && '{5}';
PREPARE checked_id AS SELECT id FROM checked WHERE tags && '{9}';
EXPLAIN (COSTS OFF) EXECUTE flagged_id;
EXPLAIN (COSTS OFF) EXECUTE parted_id;
SELECT sketch_plan('EXECUTE checked_id');
-- the same after the library has been loaded and has planned conditions with our functions
SELECT id FROM flagged WHERE sketch_overlaps(tags, '{7}') AND sketch_similarity(tags, '{7}') >= 0.5;
DEALLOCATE ALL;
PREPARE flagged_id AS SELECT id FROM flagged WHERE tags && '{7}';
PREPARE parted_id AS SELECT id FROM parted WHERE tags && '{5}';
PREPARE checked_id AS SELECT id FROM checked WHERE tags && '{9}';
EXPLAIN (COSTS OFF) EXECUTE flagged_id;
EXPLAIN (COSTS OFF) EXECUTE parted_id;
SELECT sketch_plan('EXECUTE checked_id');
RESET constraint_exclusion;
DROP TABLE flagged, parted, checked;
DROP FUNCTION sketch_plan;
-- a session in which the extension is dropped and created again
CREATE TABLE fresh AS SELECT i AS id, winnow_sketch(md5(i::text), 5, 2) AS sketch FROM generate_series(1, 10) AS i;
BEGIN;
DROP EXTENSION simhash_pg CASCADE;
CREATE EXTENSION simhash_pg;
SELECT count(*) FROM fresh WHERE sketch_overlaps(sketch, winnow_sketch(md5('7'), 5, 2)) AND sketch_similarity(sketch, winnow_sketch(md5('7'), 5, 2)) >= 0.9;
ROLLBACK;
SELECT count(*) FROM fresh WHERE sketch_overlaps(sketch, winnow_sketch(md5('7'), 5, 2)) AND sketch_similarity(sketch, winnow_sketch(md5('7'), 5, 2)) >= 0.9;
DROP TABLE fresh;
