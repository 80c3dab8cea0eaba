\echo Use "ALTER EXTENSION simhash_pg UPDATE" to load this file. \quit

-- The default scheme is doc2 from now on. Generated columns, indexes, views and triggers are bound to a function
-- itself, not to its name. So the old functions get other names and keep doc1, and new functions take the names over.

ALTER FUNCTION simhash(text, text) RENAME TO simhash_v0_1;
CREATE FUNCTION simhash(doc text, scheme text DEFAULT 'doc2') RETURNS bigint
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'simhash_wrapper';
COMMENT ON FUNCTION simhash(text, text) IS
    'similarity fingerprint of a text, NULL if it has no features; schemes: doc2, doc1, simhash-doc, commoncrawl, char:1 to char:32, word:1 to word:32';

-- What is replaced is surely ours: the statement that renamed it would have failed if the name were taken.
CREATE OR REPLACE FUNCTION simhash_v0_1(doc text, scheme text DEFAULT 'doc1') RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 2000
    RETURN simhash(doc::text, scheme::text);
COMMENT ON FUNCTION simhash_v0_1(text, text) IS
    'what simhash meant in 0.1.0, with doc1 as its default, for objects that were made with it; write simhash instead';

ALTER FUNCTION simhash_features(text, text) RENAME TO simhash_features_v0_1;
COMMENT ON FUNCTION simhash_features_v0_1(text, text) IS
    'what simhash_features meant in 0.1.0, with doc1 as its default, for objects that were made with it';
