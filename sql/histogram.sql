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
    'distances in a column of codes: how many other rows a search finds within each, and pairs of a random sample and all rows at it; with the column of the texts, how many of these rows are duplicates, at most how many, by how many pairs of texts, and which radius to search with';
