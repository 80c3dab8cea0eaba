-- Clusters and pairs. That they are those of a naive oracle on 20,000 fingerprints is in tests/t/015_clusters.pl.
CREATE TABLE doc (id bigint, name text, tenant integer, si bigint);
-- A chain 1 - 2 - 3 whose ends are 6 bits apart; 4 equal to 1; 5 alone; two without fingerprints.
INSERT INTO doc VALUES (3, 'c', 1, 63), (1, 'a', 1, 0), (2, 'b', 1, 7), (4, 'd', 1, 0), (5, 'e', 2, -1), (6, 'f', 2, NULL), (7, 'g', 2, NULL),
    (8, 'h', 2, 7);

SELECT id, simhash_cluster(id, si, 3) OVER (ORDER BY id) AS leader, simhash_cluster(id, si, 3, 'connected') OVER (ORDER BY id) AS connected,
       simhash_cluster(name, si, 3, linkage => 'leader') OVER (ORDER BY id) AS by_name
FROM doc ORDER BY id;
-- The order of the window says who keeps.
SELECT id, simhash_cluster(id, si, 3) OVER (ORDER BY id DESC) AS last, simhash_cluster(id, si, 3) OVER (ORDER BY si, id) AS by_si
FROM doc ORDER BY id;
-- Each partition by itself.
SELECT id, tenant, simhash_cluster(id, si, 3) OVER (PARTITION BY tenant ORDER BY id) AS cluster FROM doc ORDER BY id;
-- Keys of any type, NULL among them.
SELECT id, simhash_cluster(CASE WHEN id > 1 THEN md5(name)::uuid END, si, 3) OVER (ORDER BY id) AS uuid,
       simhash_cluster(repeat(name, 10000), si, 64) OVER (ORDER BY id) = repeat('a', 10000) AS long_text,
       simhash_cluster(ARRAY[name], si, 3) OVER (ORDER BY id) AS of_arrays,
       simhash_cluster(ROW(id, name), si, 3) OVER (ORDER BY id) AS of_rows
FROM doc ORDER BY id;
-- A frame makes no difference, nor do other functions of the window.
SELECT id, simhash_cluster(id, si, 3) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND CURRENT ROW) AS cluster, row_number() OVER (ORDER BY id)
FROM doc ORDER BY id LIMIT 3;
SELECT simhash_cluster(id, si, 3) OVER () FROM doc WHERE false;
SELECT simhash_cluster(id, NULL, 3) OVER (ORDER BY id) FROM doc LIMIT 2;
-- Many partitions, one after the other.
SELECT count(*), count(*) FILTER (WHERE cluster = g - g % 10) FROM (
    SELECT g, simhash_cluster(g, (g % 10 / 5) * 7::bigint, 3) OVER (PARTITION BY g / 10 ORDER BY g) AS cluster FROM generate_series(0, 9999) AS g) AS c;

SELECT * FROM simhash_clusters('{30,10,20,40,50,60}', '{63,0,7,0,-1,NULL}', 3);
SELECT * FROM simhash_clusters('{30,10,20,40,50,60}', '{63,0,7,0,-1,NULL}', 3, 'connected');
SELECT c.* FROM (SELECT array_agg(id) AS ids, array_agg(si) AS sis FROM doc) AS d, simhash_clusters(ids, sis, radius => 0) AS c ORDER BY id;
-- Ids that come twice.
SELECT * FROM simhash_clusters('{1,1,2}', '{0,-1,-2}', 1);
SELECT * FROM simhash_clusters('{}', '{}', 3);
SELECT * FROM simhash_clusters(NULL, '{}', 3);

SELECT * FROM hamming_pairs('{30,10,20,40,50,60}', '{63,0,7,0,-1,NULL}', 3) ORDER BY a, b;
SELECT count(*), max(distance) FROM hamming_pairs('{30,10,20,40,50,60}', '{63,0,7,0,-1,NULL}', 64);
SELECT * FROM hamming_pairs('{}', '{}', 64);
-- The same as the join.
CREATE TABLE many AS SELECT i AS id, hashint8extended(i % 500, 1) # (1::bigint << i % 63) # (1::bigint << i % 59) AS si FROM generate_series(1, 2000) AS i;
WITH arrays AS (SELECT array_agg(id ORDER BY id DESC) AS ids, array_agg(si ORDER BY id DESC) AS sis FROM many),
     pairs AS (SELECT p.* FROM arrays, hamming_pairs(ids, sis, 8) AS p),
     joined AS (SELECT a.id, b.id, hamming(a.si, b.si) FROM many AS a JOIN many AS b ON a.id < b.id AND hamming(a.si, b.si) <= 8)
SELECT (SELECT count(*) FROM pairs) > 1000 AS many, (SELECT count(*) FROM (TABLE pairs EXCEPT ALL TABLE joined) AS p) AS only_pairs,
       (SELECT count(*) FROM (TABLE joined EXCEPT ALL TABLE pairs) AS j) AS only_joined;

-- Errors.
SELECT simhash_cluster(id, si, -1) OVER () FROM doc;
SELECT simhash_cluster(id, si, 65) OVER () FROM doc;
SELECT simhash_cluster(id, si, NULL) OVER () FROM doc;
SELECT simhash_cluster(id, si, 3, NULL) OVER () FROM doc;
SELECT simhash_cluster(id, si, 3, 'Leader') OVER () FROM doc;
SELECT simhash_cluster(id, si, 3) FROM doc;
SELECT * FROM simhash_clusters('{1,2}', '{1}', 3);
SELECT * FROM simhash_clusters('{1,NULL}', '{1,2}', 3);
SELECT * FROM simhash_clusters('{1}', '{1}', 3, 'single');
SELECT * FROM hamming_pairs('{1}', '{1}', 65);
SELECT * FROM hamming_pairs('{1}', '{1,2}', 6);
SELECT hamming_pairs('{1,2}', '{1,2}', 6);
DROP TABLE doc, many;

