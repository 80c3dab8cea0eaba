-- Passages: text that occurs more than once

CREATE FUNCTION shared_passages(
    a text,
    b text,
    min_length integer DEFAULT 50,
    OUT a_pos integer,
    OUT b_pos integer,
    OUT length integer,
    OUT passage text
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 10
    AS 'MODULE_PATHNAME', 'simhash_pg_shared_passages';
COMMENT ON FUNCTION shared_passages(text, text, integer) IS
    'longest passages of at least min_length characters that two texts have in common; positions count from 1, as for substr';

CREATE FUNCTION recursive_shingles(
    doc text,
    min_level integer DEFAULT 1,
    max_level integer DEFAULT 12,
    OUT level integer,
    OUT hash bigint,
    OUT pos integer,
    OUT length integer
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 1000
    AS 'MODULE_PATHNAME', 'simhash_pg_recursive_shingles';
COMMENT ON FUNCTION recursive_shingles(text, integer, integer) IS
    'hashes of pieces of 4, 16, 64 ... characters: texts that share 6, 26, 106 ... characters share one of level 1, 2, 3 ... (Sitaker 2021)';

CREATE FUNCTION passage_sketch(doc text, min_length integer) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'simhash_pg_passage_sketch';
COMMENT ON FUNCTION passage_sketch(text, integer) IS
    'recursive shingles of a text, chosen such that texts that share min_length characters have a value in common';

CREATE FUNCTION repeated_passages(
    query text,
    min_length integer DEFAULT 100,
    OUT document bigint,
    OUT pos integer,
    OUT length integer,
    OUT first_document bigint,
    OUT first_pos integer
)
    RETURNS SETOF record
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000 ROWS 1000
    AS 'MODULE_PATHNAME', 'simhash_pg_repeated_passages';
COMMENT ON FUNCTION repeated_passages(text, integer) IS
    'all passages of at least min_length characters that occurred earlier in the documents of a query, which returns keys and texts, and where each first occurred; positions count from 1, as for substr';

CREATE FUNCTION repeated_passages(
    query text,
    min_length integer,
    key anyelement,
    OUT document anyelement,
    OUT pos integer,
    OUT length integer,
    OUT first_document anyelement,
    OUT first_pos integer
)
    RETURNS SETOF record
    LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000000 ROWS 1000
    AS 'MODULE_PATHNAME', 'simhash_pg_repeated_passages_of_keys';
COMMENT ON FUNCTION repeated_passages(text, integer, anyelement) IS
    'repeated_passages for keys of a type other than bigint, which is that of the third argument, such as NULL::uuid';

CREATE FUNCTION passage_headline(doc text, other text, min_length integer DEFAULT 50, options text DEFAULT '') RETURNS text
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'simhash_pg_passage_headline';
COMMENT ON FUNCTION passage_headline(text, text, integer, text) IS
    'first text with all passages of at least min_length characters marked that the second text contains as well; options are written as for ts_headline';
