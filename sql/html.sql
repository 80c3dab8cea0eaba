-- Text of documents in HTML

CREATE FUNCTION extract_text(html text) RETURNS text
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'simhash_pg_extract_text';
COMMENT ON FUNCTION extract_text(text) IS
    'text of an HTML document as readers see it, without markup, scripts, styles and metadata';
