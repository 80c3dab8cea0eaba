-- Fingerprints of features that someone else has found

CREATE FUNCTION simhash(features text[], weights double precision[] DEFAULT NULL) RETURNS bigint
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 500
    AS 'MODULE_PATHNAME', 'simhash_of_features_wrapper';
COMMENT ON FUNCTION simhash(text[], double precision[]) IS
    'similarity fingerprint of features, each with its weight or 1; NULL if they have no weight';

CREATE FUNCTION simhash_agg_add(state internal, feature text) RETURNS internal
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_agg_add_wrapper';
COMMENT ON FUNCTION simhash_agg_add(internal, text) IS 'of the aggregate simhash_agg: takes a feature';

CREATE FUNCTION simhash_agg_add(state internal, feature text, weight double precision) RETURNS internal
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_agg_add_weighted_wrapper';
COMMENT ON FUNCTION simhash_agg_add(internal, text, double precision) IS 'of the aggregate simhash_agg: takes a feature and its weight';

CREATE FUNCTION simhash_agg_combine(state internal, other internal) RETURNS internal
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_agg_combine_wrapper';
COMMENT ON FUNCTION simhash_agg_combine(internal, internal) IS 'of the aggregate simhash_agg: joins what two workers have';

CREATE FUNCTION simhash_agg_serialize(state internal) RETURNS bytea
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_agg_serialize_wrapper';
COMMENT ON FUNCTION simhash_agg_serialize(internal) IS 'of the aggregate simhash_agg: what a worker sends';

CREATE FUNCTION simhash_agg_deserialize(state bytea, unused internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_agg_deserialize_wrapper';
COMMENT ON FUNCTION simhash_agg_deserialize(bytea, internal) IS 'of the aggregate simhash_agg: what a worker has sent';

CREATE FUNCTION simhash_agg_final(state internal) RETURNS bigint
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_agg_final_wrapper';
COMMENT ON FUNCTION simhash_agg_final(internal) IS 'of the aggregate simhash_agg: the fingerprint';

CREATE AGGREGATE simhash_agg(feature text) (
    SFUNC = simhash_agg_add, STYPE = internal, SSPACE = 1056,
    COMBINEFUNC = simhash_agg_combine, SERIALFUNC = simhash_agg_serialize, DESERIALFUNC = simhash_agg_deserialize,
    FINALFUNC = simhash_agg_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_agg(text) IS 'similarity fingerprint of features, one in each row';

CREATE AGGREGATE simhash_agg(feature text, weight double precision) (
    SFUNC = simhash_agg_add, STYPE = internal, SSPACE = 1056,
    COMBINEFUNC = simhash_agg_combine, SERIALFUNC = simhash_agg_serialize, DESERIALFUNC = simhash_agg_deserialize,
    FINALFUNC = simhash_agg_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_agg(text, double precision) IS 'similarity fingerprint of features with weights, one in each row';

CREATE FUNCTION simhash(doc tsvector) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 2000
    -- With this cast no function of another has better types than our own.
    RETURN (SELECT simhash_agg(lexeme, greatest(pg_catalog.cardinality(positions), 1)::double precision) FROM pg_catalog.unnest(doc));
COMMENT ON FUNCTION simhash(tsvector) IS
    'similarity fingerprint of the lexemes of a text, each weighing as much as it has positions; NULL if there are none';
