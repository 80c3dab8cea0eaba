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

-- Balls with the same bytes are equal, so PostgreSQL's own functions for bytes serve.
CREATE FUNCTION hamming_bit_ball_equal(hamming_bit_ball, hamming_bit_ball) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'byteaeq';
COMMENT ON FUNCTION hamming_bit_ball_equal(hamming_bit_ball, hamming_bit_ball) IS 'implementation of =';

CREATE FUNCTION hamming_bit_ball_hash(hamming_bit_ball) RETURNS integer
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'hashvarlena';
COMMENT ON FUNCTION hamming_bit_ball_hash(hamming_bit_ball) IS 'hash support of hamming_bit_ball_ops';

CREATE FUNCTION hamming_bit_ball_hash_extended(hamming_bit_ball, bigint) RETURNS bigint
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'hashvarlenaextended';
COMMENT ON FUNCTION hamming_bit_ball_hash_extended(hamming_bit_ball, bigint) IS 'hash support of hamming_bit_ball_ops';

CREATE OPERATOR = (
    LEFTARG = hamming_bit_ball,
    RIGHTARG = hamming_bit_ball,
    FUNCTION = hamming_bit_ball_equal,
    COMMUTATOR = =,
    RESTRICT = eqsel,
    JOIN = eqjoinsel,
    HASHES
);
COMMENT ON OPERATOR = (hamming_bit_ball, hamming_bit_ball) IS 'the same center and the same radius';

CREATE OPERATOR CLASS hamming_bit_ball_ops DEFAULT FOR TYPE hamming_bit_ball USING hash AS
    OPERATOR 1 = (hamming_bit_ball, hamming_bit_ball),
    FUNCTION 1 hamming_bit_ball_hash(hamming_bit_ball),
    FUNCTION 2 hamming_bit_ball_hash_extended(hamming_bit_ball, bigint);
COMMENT ON OPERATOR CLASS hamming_bit_ball_ops USING hash IS 'balls by center and radius, for DISTINCT and GROUP BY';
COMMENT ON OPERATOR FAMILY hamming_bit_ball_ops USING hash IS 'balls by center and radius, for DISTINCT and GROUP BY';
