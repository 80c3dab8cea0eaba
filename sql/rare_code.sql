-- A second code of texts, of their rare pairs of words

CREATE FUNCTION rare_code(doc text, weights bytea) RETURNS bit
    LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE COST 5000
    RETURN CAST(minhash_bits(doc, 256, weights) AS bit(256));
COMMENT ON FUNCTION rare_code(text, bytea) IS
    '256-bit code of a text; the fewer rare features two texts have in common, the more bits differ; NULL if no feature of the text has a weight';

-- The result of a function has no length, unless its type is a domain.
CREATE DOMAIN rare_code AS bit(256);
COMMENT ON DOMAIN rare_code IS 'result of the functions that create_rare_code creates: a code of 256 bits';

CREATE FUNCTION create_rare_code(name name, source regclass, body name) RETURNS regprocedure
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000
    AS 'MODULE_PATHNAME', 'simhash_pg_create_rare_code';
COMMENT ON FUNCTION create_rare_code(name, regclass, name) IS
    'creates a function with this name that returns the rare_code of a text, with the weights of pairs of words in some 20,000 random texts of a column';
