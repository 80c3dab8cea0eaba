-- Clusters and pairs. That they are those of a naive oracle on 20,000 fingerprints is in tests/t/015_clusters.pl.
CREATE TABLE doc (id bigint, name text, tenant integer, si bigint);
-- A chain 1 - 2 - 3 whose ends are 6 bits apart; 4 equal to 1; 5 alone; two without fingerprints.
INSERT INTO doc VALUES (3, 'c', 1, 63), (1, 'a', 1, 0), (2, 'b', 1, 7), (4, 'd', 1, 0), (5, 'e', 2, -1), (6, 'f', 2, NULL), (7, 'g', 2, NULL),
    (8, 'h', 2, 7);

SELECT id, near_cluster(id, si, 3) OVER (ORDER BY id) AS leader, near_cluster(id, si, 3, 'connected') OVER (ORDER BY id) AS connected,
       near_cluster(name, si, 3, linkage => 'leader') OVER (ORDER BY id) AS by_name
FROM doc ORDER BY id;
-- The order of the window says who keeps.
SELECT id, near_cluster(id, si, 3) OVER (ORDER BY id DESC) AS last, near_cluster(id, si, 3) OVER (ORDER BY si, id) AS by_si
FROM doc ORDER BY id;
-- Each partition by itself.
SELECT id, tenant, near_cluster(id, si, 3) OVER (PARTITION BY tenant ORDER BY id) AS cluster FROM doc ORDER BY id;
-- Keys of any type, NULL among them.
SELECT id, near_cluster(CASE WHEN id > 1 THEN md5(name)::uuid END, si, 3) OVER (ORDER BY id) AS uuid,
       near_cluster(repeat(name, 10000), si, 64) OVER (ORDER BY id) = repeat('a', 10000) AS long_text,
       near_cluster(ARRAY[name], si, 3) OVER (ORDER BY id) AS of_arrays,
       near_cluster(ROW(id, name), si, 3) OVER (ORDER BY id) AS of_rows
FROM doc ORDER BY id;
-- A frame makes no difference, nor do other functions of the window.
SELECT id, near_cluster(id, si, 3) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND CURRENT ROW) AS cluster, row_number() OVER (ORDER BY id)
FROM doc ORDER BY id LIMIT 3;
SELECT near_cluster(id, si, 3) OVER () FROM doc WHERE false;
SELECT near_cluster(id, NULL::bigint, 3) OVER (ORDER BY id) FROM doc LIMIT 2;
-- Many partitions, one after the other.
SELECT count(*), count(*) FILTER (WHERE cluster = g - g % 10) FROM (
    SELECT g, near_cluster(g, (g % 10 / 5) * 7::bigint, 3) OVER (PARTITION BY g / 10 ORDER BY g) AS cluster FROM generate_series(0, 9999) AS g) AS c;

SELECT * FROM near_clusters('{30,10,20,40,50,60}'::bigint[], '{63,0,7,0,-1,NULL}'::bigint[], 3);
SELECT * FROM near_clusters('{30,10,20,40,50,60}'::bigint[], '{63,0,7,0,-1,NULL}'::bigint[], 3, 'connected');
SELECT c.* FROM (SELECT array_agg(id) AS ids, array_agg(si) AS sis FROM doc) AS d, near_clusters(ids, sis, radius => 0) AS c ORDER BY key;
-- Ids that come twice.
SELECT * FROM near_clusters('{1,1,2}'::bigint[], '{0,-1,-2}'::bigint[], 1);
SELECT * FROM near_clusters('{}'::bigint[], '{}'::bigint[], 3);
SELECT * FROM near_clusters(NULL::bigint[], '{}'::bigint[], 3);

