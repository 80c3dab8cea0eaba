\echo Use "CREATE EXTENSION simhash_pg" to load this file. \quit

-- What the planner asks of the functions on distances, and what it puts in their place

CREATE FUNCTION hamming_support(internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_support';
COMMENT ON FUNCTION hamming_support(internal) IS
    'planner support: turns hamming(a, b) into a <~> b, which indexes can order by';

CREATE FUNCTION hamming_within_support(internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_within_support';
COMMENT ON FUNCTION hamming_within_support(internal) IS
    'planner support: index conditions and selectivity of hamming_within(a, b, radius)';

CREATE FUNCTION hamming_ball_sel(internal, oid, internal, integer) RETURNS double precision
    LANGUAGE C STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_ball_sel';
COMMENT ON FUNCTION hamming_ball_sel(internal, oid, internal, integer) IS
    'restriction selectivity of bigint <@ hamming_ball';

CREATE FUNCTION hamming_ball_joinsel(internal, oid, internal, smallint, internal) RETURNS double precision
    LANGUAGE C STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_ball_joinsel';
COMMENT ON FUNCTION hamming_ball_joinsel(internal, oid, internal, smallint, internal) IS
    'join selectivity of bigint <@ hamming_ball';

-- Servers that share a query (postgres_fdw) send these to one another: their names and meanings stay.
CREATE FUNCTION hamming_radius_le(bigint) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_le';
COMMENT ON FUNCTION hamming_radius_le(bigint) IS
    'the radius of all distances <= this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_le(double precision) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_le_float8';
COMMENT ON FUNCTION hamming_radius_le(double precision) IS
    'the radius of all distances <= this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_le(numeric) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_le_numeric';
COMMENT ON FUNCTION hamming_radius_le(numeric) IS
    'the radius of all distances <= this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_lt(bigint) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_lt';
COMMENT ON FUNCTION hamming_radius_lt(bigint) IS
    'the radius of all distances < this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_lt(double precision) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_lt_float8';
COMMENT ON FUNCTION hamming_radius_lt(double precision) IS
    'the radius of all distances < this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_lt(numeric) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_lt_numeric';
COMMENT ON FUNCTION hamming_radius_lt(numeric) IS
    'the radius of all distances < this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_ge(double precision) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_ge';
COMMENT ON FUNCTION hamming_radius_ge(double precision) IS
    'the radius of all similarities >= this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_gt(double precision) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_gt';
COMMENT ON FUNCTION hamming_radius_gt(double precision) IS
    'the radius of all similarities > this number; the planner puts it into conditions, also those sent to other servers';

-- Distances between fingerprints

CREATE FUNCTION hamming(a bigint, b bigint) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1 SUPPORT hamming_support
    AS 'MODULE_PATHNAME', 'hamming_wrapper';
COMMENT ON FUNCTION hamming(bigint, bigint) IS
    'number of bits in which two fingerprints differ, 0 to 64';

-- Not an overload of hamming: arguments without a type would be text.
CREATE FUNCTION ham_dist(a text, b text) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'ham_dist_wrapper';
COMMENT ON FUNCTION ham_dist(text, text) IS
    'number of characters in which two strings differ, the shorter one padded with blanks';

CREATE FUNCTION hamming_within(a bigint, b bigint, radius integer) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1 SUPPORT hamming_within_support
    AS 'MODULE_PATHNAME', 'hamming_within_wrapper';
COMMENT ON FUNCTION hamming_within(bigint, bigint, integer) IS
    'whether two fingerprints differ in at most radius bits';

CREATE FUNCTION hamming_radius(similarity double precision) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_wrapper';
COMMENT ON FUNCTION hamming_radius(double precision) IS
    'largest distance at which fingerprints have at least this share of equal bits: 0.90 gives 6';

CREATE FUNCTION hamming_similarity(a bigint, b bigint) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1 SUPPORT hamming_support
    AS 'MODULE_PATHNAME', 'hamming_similarity_wrapper';
COMMENT ON FUNCTION hamming_similarity(bigint, bigint) IS
    'share of equal bits of two fingerprints, 0 to 1';

-- The function of the operator: hamming itself is turned into the operator.
CREATE FUNCTION hamming_distance(a bigint, b bigint) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1 SUPPORT hamming_support
    AS 'MODULE_PATHNAME', 'hamming_wrapper';
COMMENT ON FUNCTION hamming_distance(bigint, bigint) IS
    'implementation of <~>';

CREATE OPERATOR <~> (
    LEFTARG = bigint,
    RIGHTARG = bigint,
    FUNCTION = hamming_distance,
    COMMUTATOR = <~>
);
COMMENT ON OPERATOR <~> (bigint, bigint) IS
    'number of bits in which two fingerprints differ';

-- All fingerprints within a radius of a center: what index conditions are made of

CREATE TYPE hamming_ball;

CREATE FUNCTION hamming_ball_in(cstring) RETURNS hamming_ball
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_ball_in';
COMMENT ON FUNCTION hamming_ball_in(cstring) IS 'text input, <center,radius>';

CREATE FUNCTION hamming_ball_out(hamming_ball) RETURNS cstring
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_ball_out';
COMMENT ON FUNCTION hamming_ball_out(hamming_ball) IS 'text output';

CREATE FUNCTION hamming_ball_recv(internal) RETURNS hamming_ball
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_ball_recv';
COMMENT ON FUNCTION hamming_ball_recv(internal) IS 'binary input';

CREATE FUNCTION hamming_ball_send(hamming_ball) RETURNS bytea
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_ball_send';
COMMENT ON FUNCTION hamming_ball_send(hamming_ball) IS 'binary output';

CREATE TYPE hamming_ball (
    INPUT = hamming_ball_in,
    OUTPUT = hamming_ball_out,
    RECEIVE = hamming_ball_recv,
    SEND = hamming_ball_send,
    INTERNALLENGTH = 16,
    ALIGNMENT = double
);
COMMENT ON TYPE hamming_ball IS
    'all fingerprints within a radius of a center, written <center,radius>';

CREATE FUNCTION hamming_ball(center bigint, radius integer) RETURNS hamming_ball
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_ball';
COMMENT ON FUNCTION hamming_ball(bigint, integer) IS
    'all fingerprints within a radius of a center';

CREATE FUNCTION hamming_ball_contained(bigint, hamming_ball) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_ball_contained';
COMMENT ON FUNCTION hamming_ball_contained(bigint, hamming_ball) IS 'implementation of <@';

CREATE FUNCTION hamming_ball_contains(hamming_ball, bigint) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_ball_contains';
COMMENT ON FUNCTION hamming_ball_contains(hamming_ball, bigint) IS 'implementation of @>';

CREATE FUNCTION hamming_ball_equal(hamming_ball, hamming_ball) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_ball_equal';
COMMENT ON FUNCTION hamming_ball_equal(hamming_ball, hamming_ball) IS 'implementation of =';

CREATE FUNCTION hamming_ball_near(hamming_ball, hamming_ball) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_ball_near';
COMMENT ON FUNCTION hamming_ball_near(hamming_ball, hamming_ball) IS 'implementation of ~';

CREATE OPERATOR <@ (
    LEFTARG = bigint,
    RIGHTARG = hamming_ball,
    FUNCTION = hamming_ball_contained,
    COMMUTATOR = @>,
    RESTRICT = hamming_ball_sel,
    JOIN = hamming_ball_joinsel
);
COMMENT ON OPERATOR <@ (bigint, hamming_ball) IS 'is the fingerprint within the ball?';

CREATE OPERATOR @> (
    LEFTARG = hamming_ball,
    RIGHTARG = bigint,
    FUNCTION = hamming_ball_contains,
    COMMUTATOR = <@,
    RESTRICT = hamming_ball_sel,
    JOIN = hamming_ball_joinsel
);
COMMENT ON OPERATOR @> (hamming_ball, bigint) IS 'is the fingerprint within the ball?';

CREATE OPERATOR = (
    LEFTARG = hamming_ball,
    RIGHTARG = hamming_ball,
    FUNCTION = hamming_ball_equal,
    COMMUTATOR = =,
    RESTRICT = eqsel,
    JOIN = eqjoinsel
);
COMMENT ON OPERATOR = (hamming_ball, hamming_ball) IS 'the same center and the same radius';

CREATE OPERATOR ~ (
    LEFTARG = hamming_ball,
    RIGHTARG = hamming_ball,
    FUNCTION = hamming_ball_near,
    COMMUTATOR = ~,
    RESTRICT = contsel,
    JOIN = contjoinsel
);
COMMENT ON OPERATOR ~ (hamming_ball, hamming_ball) IS
    'does each ball contain the other''s center?';

-- GiST: distances in an index that composes with other columns, and constraints against near-duplicates

CREATE TYPE gist_hamming_key;

CREATE FUNCTION gist_hamming_key_in(cstring) RETURNS gist_hamming_key
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_key_in';
COMMENT ON FUNCTION gist_hamming_key_in(cstring) IS 'always an error: keys exist in indexes only';

CREATE FUNCTION gist_hamming_key_out(gist_hamming_key) RETURNS cstring
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_key_out';
COMMENT ON FUNCTION gist_hamming_key_out(gist_hamming_key) IS
    'bits that all fingerprints of a subtree have, and bits that any has';

CREATE TYPE gist_hamming_key (
    INPUT = gist_hamming_key_in,
    OUTPUT = gist_hamming_key_out,
    INTERNALLENGTH = 16,
    ALIGNMENT = double
);
COMMENT ON TYPE gist_hamming_key IS 'key of GiST indexes on fingerprints';

CREATE FUNCTION gist_hamming_consistent(internal, bigint, smallint, oid, internal) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_consistent';
COMMENT ON FUNCTION gist_hamming_consistent(internal, bigint, smallint, oid, internal) IS
    'GiST support of gist_hamming_ops';

CREATE FUNCTION gist_hamming_ball_consistent(internal, hamming_ball, smallint, oid, internal) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_ball_consistent';
COMMENT ON FUNCTION gist_hamming_ball_consistent(internal, hamming_ball, smallint, oid, internal) IS
    'GiST support of gist_hamming_ball_ops';

CREATE FUNCTION gist_hamming_union(internal, internal) RETURNS gist_hamming_key
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_union';
COMMENT ON FUNCTION gist_hamming_union(internal, internal) IS 'GiST support';

CREATE FUNCTION gist_hamming_compress(internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_compress';
COMMENT ON FUNCTION gist_hamming_compress(internal) IS 'GiST support of gist_hamming_ops';

CREATE FUNCTION gist_hamming_ball_compress(internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_ball_compress';
COMMENT ON FUNCTION gist_hamming_ball_compress(internal) IS 'GiST support of gist_hamming_ball_ops';

CREATE FUNCTION gist_hamming_fetch(internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_fetch';
COMMENT ON FUNCTION gist_hamming_fetch(internal) IS 'GiST support of gist_hamming_ops';

CREATE FUNCTION gist_hamming_penalty(internal, internal, internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_penalty';
COMMENT ON FUNCTION gist_hamming_penalty(internal, internal, internal) IS 'GiST support';

CREATE FUNCTION gist_hamming_picksplit(internal, internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_picksplit';
COMMENT ON FUNCTION gist_hamming_picksplit(internal, internal) IS 'GiST support';

CREATE FUNCTION gist_hamming_same(gist_hamming_key, gist_hamming_key, internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_same';
COMMENT ON FUNCTION gist_hamming_same(gist_hamming_key, gist_hamming_key, internal) IS 'GiST support';

CREATE FUNCTION gist_hamming_distance(internal, bigint, smallint, oid, internal) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_distance';
COMMENT ON FUNCTION gist_hamming_distance(internal, bigint, smallint, oid, internal) IS
    'GiST support of gist_hamming_ops';

CREATE FUNCTION gist_hamming_sortsupport(internal) RETURNS void
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_sortsupport';
COMMENT ON FUNCTION gist_hamming_sortsupport(internal) IS 'GiST support';

-- Not the default for bigint: that is btree_gist's.
CREATE OPERATOR CLASS gist_hamming_ops FOR TYPE bigint USING gist AS
    OPERATOR 1 <@ (bigint, hamming_ball),
    OPERATOR 2 = (bigint, bigint),
    OPERATOR 15 <~> (bigint, bigint) FOR ORDER BY pg_catalog.integer_ops,
    FUNCTION 1 gist_hamming_consistent(internal, bigint, smallint, oid, internal),
    FUNCTION 2 gist_hamming_union(internal, internal),
    FUNCTION 3 gist_hamming_compress(internal),
    FUNCTION 5 gist_hamming_penalty(internal, internal, internal),
    FUNCTION 6 gist_hamming_picksplit(internal, internal),
    FUNCTION 7 gist_hamming_same(gist_hamming_key, gist_hamming_key, internal),
    FUNCTION 8 gist_hamming_distance(internal, bigint, smallint, oid, internal),
    FUNCTION 9 gist_hamming_fetch(internal),
    FUNCTION 11 gist_hamming_sortsupport(internal),
    STORAGE gist_hamming_key;
COMMENT ON OPERATOR CLASS gist_hamming_ops USING gist IS
    'fingerprints by Hamming distance';
COMMENT ON OPERATOR FAMILY gist_hamming_ops USING gist IS
    'fingerprints by Hamming distance';

CREATE OPERATOR CLASS gist_hamming_ball_ops DEFAULT FOR TYPE hamming_ball USING gist AS
    OPERATOR 1 ~ (hamming_ball, hamming_ball),
    FUNCTION 1 gist_hamming_ball_consistent(internal, hamming_ball, smallint, oid, internal),
    FUNCTION 2 gist_hamming_union(internal, internal),
    FUNCTION 3 gist_hamming_ball_compress(internal),
    FUNCTION 5 gist_hamming_penalty(internal, internal, internal),
    FUNCTION 6 gist_hamming_picksplit(internal, internal),
    FUNCTION 7 gist_hamming_same(gist_hamming_key, gist_hamming_key, internal),
    FUNCTION 11 gist_hamming_sortsupport(internal),
    STORAGE gist_hamming_key;
COMMENT ON OPERATOR CLASS gist_hamming_ball_ops USING gist IS
    'balls by their centers, for exclusion constraints against near-duplicates';
COMMENT ON OPERATOR FAMILY gist_hamming_ball_ops USING gist IS
    'balls by their centers, for exclusion constraints against near-duplicates';

-- The access method hamming: exact search by distance in an index made for it

CREATE FUNCTION hamming_handler(internal) RETURNS index_am_handler
    LANGUAGE C STRICT
    AS 'MODULE_PATHNAME', 'hamming_handler';
COMMENT ON FUNCTION hamming_handler(internal) IS 'handler of the access method hamming';

CREATE ACCESS METHOD hamming TYPE INDEX HANDLER hamming_handler;
COMMENT ON ACCESS METHOD hamming IS 'exact search of fingerprints by Hamming distance';

CREATE OPERATOR CLASS hamming_ops DEFAULT FOR TYPE bigint USING hamming AS
    OPERATOR 1 <@ (bigint, hamming_ball),
    OPERATOR 2 = (bigint, bigint),
    OPERATOR 15 <~> (bigint, bigint) FOR ORDER BY pg_catalog.integer_ops;
COMMENT ON OPERATOR CLASS hamming_ops USING hamming IS
    'fingerprints by Hamming distance';
COMMENT ON OPERATOR FAMILY hamming_ops USING hamming IS
    'fingerprints by Hamming distance';

CREATE FUNCTION hamming_index_stats(
    index regclass,
    OUT rows bigint,
    OUT nulls bigint,
    OUT bands integer,
    OUT pages bigint,
    OUT leaf_pages bigint,
    OUT inner_pages bigint,
    OUT unused_pages bigint,
    OUT height integer,
    OUT fill real,
    OUT expected_pages integer[]
)
    RETURNS SETOF record
    LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000 ROWS 1
    AS 'MODULE_PATHNAME', 'hamming_index_stats_wrapper';
COMMENT ON FUNCTION hamming_index_stats(regclass) IS
    'what an index of type hamming consists of; expected_pages[r + 1] are read at radius r';

CREATE FUNCTION hamming_index_check(
    index regclass,
    heapallindexed boolean DEFAULT false,
    OUT block bigint,
    OUT problem text
)
    RETURNS SETOF record
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000
    AS 'MODULE_PATHNAME', 'hamming_index_check_wrapper';
COMMENT ON FUNCTION hamming_index_check(regclass, boolean) IS
    'what is wrong with an index of type hamming, and in which block: no row if nothing is';
-- Both read all of the index, and the second keeps writers waiting.
REVOKE ALL ON FUNCTION hamming_index_stats(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hamming_index_stats(regclass) TO pg_stat_scan_tables;
REVOKE ALL ON FUNCTION hamming_index_check(regclass, boolean) FROM PUBLIC;

-- Fingerprints of text

CREATE FUNCTION simhash(doc text, scheme text DEFAULT 'doc1') RETURNS bigint
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'simhash_wrapper';
COMMENT ON FUNCTION simhash(text, text) IS
    'similarity fingerprint of a text, NULL if it has no features; schemes: doc1, commoncrawl, char:1 to char:32, word:1 to word:32';

CREATE FUNCTION simhash_text(VARIADIC columns text[]) RETURNS text
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_text_wrapper';
COMMENT ON FUNCTION simhash_text(text[]) IS
    'several texts as one, joined as simhash_trigger joins columns: by line breaks, NULLs skipped; NULL if all are';

-- Fingerprints of features that someone else has found

CREATE FUNCTION simhash(features text[], weights double precision[] DEFAULT NULL) RETURNS bigint
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 500
    AS 'MODULE_PATHNAME', 'simhash_of_features_wrapper';
COMMENT ON FUNCTION simhash(text[], double precision[]) IS
    'similarity fingerprint of features, each with its weight or 1; NULL if they have no weight';

CREATE FUNCTION simhash_agg_add(state internal, feature text) RETURNS internal
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_agg_add_wrapper';
COMMENT ON FUNCTION simhash_agg_add(internal, text) IS 'of the aggregate simhash_agg: takes a feature';

CREATE FUNCTION simhash_agg_add(state internal, feature text, weight double precision) RETURNS internal
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_agg_add_weighted_wrapper';
COMMENT ON FUNCTION simhash_agg_add(internal, text, double precision) IS 'of the aggregate simhash_agg: takes a feature and its weight';

CREATE FUNCTION simhash_agg_combine(state internal, other internal) RETURNS internal
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_agg_combine_wrapper';
COMMENT ON FUNCTION simhash_agg_combine(internal, internal) IS 'of the aggregate simhash_agg: joins what two workers have';

CREATE FUNCTION simhash_agg_serialize(state internal) RETURNS bytea
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_agg_serialize_wrapper';
COMMENT ON FUNCTION simhash_agg_serialize(internal) IS 'of the aggregate simhash_agg: what a worker sends';

CREATE FUNCTION simhash_agg_deserialize(state bytea, unused internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_agg_deserialize_wrapper';
COMMENT ON FUNCTION simhash_agg_deserialize(bytea, internal) IS 'of the aggregate simhash_agg: what a worker has sent';

CREATE FUNCTION simhash_agg_final(state internal) RETURNS bigint
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_agg_final_wrapper';
COMMENT ON FUNCTION simhash_agg_final(internal) IS 'of the aggregate simhash_agg: the fingerprint';

CREATE AGGREGATE simhash_agg(feature text) (
    SFUNC = simhash_agg_add, STYPE = internal, SSPACE = 1056,
    COMBINEFUNC = simhash_agg_combine, SERIALFUNC = simhash_agg_serialize, DESERIALFUNC = simhash_agg_deserialize,
    FINALFUNC = simhash_agg_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_agg(text) IS 'similarity fingerprint of features, one in each row';

CREATE AGGREGATE simhash_agg(feature text, weight double precision) (
    SFUNC = simhash_agg_add, STYPE = internal, SSPACE = 1056,
    COMBINEFUNC = simhash_agg_combine, SERIALFUNC = simhash_agg_serialize, DESERIALFUNC = simhash_agg_deserialize,
    FINALFUNC = simhash_agg_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_agg(text, double precision) IS 'similarity fingerprint of features with weights, one in each row';

CREATE FUNCTION simhash(doc tsvector) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 2000
    -- With this cast no function of another has better types than our own.
    RETURN (SELECT simhash_agg(lexeme, greatest(pg_catalog.cardinality(positions), 1)::double precision) FROM pg_catalog.unnest(doc));
COMMENT ON FUNCTION simhash(tsvector) IS
    'similarity fingerprint of the lexemes of a text, each weighing as much as it has positions; NULL if there are none';

-- What fingerprints come from

CREATE FUNCTION simhash_features(
    doc text,
    scheme text DEFAULT 'doc1',
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

CREATE FUNCTION simhash_explain(a text, b text, scheme text DEFAULT 'doc1') RETURNS jsonb
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20000
    AS 'MODULE_PATHNAME', 'simhash_explain';
COMMENT ON FUNCTION simhash_explain(text, text, text) IS
    'why the fingerprints of two texts differ: shared and deciding features, and the votes for each differing bit';

CREATE FUNCTION simhash_schemes(
    OUT name text,
    OUT version integer,
    OUT unit text,
    OUT features text,
    OUT example_scheme text,
    OUT example text,
    OUT fingerprint bigint
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10 ROWS 4
    AS 'MODULE_PATHNAME', 'simhash_schemes_wrapper';
COMMENT ON FUNCTION simhash_schemes() IS
    'the schemes of fingerprints: what their features are, and the fingerprint of an example';

-- How fingerprints are written for people and other programs

CREATE FUNCTION simhash_encode(si bigint, scheme text DEFAULT NULL) RETURNS text
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_encode_wrapper';
COMMENT ON FUNCTION simhash_encode(bigint, text) IS
    'a fingerprint in base32, 13 letters, after its scheme if that is given';

CREATE FUNCTION simhash_decode(spelling text) RETURNS bigint
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_decode_wrapper';
COMMENT ON FUNCTION simhash_decode(text) IS
    'the fingerprint that is written in base32 (with or without a scheme), 16 hexadecimal or 64 binary digits, or 0x and up to 16 hexadecimal digits; 16 digits without a letter, which may be decimal, need the 0x';

CREATE FUNCTION simhash_decode(number numeric) RETURNS bigint
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_decode_number_wrapper';
COMMENT ON FUNCTION simhash_decode(numeric) IS
    'the fingerprint that is written in decimal, without sign (0 to 18446744073709551615) or with (-9223372036854775808 to 9223372036854775807)';

-- Sketches: sets of hashes that stand for a text, sorted and distinct

CREATE FUNCTION manber_sketch(
    doc text,
    "window" integer DEFAULT 50,
    sample_bits integer DEFAULT 8,
    prime bigint DEFAULT 1425089352415399837,
    modulus bigint DEFAULT 2305843009213693951,
    divisor bigint DEFAULT 1,
    unit text DEFAULT 'byte',
    hash text DEFAULT 'polynomial'
) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'manber_sketch_wrapper';
COMMENT ON FUNCTION manber_sketch(text, integer, integer, bigint, bigint, bigint, text, text) IS
    'hashes (polynomial, java, xxh3) of all windows of a text (of bytes or characters) whose lowest sample_bits bits are zero and which divisor divides (Manber 1994)';

CREATE FUNCTION winnow_sketch(doc text, k integer DEFAULT 50, w integer DEFAULT 100) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'winnow_sketch_wrapper';
COMMENT ON FUNCTION winnow_sketch(text, integer, integer) IS
    'of each w windows of k bytes the least hash: texts that share k + w - 1 bytes share a value (winnowing)';

CREATE FUNCTION heintze_sketch(
    doc text,
    size integer DEFAULT 100,
    length integer DEFAULT 32,
    frequent bigint[] DEFAULT '{}'
) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000
    AS 'MODULE_PATHNAME', 'heintze_sketch_wrapper';
COMMENT ON FUNCTION heintze_sketch(text, integer, integer, bigint[]) IS
    'hashes of the substrings of so many letters that are probably the rarest (Heintze 1996); those known to be frequent, from the least to the most, come last';

CREATE FUNCTION sketch_resemblance(a bigint[], b bigint[]) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20
    AS 'MODULE_PATHNAME', 'sketch_resemblance_wrapper';
COMMENT ON FUNCTION sketch_resemblance(bigint[], bigint[]) IS
    'shared values among all values of two sketches, 0 to 1; NULL if both are empty';

CREATE FUNCTION sketch_containment(a bigint[], b bigint[]) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20
    AS 'MODULE_PATHNAME', 'sketch_containment_wrapper';
COMMENT ON FUNCTION sketch_containment(bigint[], bigint[]) IS
    'shared values among those of the first sketch, 0 to 1; NULL if it is empty';

-- MinHash signatures, whose agreement estimates the resemblance of two texts

CREATE FUNCTION minhash(doc text, hashes integer DEFAULT 128, scheme text DEFAULT 'word:3') RETURNS integer[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000
    AS 'MODULE_PATHNAME', 'minhash_of_wrapper';
COMMENT ON FUNCTION minhash(text, integer, text) IS
    'signature of a text: for each hash the least value of any feature; NULL if there are no features';

CREATE FUNCTION minhash_similarity(a integer[], b integer[]) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'minhash_similarity_wrapper';
COMMENT ON FUNCTION minhash_similarity(integer[], integer[]) IS
    'share of the places where two signatures agree, an estimate of the resemblance of their texts, 0 to 1';

CREATE FUNCTION minhash_bands(signature integer[], bands integer) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20
    AS 'MODULE_PATHNAME', 'minhash_bands_wrapper';
COMMENT ON FUNCTION minhash_bands(integer[], integer) IS
    'hashes of the bands of a signature, for an index of type GIN: similar texts probably share one';

-- Passages: text that comes twice

CREATE FUNCTION shared_passages(
    a text,
    b text,
    min_length integer DEFAULT 50,
    OUT a_pos integer,
    OUT b_pos integer,
    OUT len integer,
    OUT passage text
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 10
    AS 'MODULE_PATHNAME', 'shared_passages_wrapper';
COMMENT ON FUNCTION shared_passages(text, text, integer) IS
    'the longest passages that two texts share, or that one text has twice, of at least so many characters; positions as substr counts them';

CREATE FUNCTION recursive_shingles(
    doc text,
    min_level integer DEFAULT 1,
    max_level integer DEFAULT 12,
    OUT level integer,
    OUT hash bigint,
    OUT pos integer,
    OUT len integer
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 1000
    AS 'MODULE_PATHNAME', 'recursive_shingles_wrapper';
COMMENT ON FUNCTION recursive_shingles(text, integer, integer) IS
    'hashes of pieces of 4, 16, 64 ... characters: texts that share 6, 26, 106 ... characters share one of level 1, 2, 3 ... (Sitaker 2021)';

CREATE FUNCTION passage_sketch(doc text, min_length integer) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000
    AS 'MODULE_PATHNAME', 'passage_sketch_wrapper';
COMMENT ON FUNCTION passage_sketch(text, integer) IS
    'recursive shingles by which every text that shares so many characters is found: texts that do have a value in common';

-- Text of documents in HTML

CREATE FUNCTION extract_text(html text) RETURNS text
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'extract_text_wrapper';
COMMENT ON FUNCTION extract_text(text) IS
    'the text of an HTML document as readers see it, without markup, scripts, styles and metadata';

-- Fingerprints that follow their text

CREATE FUNCTION simhash_trigger() RETURNS trigger
    LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 2000
    AS 'MODULE_PATHNAME', 'simhash_trigger';
COMMENT ON FUNCTION simhash_trigger() IS
    'sets a bigint column to the fingerprint of text columns: simhash_trigger(target, source [, ...] [, ''scheme=name''])';

-- Which rows are near-duplicates of which

CREATE FUNCTION simhash_cluster(key anyelement, si bigint, radius integer, linkage text DEFAULT 'leader') RETURNS anyelement
    LANGUAGE C WINDOW IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'simhash_cluster';
COMMENT ON FUNCTION simhash_cluster(anyelement, bigint, integer, text) IS
    'window function: the key of the row that keeps the cluster of near-duplicates, its first in the order of the window; linkage is leader or connected, and the first row of a partition says which, and the radius';

CREATE FUNCTION simhash_clusters(
    ids bigint[],
    fingerprints bigint[],
    radius integer,
    linkage text DEFAULT 'leader',
    OUT id bigint,
    OUT cluster bigint
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'simhash_clusters_wrapper';
COMMENT ON FUNCTION simhash_clusters(bigint[], bigint[], integer, text) IS
    'for each id the smallest id of its cluster of near-duplicates; linkage is leader or connected';

CREATE FUNCTION hamming_pairs(
    ids bigint[],
    fingerprints bigint[],
    radius integer,
    OUT a bigint,
    OUT b bigint,
    OUT distance integer
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'hamming_pairs_wrapper';
COMMENT ON FUNCTION hamming_pairs(bigint[], bigint[], integer) IS
    'all pairs of ids, the smaller first, whose fingerprints differ in at most radius bits';

-- What distances mean in a table

CREATE FUNCTION hamming_histogram(
    relation regclass,
    "column" name,
    sample integer DEFAULT 10000,
    OUT distance integer,
    OUT pairs bigint,
    OUT nearest bigint,
    OUT found double precision,
    OUT unrelated double precision,
    OUT recommended boolean
)
    RETURNS SETOF record
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000 ROWS 65
    AS 'MODULE_PATHNAME', 'hamming_histogram_wrapper';
COMMENT ON FUNCTION hamming_histogram(regclass, name, integer) IS
    'distances of a sample of the fingerprints in a column: of pairs, and to the nearest; rows found within each distance, how many of them are expected to be unrelated, and the recommended radius';
