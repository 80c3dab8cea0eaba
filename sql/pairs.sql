-- Near-duplicates: rows that are versions of each other, and blocks of near pairs for several machines

CREATE FUNCTION near_cluster(key anyelement, code bigint, radius integer, linkage text DEFAULT 'leader') RETURNS anyelement
    LANGUAGE C WINDOW IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'simhash_pg_near_cluster_of_bigint';
COMMENT ON FUNCTION near_cluster(anyelement, bigint, integer, text) IS
    'window function: the key of the row that keeps the cluster of near-duplicates, its first in the order of the window; linkage is leader or connected, and the first row of a partition says which, and the radius';

CREATE FUNCTION near_cluster(key anyelement, code bit, radius integer, linkage text DEFAULT 'leader') RETURNS anyelement
    LANGUAGE C WINDOW IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'simhash_pg_near_cluster_of_bit';
COMMENT ON FUNCTION near_cluster(anyelement, bit, integer, text) IS
    'window function: the key of the row that keeps the cluster of near-duplicates, its first in the order of the window; linkage is leader or connected, and the first row of a partition says which, and the radius';

CREATE FUNCTION near_cluster(
    key anyelement,
    code bigint,
    radius integer,
    second_code bit,
    second_radius integer DEFAULT 50,
    linkage text DEFAULT 'leader'
)
    RETURNS anyelement
    LANGUAGE C WINDOW IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'simhash_pg_near_cluster_of_bigint_second';
COMMENT ON FUNCTION near_cluster(anyelement, bigint, integer, bit, integer, text) IS
    'window function: as near_cluster without a second code, but a row joins a keeper only if their second codes, too, differ in at most second_radius bits';

CREATE FUNCTION near_cluster(
    key anyelement,
    code bit,
    radius integer,
    second_code bit,
    second_radius integer DEFAULT 50,
    linkage text DEFAULT 'leader'
)
    RETURNS anyelement
    LANGUAGE C WINDOW IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'simhash_pg_near_cluster_of_bit_second';
COMMENT ON FUNCTION near_cluster(anyelement, bit, integer, bit, integer, text) IS
    'window function: as near_cluster without a second code, but a row joins a keeper only if their second codes, too, differ in at most second_radius bits';

CREATE FUNCTION near_blocks(code bigint, radius integer, parts integer) RETURNS integer[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_pg_near_blocks_of_bigint';
COMMENT ON FUNCTION near_blocks(bigint, integer, integer) IS
    'the blocks that a code is in: codes within the radius of each other share one or more; a block has about 1/parts of all codes, and 2/parts with a large radius';

CREATE FUNCTION near_blocks(code bit, radius integer, parts integer) RETURNS integer[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_pg_near_blocks_of_bit';
COMMENT ON FUNCTION near_blocks(bit, integer, integer) IS
    'the blocks that a code is in: codes within the radius of each other share one or more; a block has about 1/parts of all codes, and 2/parts with a large radius';

CREATE FUNCTION clusters_of_pairs(
    a anyarray,
    b anyarray,
    linkage text DEFAULT 'leader',
    OUT key anyelement,
    OUT cluster anyelement
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'simhash_pg_clusters_of_pairs';
COMMENT ON FUNCTION clusters_of_pairs(anyarray, anyarray, text) IS
    'for each key of near pairs the smallest key of its cluster; the pairs come in any order; linkage is leader or connected';
