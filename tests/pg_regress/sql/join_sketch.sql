-- Near joins on sketches give the same rows as a nested loop, and EXPLAIN shows their work.
\getenv folder PG_ABS_SRCDIR
\set functions :folder '/include/join_functions.sql'
\set ways :folder '/include/join_ways.sql'
\i :functions
SET max_parallel_workers_per_gather = 0;
CREATE TABLE join_a (id integer, grp integer, sketch bigint[], tags bigint[], note text);
CREATE TABLE join_b (LIKE join_a);
-- Families that share values, a value of nearly all rows, repeated and unsorted values, empty arrays, and NULLs. Tags have NULLs among their values too.
INSERT INTO join_a SELECT i, i % 7,
    CASE i % 9 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN '{{9,3},{3,1}}'
        ELSE ARRAY(SELECT abs(hashint8extended(j % (3 + i % 5), i % 20)) % 100000 FROM generate_series(1, i % 11) AS j) || 1::bigint END,
    CASE WHEN i % 8 = 0 THEN ARRAY[NULL, i % 30, 7 - i, NULL] ELSE ARRAY[i % 50, i] END,
    repeat('x', i % 11)
FROM generate_series(1, 450) AS i;
INSERT INTO join_b SELECT i, i % 5,
    CASE i % 7 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN '{1,2,3}'
        ELSE ARRAY(SELECT abs(hashint8extended(j % (2 + i % 6), i % 20)) % 100000 FROM generate_series(1, i % 11) AS j) || -5::bigint || nullif(1::bigint, i % 4) END,
    CASE WHEN i % 6 = 0 THEN ARRAY[i % 20, NULL, i] ELSE ARRAY[i % 40] END,
    nullif(repeat('y', i % 3), '')
FROM generate_series(1, 350) AS i;
UPDATE join_b SET sketch = array_remove(sketch, NULL);
ANALYZE join_a, join_b;

-- The queries, and their plans.
EXPLAIN (COSTS OFF) SELECT a.id, b.note FROM join_a AS a JOIN join_b AS b ON sketch_similarity(a.sketch, b.sketch) >= 0.5 AND a.grp < b.grp;
EXPLAIN (COSTS OFF) SELECT a.id FROM join_a AS a WHERE EXISTS (SELECT FROM join_b AS b WHERE sketch_containment(b.sketch, a.sketch) > 0.5);
EXPLAIN (COSTS OFF) SELECT a.id FROM join_a AS a WHERE NOT EXISTS (SELECT FROM join_b AS b WHERE sketch_overlaps(a.tags, b.tags) AND b.note > a.note);
EXPLAIN (COSTS OFF) SELECT count(*) FROM join_a AS a FULL JOIN join_b AS b ON sketch_overlaps(a.tags, b.tags);
-- A near join serves one of several conditions: one on a distance, if there is any.
EXPLAIN (COSTS OFF) SELECT a.id FROM join_a AS a JOIN join_b AS b ON sketch_overlaps(a.tags, b.tags) AND hamming(a.id, b.id) <= 3;
EXPLAIN (COSTS OFF) SELECT a.id FROM join_a AS a JOIN join_b AS b ON sketch_overlaps(a.tags, b.tags) AND sketch_similarity(a.sketch, b.sketch) = 0.5;
-- PostgreSQL's own operator is not ours, and a share has to be the same for all rows.
EXPLAIN (COSTS OFF) SELECT a.id FROM join_a AS a JOIN join_b AS b ON a.tags && b.tags;
EXPLAIN (COSTS OFF) SELECT a.id FROM join_a AS a JOIN join_b AS b ON sketch_similarity(a.sketch, b.sketch) >= a.id;
SELECT join_work('SELECT count(*) FROM join_a AS a JOIN join_b AS b ON sketch_containment(a.sketch, b.sketch) >= 0.75 AND a.id <> b.id');
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT join_work('SELECT count(*) FROM join_a AS a JOIN join_b AS b ON sketch_overlaps(a.tags, b.tags)');
RESET work_mem;
RESET hash_mem_multiplier;

CREATE TABLE join_query (number serial, query text);
INSERT INTO join_query (query)
SELECT format(query, condition) FROM unnest(ARRAY[
    'SELECT a.id, b.id AS other, a.note, b.note FROM join_a AS a JOIN join_b AS b ON %s',
    'SELECT a.id, b.id AS other, b.sketch FROM join_a AS a JOIN join_b AS b ON %s AND a.grp < b.grp',
    'SELECT a.id FROM join_a AS a WHERE EXISTS (SELECT FROM join_b AS b WHERE %s AND a.id > b.id)',
    'SELECT a.id FROM join_a AS a WHERE NOT EXISTS (SELECT FROM join_b AS b WHERE %s AND a.grp <= b.grp)',
    'SELECT a.id, b.id AS other FROM join_a AS a JOIN join_a AS b ON a.id < b.id AND %s',
    'SELECT a.id, b.id AS other, b.note FROM join_a AS a LEFT JOIN join_b AS b ON %s AND a.grp = b.grp WHERE b.id IS NULL OR b.note IS NOT NULL',
    'SELECT a.id, b.id AS other, a.tags FROM join_a AS a RIGHT JOIN join_b AS b ON %s AND a.id %% 3 = 1']) AS query,
    unnest(ARRAY['sketch_overlaps(a.sketch, b.sketch)', 'sketch_overlaps(b.tags, a.tags)', 'sketch_overlaps(a.tags, b.sketch)', 'sketch_overlaps(a.sketch, array_remove(b.tags, 3))',
        'sketch_similarity(a.sketch, b.sketch) >= 0.4', 'sketch_similarity(b.sketch, a.sketch) > (SELECT 0.2)', 'sketch_similarity(a.sketch, b.sketch) = 1',
        'sketch_similarity(a.sketch, b.sketch) >= 0', 'sketch_similarity(a.sketch, b.sketch) > 0', 'sketch_similarity(a.sketch, b.sketch) >= 1.5',
        'sketch_similarity(a.sketch, b.sketch) >= ''NaN''', 'sketch_similar(a.sketch, b.sketch, (SELECT NULL::double precision))',
        'sketch_containment(a.sketch, b.sketch) >= 0.5', 'sketch_containment(b.sketch, a.sketch) >= 0.5', 'sketch_containment(a.sketch, b.sketch) >= 1',
        'sketch_containment(b.sketch, a.sketch) >= -1', 'sketch_containment(a.sketch, b.sketch) >= (SELECT -1)', 'sketch_containment(b.sketch, a.sketch) > 0.3']) AS condition;
