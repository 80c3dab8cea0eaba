SELECT minhash_similarity('{}', '{}') AS empty, minhash_similarity('{1,2}', NULL) AS null, minhash_similarity('{1,2,3,4}', '{1,5,3,-4}') AS half;
-- signatures by one-permutation hashing: values that must never change, and -1 for empty bins
SELECT minhash('The quick brown fox jumps over the lazy dog', 8);
SELECT minhash('The quick brown fox jumps over the lazy dog', 4, 'char:4');
SELECT minhash('word', 4), minhash('word', 1), cardinality(minhash('a')), cardinality(minhash('a', 4096));
SELECT minhash('') AS empty, minhash('?!') AS marks, minhash(NULL) AS null;
-- 90 of 110 words are shared, 0.82, in 512 bins of which most are empty; 2 of 4 words in 64
SELECT minhash_similarity(a, b) BETWEEN 0.72 AND 0.92 AS near, minhash_similarity(a, a) AS same, minhash_similarity(a, c) < 0.1 AS far
FROM (SELECT minhash(string_agg('w' || i, ' ') FILTER (WHERE i <= 100), 512, 'word:1') AS a,
             minhash(string_agg('w' || i, ' ') FILTER (WHERE i > 10 AND i <= 110), 512, 'word:1') AS b,
             minhash(string_agg('w' || i, ' ') FILTER (WHERE i > 200), 512, 'word:1') AS c FROM generate_series(1, 300) AS i) AS signatures;
SELECT minhash_similarity(minhash('one two three', 64, 'word:1'), minhash('two three four', 64, 'word:1')) AS half,
       minhash_similarity('{-1,-1,3,4}', '{-1,5,3,7}') AS third, minhash_similarity('{-1,-1}', '{-1,-1}') AS all_empty,
       minhash_similarity('{{1,2},{3,4}}', '{1,2,3,9}') AS places_in_order;
SELECT minhash_bits('The quick brown fox jumps over the lazy dog', 64, 'word:1')::bit(64)::bigint AS fingerprint,
       length(minhash_bits('a', 256)::bit(256));
SELECT minhash_bits('a b c d', 8) = minhash_bits('a b c d', 8, 'word:3') AS default_scheme, length(minhash_bits('a', 100)),
       minhash_bits('', 8) AS empty, minhash_bits('?!', 8) AS marks, minhash_bits(NULL, 8) AS no_text, minhash_bits('a', NULL) AS no_bits;
-- bits agree with the probability (1 + J)/2: 0.75 for half of the words
SELECT avg(hamming(a::bit(64)::bigint, b::bit(64)::bigint)) BETWEEN 14 AND 18 AS a_quarter_of_64_differs
FROM generate_series(1, 200) AS t,
     LATERAL (SELECT minhash_bits(string_agg('w' || t * 1000 + i, ' ') FILTER (WHERE i <= 300), 64, 'word:1') AS a,
                     minhash_bits(string_agg('w' || t * 1000 + i, ' ') FILTER (WHERE i > 100), 64, 'word:1') AS b
              FROM generate_series(1, 400) AS i) AS pair;
-- results are ordinary arrays
SELECT minhash('word', 4) = minhash('word', 4)::text::integer[] AS equal, minhash('word', 1) || 7 AS longer, array_dims(minhash('word', 4)) AS dims,
       pg_column_size(minhash('word', 128)) = pg_column_size(array_fill(0, '{128}')) AS same_size;
-- errors
SELECT minhash_similarity('{1}', '{1,2}');
\echo :LAST_ERROR_SQLSTATE
SELECT minhash_similarity('{NULL}', '{1}');
SELECT minhash('a', 0);
SELECT minhash('a', 4097);
SELECT minhash('a', 16, 'word:0');
SELECT minhash_bits('a', 0);
SELECT minhash_bits('a', 4097);
SELECT minhash_bits('a', 64, 'word:0');
