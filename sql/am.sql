-- The access method hamming: exact search by distance in an index made for it

CREATE FUNCTION hamming_handler(internal) RETURNS index_am_handler
    LANGUAGE C STRICT
    AS 'MODULE_PATHNAME', 'hamming_handler';
COMMENT ON FUNCTION hamming_handler(internal) IS 'handler of the access method hamming';

CREATE ACCESS METHOD hamming TYPE INDEX HANDLER hamming_handler;
COMMENT ON ACCESS METHOD hamming IS 'exact search of fingerprints by Hamming distance';

CREATE OPERATOR CLASS hamming_ops DEFAULT FOR TYPE bigint USING hamming AS
    OPERATOR 1 <@ (bigint, hamming_ball),
    OPERATOR 2 = (bigint, bigint),
    OPERATOR 15 <~> (bigint, bigint) FOR ORDER BY pg_catalog.integer_ops;
COMMENT ON OPERATOR CLASS hamming_ops USING hamming IS
    'fingerprints by Hamming distance';
COMMENT ON OPERATOR FAMILY hamming_ops USING hamming IS
    'fingerprints by Hamming distance';

CREATE OPERATOR CLASS hamming_bit_ops DEFAULT FOR TYPE bit USING hamming AS
    OPERATOR 1 <@ (bit, hamming_bit_ball),
    OPERATOR 2 = (bit, bit),
    OPERATOR 15 <^> (bit, bit) FOR ORDER BY pg_catalog.integer_ops;
COMMENT ON OPERATOR CLASS hamming_bit_ops USING hamming IS
    'strings of bits by Hamming distance';
COMMENT ON OPERATOR FAMILY hamming_bit_ops USING hamming IS
    'strings of bits by Hamming distance';

CREATE FUNCTION hamming_index_stats(
    index regclass,
    OUT rows bigint,
    OUT nulls bigint,
    OUT bands integer,
    OUT pages bigint,
    OUT leaf_pages bigint,
    OUT inner_pages bigint,
    OUT unused_pages bigint,
    OUT height integer,
    OUT fill real,
    OUT expected_pages integer[]
)
    RETURNS SETOF record
    LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000 ROWS 1
    AS 'MODULE_PATHNAME', 'hamming_index_stats_wrapper';
COMMENT ON FUNCTION hamming_index_stats(regclass) IS
    'what an index of type hamming consists of; expected_pages[r + 1] are read at radius r';

CREATE FUNCTION hamming_index_check(
    index regclass,
    heapallindexed boolean DEFAULT false,
    OUT block bigint,
    OUT problem text
)
    RETURNS SETOF record
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000
    AS 'MODULE_PATHNAME', 'hamming_index_check_wrapper';
COMMENT ON FUNCTION hamming_index_check(regclass, boolean) IS
    'what is wrong with an index of type hamming, and in which block: no row if nothing is';
-- Both read all of the index, and the second keeps writers waiting.
REVOKE ALL ON FUNCTION hamming_index_stats(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hamming_index_stats(regclass) TO pg_stat_scan_tables;
REVOKE ALL ON FUNCTION hamming_index_check(regclass, boolean) FROM PUBLIC;
