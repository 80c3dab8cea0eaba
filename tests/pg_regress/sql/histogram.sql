-- What distances mean. crates/hamming/src/histogram tests the numbers; those of texts are tested below.
-- A sample as large as the table makes it the same each time: 400 fingerprints that come alone, 100 that come four times with up to two bits changed.
CREATE TABLE document AS
SELECT i AS id, CASE WHEN i <= 400 THEN hashint8extended(i, 1) ELSE hashint8extended(i % 100, 2) # (1::bigint << i % 61) # (1::bigint << i % 7) END AS si,
       'x' AS name, i::integer AS small
FROM generate_series(1, 800) AS i;
INSERT INTO document VALUES (801, NULL);

SELECT distance, rows, pairs, duplicates, at_most, compared, to_search
FROM hamming_histogram('document', 'si') WHERE distance < 22 OR distance > 62 ORDER BY distance;
-- The same, by plain SQL.
WITH pair AS (SELECT hamming(a.si, b.si) AS distance, 2 * count(*) AS pairs FROM document AS a JOIN document AS b ON a.id < b.id GROUP BY 1)
SELECT count(*) FILTER (WHERE h.pairs = coalesce((SELECT p.pairs FROM pair AS p WHERE p.distance = h.distance), 0)) AS pairs,
       count(*) FILTER (WHERE abs(h.rows - coalesce((SELECT 1.0 * sum(p.pairs) / 800 FROM pair AS p WHERE p.distance <= h.distance), 0)) < 1e-4) AS rows
FROM hamming_histogram('document', 'si') AS h;
-- A smaller sample differs each time, but compares the same number of rows.
SELECT count(*), sum(pairs), max(rows) FROM hamming_histogram('document', 'si', sample => 500);
SELECT count(*), sum(pairs) FROM hamming_histogram('document', 'si', 2);

-- A fingerprint that 100 rows have adds 100 rows and not 9,900 pairs, so that the radius is the same.
CREATE VIEW copied AS SELECT si FROM document UNION ALL SELECT 42 FROM generate_series(1, 100);
SELECT distance FROM hamming_histogram('copied', 'si') WHERE to_search;
DROP VIEW copied;

