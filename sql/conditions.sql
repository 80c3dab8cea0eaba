-- Planner support of the functions on distances and on sketches, and functions that the planner puts into queries

CREATE FUNCTION hamming_support(internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_support';
COMMENT ON FUNCTION hamming_support(internal) IS
    'planner support: turns hamming(a, b) into a <~> b, which indexes can order by';

CREATE FUNCTION hamming_within_support(internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_within_support';
COMMENT ON FUNCTION hamming_within_support(internal) IS
    'planner support: index conditions and selectivity of hamming_within(a, b, radius)';

CREATE FUNCTION sketch_support(internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_sketch_support';
COMMENT ON FUNCTION sketch_support(internal) IS
    'planner support: index conditions, selectivity and cost of comparisons of sketches';

CREATE FUNCTION hamming_ball_sel(internal, oid, internal, integer) RETURNS double precision
    LANGUAGE C STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_ball_sel';
COMMENT ON FUNCTION hamming_ball_sel(internal, oid, internal, integer) IS
    'restriction selectivity of bigint <@ hamming_ball';

CREATE FUNCTION hamming_ball_joinsel(internal, oid, internal, smallint, internal) RETURNS double precision
    LANGUAGE C STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_ball_joinsel';
COMMENT ON FUNCTION hamming_ball_joinsel(internal, oid, internal, smallint, internal) IS
    'join selectivity of bigint <@ hamming_ball';

-- Servers that share a query (postgres_fdw) send these to each other, so their names and meanings never change.
CREATE FUNCTION hamming_radius_le(bigint) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_radius_le';
COMMENT ON FUNCTION hamming_radius_le(bigint) IS
    'the radius of all distances <= this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_le(double precision) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_radius_le_float8';
COMMENT ON FUNCTION hamming_radius_le(double precision) IS
    'the radius of all distances <= this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_le(numeric) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_radius_le_numeric';
COMMENT ON FUNCTION hamming_radius_le(numeric) IS
    'the radius of all distances <= this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_lt(bigint) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_radius_lt';
COMMENT ON FUNCTION hamming_radius_lt(bigint) IS
    'the radius of all distances < this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_lt(double precision) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_radius_lt_float8';
COMMENT ON FUNCTION hamming_radius_lt(double precision) IS
    'the radius of all distances < this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_lt(numeric) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_radius_lt_numeric';
COMMENT ON FUNCTION hamming_radius_lt(numeric) IS
    'the radius of all distances < this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_ge(double precision, integer) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_radius_ge';
COMMENT ON FUNCTION hamming_radius_ge(double precision, integer) IS
    'the radius of all similarities >= this number, for codes of this number of bits; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_gt(double precision, integer) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_radius_gt';
COMMENT ON FUNCTION hamming_radius_gt(double precision, integer) IS
    'the radius of all similarities > this number, for codes of this number of bits; the planner puts it into conditions, also those sent to other servers';
