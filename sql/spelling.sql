-- How fingerprints are written for people and other programs

CREATE FUNCTION simhash_encode(si bigint, scheme text DEFAULT NULL) RETURNS text
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_encode_wrapper';
COMMENT ON FUNCTION simhash_encode(bigint, text) IS
    'a fingerprint in base32, 13 letters, after its scheme if that is given';

CREATE FUNCTION simhash_decode(spelling text) RETURNS bigint
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_decode_wrapper';
COMMENT ON FUNCTION simhash_decode(text) IS
    'the fingerprint that is written in base32 (with or without a scheme), 16 hexadecimal or 64 binary digits';
