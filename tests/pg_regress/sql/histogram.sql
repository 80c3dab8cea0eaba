-- Calibration. What the numbers mean is tested in crates/hamming/src/calibration.rs, and with texts below.
-- A sample as large as the table makes it the same each time: 400 fingerprints that come alone, 100 that come four times with up to two bits changed.
CREATE TABLE document AS
SELECT i AS id, CASE WHEN i <= 400 THEN hashint8extended(i, 1) ELSE hashint8extended(i % 100, 2) # (1::bigint << i % 61) # (1::bigint << i % 7) END AS si,
       'x' AS name, i::integer AS small
FROM generate_series(1, 800) AS i;
INSERT INTO document VALUES (801, NULL);

SELECT distance, pairs, nearest, round(found::numeric, 2) AS found, round(unrelated::numeric, 3) AS unrelated, to_search, to_delete, reason
FROM hamming_histogram('document', 'si') WHERE distance < 22 OR distance > 62 ORDER BY distance;
-- The same from plain SQL.
WITH pair AS (SELECT hamming(a.si, b.si) AS distance, count(*) AS pairs FROM document AS a JOIN document AS b ON a.id < b.id GROUP BY 1),
     nearest AS (SELECT min(hamming(a.si, b.si)) AS distance FROM document AS a JOIN document AS b ON a.id <> b.id GROUP BY a.id)
SELECT count(*) FILTER (WHERE h.pairs = coalesce((SELECT p.pairs FROM pair AS p WHERE p.distance = h.distance), 0)) AS pairs,
       count(*) FILTER (WHERE h.nearest = (SELECT count(*) FROM nearest AS n WHERE n.distance = h.distance)) AS nearest,
       count(*) FILTER (WHERE abs(h.found - coalesce((SELECT 2.0 * sum(p.pairs) / 800 FROM pair AS p WHERE p.distance <= h.distance), 0)) < 1e-9) AS found
FROM hamming_histogram('document', 'si') AS h;
-- A smaller sample is another each time, and says nearly the same.
SELECT count(*), sum(pairs), sum(nearest), count(reason) BETWEEN 1 AND 2 AS advised FROM hamming_histogram('document', 'si', sample => 500);
SELECT count(*), sum(pairs), sum(nearest), count(reason) BETWEEN 1 AND 2 AS advised FROM hamming_histogram('document', 'si', 2);
-- There is one radius of each kind, with its reason.
SELECT count(*) FILTER (WHERE to_search), count(*) FILTER (WHERE to_delete), count(*) FILTER (WHERE (to_search OR to_delete OR to_check) <> (reason IS NOT NULL))
FROM hamming_histogram('document', 'si', 300);

-- Form letters: 20 words of their own, and 40 of one of three templates, which make half of what two of them share. Letters that stand alone,
-- and copies of these with another word at the end.
CREATE FUNCTION words(first bigint, count integer) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT string_agg('w' || abs(hashint8extended(first * 1000 + i, 3)) % 100000, ' ') FROM generate_series(1, count) AS i $$;
CREATE TABLE letter AS SELECT id, body, simhash(body) AS si, minhash(body, 512, 'doc2') AS signature
FROM generate_series(1, 900) AS id, LATERAL (
    SELECT CASE WHEN id <= 600 THEN words(-(id % 3), 40) || ' ' || words(id, 20) WHEN id <= 800 THEN words(id, 60) ELSE words(id - 100, 60) || ' end' END) AS t (body);
CREATE TEMP TABLE near_letters AS
SELECT a.id AS a, b.id AS b, hamming(a.si, b.si) AS distance, minhash_similarity(a.signature, b.signature) < 0.3 AS is_unrelated
FROM letter AS a JOIN letter AS b ON a.id <> b.id AND hamming(a.si, b.si) <= 20;
-- The codes alone say less of letters of a template, so they advise smaller radii than the texts.
SELECT c.distance < t.distance AS more_by_texts, t.distance BETWEEN 10 AND 16 AS far_by_texts,
       d.distance <= e.distance AS delete_more_by_texts,
       (SELECT count(*) / 900.0 FROM near_letters AS n WHERE n.distance <= t.distance AND is_unrelated) <= 0.1 AS good_to_search,
       NOT EXISTS (SELECT FROM near_letters AS n WHERE n.distance <= e.distance AND is_unrelated) AS good_to_delete
FROM hamming_histogram('letter', 'si') AS c, hamming_histogram('letter', 'si', body => 'body') AS t,
     hamming_histogram('letter', 'si') AS d, hamming_histogram('letter', 'si', body => 'body') AS e
WHERE c.to_search AND t.to_search AND d.to_delete AND e.to_delete;
-- What is measured is near to what is so, and rather more than less.
SELECT bool_and(h.unrelated BETWEEN 0.9 * truth.unrelated AND 2.5 * truth.unrelated) AS measured, bool_and(abs(h.found - truth.found) < 1e-9) AS found
FROM hamming_histogram('letter', 'si', 1000, 'body') AS h, LATERAL (
    SELECT count(*) / 900.0 AS found, count(*) FILTER (WHERE is_unrelated) / 900.0 AS unrelated FROM near_letters AS n WHERE n.distance <= h.distance) AS truth
