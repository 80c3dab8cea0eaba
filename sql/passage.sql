-- Passages: text that comes twice

CREATE FUNCTION shared_passages(
    a text,
    b text,
    min_length integer DEFAULT 50,
    OUT a_pos integer,
    OUT b_pos integer,
    OUT len integer,
    OUT passage text
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 10
    AS 'MODULE_PATHNAME', 'shared_passages_wrapper';
COMMENT ON FUNCTION shared_passages(text, text, integer) IS
    'the longest passages that two texts share, or that one text has twice, of at least so many characters; positions as substr counts them';

CREATE FUNCTION recursive_shingles(
    doc text,
    min_level integer DEFAULT 1,
    max_level integer DEFAULT 12,
    OUT level integer,
    OUT hash bigint,
    OUT pos integer,
    OUT len integer
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 1000
    AS 'MODULE_PATHNAME', 'recursive_shingles_wrapper';
COMMENT ON FUNCTION recursive_shingles(text, integer, integer) IS
    'hashes of pieces of 4, 16, 64 ... characters: texts that share 6, 26, 106 ... characters share one of level 1, 2, 3 ... (Sitaker 2021)';

CREATE FUNCTION passage_sketch(doc text, min_length integer) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'passage_sketch_wrapper';
COMMENT ON FUNCTION passage_sketch(text, integer) IS
    'recursive shingles by which every text that shares so many characters is found: texts that do have a value in common';
