-- One index for a tenant and for all: hamming (si, tenant_id) next to what else can serve, with 10,000 tenants of very
-- different sizes, and three of 50, 500 and 50,000 rows. Half of the fingerprints are scattered, half in clusters of 50. Called with
-- -v rows=N, and with -v peers=0 without the plans among all of them.
SET client_min_messages = warning;
SET jit = off;
CREATE EXTENSION IF NOT EXISTS btree_gist;
CREATE EXTENSION IF NOT EXISTS pg_prewarm;
DROP TABLE IF EXISTS note, shape, answer CASCADE;
CREATE TABLE note AS
SELECT i AS id, CASE WHEN i <= 50 THEN -50 WHEN i <= 550 THEN -500 WHEN i <= 50550 THEN -50000
                     ELSE floor(10000 * ((hashint8extended(i, 7) & 4194303) / 4194304.0) ^ 3) END::integer AS tenant_id,
       CASE WHEN i % 2 = 0 THEN hashint8extended(i, 1)
            ELSE hashint8extended(i / 100, 2) # (1::bigint << (i % 61)) # (1::bigint << (i / 7 % 61)) END AS si
FROM generate_series(1, :rows) AS i ORDER BY hashint8(i);
VACUUM (FREEZE, ANALYZE) note;

-- $t is a tenant, $q something that nothing is near to.
CREATE TABLE shape AS
SELECT 'all, ' || name AS name, NULL::integer AS tenant_id, query FROM (VALUES
    ('nearest 10', 'SELECT id FROM note ORDER BY hamming(si, $q) LIMIT 10'),
    ('within 6', 'SELECT id FROM note WHERE hamming(si, $q) <= 6')) AS q (name, query)
UNION ALL
SELECT format('tenant of %s, %s', (SELECT count(*) FROM note AS n WHERE n.tenant_id = t.tenant_id), name), t.tenant_id, query
FROM (VALUES (-50), (-500), (-50000), (0), (1), (20), (500), (9000), (20000)) AS t (tenant_id), (VALUES
    ('nearest 10', 'SELECT id FROM note WHERE tenant_id = $t ORDER BY hamming(si, $q) LIMIT 10'),
    ('within 6', 'SELECT id FROM note WHERE tenant_id = $t AND hamming(si, $q) <= 6')) AS q (name, query);
CREATE TABLE answer (indexes text, name text, ms double precision, pages bigint, node text);

-- Times of different queries of each shape, with all pages in shared buffers, the pages that they read, and by what.
CREATE FUNCTION measure(indexes text, names text DEFAULT '%', queries integer DEFAULT 1000) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    asked record;
    plan json;
BEGIN
    PERFORM pg_prewarm(oid) FROM pg_class WHERE relname ~ '^(note|by_)';
    FOR asked IN SELECT name, replace(replace(query, '$q', format('(%s)', hashint8extended(n, 99))), '$t', coalesce(tenant_id::text, '')) AS query
                 FROM shape, generate_series(1, queries) AS n WHERE name LIKE names ORDER BY name, n LOOP
        EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, BUFFERS, FORMAT json) ' || asked.query INTO plan;
        INSERT INTO answer VALUES (indexes, asked.name, (plan #>> '{0,Execution Time}')::double precision,
            (plan #>> '{0,Plan,Shared Hit Blocks}')::bigint + (plan #>> '{0,Plan,Shared Read Blocks}')::bigint,
            coalesce(substring(plan::text FROM '"Index Name": "(\w+)"'), 'none'));
    END LOOP;
END $$;

SET enable_seqscan = off;
\timing on
CREATE INDEX by_code ON note USING hamming (si);
\timing off
SELECT FROM measure('1 hamming (si)', 'all%');
\timing on
CREATE INDEX by_both ON note USING hamming (si, tenant_id);
\timing off
SELECT relname, pg_relation_size(oid) / 8192 AS pages, round(pg_relation_size(oid) / :rows::numeric, 1) AS bytes_a_row
FROM pg_class WHERE relname IN ('by_code', 'by_both');
DROP INDEX by_code;
SELECT FROM measure('2 hamming (si, tenant_id)');
-- A range is checked on the rows that are found.
INSERT INTO shape VALUES
    ('half of all, nearest 10', NULL, 'SELECT id FROM note WHERE tenant_id BETWEEN 0 AND 1250 ORDER BY hamming(si, $q) LIMIT 10'),
    ('1 % of all, nearest 10', NULL, 'SELECT id FROM note WHERE tenant_id > 9702 ORDER BY hamming(si, $q) LIMIT 10');
SELECT FROM measure('2 hamming (si, tenant_id)', '%of all%');
RESET enable_seqscan;
\if :peers
-- What the planner takes where it has them all.
CREATE INDEX by_code ON note USING hamming (si);
CREATE INDEX by_tenant ON note (tenant_id);
\timing on
CREATE INDEX by_gist ON note USING gist (tenant_id, si gist_hamming_ops);
\timing off
SELECT FROM measure('3 these, btree (tenant_id), gist (tenant_id, si)', queries => 50);
DROP INDEX by_code, by_tenant, by_gist;
\endif
SELECT substr(indexes, 3) AS indexes, name, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 3) AS "ms, median",
       percentile_cont(0.5) WITHIN GROUP (ORDER BY pages)::integer AS pages, count(*) AS queries, string_agg(DISTINCT node, ', ') AS by
FROM answer GROUP BY answer.indexes, name ORDER BY answer.indexes, name;

-- The processor time of 100,000 rows more, without an index, with one column and with two.
\ir processor_seconds.sql
CREATE FUNCTION inserted(seed integer) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    before double precision := processor_seconds();
BEGIN
    INSERT INTO note SELECT i, i % 1000, hashint8extended(i, seed) FROM generate_series(1, 100000) AS i;
    RETURN round(((processor_seconds() - before) * 10)::numeric, 1);
END $$;
SELECT inserted(5) AS "µs an insert takes with hamming (si, tenant_id)";
DROP INDEX by_both;
SELECT inserted(3) AS "without an index";
CREATE INDEX by_code ON note USING hamming (si);
SELECT inserted(4) AS "with hamming (si)";
DROP TABLE note, shape, answer CASCADE;
DROP FUNCTION measure, inserted;
