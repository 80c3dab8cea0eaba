-- features of weight 1 are a scheme
SELECT simhash(ARRAY['hello', 'world']) = simhash('Hello world', 'word:1') AS like_words,
       (SELECT simhash_agg(word, 1) FROM unnest(ARRAY['hello', 'world']) AS word) = simhash('Hello world', 'word:1') AS aggregated;
SELECT simhash(array_agg(feature), array_agg(weight)) = simhash(text, scheme) AS from_features,
       simhash_agg(feature, weight) = simhash(text, scheme) AS aggregated
FROM (VALUES ('To be, or not to be, that is the question', 'word:2'), ('To be, or not to be', 'doc1'), ('To be, or not to be', 'simhash-doc'), ('abracadabra', 'char:3'),
             ('日本語の文章です', 'word:2')) AS t (text, scheme), simhash_features(text, scheme)
GROUP BY text, scheme ORDER BY text, scheme;
-- the heavier side decides, repeated features add up
SELECT simhash(ARRAY['a', 'b', 'c'], ARRAY[2.5, 1, 1]) = simhash(ARRAY['a']) AS heavy,
       simhash(ARRAY['a', 'b', 'c', 'a', 'a']) = simhash(ARRAY['a', 'b', 'c'], ARRAY[3, 1, 1]) AS repeated,
       simhash(ARRAY['a', 'b'], ARRAY[0.25, 0]) = simhash(ARRAY['a']) AS weightless;
-- sums are exact: order does not matter
SELECT count(DISTINCT fingerprint) FROM (
    SELECT simhash_agg(i::text, i % 7 * 0.1 + 1e-3 ORDER BY hashint4(i + seed)) AS fingerprint
    FROM generate_series(1, 2000) AS i, generate_series(1, 5) AS seed GROUP BY seed) AS shuffled;
-- no features, no fingerprint; NULL does not count
SELECT simhash(NULL::text[]) AS null, simhash('{}'::text[]) AS empty, simhash(ARRAY[NULL, 'a']) = simhash(ARRAY['a']) AS skipped,
       simhash(ARRAY['a', 'b'], ARRAY[1, NULL]) = simhash(ARRAY['a']) AS no_weight, simhash(ARRAY['a'], ARRAY[0]) AS weightless,
       simhash(ARRAY['a'], NULL) = simhash(ARRAY['a']) AS no_weights;
SELECT simhash_agg(feature, 1) AS no_rows FROM (SELECT 'a' AS feature WHERE false) AS none;
SELECT simhash_agg(feature, weight) AS all_null FROM (VALUES (NULL, 1), ('a', NULL)) AS t (feature, weight);
SELECT simhash_agg(feature, 1) IS NULL AS all_null FROM (VALUES (NULL), (NULL)) AS t (feature);
-- groups, windows, filters
SELECT g, simhash_agg(i::text, 1) = simhash(array_agg(i::text)) AS same, simhash_agg(i::text, 1) FILTER (WHERE i < 0) AS none
FROM generate_series(1, 30) AS i, LATERAL (SELECT i % 3 AS g) AS x GROUP BY g ORDER BY g;
SELECT count(*) FROM (
    SELECT simhash_agg(i::text, 1) OVER (ORDER BY i) AS running, simhash((SELECT array_agg(j::text) FROM generate_series(1, i) AS j)) AS expected
    FROM generate_series(1, 50) AS i) AS w WHERE running <> expected;
-- in parallel the same
CREATE TABLE weighted_many AS SELECT i, i % 5000 AS g, md5(i::text) AS feature, (i % 9) / 3.0::real AS weight FROM generate_series(1, 100000) AS i;
ANALYZE weighted_many;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE weighted_serial AS SELECT simhash_agg(feature, weight) AS weighted, simhash_agg(feature, 1) AS plain FROM weighted_many;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT simhash_agg(feature, weight) FROM weighted_many;
SELECT simhash_agg(feature, weight) = (SELECT weighted FROM weighted_serial) AS weighted, simhash_agg(feature, 1) = (SELECT plain FROM weighted_serial) AS plain FROM weighted_many;
DROP TABLE weighted_many, weighted_serial;
-- the state is a value; a function of the aggregate changes a copy, and accepts nothing else as a state
SELECT simhash_agg_final(simhash_agg_combine(simhash_agg_add(NULL, 'a', 2.5), simhash_agg_add(simhash_agg_add(NULL, 'b', 1), 'c', 1))) = simhash(ARRAY['a']) AS combined,
       simhash_agg_final(simhash_agg_combine(NULL, NULL)) AS nothing, simhash_agg_final(NULL) AS none,
       length(simhash_agg_add(NULL, 'a', 1)) AS bytes, substr(simhash_agg_add(NULL, 'a', 1), 1, 8) AS form;
WITH state AS MATERIALIZED (SELECT simhash_agg_add(NULL, 'a', 1) AS value)
SELECT simhash_agg_final(simhash_agg_add(value, 'b', 9)) = simhash(ARRAY['b']) AS changed, simhash_agg_final(value) = simhash(ARRAY['a']) AS unchanged FROM state;
CREATE TABLE weighted_state AS SELECT simhash_agg_add(NULL, 'a', 1) AS value;
SELECT simhash_agg_final(value) = simhash(ARRAY['a']) AS stored FROM weighted_state;
DROP TABLE weighted_state;
SELECT simhash_agg_add('\x'::bytea, 'a', 1);
SELECT simhash_agg_final(set_byte(simhash_agg_add(NULL, 'a', 1), 7, 50));
SELECT simhash_agg_combine(NULL, simhash_agg_add(NULL, 'a', 1) || '\x00');
-- the lexemes of a text, weighed by their positions
SELECT simhash(to_tsvector('english', 'The cats sat on the mat; a cat!')) = simhash(ARRAY['cat', 'sat', 'mat'], ARRAY[2, 1, 1]) AS weighted,
       simhash(strip(to_tsvector('english', 'The cats sat on the mat; a cat!'))) = simhash(ARRAY['cat', 'sat', 'mat']) AS stripped,
       simhash(''::tsvector) AS empty, simhash(to_tsvector('english', 'the and of')) AS stop_words, simhash(NULL::tsvector) AS null;
CREATE TABLE weighted_article (body text, si bigint GENERATED ALWAYS AS (simhash(to_tsvector('english', body))) STORED);
INSERT INTO weighted_article VALUES ('Running dogs'), ('the dog runs'), (NULL);
SELECT count(DISTINCT si) AS fingerprints, count(*) FILTER (WHERE si IS NULL) AS without FROM weighted_article;
DROP TABLE weighted_article;
-- wrong weights
SELECT simhash(ARRAY['a', 'b'], ARRAY[1]::real[]);
SELECT simhash(ARRAY['a'], ARRAY[-1]::real[]);
SELECT simhash(ARRAY['a'], ARRAY['NaN']::real[]);
SELECT simhash_agg('a', 'Infinity');
SELECT simhash(ARRAY['a'], ARRAY[2e9]::real[]);
-- literals without a type are text
SELECT simhash('abc') = simhash('abc'::text) AS literal;
