-- What distances mean in a table

CREATE FUNCTION hamming_histogram(
    relation regclass,
    "column" name,
    sample integer DEFAULT 10000,
    OUT distance integer,
    OUT pairs bigint,
    OUT nearest bigint,
    OUT found double precision,
    OUT unrelated double precision,
    OUT recommended boolean
)
    RETURNS SETOF record
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000 ROWS 65
    AS 'MODULE_PATHNAME', 'hamming_histogram_wrapper';
COMMENT ON FUNCTION hamming_histogram(regclass, name, integer) IS
    'distances of a sample of the fingerprints in a column: of pairs, and to the nearest; rows found within each distance, how many of them are expected to be unrelated, and the recommended radius';
