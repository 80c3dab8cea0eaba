-- GIN: sketches by the share of values that they have in common with a query

CREATE TYPE sketch_query;

CREATE FUNCTION sketch_query_in(cstring) RETURNS sketch_query
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_sketch_query_in';
COMMENT ON FUNCTION sketch_query_in(cstring) IS 'always raises an error, because queries exist only in index conditions';

CREATE FUNCTION sketch_query_out(sketch_query) RETURNS cstring
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_sketch_query_out';
COMMENT ON FUNCTION sketch_query_out(sketch_query) IS 'the requested share, and the values of the sketch';

CREATE TYPE sketch_query (
    INPUT = sketch_query_in,
    OUTPUT = sketch_query_out,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = extended
);
COMMENT ON TYPE sketch_query IS 'sketch with the share of common values that an index searches for';

CREATE FUNCTION sketch_query_of(sketch bigint[], measure integer, share double precision) RETURNS sketch_query
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_pg_sketch_query_of';
COMMENT ON FUNCTION sketch_query_of(bigint[], integer, double precision) IS
    'sketches whose similarity to this one (measure 0), whose share of its values (1), or whose share of their own values in it (2) is at least a number; the planner creates it from sketch_similar and sketch_contained';

CREATE FUNCTION sketch_matches(bigint[], sketch_query) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20
    AS 'MODULE_PATHNAME', 'simhash_pg_sketch_matches';
COMMENT ON FUNCTION sketch_matches(bigint[], sketch_query) IS 'implementation of @@';

CREATE OPERATOR @@ (
    LEFTARG = bigint[],
    RIGHTARG = sketch_query,
    FUNCTION = sketch_matches,
    RESTRICT = contsel,
    JOIN = contjoinsel
);
COMMENT ON OPERATOR @@ (bigint[], sketch_query) IS 'does the sketch have the requested share of common values?';

CREATE FUNCTION gin_sketch_keys(bigint[], internal, internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_gin_sketch_keys';
COMMENT ON FUNCTION gin_sketch_keys(bigint[], internal, internal) IS 'GIN support of sketch_ops';

CREATE FUNCTION gin_sketch_query_keys(bigint[], internal, smallint, internal, internal, internal, internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_gin_sketch_query_keys';
COMMENT ON FUNCTION gin_sketch_query_keys(bigint[], internal, smallint, internal, internal, internal, internal) IS
    'GIN support of sketch_ops';

CREATE FUNCTION gin_sketch_consistent(internal, smallint, bigint[], integer, internal, internal, internal) RETURNS "char"
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_gin_sketch_consistent';
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
COMMENT ON OPERATOR CLASS sketch_ops USING gin IS 'search of sketches by common values and by their share';
COMMENT ON OPERATOR FAMILY sketch_ops USING gin IS 'search of sketches by common values and by their share';
