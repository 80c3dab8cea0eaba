-- Near pairs in parts, with keys of any type, and clusters of such pairs

CREATE FUNCTION hamming_blocks(si bigint, radius integer, parts integer) RETURNS integer[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'hamming_blocks_wrapper';
COMMENT ON FUNCTION hamming_blocks(bigint, integer, integer) IS
    'the blocks of near_pairs that a fingerprint has to be in; a block has about 1/parts of all fingerprints, and 2/parts with a large radius';

CREATE FUNCTION hamming_bit_blocks(code bit, radius integer, parts integer) RETURNS integer[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'hamming_bit_blocks';
COMMENT ON FUNCTION hamming_bit_blocks(bit, integer, integer) IS
    'the blocks of near_bit_pairs that a string of bits has to be in; a block has about 1/parts of all strings, and 2/parts with a large radius';

CREATE FUNCTION near_pairs(
    keys anyarray,
    fingerprints bigint[],
    radius integer,
    parts integer DEFAULT 1,
    block integer DEFAULT 0,
    OUT a anyelement,
    OUT b anyelement,
    OUT distance integer
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'near_pairs';
COMMENT ON FUNCTION near_pairs(anyarray, bigint[], integer, integer, integer) IS
    'all pairs of keys, the smaller first, whose fingerprints differ in at most radius bits; of several parts, those that belong to a block of hamming_blocks';

CREATE FUNCTION near_bit_pairs(
    keys anyarray,
    codes bit[],
    radius integer,
    parts integer DEFAULT 1,
    block integer DEFAULT 0,
    OUT a anyelement,
    OUT b anyelement,
    OUT distance integer
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'near_bit_pairs';
COMMENT ON FUNCTION near_bit_pairs(anyarray, bit[], integer, integer, integer) IS
    'all pairs of keys, the smaller first, whose strings of bits differ in at most radius bits; of several parts, those that belong to a block of hamming_bit_blocks';

CREATE FUNCTION clusters_of_pairs(
    a anyarray,
    b anyarray,
    linkage text DEFAULT 'leader',
    OUT id anyelement,
    OUT cluster anyelement
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'clusters_of_pairs';
COMMENT ON FUNCTION clusters_of_pairs(anyarray, anyarray, text) IS
    'for each key of near pairs the smallest key of its cluster; the pairs come in any order; linkage is leader or connected';
