-- How near texts differ

CREATE FUNCTION near_differences(
    relation regclass,
    code name,
    body name,
    radius integer,
    key name DEFAULT 'id',
    sample integer DEFAULT 1000,
    OUT feature text,
    OUT pairs bigint,
    OUT share double precision,
    OUT of_all double precision,
    OUT a text,
    OUT b text
)
    RETURNS SETOF record
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000 ROWS 1000
    AS 'MODULE_PATHNAME', 'simhash_pg_differences_of_table';
COMMENT ON FUNCTION near_differences(regclass, name, name, integer, name, integer) IS
    'words that only one text of a near pair contains, in a sample of pairs: the number and share of these pairs, the share of all differences up to this one, and the keys of one such pair; # stands for any number';

CREATE FUNCTION near_differences(
    a text,
    b text,
    scheme text DEFAULT 'word:1',
    OUT feature text,
    OUT side text
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 20
    AS 'MODULE_PATHNAME', 'simhash_pg_differences_of_texts';
COMMENT ON FUNCTION near_differences(text, text, text) IS
    'distinct features that only one of two texts has, and which one has it, a or b; # stands for any number';
