-- Features that only one of two texts has. crates/text/src/fingerprint/differences.rs tests which ones these are.
SELECT * FROM near_differences('Order 12 of 3.5 kg, paid', 'order 13 of x1, paid');
SELECT * FROM near_differences('the same', 'The same!');
SELECT * FROM near_differences('abcd', 'abce', 'char:3');
SELECT count(*) FROM near_differences(NULL, 'a');
SELECT * FROM near_differences('a', 'b', 'word');

-- 200 packages: each of a hundred has a sibling with another word and number, and a copy. A sample as large as the table makes every row meet its one sibling.
CREATE TABLE package AS
SELECT 'p' || i AS name, v.body, i / 10::bigint AS si
FROM generate_series(10, 1000, 10) AS i,
    LATERAL (VALUES ('files for name' || i || ' 1.0'), ('documentation for name' || i || ' 2.0')) AS v (body);
INSERT INTO package SELECT 'copy', 'files for name10 1.0', 1;
INSERT INTO package VALUES ('no code', 'text', NULL), ('no text', NULL, 1);
UPDATE package SET si = si * 4294967297 # (si << 8) # (si << 20) # (si << 50);
SELECT feature, pairs, share, of_all, a LIKE '%p%' AND b LIKE '%p%' AS keys
FROM near_differences('package', 'si', 'body', 0, 'name') LIMIT 5;
-- A smaller sample, and pairs of all rows, chosen at random.
SELECT sum(pairs) > 0 AS found, bool_and(share BETWEEN 0 AND 1) AS shares, max(of_all) AS of_all
FROM near_differences('package', 'si', 'body', 64, 'name', 10);
-- Nothing differs, or there is no text.
CREATE TABLE none (id integer, si bigint, body text);
SELECT count(*) FROM near_differences('none', 'si', 'body', 64);
INSERT INTO none VALUES (1, 5, 'a b'), (NULL, 5, 'a b'), (3, -1, 'c');
SELECT count(*) FROM near_differences('none', 'si', 'body', 6);
INSERT INTO none VALUES (NULL, 5, 'a c');
SELECT feature, pairs, of_all, a IN ('', '1') AS a, b IN ('', '1') AS b FROM near_differences('none', 'si', 'body', 6);
-- Strings of bits.
ALTER TABLE none ALTER si TYPE bit(64) USING si::bit(64);
SELECT feature, pairs FROM near_differences('none', 'si', 'body', 6);
SELECT count(*) FROM near_differences(NULL, 'si', 'body', 6);
-- The columns that a user may not read.
CREATE ROLE package_reader;
GRANT SELECT (name, si) ON package TO package_reader;
SET ROLE package_reader;
SELECT * FROM near_differences('package', 'si', 'body', 6, 'name');
RESET ROLE;
-- Errors.
SELECT * FROM near_differences('package', 'si', 'body', 6);
SELECT * FROM near_differences('package', 'si', 'nothing', 6, 'name');
SELECT * FROM near_differences('package', 'si', 'si', 6, 'name');
SELECT * FROM near_differences('package', 'name', 'body', 6, 'name');
SELECT * FROM near_differences('package', 'si', 'body', -1, 'name');
SELECT * FROM near_differences('package', 'si', 'body', 6, 'name', 0);
DROP TABLE package, none;
DROP ROLE package_reader;
