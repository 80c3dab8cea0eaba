-- Clusters of near-duplicates that stay right while rows come and go

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
