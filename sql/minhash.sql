-- MinHash signatures, whose agreement estimates the similarity of two texts

CREATE FUNCTION minhash(doc text, bins integer DEFAULT 128, scheme text DEFAULT 'word:3') RETURNS integer[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'simhash_pg_minhash_of';
COMMENT ON FUNCTION minhash(text, integer, text) IS
    'signature of a text, made fast: of the features that fall into each bin the least hash, -1 if there is none; NULL if there are no features';

CREATE FUNCTION minhash_similarity(a integer[], b integer[]) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_pg_minhash_similarity';
COMMENT ON FUNCTION minhash_similarity(integer[], integer[]) IS
    'share of the places where two signatures agree, an estimate of the similarity of their texts, 0 to 1; places that are empty (-1) in both do not count';

CREATE FUNCTION minhash_bits(doc text, bits integer, scheme text DEFAULT 'word:3') RETURNS bit varying
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'simhash_pg_minhash_bits_of_text';
COMMENT ON FUNCTION minhash_bits(text, integer, text) IS
    'bits of the signature that minhash makes of a text; NULL if there are no features';

CREATE FUNCTION minhash_bits(doc text, bits integer, weights bytea) RETURNS bit varying
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000
    AS 'MODULE_PATHNAME', 'simhash_pg_minhash_bits_of_weighted_text';
COMMENT ON FUNCTION minhash_bits(text, integer, bytea) IS
    'bits of the signature of a text in which each feature stands for as many as it weighs; NULL if nothing in the text has a weight';
