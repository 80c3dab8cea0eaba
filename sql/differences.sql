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
    'the words that one text of a near pair has and the other has not, in a sample of pairs: in how many pairs and in which share, which part of all differences this one and the more frequent ones make, and the keys of a pair; # is any number';

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
    'the distinct features that one of two texts has and the other has not, and which one has it, a or b; # is any number';
