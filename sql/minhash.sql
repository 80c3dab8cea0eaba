-- MinHash signatures, whose agreement estimates the similarity of two texts

CREATE FUNCTION minhash(doc text, bins integer DEFAULT 128, scheme text DEFAULT 'word:3') RETURNS integer[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'simhash_pg_minhash_of';
COMMENT ON FUNCTION minhash(text, integer, text) IS
    'MinHash signature of a text by one-permutation hashing: the smallest hash of the features in each bin, -1 if there are none; NULL if the text has no features';

CREATE FUNCTION minhash_similarity(a integer[], b integer[]) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_pg_minhash_similarity';
COMMENT ON FUNCTION minhash_similarity(integer[], integer[]) IS
    'share of the bins in which two signatures agree, an estimate of the similarity of their texts, 0 to 1; bins that are empty (-1) in both do not count';

CREATE FUNCTION minhash_bits(doc text, bits integer, scheme text DEFAULT 'word:3') RETURNS bit varying
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'simhash_pg_minhash_bits_of_text';
COMMENT ON FUNCTION minhash_bits(text, integer, text) IS
    'one bit of each value of the minhash signature of a text; NULL if the text has no features';

CREATE FUNCTION minhash_bits(doc text, bits integer, weights bytea) RETURNS bit varying
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000
    AS 'MODULE_PATHNAME', 'simhash_pg_minhash_bits_of_weighted_text';
COMMENT ON FUNCTION minhash_bits(text, integer, bytea) IS
    'one bit of each value of the weighted minhash signature of a text; NULL if no feature of the text has a weight';
