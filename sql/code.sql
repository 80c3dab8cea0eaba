-- Codes: bigint, such as fingerprints of texts, and bit(n), such as perceptual hashes of images. Functions that take
-- bit take bit varying, too.

-- Distances

CREATE FUNCTION hamming(a bigint, b bigint) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1 SUPPORT hamming_support
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming';
COMMENT ON FUNCTION hamming(bigint, bigint) IS
    'number of bits in which two codes differ, 0 to 64';

CREATE FUNCTION hamming(a bit, b bit) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1 SUPPORT hamming_support
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_bits';
COMMENT ON FUNCTION hamming(bit, bit) IS
    'number of bits in which two bit strings of the same length differ';

CREATE FUNCTION hamming_within(a bigint, b bigint, radius integer) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1 SUPPORT hamming_support
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_within';
COMMENT ON FUNCTION hamming_within(bigint, bigint, integer) IS
    'whether two codes differ in at most radius bits';

CREATE FUNCTION hamming_within(a bit, b bit, radius integer) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1 SUPPORT hamming_support
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_bits_within';
COMMENT ON FUNCTION hamming_within(bit, bit, integer) IS
    'whether two bit strings of the same length differ in at most radius bits';

CREATE FUNCTION hamming_similarity(a bigint, b bigint) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1 SUPPORT hamming_support
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_similarity';
COMMENT ON FUNCTION hamming_similarity(bigint, bigint) IS
    'share of equal bits of two codes, 0 to 1';

CREATE FUNCTION hamming_similarity(a bit, b bit) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1 SUPPORT hamming_support
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_bits_similarity';
COMMENT ON FUNCTION hamming_similarity(bit, bit) IS
    'share of equal bits of two bit strings of the same length, 0 to 1; 1 if they are empty';

CREATE FUNCTION hamming_radius(similarity double precision, bits integer DEFAULT 64) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_radius';
COMMENT ON FUNCTION hamming_radius(double precision, integer) IS
    'largest distance at which codes with this number of bits have at least this similarity: 6 for 0.90 and 64 bits, 25 for 256 bits';

-- The planner turns hamming into these operators. The operator <~> of bit belongs to the extension vector.
CREATE OPERATOR <~> (
    LEFTARG = bigint,
    RIGHTARG = bigint,
    FUNCTION = hamming,
    COMMUTATOR = <~>
);
COMMENT ON OPERATOR <~> (bigint, bigint) IS
    'number of bits in which two codes differ';

CREATE OPERATOR <^> (
    LEFTARG = bit,
    RIGHTARG = bit,
    FUNCTION = hamming,
    COMMUTATOR = <^>
);
COMMENT ON OPERATOR <^> (bit, bit) IS
    'number of bits in which two bit strings of the same length differ';

-- Balls: all codes within a radius of a center. Index conditions are made of them.

CREATE TYPE hamming_ball;

CREATE FUNCTION hamming_ball_in(cstring) RETURNS hamming_ball
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_ball_in';
COMMENT ON FUNCTION hamming_ball_in(cstring) IS 'text input, <center,radius>';

CREATE FUNCTION hamming_ball_out(hamming_ball) RETURNS cstring
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_ball_out';
COMMENT ON FUNCTION hamming_ball_out(hamming_ball) IS 'text output';

CREATE FUNCTION hamming_ball_recv(internal) RETURNS hamming_ball
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_ball_recv';
COMMENT ON FUNCTION hamming_ball_recv(internal) IS 'binary input';

CREATE FUNCTION hamming_ball_send(hamming_ball) RETURNS bytea
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_ball_send';
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
    'all codes within a radius of a center, written <center,radius>';

CREATE TYPE hamming_bit_ball;

CREATE FUNCTION hamming_bit_ball_in(cstring) RETURNS hamming_bit_ball
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_bit_ball_in';
COMMENT ON FUNCTION hamming_bit_ball_in(cstring) IS 'text input, <center,radius>';

CREATE FUNCTION hamming_bit_ball_out(hamming_bit_ball) RETURNS cstring
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_bit_ball_out';
COMMENT ON FUNCTION hamming_bit_ball_out(hamming_bit_ball) IS 'text output';

CREATE FUNCTION hamming_bit_ball_recv(internal) RETURNS hamming_bit_ball
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_bit_ball_recv';
COMMENT ON FUNCTION hamming_bit_ball_recv(internal) IS 'binary input';

CREATE FUNCTION hamming_bit_ball_send(hamming_bit_ball) RETURNS bytea
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_bit_ball_send';
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
    'all bit strings within a radius of a center, written <center,radius>';

CREATE FUNCTION hamming_ball(center bigint, radius integer) RETURNS hamming_ball
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_ball';
COMMENT ON FUNCTION hamming_ball(bigint, integer) IS
    'all codes within a radius of a center';

CREATE FUNCTION hamming_ball(center bit, radius integer) RETURNS hamming_bit_ball
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_bit_ball';
COMMENT ON FUNCTION hamming_ball(bit, integer) IS
    'all bit strings within a radius of a center';

CREATE FUNCTION hamming_ball_contained(bigint, hamming_ball) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_ball_contained';
COMMENT ON FUNCTION hamming_ball_contained(bigint, hamming_ball) IS 'implementation of <@';

CREATE FUNCTION hamming_ball_contained(bit, hamming_bit_ball) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_bit_ball_contained';
COMMENT ON FUNCTION hamming_ball_contained(bit, hamming_bit_ball) IS 'implementation of <@';

CREATE FUNCTION hamming_ball_near(hamming_ball, hamming_ball) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_ball_near';
COMMENT ON FUNCTION hamming_ball_near(hamming_ball, hamming_ball) IS 'implementation of ~';

CREATE OPERATOR <@ (
    LEFTARG = bigint,
    RIGHTARG = hamming_ball,
    FUNCTION = hamming_ball_contained,
    RESTRICT = hamming_ball_sel,
    JOIN = hamming_ball_joinsel
);
COMMENT ON OPERATOR <@ (bigint, hamming_ball) IS 'is the code within the ball?';

CREATE OPERATOR <@ (
    LEFTARG = bit,
    RIGHTARG = hamming_bit_ball,
    FUNCTION = hamming_ball_contained,
    RESTRICT = hamming_ball_sel,
    JOIN = hamming_ball_joinsel
);
COMMENT ON OPERATOR <@ (bit, hamming_bit_ball) IS 'is the bit string within the ball?';

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
