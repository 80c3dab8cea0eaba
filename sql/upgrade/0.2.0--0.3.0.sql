\echo Use "ALTER EXTENSION simhash_pg UPDATE" to load this file. \quit

COMMENT ON FUNCTION hamming_histogram(regclass, name, integer, name) IS
    'distances in a column of codes, of a random sample of the rows: of pairs, and to the nearest; rows found within each distance, how many of them are unrelated, and which radius to search and which to delete with; with the column of the texts, unrelated rows are measured';

CREATE FUNCTION near_cluster(
    key anyelement,
    code bigint,
    radius integer,
    look bit,
    look_radius integer,
    linkage text DEFAULT 'leader'
)
    RETURNS anyelement
    LANGUAGE C WINDOW IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'near_cluster_of_bigint_look';
COMMENT ON FUNCTION near_cluster(anyelement, bigint, integer, bit, integer, text) IS
    'window function: as near_cluster without look, but a row joins a keeper only if their second codes, too, differ in at most look_radius bits';

CREATE FUNCTION near_cluster(
    key anyelement,
    code bit,
    radius integer,
    look bit,
    look_radius integer,
    linkage text DEFAULT 'leader'
)
    RETURNS anyelement
    LANGUAGE C WINDOW IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000
    AS 'MODULE_PATHNAME', 'near_cluster_of_bit_look';
COMMENT ON FUNCTION near_cluster(anyelement, bit, integer, bit, integer, text) IS
    'window function: as near_cluster without look, but a row joins a keeper only if their second codes, too, differ in at most look_radius bits';

CREATE FUNCTION near_clusters_trigger() RETURNS trigger
    LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 10
    AS 'MODULE_PATHNAME', 'near_clusters_trigger';
COMMENT ON FUNCTION near_clusters_trigger() IS
    'notes the keys of rows that change, for near_clusters_refresh; near_clusters_create makes its triggers';

CREATE FUNCTION near_clusters_create(
    relation regclass,
    key name,
    code name,
    radius integer,
    linkage text DEFAULT 'leader',
    first text[] DEFAULT '{}',
    within text[] DEFAULT '{}',
    filter text DEFAULT NULL,
    look name DEFAULT NULL,
    look_radius integer DEFAULT NULL
)
    RETURNS regclass
    LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 100000
    AS 'MODULE_PATHNAME', 'near_clusters_create';
COMMENT ON FUNCTION near_clusters_create(regclass, name, name, integer, text, text[], text[], text, name, integer) IS
    'makes a table of the clusters of a table''s rows, which near_clusters_refresh brings up to date; the first row in the order keeps a cluster';

CREATE FUNCTION near_clusters_refresh(relation regclass, everything boolean DEFAULT false) RETURNS bigint
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000
    AS 'MODULE_PATHNAME', 'near_clusters_refresh';
COMMENT ON FUNCTION near_clusters_refresh(regclass, boolean) IS
    'brings the clusters of near_clusters_create up to date with all committed changes, and returns how many rows were clustered; everything compares all rows, whether changes were noted or not';

CREATE FUNCTION near_cluster_of(
    relation regclass,
    code bigint,
    within text[] DEFAULT NULL,
    look bit DEFAULT NULL,
    key anyelement DEFAULT NULL::bigint
)
    RETURNS anyelement
    LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000
    AS 'MODULE_PATHNAME', 'near_cluster_of';
COMMENT ON FUNCTION near_cluster_of(regclass, bigint, text[], bit, anyelement) IS
    'the cluster that a row with this code would join as the last one, as of the last near_clusters_refresh; NULL if it would keep its own';

CREATE FUNCTION near_cluster_of(
    relation regclass,
    code bit,
    within text[] DEFAULT NULL,
    look bit DEFAULT NULL,
    key anyelement DEFAULT NULL::bigint
)
    RETURNS anyelement
    LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000
    AS 'MODULE_PATHNAME', 'near_cluster_of';
COMMENT ON FUNCTION near_cluster_of(regclass, bit, text[], bit, anyelement) IS
    'the cluster that a row with this code would join as the last one, as of the last near_clusters_refresh; NULL if it would keep its own';

CREATE FUNCTION minhash_bits(doc text, bits integer, weights bytea) RETURNS bit varying
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000
    AS 'MODULE_PATHNAME', 'minhash_bits_of_weighted_text_wrapper';
COMMENT ON FUNCTION minhash_bits(text, integer, bytea) IS
    'bits of the signature of a text in which each feature stands for as many as it weighs; NULL if nothing in the text has a weight';

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

-- hamming_histogram has further columns.
DROP FUNCTION hamming_histogram(regclass, name, integer, name);
CREATE FUNCTION hamming_histogram(
    relation regclass,
    code name,
    sample integer DEFAULT 10000,
    body name DEFAULT NULL,
    OUT distance integer,
    OUT pairs bigint,
    OUT nearest bigint,
    OUT found double precision,
    OUT unrelated double precision,
    OUT kept double precision,
    OUT to_search boolean,
    OUT to_delete boolean,
    OUT to_check boolean,
    OUT reason text
)
    RETURNS SETOF record
    LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000000 ROWS 65
    AS 'MODULE_PATHNAME', 'hamming_histogram_with_look_wrapper';
COMMENT ON FUNCTION hamming_histogram(regclass, name, integer, name) IS
    'distances in a column of codes, of a random sample of the rows: of pairs, and to the nearest; rows found within each distance, how many of them are unrelated, and which radius to search and which to delete with; with the column of the texts, unrelated rows are measured, and how many rows a second look keeps within which radius';

-- For exclusion constraints: the index finds centers, and the executor compares the balls.

CREATE OPERATOR CLASS hamming_ball_ops DEFAULT FOR TYPE hamming_ball USING hamming AS
    OPERATOR 3 ~ (hamming_ball, hamming_ball);
COMMENT ON OPERATOR CLASS hamming_ball_ops USING hamming IS
    'balls that contain each other''s centers, for exclusion constraints';
COMMENT ON OPERATOR FAMILY hamming_ball_ops USING hamming IS
    'balls that contain each other''s centers, for exclusion constraints';

-- Classes of columns after the first, by which rows are filtered. Of bigint it is hamming_ops.

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

CREATE OPERATOR CLASS oid_filter_ops DEFAULT FOR TYPE oid USING hamming FAMILY hamming_filter_ops AS
    OPERATOR 2 = (oid, oid);
COMMENT ON OPERATOR CLASS oid_filter_ops USING hamming IS
    'columns of type oid after the codes';

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

CREATE OPERATOR CLASS timestamp_filter_ops DEFAULT FOR TYPE timestamp USING hamming FAMILY hamming_filter_ops AS
    OPERATOR 2 = (timestamp, timestamp);
COMMENT ON OPERATOR CLASS timestamp_filter_ops USING hamming IS
    'columns of type timestamp after the codes';

CREATE OPERATOR CLASS timestamptz_filter_ops DEFAULT FOR TYPE timestamptz USING hamming FAMILY hamming_filter_ops AS
    OPERATOR 2 = (timestamptz, timestamptz);
COMMENT ON OPERATOR CLASS timestamptz_filter_ops USING hamming IS
    'columns of type timestamptz after the codes';

CREATE OPERATOR CLASS enum_filter_ops DEFAULT FOR TYPE anyenum USING hamming FAMILY hamming_filter_ops AS
    OPERATOR 2 = (anyenum, anyenum);
COMMENT ON OPERATOR CLASS enum_filter_ops USING hamming IS
    'columns of type anyenum after the codes';