CREATE FUNCTION simhash_features(
    doc text,
    scheme text DEFAULT 'doc2',
    OUT feature text,
    OUT weight double precision,
    OUT hash bigint,
    OUT occurrences integer
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 500
    AS 'MODULE_PATHNAME', 'simhash_features_wrapper';
COMMENT ON FUNCTION simhash_features(text, text) IS
    'the distinct features of a text, in its order: what each weighs in the fingerprint, its hash, and how often it comes';

ALTER FUNCTION simhash_explain(text, text, text) RENAME TO simhash_explain_v0_1;
COMMENT ON FUNCTION simhash_explain_v0_1(text, text, text) IS
    'what simhash_explain meant in 0.1.0, with doc1 as its default, for objects that were made with it';
CREATE FUNCTION simhash_explain(a text, b text, scheme text DEFAULT 'doc2') RETURNS jsonb
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20000
    AS 'MODULE_PATHNAME', 'simhash_explain';
COMMENT ON FUNCTION simhash_explain(text, text, text) IS
    'why the fingerprints of two texts differ: shared and deciding features, and for each differing bit the votes, or with doc2 the features that decide it';

ALTER FUNCTION simhash_trigger() RENAME TO simhash_trigger_v0_1;
COMMENT ON FUNCTION simhash_trigger_v0_1() IS
    'what simhash_trigger meant in 0.1.0, with doc1 as its default, for triggers that were made with it';
CREATE FUNCTION simhash_trigger() RETURNS trigger
    LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 2000
    AS 'MODULE_PATHNAME', 'simhash_trigger_doc2';
COMMENT ON FUNCTION simhash_trigger() IS
    'sets a bigint column to the fingerprint of text columns: simhash_trigger(target, source [, ...] [, ''scheme=name''])';

ALTER FUNCTION simhash_schemes() ROWS 6;

-- Signatures by one-permutation hashing, and unions and bits of signatures

CREATE FUNCTION minhash_bins(doc text, bins integer DEFAULT 128, scheme text DEFAULT 'word:3') RETURNS integer[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'minhash_bins_wrapper';
COMMENT ON FUNCTION minhash_bins(text, integer, text) IS
    'signature of a text, made fast: of the features that fall into each bin the least hash, -1 if there is none; NULL if there are no features';

COMMENT ON FUNCTION minhash_similarity(integer[], integer[]) IS
    'share of the places where two signatures agree, an estimate of the resemblance of their texts, 0 to 1; places that are empty (-1) in both do not count';

CREATE FUNCTION minhash_bits(signature integer[]) RETURNS bit varying
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20
    AS 'MODULE_PATHNAME', 'minhash_bits_wrapper';
COMMENT ON FUNCTION minhash_bits(integer[]) IS
    'one bit of each value of a signature: of 64 values, ::bit(64)::bigint makes a fingerprint';

CREATE FUNCTION minhash_bits(doc text, bits integer, scheme text DEFAULT 'word:3') RETURNS bit varying
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'minhash_bits_of_text_wrapper';
COMMENT ON FUNCTION minhash_bits(text, integer, text) IS
    'bits of the signature that minhash_bins makes of a text; NULL if there are no features';

CREATE FUNCTION minhash_merge(a integer[], b integer[]) RETURNS integer[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20
    AS 'MODULE_PATHNAME', 'minhash_merge_wrapper';
COMMENT ON FUNCTION minhash_merge(integer[], integer[]) IS
    'signature of the features of two texts together: at each place the lesser value';

CREATE AGGREGATE minhash_agg(signature integer[]) (
    SFUNC = minhash_merge, STYPE = integer[], COMBINEFUNC = minhash_merge, PARALLEL = SAFE
);
COMMENT ON AGGREGATE minhash_agg(integer[]) IS 'signature of the features of all texts together';

-- Distances between strings of bits of any length, such as perceptual hashes of images. They apply to bit varying too.
-- The operator <~> of bit and the function hamming_distance(bit, bit) belong to the extension vector.

CREATE FUNCTION hamming(a bit, b bit) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1 SUPPORT hamming_support
    AS 'MODULE_PATHNAME', 'hamming_bits';
COMMENT ON FUNCTION hamming(bit, bit) IS
    'number of bits in which two strings of one length differ';

CREATE FUNCTION hamming_within(a bit, b bit, radius integer) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1 SUPPORT hamming_within_support
    AS 'MODULE_PATHNAME', 'hamming_bits_within';
COMMENT ON FUNCTION hamming_within(bit, bit, integer) IS
    'whether two strings of one length differ in at most radius bits';

CREATE FUNCTION hamming_similarity(a bit, b bit) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1 SUPPORT hamming_support
    AS 'MODULE_PATHNAME', 'hamming_bits_similarity';
COMMENT ON FUNCTION hamming_similarity(bit, bit) IS
    'share of equal bits of two strings of one length, 0 to 1; 1 if they are empty';

CREATE FUNCTION hamming_radius(similarity double precision, bits integer) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'hamming_bits_radius_wrapper';
COMMENT ON FUNCTION hamming_radius(double precision, integer) IS
    'largest distance at which strings of this number of bits have at least this share of equal bits: 0.90 and 256 give 25';

-- Servers that share a query (postgres_fdw) send these to one another: their names and meanings stay.
CREATE FUNCTION hamming_radius_ge(double precision, bit) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_ge_bits';
COMMENT ON FUNCTION hamming_radius_ge(double precision, bit) IS
    'the radius of all similarities >= this number, for strings as long as this one; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_gt(double precision, bit) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_gt_bits';
COMMENT ON FUNCTION hamming_radius_gt(double precision, bit) IS
    'the radius of all similarities > this number, for strings as long as this one; the planner puts it into conditions, also those sent to other servers';

-- The function of the operator: hamming itself is turned into the operator.
CREATE FUNCTION hamming_bit_distance(a bit, b bit) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1 SUPPORT hamming_support
    AS 'MODULE_PATHNAME', 'hamming_bits';
COMMENT ON FUNCTION hamming_bit_distance(bit, bit) IS
    'implementation of <^>';

CREATE OPERATOR <^> (
    LEFTARG = bit,
    RIGHTARG = bit,
    FUNCTION = hamming_bit_distance,
    COMMUTATOR = <^>
);
COMMENT ON OPERATOR <^> (bit, bit) IS
    'number of bits in which two strings of one length differ';

CREATE TYPE hamming_bit_ball;

CREATE FUNCTION hamming_bit_ball_in(cstring) RETURNS hamming_bit_ball
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_bit_ball_in';
COMMENT ON FUNCTION hamming_bit_ball_in(cstring) IS 'text input, <center,radius>';

CREATE FUNCTION hamming_bit_ball_out(hamming_bit_ball) RETURNS cstring
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_bit_ball_out';
COMMENT ON FUNCTION hamming_bit_ball_out(hamming_bit_ball) IS 'text output';

CREATE FUNCTION hamming_bit_ball_recv(internal) RETURNS hamming_bit_ball
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_bit_ball_recv';
COMMENT ON FUNCTION hamming_bit_ball_recv(internal) IS 'binary input';

CREATE FUNCTION hamming_bit_ball_send(hamming_bit_ball) RETURNS bytea
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_bit_ball_send';
COMMENT ON FUNCTION hamming_bit_ball_send(hamming_bit_ball) IS 'binary output';

CREATE TYPE hamming_bit_ball (
    INPUT = hamming_bit_ball_in,
    OUTPUT = hamming_bit_ball_out,
    RECEIVE = hamming_bit_ball_recv,
    SEND = hamming_bit_ball_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = extended
);
COMMENT ON TYPE hamming_bit_ball IS
    'all strings of bits within a radius of a center, written <center,radius>';

CREATE FUNCTION hamming_ball(center bit, radius integer) RETURNS hamming_bit_ball
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'hamming_bit_ball';
COMMENT ON FUNCTION hamming_ball(bit, integer) IS
    'all strings of bits within a radius of a center';

CREATE FUNCTION hamming_bit_ball_contained(bit, hamming_bit_ball) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'hamming_bit_ball_contained';
COMMENT ON FUNCTION hamming_bit_ball_contained(bit, hamming_bit_ball) IS 'implementation of <@';

CREATE FUNCTION hamming_bit_ball_contains(hamming_bit_ball, bit) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'hamming_bit_ball_contains';
COMMENT ON FUNCTION hamming_bit_ball_contains(hamming_bit_ball, bit) IS 'implementation of @>';

CREATE OPERATOR <@ (
    LEFTARG = bit,
    RIGHTARG = hamming_bit_ball,
    FUNCTION = hamming_bit_ball_contained,
    COMMUTATOR = @>,
    RESTRICT = hamming_ball_sel,
    JOIN = hamming_ball_joinsel
);
COMMENT ON OPERATOR <@ (bit, hamming_bit_ball) IS 'is the string within the ball?';

CREATE OPERATOR @> (
    LEFTARG = hamming_bit_ball,
    RIGHTARG = bit,
    FUNCTION = hamming_bit_ball_contains,
    COMMUTATOR = <@,
    RESTRICT = hamming_ball_sel,
    JOIN = hamming_ball_joinsel
);
COMMENT ON OPERATOR @> (hamming_bit_ball, bit) IS 'is the string within the ball?';

CREATE OPERATOR CLASS hamming_bit_ops DEFAULT FOR TYPE bit USING hamming AS
    OPERATOR 1 <@ (bit, hamming_bit_ball),
    OPERATOR 2 = (bit, bit),
    OPERATOR 15 <^> (bit, bit) FOR ORDER BY pg_catalog.integer_ops;
COMMENT ON OPERATOR CLASS hamming_bit_ops USING hamming IS
    'strings of bits by Hamming distance';
COMMENT ON OPERATOR FAMILY hamming_bit_ops USING hamming IS
    'strings of bits by Hamming distance';

-- The state of simhash_agg becomes a value that can be sent. The aggregates stay the same objects.

-- The state is sent from server to server where rows are sharded (Citus): its form is a protocol.
CREATE FUNCTION simhash_agg_add(state bytea, feature text) RETURNS bytea
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_agg_add_wrapper';
COMMENT ON FUNCTION simhash_agg_add(bytea, text) IS 'of the aggregate simhash_agg: takes a feature';

CREATE FUNCTION simhash_agg_add(state bytea, feature text, weight double precision) RETURNS bytea
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_agg_add_weighted_wrapper';
COMMENT ON FUNCTION simhash_agg_add(bytea, text, double precision) IS 'of the aggregate simhash_agg: takes a feature and its weight';

CREATE FUNCTION simhash_agg_combine(state bytea, other bytea) RETURNS bytea
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_agg_combine_wrapper';
COMMENT ON FUNCTION simhash_agg_combine(bytea, bytea) IS 'of the aggregate simhash_agg: joins what two workers or servers have';

CREATE FUNCTION simhash_agg_final(state bytea) RETURNS bigint
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_agg_final_wrapper';
COMMENT ON FUNCTION simhash_agg_final(bytea) IS 'of the aggregate simhash_agg: the fingerprint';

CREATE OR REPLACE AGGREGATE simhash_agg(feature text) (
    SFUNC = simhash_agg_add, STYPE = bytea, SSPACE = 1056, COMBINEFUNC = simhash_agg_combine,
    FINALFUNC = simhash_agg_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_agg(text) IS 'similarity fingerprint of features, one in each row';

CREATE OR REPLACE AGGREGATE simhash_agg(feature text, weight double precision) (
    SFUNC = simhash_agg_add, STYPE = bytea, SSPACE = 1056, COMBINEFUNC = simhash_agg_combine,
    FINALFUNC = simhash_agg_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_agg(text, double precision) IS 'similarity fingerprint of features with weights, one in each row';

DROP FUNCTION simhash_agg_add(internal, text);
DROP FUNCTION simhash_agg_add(internal, text, double precision);
DROP FUNCTION simhash_agg_combine(internal, internal);
DROP FUNCTION simhash_agg_serialize(internal);
DROP FUNCTION simhash_agg_deserialize(bytea, internal);
DROP FUNCTION simhash_agg_final(internal);

-- Pairs and clusters of strings of bits have names of their own: an untyped literal or parameter in place of codes, as in
-- hamming_pairs('{1,2}', '{0,7}', 3), would fit bigint as well as bit, and be refused.
CREATE FUNCTION hamming_bit_cluster(key anyelement, code bit, radius integer, linkage text DEFAULT 'leader') RETURNS anyelement
    LANGUAGE C WINDOW IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'hamming_bit_cluster';
COMMENT ON FUNCTION hamming_bit_cluster(anyelement, bit, integer, text) IS
    'window function: the key of the row that keeps the cluster of near-duplicates, its first in the order of the window; linkage is leader or connected, and the first row of a partition says which, and the radius';

CREATE FUNCTION hamming_bit_clusters(
    ids bigint[],
    codes bit[],
    radius integer,
    linkage text DEFAULT 'leader',
    OUT id bigint,
    OUT cluster bigint
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'hamming_bit_clusters';
COMMENT ON FUNCTION hamming_bit_clusters(bigint[], bit[], integer, text) IS
    'for each id the smallest id of its cluster of near-duplicates; linkage is leader or connected';

CREATE FUNCTION hamming_bit_pairs(
    ids bigint[],
    codes bit[],
    radius integer,
    OUT a bigint,
    OUT b bigint,
    OUT distance integer
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'hamming_bit_pairs';
COMMENT ON FUNCTION hamming_bit_pairs(bigint[], bit[], integer) IS
    'all pairs of ids, the smaller first, whose strings of bits differ in at most radius bits';

-- Sketches in queries: what planner.sql, sketch.sql, minhash.sql and passage.sql have more.
CREATE FUNCTION sketch_support(internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'sketch_support';
COMMENT ON FUNCTION sketch_support(internal) IS
    'planner support: index conditions, selectivity and cost of comparisons of sketches';

ALTER FUNCTION manber_sketch(text, integer, integer, bigint, bigint, bigint, text, text) SUPPORT sketch_support;
ALTER FUNCTION winnow_sketch(text, integer, integer) SUPPORT sketch_support;
ALTER FUNCTION heintze_sketch(text, integer, integer, bigint[]) SUPPORT sketch_support;
ALTER FUNCTION sketch_resemblance(bigint[], bigint[]) SUPPORT sketch_support;
ALTER FUNCTION sketch_containment(bigint[], bigint[]) SUPPORT sketch_support;
ALTER FUNCTION minhash_bands(integer[], integer) SUPPORT sketch_support;
ALTER FUNCTION passage_sketch(text, integer) SUPPORT sketch_support;

CREATE FUNCTION excerpt_sketch(doc text, min_length integer DEFAULT 100) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'excerpt_sketch_wrapper';
COMMENT ON FUNCTION excerpt_sketch(text, integer) IS
    'winnow_sketch with k = min_length / 2 and w = min_length - k + 1: texts that share min_length characters share a value';

-- Conditions on sketches become these. Servers that share a query (postgres_fdw) send them to one another: their names and
-- meanings stay.
CREATE FUNCTION sketch_overlaps(a bigint[], b bigint[]) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 20 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'sketch_overlaps_wrapper';
COMMENT ON FUNCTION sketch_overlaps(bigint[], bigint[]) IS
    'whether two arrays have a value in common, in linear time if they are sorted; the planner puts it in place of a && b';

CREATE FUNCTION sketch_resembles(a bigint[], b bigint[], share double precision) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'sketch_resembles_wrapper';
COMMENT ON FUNCTION sketch_resembles(bigint[], bigint[], double precision) IS
    'sketch_resemblance(a, b) >= share; the planner puts it in place of this';

CREATE FUNCTION sketch_contained(a bigint[], b bigint[], share double precision) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'sketch_contained_wrapper';
COMMENT ON FUNCTION sketch_contained(bigint[], bigint[], double precision) IS
    'sketch_containment(a, b) >= share; the planner puts it in place of this';

CREATE FUNCTION sketch_above(share double precision) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'sketch_above_wrapper';
COMMENT ON FUNCTION sketch_above(double precision) IS
    'the least number above this one; the planner puts it into conditions with >';

-- What gin.sql has.
CREATE TYPE sketch_query;

CREATE FUNCTION sketch_query_in(cstring) RETURNS sketch_query
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'sketch_query_in';
COMMENT ON FUNCTION sketch_query_in(cstring) IS 'always an error: queries exist in index conditions only';

CREATE FUNCTION sketch_query_out(sketch_query) RETURNS cstring
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'sketch_query_out';
COMMENT ON FUNCTION sketch_query_out(sketch_query) IS 'the share that is asked for, and the values of the sketch';

CREATE TYPE sketch_query (
    INPUT = sketch_query_in,
    OUTPUT = sketch_query_out,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = extended
);
COMMENT ON TYPE sketch_query IS 'sketch with the share of common values that an index is asked for';

CREATE FUNCTION sketch_query_resemblance(sketch bigint[], share double precision) RETURNS sketch_query
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'sketch_query_resemblance';
COMMENT ON FUNCTION sketch_query_resemblance(bigint[], double precision) IS
    'sketches whose resemblance to this one is at least a share; the planner makes it of sketch_resembles';

CREATE FUNCTION sketch_query_share(sketch bigint[], share double precision) RETURNS sketch_query
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'sketch_query_share';
COMMENT ON FUNCTION sketch_query_share(bigint[], double precision) IS
    'sketches that have at least a share of the values of this one; the planner makes it of sketch_contained';

CREATE FUNCTION sketch_query_share_of_stored(sketch bigint[], share double precision) RETURNS sketch_query
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'sketch_query_share_of_stored';
COMMENT ON FUNCTION sketch_query_share_of_stored(bigint[], double precision) IS
    'sketches of whose own values at least a share is in this one; the planner makes it of sketch_contained';

CREATE FUNCTION sketch_matches(bigint[], sketch_query) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20
    AS 'MODULE_PATHNAME', 'sketch_matches';
COMMENT ON FUNCTION sketch_matches(bigint[], sketch_query) IS 'implementation of @@';

CREATE OPERATOR @@ (
    LEFTARG = bigint[],
    RIGHTARG = sketch_query,
    FUNCTION = sketch_matches,
    RESTRICT = contsel,
    JOIN = contjoinsel
);
COMMENT ON OPERATOR @@ (bigint[], sketch_query) IS 'does the sketch reach the share?';

CREATE FUNCTION gin_sketch_keys(bigint[], internal, internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gin_sketch_keys';
COMMENT ON FUNCTION gin_sketch_keys(bigint[], internal, internal) IS 'GIN support of sketch_ops';

CREATE FUNCTION gin_sketch_query_keys(bigint[], internal, smallint, internal, internal, internal, internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gin_sketch_query_keys';
COMMENT ON FUNCTION gin_sketch_query_keys(bigint[], internal, smallint, internal, internal, internal, internal) IS
    'GIN support of sketch_ops';

CREATE FUNCTION gin_sketch_consistent(internal, smallint, bigint[], integer, internal, internal, internal) RETURNS "char"
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gin_sketch_consistent';
COMMENT ON FUNCTION gin_sketch_consistent(internal, smallint, bigint[], integer, internal, internal, internal) IS
    'GIN support of sketch_ops';

-- Not the default for bigint[]: that is PostgreSQL's array_ops.
CREATE OPERATOR CLASS sketch_ops FOR TYPE bigint[] USING gin AS
    OPERATOR 1 pg_catalog.&& (anyarray, anyarray),
    OPERATOR 2 @@ (bigint[], sketch_query),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    FUNCTION 2 gin_sketch_keys(bigint[], internal, internal),
    FUNCTION 3 gin_sketch_query_keys(bigint[], internal, smallint, internal, internal, internal, internal),
    FUNCTION 6 gin_sketch_consistent(internal, smallint, bigint[], integer, internal, internal, internal),
    STORAGE bigint;
COMMENT ON OPERATOR CLASS sketch_ops USING gin IS 'sketches by common values, and by their share';
COMMENT ON OPERATOR FAMILY sketch_ops USING gin IS 'sketches by common values, and by their share';

-- What stood before in a corpus, and a text in which is marked what it shares.
CREATE FUNCTION repeated_passages(
    query text,
    min_length integer DEFAULT 100,
    OUT document bigint,
    OUT pos integer,
    OUT len integer,
    OUT first_document bigint,
    OUT first_pos integer
)
    RETURNS SETOF record
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000 ROWS 1000
    AS 'MODULE_PATHNAME', 'repeated_passages_wrapper';
COMMENT ON FUNCTION repeated_passages(text, integer) IS
    'what stood before in the documents of a query, which returns keys and texts: every run of at least so many characters, and where it stood first; positions as substr counts them';

CREATE FUNCTION repeated_passages(
    query text,
    min_length integer,
    key anyelement,
    OUT document anyelement,
    OUT pos integer,
    OUT len integer,
    OUT first_document anyelement,
    OUT first_pos integer
)
    RETURNS SETOF record
    LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000000 ROWS 1000
    AS 'MODULE_PATHNAME', 'repeated_passages_of_keys_wrapper';
COMMENT ON FUNCTION repeated_passages(text, integer, anyelement) IS
    'the same with keys of another type, which is that of the third argument, such as NULL::uuid';

CREATE FUNCTION passage_headline(doc text, other text, min_length integer DEFAULT 50, options text DEFAULT '') RETURNS text
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'passage_headline_wrapper';
COMMENT ON FUNCTION passage_headline(text, text, integer, text) IS
    'the first text with every passage marked that it shares with the second, of at least so many characters; options are written as those of ts_headline';

-- Near pairs in parts, with keys of any type, and clusters of such pairs

CREATE FUNCTION hamming_blocks(si bigint, radius integer, parts integer) RETURNS integer[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'hamming_blocks_wrapper';
COMMENT ON FUNCTION hamming_blocks(bigint, integer, integer) IS
    'the blocks of near_pairs that a fingerprint has to be in; a block has about 1/parts of all fingerprints, and 2/parts with a large radius';

CREATE FUNCTION hamming_bit_blocks(code bit, radius integer, parts integer) RETURNS integer[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'hamming_bit_blocks';
COMMENT ON FUNCTION hamming_bit_blocks(bit, integer, integer) IS
    'the blocks of near_bit_pairs that a string of bits has to be in; a block has about 1/parts of all strings, and 2/parts with a large radius';

CREATE FUNCTION near_pairs(
    keys anyarray,
    fingerprints bigint[],
    radius integer,
    parts integer DEFAULT 1,
    block integer DEFAULT 0,
    OUT a anyelement,
    OUT b anyelement,
    OUT distance integer
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'near_pairs';
COMMENT ON FUNCTION near_pairs(anyarray, bigint[], integer, integer, integer) IS
    'all pairs of keys, the smaller first, whose fingerprints differ in at most radius bits; of several parts, those that belong to a block of hamming_blocks';

CREATE FUNCTION near_bit_pairs(
    keys anyarray,
    codes bit[],
    radius integer,
    parts integer DEFAULT 1,
    block integer DEFAULT 0,
    OUT a anyelement,
    OUT b anyelement,
    OUT distance integer
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'near_bit_pairs';
COMMENT ON FUNCTION near_bit_pairs(anyarray, bit[], integer, integer, integer) IS
    'all pairs of keys, the smaller first, whose strings of bits differ in at most radius bits; of several parts, those that belong to a block of hamming_bit_blocks';

CREATE FUNCTION clusters_of_pairs(
    a anyarray,
    b anyarray,
    linkage text DEFAULT 'leader',
    OUT id anyelement,
    OUT cluster anyelement
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'clusters_of_pairs';
COMMENT ON FUNCTION clusters_of_pairs(anyarray, anyarray, text) IS
    'for each key of near pairs the smallest key of its cluster; the pairs come in any order; linkage is leader or connected';

-- Says what keeps doc1. A column is named in place of its default, and a view in place of its rule.
DO LANGUAGE plpgsql $$
DECLARE
    dependents text := (
        SELECT pg_catalog.string_agg(DISTINCT pg_catalog.pg_describe_object(
            CASE WHEN owner.relation IS NULL THEN d.classid ELSE 'pg_class'::regclass END,
            coalesce(owner.relation, d.objid), coalesce(owner.number, d.objsubid)), E'\n')
        FROM pg_catalog.pg_depend AS d LEFT JOIN LATERAL (
            SELECT adrelid, adnum::integer FROM pg_catalog.pg_attrdef
            WHERE d.classid OPERATOR(pg_catalog.=) 'pg_attrdef'::regclass AND oid OPERATOR(pg_catalog.=) d.objid
            UNION ALL
            SELECT ev_class, 0 FROM pg_catalog.pg_rewrite
            WHERE d.classid OPERATOR(pg_catalog.=) 'pg_rewrite'::regclass AND oid OPERATOR(pg_catalog.=) d.objid
                AND rulename OPERATOR(pg_catalog.=) '_RETURN'
        ) AS owner (relation, number) ON true
        WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_proc'::regclass AND d.refobjid OPERATOR(pg_catalog.=) ANY (ARRAY[
            'simhash_v0_1(text, text)'::regprocedure, 'simhash_features_v0_1(text, text)'::regprocedure,
            'simhash_explain_v0_1(text, text, text)'::regprocedure, 'simhash_trigger_v0_1()'::regprocedure]::oid[]));
BEGIN
    IF dependents IS NOT NULL THEN
        RAISE WARNING 'the default scheme of simhash is doc2 now; these objects keep doc1 if they name no scheme' USING
            DETAIL = dependents,
            HINT = 'Compare their fingerprints with simhash(text, ''doc1''), or move them to doc2: see docs/upgrading.md.';
    END IF;
END $$;