SELECT * FROM near_pairs('{30,10,20,40,50,60}'::bigint[], '{63,0,7,0,-1,NULL}'::bigint[], 3) ORDER BY a, b;
SELECT count(*), max(distance) FROM near_pairs('{30,10,20,40,50,60}'::bigint[], '{63,0,7,0,-1,NULL}'::bigint[], 64);
SELECT * FROM near_pairs('{}'::bigint[], '{}'::bigint[], 64);
-- The same as the join.
CREATE TABLE many AS SELECT i AS id, hashint8extended(i % 500, 1) # (1::bigint << i % 63) # (1::bigint << i % 59) AS si FROM generate_series(1, 2000) AS i;
WITH arrays AS (SELECT array_agg(id ORDER BY id DESC) AS ids, array_agg(si ORDER BY id DESC) AS sis FROM many),
     pairs AS (SELECT p.* FROM arrays, near_pairs(ids, sis, 8) AS p),
     joined AS (SELECT a.id, b.id, hamming(a.si, b.si) FROM many AS a JOIN many AS b ON a.id < b.id AND hamming(a.si, b.si) <= 8)
SELECT (SELECT count(*) FROM pairs) > 1000 AS many, (SELECT count(*) FROM (TABLE pairs EXCEPT ALL TABLE joined) AS p) AS only_pairs,
       (SELECT count(*) FROM (TABLE joined EXCEPT ALL TABLE pairs) AS j) AS only_joined;

-- Errors.
SELECT near_cluster(id, si, -1) OVER () FROM doc;
SELECT near_cluster(id, si, 65) OVER () FROM doc;
SELECT near_cluster(id, si, NULL) OVER () FROM doc;
SELECT near_cluster(id, si, 3, NULL) OVER () FROM doc;
SELECT near_cluster(id, si, 3, 'Leader') OVER () FROM doc;
SELECT near_cluster(id, si, 3) FROM doc;
SELECT * FROM near_clusters('{1,2}'::bigint[], '{1}'::bigint[], 3);
SELECT * FROM near_clusters('{1,NULL}'::bigint[], '{1,2}'::bigint[], 3);
SELECT * FROM near_clusters('{1}'::bigint[], '{1}'::bigint[], 3, 'single');
SELECT * FROM near_pairs('{1}'::bigint[], '{1}'::bigint[], 65);
SELECT * FROM near_pairs('{1}'::bigint[], '{1,2}'::bigint[], 6);
SELECT near_pairs('{1,2}'::bigint[], '{1,2}'::bigint[], 6);
DROP TABLE doc, many;

-- Strings of bits: the same chain, a NULL.
CREATE TABLE picture (id bigint, name text, code bit(100));
INSERT INTO picture SELECT id, chr(96 + id::integer), (CASE WHEN id < 5 THEN si::bit(64) ELSE ~0::bigint::bit(64) END || repeat('0', 36)::varbit)::bit(100)
FROM (VALUES (3, 63::bigint), (1, 0), (2, 7), (4, 0), (5, 0)) AS v (id, si);
INSERT INTO picture VALUES (6, 'f', NULL);
SELECT id, near_cluster(id, code, 3) OVER (ORDER BY id) AS leader, near_cluster(id, code, 3, 'connected') OVER (ORDER BY id) AS connected,
       near_cluster(name, code, 3, linkage => 'leader') OVER (ORDER BY id DESC) AS by_name, near_cluster(id, code::varbit, 100) OVER (ORDER BY id) AS of_all
