-- Weights of features: the rarer in a corpus, the greater

-- Servers that share rows (Citus) send the state to each other, so its format never changes.
CREATE FUNCTION feature_weights_add(state bytea, doc text, scheme text) RETURNS bytea
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 5000
    AS 'MODULE_PATHNAME', 'simhash_pg_feature_weights_add';
COMMENT ON FUNCTION feature_weights_add(bytea, text, text) IS 'of the aggregate feature_weights: takes a text';

CREATE FUNCTION feature_weights_combine(state bytea, other bytea) RETURNS bytea
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100
    AS 'MODULE_PATHNAME', 'simhash_pg_feature_weights_combine';
COMMENT ON FUNCTION feature_weights_combine(bytea, bytea) IS 'of the aggregate feature_weights: joins what two workers or servers have';

CREATE FUNCTION feature_weights_final(state bytea) RETURNS bytea
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'simhash_pg_feature_weights_final';
COMMENT ON FUNCTION feature_weights_final(bytea) IS 'of the aggregate feature_weights: the weights';

CREATE AGGREGATE feature_weights(doc text, scheme text) (
    SFUNC = feature_weights_add, STYPE = bytea, SSPACE = 131200, COMBINEFUNC = feature_weights_combine,
    FINALFUNC = feature_weights_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE feature_weights(text, text) IS
    'how much features weigh by a scheme: the more, the fewer of these texts have them; a value of 32 kB; an error if there are no texts with features, and a notice if there are fewer than 1,000';

CREATE FUNCTION text_similarity(a text, b text, weights bytea) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'simhash_pg_text_similarity';
COMMENT ON FUNCTION text_similarity(text, text, bytea) IS
    'weight of the features that both texts have, as a share of the weight of all their features, 0 to 1; NULL if nothing in them has a weight';

CREATE FUNCTION text_containment(a text, b text, scheme text DEFAULT 'word:1') RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'simhash_pg_text_containment';
COMMENT ON FUNCTION text_containment(text, text, text) IS
    'share of the features of a, by default its words and numbers, that b has, too, 0 to 1; 1 if b has all of them; NULL if a has none';

CREATE FUNCTION text_containment(a text, b text, weights bytea) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'simhash_pg_text_containment_by_weights';
COMMENT ON FUNCTION text_containment(text, text, bytea) IS
    'weight of the features of a that b has, too, as a share of the weight of the features of a, 0 to 1; NULL if nothing in a has a weight';
