-- What distances mean in a table

CREATE FUNCTION hamming_histogram(
    relation regclass,
    code name,
    sample integer DEFAULT 1000,
    body name DEFAULT NULL,
    OUT distance integer,
    OUT rows double precision,
    OUT pairs bigint,
    OUT duplicates double precision,
    OUT at_most double precision,
    OUT compared bigint,
    OUT to_search boolean
)
    RETURNS SETOF record
    LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000000 ROWS 65
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_histogram';
COMMENT ON FUNCTION hamming_histogram(regclass, name, integer, name) IS
    'for each distance, how many other rows a search finds within it, how many pairs of a sampled row and another row have it, and whether it is the radius to search with; with a column of texts, also how many of these rows are duplicates, an upper bound, and the number of pairs of texts compared';
