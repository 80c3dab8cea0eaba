-- What fingerprints come from

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
    AS 'MODULE_PATHNAME', 'simhash_pg_simhash_features';
COMMENT ON FUNCTION simhash_features(text, text) IS
    'distinct features of a text in the order of their occurrence, with weight in the fingerprint, hash, and number of occurrences';

CREATE FUNCTION simhash_explain(a text, b text, scheme text DEFAULT 'doc2') RETURNS jsonb
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20000
    AS 'MODULE_PATHNAME', 'simhash_pg_simhash_explain';
COMMENT ON FUNCTION simhash_explain(text, text, text) IS
    'why the fingerprints of two texts differ: shared and deciding features, and for each differing bit the votes, or with doc2 the deciding features';

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
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10 ROWS 6
    AS 'MODULE_PATHNAME', 'simhash_pg_simhash_schemes';
COMMENT ON FUNCTION simhash_schemes() IS
    'fingerprint schemes, with their features and the fingerprint of an example';
