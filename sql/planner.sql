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

CREATE FUNCTION hamming_radius_le(bigint) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_le';
COMMENT ON FUNCTION hamming_radius_le(bigint) IS
    'the radius of all distances <= this number; the planner puts it into conditions';

CREATE FUNCTION hamming_radius_lt(bigint) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_lt';
COMMENT ON FUNCTION hamming_radius_lt(bigint) IS
    'the radius of all distances < this number; the planner puts it into conditions';
