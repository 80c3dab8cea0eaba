-- Fingerprints of the second part, a column for each scheme.
SET client_min_messages = warning; -- words too long for a tsvector are left out
SET max_parallel_workers_per_gather = 8;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;

CREATE UNLOGGED TABLE fingerprint AS
SELECT id, collection, kind, change, number,
    simhash(text, 'doc2') AS "doc2",
    simhash(text, 'doc1') AS "doc1",
    simhash(text, 'simhash-doc') AS "simhash-doc",
    simhash(text, 'commoncrawl') AS "commoncrawl",
    simhash(text, 'char:4') AS "char:4",
    simhash(text, 'char:8') AS "char:8",
    simhash(text, 'word:1') AS "word:1",
    simhash(text, 'word:2') AS "word:2",
    simhash(text, 'word:3') AS "word:3",
    simhash(to_tsvector('english', text)) AS "tsvector",
    -- Weights, by how often a feature comes.
    (SELECT simhash_agg(feature, sqrt(occurrences)) FROM simhash_features(text, 'word:1')) AS "word:1, weight √n",
    (SELECT simhash_agg(feature, 1 + ln(occurrences) / ln(2)) FROM simhash_features(text, 'doc1')) AS "doc1, weight 1 + log₂ n",
    minhash_bits(text, 64, 'doc1')::bit(64)::bigint AS "minhash, 64 × 1 bit"
FROM sample;
