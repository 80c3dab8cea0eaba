-- One index for a tenant and for all: hamming (si, tenant_id) next to what else can serve, with 10,000 tenants of very
-- different sizes, and three of 50, 500 and 50,000 rows. Half of the fingerprints are scattered, half in clusters of 50. Called with -v rows=N.
SET client_min_messages = warning;
SET jit = off;
CREATE EXTENSION IF NOT EXISTS btree_gist;
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

-- Time of the fastest of five runs of each query, the pages that it reads, and by what.
CREATE FUNCTION measure(indexes text, names text DEFAULT '%') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    asked record;
    plan json;
    fastest double precision;
BEGIN
    FOR asked IN SELECT name, replace(replace(query, '$q', format('(%s)', hashint8extended(n, 99))), '$t', coalesce(tenant_id::text, '')) AS query
                 FROM shape, generate_series(1, 15) AS n WHERE name LIKE names LOOP
        fastest := NULL;
        FOR run IN 1..5 LOOP
            EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, BUFFERS, FORMAT json) ' || asked.query INTO plan;
            fastest := least(fastest, (plan #>> '{0,Execution Time}')::double precision);
        END LOOP;
        INSERT INTO answer VALUES (indexes, asked.name, fastest,
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
-- What the planner takes where it has them all.
CREATE INDEX by_code ON note USING hamming (si);
CREATE INDEX by_tenant ON note (tenant_id);
\timing on
CREATE INDEX by_gist ON note USING gist (tenant_id, si gist_hamming_ops);
\timing off
SELECT FROM measure('3 these, btree (tenant_id), gist (tenant_id, si)');
SELECT substr(indexes, 3) AS indexes, name, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 3) AS "ms, median",
       percentile_cont(0.5) WITHIN GROUP (ORDER BY pages)::integer AS pages, string_agg(DISTINCT node, ', ') AS by
FROM answer GROUP BY answer.indexes, name ORDER BY answer.indexes, name;

-- 100,000 rows more, with one column and with two.
DROP INDEX by_tenant, by_gist, by_both;
\timing on
INSERT INTO note SELECT i, i % 1000, hashint8extended(i, 3) FROM generate_series(1, 100000) AS i;
\timing off
DROP INDEX by_code;
CREATE INDEX by_both ON note USING hamming (si, tenant_id);
\timing on
INSERT INTO note SELECT i, i % 1000, hashint8extended(i, 5) FROM generate_series(1, 100000) AS i;
\timing off
DROP TABLE note, shape, answer CASCADE;
DROP FUNCTION measure(text, text);
