-- Blocks of near pairs, and clusters of pairs.

-- The blocks of a code.
SELECT near_blocks(42, 3, 1), near_blocks(42, 3, 8) AS bands, near_blocks(42, 10, 4) AS triangle, near_blocks(NULL::bigint, 3, 8) AS of_null;
SELECT near_blocks(B'101', 1, 1), near_blocks(42::bit(64), 3, 8) AS bands, near_blocks(repeat('01', 128)::bit(256), 15, 8);

-- Each pair is in some block.
CREATE TABLE doc AS
SELECT md5(i::text)::uuid AS id, CASE WHEN i % 50 > 0 THEN hashint8extended(i % 300, 1) # (1::bigint << i % 63) # (1::bigint << i % 59) END AS si
FROM generate_series(1, 3000) AS i;
CREATE FUNCTION differing(radius integer, parts integer, OUT pairs bigint, OUT differing bigint, OUT blocks bigint) LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE in_block ON COMMIT DROP AS SELECT block, id, si FROM doc, unnest(near_blocks(si, radius, parts)) AS block;
    CREATE TEMP TABLE in_blocks ON COMMIT DROP AS
    SELECT DISTINCT a.id AS a, b.id AS b, hamming(a.si, b.si) AS distance
    FROM in_block AS a JOIN in_block AS b ON a.block = b.block AND hamming(a.si, b.si) <= radius AND a.id < b.id;
    CREATE TEMP TABLE of_all ON COMMIT DROP AS
    SELECT a.id AS a, b.id AS b, hamming(a.si, b.si) AS distance FROM doc AS a JOIN doc AS b ON hamming(a.si, b.si) <= radius AND a.id < b.id;
    SELECT (SELECT count(*) FROM of_all),
           (SELECT count(*) FROM ((TABLE of_all EXCEPT ALL TABLE in_blocks) UNION ALL (TABLE in_blocks EXCEPT ALL TABLE of_all)) AS d),
           (SELECT count(DISTINCT block) FROM in_block) INTO pairs, differing, blocks;
    DROP TABLE in_block, in_blocks, of_all;
END $$;
SELECT radius, parts, pairs > 500 AS many, differing, blocks
FROM (VALUES (0, 3), (1, 2), (2, 5), (3, 1), (3, 2), (3, 8), (4, 3), (6, 4), (10, 5)) AS v (radius, parts), differing(radius, parts);

-- Clusters of the pairs equal clusters of all rows.
CREATE TABLE pair AS SELECT a.id AS a, b.id AS b FROM doc AS a JOIN doc AS b ON hamming(a.si, b.si) <= 3 AND a.id < b.id;
SELECT linkage, count(*) AS rows, count(*) FILTER (WHERE cluster <> id) AS members, count(*) FILTER (WHERE cluster IS DISTINCT FROM keeper) AS differing
FROM unnest('{leader,connected}'::text[]) AS linkage, LATERAL (
    SELECT id, coalesce(cluster, id) AS cluster, CASE linkage WHEN 'leader' THEN leader ELSE connected END AS keeper
    FROM (SELECT id, near_cluster(id, si, 3) OVER (ORDER BY id) AS leader, near_cluster(id, si, 3, 'connected') OVER (ORDER BY id) AS connected FROM doc) AS d
        LEFT JOIN (SELECT c.* FROM (SELECT array_agg(a) AS a, array_agg(b) AS b FROM pair) AS p, clusters_of_pairs(a, b, linkage) AS c) AS c (id, cluster) USING (id)) AS row
GROUP BY linkage ORDER BY linkage;
-- Keys of any type with an order; pairs in any order, either row first.
SELECT * FROM clusters_of_pairs('{b,c,c,x}'::text[], '{a,b,b,x}'::text[]);
SELECT * FROM clusters_of_pairs('{b,c,c,x}'::text[], '{a,b,b,x}'::text[], 'connected');
SELECT * FROM clusters_of_pairs(ARRAY['é', 'a']::text[] COLLATE "C", ARRAY['b', 'Z']::text[] COLLATE "C");
SELECT * FROM clusters_of_pairs('{16,8}'::integer[]::text[], '{8,7}'::text[], 'connected');
SELECT * FROM clusters_of_pairs('{1.50,1}'::numeric[], '{2,1.5}'::numeric[]);
SELECT * FROM clusters_of_pairs('{2026-01-02}'::date[], '{2026-01-01}'::date[]);
SELECT * FROM clusters_of_pairs('{}'::bigint[], '{}'::bigint[]);
SELECT * FROM clusters_of_pairs('{1}'::bigint[], NULL);

-- Each partition joins its own blocks.
CREATE TABLE in_block (block integer, id uuid, si bigint) PARTITION BY HASH (block);
CREATE TABLE in_block_0 PARTITION OF in_block FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE in_block_1 PARTITION OF in_block FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO in_block SELECT block, id, si FROM doc, unnest(near_blocks(si, 3, 8)) AS block;
ANALYZE in_block;
SET enable_partitionwise_join = on;
SET enable_hashagg = off;
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF)
SELECT DISTINCT a.id, b.id FROM in_block AS a JOIN in_block AS b ON a.block = b.block AND hamming(a.si, b.si) <= 3 AND a.id < b.id;
SELECT count(*) = (SELECT count(*) FROM pair) AS same
FROM (SELECT DISTINCT a.id, b.id FROM in_block AS a JOIN in_block AS b ON a.block = b.block AND hamming(a.si, b.si) <= 3 AND a.id < b.id) AS p;
RESET ALL;

-- Errors.
SELECT near_blocks(1, 65, 8);
SELECT near_blocks(1, -1, 8);
SELECT near_blocks(1, 3, 0);
SELECT near_blocks(1, 3, 4097);
SELECT near_blocks(B'101', 4, 8);
SELECT * FROM clusters_of_pairs('{1}'::integer[], '{1,2}'::integer[]);
SELECT * FROM clusters_of_pairs('{1}'::integer[], '{NULL}'::integer[]);
SELECT * FROM clusters_of_pairs('{1}'::integer[], '{2}'::integer[], 'single');
SELECT * FROM clusters_of_pairs('{"(1,2)"}'::point[], '{"(1,2)"}'::point[]);
SELECT clusters_of_pairs('{1}'::integer[], '{2}'::integer[]);
DROP FUNCTION differing;
DROP TABLE doc, pair, in_block;
