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
