-- Objects that came with 0.2.0. The digests are those of its answers.
CREATE TABLE signed AS
SELECT id, minhash_bins(body) AS signature, minhash_bits(minhash_bins(body, 64))::bit(64)::bigint AS code FROM document;
CREATE INDEX signed_bands ON signed USING gin (minhash_bands(signature, 32));
CREATE INDEX signed_code ON signed USING hamming (code);
ANALYZE signed;

CREATE TABLE coded AS SELECT id, minhash_bits(body, 256)::bit(256) AS code FROM document;
CREATE INDEX coded_code ON coded USING hamming (code);
ANALYZE coded;

CREATE TABLE excerpted AS SELECT id, excerpt_sketch(body, 40) AS sketch FROM document;
CREATE INDEX excerpted_sketch ON excerpted USING gin (sketch sketch_ops);
ANALYZE excerpted;

INSERT INTO question (name, digest, index, query) VALUES
    ('signatures by bins', '20e169cf', NULL,
        $$SELECT a.id, b.id, a.code, minhash_similarity(a.signature, b.signature), minhash_merge(a.signature, b.signature),
           minhash_bits(a.signature)
        FROM signed AS a JOIN signed AS b ON a.id / 5 = b.id / 5 WHERE a.id % 100 = 0$$),
    ('signatures joined', 'c9ec9fdc', NULL,
        $$SELECT id % 10, minhash_agg(signature) FROM signed GROUP BY 1$$),
    ('gin, bands of bins', 'f1523b8e', 'signed_bands',
        $$SELECT id FROM signed
        WHERE minhash_bands(signature, 32) && minhash_bands((SELECT signature FROM signed WHERE id = 117), 32)$$),
    ('bits of signatures', 'f1523b8e', 'signed_code',
        $$SELECT id FROM signed WHERE hamming(code, (SELECT code FROM signed WHERE id = 118)) <= 16$$),
    ('strings of bits', 'f24a2270', NULL,
        $$SELECT a.id, hamming(a.code, b.code), hamming_similarity(a.code, b.code), hamming_ball(a.code, a.id)
        FROM coded AS a JOIN coded AS b ON b.id = 119 WHERE hamming_within(a.code, b.code, 100)$$),
    ('index of strings of bits', '0b6785de', 'coded_code',
        $$SELECT id FROM coded WHERE hamming(code, (SELECT code FROM coded WHERE id = 120)) <= 100$$),
    ('nearest strings of bits', '25cb10a3', 'coded_code',
        $$SELECT code <^> 42::bit(256) FROM coded ORDER BY code <^> 42::bit(256) LIMIT 50$$),
    ('pairs of strings of bits', '7d8381af', NULL,
        $$SELECT p.* FROM (SELECT array_agg(id) AS ids, array_agg(code) AS codes FROM coded) AS c,
            hamming_bit_pairs(ids, codes, 80) AS p$$),
    ('clusters of strings of bits', 'acbdff5b', NULL,
        $$SELECT id, hamming_bit_cluster(id, code, 80) OVER (ORDER BY id) FROM coded
        UNION ALL SELECT c.* FROM (SELECT array_agg(id) AS ids, array_agg(code) AS codes FROM coded) AS a,
            hamming_bit_clusters(ids, codes, 80, 'connected') AS c$$),
    ('near pairs in parts', '7d8381af', NULL,
        $$SELECT p.* FROM (SELECT block, array_agg(id::text) AS ids, array_agg(code) AS codes
            FROM coded, unnest(hamming_bit_blocks(code, 80, 3)) AS block GROUP BY block) AS c, near_bit_pairs(ids, codes, 80, 3, block) AS p$$),
    ('histogram of strings of bits', 'ddc985eb', NULL,
        $$SELECT distance, pairs FROM hamming_histogram('coded', 'code')$$),
    ('excerpts', 'a204ece9', 'excerpted_sketch',
        $$SELECT id, sketch FROM excerpted WHERE sketch && (SELECT sketch FROM excerpted WHERE id = 115)$$),
    ('shares of sketches', 'f1523b8e', 'excerpted_sketch',
        $$SELECT id FROM excerpted WHERE sketch_resemblance(sketch, (SELECT sketch FROM excerpted WHERE id = 115)) >= 0.2$$);
