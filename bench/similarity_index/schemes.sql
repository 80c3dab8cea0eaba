-- Fingerprints of the second part, a column for each scheme.
SET client_min_messages = warning; -- words too long for a tsvector are left out
SET max_parallel_workers_per_gather = 8;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;

-- The lowest bits of values of MinHash, side by side in 64 bits (Li and König, 2010).
CREATE FUNCTION lowest_bits(signature integer[], width integer) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT bit_or((value & (1 << width) - 1)::bigint << (width * (n - 1))::integer) FROM unnest(signature) WITH ORDINALITY AS s (value, n)
$$;

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
    lowest_bits(minhash_classic(text, 64, 'doc1'), 1) AS "minhash, 64 × 1 bit",
    lowest_bits(minhash_classic(text, 32, 'doc1'), 2) AS "minhash, 32 × 2 bits",
    lowest_bits(minhash_classic(text, 16, 'doc1'), 4) AS "minhash, 16 × 4 bits"
FROM sample;
