-- distances
SELECT hamming(0, 0), hamming(0, -1), hamming(1, 2), hamming(-9223372036854775808, 9223372036854775807);
SELECT 5::bigint <~> 6 AS operator, hamming_within(5, 6, 2) AS within, hamming_within(5, 6, 1) AS beyond;
-- the pair of section 2.2.2 of the Similarity Index paper
SELECT hamming(-6639445703004650224, -6657454535236512496) AS hd;
-- a negative radius finds nothing, one of 64 or more finds everything
SELECT radius, hamming_within(0, 0, radius) AS equal, hamming_within(0, -1, radius) AS opposite
FROM (VALUES (-2147483648), (-1), (0), (63), (64), (2147483647)) AS r (radius);
-- similarity and radius
SELECT hamming_similarity(0, 0), hamming_similarity(0, -1), hamming_similarity(0, 63);
SELECT s AS similarity, hamming_radius(s) FROM unnest('{1, 0.984375, 0.98, 0.95, 0.90, 0.5, 0}'::float8[]) AS s;
SELECT bool_and(hamming_radius(1 - d / 64.0) = d) AS exact FROM generate_series(0, 64) AS d;
SELECT hamming_radius(90);
SELECT hamming_radius(-0.1);
SELECT hamming_radius('NaN');
-- strings of digits, as the paper keeps them
SELECT hamming(simhash_decode('0011111101011101000101010000111101110110010010010101110010000011'),
               simhash_decode('0001101101000101000101010000111101111110010010010101110010010011')) AS hd;
-- a literal without a type is a bigint beside a number, and other types are an error
SELECT hamming('5', 16) AS literal, '5' <~> '16'::bigint AS operator;
PREPARE untyped AS SELECT hamming($1, 16);
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'untyped';
EXECUTE untyped ('5');
DEALLOCATE untyped;
SELECT hamming('abc', 16);
\set VERBOSITY terse
SELECT hamming('5'::text, '16'::text);
\set VERBOSITY default
-- from numbers to strings of digits, and back
SELECT 4565828753376763011::bit(64) AS digits,
       B'0011111101011101000101010000111101110110010010010101110010000011'::bigint AS si,
       '0011111101011101000101010000111101110110010010010101110010000011'::bit(64)::bigint AS same;
-- NULL in, NULL out
SELECT hamming(NULL, 1::bigint) IS NULL AND hamming(1, NULL) IS NULL
   AND (NULL::bigint <~> 1) IS NULL AND hamming_within(1, 1, NULL) IS NULL AND hamming_radius(NULL) IS NULL
   AND hamming_similarity(NULL, 1) IS NULL AS nulls;
-- the same as PostgreSQL's own arithmetic, over many pairs
SELECT count(*) AS pairs,
       count(*) FILTER (WHERE hamming(a, b) = length(replace((a # b)::bit(64)::text, $$0$$, $$$$))
                          AND (a <~> b) = hamming(b, a)
                          AND hamming_within(a, b, 32) = (hamming(a, b) <= 32)) AS agree
FROM (SELECT hashint8extended(i, 1) AS a, hashint8extended(i, 2) AS b FROM generate_series(1, 10000) AS i) AS pairs;
