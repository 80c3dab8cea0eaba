-- Clusters. tests/t/015_clusters.pl compares them with a naive computation, for 10,000 fingerprints.
CREATE TABLE doc (id bigint, name text, tenant integer, si bigint);
-- A chain 1 - 2 - 3 whose ends are 6 bits apart; 4 equal to 1; 5 alone; two without fingerprints.
INSERT INTO doc VALUES (3, 'c', 1, 63), (1, 'a', 1, 0), (2, 'b', 1, 7), (4, 'd', 1, 0), (5, 'e', 2, -1), (6, 'f', 2, NULL), (7, 'g', 2, NULL),
    (8, 'h', 2, 7);

SELECT id, near_cluster(id, si, 3) OVER (ORDER BY id) AS leader, near_cluster(id, si, 3, 'connected') OVER (ORDER BY id) AS connected,
       near_cluster(name, si, 3, linkage => 'leader') OVER (ORDER BY id) AS by_name
FROM doc ORDER BY id;
-- The order of the window decides which rows are keepers.
SELECT id, near_cluster(id, si, 3) OVER (ORDER BY id DESC) AS last, near_cluster(id, si, 3) OVER (ORDER BY si, id) AS by_si
FROM doc ORDER BY id;
-- Partitions have separate clusters.
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
-- A second code decides as well: that of 2 is another one, and 4 has none.
SELECT id, near_cluster(id, si, 3) OVER (ORDER BY id) AS first, near_cluster(id, si, 3, look, 1) OVER (ORDER BY id) AS both,
       near_cluster(id, si::bit(64), 3, look, 1, 'connected') OVER (ORDER BY id) AS connected, near_cluster(id, si, 3, look, 4) OVER (ORDER BY id) AS any
FROM doc, LATERAL (SELECT CASE id WHEN 2 THEN B'1111' WHEN 4 THEN NULL ELSE B'0000' END) AS l (look) ORDER BY id;
-- Many partitions, one after the other.
SELECT count(*), count(*) FILTER (WHERE cluster = g - g % 10) FROM (
    SELECT g, near_cluster(g, (g % 10 / 5) * 7::bigint, 3) OVER (PARTITION BY g / 10 ORDER BY g) AS cluster FROM generate_series(0, 9999) AS g) AS c;

-- Errors.
SELECT near_cluster(id, si, -1) OVER () FROM doc;
SELECT near_cluster(id, si, 65) OVER () FROM doc;
SELECT near_cluster(id, si, NULL) OVER () FROM doc;
SELECT near_cluster(id, si, 3, NULL) OVER () FROM doc;
SELECT near_cluster(id, si, 3, 'Leader') OVER () FROM doc;
SELECT near_cluster(id, si, 3, B'0000', -1) OVER () FROM doc;
SELECT near_cluster(id, si, 3, B'0000') OVER () FROM doc;
SELECT near_cluster(id, si, 3, B'0000', NULL) OVER () FROM doc;
SELECT near_cluster(id, si, 3) FROM doc;
DROP TABLE doc;

-- Strings of bits: the same chain, a NULL.
CREATE TABLE picture (id bigint, name text, code bit(100));
INSERT INTO picture SELECT id, chr(96 + id::integer), (CASE WHEN id < 5 THEN si::bit(64) ELSE ~0::bigint::bit(64) END || repeat('0', 36)::varbit)::bit(100)
FROM (VALUES (3, 63::bigint), (1, 0), (2, 7), (4, 0), (5, 0)) AS v (id, si);
INSERT INTO picture VALUES (6, 'f', NULL);
SELECT id, near_cluster(id, code, 3) OVER (ORDER BY id) AS leader, near_cluster(id, code, 3, 'connected') OVER (ORDER BY id) AS connected,
       near_cluster(name, code, 3, linkage => 'leader') OVER (ORDER BY id DESC) AS by_name, near_cluster(id, code::varbit, 100) OVER (ORDER BY id) AS of_all
FROM picture ORDER BY id;
-- No strings, empty ones.
SELECT near_cluster(1, code, 5) OVER () FROM (VALUES (NULL::varbit), (NULL)) AS v (code);
SELECT id, near_cluster(id, code, 0) OVER (ORDER BY id) FROM (VALUES (1, B''::varbit), (2, B'')) AS v (id, code);
-- Parameters.
PREPARE untyped_cluster AS SELECT near_cluster(g, $1::bigint, $2) OVER (ORDER BY g) FROM generate_series(1, 2) AS g;
EXECUTE untyped_cluster(5, 3);
DEALLOCATE ALL;
-- Errors.
SELECT near_cluster(1, code, 1) OVER () FROM (VALUES (B'101'::varbit), (NULL), (B'1011')) AS v (code);
SELECT near_cluster(id, code, 101) OVER () FROM picture;
SELECT near_cluster(id, code, NULL) OVER () FROM picture;
SELECT near_cluster(id, code, 3, 'Leader') OVER () FROM picture;
DROP TABLE picture;
