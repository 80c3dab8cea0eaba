-- input and output
SELECT '<42,6>'::hamming_ball, ' < -1 , 64 > '::hamming_ball AS spaced, hamming_ball(-9223372036854775808, -1) AS lowest,
       hamming_ball(NULL, 1) IS NULL AND hamming_ball(1, NULL) IS NULL AS nulls;
SELECT hamming_ball(42, 6)::text::hamming_ball::text = hamming_ball(42, 6)::text AS text_round_trip;
SELECT '42,6'::hamming_ball;
SELECT '<42>'::hamming_ball;
SELECT '<42,6'::hamming_ball;
SELECT '<a,6>'::hamming_ball;
SELECT '<9223372036854775808,6>'::hamming_ball;
SELECT '<42,2147483648>'::hamming_ball;
SELECT ''::hamming_ball;
-- binary, through COPY
CREATE TABLE balls (ball hamming_ball);
INSERT INTO balls VALUES ('<42,6>'), ('<-1,-1>'), (NULL);
SELECT current_setting('data_directory') || '/balls.bin' AS file \gset
COPY balls TO :'file' (FORMAT binary);
COPY balls FROM :'file' (FORMAT binary);
SELECT ball, count(*) FROM (SELECT ball::text FROM balls) AS b GROUP BY ball ORDER BY ball;
DROP TABLE balls;
-- operators
SELECT 7::bigint <@ '<0,3>'::hamming_ball AS inside, 15::bigint <@ '<0,3>'::hamming_ball AS outside,
       0::bigint <@ '<0,-1>'::hamming_ball AS negative,
       -1::bigint <@ '<0,64>'::hamming_ball AS everything;
SELECT '<0,3>'::hamming_ball ~ '<7,3>' AS near, '<0,3>'::hamming_ball ~ '<15,3>' AS far, '<0,9>'::hamming_ball ~ '<7,2>' AS smaller_counts;
-- conditions as the planner writes them, for limits of any numeric type
SELECT k, hamming_radius_le(k), hamming_radius_lt(k)
FROM unnest('{-9223372036854775808,-1,0,1,6,64,65,9223372036854775807}'::bigint[]) AS k;
-- the planner asks whether the operator's function is ours, keeps the answer, and forgets it when functions change
CREATE TABLE coded (code bigint);
CREATE INDEX ON coded USING hamming (code);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT FROM coded WHERE hamming(code, 42) <= 6;
BEGIN;
CREATE OR REPLACE FUNCTION hamming_ball_contained(bigint, hamming_ball) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE BEGIN ATOMIC SELECT false; END;
EXPLAIN (COSTS OFF) SELECT FROM coded WHERE hamming(code, 42) <= 6;
ROLLBACK;
EXPLAIN (COSTS OFF) SELECT FROM coded WHERE hamming(code, 42) <= 6;
RESET enable_seqscan;
DROP TABLE coded;
