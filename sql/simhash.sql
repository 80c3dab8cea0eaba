-- Fingerprints of text

CREATE FUNCTION simhash(doc text, scheme text DEFAULT 'doc2') RETURNS bigint
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'simhash_wrapper';
COMMENT ON FUNCTION simhash(text, text) IS
    'similarity fingerprint of a text, NULL if it has no features; schemes: doc2, doc1, simhash-doc, commoncrawl, char:1 to char:32, word:1 to word:32';

-- The default scheme was doc1 in 0.1.0. What was made there with simhash uses this function instead, and keeps its
-- meaning. The planner puts the body in its place, so an index on it also serves conditions on simhash(doc, 'doc1').
CREATE FUNCTION simhash_v0_1(doc text, scheme text DEFAULT 'doc1') RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 2000
    RETURN simhash(doc::text, scheme::text);
COMMENT ON FUNCTION simhash_v0_1(text, text) IS
    'what simhash meant in 0.1.0, with doc1 as its default, for objects that were made with it; write simhash instead';

CREATE FUNCTION simhash_text(VARIADIC columns text[]) RETURNS text
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_text_wrapper';
COMMENT ON FUNCTION simhash_text(text[]) IS
    'several texts as one, joined as simhash_trigger joins columns: by line breaks, NULLs skipped; NULL if all are';
