-- Clusters and pairs of a whole table, against the join that an index on the fingerprints answers. Called with -v rows=N.
-- Half of the fingerprints are scattered, half come in clusters of 50 that differ in up to four bits.
SET client_min_messages = warning;
\ir fingerprints.sql
\ir processor_seconds.sql
CREATE TABLE measured_dedup (what text, seconds double precision, rows bigint);
CREATE TABLE in_block (block integer, id bigint, si bigint);
CREATE PROCEDURE measure_dedup(what text, query text) LANGUAGE plpgsql AS $$
DECLARE
    started double precision := processor_seconds();
    rows bigint;
BEGIN
    EXECUTE query INTO rows;
    INSERT INTO measured_dedup VALUES (what, processor_seconds() - started, rows);
END $$;

-- All rows in memory.
SET work_mem = '1GB';
CALL measure_dedup('near_cluster, leader, 3', 'SELECT count(*) FROM (SELECT id, near_cluster(id, si, 3) OVER (ORDER BY id) AS k FROM fingerprint) AS c WHERE id = k');
-- What the process has taken for itself, at most: not what it has touched of the shared buffers.
SELECT round((substring(status FROM 'VmHWM:\s+(\d+)')::bigint - substring(status FROM 'RssShmem:\s+(\d+)')::bigint) / 1024.0) AS mb
FROM pg_read_file('/proc/self/status') AS status \gset
CALL measure_dedup('near_cluster, connected, 3', 'SELECT count(*) FROM (SELECT id, near_cluster(id, si, 3, ''connected'') OVER (ORDER BY id) AS k FROM fingerprint) AS c WHERE id = k');
CALL measure_dedup('near_cluster, leader, 6', 'SELECT count(*) FROM (SELECT id, near_cluster(id, si, 6) OVER (ORDER BY id) AS k FROM fingerprint) AS c WHERE id = k');
RESET work_mem;
SELECT format('CALL measure_dedup(''near join, %s'', ''SELECT count(*) FROM fingerprint AS a JOIN fingerprint AS b ON a.id < b.id AND hamming(a.si, b.si) <= %s'')', radius, radius)
FROM unnest('{3, 6}'::integer[]) AS radius \gexec
-- The same pairs by blocks, here of one machine.
CALL measure_dedup('16 blocks, loaded, 3', 'WITH made AS (INSERT INTO in_block SELECT block, id, si FROM fingerprint, unnest(near_blocks(si, 3, 16)) AS block RETURNING 1) SELECT count(*) FROM made');
ANALYZE in_block;
CALL measure_dedup('16 blocks, joined, 3', 'SELECT count(*) FROM (SELECT DISTINCT a.id, b.id FROM in_block AS a JOIN in_block AS b ON a.block = b.block AND a.id < b.id AND hamming(a.si, b.si) <= 3) AS p');
CALL measure_dedup('hamming_histogram', 'SELECT count(*) FROM hamming_histogram(''fingerprint'', ''si'')');
-- As dense as can be: nearly all of the pairs are near at radius 12.
CREATE TABLE dense AS SELECT i AS id, i AS si FROM generate_series(1, 300000::bigint) AS i;
SELECT format('CALL measure_dedup(%L, %L)', format('dense, %s, %s', linkage, radius), format(
       'SELECT count(*) FROM (SELECT id, near_cluster(id, si, %s, %L) OVER (ORDER BY id) AS k FROM dense) AS c WHERE id = k', radius, linkage))
FROM unnest('{leader, connected}'::text[]) AS linkage, unnest('{0, 1, 3, 6, 12}'::integer[]) AS radius \gexec
CREATE INDEX ON fingerprint USING hamming (si);
SET simhash_pg.enable_near_join = off;
-- A part of the join, for all of it would take minutes.
CALL measure_dedup('join through the index, 3, 1 of 101', 'SELECT count(*) FROM fingerprint AS a JOIN fingerprint AS b ON a.id < b.id AND hamming(a.si, b.si) <= 3 WHERE a.id % 101 = 1');
CALL measure_dedup('join through the index, 6, 1 of 101', 'SELECT count(*) FROM fingerprint AS a JOIN fingerprint AS b ON a.id < b.id AND hamming(a.si, b.si) <= 6 WHERE a.id % 101 = 1');
SELECT what, round(seconds::numeric, 2) AS s, rows FROM measured_dedup;
SELECT round((101 * (SELECT seconds FROM measured_dedup WHERE what LIKE 'join%3,%') / (SELECT seconds FROM measured_dedup WHERE what = 'near join, 3'))::numeric)
       AS "near join faster than by index, 3",
       round((101 * (SELECT seconds FROM measured_dedup WHERE what LIKE 'join%6,%') / (SELECT seconds FROM measured_dedup WHERE what = 'near join, 6'))::numeric)
       AS "6", :mb AS "MB of the first, beside shared buffers";
