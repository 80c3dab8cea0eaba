-- GiST: distances in an index that may have columns of other types

CREATE TYPE gist_hamming_key;

CREATE FUNCTION gist_hamming_key_in(cstring) RETURNS gist_hamming_key
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_gist_hamming_key_in';
COMMENT ON FUNCTION gist_hamming_key_in(cstring) IS 'always raises an error, because keys exist only in indexes';

CREATE FUNCTION gist_hamming_key_out(gist_hamming_key) RETURNS cstring
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_gist_hamming_key_out';
COMMENT ON FUNCTION gist_hamming_key_out(gist_hamming_key) IS
    'bits that are set in all codes of a subtree, and bits that are set in any';

CREATE TYPE gist_hamming_key (
    INPUT = gist_hamming_key_in,
    OUTPUT = gist_hamming_key_out,
    INTERNALLENGTH = 16,
    ALIGNMENT = double
);
COMMENT ON TYPE gist_hamming_key IS 'index key of gist_hamming_ops';

CREATE FUNCTION gist_hamming_consistent(internal, bigint, smallint, oid, internal) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_gist_hamming_consistent';
COMMENT ON FUNCTION gist_hamming_consistent(internal, bigint, smallint, oid, internal) IS
    'GiST support';

CREATE FUNCTION gist_hamming_union(internal, internal) RETURNS gist_hamming_key
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_gist_hamming_union';
COMMENT ON FUNCTION gist_hamming_union(internal, internal) IS 'GiST support';

CREATE FUNCTION gist_hamming_compress(internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_gist_hamming_compress';
COMMENT ON FUNCTION gist_hamming_compress(internal) IS 'GiST support';

CREATE FUNCTION gist_hamming_penalty(internal, internal, internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_gist_hamming_penalty';
COMMENT ON FUNCTION gist_hamming_penalty(internal, internal, internal) IS 'GiST support';

CREATE FUNCTION gist_hamming_picksplit(internal, internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_gist_hamming_picksplit';
COMMENT ON FUNCTION gist_hamming_picksplit(internal, internal) IS 'GiST support';

CREATE FUNCTION gist_hamming_same(gist_hamming_key, gist_hamming_key, internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_gist_hamming_same';
COMMENT ON FUNCTION gist_hamming_same(gist_hamming_key, gist_hamming_key, internal) IS 'GiST support';

CREATE FUNCTION gist_hamming_distance(internal, bigint, smallint, oid, internal) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_gist_hamming_distance';
COMMENT ON FUNCTION gist_hamming_distance(internal, bigint, smallint, oid, internal) IS
    'GiST support';

CREATE FUNCTION gist_hamming_sortsupport(internal) RETURNS void
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'simhash_pg_gist_hamming_sortsupport';
COMMENT ON FUNCTION gist_hamming_sortsupport(internal) IS 'GiST support';

-- Not the default for bigint: that is btree_gist's. It has no function to fetch values, because index-only scans of
-- GiST return rows that VACUUM has removed meanwhile.
CREATE OPERATOR CLASS gist_hamming_ops FOR TYPE bigint USING gist AS
    OPERATOR 1 <@ (bigint, hamming_ball),
    OPERATOR 2 = (bigint, bigint),
    OPERATOR 15 <~> (bigint, bigint) FOR ORDER BY pg_catalog.integer_ops,
    FUNCTION 1 gist_hamming_consistent(internal, bigint, smallint, oid, internal),
    FUNCTION 2 gist_hamming_union(internal, internal),
    FUNCTION 3 gist_hamming_compress(internal),
    FUNCTION 5 gist_hamming_penalty(internal, internal, internal),
    FUNCTION 6 gist_hamming_picksplit(internal, internal),
    FUNCTION 7 gist_hamming_same(gist_hamming_key, gist_hamming_key, internal),
    FUNCTION 8 gist_hamming_distance(internal, bigint, smallint, oid, internal),
    FUNCTION 11 gist_hamming_sortsupport(internal),
    STORAGE gist_hamming_key;
COMMENT ON OPERATOR CLASS gist_hamming_ops USING gist IS
    'search of codes by Hamming distance';
COMMENT ON OPERATOR FAMILY gist_hamming_ops USING gist IS
    'search of codes by Hamming distance';
