-- Fingerprints of text

CREATE FUNCTION simhash(doc text, scheme text DEFAULT 'doc1') RETURNS bigint
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'simhash_wrapper';
COMMENT ON FUNCTION simhash(text, text) IS
    'similarity fingerprint of a text, NULL if it has no features; schemes: doc1, commoncrawl, char:1 to char:32, word:1 to word:32';
