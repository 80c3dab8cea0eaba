-- Calibration. What the numbers mean is tested in crates/hamming/src/calibration.rs.
-- A sample as large as the table makes it the same each time: 400 fingerprints that come alone, 100 that come four times with up to two bits changed.
CREATE TABLE document AS
SELECT i AS id, CASE WHEN i <= 400 THEN hashint8extended(i, 1) ELSE hashint8extended(i % 100, 2) # (1::bigint << i % 61) # (1::bigint << i % 7) END AS si,
       'x' AS name, i::integer AS small
FROM generate_series(1, 800) AS i;
INSERT INTO document VALUES (801, NULL);

SELECT distance, pairs, nearest, round(found::numeric, 2) AS found, round(unrelated::numeric, 3) AS unrelated, recommended
FROM hamming_histogram('document', 'si') WHERE distance < 22 OR distance > 62 ORDER BY distance;
-- The same from plain SQL.
WITH pair AS (SELECT hamming(a.si, b.si) AS distance FROM document AS a JOIN document AS b ON a.id < b.id),
     nearest AS (SELECT min(hamming(a.si, b.si)) AS distance FROM document AS a JOIN document AS b ON a.id <> b.id GROUP BY a.id)
SELECT count(*) FILTER (WHERE h.pairs = (SELECT count(*) FROM pair AS p WHERE p.distance = h.distance)) AS pairs,
       count(*) FILTER (WHERE h.nearest = (SELECT count(*) FROM nearest AS n WHERE n.distance = h.distance)) AS nearest,
       count(*) FILTER (WHERE abs(h.found - (SELECT 2.0 * count(*) / 800 FROM pair AS p WHERE p.distance <= h.distance)) < 1e-9) AS found
FROM hamming_histogram('document', 'si') AS h;
-- A smaller sample is another each time, and says nearly the same.
SELECT count(*), sum(pairs), sum(nearest), bool_or(recommended) FROM hamming_histogram('document', 'si', sample => 500);
SELECT count(*), sum(pairs), sum(nearest), bool_or(recommended) FROM hamming_histogram('document', 'si', 2);

-- Views, partitions, names that have to be quoted, domains, row-level security.
CREATE SCHEMA "Odd Schema";
CREATE DOMAIN "Odd Schema".fingerprint AS bigint;
CREATE TABLE "Odd Schema"."Odd ""Table" ("Odd Column" "Odd Schema".fingerprint) PARTITION BY HASH ("Odd Column");
CREATE TABLE "Odd Schema".part PARTITION OF "Odd Schema"."Odd ""Table" FOR VALUES WITH (MODULUS 1, REMAINDER 0);
INSERT INTO "Odd Schema".part SELECT si FROM document;
CREATE VIEW half AS SELECT * FROM document WHERE id <= 400;
SELECT sum(pairs), sum(nearest) FROM hamming_histogram('"Odd Schema"."Odd ""Table"', 'Odd Column');
SELECT sum(pairs), sum(nearest) FROM hamming_histogram('half', 'si');
CREATE ROLE histogram_reader;
ALTER TABLE document ENABLE ROW LEVEL SECURITY;
CREATE POLICY some_rows ON document USING (id <= 10);
SET ROLE histogram_reader;
SELECT sum(pairs), sum(nearest) FROM hamming_histogram('document', 'si');
RESET ROLE;
GRANT SELECT ON document TO histogram_reader;
SET ROLE histogram_reader;
SELECT sum(pairs), sum(nearest) FROM hamming_histogram('document', 'si');
RESET ROLE;
DROP POLICY some_rows ON document;
ALTER TABLE document DISABLE ROW LEVEL SECURITY;

-- Nothing to compare.
CREATE TABLE empty (si bigint);
SELECT count(*), sum(pairs), sum(nearest), max(found), max(unrelated), bool_or(recommended) FROM hamming_histogram('empty', 'si');
INSERT INTO empty VALUES (NULL), (5);
SELECT count(*), sum(pairs), sum(nearest), max(found), max(unrelated), bool_or(recommended) FROM hamming_histogram('empty', 'si');
SELECT * FROM hamming_histogram(NULL, 'si');

-- Strings of bits: 300 that come alone, 100 that come three times with up to two bits changed.
CREATE TABLE picture AS
SELECT i AS id, set_bit(set_bit(c::bit(130), i % 127, 1), i % 11, 1) AS code
FROM generate_series(1, 600) AS i, LATERAL (
    SELECT string_agg(hashint8extended(CASE WHEN i <= 300 THEN i ELSE 1000 + i % 100 END, w)::bit(64)::text, '')::varbit FROM generate_series(1, 3) AS w) AS s (c);
INSERT INTO picture VALUES (601, NULL);
SELECT distance, pairs, nearest, round(found::numeric, 2) AS found, round(unrelated::numeric, 3) AS unrelated, recommended
FROM hamming_histogram('picture', 'code') WHERE distance < 6 OR distance = 130 OR recommended ORDER BY distance;
WITH pair AS (SELECT hamming(a.code, b.code) AS distance FROM picture AS a JOIN picture AS b ON a.id < b.id),
     nearest AS (SELECT min(hamming(a.code, b.code)) AS distance FROM picture AS a JOIN picture AS b ON a.id <> b.id GROUP BY a.id)
SELECT count(*) FILTER (WHERE h.pairs = (SELECT count(*) FROM pair AS p WHERE p.distance = h.distance)) AS pairs,
       count(*) FILTER (WHERE h.nearest = (SELECT count(*) FROM nearest AS n WHERE n.distance = h.distance)) AS nearest,
       count(*) FILTER (WHERE abs(h.found - (SELECT 2.0 * count(*) / 600 FROM pair AS p WHERE p.distance <= h.distance)) < 1e-9) AS found
FROM hamming_histogram('picture', 'code') AS h;
SELECT sum(pairs), sum(nearest) FROM hamming_histogram('picture', 'code', sample => 50);
ALTER TABLE picture ALTER COLUMN code TYPE bit varying;
SELECT count(*), sum(pairs), sum(nearest) FROM hamming_histogram('picture', 'code');
CREATE DOMAIN image_hash AS bit(16);
CREATE TABLE hashed (code image_hash);
SELECT count(*), sum(pairs), sum(nearest) FROM hamming_histogram('hashed', 'code');
INSERT INTO hashed VALUES (x'0001'), (x'0003');
SELECT count(*), sum(pairs), sum(nearest) FROM hamming_histogram('hashed', 'code');
INSERT INTO picture VALUES (0, B'10');
-- Which of the lengths comes first is chance.
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
SELECT * FROM hamming_histogram('document', 'si', 1);
SELECT * FROM hamming_histogram('document', 'si', 100001);
SELECT * FROM hamming_histogram('document', 'nothing');
SELECT * FROM hamming_histogram('document', 'ctid');
SELECT * FROM hamming_histogram('document', 'name');
SELECT * FROM hamming_histogram('document', 'small');
SELECT * FROM hamming_histogram('no_such_table', 'si');
SELECT * FROM hamming_histogram(1, 'si');
DROP TABLE document CASCADE;
DROP TABLE "Odd Schema"."Odd ""Table", empty;
DROP SCHEMA "Odd Schema" CASCADE;
DROP ROLE histogram_reader;
