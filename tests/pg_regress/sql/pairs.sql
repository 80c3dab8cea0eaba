-- Near pairs in parts, keys of any type, and clusters of pairs.

-- Keys of any type, the smaller first in the order of the type.
SELECT * FROM near_pairs('{30,10,20,40,50,60}'::integer[], '{63,0,7,0,-1,NULL}'::bigint[], 3) ORDER BY a, b;
SELECT * FROM near_pairs(ARRAY['b', 'a', 'Z', 'é']::text[] COLLATE "C", '{0,1,3,2}'::bigint[], 1) ORDER BY a, b;
SELECT * FROM near_pairs(ARRAY[md5('2'), md5('1')]::uuid[], '{0,1}'::bigint[], 1);
SELECT * FROM near_pairs('{2026-01-02,2026-01-01}'::date[], ARRAY[B'1010', B'1000'], 1);
SELECT * FROM near_pairs('{16,8}'::integer[]::text[], '{0,1}'::bigint[], 1);
SELECT * FROM near_pairs('{1.50,1.5,1}'::numeric[], '{0,1,3}'::bigint[], 1) ORDER BY a, b;
SELECT * FROM near_pairs('{1,2,3}'::bigint[], ARRAY[B'101', B'100', NULL]::varbit[], 1);
SELECT * FROM near_pairs('{}'::text[], '{}'::bigint[], 64);
SELECT * FROM near_pairs('{}'::text[], '{}'::varbit[], 64);
SELECT * FROM near_pairs('{1,2}'::integer[], NULL::bigint[], 3);

-- The blocks of a code.
SELECT near_blocks(42, 3, 1), near_blocks(42, 3, 8) AS bands, near_blocks(42, 10, 4) AS triangle, near_blocks(NULL::bigint, 3, 8) AS of_null;
SELECT near_blocks(B'101', 1, 1), near_blocks(42::bit(64), 3, 8) AS bands, near_blocks(repeat('01', 128)::bit(256), 15, 8);

-- All blocks together have each pair once.
CREATE TABLE doc AS
SELECT md5(i::text)::uuid AS id, CASE WHEN i % 50 > 0 THEN hashint8extended(i % 300, 1) # (1::bigint << i % 63) # (1::bigint << i % 59) END AS si
FROM generate_series(1, 3000) AS i;
CREATE FUNCTION differing(radius integer, parts integer, OUT pairs bigint, OUT differing bigint, OUT blocks bigint) LANGUAGE sql AS $$
    WITH grouped AS MATERIALIZED (
             SELECT block, array_agg(id) AS ids, array_agg(si) AS sis
             FROM doc, unnest(near_blocks(si, radius, parts)) AS block GROUP BY block),
         in_blocks AS MATERIALIZED (SELECT p.* FROM grouped, near_pairs(ids, sis, radius, parts, block) AS p),
         of_all AS MATERIALIZED (SELECT p.* FROM (SELECT array_agg(id) AS ids, array_agg(si) AS sis FROM doc) AS d, near_pairs(ids, sis, radius) AS p)
    SELECT (SELECT count(*) FROM of_all),
           (SELECT count(*) FROM ((TABLE of_all EXCEPT ALL TABLE in_blocks) UNION ALL (TABLE in_blocks EXCEPT ALL TABLE of_all)) AS d),
           (SELECT count(*) FROM grouped)
$$;
SELECT radius, parts, pairs > 500 AS many, differing, blocks
FROM (VALUES (0, 3), (1, 2), (2, 5), (3, 1), (3, 2), (3, 8), (4, 3), (6, 4), (10, 5)) AS v (radius, parts), differing(radius, parts);
SELECT count(*), count(*) FILTER (WHERE a < b AND hamming(x.si, y.si) = distance AND distance <= 3) AS right
FROM (SELECT array_agg(id) AS ids, array_agg(si) AS sis FROM doc) AS d, near_pairs(ids, sis, 3) AS p
    JOIN doc AS x ON x.id = a JOIN doc AS y ON y.id = b;

-- Clusters of the pairs are those of all rows.
CREATE TABLE pair AS
SELECT p.*
FROM (SELECT block, array_agg(id) AS ids, array_agg(si) AS sis FROM doc, unnest(near_blocks(si, 3, 8)) AS block GROUP BY block) AS g,
     near_pairs(ids, sis, 3, 8, block) AS p;
