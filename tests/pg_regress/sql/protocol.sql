-- What servers send to one another (postgres_fdw, Citus), as text. A server may have another version than the one that
-- asks. So these lines and their answers never change: a new form gets new lines.
CREATE TABLE public.document (id integer, si bigint, code bit(8));
INSERT INTO public.document SELECT i, i, (i % 256)::bit(8) FROM generate_series(0, 1023) AS i;
CREATE INDEX by_si ON public.document USING hamming (si);
CREATE INDEX by_code ON public.document USING hamming (code);
VACUUM ANALYZE public.document;
SET search_path = pg_catalog;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
-- since 1.0.0: conditions
SELECT id FROM public.document WHERE (public.hamming_within(si, 42::bigint, 1)) ORDER BY id;
SELECT count(*) FROM public.document WHERE (public.hamming_within(si, (-1)::bigint, 55));
SELECT count(*) FROM public.document WHERE ((si OPERATOR(public.<~>) 42::bigint) <= 2);
SELECT count(*) FROM public.document WHERE ((si OPERATOR(public.<@) '<42,2>'::public.hamming_ball));
SELECT count(*) FROM public.document WHERE ((si OPERATOR(public.<@) public.hamming_ball(42::bigint, 2)));
SELECT count(*) FROM public.document WHERE ((public.hamming_ball(si, 2) OPERATOR(public.~) public.hamming_ball(42::bigint, 2)));
SELECT count(*) FROM public.document WHERE ((public.hamming_similarity(si, 42::bigint) >= 0.95::double precision));
SELECT count(*) FROM public.document WHERE ((public.hamming(si, 42::bigint) = 2));
-- since 1.0.0: radii of limits, with each type of argument
SELECT public.hamming_radius_le(6::bigint), public.hamming_radius_le(6.9::double precision), public.hamming_radius_le(6.9::numeric),
       public.hamming_radius_lt(6::bigint), public.hamming_radius_lt(6.1::double precision), public.hamming_radius_lt(6::numeric),
       public.hamming_radius_ge(0.9::double precision, 64), public.hamming_radius_gt(0.90625::double precision, 64), public.hamming_radius(0.9);
SELECT public.hamming_radius_le('-Infinity'::double precision), public.hamming_radius_le('NaN'::numeric) >= 64 AS every, public.hamming_radius_lt('-9223372036854775808'::bigint),
       public.hamming_radius_ge('NaN'::double precision, 64), public.hamming_radius_gt(1::double precision, 64);
PREPARE numbers (double precision) AS SELECT count(*) FROM public.document WHERE (public.hamming_within(si, 42::bigint, public.hamming_radius_ge($1::double precision, 64)));
EXECUTE numbers (0.95);
-- since 1.0.0: orders
SELECT id, si FROM public.document WHERE (public.hamming_within(si, 42::bigint, 1)) ORDER BY (si OPERATOR(public.<~>) 42::bigint) ASC NULLS LAST LIMIT 1;
SELECT sum(d) FROM (SELECT (si OPERATOR(public.<~>) 42::bigint) AS d FROM public.document ORDER BY (si OPERATOR(public.<~>) 42::bigint) LIMIT '12'::bigint) AS nearest;
-- since 1.0.0: balls as text and as bytes
SELECT '<42,6>'::public.hamming_ball, '<-1,64>'::public.hamming_ball, public.hamming_ball(42::bigint, (-1)), encode(public.hamming_ball_send('<42,6>'), 'hex');
-- since 1.0.0: fingerprints, where their text is on the other server
SELECT public.simhash('The quick brown fox'::text, 'doc1'::text), public.simhash('The quick brown fox'::text, 'word:3'::text),
       public.simhash('{a,b}'::text[], '{2,1}'::double precision[]);
