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