SELECT linkage, count(*) AS rows, count(*) FILTER (WHERE cluster <> id) AS members, count(*) FILTER (WHERE cluster IS DISTINCT FROM keeper) AS differing
FROM unnest('{leader,connected}'::text[]) AS linkage, LATERAL (
    SELECT id, coalesce(cluster, id) AS cluster, CASE linkage WHEN 'leader' THEN leader ELSE connected END AS keeper
    FROM (SELECT id, near_cluster(id, si, 3) OVER (ORDER BY id) AS leader, near_cluster(id, si, 3, 'connected') OVER (ORDER BY id) AS connected FROM doc) AS d
        LEFT JOIN (SELECT c.* FROM (SELECT array_agg(a) AS a, array_agg(b) AS b FROM pair) AS p, clusters_of_pairs(a, b, linkage) AS c) AS c (id, cluster) USING (id)) AS row
GROUP BY linkage ORDER BY linkage;
SELECT * FROM clusters_of_pairs('{b,c,c,x}'::text[], '{a,b,b,x}'::text[]);
SELECT * FROM clusters_of_pairs('{b,c,c,x}'::text[], '{a,b,b,x}'::text[], 'connected');
SELECT * FROM clusters_of_pairs('{}'::bigint[], '{}'::bigint[]);
SELECT * FROM clusters_of_pairs('{1}'::bigint[], NULL);

-- Blocks of a partitioned table in parallel workers.
CREATE TABLE in_block (block integer, id uuid, si bigint) PARTITION BY HASH (block);
CREATE TABLE in_block_0 PARTITION OF in_block FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE in_block_1 PARTITION OF in_block FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO in_block SELECT block, id, si FROM doc, unnest(near_blocks(si, 3, 8)) AS block;
ANALYZE in_block;
SET enable_partitionwise_aggregate = on;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET enable_hashagg = off;
EXPLAIN (COSTS OFF)
SELECT p.* FROM (SELECT block, array_agg(id) AS ids, array_agg(si) AS sis FROM in_block GROUP BY block) AS g, near_pairs(ids, sis, 3, 8, block) AS p;
SELECT count(*) = (SELECT count(*) FROM pair) AS same
FROM (SELECT block, array_agg(id) AS ids, array_agg(si) AS sis FROM in_block GROUP BY block) AS g, near_pairs(ids, sis, 3, 8, block) AS p;
RESET ALL;

-- Errors.
SELECT * FROM near_pairs('{1,2}'::integer[], '{1}'::bigint[], 3);
SELECT * FROM near_pairs('{1,NULL}'::integer[], '{1,2}'::bigint[], 3);
SELECT * FROM near_pairs('{1,2}'::integer[], '{1,2}'::bigint[], 65);
SELECT * FROM near_pairs('{1,2}'::integer[], '{1,2}'::bigint[], -1);
SELECT * FROM near_pairs('{1,2}'::integer[], ARRAY[B'10', B'11'], 3);
SELECT * FROM near_pairs('{1,2}'::integer[], ARRAY[B'10', B'111']::varbit[], 1);
SELECT * FROM near_pairs('{1,2}'::integer[], '{1,2}'::bigint[], 3, 0);
SELECT * FROM near_pairs('{1,2}'::integer[], '{1,2}'::bigint[], 3, 4097);
SELECT * FROM near_pairs('{1,2}'::integer[], '{1,2}'::bigint[], 3, 8, 32);
SELECT * FROM near_pairs('{1,2}'::integer[], '{1,2}'::bigint[], 3, 1, -1);
SELECT * FROM near_pairs('{1,2}'::integer[], '{NULL,42}'::bigint[], 3, 8, 3);
SELECT * FROM near_pairs('{1,2}'::integer[], ARRAY[42::bit(64), 42::bit(64)], 3, 8, 3);
SELECT * FROM near_pairs('{"(1,2)"}'::point[], '{1}'::bigint[], 3);
SELECT near_pairs('{1,2}'::integer[], '{1,2}'::bigint[], 3, 8, generate_series(0, 40));
SELECT near_blocks(1, 65, 8);
SELECT near_blocks(1, 3, 0);
SELECT near_blocks(B'101', 4, 8);
SELECT * FROM clusters_of_pairs('{1}'::integer[], '{1,2}'::integer[]);
SELECT * FROM clusters_of_pairs('{1}'::integer[], '{NULL}'::integer[]);
SELECT * FROM clusters_of_pairs('{1}'::integer[], '{2}'::integer[], 'single');
SELECT * FROM clusters_of_pairs('{"(1,2)"}'::point[], '{"(1,2)"}'::point[]);
DROP FUNCTION differing;
DROP TABLE doc, pair, in_block;