-- since 1.0.0: strings of bits
SELECT count(*) FROM public.document WHERE (public.hamming_within(code, B'00101010'::bit(8), 1));
SELECT count(*) FROM public.document WHERE ((code OPERATOR(public.<@) '<00101010,1>'::public.hamming_bit_ball));
SELECT count(*) FROM public.document WHERE ((code OPERATOR(public.<@) public.hamming_ball(B'00101010'::bit(8), 1)));
SELECT count(*) FROM public.document WHERE (public.hamming_within(code, B'00101010', public.hamming_radius_ge(0.8::double precision, pg_catalog.length(code))));
SELECT public.hamming_radius_ge(0.9::double precision, 10), public.hamming_radius_gt(0.9::double precision, 10), public.hamming_radius(0.9, 128);
SELECT sum(d) FROM (SELECT (code OPERATOR(public.<^>) B'00101010'::bit(8)) AS d FROM public.document ORDER BY (code OPERATOR(public.<^>) B'00101010'::bit(8)) ASC NULLS LAST LIMIT 12) AS nearest;
SELECT '<1010,1>'::public.hamming_bit_ball, '<,3>'::public.hamming_bit_ball, encode(public.hamming_bit_ball_send('<1010,1>'), 'hex');
-- since 1.0.0: the state of simhash_agg. It is made, read and joined: a mark; for each bit of the fingerprint the weight
-- of the features that have it, in parts of 2^-24, as 16 bytes, the lowest first; then the weight of all features.
SELECT length(state), encode(substr(state, 1, 8), 'escape') AS mark, encode(substr(state, 9, 16), 'hex') AS bit_0, encode(substr(state, 25, 16), 'hex') AS bit_1,
       encode(substr(state, 1033, 16), 'hex') AS all, md5(state)
FROM (SELECT public.simhash_agg_add(public.simhash_agg_add(NULL::bytea, 'a'::text, 1::double precision), 'b'::text, 2.5::double precision) AS state) AS s;
SELECT public.simhash_agg_final(public.simhash_agg_combine(state, state)), public.simhash_agg_final(state)
FROM (SELECT decode('73696d6861736831' || repeat('00000001000000000000000000000000' || repeat('00', 16), 32) || '00000001000000000000000000000000', 'hex') AS state) AS s;
-- since 1.0.0: the state of feature_weights. It is made, read and joined: a mark; the number of texts in 8 bytes, the
-- lowest first; the name of the scheme in 32; 32,768 counts of 4 bytes.
SELECT length(state), encode(substr(state, 1, 8), 'escape') AS mark, encode(substr(state, 9, 8), 'hex') AS texts, encode(substr(state, 17, 6), 'escape') AS scheme,
       md5(state), md5(public.feature_weights_final(public.feature_weights_combine(state, state))) AS weights
FROM (SELECT public.feature_weights_add(public.feature_weights_add(NULL::bytea, 'a b'::text, 'word:1'::text), 'b c'::text, 'word:1'::text) AS state) AS s;
-- since 1.0.0: blocks of near pairs. Servers compute those of their rows, and a pair is found where both rows are in one.
SELECT si, public.near_blocks(si, 3, 1) AS one, public.near_blocks(si, 3, 16) AS bands, public.near_blocks(si, 10, 5) AS triangle FROM unnest('{0,42,-1}'::bigint[]) AS si;
SELECT public.near_blocks(code, 3, 16) AS bands, public.near_blocks(code, 25, 5) AS triangle FROM unnest(ARRAY[repeat('01', 64), repeat('0', 128)]::bit(128)[]) AS code;
-- the indexes find them
EXPLAIN (COSTS OFF) SELECT id FROM public.document WHERE (public.hamming_within(si, 42::bigint, 1));
EXPLAIN (COSTS OFF) SELECT id FROM public.document WHERE ((si OPERATOR(public.<~>) 42::bigint) <= 2);
EXPLAIN (COSTS OFF) SELECT id FROM public.document WHERE ((si OPERATOR(public.<@) '<42,2>'::public.hamming_ball));
EXPLAIN (COSTS OFF) SELECT id FROM public.document WHERE (public.hamming_within(si, 42::bigint, public.hamming_radius_lt(6.5)));
EXPLAIN (COSTS OFF) SELECT id, si FROM public.document ORDER BY (si OPERATOR(public.<~>) 42::bigint) ASC NULLS LAST;
EXPLAIN (COSTS OFF) SELECT id FROM public.document WHERE (public.hamming_within(code, B'00101010'::bit(8), 1)) ORDER BY (code OPERATOR(public.<^>) B'00101010'::bit(8)) ASC NULLS LAST;
DROP TABLE public.document;
