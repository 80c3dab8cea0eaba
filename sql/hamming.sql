-- The access method hamming: exact search by distance in an index made for it

CREATE FUNCTION hamming_handler(internal) RETURNS index_am_handler
    LANGUAGE C STRICT
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_handler';
COMMENT ON FUNCTION hamming_handler(internal) IS 'hamming index access method handler';

CREATE ACCESS METHOD hamming TYPE INDEX HANDLER hamming_handler;
COMMENT ON ACCESS METHOD hamming IS 'exact search by Hamming distance';

CREATE OPERATOR CLASS hamming_ops DEFAULT FOR TYPE bigint USING hamming AS
    OPERATOR 1 <@ (bigint, hamming_ball),
    OPERATOR 2 = (bigint, bigint),
    OPERATOR 15 <~> (bigint, bigint) FOR ORDER BY pg_catalog.integer_ops;
COMMENT ON OPERATOR CLASS hamming_ops USING hamming IS
    'search of codes by Hamming distance';
COMMENT ON OPERATOR FAMILY hamming_ops USING hamming IS
    'search of codes by Hamming distance';

CREATE OPERATOR CLASS hamming_bit_ops DEFAULT FOR TYPE bit USING hamming AS
    OPERATOR 1 <@ (bit, hamming_bit_ball),
    OPERATOR 2 = (bit, bit),
    OPERATOR 15 <^> (bit, bit) FOR ORDER BY pg_catalog.integer_ops;
COMMENT ON OPERATOR CLASS hamming_bit_ops USING hamming IS
    'search of bit strings by Hamming distance';
COMMENT ON OPERATOR FAMILY hamming_bit_ops USING hamming IS
    'search of bit strings by Hamming distance';

-- For exclusion constraints: the index finds centers, and the executor compares the balls.

CREATE OPERATOR CLASS hamming_ball_ops DEFAULT FOR TYPE hamming_ball USING hamming AS
    OPERATOR 3 ~ (hamming_ball, hamming_ball),
    -- An index on hamming_ball(si, 12) is also searched by si.
    OPERATOR 1 <@ (bigint, hamming_ball),
    OPERATOR 15 <~> (bigint, bigint) FOR ORDER BY pg_catalog.integer_ops;
COMMENT ON OPERATOR CLASS hamming_ball_ops USING hamming IS
    'balls that contain each other''s center, for exclusion constraints';
COMMENT ON OPERATOR FAMILY hamming_ball_ops USING hamming IS
    'balls that contain each other''s center, for exclusion constraints';

-- Operator classes for columns after the first, which filter rows. Columns of type bigint use hamming_ops.

ALTER OPERATOR FAMILY hamming_ops USING hamming ADD
    OPERATOR 2 = (bigint, integer),
    OPERATOR 2 = (bigint, smallint);

CREATE OPERATOR FAMILY hamming_filter_ops USING hamming;
COMMENT ON OPERATOR FAMILY hamming_filter_ops USING hamming IS
    'columns after the codes in a hamming index';

CREATE OPERATOR CLASS int2_filter_ops DEFAULT FOR TYPE smallint USING hamming FAMILY hamming_filter_ops AS
    OPERATOR 2 = (smallint, smallint),
    OPERATOR 2 = (smallint, integer),
    OPERATOR 2 = (smallint, bigint);
COMMENT ON OPERATOR CLASS int2_filter_ops USING hamming IS
    'columns of type smallint after the codes';

CREATE OPERATOR CLASS int4_filter_ops DEFAULT FOR TYPE integer USING hamming FAMILY hamming_filter_ops AS
    OPERATOR 2 = (integer, integer),
    OPERATOR 2 = (integer, smallint),
    OPERATOR 2 = (integer, bigint);
COMMENT ON OPERATOR CLASS int4_filter_ops USING hamming IS
    'columns of type integer after the codes';

CREATE OPERATOR CLASS numeric_filter_ops DEFAULT FOR TYPE numeric USING hamming FAMILY hamming_filter_ops AS
    OPERATOR 2 = (numeric, numeric);
COMMENT ON OPERATOR CLASS numeric_filter_ops USING hamming IS
    'columns of type numeric after the codes';

CREATE OPERATOR CLASS text_filter_ops DEFAULT FOR TYPE text USING hamming FAMILY hamming_filter_ops AS
    OPERATOR 2 = (text, text);
COMMENT ON OPERATOR CLASS text_filter_ops USING hamming IS
    'columns of type text after the codes';

CREATE OPERATOR CLASS bpchar_filter_ops DEFAULT FOR TYPE character USING hamming FAMILY hamming_filter_ops AS
    OPERATOR 2 = (character, character);
