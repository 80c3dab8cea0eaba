-- Which rows are near-duplicates of which

CREATE FUNCTION simhash_cluster(key anyelement, si bigint, radius integer, linkage text DEFAULT 'leader') RETURNS anyelement
    LANGUAGE C WINDOW IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'simhash_cluster';
COMMENT ON FUNCTION simhash_cluster(anyelement, bigint, integer, text) IS
    'window function: the key of the row that keeps the cluster of near-duplicates, its first in the order of the window; linkage is leader or connected, and the first row of a partition says which, and the radius';

CREATE FUNCTION simhash_clusters(
    ids bigint[],
    fingerprints bigint[],
    radius integer,
    linkage text DEFAULT 'leader',
    OUT id bigint,
    OUT cluster bigint
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'simhash_clusters_wrapper';
COMMENT ON FUNCTION simhash_clusters(bigint[], bigint[], integer, text) IS
    'for each id the smallest id of its cluster of near-duplicates; linkage is leader or connected';

CREATE FUNCTION hamming_pairs(
    ids bigint[],
    fingerprints bigint[],
    radius integer,
    OUT a bigint,
    OUT b bigint,
    OUT distance integer
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'hamming_pairs_wrapper';
COMMENT ON FUNCTION hamming_pairs(bigint[], bigint[], integer) IS
    'all pairs of ids, the smaller first, whose fingerprints differ in at most radius bits';

-- The same for strings of bits. They have names of their own: an untyped literal or parameter in place of codes, as in
-- hamming_pairs('{1,2}', '{0,7}', 3), would fit bigint as well as bit, and be refused.
CREATE FUNCTION hamming_bit_cluster(key anyelement, code bit, radius integer, linkage text DEFAULT 'leader') RETURNS anyelement
    LANGUAGE C WINDOW IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'hamming_bit_cluster';
COMMENT ON FUNCTION hamming_bit_cluster(anyelement, bit, integer, text) IS
    'window function: the key of the row that keeps the cluster of near-duplicates, its first in the order of the window; linkage is leader or connected, and the first row of a partition says which, and the radius';

CREATE FUNCTION hamming_bit_clusters(
    ids bigint[],
    codes bit[],
    radius integer,
    linkage text DEFAULT 'leader',
    OUT id bigint,
    OUT cluster bigint
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'hamming_bit_clusters';
COMMENT ON FUNCTION hamming_bit_clusters(bigint[], bit[], integer, text) IS
    'for each id the smallest id of its cluster of near-duplicates; linkage is leader or connected';

CREATE FUNCTION hamming_bit_pairs(
    ids bigint[],
    codes bit[],
    radius integer,
    OUT a bigint,
    OUT b bigint,
    OUT distance integer
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'hamming_bit_pairs';
COMMENT ON FUNCTION hamming_bit_pairs(bigint[], bit[], integer) IS
    'all pairs of ids, the smaller first, whose strings of bits differ in at most radius bits';