-- Strings of bits: the same chain, a NULL.
CREATE TABLE picture (id bigint, name text, code bit(100));
INSERT INTO picture SELECT id, chr(96 + id::integer), (CASE WHEN id < 5 THEN si::bit(64) ELSE ~0::bigint::bit(64) END || repeat('0', 36)::varbit)::bit(100)
FROM (VALUES (3, 63::bigint), (1, 0), (2, 7), (4, 0), (5, 0)) AS v (id, si);
INSERT INTO picture VALUES (6, 'f', NULL);
SELECT id, hamming_bit_cluster(id, code, 3) OVER (ORDER BY id) AS leader, hamming_bit_cluster(id, code, 3, 'connected') OVER (ORDER BY id) AS connected,
       hamming_bit_cluster(name, code, 3, linkage => 'leader') OVER (ORDER BY id DESC) AS by_name, hamming_bit_cluster(id, code::varbit, 100) OVER (ORDER BY id) AS of_all
FROM picture ORDER BY id;
SELECT c.* FROM (SELECT array_agg(id) AS ids, array_agg(code) AS codes FROM picture) AS d, hamming_bit_clusters(ids, codes, 3) AS c ORDER BY id;
SELECT c.* FROM (SELECT array_agg(id) AS ids, array_agg(code) AS codes FROM picture) AS d, hamming_bit_clusters(ids, codes, 3, 'connected') AS c ORDER BY id;
SELECT p.* FROM (SELECT array_agg(id) AS ids, array_agg(code) AS codes FROM picture) AS d, hamming_bit_pairs(ids, codes, 3) AS p ORDER BY a, b;
SELECT count(*), max(distance) FROM (SELECT array_agg(id) AS ids, array_agg(code) AS codes FROM picture) AS d, hamming_bit_pairs(ids, codes, 100);
-- Arrays of bit varying, no strings, empty ones, only NULLs.
SELECT * FROM hamming_bit_pairs('{1,2,3}', ARRAY[B'101', B'100', NULL]::varbit[], 1);
SELECT * FROM hamming_bit_pairs('{}', '{}', 5);
SELECT * FROM hamming_bit_pairs('{1,2}', ARRAY[B'', B'']::varbit[], 0);
SELECT * FROM hamming_bit_clusters('{1,2}', '{NULL,NULL}', 5);
SELECT * FROM hamming_bit_clusters('{1,2}', NULL, 5);
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
        found AS (SELECT p.* FROM arrays, hamming_bit_pairs(ids, codes, %2$s) AS p),
        joined AS (SELECT a.id, b.id, bit_count(a.code # b.code)::integer FROM code AS a JOIN code AS b ON a.id < b.id AND bit_count(a.code # b.code) <= %2$s)
        SELECT (SELECT count(*) FROM found), (SELECT count(*) FROM ((TABLE found EXCEPT ALL TABLE joined) UNION ALL (TABLE joined EXCEPT ALL TABLE found)) AS d)
    $query$, bits, radius);
END $$;
SELECT bits, radius, pairs > 0 AS some, differing
FROM (VALUES (1, 0), (7, 2), (63, 5), (64, 6), (65, 6), (128, 12), (256, 31), (256, 110), (576, 60), (600, 600)) AS v (bits, radius), differing_pairs(bits, radius);
DROP FUNCTION differing_pairs;
-- Literals and parameters without a type are of bigint, as they were before there were strings of bits.
PREPARE untyped AS SELECT * FROM hamming_pairs($1, $2, $3);
EXECUTE untyped('{1,2}', '{0,7}', 3);
PREPARE untyped_cluster AS SELECT simhash_cluster(g, $1, $2) OVER (ORDER BY g) FROM generate_series(1, 2) AS g;
EXECUTE untyped_cluster(5, 3);
DEALLOCATE ALL;
-- Errors.
SELECT * FROM hamming_bit_pairs('{1,2}', ARRAY[B'101', B'10']::varbit[], 1);
SELECT * FROM hamming_bit_clusters('{1,2}', ARRAY[B'101', B'10']::varbit[], 1);
SELECT hamming_bit_cluster(1, code, 1) OVER () FROM (VALUES (B'101'::varbit), (NULL), (B'1011')) AS v (code);
SELECT * FROM hamming_bit_pairs('{1,2}', ARRAY[B'101', B'100'], 4);
SELECT * FROM hamming_bit_pairs('{1,2}', ARRAY[B'101', B'100'], -1);
SELECT * FROM hamming_bit_pairs('{}', '{}', -1);
SELECT hamming_bit_cluster(id, code, 101) OVER () FROM picture;
SELECT hamming_bit_cluster(id, code, NULL) OVER () FROM picture;
SELECT hamming_bit_cluster(id, code, 3, 'Leader') OVER () FROM picture;
SELECT * FROM hamming_bit_clusters('{1,2}', ARRAY[B'1'], 1);
SELECT * FROM hamming_bit_clusters('{1,NULL}', ARRAY[B'1', B'1'], 1);
SELECT * FROM hamming_bit_clusters('{1}', ARRAY[B'1'], 1, 'single');
SELECT hamming_bit_pairs('{1,2}', ARRAY[B'1', B'0'], 1);
DROP TABLE picture;