\i :ways
-- Workers share the outer side.
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT count(*) FROM join_a AS a JOIN join_b AS b ON sketch_similarity(a.sketch, b.sketch) >= 0.5;
SELECT sum((join_answer(query) <> answer)::integer) AS wrong FROM join_query JOIN join_truth USING (number);
SET parallel_leader_participation = off;
SELECT sum((join_answer(query) <> answer)::integer) AS wrong FROM join_query JOIN join_truth USING (number);
RESET parallel_leader_participation;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SET max_parallel_workers_per_gather = 0;
-- A full join has no other plan.
SELECT count(*), count(a.id), count(b.id) FROM join_a AS a FULL JOIN join_b AS b ON sketch_similarity(a.sketch, b.sketch) >= 0.4 AND a.grp = b.grp;
SELECT (SELECT count(*) FROM join_a AS a JOIN join_b AS b ON sketch_similarity(a.sketch, b.sketch) >= 0.4 AND a.grp = b.grp) AS pairs, count(*) AS lone
FROM join_a AS a WHERE NOT EXISTS (SELECT FROM join_b AS b WHERE sketch_similarity(a.sketch, b.sketch) >= 0.4 AND a.grp = b.grp);

-- The changed side is read again for each outer row, and the share is computed again.
SELECT x, count FROM generate_series(0, 10, 4) AS x, LATERAL (SELECT count(*) FROM join_a AS a JOIN join_b AS b ON sketch_similarity(a.sketch, b.sketch) >= x / 10.0 OFFSET 0) AS c;
SELECT x, count FROM generate_series(0, 10, 4) AS x, LATERAL (SELECT count(*) FROM join_a AS a JOIN join_b AS b ON sketch_overlaps(a.tags, b.tags || x::bigint) OFFSET 0) AS c;

-- Sketches with a NULL have no shares. The error comes only if there is a sketch to compare with.
SELECT count(*) FROM join_a AS a JOIN join_b AS b ON sketch_similarity(a.sketch, b.tags) >= 0.5;
SELECT count(*) FROM join_a AS a JOIN join_b AS b ON sketch_containment(a.tags, b.sketch) >= 0.5;
SELECT count(*) FROM (SELECT * FROM join_a WHERE sketch IS NULL OFFSET 0) AS a JOIN join_b AS b ON sketch_similarity(a.sketch, b.tags) >= 0.5;
SELECT count(*) FROM join_a AS a JOIN join_b AS b ON sketch_similar(a.sketch, b.tags, (SELECT NULL::double precision));
DROP TABLE join_a, join_b, join_query, join_truth;

-- The number of rows is estimated by statistics, also if half of them are in clusters: its power of ten.
-- Statistics of columns that the user may not read are not used.
CREATE TABLE join_many AS SELECT i AS id, ARRAY(SELECT hashint8extended(j, i) FROM generate_series(1, 40) AS j) AS scattered,
    ARRAY(SELECT hashint8extended(j, i) FROM generate_series(1, 20) AS j
        UNION ALL SELECT hashint8extended(j, -1 - i % 100) FROM generate_series(1, 20) AS j WHERE i % 2 = 0) AS sketch
FROM generate_series(1, 4000) AS i;
CREATE INDEX ON join_many USING gin (scattered);
CREATE INDEX ON join_many USING gin (sketch sketch_ops);
ANALYZE join_many;
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
-- A partitioned table has no blocks, and a table with children may have none.
CREATE TABLE join_parts (LIKE join_many) PARTITION BY RANGE (id);
CREATE TABLE join_part_1 PARTITION OF join_parts FOR VALUES FROM (MINVALUE) TO (1500);
CREATE TABLE join_part_2 PARTITION OF join_parts FOR VALUES FROM (1500) TO (MAXVALUE);
INSERT INTO join_parts TABLE join_many;
CREATE INDEX ON join_parts USING gin (sketch sketch_ops);
CREATE TABLE join_parent (LIKE join_many);
CREATE TABLE join_child () INHERITS (join_parent);
INSERT INTO join_child TABLE join_many;
CREATE INDEX ON join_parent USING gin (sketch sketch_ops);
ANALYZE join_parts, join_parent;
EXPLAIN (COSTS OFF) SELECT count(*) FROM join_parts AS a JOIN join_parts AS b ON sketch_similarity(a.sketch, b.sketch) >= 0.3;
EXPLAIN (COSTS OFF) SELECT count(*) FROM join_part_1 AS a JOIN join_parent AS b ON sketch_similarity(a.sketch, b.sketch) >= 0.3;
DROP TABLE join_parent, join_child, join_parts, join_many;
DROP ROLE regress_join_reader;
DROP FUNCTION join_answer, join_estimate, join_plan, join_work;
