-- distances of strings of bits
SELECT hamming(B'1010', B'0110') AS literals, hamming(X'ff', X'0f') AS hex, B'11' <^> B'00' AS operator,
       hamming(B'1', B'0') AS one_bit, hamming(''::varbit, ''::varbit) AS empty;
SELECT hamming_within(X'ff', X'0f', 4) AS within, hamming_within(X'ff', X'0f', 3) AS beyond,
       hamming_within(X'ff', X'ff', -1) AS negative, hamming_within(X'ff', X'00', 2147483647) AS everything;
SELECT hamming_similarity(X'ff', X'0f') AS half, hamming_similarity(B'101', B'100') AS third, hamming_similarity(B'1', B'0') AS none,
       hamming_similarity(''::varbit, '') AS empty;
-- bit varying, domains and casts
CREATE DOMAIN pdq AS bit(256);
SELECT hamming(B'1010'::varbit, B'0110'::varbit) AS varbit, hamming(B'1010'::varbit, B'0110') AS mixed,
       hamming(repeat('10', 128)::bit(256)::pdq, repeat('01', 128)::bit(256)) AS domain, hamming(42::bit(64), 43::bit(64)) AS casts,
       hamming('xf0'::varbit, 'b11110001') AS input;
DROP DOMAIN pdq;
-- other lengths are an error, as for PostgreSQL's own #
SELECT hamming(B'1', B'11');
\set VERBOSITY sqlstate
SELECT hamming(B'1', B'11');
SELECT B'1' # B'11';
\set VERBOSITY default
SELECT hamming_within(X'ff', X'fff', 1);
SELECT hamming_similarity(X'ff', ''::varbit);
SELECT B'1' <^> B'11';
SELECT X'fff' <@ hamming_ball(X'ff', 1);
-- a literal without a type gets the type of the other side, bigint or bit; two such literals are an error
SELECT hamming(42::bigint, '43') AS bigint, 42::bigint <~> '43' AS operator, hamming_within(42::bigint, '43', '1') AS within,
       hamming(B'1010', '0110') AS bits, '1010' <^> B'0110' AS bit_operator, hamming_within('5', '6', 2) AS within_of_bigint, hamming_ball('5', 2) AS ball;
PREPARE of_bigint AS SELECT hamming(42::bigint, $1), hamming_similarity($2, 42), hamming_within($3, $4, 2);
PREPARE of_bits AS SELECT hamming(X'ff', $1), hamming_similarity($2, X'ff'), hamming_within(X'ff', $3, $4), hamming_ball(X'ff', $5);
SELECT name, parameter_types FROM pg_prepared_statements WHERE name LIKE 'of%' ORDER BY name;
DEALLOCATE of_bigint;
DEALLOCATE of_bits;
\set VERBOSITY terse
SELECT hamming('5', '16');
PREPARE untyped AS SELECT hamming($1, $2);
\set VERBOSITY default
SELECT hamming(B'1010', '012');
SELECT hamming(X'ff', 'xfg');
\set VERBOSITY terse
SELECT hamming(B'1010', 5);
\set VERBOSITY default
-- similarity and radius
SELECT s AS similarity, hamming_radius(s, 256) AS of_256, hamming_radius(s, 64) AS of_64, hamming_radius(s) AS of_bigint, hamming_radius(s, 0) AS of_0
FROM unnest('{1, 0.984375, 0.98, 0.95, 0.90, 0.5, 0}'::float8[]) AS s;
SELECT count(*) FILTER (WHERE hamming_radius((n - d)::float8 / n, n) = d) AS exact, count(*) AS all
FROM generate_series(1, 150) AS n, generate_series(0, n) AS d;
SELECT hamming_radius(0.93, 100) AS of_93, count(*) FILTER (WHERE hamming_radius((k / 100.0)::float8, 100) = 100 - k) AS exact, count(*) AS all
FROM generate_series(0, 100) AS k;
SELECT hamming_radius(90, 256);
SELECT hamming_radius(0.9, -1);
SELECT hamming_radius('NaN', 256);
-- conditions as the planner writes them
SELECT s AS similarity, hamming_radius_ge(s, 20) AS of_20, hamming_radius_gt(s, 20), hamming_radius_ge(s, 0) AS of_0, hamming_radius_ge(s, -1) AS negative
FROM unnest('{-Infinity, -1, 0, 0.5, 0.9, 1, 1.5, Infinity, NaN}'::float8[]) AS s;
-- NULL in, NULL out
SELECT hamming(NULL, B'1') IS NULL AND hamming(B'1', NULL) IS NULL AND (NULL <^> B'1') IS NULL AND hamming_within(B'1', B'1', NULL) IS NULL
   AND hamming_similarity(B'1', NULL) IS NULL AND hamming_radius(NULL, 1) IS NULL AND hamming_radius(0.9, NULL) IS NULL
   AND hamming_ball(B'1', NULL) IS NULL AND hamming_ball(NULL::bit, 1) IS NULL AND hamming_radius_ge(0.9, NULL) IS NULL AS nulls;
