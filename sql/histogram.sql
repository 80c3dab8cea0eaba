-- What distances mean in a table

CREATE FUNCTION hamming_histogram(
    relation regclass,
    code name,
    sample integer DEFAULT 10000,
    body name DEFAULT NULL,
    OUT distance integer,
    OUT rows double precision,
    OUT pairs bigint,
    OUT alike double precision,
    OUT compared bigint,
    OUT to_search boolean,
    OUT reason text
)
    RETURNS SETOF record
    LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000000 ROWS 65
    AS 'MODULE_PATHNAME', 'hamming_histogram_wrapper';
COMMENT ON FUNCTION hamming_histogram(regclass, name, integer, name) IS
    'distances in a column of codes: how many other rows a search finds within each, and pairs of a random sample at it; with the column of the texts, how many of these rows have texts alike, by how many pairs of texts, and which radius to search with';
