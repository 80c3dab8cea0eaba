-- Fingerprints of text

CREATE FUNCTION simhash(doc text, scheme text DEFAULT 'doc2') RETURNS bigint
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'simhash_pg_simhash';
COMMENT ON FUNCTION simhash(text, text) IS
    'similarity fingerprint of a text, NULL if it has no features; simhash_schemes() lists the schemes';

CREATE FUNCTION simhash_text(VARIADIC columns text[]) RETURNS text
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_pg_simhash_text';
COMMENT ON FUNCTION simhash_text(text[]) IS
    'texts joined by line breaks, as simhash_trigger joins columns; NULLs are skipped; NULL if all are NULL';
