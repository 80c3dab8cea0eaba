-- How fingerprints and codes are written for people and other programs

CREATE FUNCTION simhash_encode(code bigint, scheme text DEFAULT NULL) RETURNS text
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_encode_wrapper';
COMMENT ON FUNCTION simhash_encode(bigint, text) IS
    'a fingerprint in base32, 13 letters, after its scheme if that is given';

CREATE FUNCTION simhash_decode(spelling text) RETURNS bigint
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_decode_wrapper';
COMMENT ON FUNCTION simhash_decode(text) IS
    'the fingerprint that is written in base32 (with or without a scheme), 16 hexadecimal or 64 binary digits, or 0x and up to 16 hexadecimal digits; 16 digits without a letter, which may be decimal, need the 0x';

CREATE FUNCTION simhash_decode(number numeric) RETURNS bigint
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_decode_number_wrapper';
COMMENT ON FUNCTION simhash_decode(numeric) IS
    'the fingerprint that is written in decimal, without sign (0 to 18446744073709551615) or with (-9223372036854775808 to 9223372036854775807)';

CREATE FUNCTION code_encode(code bit varying, format text DEFAULT 'hex') RETURNS text
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'code_encode';
COMMENT ON FUNCTION code_encode(bit varying, text) IS
    'a string of bits in hexadecimal digits (format hex, a multiple of 4 bits) or in base64 (a multiple of 8 bits)';

CREATE FUNCTION code_decode(spelling text, format text DEFAULT 'hex') RETURNS bit varying
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'code_decode';
COMMENT ON FUNCTION code_decode(text, text) IS
    'the string of bits that is written in hexadecimal digits (format hex, either case) or in base64; white space is skipped';