FROM picture ORDER BY id;
SELECT c.* FROM (SELECT array_agg(id) AS ids, array_agg(code) AS codes FROM picture) AS d, near_clusters(ids, codes, 3) AS c ORDER BY key;
SELECT c.* FROM (SELECT array_agg(id) AS ids, array_agg(code) AS codes FROM picture) AS d, near_clusters(ids, codes, 3, 'connected') AS c ORDER BY key;
SELECT p.* FROM (SELECT array_agg(id) AS ids, array_agg(code) AS codes FROM picture) AS d, near_pairs(ids, codes, 3) AS p ORDER BY a, b;
SELECT count(*), max(distance) FROM (SELECT array_agg(id) AS ids, array_agg(code) AS codes FROM picture) AS d, near_pairs(ids, codes, 100);
-- Arrays of bit varying, no strings, empty ones, only NULLs.
SELECT * FROM near_pairs('{1,2,3}'::bigint[], ARRAY[B'101', B'100', NULL]::varbit[], 1);
SELECT * FROM near_pairs('{}'::bigint[], '{}'::varbit[], 5);
SELECT * FROM near_pairs('{1,2}'::bigint[], ARRAY[B'', B'']::varbit[], 0);
SELECT * FROM near_clusters('{1,2}'::bigint[], '{NULL,NULL}'::varbit[], 5);
SELECT * FROM near_clusters('{1,2}'::bigint[], NULL::varbit[], 5);
-- The same as the join, for words, parts of words, and halves that most rows share. Widths that a row of the list has: bits, radius.
CREATE FUNCTION differing_pairs(bits integer, radius integer) RETURNS TABLE (pairs bigint, differing bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format($query$
        WITH code AS MATERIALIZED (
            SELECT i AS id, overlay(c PLACING B'1' FROM 1 + i * 7 %% %1$s)::bit(%1$s) AS code
            FROM generate_series(1, 600) AS i, LATERAL (
                SELECT string_agg(((hashint8extended(CASE WHEN i %% 3 = 0 AND w < 5 THEN 0 ELSE i / 4 END, w)))::bit(64)::text, '' ORDER BY w)::varbit
                    ::bit(%1$s) FROM generate_series(1, %1$s / 64 + 1) AS w) AS s (c)),
        arrays AS (SELECT array_agg(id) AS ids, array_agg(code) AS codes FROM code),
        found AS (SELECT p.* FROM arrays, near_pairs(ids, codes, %2$s) AS p),
        joined AS (SELECT a.id, b.id, bit_count(a.code # b.code)::integer FROM code AS a JOIN code AS b ON a.id < b.id AND bit_count(a.code # b.code) <= %2$s)
        SELECT (SELECT count(*) FROM found), (SELECT count(*) FROM ((TABLE found EXCEPT ALL TABLE joined) UNION ALL (TABLE joined EXCEPT ALL TABLE found)) AS d)
    $query$, bits, radius);
END $$;
SELECT bits, radius, pairs > 0 AS some, differing
FROM (VALUES (1, 0), (7, 2), (63, 5), (64, 6), (65, 6), (128, 12), (256, 31), (256, 110), (576, 60), (600, 600)) AS v (bits, radius), differing_pairs(bits, radius);
DROP FUNCTION differing_pairs;
-- Literals and parameters without a type are of bigint, as they were before there were strings of bits.
PREPARE untyped AS SELECT * FROM near_pairs($1::bigint[], $2::bigint[], $3);
EXECUTE untyped('{1,2}', '{0,7}', 3);
PREPARE untyped_cluster AS SELECT near_cluster(g, $1::bigint, $2) OVER (ORDER BY g) FROM generate_series(1, 2) AS g;
EXECUTE untyped_cluster(5, 3);
DEALLOCATE ALL;
-- Errors.
SELECT * FROM near_pairs('{1,2}'::bigint[], ARRAY[B'101', B'10']::varbit[], 1);
SELECT * FROM near_clusters('{1,2}'::bigint[], ARRAY[B'101', B'10']::varbit[], 1);
SELECT near_cluster(1, code, 1) OVER () FROM (VALUES (B'101'::varbit), (NULL), (B'1011')) AS v (code);
SELECT * FROM near_pairs('{1,2}'::bigint[], ARRAY[B'101', B'100'], 4);
SELECT * FROM near_pairs('{1,2}'::bigint[], ARRAY[B'101', B'100'], -1);
SELECT * FROM near_pairs('{}'::bigint[], '{}'::varbit[], -1);
SELECT near_cluster(id, code, 101) OVER () FROM picture;
SELECT near_cluster(id, code, NULL) OVER () FROM picture;
SELECT near_cluster(id, code, 3, 'Leader') OVER () FROM picture;
SELECT * FROM near_clusters('{1,2}'::bigint[], ARRAY[B'1'], 1);
SELECT * FROM near_clusters('{1,NULL}'::bigint[], ARRAY[B'1', B'1'], 1);
SELECT * FROM near_clusters('{1}'::bigint[], ARRAY[B'1'], 1, 'single');
SELECT near_pairs('{1,2}'::bigint[], ARRAY[B'1', B'0'], 1);
DROP TABLE picture;
