-- Fingerprints of the second part. Called with -v documents=N -v seed=N.
SET client_min_messages = warning; -- words too long for a tsvector are left out

-- Documents that a tsvector can hold, and the changed copies of these.
CREATE UNLOGGED TABLE quality AS
WITH original AS (
    SELECT id, body FROM document WHERE origin IS NULL AND length(body) <= 200000 ORDER BY chance(:seed, id, 7) LIMIT :documents)
SELECT id, NULL::bigint AS origin, 'none' AS change, body AS text FROM original
UNION ALL
SELECT c.id, c.origin, c.change, c.body FROM document AS c JOIN original AS o ON c.origin = o.id;
ANALYZE quality;

CREATE UNLOGGED TABLE fingerprint (scheme text, id bigint, si bigint);
INSERT INTO fingerprint SELECT scheme, id, simhash(text, scheme)
FROM unnest('{commoncrawl,char:4,char:8,word:1,word:2,word:3,doc1}'::text[]) AS scheme, quality;
INSERT INTO fingerprint SELECT 'tsvector', id, simhash(to_tsvector('english', text)) FROM quality;

-- Weights of words and of doc1's pairs of words, by how often they come.
INSERT INTO fingerprint
SELECT w.scheme, id, w.si
FROM quality, LATERAL (
    SELECT simhash_agg(feature, sqrt(occurrences)) AS root, simhash_agg(feature, 1 + ln(occurrences) / ln(2)) AS logarithm,
           simhash_agg(feature, sqrt(occurrences)) FILTER (WHERE length(feature) >= 3) AS root_long
    FROM simhash_features(text, 'word:1')) AS s,
    LATERAL (VALUES ('word:1, weight √n', root), ('word:1, weight 1 + log₂ n', logarithm),
             ('word:1 of 3 letters, weight √n', root_long)) AS w (scheme, si);
INSERT INTO fingerprint
SELECT w.scheme, id, w.si
FROM quality, LATERAL (
    SELECT simhash_agg(feature, sqrt(occurrences)) AS root, simhash_agg(feature, 1 + ln(occurrences) / ln(2)) AS logarithm
    FROM simhash_features(text, 'doc1')) AS s,
    LATERAL (VALUES ('doc1, weight √n', root), ('doc1, weight 1 + log₂ n', logarithm)) AS w (scheme, si);

-- MinHash in the same 64 bits: the lowest bits of each value (Li and König, 2010).
INSERT INTO fingerprint
SELECT 'minhash, 64 × 1 bit', id, (SELECT bit_or((value & 1)::bigint << (n - 1)::integer) FROM unnest(signature) WITH ORDINALITY AS s (value, n))
FROM (SELECT id, minhash(text, 64, 'word:2') AS signature FROM quality) AS signed;
INSERT INTO fingerprint
SELECT 'minhash, 16 × 4 bits', id, (SELECT bit_or((value & 15)::bigint << (4 * n - 4)::integer) FROM unnest(signature) WITH ORDINALITY AS s (value, n))
FROM (SELECT id, minhash(text, 16, 'word:2') AS signature FROM quality) AS signed;

-- What is related although nobody changed it: resemblance, as MinHash of 256 values estimates it, of 0.3 and more.
CREATE UNLOGGED TABLE signed AS SELECT id, minhash(text, 256, 'word:3') AS signature FROM quality WHERE origin IS NULL;
CREATE UNLOGGED TABLE related AS
SELECT a.id AS a, b.id AS b FROM signed AS a JOIN signed AS b ON a.id < b.id AND minhash_similarity(a.signature, b.signature) >= 0.3;
ANALYZE related;
