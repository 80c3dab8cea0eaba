-- Weights of features: the rarer in a corpus, the greater

-- Servers that share rows (Citus) send the state to each other, so its format never changes.
CREATE FUNCTION feature_weights_add(state bytea, doc text, scheme text) RETURNS bytea
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 5000
    AS 'MODULE_PATHNAME', 'simhash_pg_feature_weights_add';
COMMENT ON FUNCTION feature_weights_add(bytea, text, text) IS 'transition function of feature_weights';

CREATE FUNCTION feature_weights_combine(state bytea, other bytea) RETURNS bytea
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100
    AS 'MODULE_PATHNAME', 'simhash_pg_feature_weights_combine';
COMMENT ON FUNCTION feature_weights_combine(bytea, bytea) IS 'combine function of feature_weights';

CREATE FUNCTION feature_weights_final(state bytea) RETURNS bytea
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'simhash_pg_feature_weights_final';
COMMENT ON FUNCTION feature_weights_final(bytea) IS 'final function of feature_weights';

CREATE AGGREGATE feature_weights(doc text, scheme text) (
    SFUNC = feature_weights_add, STYPE = bytea, SSPACE = 131200, COMBINEFUNC = feature_weights_combine,
    FINALFUNC = feature_weights_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE feature_weights(text, text) IS
    'weights of the features of texts, which are the larger the fewer texts have a feature; a value of 32 kB; raises an error if no text has features, and a notice if there are fewer than 1,000 texts';

CREATE FUNCTION text_similarity(a text, b text, weights bytea) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'simhash_pg_text_similarity';
COMMENT ON FUNCTION text_similarity(text, text, bytea) IS
    'weight of the features that both texts have, divided by the weight of all their features, 0 to 1; NULL if no feature has a weight';

CREATE FUNCTION text_containment(a text, b text, scheme text DEFAULT 'word:1') RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'simhash_pg_text_containment';
COMMENT ON FUNCTION text_containment(text, text, text) IS
    'share of the features of a, by default its words and numbers, that b also has, 0 to 1; NULL if a has none';

CREATE FUNCTION text_containment(a text, b text, weights bytea) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'simhash_pg_text_containment_by_weights';
COMMENT ON FUNCTION text_containment(text, text, bytea) IS
    'weight of the features of a that b also has, divided by the weight of all features of a, 0 to 1; NULL if no feature of a has a weight';

CREATE FUNCTION version_score(a text, b text, weights bytea) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20000
    AS 'MODULE_PATHNAME', 'simhash_pg_version_score';
COMMENT ON FUNCTION version_score(text, text, bytea) IS
    'the higher, the more likely is one text a version of the other, at most 1; from 0.75 on, most are; NULL if no feature of one of them has a weight';
