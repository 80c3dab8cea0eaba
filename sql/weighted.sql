-- Fingerprints of features that the caller provides

CREATE FUNCTION simhash(features text[], weights double precision[] DEFAULT NULL) RETURNS bigint
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 500
    AS 'MODULE_PATHNAME', 'simhash_pg_simhash_of_features';
COMMENT ON FUNCTION simhash(text[], double precision[]) IS
    'similarity fingerprint of features with their weights, by default 1; NULL if all weights are zero';

-- Servers that share rows (Citus) send the state to each other, so its format never changes.
CREATE FUNCTION simhash_agg_add(state bytea, feature text, weight double precision) RETURNS bytea
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_simhash_agg_add_weighted';
COMMENT ON FUNCTION simhash_agg_add(bytea, text, double precision) IS 'transition function of simhash_agg';

CREATE FUNCTION simhash_agg_combine(state bytea, other bytea) RETURNS bytea
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_simhash_agg_combine';
COMMENT ON FUNCTION simhash_agg_combine(bytea, bytea) IS 'combine function of simhash_agg';

CREATE FUNCTION simhash_agg_final(state bytea) RETURNS bigint
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_simhash_agg_final';
COMMENT ON FUNCTION simhash_agg_final(bytea) IS 'final function of simhash_agg';

CREATE AGGREGATE simhash_agg(feature text, weight double precision) (
    SFUNC = simhash_agg_add, STYPE = bytea, SSPACE = 1056, COMBINEFUNC = simhash_agg_combine,
    FINALFUNC = simhash_agg_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_agg(text, double precision) IS 'similarity fingerprint of features with weights, one feature per row';

CREATE FUNCTION simhash(doc tsvector) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 2000
    -- With this cast, no other user's function fits the types better than our own.
    RETURN (SELECT simhash_agg(lexeme, greatest(pg_catalog.cardinality(positions), 1)::double precision) FROM pg_catalog.unnest(doc));
COMMENT ON FUNCTION simhash(tsvector) IS
    'similarity fingerprint of the lexemes of a text, weighted by their number of positions; NULL if there are none';
