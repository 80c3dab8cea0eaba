\echo Use "CREATE EXTENSION simhash_pg" to load this file. \quit

-- Planner support of the functions on distances and on sketches, and functions that the planner puts into queries

CREATE FUNCTION hamming_support(internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_support';
COMMENT ON FUNCTION hamming_support(internal) IS
    'planner support: turns hamming(a, b) into a <~> b, which indexes can order by';

CREATE FUNCTION hamming_within_support(internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_within_support';
COMMENT ON FUNCTION hamming_within_support(internal) IS
    'planner support: index conditions and selectivity of hamming_within(a, b, radius)';

CREATE FUNCTION sketch_support(internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'sketch_support';
COMMENT ON FUNCTION sketch_support(internal) IS
    'planner support: index conditions, selectivity and cost of comparisons of sketches';

CREATE FUNCTION hamming_ball_sel(internal, oid, internal, integer) RETURNS double precision
    LANGUAGE C STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_ball_sel';
COMMENT ON FUNCTION hamming_ball_sel(internal, oid, internal, integer) IS
    'restriction selectivity of bigint <@ hamming_ball';

CREATE FUNCTION hamming_ball_joinsel(internal, oid, internal, smallint, internal) RETURNS double precision
    LANGUAGE C STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_ball_joinsel';
COMMENT ON FUNCTION hamming_ball_joinsel(internal, oid, internal, smallint, internal) IS
    'join selectivity of bigint <@ hamming_ball';

-- Servers that share a query (postgres_fdw) send these to each other, so their names and meanings never change.
CREATE FUNCTION hamming_radius_le(bigint) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_le';
COMMENT ON FUNCTION hamming_radius_le(bigint) IS
    'the radius of all distances <= this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_le(double precision) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_le_float8';
COMMENT ON FUNCTION hamming_radius_le(double precision) IS
    'the radius of all distances <= this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_le(numeric) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_le_numeric';
COMMENT ON FUNCTION hamming_radius_le(numeric) IS
    'the radius of all distances <= this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_lt(bigint) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_lt';
COMMENT ON FUNCTION hamming_radius_lt(bigint) IS
    'the radius of all distances < this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_lt(double precision) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_lt_float8';
COMMENT ON FUNCTION hamming_radius_lt(double precision) IS
    'the radius of all distances < this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_lt(numeric) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_lt_numeric';
COMMENT ON FUNCTION hamming_radius_lt(numeric) IS
    'the radius of all distances < this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_ge(double precision) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_ge';
COMMENT ON FUNCTION hamming_radius_ge(double precision) IS
    'the radius of all similarities >= this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_gt(double precision) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_gt';
COMMENT ON FUNCTION hamming_radius_gt(double precision) IS
    'the radius of all similarities > this number; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_ge(double precision, bit) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_ge_bits';
COMMENT ON FUNCTION hamming_radius_ge(double precision, bit) IS
    'the radius of all similarities >= this number, for strings as long as this one; the planner puts it into conditions, also those sent to other servers';

CREATE FUNCTION hamming_radius_gt(double precision, bit) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_gt_bits';
COMMENT ON FUNCTION hamming_radius_gt(double precision, bit) IS
    'the radius of all similarities > this number, for strings as long as this one; the planner puts it into conditions, also those sent to other servers';

-- Codes: bigint, such as fingerprints of texts, and bit(n), such as perceptual hashes of images. Functions that take
-- bit take bit varying, too.

-- Distances

CREATE FUNCTION hamming(a bigint, b bigint) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1 SUPPORT hamming_support
    AS 'MODULE_PATHNAME', 'hamming_wrapper';
COMMENT ON FUNCTION hamming(bigint, bigint) IS
    'number of bits in which two codes differ, 0 to 64';

CREATE FUNCTION hamming(a bit, b bit) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1 SUPPORT hamming_support
    AS 'MODULE_PATHNAME', 'hamming_bits';
COMMENT ON FUNCTION hamming(bit, bit) IS
    'number of bits in which two strings of one length differ';

CREATE FUNCTION hamming_within(a bigint, b bigint, radius integer) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1 SUPPORT hamming_within_support
    AS 'MODULE_PATHNAME', 'hamming_within_wrapper';
COMMENT ON FUNCTION hamming_within(bigint, bigint, integer) IS
    'whether two codes differ in at most radius bits';

CREATE FUNCTION hamming_within(a bit, b bit, radius integer) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1 SUPPORT hamming_within_support
    AS 'MODULE_PATHNAME', 'hamming_bits_within';
COMMENT ON FUNCTION hamming_within(bit, bit, integer) IS
    'whether two strings of one length differ in at most radius bits';

CREATE FUNCTION hamming_similarity(a bigint, b bigint) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1 SUPPORT hamming_support
    AS 'MODULE_PATHNAME', 'hamming_similarity_wrapper';
COMMENT ON FUNCTION hamming_similarity(bigint, bigint) IS
    'share of equal bits of two codes, 0 to 1';

CREATE FUNCTION hamming_similarity(a bit, b bit) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1 SUPPORT hamming_support
    AS 'MODULE_PATHNAME', 'hamming_bits_similarity';
COMMENT ON FUNCTION hamming_similarity(bit, bit) IS
    'share of equal bits of two strings of one length, 0 to 1; 1 if they are empty';

CREATE FUNCTION hamming_radius(similarity double precision, bits integer DEFAULT 64) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'hamming_radius_wrapper';
COMMENT ON FUNCTION hamming_radius(double precision, integer) IS
    'largest distance at which codes of this number of bits have at least this share of equal bits: 0.90 gives 6, of 256 bits 25';

-- Not an overload of hamming: arguments without a type would be text.
CREATE FUNCTION ham_dist(a text, b text) RETURNS integer
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'ham_dist_wrapper';
COMMENT ON FUNCTION ham_dist(text, text) IS
    'number of characters in which two strings differ, the shorter one padded with blanks';

-- The planner turns hamming into these operators. The operator <~> of bit belongs to the extension vector.
CREATE OPERATOR <~> (
    LEFTARG = bigint,
    RIGHTARG = bigint,
    FUNCTION = hamming,
    COMMUTATOR = <~>
);
COMMENT ON OPERATOR <~> (bigint, bigint) IS
    'number of bits in which two codes differ';

CREATE OPERATOR <^> (
    LEFTARG = bit,
    RIGHTARG = bit,
    FUNCTION = hamming,
    COMMUTATOR = <^>
);
COMMENT ON OPERATOR <^> (bit, bit) IS
    'number of bits in which two strings of one length differ';

-- Balls: all codes within a radius of a center. Index conditions are made of them.

CREATE TYPE hamming_ball;

CREATE FUNCTION hamming_ball_in(cstring) RETURNS hamming_ball
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_ball_in';
COMMENT ON FUNCTION hamming_ball_in(cstring) IS 'text input, <center,radius>';

CREATE FUNCTION hamming_ball_out(hamming_ball) RETURNS cstring
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_ball_out';
COMMENT ON FUNCTION hamming_ball_out(hamming_ball) IS 'text output';

CREATE FUNCTION hamming_ball_recv(internal) RETURNS hamming_ball
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_ball_recv';
COMMENT ON FUNCTION hamming_ball_recv(internal) IS 'binary input';

CREATE FUNCTION hamming_ball_send(hamming_ball) RETURNS bytea
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_ball_send';
COMMENT ON FUNCTION hamming_ball_send(hamming_ball) IS 'binary output';

CREATE TYPE hamming_ball (
    INPUT = hamming_ball_in,
    OUTPUT = hamming_ball_out,
    RECEIVE = hamming_ball_recv,
    SEND = hamming_ball_send,
    INTERNALLENGTH = 16,
    ALIGNMENT = double
);
COMMENT ON TYPE hamming_ball IS
    'all codes within a radius of a center, written <center,radius>';

CREATE TYPE hamming_bit_ball;

CREATE FUNCTION hamming_bit_ball_in(cstring) RETURNS hamming_bit_ball
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_bit_ball_in';
COMMENT ON FUNCTION hamming_bit_ball_in(cstring) IS 'text input, <center,radius>';

CREATE FUNCTION hamming_bit_ball_out(hamming_bit_ball) RETURNS cstring
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_bit_ball_out';
COMMENT ON FUNCTION hamming_bit_ball_out(hamming_bit_ball) IS 'text output';

CREATE FUNCTION hamming_bit_ball_recv(internal) RETURNS hamming_bit_ball
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_bit_ball_recv';
COMMENT ON FUNCTION hamming_bit_ball_recv(internal) IS 'binary input';

CREATE FUNCTION hamming_bit_ball_send(hamming_bit_ball) RETURNS bytea
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'hamming_bit_ball_send';
COMMENT ON FUNCTION hamming_bit_ball_send(hamming_bit_ball) IS 'binary output';

CREATE TYPE hamming_bit_ball (
    INPUT = hamming_bit_ball_in,
    OUTPUT = hamming_bit_ball_out,
    RECEIVE = hamming_bit_ball_recv,
    SEND = hamming_bit_ball_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = extended
);
COMMENT ON TYPE hamming_bit_ball IS
    'all strings of bits within a radius of a center, written <center,radius>';

CREATE FUNCTION hamming_ball(center bigint, radius integer) RETURNS hamming_ball
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_ball';
COMMENT ON FUNCTION hamming_ball(bigint, integer) IS
    'all codes within a radius of a center';

CREATE FUNCTION hamming_ball(center bit, radius integer) RETURNS hamming_bit_ball
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'hamming_bit_ball';
COMMENT ON FUNCTION hamming_ball(bit, integer) IS
    'all strings of bits within a radius of a center';

CREATE FUNCTION hamming_ball_contained(bigint, hamming_ball) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_ball_contained';
COMMENT ON FUNCTION hamming_ball_contained(bigint, hamming_ball) IS 'implementation of <@';

CREATE FUNCTION hamming_ball_contained(bit, hamming_bit_ball) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'hamming_bit_ball_contained';
COMMENT ON FUNCTION hamming_ball_contained(bit, hamming_bit_ball) IS 'implementation of <@';

CREATE FUNCTION hamming_ball_near(hamming_ball, hamming_ball) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'hamming_ball_near';
COMMENT ON FUNCTION hamming_ball_near(hamming_ball, hamming_ball) IS 'implementation of ~';

CREATE OPERATOR <@ (
    LEFTARG = bigint,
    RIGHTARG = hamming_ball,
    FUNCTION = hamming_ball_contained,
    RESTRICT = hamming_ball_sel,
    JOIN = hamming_ball_joinsel
);
COMMENT ON OPERATOR <@ (bigint, hamming_ball) IS 'is the code within the ball?';

CREATE OPERATOR <@ (
    LEFTARG = bit,
    RIGHTARG = hamming_bit_ball,
    FUNCTION = hamming_ball_contained,
    RESTRICT = hamming_ball_sel,
    JOIN = hamming_ball_joinsel
);
COMMENT ON OPERATOR <@ (bit, hamming_bit_ball) IS 'is the string within the ball?';

CREATE OPERATOR ~ (
    LEFTARG = hamming_ball,
    RIGHTARG = hamming_ball,
    FUNCTION = hamming_ball_near,
    COMMUTATOR = ~,
    RESTRICT = contsel,
    JOIN = contjoinsel
);
COMMENT ON OPERATOR ~ (hamming_ball, hamming_ball) IS
    'does each ball contain the other''s center?';

-- GiST: distances in an index that may have columns of other types

CREATE TYPE gist_hamming_key;

CREATE FUNCTION gist_hamming_key_in(cstring) RETURNS gist_hamming_key
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_key_in';
COMMENT ON FUNCTION gist_hamming_key_in(cstring) IS 'always an error: keys exist in indexes only';

CREATE FUNCTION gist_hamming_key_out(gist_hamming_key) RETURNS cstring
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_key_out';
COMMENT ON FUNCTION gist_hamming_key_out(gist_hamming_key) IS
    'bits that all codes of a subtree have, and bits that any has';

CREATE TYPE gist_hamming_key (
    INPUT = gist_hamming_key_in,
    OUTPUT = gist_hamming_key_out,
    INTERNALLENGTH = 16,
    ALIGNMENT = double
);
COMMENT ON TYPE gist_hamming_key IS 'key of GiST indexes on codes';

CREATE FUNCTION gist_hamming_consistent(internal, bigint, smallint, oid, internal) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_consistent';
COMMENT ON FUNCTION gist_hamming_consistent(internal, bigint, smallint, oid, internal) IS
    'GiST support';

CREATE FUNCTION gist_hamming_union(internal, internal) RETURNS gist_hamming_key
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_union';
COMMENT ON FUNCTION gist_hamming_union(internal, internal) IS 'GiST support';

CREATE FUNCTION gist_hamming_compress(internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_compress';
COMMENT ON FUNCTION gist_hamming_compress(internal) IS 'GiST support';

CREATE FUNCTION gist_hamming_fetch(internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_fetch';
COMMENT ON FUNCTION gist_hamming_fetch(internal) IS 'GiST support';

CREATE FUNCTION gist_hamming_penalty(internal, internal, internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_penalty';
COMMENT ON FUNCTION gist_hamming_penalty(internal, internal, internal) IS 'GiST support';

CREATE FUNCTION gist_hamming_picksplit(internal, internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_picksplit';
COMMENT ON FUNCTION gist_hamming_picksplit(internal, internal) IS 'GiST support';

CREATE FUNCTION gist_hamming_same(gist_hamming_key, gist_hamming_key, internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_same';
COMMENT ON FUNCTION gist_hamming_same(gist_hamming_key, gist_hamming_key, internal) IS 'GiST support';

CREATE FUNCTION gist_hamming_distance(internal, bigint, smallint, oid, internal) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_distance';
COMMENT ON FUNCTION gist_hamming_distance(internal, bigint, smallint, oid, internal) IS
    'GiST support';

CREATE FUNCTION gist_hamming_sortsupport(internal) RETURNS void
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gist_hamming_sortsupport';
COMMENT ON FUNCTION gist_hamming_sortsupport(internal) IS 'GiST support';

-- Not the default for bigint: that is btree_gist's.
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
    FUNCTION 9 gist_hamming_fetch(internal),
    FUNCTION 11 gist_hamming_sortsupport(internal),
    STORAGE gist_hamming_key;
COMMENT ON OPERATOR CLASS gist_hamming_ops USING gist IS
    'codes by Hamming distance';
COMMENT ON OPERATOR FAMILY gist_hamming_ops USING gist IS
    'codes by Hamming distance';

-- The access method hamming: exact search by distance in an index made for it

CREATE FUNCTION hamming_handler(internal) RETURNS index_am_handler
    LANGUAGE C STRICT
    AS 'MODULE_PATHNAME', 'hamming_handler';
COMMENT ON FUNCTION hamming_handler(internal) IS 'handler of the access method hamming';

CREATE ACCESS METHOD hamming TYPE INDEX HANDLER hamming_handler;
COMMENT ON ACCESS METHOD hamming IS 'exact search of codes by Hamming distance';

CREATE OPERATOR CLASS hamming_ops DEFAULT FOR TYPE bigint USING hamming AS
    OPERATOR 1 <@ (bigint, hamming_ball),
    OPERATOR 2 = (bigint, bigint),
    OPERATOR 15 <~> (bigint, bigint) FOR ORDER BY pg_catalog.integer_ops;
COMMENT ON OPERATOR CLASS hamming_ops USING hamming IS
    'codes by Hamming distance';
COMMENT ON OPERATOR FAMILY hamming_ops USING hamming IS
    'codes by Hamming distance';

CREATE OPERATOR CLASS hamming_bit_ops DEFAULT FOR TYPE bit USING hamming AS
    OPERATOR 1 <@ (bit, hamming_bit_ball),
    OPERATOR 2 = (bit, bit),
    OPERATOR 15 <^> (bit, bit) FOR ORDER BY pg_catalog.integer_ops;
COMMENT ON OPERATOR CLASS hamming_bit_ops USING hamming IS
    'strings of bits by Hamming distance';
COMMENT ON OPERATOR FAMILY hamming_bit_ops USING hamming IS
    'strings of bits by Hamming distance';

-- For exclusion constraints: the index finds centers, and the executor compares the balls.

CREATE OPERATOR CLASS hamming_ball_ops DEFAULT FOR TYPE hamming_ball USING hamming AS
    OPERATOR 3 ~ (hamming_ball, hamming_ball);
COMMENT ON OPERATOR CLASS hamming_ball_ops USING hamming IS
    'balls that contain each other''s centers, for exclusion constraints';
COMMENT ON OPERATOR FAMILY hamming_ball_ops USING hamming IS
    'balls that contain each other''s centers, for exclusion constraints';

-- Operator classes for columns after the first, which filter rows. Columns of type bigint use hamming_ops.

ALTER OPERATOR FAMILY hamming_ops USING hamming ADD
    OPERATOR 2 = (bigint, integer),
    OPERATOR 2 = (bigint, smallint);

CREATE OPERATOR FAMILY hamming_filter_ops USING hamming;
COMMENT ON OPERATOR FAMILY hamming_filter_ops USING hamming IS
    'further columns of an index of codes';

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

CREATE VIEW hamming_indexes AS
SELECT i.indexrelid::pg_catalog.regclass AS index,
       i.indrelid::pg_catalog.regclass AS relation,
       s.rows,
       pg_catalog.pg_relation_size(i.indexrelid) AS size,
       s.fill,
       r.pages * 8192 AS size_after_reindex,
       NOT i.indisvalid OR s.pages > 2 * r.pages AND s.pages > r.pages + 128 AS reindex
FROM pg_catalog.pg_index AS i
    JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid AND c.relkind = 'i' AND NOT pg_catalog.pg_is_other_temp_schema(c.relnamespace)
    JOIN pg_catalog.pg_am AS a ON a.oid = c.relam AND a.amname = 'hamming'
    LEFT JOIN LATERAL hamming_index_stats(CASE WHEN i.indisvalid THEN i.indexrelid::pg_catalog.regclass END) AS s ON true
    -- 95 is the fill factor of a new index, unless one is given. Each tree has at least one page.
    -- With these casts, no other user's operator fits the types better than PostgreSQL's own.
    LEFT JOIN LATERAL (
        SELECT greatest(
            s.leaf_pages::double precision * s.fill::double precision / 0.95::double precision, (s.bands + 1)::double precision
        )::bigint
    ) AS r (pages) ON true;
COMMENT ON VIEW hamming_indexes IS
    'all indexes of type hamming, and whether REINDEX is due: it would halve the size and save more than 1 MB, or the index is not valid';

-- Each of these functions reads the whole index. The check can make writers wait.
REVOKE ALL ON FUNCTION hamming_index_stats(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hamming_index_stats(regclass) TO pg_stat_scan_tables;
GRANT SELECT ON hamming_indexes TO pg_stat_scan_tables;
REVOKE ALL ON FUNCTION hamming_index_check(regclass, boolean) FROM PUBLIC;

-- Fingerprints of text

CREATE FUNCTION simhash(doc text, scheme text DEFAULT 'doc2') RETURNS bigint
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'simhash_wrapper';
COMMENT ON FUNCTION simhash(text, text) IS
    'similarity fingerprint of a text, NULL if it has no features; simhash_schemes() lists the schemes';

CREATE FUNCTION simhash_text(VARIADIC columns text[]) RETURNS text
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_text_wrapper';
COMMENT ON FUNCTION simhash_text(text[]) IS
    'several texts as one, joined as simhash_trigger joins columns: by line breaks, NULLs skipped; NULL if all are';

-- Fingerprints of features that the caller provides

CREATE FUNCTION simhash(features text[], weights double precision[] DEFAULT NULL) RETURNS bigint
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 500
    AS 'MODULE_PATHNAME', 'simhash_of_features_wrapper';
COMMENT ON FUNCTION simhash(text[], double precision[]) IS
    'similarity fingerprint of features, each with its weight or 1; NULL if they have no weight';

-- Servers that share rows (Citus) send the state to each other, so its format never changes.
CREATE FUNCTION simhash_agg_add(state bytea, feature text, weight double precision) RETURNS bytea
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_agg_add_weighted_wrapper';
COMMENT ON FUNCTION simhash_agg_add(bytea, text, double precision) IS 'of the aggregate simhash_agg: takes a feature and its weight';

CREATE FUNCTION simhash_agg_combine(state bytea, other bytea) RETURNS bytea
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_agg_combine_wrapper';
COMMENT ON FUNCTION simhash_agg_combine(bytea, bytea) IS 'of the aggregate simhash_agg: joins what two workers or servers have';

CREATE FUNCTION simhash_agg_final(state bytea) RETURNS bigint
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    AS 'MODULE_PATHNAME', 'simhash_agg_final_wrapper';
COMMENT ON FUNCTION simhash_agg_final(bytea) IS 'of the aggregate simhash_agg: the fingerprint';

CREATE AGGREGATE simhash_agg(feature text, weight double precision) (
    SFUNC = simhash_agg_add, STYPE = bytea, SSPACE = 1056, COMBINEFUNC = simhash_agg_combine,
    FINALFUNC = simhash_agg_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_agg(text, double precision) IS 'similarity fingerprint of features with weights, one in each row; of weight 1 if all weigh the same';

CREATE FUNCTION simhash(doc tsvector) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 2000
    -- With this cast, no other user's function fits the types better than our own.
    RETURN (SELECT simhash_agg(lexeme, greatest(pg_catalog.cardinality(positions), 1)::double precision) FROM pg_catalog.unnest(doc));
COMMENT ON FUNCTION simhash(tsvector) IS
    'similarity fingerprint of the lexemes of a text, each weighing as much as it has positions; NULL if there are none';

-- What fingerprints come from

CREATE FUNCTION simhash_features(
    doc text,
    scheme text DEFAULT 'doc2',
    OUT feature text,
    OUT weight double precision,
    OUT hash bigint,
    OUT occurrences integer
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 500
    AS 'MODULE_PATHNAME', 'simhash_features_wrapper';
COMMENT ON FUNCTION simhash_features(text, text) IS
    'the distinct features of a text, in its order: what each weighs in the fingerprint, its hash, and how often it comes';

CREATE FUNCTION simhash_explain(a text, b text, scheme text DEFAULT 'doc2') RETURNS jsonb
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20000
    AS 'MODULE_PATHNAME', 'simhash_explain';
COMMENT ON FUNCTION simhash_explain(text, text, text) IS
    'why the fingerprints of two texts differ: shared and deciding features, and for each differing bit the votes, or with doc2 the features that decide it';

CREATE FUNCTION simhash_schemes(
    OUT name text,
    OUT version integer,
    OUT unit text,
    OUT features text,
    OUT example_scheme text,
    OUT example text,
    OUT fingerprint bigint
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10 ROWS 6
    AS 'MODULE_PATHNAME', 'simhash_schemes_wrapper';
COMMENT ON FUNCTION simhash_schemes() IS
    'the schemes of fingerprints: what their features are, and the fingerprint of an example';

-- Fingerprints and codes as people and other programs write them

CREATE FUNCTION simhash_encode(code bigint, scheme text DEFAULT NULL) RETURNS text
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_encode_wrapper';
COMMENT ON FUNCTION simhash_encode(bigint, text) IS
    'a fingerprint in base32, 13 letters, after its scheme if that is given';

CREATE FUNCTION simhash_decode(spelling text) RETURNS bigint
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'simhash_decode_wrapper';
COMMENT ON FUNCTION simhash_decode(text) IS
    'the fingerprint that is written in base32 (with or without a scheme), 16 hexadecimal or 64 binary digits, or 0x and up to 16 hexadecimal digits; 16 digits without a letter, which may be decimal, need the 0x';

CREATE FUNCTION code_encode(code bit varying) RETURNS text
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'code_encode';
COMMENT ON FUNCTION code_encode(bit varying) IS
    'a string of bits, a multiple of 4, in hexadecimal digits';

CREATE FUNCTION code_decode(spelling text) RETURNS bit varying
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'code_decode';
COMMENT ON FUNCTION code_decode(text) IS
    'the string of bits that is written in hexadecimal digits, of either case; white space is skipped';

-- Sketches: sets of hashes that stand for a text, sorted and distinct

CREATE FUNCTION manber_sketch(
    doc text,
    length integer DEFAULT 50,
    sample_bits integer DEFAULT 8,
    prime bigint DEFAULT 1425089352415399837,
    modulus bigint DEFAULT 2305843009213693951,
    divisor bigint DEFAULT 1,
    unit text DEFAULT 'byte',
    hash text DEFAULT 'polynomial'
) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'manber_sketch_wrapper';
COMMENT ON FUNCTION manber_sketch(text, integer, integer, bigint, bigint, bigint, text, text) IS
    'hashes (polynomial, java, xxh3) of all windows of a text (of bytes or characters) whose lowest sample_bits bits are zero and which divisor divides (Manber 1994)';

CREATE FUNCTION winnow_sketch(doc text, length integer DEFAULT 50, span integer DEFAULT 100) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'winnow_sketch_wrapper';
COMMENT ON FUNCTION winnow_sketch(text, integer, integer) IS
    'of any span windows of so many bytes in a row the least hash: texts that share length + span - 1 bytes share a value (winnowing)';

CREATE FUNCTION excerpt_sketch(doc text, min_length integer DEFAULT 100) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'excerpt_sketch_wrapper';
COMMENT ON FUNCTION excerpt_sketch(text, integer) IS
    'a sketch by which an index finds every text that shares min_length characters: winnow_sketch with windows half as long';

CREATE FUNCTION heintze_sketch(
    doc text,
    size integer DEFAULT 100,
    length integer DEFAULT 32,
    frequent bigint[] DEFAULT '{}'
) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'heintze_sketch_wrapper';
COMMENT ON FUNCTION heintze_sketch(text, integer, integer, bigint[]) IS
    'hashes of the substrings of so many letters that are probably the rarest (Heintze 1996); those known to be frequent, from the least to the most, come last';

CREATE FUNCTION sketch_similarity(a bigint[], b bigint[]) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'sketch_similarity_wrapper';
COMMENT ON FUNCTION sketch_similarity(bigint[], bigint[]) IS
    'shared values among all values of two sketches, 0 to 1; NULL if both are empty';

CREATE FUNCTION sketch_containment(a bigint[], b bigint[]) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'sketch_containment_wrapper';
COMMENT ON FUNCTION sketch_containment(bigint[], bigint[]) IS
    'shared values among the values of the first sketch, 0 to 1; NULL if it is empty';

-- Comparisons of shares become sketch_similar and sketch_contained. Servers that share a query (postgres_fdw) send these
-- functions to each other, so their names and meanings never change.
CREATE FUNCTION sketch_overlaps(a bigint[], b bigint[]) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 20 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'sketch_overlaps_wrapper';
COMMENT ON FUNCTION sketch_overlaps(bigint[], bigint[]) IS
    'whether two arrays have a value in common, in linear time if they are sorted; an index answers it, as it answers a && b';

CREATE FUNCTION sketch_similar(a bigint[], b bigint[], similarity double precision) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'sketch_similar_wrapper';
COMMENT ON FUNCTION sketch_similar(bigint[], bigint[], double precision) IS
    'sketch_similarity(a, b) >= similarity; the planner puts it in place of this';

CREATE FUNCTION sketch_contained(a bigint[], b bigint[], containment double precision) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'sketch_contained_wrapper';
COMMENT ON FUNCTION sketch_contained(bigint[], bigint[], double precision) IS
    'sketch_containment(a, b) >= containment; the planner puts it in place of this';

CREATE FUNCTION sketch_above(number double precision) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'sketch_above_wrapper';
COMMENT ON FUNCTION sketch_above(double precision) IS
    'the least number above this one; the planner puts it into conditions with >';

-- GIN: sketches by the share of values that they have in common with a query

CREATE TYPE sketch_query;

CREATE FUNCTION sketch_query_in(cstring) RETURNS sketch_query
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'sketch_query_in';
COMMENT ON FUNCTION sketch_query_in(cstring) IS 'always an error: queries exist in index conditions only';

CREATE FUNCTION sketch_query_out(sketch_query) RETURNS cstring
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'sketch_query_out';
COMMENT ON FUNCTION sketch_query_out(sketch_query) IS 'the share that is asked for, and the values of the sketch';

CREATE TYPE sketch_query (
    INPUT = sketch_query_in,
    OUTPUT = sketch_query_out,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = extended
);
COMMENT ON TYPE sketch_query IS 'sketch with the share of common values that an index is asked for';

CREATE FUNCTION sketch_query_of(sketch bigint[], measure integer, share double precision) RETURNS sketch_query
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'sketch_query_of';
COMMENT ON FUNCTION sketch_query_of(bigint[], integer, double precision) IS
    'sketches whose similarity to this one (measure 0), whose share of its values (1), or the share of whose own values in it (2) is at least a number; the planner makes it of sketch_similar and sketch_contained';

CREATE FUNCTION sketch_matches(bigint[], sketch_query) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20
    AS 'MODULE_PATHNAME', 'sketch_matches';
COMMENT ON FUNCTION sketch_matches(bigint[], sketch_query) IS 'implementation of @@';

CREATE OPERATOR @@ (
    LEFTARG = bigint[],
    RIGHTARG = sketch_query,
    FUNCTION = sketch_matches,
    RESTRICT = contsel,
    JOIN = contjoinsel
);
COMMENT ON OPERATOR @@ (bigint[], sketch_query) IS 'whether the sketch has the share';

CREATE FUNCTION gin_sketch_keys(bigint[], internal, internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gin_sketch_keys';
COMMENT ON FUNCTION gin_sketch_keys(bigint[], internal, internal) IS 'GIN support of sketch_ops';

CREATE FUNCTION gin_sketch_query_keys(bigint[], internal, smallint, internal, internal, internal, internal) RETURNS internal
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gin_sketch_query_keys';
COMMENT ON FUNCTION gin_sketch_query_keys(bigint[], internal, smallint, internal, internal, internal, internal) IS
    'GIN support of sketch_ops';

CREATE FUNCTION gin_sketch_consistent(internal, smallint, bigint[], integer, internal, internal, internal) RETURNS "char"
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gin_sketch_consistent';
COMMENT ON FUNCTION gin_sketch_consistent(internal, smallint, bigint[], integer, internal, internal, internal) IS
    'GIN support of sketch_ops';

-- Not the default for bigint[]: that is PostgreSQL's array_ops.
CREATE OPERATOR CLASS sketch_ops FOR TYPE bigint[] USING gin AS
    OPERATOR 1 pg_catalog.&& (anyarray, anyarray),
    OPERATOR 2 @@ (bigint[], sketch_query),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    FUNCTION 2 gin_sketch_keys(bigint[], internal, internal),
    FUNCTION 3 gin_sketch_query_keys(bigint[], internal, smallint, internal, internal, internal, internal),
    FUNCTION 6 gin_sketch_consistent(internal, smallint, bigint[], integer, internal, internal, internal),
    STORAGE bigint;
COMMENT ON OPERATOR CLASS sketch_ops USING gin IS 'sketches by common values, and by their share';
COMMENT ON OPERATOR FAMILY sketch_ops USING gin IS 'sketches by common values, and by their share';

-- MinHash signatures, whose agreement estimates the similarity of two texts

CREATE FUNCTION minhash(doc text, bins integer DEFAULT 128, scheme text DEFAULT 'word:3') RETURNS integer[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'minhash_of_wrapper';
COMMENT ON FUNCTION minhash(text, integer, text) IS
    'signature of a text, made fast: of the features that fall into each bin the least hash, -1 if there is none; NULL if there are no features';

CREATE FUNCTION minhash_similarity(a integer[], b integer[]) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'minhash_similarity_wrapper';
COMMENT ON FUNCTION minhash_similarity(integer[], integer[]) IS
    'share of the places where two signatures agree, an estimate of the similarity of their texts, 0 to 1; places that are empty (-1) in both do not count';

CREATE FUNCTION minhash_bands(signature integer[], bands integer) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'minhash_bands_wrapper';
COMMENT ON FUNCTION minhash_bands(integer[], integer) IS
    'hashes of the bands of a signature, for an index of type GIN: similar texts probably share one';

CREATE FUNCTION minhash_bits(doc text, bits integer, scheme text DEFAULT 'word:3') RETURNS bit varying
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'minhash_bits_of_text_wrapper';
COMMENT ON FUNCTION minhash_bits(text, integer, text) IS
    'bits of the signature that minhash makes of a text; NULL if there are no features';

CREATE FUNCTION minhash_bits(doc text, bits integer, weights bytea) RETURNS bit varying
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000
    AS 'MODULE_PATHNAME', 'minhash_bits_of_weighted_text_wrapper';
COMMENT ON FUNCTION minhash_bits(text, integer, bytea) IS
    'bits of the signature of a text in which each feature stands for as many as it weighs; NULL if nothing in the text has a weight';

-- Weights of features: the rarer in a corpus, the greater

-- Servers that share rows (Citus) send the state to each other, so its format never changes.
CREATE FUNCTION feature_weights_add(state bytea, doc text, scheme text) RETURNS bytea
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 5000
    AS 'MODULE_PATHNAME', 'feature_weights_add_wrapper';
COMMENT ON FUNCTION feature_weights_add(bytea, text, text) IS 'of the aggregate feature_weights: takes a text';

CREATE FUNCTION feature_weights_combine(state bytea, other bytea) RETURNS bytea
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100
    AS 'MODULE_PATHNAME', 'feature_weights_combine_wrapper';
COMMENT ON FUNCTION feature_weights_combine(bytea, bytea) IS 'of the aggregate feature_weights: joins what two workers or servers have';

CREATE FUNCTION feature_weights_final(state bytea) RETURNS bytea
    LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'feature_weights_final_wrapper';
COMMENT ON FUNCTION feature_weights_final(bytea) IS 'of the aggregate feature_weights: the weights';

CREATE AGGREGATE feature_weights(doc text, scheme text) (
    SFUNC = feature_weights_add, STYPE = bytea, SSPACE = 131200, COMBINEFUNC = feature_weights_combine,
    FINALFUNC = feature_weights_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE feature_weights(text, text) IS
    'how much features weigh by a scheme: the more, the fewer of these texts have them; a value of 32 kB, NULL if there are no features';

CREATE FUNCTION text_similarity(a text, b text, weights bytea) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'text_similarity_wrapper';
COMMENT ON FUNCTION text_similarity(text, text, bytea) IS
    'weight of the features that both texts have, as a share of the weight of all their features, 0 to 1; NULL if nothing in them has a weight';

-- Passages: text that occurs more than once

CREATE FUNCTION shared_passages(
    a text,
    b text,
    min_length integer DEFAULT 50,
    OUT a_pos integer,
    OUT b_pos integer,
    OUT length integer,
    OUT passage text
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 10
    AS 'MODULE_PATHNAME', 'shared_passages_wrapper';
COMMENT ON FUNCTION shared_passages(text, text, integer) IS
    'the longest passages that two texts share, of at least so many characters, which is the whole text if they are equal; positions as substr counts them';

CREATE FUNCTION recursive_shingles(
    doc text,
    min_level integer DEFAULT 1,
    max_level integer DEFAULT 12,
    OUT level integer,
    OUT hash bigint,
    OUT pos integer,
    OUT length integer
)
    RETURNS SETOF record
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 1000
    AS 'MODULE_PATHNAME', 'recursive_shingles_wrapper';
COMMENT ON FUNCTION recursive_shingles(text, integer, integer) IS
    'hashes of pieces of 4, 16, 64 ... characters: texts that share 6, 26, 106 ... characters share one of level 1, 2, 3 ... (Sitaker 2021)';

CREATE FUNCTION passage_sketch(doc text, min_length integer) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'passage_sketch_wrapper';
COMMENT ON FUNCTION passage_sketch(text, integer) IS
    'recursive shingles by which every text that shares so many characters is found: texts that do have a value in common';

CREATE FUNCTION repeated_passages(
    query text,
    min_length integer DEFAULT 100,
    OUT document bigint,
    OUT pos integer,
    OUT length integer,
    OUT first_document bigint,
    OUT first_pos integer
)
    RETURNS SETOF record
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000 ROWS 1000
    AS 'MODULE_PATHNAME', 'repeated_passages_wrapper';
COMMENT ON FUNCTION repeated_passages(text, integer) IS
    'what stood before in the documents of a query, which returns keys and texts: every run of at least so many characters, and where it stood first; positions as substr counts them';

CREATE FUNCTION repeated_passages(
    query text,
    min_length integer,
    key anyelement,
    OUT document anyelement,
    OUT pos integer,
    OUT length integer,
    OUT first_document anyelement,
    OUT first_pos integer
)
    RETURNS SETOF record
    LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000000 ROWS 1000
    AS 'MODULE_PATHNAME', 'repeated_passages_of_keys_wrapper';
COMMENT ON FUNCTION repeated_passages(text, integer, anyelement) IS
    'repeated_passages with keys of another type than bigint: the type of the third argument, such as NULL::uuid';

CREATE FUNCTION passage_headline(doc text, other text, min_length integer DEFAULT 50, options text DEFAULT '') RETURNS text
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000
    AS 'MODULE_PATHNAME', 'passage_headline_wrapper';
COMMENT ON FUNCTION passage_headline(text, text, integer, text) IS
    'the first text with every passage marked that it shares with the second, of at least so many characters; options are written as for ts_headline';

-- Text of documents in HTML

CREATE FUNCTION extract_text(html text) RETURNS text
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'extract_text_wrapper';
COMMENT ON FUNCTION extract_text(text) IS
    'the text of an HTML document as readers see it, without markup, scripts, styles and metadata';

-- Fingerprints that follow their text

CREATE FUNCTION simhash_trigger() RETURNS trigger
    LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 2000
    AS 'MODULE_PATHNAME', 'simhash_trigger';
COMMENT ON FUNCTION simhash_trigger() IS
    'sets a bigint column to the fingerprint of text columns: simhash_trigger(target, source [, ...] [, ''scheme=name''])';

-- Near-duplicates: rows that are versions of each other, and blocks of near pairs for several machines

CREATE FUNCTION near_cluster(key anyelement, code bigint, radius integer, linkage text DEFAULT 'leader') RETURNS anyelement
    LANGUAGE C WINDOW IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'near_cluster_of_bigint';
COMMENT ON FUNCTION near_cluster(anyelement, bigint, integer, text) IS
    'window function: the key of the row that keeps the cluster of near-duplicates, its first in the order of the window; linkage is leader or connected, and the first row of a partition says which, and the radius';

CREATE FUNCTION near_cluster(key anyelement, code bit, radius integer, linkage text DEFAULT 'leader') RETURNS anyelement
    LANGUAGE C WINDOW IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'near_cluster_of_bit';
COMMENT ON FUNCTION near_cluster(anyelement, bit, integer, text) IS
    'window function: the key of the row that keeps the cluster of near-duplicates, its first in the order of the window; linkage is leader or connected, and the first row of a partition says which, and the radius';

CREATE FUNCTION near_cluster(
    key anyelement,
    code bigint,
    radius integer,
    second_code bit,
    second_radius integer,
    linkage text DEFAULT 'leader'
)
    RETURNS anyelement
    LANGUAGE C WINDOW IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'near_cluster_of_bigint_second';
COMMENT ON FUNCTION near_cluster(anyelement, bigint, integer, bit, integer, text) IS
    'window function: as near_cluster without a second code, but a row joins a keeper only if their second codes, too, differ in at most second_radius bits';

CREATE FUNCTION near_cluster(
    key anyelement,
    code bit,
    radius integer,
    second_code bit,
    second_radius integer,
    linkage text DEFAULT 'leader'
)
    RETURNS anyelement
    LANGUAGE C WINDOW IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'near_cluster_of_bit_second';
COMMENT ON FUNCTION near_cluster(anyelement, bit, integer, bit, integer, text) IS
    'window function: as near_cluster without a second code, but a row joins a keeper only if their second codes, too, differ in at most second_radius bits';

CREATE FUNCTION near_blocks(code bigint, radius integer, parts integer) RETURNS integer[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'near_blocks_of_bigint_wrapper';
COMMENT ON FUNCTION near_blocks(bigint, integer, integer) IS
    'the blocks that a code is in: codes within the radius of each other share one or more; a block has about 1/parts of all codes, and 2/parts with a large radius';

CREATE FUNCTION near_blocks(code bit, radius integer, parts integer) RETURNS integer[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    AS 'MODULE_PATHNAME', 'near_blocks_of_bit';
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
    AS 'MODULE_PATHNAME', 'clusters_of_pairs';
COMMENT ON FUNCTION clusters_of_pairs(anyarray, anyarray, text) IS
    'for each key of near pairs the smallest key of its cluster; the pairs come in any order; linkage is leader or connected';

-- What distances mean in a table

CREATE FUNCTION hamming_histogram(
    relation regclass,
    code name,
    sample integer DEFAULT 1000,
    body name DEFAULT NULL,
    OUT distance integer,
    OUT rows double precision,
    OUT pairs bigint,
    OUT duplicates double precision,
    OUT at_most double precision,
    OUT compared bigint,
    OUT to_search boolean
)
    RETURNS SETOF record
    LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000000 ROWS 65
    AS 'MODULE_PATHNAME', 'hamming_histogram_wrapper';
COMMENT ON FUNCTION hamming_histogram(regclass, name, integer, name) IS
    'distances in a column of codes: how many other rows a search finds within each, and pairs of a random sample and all rows at it; with the column of the texts, how many of these rows are duplicates, at most how many, by how many pairs of texts, and which radius to search with';

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
    AS 'MODULE_PATHNAME', 'differences_of_table_wrapper';
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
    AS 'MODULE_PATHNAME', 'differences_of_texts_wrapper';
COMMENT ON FUNCTION near_differences(text, text, text) IS
    'the distinct features that one of two texts has and the other has not, and which one has it, a or b; # is any number';