-- Reports what is unusual: half of the bits of each code are set, as in perceptual hashes that compare with the median.
CREATE FUNCTION half_set(i bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT sum(1::bigint << place)::bigint FROM (SELECT place FROM generate_series(0, 62) AS place ORDER BY hashint8extended(i * 64 + place, 1) LIMIT 32) AS p $$;
CREATE TABLE perceptual AS SELECT half_set(i) AS code FROM generate_series(1, 800) AS i;
SELECT count(*) FILTER (WHERE pairs > 0 AND distance % 2 = 1) AS odd FROM hamming_histogram('perceptual', 'code');
-- Codes of smooth pictures: they differ in few of their bits.
CREATE TABLE smooth AS SELECT hashint8extended(i, 1) & hashint8extended(i, 2) & hashint8extended(i, 3) & x'00ff00ff00ff00ff'::bigint AS code FROM generate_series(1, 1000) AS i;
SELECT count(*) FROM hamming_histogram('smooth', 'code');
DROP TABLE perceptual, smooth;
DROP FUNCTION half_set(bigint);

-- Form letters: 20 words of their own, and 40 of one of three templates. Letters that stand alone, and copies of these with another word at the end.
CREATE FUNCTION words(first bigint, count integer) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT string_agg('w' || abs(hashint8extended(first * 1000 + i, 3)) % 100000, ' ') FROM generate_series(1, count) AS i $$;
CREATE TABLE letter AS SELECT id, body, simhash(body) AS si
FROM generate_series(1, 900) AS id, LATERAL (
    SELECT CASE WHEN id <= 600 THEN words(-(id % 3), 40) || ' ' || words(id, 20) WHEN id <= 800 THEN words(id, 60) ELSE words(id - 100, 60) || ' end' END) AS t (body);
CREATE TABLE letter_weights AS SELECT feature_weights(body, 'word:2') AS weights FROM letter;
CREATE TEMP TABLE near_letters AS
SELECT hamming(a.si, b.si) AS distance, text_similarity(a.body, b.body, weights) >= 0.65 AS is_duplicate
FROM letter AS a JOIN letter AS b ON a.id <> b.id AND hamming(a.si, b.si) <= 20, letter_weights;
-- Probabilities measured with some pairs of texts at each distance are near the true ones.
SELECT bool_and(abs(h.rows - truth.rows) < 1e-4) AS rows, bool_and(abs(h.duplicates - truth.duplicates) < 0.1 + 0.02 * truth.rows) AS duplicates,
       bool_and(h.compared <= round(900 * truth.rows)) AS compared, bool_and(h.at_most >= h.duplicates AND h.at_most <= h.rows) AS at_most,
       max(h.distance) AS farthest, max(h.distance) FILTER (WHERE to_search) AS to_search
FROM hamming_histogram('letter', 'si', 1000, 'body') AS h, LATERAL (
    SELECT count(*) / 900.0 AS rows, count(*) FILTER (WHERE is_duplicate) / 900.0 AS duplicates FROM near_letters AS n WHERE n.distance <= h.distance) AS truth
WHERE h.duplicates IS NOT NULL;
SELECT count(*) FILTER (WHERE to_search) AS marked, count(duplicates) AS duplicates, count(compared) AS compared FROM hamming_histogram('letter', 'si');
-- Siblings of one template, with a twentieth of the words of their own.
CREATE VIEW siblings AS SELECT body, simhash(body) AS si FROM (SELECT words(-1, 60) || ' ' || words(id, 3) AS body FROM generate_series(1, 300) AS id) AS s;
SELECT max(duplicates) < 30 AS few FROM hamming_histogram('siblings', 'si', body => 'body');
DROP VIEW siblings;
-- Short texts.
CREATE VIEW title AS SELECT body, simhash(body) AS si FROM (SELECT words(id, 6) AS body FROM generate_series(1, 100) AS id) AS t;
SELECT count(*) FROM hamming_histogram('title', 'si', body => 'body');
DROP VIEW title;
-- Texts of other types, stored in other ways; rows without a text or without words.
CREATE VIEW odd_letter AS
SELECT si, CASE WHEN id > 890 THEN NULL WHEN id > 880 THEN '' ELSE repeat(body || ' ', 50) END::varchar AS "Odd Body", body::char(500) AS padded, id FROM letter;
SELECT sum(pairs), count(duplicates) AS levels FROM hamming_histogram('odd_letter', 'si', body => 'Odd Body');
SELECT sum(pairs), count(duplicates) AS levels FROM hamming_histogram('odd_letter', 'si', 20, 'padded');
SELECT * FROM hamming_histogram('letter', 'si', body => 'id');
SELECT * FROM hamming_histogram('letter', 'si', body => 'nothing');
-- The columns that a user may not read.
CREATE ROLE letter_reader;
GRANT SELECT (id, si) ON letter TO letter_reader;
SET ROLE letter_reader;
SELECT sum(pairs) FROM hamming_histogram('letter', 'si');
SELECT sum(pairs) FROM hamming_histogram('letter', 'si', body => 'body');
RESET ROLE;
DROP VIEW odd_letter;
DROP TABLE letter, near_letters, letter_weights;
DROP FUNCTION words(bigint, integer);
DROP ROLE letter_reader;

-- Views, partitions, names that have to be quoted, domains, row-level security.
CREATE SCHEMA "Odd Schema";
CREATE DOMAIN "Odd Schema".fingerprint AS bigint;
CREATE TABLE "Odd Schema"."Odd ""Table" ("Odd Column" "Odd Schema".fingerprint) PARTITION BY HASH ("Odd Column");
CREATE TABLE "Odd Schema".part PARTITION OF "Odd Schema"."Odd ""Table" FOR VALUES WITH (MODULUS 1, REMAINDER 0);
INSERT INTO "Odd Schema".part SELECT si FROM document;
CREATE VIEW half AS SELECT * FROM document WHERE id <= 400;
SELECT sum(pairs), max(rows) FROM hamming_histogram('"Odd Schema"."Odd ""Table"', 'Odd Column');
SELECT sum(pairs), max(rows) FROM hamming_histogram('half', 'si');
CREATE ROLE histogram_reader;
ALTER TABLE document ENABLE ROW LEVEL SECURITY;
CREATE POLICY some_rows ON document USING (id <= 10);
SET ROLE histogram_reader;
SELECT sum(pairs), max(rows) FROM hamming_histogram('document', 'si');
RESET ROLE;
GRANT SELECT ON document TO histogram_reader;
SET ROLE histogram_reader;
SELECT sum(pairs), max(rows) FROM hamming_histogram('document', 'si');
RESET ROLE;
DROP POLICY some_rows ON document;
ALTER TABLE document DISABLE ROW LEVEL SECURITY;

-- Nothing to compare.
CREATE TABLE empty (si bigint);
SELECT count(*), sum(pairs), max(rows), max(duplicates) FROM hamming_histogram('empty', 'si');
INSERT INTO empty VALUES (NULL), (5);
SELECT count(*), sum(pairs), max(rows), max(duplicates) FROM hamming_histogram('empty', 'si');
SELECT * FROM hamming_histogram(NULL, 'si');

-- Strings of bits: 300 that come alone, 100 that come three times with up to two bits changed.
CREATE TABLE picture AS
SELECT i AS id, set_bit(set_bit(c::bit(130), i % 127, 1), i % 11, 1) AS code
FROM generate_series(1, 600) AS i, LATERAL (
    SELECT string_agg(hashint8extended(CASE WHEN i <= 300 THEN i ELSE 1000 + i % 100 END, w)::bit(64)::text, '')::varbit FROM generate_series(1, 3) AS w) AS s (c);
INSERT INTO picture VALUES (601, NULL);
SELECT distance, rows, pairs
FROM hamming_histogram('picture', 'code') WHERE distance < 6 OR distance = 130 ORDER BY distance;
WITH pair AS (SELECT hamming(a.code, b.code) AS distance, 2 * count(*) AS pairs FROM picture AS a JOIN picture AS b ON a.id < b.id GROUP BY 1)
SELECT count(*) FILTER (WHERE h.pairs = coalesce((SELECT p.pairs FROM pair AS p WHERE p.distance = h.distance), 0)) AS pairs,
       count(*) FILTER (WHERE abs(h.rows - coalesce((SELECT 1.0 * sum(p.pairs) / 600 FROM pair AS p WHERE p.distance <= h.distance), 0)) < 1e-4) AS rows
FROM hamming_histogram('picture', 'code') AS h;
SELECT sum(pairs), max(rows) FROM hamming_histogram('picture', 'code', sample => 50);
ALTER TABLE picture ALTER COLUMN code TYPE bit varying;
SELECT count(*), sum(pairs), max(rows) FROM hamming_histogram('picture', 'code');
CREATE DOMAIN image_hash AS bit(16);
CREATE TABLE hashed (code image_hash);
SELECT count(*), sum(pairs), max(rows) FROM hamming_histogram('hashed', 'code');
INSERT INTO hashed VALUES (x'0001'), (x'0003');
SELECT count(*), sum(pairs), max(rows) FROM hamming_histogram('hashed', 'code');
INSERT INTO picture VALUES (0, B'10');
-- It is random which length comes first.
\set VERBOSITY sqlstate
SELECT * FROM hamming_histogram('picture', 'code');
\set VERBOSITY default
DELETE FROM picture;
SELECT * FROM hamming_histogram('picture', 'code');
INSERT INTO picture VALUES (0, ''), (1, '');
SELECT * FROM hamming_histogram('picture', 'code');
DROP TABLE picture, hashed;
DROP DOMAIN image_hash;

-- Errors.
SELECT * FROM hamming_histogram('document', 'si', 0);
SELECT * FROM hamming_histogram('document', 'si', 10001);
SELECT * FROM hamming_histogram('document', 'nothing');
SELECT * FROM hamming_histogram('document', 'ctid');
SELECT * FROM hamming_histogram('document', 'name');
SELECT * FROM hamming_histogram('document', 'small');
SELECT * FROM hamming_histogram('no_such_table', 'si');
SELECT * FROM hamming_histogram(1, 'si');
SELECT * FROM hamming_histogram(0, 'si');
SELECT * FROM hamming_histogram(0, 'si', body => 'name');
\set VERBOSITY sqlstate
SELECT * FROM hamming_histogram(0, 'si');
\set VERBOSITY default
DROP TABLE document CASCADE;
DROP TABLE "Odd Schema"."Odd ""Table", empty;
DROP SCHEMA "Odd Schema" CASCADE;
DROP ROLE histogram_reader;
