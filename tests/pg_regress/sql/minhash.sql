-- values that must never change
SELECT minhash('The quick brown fox jumps over the lazy dog', 8);
SELECT minhash('The quick brown fox jumps over the lazy dog', 4, 'char:4');
SELECT cardinality(minhash('a')), cardinality(minhash('a', 1)), cardinality(minhash('a', 4096));
SELECT m = ARRAY(SELECT unnest(m)) AS same, array_dims(m) FROM (VALUES (minhash('a b c', 3))) AS v (m);
-- texts without features have no signature
SELECT minhash('') AS empty, minhash('?!') AS marks, minhash(NULL) AS null;
-- agreement estimates resemblance: 90 of 110 words are shared, 0.82
SELECT minhash_similarity(a, b) BETWEEN 0.72 AND 0.92 AS near, minhash_similarity(a, a) AS same, minhash_similarity(a, c) < 0.1 AS far
FROM (SELECT minhash(string_agg('w' || i, ' ') FILTER (WHERE i <= 100), 256, 'word:1') AS a,
             minhash(string_agg('w' || i, ' ') FILTER (WHERE i > 10 AND i <= 110), 256, 'word:1') AS b,
             minhash(string_agg('w' || i, ' ') FILTER (WHERE i > 200), 256, 'word:1') AS c FROM generate_series(1, 300) AS i) AS signatures;
SELECT minhash_similarity('{}', '{}') AS empty, minhash_similarity('{1,2}', NULL) AS null, minhash_similarity('{1,2,3,4}', '{1,5,3,-4}') AS half;
-- bands, for GIN
SELECT cardinality(minhash_bands(minhash('a b c d'), 32)), minhash_bands('{}', 4) AS none, minhash_bands('{1,2}', 2) && minhash_bands('{1,3}', 2) AS share,
       minhash_bands('{1,2}', 1) && minhash_bands('{1,3}', 1) AS do_not, minhash_bands('{1,2}', 2) && minhash_bands('{2,1}', 2) AS places_matter;
CREATE TABLE minhashed AS SELECT i, minhash(string_agg('w' || (i * 7 + j), ' '), 64, 'word:1') AS signature
FROM generate_series(1, 2000) AS i, generate_series(1, 50) AS j GROUP BY i;
CREATE INDEX ON minhashed USING gin (minhash_bands(signature, 16));
ANALYZE minhashed;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT i FROM minhashed WHERE minhash_bands(signature, 16) && '{1,2}';
-- texts share 43 of 57 words with their neighbours, and nothing with those eight places away
SELECT i FROM minhashed
WHERE minhash_bands(signature, 16) && minhash_bands((SELECT signature FROM minhashed WHERE i = 1000), 16)
  AND minhash_similarity(signature, (SELECT signature FROM minhashed WHERE i = 1000)) > 0.5 ORDER BY i;
DROP TABLE minhashed;
-- errors
SELECT minhash('a', 0);
SELECT minhash('a', 5000);
SELECT minhash('a', 16, 'word:0');
SELECT minhash_similarity('{1}', '{1,2}');
SELECT minhash_similarity('{NULL}', '{1}');
SELECT minhash_bands('{1,2,3}', 2);
SELECT minhash_bands('{1,2,3}', 0);
