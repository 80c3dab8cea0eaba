-- Fingerprints and codes as people and other programs write them

CREATE FUNCTION simhash_encode(code bigint, scheme text DEFAULT NULL) RETURNS text
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_pg_simhash_encode';
COMMENT ON FUNCTION simhash_encode(bigint, text) IS
    'fingerprint as 13 letters of base32, with its scheme as a prefix if it is given';

CREATE FUNCTION simhash_decode(spelling text) RETURNS bigint
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_pg_simhash_decode';
COMMENT ON FUNCTION simhash_decode(text) IS
    'reads a fingerprint in base32 (with or without a scheme), as 16 hexadecimal or 64 binary digits, or as 0x and up to 16 hexadecimal digits; 16 digits without a letter could be decimal, and require the 0x';

CREATE FUNCTION simhash_decode(number numeric) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10
    -- The cast from text raises an error if the number is not an integer, whereas a cast of the number would round it.
    RETURN pg_catalog.trim_scale(CASE WHEN $1 OPERATOR(pg_catalog.>=) 9223372036854775808 AND $1 OPERATOR(pg_catalog.<) 18446744073709551616
        THEN $1 OPERATOR(pg_catalog.-) 18446744073709551616 ELSE $1 END)::pg_catalog.text::bigint;
COMMENT ON FUNCTION simhash_decode(numeric) IS
    'reads a fingerprint that is a decimal number, signed or unsigned; other numbers, such as 1.5, are an error';

CREATE FUNCTION code_encode(code bit varying) RETURNS text
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_pg_code_encode';
COMMENT ON FUNCTION code_encode(bit varying) IS
    'bit string, whose length must be a multiple of 4, as hexadecimal digits';

CREATE FUNCTION code_decode(spelling text) RETURNS bit varying
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_pg_code_decode';
COMMENT ON FUNCTION code_decode(text) IS
    'reads a bit string from hexadecimal digits in upper or lower case; white space is skipped';
