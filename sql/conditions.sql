-- Planner support of the functions on distances and on sketches, and functions that the planner puts into queries

CREATE FUNCTION hamming_support(internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_support';
COMMENT ON FUNCTION hamming_support(internal) IS
    'planner support: replaces hamming(a, b) with a <~> b, by which an index can order; index conditions and selectivity for hamming_within(a, b, radius)';

CREATE FUNCTION sketch_support(internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_sketch_support';
COMMENT ON FUNCTION sketch_support(internal) IS
    'planner support: index conditions, selectivity and cost for comparisons of sketches';

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
    'largest radius <= this number; the planner uses it in conditions, including those sent to other servers';

CREATE FUNCTION hamming_radius_le(double precision) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_radius_le_float8';
COMMENT ON FUNCTION hamming_radius_le(double precision) IS
    'largest radius <= this number; the planner uses it in conditions, including those sent to other servers';

CREATE FUNCTION hamming_radius_le(numeric) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_radius_le_numeric';
COMMENT ON FUNCTION hamming_radius_le(numeric) IS
    'largest radius <= this number; the planner uses it in conditions, including those sent to other servers';

CREATE FUNCTION hamming_radius_lt(bigint) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_radius_lt';
COMMENT ON FUNCTION hamming_radius_lt(bigint) IS
    'largest radius < this number; the planner uses it in conditions, including those sent to other servers';

CREATE FUNCTION hamming_radius_lt(double precision) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_radius_lt_float8';
COMMENT ON FUNCTION hamming_radius_lt(double precision) IS
    'largest radius < this number; the planner uses it in conditions, including those sent to other servers';

CREATE FUNCTION hamming_radius_lt(numeric) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_radius_lt_numeric';
COMMENT ON FUNCTION hamming_radius_lt(numeric) IS
    'largest radius < this number; the planner uses it in conditions, including those sent to other servers';

CREATE FUNCTION hamming_radius_ge(double precision, integer) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_radius_ge';
COMMENT ON FUNCTION hamming_radius_ge(double precision, integer) IS
    'radius of all similarities >= this number, for codes with this number of bits; the planner uses it in conditions, including those sent to other servers';

CREATE FUNCTION hamming_radius_gt(double precision, integer) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_radius_gt';
COMMENT ON FUNCTION hamming_radius_gt(double precision, integer) IS
    'radius of all similarities > this number, for codes with this number of bits; the planner uses it in conditions, including those sent to other servers';
