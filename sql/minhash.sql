-- MinHash signatures, whose agreement estimates the resemblance of two texts

CREATE FUNCTION minhash(doc text, hashes integer DEFAULT 128, scheme text DEFAULT 'word:3') RETURNS integer[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000
    AS 'MODULE_PATHNAME', 'minhash_of_wrapper';
COMMENT ON FUNCTION minhash(text, integer, text) IS
    'signature of a text: for each hash the least value of any feature; NULL if there are no features';

CREATE FUNCTION minhash_similarity(a integer[], b integer[]) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'minhash_similarity_wrapper';
COMMENT ON FUNCTION minhash_similarity(integer[], integer[]) IS
    'share of the places where two signatures agree, an estimate of the resemblance of their texts, 0 to 1';

CREATE FUNCTION minhash_bands(signature integer[], bands integer) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20
    AS 'MODULE_PATHNAME', 'minhash_bands_wrapper';
COMMENT ON FUNCTION minhash_bands(integer[], integer) IS
    'hashes of the bands of a signature, for an index of type GIN: similar texts probably share one';