-- the same as PostgreSQL's own arithmetic, for all lengths to 600 and some greater ones, plain and compressed
CREATE TABLE pairs AS
SELECT n, left(a, n)::varbit AS a, left(b, n)::varbit AS b
FROM (SELECT n, string_agg(hashint8extended(i, n)::bit(64)::text, '') AS a, string_agg(hashint8extended(i, -n)::bit(64)::text, '') AS b
    FROM (SELECT generate_series(0, 600) UNION ALL SELECT unnest('{8191, 8192, 100000}'::integer[])) AS lengths (n),
        generate_series(0, n / 64) AS i GROUP BY n) AS made;
INSERT INTO pairs SELECT n, repeat('1', n)::varbit, repeat('01', n)::bit(100000) FROM (VALUES (100000)) AS long (n);
SELECT count(*) AS pairs, max(length(a)) AS longest, bool_or(pg_column_compression(a) IS NOT NULL) AS compressed,
       count(*) FILTER (WHERE hamming(a, b) = bit_count(a # b)
           AND (b <^> a) = bit_count(a # b)
           AND hamming_within(a, b, (n * 0.47)::integer) = (bit_count(a # b) <= (n * 0.47)::integer)
           AND hamming_similarity(a, b) = CASE WHEN n = 0 THEN 1 ELSE (n - bit_count(a # b))::float8 / n END
           AND hamming_within(a, b, hamming_radius_ge(0.53, n)) = (hamming_similarity(a, b) >= 0.53)
           AND (a <@ hamming_ball(b, (n * 0.47)::integer)) = (bit_count(a # b) <= (n * 0.47)::integer)) AS agree
FROM pairs;
-- balls, with blanks anywhere
SELECT '<1010,1>'::hamming_bit_ball AS ball, ' < xF0 , -3 > '::hamming_bit_ball AS hex, '<,2147483647>'::hamming_bit_ball AS empty,
       hamming_ball(X'ff', 3) AS made, hamming_ball(42::bigint, 3) AS of_bigint;
SELECT X'fe' <@ '<11111111,1>'::hamming_bit_ball AS inside, X'fc' <@ '<11111111,1>'::hamming_bit_ball AS outside,
       X'ff' <@ hamming_ball(X'ff', -1) AS negative;
SELECT '1010,1'::hamming_bit_ball;
SELECT '<1010>'::hamming_bit_ball;
SELECT '<1012,1>'::hamming_bit_ball;
SELECT '<1010,2147483648>'::hamming_bit_ball;
-- binary, through COPY
CREATE TABLE balls (ball hamming_bit_ball);
INSERT INTO balls SELECT hamming_ball(b, n - 9) FROM pairs WHERE n < 20 OR n > 600;
INSERT INTO balls VALUES (NULL);
SELECT current_setting('data_directory') || '/bit_balls.bin' AS file \gset
COPY balls TO :'file' (FORMAT binary);
COPY balls FROM :'file' (FORMAT binary);
SELECT count(*), count(DISTINCT ball::text), count(*) FILTER (WHERE ball::text::hamming_bit_ball::text = ball::text) AS text_round_trip FROM balls;
SELECT count(*) FROM pairs JOIN balls ON ball::text = format('<%s,%s>', b, n - 9);
DROP TABLE balls;
DROP TABLE pairs;
SELECT hamming_bit_ball_send(hamming_ball(B'101', 7)) AS radius_length_and_bits;
