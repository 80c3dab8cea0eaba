-- 1,000 texts of one template: ten words in all texts, three in a tenth of them, and one word that no other text has
CREATE TABLE corpus AS
SELECT i, 'this package has the files that a program of ours needs ' || repeat('group' || i % 10 || ' ', 3) || 'name' || i AS body
FROM generate_series(1, 1000) AS i;
CREATE TABLE rarity AS SELECT feature_weights(body, 'word:1') AS weights FROM corpus;
SELECT length(weights), substr(weights, 1, 14) FROM rarity;
-- unrelated texts of one template share ten words of weight 1, but not two names of weight 13
SELECT text_similarity(a.body, b.body, weights) BETWEEN 0.2 AND 0.3 AS unrelated,
       hamming(minhash_bits(a.body, 256, weights)::bit(256), minhash_bits(b.body, 256, weights)::bit(256)) BETWEEN 76 AND 116 AS far,
       hamming(minhash_bits(a.body, 256, 'word:1')::bit(256), minhash_bits(b.body, 256, 'word:1')::bit(256)) < 50 AS near_without_weights
FROM corpus AS a, corpus AS b, rarity WHERE a.i = 7 AND b.i = 18;
SELECT text_similarity('group1 name11', 'name11', weights) BETWEEN 0.8 AND 0.95 AS mostly, text_similarity('a b', 'b a', weights) AS same,
       text_similarity('a', 'b', weights) AS none, text_similarity('', '?!', weights) AS empty, text_similarity('a', NULL, weights) AS null
FROM rarity;
-- containment: of words and numbers, or by weights; an empty text has no features
SELECT text_containment('Pay 12 euros', 'please PAY 12 euros, now') AS contained, text_containment('please pay 12 euros', 'pay 13 euros') AS half,
       text_containment('a b', 'b a', 'word:2') AS pairs, text_containment('', 'a') AS empty, text_containment('a', '') AS in_empty, text_containment('a', NULL) AS null,
       text_containment('group1 name11', 'name11', weights) BETWEEN 0.8 AND 0.95 AS mostly, text_containment('name11', 'group1 name11', weights) AS all
FROM rarity;
-- the score of versions and siblings; at the same place, each name is a word that the other text lacks
SELECT version_score(a.body, a.body, weights) AS same, version_score(a.body, a.body || ' since last year', weights) > 0.75 AS version, version_score(a.body, b.body, weights) < 0.5 AS sibling,
       version_score(a.body, b.body, weights) = version_score(b.body, a.body, weights) AS symmetric, version_score('', a.body, weights) AS empty, version_score('?!', '', weights) AS marks, version_score('a', NULL, weights) AS null
FROM corpus AS a, corpus AS b, rarity WHERE a.i = 7 AND b.i = 18;
-- bits estimate the share
SELECT abs(avg(1 - 2 * hamming(minhash_bits(a.body, 256, weights)::bit(256), minhash_bits(a.body || ' and more ' || b.body, 256, weights)::bit(256)) / 256.0
           - text_similarity(a.body, a.body || ' and more ' || b.body, weights))) < 0.05 AS estimated
FROM (SELECT i, md5(i::text) || ' ' || md5(i || 'x') || ' ' || body AS body FROM corpus) AS a JOIN corpus AS b ON b.i = a.i + 1, rarity WHERE a.i <= 200;
SELECT length(minhash_bits('name1', 100, weights)) AS bits, minhash_bits('', 8, weights) AS empty, minhash_bits('?!', 8, weights) AS marks,
       minhash_bits(NULL, 8, weights) AS no_text, minhash_bits('a', 8, NULL::bytea) AS no_weights
FROM rarity;
-- neither order, partial aggregation, NULLs nor texts without words matter
SELECT feature_weights(body, 'word:1' ORDER BY hashint4(i)) = (SELECT weights FROM rarity) AS ordered FROM corpus;
SELECT feature_weights_final(feature_weights_combine(NULL, NULL));
SELECT feature_weights_final(NULL);
SELECT feature_weights(body, 'word:1') = (SELECT weights FROM rarity) AS same
FROM (SELECT body FROM corpus UNION ALL VALUES (NULL), (''), ('?!')) AS c;
-- few texts are noticed, and none are an error
SELECT feature_weights(body, 'word:1') FROM corpus WHERE false;
SELECT feature_weights('', 'word:1');
SELECT feature_weights(NULL, 'word:1');
SELECT feature_weights('a', NULL);
SELECT length(feature_weights('a', 'word:1'));
SET client_min_messages = warning;
SELECT count(DISTINCT w) AS groups FROM (SELECT feature_weights(body, 'char:4') AS w FROM corpus GROUP BY i % 10) AS g;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
ALTER TABLE corpus SET (parallel_workers = 2);
EXPLAIN (COSTS OFF) SELECT feature_weights(body, 'word:1') FROM corpus;
SELECT feature_weights(body, 'word:1') = (SELECT weights FROM rarity) AS in_parallel FROM corpus;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
-- states are checked, and only the aggregate's own state is changed
WITH state AS MATERIALIZED (SELECT feature_weights_add(NULL, 'a b', 'word:1') AS value)
SELECT length(value), substr(value, 1, 8) AS form, feature_weights_final(feature_weights_combine(value, value)) = feature_weights_final(feature_weights_add(value, 'a b', 'word:1')) AS twice,
       feature_weights_final(value) = (SELECT feature_weights('a b', 'word:1')) AS unchanged
FROM state;
RESET client_min_messages;
SELECT feature_weights_final('\x'::bytea);
SELECT feature_weights_combine(feature_weights_add(NULL, 'a', 'word:1'), feature_weights_add(NULL, 'a', 'word:2'));
SELECT feature_weights(body, scheme) FROM (VALUES ('a', 'word:1'), ('b', 'char:4')) AS v (body, scheme);
SELECT feature_weights('a', 'word');
SELECT minhash_bits('a', 8, '\x00'::bytea);
SELECT text_similarity('a', 'b', substr(weights, 1, 100)) FROM rarity;
SELECT version_score('a', 'b', substr(weights, 1, 100)) FROM rarity;
SELECT minhash_bits('a', 0, weights) FROM rarity;
DROP TABLE corpus, rarity;
