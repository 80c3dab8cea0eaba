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

CREATE FUNCTION hamming_ball_hash(hamming_ball) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_ball_hash';
COMMENT ON FUNCTION hamming_ball_hash(hamming_ball) IS 'hash support of hamming_ball_ops';

CREATE FUNCTION hamming_ball_hash_extended(hamming_ball, bigint) RETURNS bigint
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_ball_hash_extended';
COMMENT ON FUNCTION hamming_ball_hash_extended(hamming_ball, bigint) IS 'hash support of hamming_ball_ops';

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
    JOIN = eqjoinsel,
    HASHES
);
COMMENT ON OPERATOR = (hamming_ball, hamming_ball) IS 'the same center and the same radius';

CREATE OPERATOR CLASS hamming_ball_ops DEFAULT FOR TYPE hamming_ball USING hash AS
    OPERATOR 1 = (hamming_ball, hamming_ball),
    FUNCTION 1 hamming_ball_hash(hamming_ball),
    FUNCTION 2 hamming_ball_hash_extended(hamming_ball, bigint);
COMMENT ON OPERATOR CLASS hamming_ball_ops USING hash IS 'balls by center and radius, for DISTINCT and GROUP BY';
COMMENT ON OPERATOR FAMILY hamming_ball_ops USING hash IS 'balls by center and radius, for DISTINCT and GROUP BY';

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