WHERE h.distance = 20;
-- A second look keeps the copies. Letters of a template share half of their words, and few of their pairs of words.
CREATE TEMP TABLE looked_at AS
SELECT n.distance, minhash_similarity(minhash(a.body, 512, 'word:2'), minhash(b.body, 512, 'word:2')) >= 0.45 AS is_kept
FROM near_letters AS n JOIN letter AS a ON a.id = n.a JOIN letter AS b ON b.id = n.b;
SELECT bool_and(abs(h.kept - truth.kept) < 0.01 * truth.found) AS measured, count(*) FILTER (WHERE to_check AND reason LIKE '%check: finds%') AS advised,
       max(h.distance) FILTER (WHERE h.kept IS NOT NULL) AS farthest
FROM hamming_histogram('letter', 'si', 1000, 'body') AS h, LATERAL (
    SELECT count(*) / 900.0 AS found, count(*) FILTER (WHERE is_kept) / 900.0 AS kept FROM looked_at AS n WHERE n.distance <= h.distance) AS truth
WHERE h.kept IS NOT NULL;
SELECT count(kept) AS kept, count(*) FILTER (WHERE to_check) AS advised FROM hamming_histogram('letter', 'si');
-- Texts of other types, stored in other ways; rows without a text or without words.
CREATE VIEW odd_letter AS
SELECT si, CASE WHEN id > 890 THEN NULL WHEN id > 880 THEN '' ELSE repeat(body || ' ', 50) END::varchar AS "Odd Body", body::char(500) AS padded, id FROM letter;
SELECT sum(pairs), sum(nearest), count(reason) BETWEEN 1 AND 3 AS advised FROM hamming_histogram('odd_letter', 'si', body => 'Odd Body');
SELECT sum(pairs), sum(nearest), count(reason) BETWEEN 1 AND 3 AS advised FROM hamming_histogram('odd_letter', 'si', 20, 'padded');
SELECT * FROM hamming_histogram('letter', 'si', body => 'id');
SELECT * FROM hamming_histogram('letter', 'si', body => 'nothing');
-- The columns that a user may not read.
CREATE ROLE letter_reader;
GRANT SELECT (id, si) ON letter TO letter_reader;
SET ROLE letter_reader;
SELECT sum(nearest) FROM hamming_histogram('letter', 'si');
SELECT sum(nearest) FROM hamming_histogram('letter', 'si', body => 'body');
RESET ROLE;
DROP VIEW odd_letter;
DROP TABLE letter, near_letters;
DROP FUNCTION words(bigint, integer);
DROP ROLE letter_reader;

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
SELECT count(*), sum(pairs), sum(nearest), max(found), max(unrelated), count(reason) BETWEEN 1 AND 2 AS advised FROM hamming_histogram('empty', 'si');
INSERT INTO empty VALUES (NULL), (5);
SELECT count(*), sum(pairs), sum(nearest), max(found), max(unrelated), count(reason) BETWEEN 1 AND 2 AS advised FROM hamming_histogram('empty', 'si');
SELECT * FROM hamming_histogram(NULL, 'si');

-- Strings of bits: 300 that come alone, 100 that come three times with up to two bits changed.
CREATE TABLE picture AS
SELECT i AS id, set_bit(set_bit(c::bit(130), i % 127, 1), i % 11, 1) AS code
FROM generate_series(1, 600) AS i, LATERAL (
    SELECT string_agg(hashint8extended(CASE WHEN i <= 300 THEN i ELSE 1000 + i % 100 END, w)::bit(64)::text, '')::varbit FROM generate_series(1, 3) AS w) AS s (c);
INSERT INTO picture VALUES (601, NULL);
SELECT distance, pairs, nearest, round(found::numeric, 2) AS found, round(unrelated::numeric, 3) AS unrelated, to_search, to_delete, reason
FROM hamming_histogram('picture', 'code') WHERE distance < 6 OR distance = 130 OR reason IS NOT NULL ORDER BY distance;
WITH pair AS (SELECT hamming(a.code, b.code) AS distance, count(*) AS pairs FROM picture AS a JOIN picture AS b ON a.id < b.id GROUP BY 1),
     nearest AS (SELECT min(hamming(a.code, b.code)) AS distance FROM picture AS a JOIN picture AS b ON a.id <> b.id GROUP BY a.id)
SELECT count(*) FILTER (WHERE h.pairs = coalesce((SELECT p.pairs FROM pair AS p WHERE p.distance = h.distance), 0)) AS pairs,
       count(*) FILTER (WHERE h.nearest = (SELECT count(*) FROM nearest AS n WHERE n.distance = h.distance)) AS nearest,
       count(*) FILTER (WHERE abs(h.found - coalesce((SELECT 2.0 * sum(p.pairs) / 600 FROM pair AS p WHERE p.distance <= h.distance), 0)) < 1e-9) AS found
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
SELECT * FROM hamming_histogram(0, 'si');
SELECT * FROM hamming_histogram(0, 'si', body => 'name');
\set VERBOSITY sqlstate
SELECT * FROM hamming_histogram(0, 'si');
\set VERBOSITY default
DROP TABLE document CASCADE;
DROP TABLE "Odd Schema"."Odd ""Table", empty;
DROP SCHEMA "Odd Schema" CASCADE;
DROP ROLE histogram_reader;
