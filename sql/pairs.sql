-- Near-duplicates: rows that are versions of each other, and blocks of near pairs for several machines

CREATE FUNCTION near_cluster(key anyelement, code bigint, radius integer, linkage text DEFAULT 'leader') RETURNS anyelement
    LANGUAGE C WINDOW IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'simhash_pg_near_cluster';
COMMENT ON FUNCTION near_cluster(anyelement, bigint, integer, text) IS
    'key of the first row, in window order, of the cluster of near-duplicates that contains the current row; linkage is leader or connected; radius and linkage are those of the first row of the partition';

CREATE FUNCTION near_cluster(key anyelement, code bit, radius integer, linkage text DEFAULT 'leader') RETURNS anyelement
    LANGUAGE C WINDOW IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'simhash_pg_near_cluster';
COMMENT ON FUNCTION near_cluster(anyelement, bit, integer, text) IS
    'key of the first row, in window order, of the cluster of near-duplicates that contains the current row; linkage is leader or connected; radius and linkage are those of the first row of the partition';

CREATE FUNCTION near_cluster(
    key anyelement,
    code bigint,
    radius integer,
    second_code bit,
    second_radius integer DEFAULT 30,
    linkage text DEFAULT 'leader'
)
    RETURNS anyelement
    LANGUAGE C WINDOW IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'simhash_pg_near_cluster';
COMMENT ON FUNCTION near_cluster(anyelement, bigint, integer, bit, integer, text) IS
    'like near_cluster without a second code, except that a row joins a keeper only if their second codes also differ in at most second_radius bits';

CREATE FUNCTION near_cluster(
    key anyelement,
    code bit,
    radius integer,
    second_code bit,
    second_radius integer DEFAULT 30,
    linkage text DEFAULT 'leader'
)
    RETURNS anyelement
    LANGUAGE C WINDOW IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'simhash_pg_near_cluster';
COMMENT ON FUNCTION near_cluster(anyelement, bit, integer, bit, integer, text) IS
    'like near_cluster without a second code, except that a row joins a keeper only if their second codes also differ in at most second_radius bits';

CREATE FUNCTION near_blocks(code bigint, radius integer, parts integer) RETURNS integer[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_pg_near_blocks_of_bigint';
COMMENT ON FUNCTION near_blocks(bigint, integer, integer) IS
    'blocks to which a code belongs; codes within the radius of each other have at least one block in common; a block contains about 1/parts of all codes, or 2/parts with a large radius';

CREATE FUNCTION near_blocks(code bit, radius integer, parts integer) RETURNS integer[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_pg_near_blocks_of_bit';
COMMENT ON FUNCTION near_blocks(bit, integer, integer) IS
    'blocks to which a code belongs; codes within the radius of each other have at least one block in common; a block contains about 1/parts of all codes, or 2/parts with a large radius';

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
    'the smallest key of the cluster of each key in near pairs, which can be in any order; linkage is leader or connected';
