-- Several tenants of 500 rows: which index serves which query, and what the planner chooses where it has them all. Half of
-- the fingerprints are scattered, half in clusters of 50. Called with -v rows=N.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS btree_gist;
DROP TABLE IF EXISTS note, probe, shape, answer CASCADE;
CREATE TABLE note AS
SELECT i AS id, (hashint4(i) & 2147483647) % (:rows / 500) AS tenant_id,
       CASE WHEN i % 2 = 0 THEN hashint8extended(i, 1)
            ELSE hashint8extended(i / 100, 2) # (1::bigint << (i % 61)) # (1::bigint << (i / 7 % 61)) END AS si
FROM generate_series(1, :rows) AS i;
CREATE TABLE probe AS SELECT si, tenant_id FROM note WHERE id % (:rows / 100) = 1;
VACUUM (FREEZE, ANALYZE) note, probe;

-- $t is a tenant, $q something that nothing is near to.
CREATE TABLE shape (name text, queries integer, runs integer, query text);
INSERT INTO shape VALUES
    ('range', 10, 3, 'SELECT id FROM note WHERE hamming(si, $q) <= 6'),
    ('nearest', 10, 3, 'SELECT id FROM note ORDER BY hamming(si, $q) LIMIT 10'),
    ('join', 1, 1, 'SELECT n.id FROM probe AS p JOIN note AS n ON hamming(n.si, p.si) <= 6'),
    ('tenant range', 10, 3, 'SELECT id FROM note WHERE tenant_id = $t AND hamming(si, $q) <= 12'),
    ('tenant nearest', 10, 3, 'SELECT id FROM note WHERE tenant_id = $t ORDER BY hamming(si, $q) LIMIT 10');
CREATE TABLE answer (indexes text, name text, ms double precision, pages bigint);

-- Time of the fastest run of each query, and pages that it reads.
CREATE FUNCTION measure(indexes text, names text DEFAULT '%') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    asked record;
    plan json;
    fastest double precision;
BEGIN
    FOR asked IN SELECT name, runs, replace(replace(query, '$q', format('(%s)', hashint8extended(n, 99))), '$t', n::text) AS query
                 FROM shape, generate_series(1, queries) AS n WHERE name LIKE names LOOP
        fastest := NULL;
        FOR run IN 1..asked.runs LOOP
            EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, BUFFERS, FORMAT json) ' || asked.query INTO plan;
            fastest := least(fastest, (plan #>> '{0,Execution Time}')::double precision);
        END LOOP;
        INSERT INTO answer VALUES (indexes, asked.name, fastest,
            (plan #>> '{0,Plan,Shared Hit Blocks}')::bigint + (plan #>> '{0,Plan,Shared Read Blocks}')::bigint);
    END LOOP;
END $$;

-- Each by itself; a join without any index would take minutes.
SELECT FROM measure('1 none', '%range');
SELECT FROM measure('1 none', '%nearest');
SET enable_seqscan = off;
CREATE INDEX note_tenant ON note (tenant_id);
SELECT FROM measure('2 btree (tenant_id)', 'tenant%');
DROP INDEX note_tenant;
CREATE INDEX note_si ON note USING hamming (si);
SELECT FROM measure('3 hamming (si)');
DROP INDEX note_si;
\timing on
CREATE INDEX note_si_tenant ON note USING gist (si gist_hamming_ops, tenant_id);
\timing off
SELECT FROM measure('4 gist (si, tenant_id)');
DROP INDEX note_si_tenant;
\timing on
CREATE INDEX note_tenant_si ON note USING gist (tenant_id, si gist_hamming_ops);
\timing off
SELECT FROM measure('5 gist (tenant_id, si)');

-- All that several tenants need.
CREATE INDEX note_si ON note USING hamming (si);
CREATE INDEX note_tenant ON note (tenant_id);
RESET enable_seqscan;
SELECT FROM measure('6 hamming (si), btree (tenant_id), gist (tenant_id, si)');

SELECT substr(indexes, 3) AS indexes, name, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 2) AS "ms, median",
       percentile_cont(0.5) WITHIN GROUP (ORDER BY pages)::integer AS pages
FROM answer GROUP BY answer.indexes, name ORDER BY answer.indexes, name;
DROP TABLE note, probe, shape, answer CASCADE;
DROP FUNCTION measure(text, text);