COMMENT ON OPERATOR CLASS bpchar_filter_ops USING hamming IS
    'columns of type character after the codes';

CREATE OPERATOR CLASS bytea_filter_ops DEFAULT FOR TYPE bytea USING hamming FAMILY hamming_filter_ops AS
    OPERATOR 2 = (bytea, bytea);
COMMENT ON OPERATOR CLASS bytea_filter_ops USING hamming IS
    'columns of type bytea after the codes';

CREATE OPERATOR CLASS uuid_filter_ops DEFAULT FOR TYPE uuid USING hamming FAMILY hamming_filter_ops AS
    OPERATOR 2 = (uuid, uuid);
COMMENT ON OPERATOR CLASS uuid_filter_ops USING hamming IS
    'columns of type uuid after the codes';

CREATE OPERATOR CLASS date_filter_ops DEFAULT FOR TYPE date USING hamming FAMILY hamming_filter_ops AS
    OPERATOR 2 = (date, date);
COMMENT ON OPERATOR CLASS date_filter_ops USING hamming IS
    'columns of type date after the codes';

CREATE OPERATOR CLASS enum_filter_ops DEFAULT FOR TYPE anyenum USING hamming FAMILY hamming_filter_ops AS
    OPERATOR 2 = (anyenum, anyenum);
COMMENT ON OPERATOR CLASS enum_filter_ops USING hamming IS
    'columns of type anyenum after the codes';

CREATE FUNCTION hamming_index_stats(
    index regclass,
    OUT rows bigint,
    OUT nulls bigint,
    OUT bits integer,
    OUT bands integer,
    OUT pages bigint,
    OUT leaf_pages bigint,
    OUT inner_pages bigint,
    OUT unused_pages bigint,
    OUT height integer,
    OUT fill real,
    OUT expected_pages integer[],
    OUT problem text
)
    RETURNS SETOF record
    LANGUAGE C STABLE STRICT PARALLEL UNSAFE COST 10000 ROWS 1
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_index_stats';
COMMENT ON FUNCTION hamming_index_stats(regclass) IS
    'contents and size of a hamming index, or its problem if it cannot be read; no row if it does not exist; a search with radius r is expected to read expected_pages[r + 1] pages';

CREATE FUNCTION hamming_index_check(
    index regclass,
    heapallindexed boolean DEFAULT false,
    OUT block bigint,
    OUT problem text
)
    RETURNS SETOF record
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000
    AS 'MODULE_PATHNAME', 'simhash_pg_hamming_index_check';
COMMENT ON FUNCTION hamming_index_check(regclass, boolean) IS
    'problems of a hamming index and their blocks; no rows if the index is sound';

CREATE VIEW hamming_indexes AS
SELECT i.indexrelid::pg_catalog.regclass AS index,
       i.indrelid::pg_catalog.regclass AS relation,
       s.rows,
       pg_catalog.pg_relation_size(i.indexrelid) AS size,
       s.fill,
       r.pages * 8192 AS size_after_reindex,
       CASE
           WHEN s.problem IS NULL THEN s.pages > 2 * r.pages AND s.pages > r.pages + 128
           -- An unlogged index has no contents on a standby server.
           ELSE NOT (c.relpersistence = 'u' AND pg_catalog.pg_is_in_recovery())
       END AS reindex,
       s.problem
FROM pg_catalog.pg_index AS i
    JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid AND c.relkind = 'i' AND NOT pg_catalog.pg_is_other_temp_schema(c.relnamespace)
    JOIN pg_catalog.pg_am AS a ON a.oid = c.relam AND a.amname = 'hamming'
    -- There is no row for an index that was dropped since the catalog was read.
    JOIN LATERAL hamming_index_stats(i.indexrelid::pg_catalog.regclass) AS s ON true
    -- 95 is the fill factor of a new index, unless one is given. Each tree has at least one page.
    -- With these casts, no other user's operator fits the types better than PostgreSQL's own.
    LEFT JOIN LATERAL (
        SELECT greatest(
            s.leaf_pages::double precision * s.fill::double precision / 0.95::double precision, (s.bands + 1)::double precision
        )::bigint
    ) AS r (pages) ON true;
COMMENT ON VIEW hamming_indexes IS
    'all hamming indexes, and whether to REINDEX them, because that would halve the size and save more than 1 MB, or because the index is damaged or invalid';

-- Each of these functions reads the whole index. The check can make writers wait.
REVOKE ALL ON FUNCTION hamming_index_stats(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hamming_index_stats(regclass) TO pg_stat_scan_tables;
GRANT SELECT ON hamming_indexes TO pg_stat_scan_tables;
REVOKE ALL ON FUNCTION hamming_index_check(regclass, boolean) FROM PUBLIC;
