-- What distances mean in a table

CREATE FUNCTION hamming_histogram(
    relation regclass,
    code name,
    sample integer DEFAULT 10000,
    body name DEFAULT NULL,
    OUT distance integer,
    OUT pairs bigint,
    OUT nearest bigint,
    OUT found double precision,
    OUT unrelated double precision,
    OUT kept double precision,
    OUT to_search boolean,
    OUT to_delete boolean,
    OUT to_check boolean,
    OUT reason text
)
    RETURNS SETOF record
    LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000000 ROWS 65
    AS 'MODULE_PATHNAME', 'hamming_histogram_wrapper';
COMMENT ON FUNCTION hamming_histogram(regclass, name, integer, name) IS
    'distances in a column of codes, of a random sample of the rows: of pairs, and to the nearest; rows found within each distance, how many of them are unrelated, and which radius to search and which to delete with; with the column of the texts, unrelated rows are measured, and how many rows a second look keeps within which radius';
