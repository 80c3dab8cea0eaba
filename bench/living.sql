-- Living clusters against near_cluster from scratch on the same rows, in processor seconds of one run. Called with -v rows=N
-- and -v codes='bigint bit'.
SET client_min_messages = warning;
\ir fingerprints.sql
CREATE TABLE measured_living (number serial, part text, what text, seconds double precision, rows bigint, times bigint);
CREATE FUNCTION processor_seconds() RETURNS double precision LANGUAGE sql VOLATILE AS
    $$SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::double precision / 1e9$$;
CREATE PROCEDURE measure_living(part text, what text, query text, times bigint DEFAULT 1) LANGUAGE plpgsql AS $$
DECLARE
    started double precision := processor_seconds();
    rows bigint;
BEGIN
    EXECUTE query INTO rows;
    INSERT INTO measured_living (part, what, seconds, rows, times) VALUES (part, what, processor_seconds() - started, rows, times);
END $$;
-- A code of 256 bits, whose last 192 tell families apart.
CREATE FUNCTION picture(si bigint, family bigint) RETURNS bit(256) LANGUAGE sql IMMUTABLE AS
    $$SELECT (si::bit(64) || hashint8extended(family, 3)::bit(64) || hashint8extended(family, 4)::bit(64) || hashint8extended(family, 5)::bit(64))::bit(256)$$;
CREATE VIEW coded AS SELECT id, si, picture(si, CASE WHEN id % 2 = 0 THEN id ELSE -(id % (:rows / 50)) END) AS code FROM fingerprint;
-- Ten thousand new rows, of which half are near to stored ones, and a thousand rows from all over the table.
CREATE TABLE newcomer AS
SELECT :rows + row_number() OVER () AS id, si, code
FROM (SELECT hashint8extended(i, 9) AS si, picture(hashint8extended(i, 9), :rows + i) AS code FROM generate_series(1, 5000::bigint) AS i
      UNION ALL (SELECT si # 1, code # 1::bit(256) FROM coded ORDER BY hashint8extended(id, 7) LIMIT 5000)) AS n;
CREATE TABLE gone AS SELECT id FROM fingerprint ORDER BY hashint8extended(id, 8) LIMIT 1000;

-- What comes as near to living clusters as near_cluster does: its result in a table, with indexes.
CREATE FUNCTION store_clusters(clustered text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE stored AS SELECT * FROM %s AS c', clustered);
    ALTER TABLE stored ADD PRIMARY KEY (id);
    CREATE INDEX ON stored (keeper);
    EXECUTE 'CREATE INDEX ON stored USING hamming (code)';
    DROP TABLE stored;
    RETURN 1;
END $$;

CREATE PROCEDURE measure_part(type text, code text, radius integer, linkage text) LANGUAGE plpgsql AS $$
DECLARE
    part text := format('%s, %s, radius %s', type, linkage, radius);
    clustered text := format('(SELECT id, code, near_cluster(id, code, %s, %L) OVER (ORDER BY id) AS keeper FROM story)', radius, linkage);
BEGIN
    EXECUTE format('CREATE TABLE story (id bigint PRIMARY KEY, code %s)', type);
    EXECUTE format('INSERT INTO story SELECT id, %I FROM coded ORDER BY id', code);
    ANALYZE story;
    COMMIT;
    CALL measure_living(part, 'near_cluster', format('SELECT count(*) FROM %s AS c WHERE id = keeper', clustered));
    CALL measure_living(part, 'near_cluster, stored and indexed', format('SELECT store_clusters(%L)', clustered));
    COMMIT;
    CALL measure_living(part, 'near_clusters_create', format('SELECT count(near_clusters_create(''story'', ''id'', ''code'', %s, %L))', radius, linkage));
    COMMIT;
    EXECUTE format('INSERT INTO story SELECT id, %I FROM newcomer', code);
    CALL measure_living(part, 'refresh after 10,000 new rows', 'SELECT near_clusters_refresh(''story'')');
    COMMIT;
    CALL measure_living(part, 'refresh, nothing changed', 'SELECT near_clusters_refresh(''story'')');
    COMMIT;
    DELETE FROM story USING gone WHERE gone.id = story.id;
    CALL measure_living(part, 'refresh after 1,000 deleted ones', 'SELECT near_clusters_refresh(''story'')');
    COMMIT;
    UPDATE story SET code = other.code FROM story AS other, gone WHERE story.id = gone.id + 1 AND other.id = gone.id + 3;
    CALL measure_living(part, 'refresh after 1,000 other codes', 'SELECT near_clusters_refresh(''story'')');
    COMMIT;
    CALL measure_living(part, 'near_cluster_of', format('SELECT count(near_cluster_of(''story'', n.%I)) FROM newcomer AS n', code), 10000);
    CALL measure_living(part, 'rows that differ from near_cluster', format('SELECT count(*) FROM %s AS n FULL JOIN story_clusters AS c USING (id) WHERE n.keeper IS DISTINCT FROM c.cluster', clustered));
    DROP TABLE story;
    COMMIT;
END $$;
SELECT :'codes' ~ 'bigint' AS of_bigint, :'codes' ~ 'bit( |$)' AS of_bit \gset
\if :of_bigint
CALL measure_part('bigint', 'si', 3, 'leader');
CALL measure_part('bigint', 'si', 3, 'connected');
\endif
\if :of_bit
CALL measure_part('bit(256)', 'code', 31, 'leader');
CALL measure_part('bit(256)', 'code', 31, 'connected');
\endif
-- What the triggers cost a row.
CREATE TABLE note (id bigint PRIMARY KEY, code bigint);
SELECT 'WITH new AS (INSERT INTO note SELECT id, si FROM fingerprint WHERE id <= 100000 RETURNING 1) SELECT count(*) FROM new' AS insert \gset
CALL measure_living('writing', 'inserting 100,000 rows', :'insert', 100000);
TRUNCATE note;
SELECT near_clusters_create('note', 'id', 'code', 3) \g /dev/null
CALL measure_living('writing', 'the same, noted', :'insert', 100000);
-- A million pages from 10,000 templates: within one, codes are near, and one look in ten is.
CREATE TABLE page AS
SELECT i AS id, hashint8extended(i % 10000, 1) # (1::bigint << (i % 61)::integer) AS si, picture(i, i % 100000) AS look
FROM generate_series(1, 1000000::bigint) AS i;
CALL measure_living('a million templated rows', 'near_cluster, radius 10', 'SELECT count(*) FROM (SELECT id, near_cluster(id, si, 10) OVER (ORDER BY id) AS k FROM page) AS c WHERE id = k');
CALL measure_living('a million templated rows', 'with a look within 70', 'SELECT count(*) FROM (SELECT id, near_cluster(id, si, 10, look, 70) OVER (ORDER BY id) AS k FROM page) AS c WHERE id = k');
SELECT part, what, round(seconds::numeric, 3) AS "s of CPU", rows,
       CASE WHEN times > 1 THEN round((seconds * 1e6 / times)::numeric, 1) END AS "µs each",
       round((seconds / first_value(seconds) OVER (PARTITION BY part ORDER BY number))::numeric, 2) AS "times the first"
FROM measured_living ORDER BY number;
