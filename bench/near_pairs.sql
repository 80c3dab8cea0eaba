-- Near pairs of a whole table at once, and block by block from a table of blocks: processor seconds and memory of a block.
-- Called with -v rows=N. Half of the fingerprints are scattered, half come in clusters of 50 that differ in up to four bits.
SET client_min_messages = warning;
\ir fingerprints.sql
CREATE TABLE measured_parts (radius integer, parts integer, what text, seconds double precision, rows bigint);
CREATE FUNCTION processor_seconds() RETURNS double precision LANGUAGE sql VOLATILE AS
    $$SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::double precision / 1e9$$;
CREATE FUNCTION measured(query text) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    started double precision := processor_seconds();
BEGIN
    EXECUTE query;
    RETURN processor_seconds() - started;
END $$;
-- What it takes to read arrays, and to find their pairs; the lesser of two times.
CREATE PROCEDURE measure_arrays(radius integer, parts integer, rows text, pairs text) LANGUAGE plpgsql AS $$
DECLARE
    arrays text := format('(SELECT array_agg(id) AS ids, array_agg(si) AS sis FROM %s) AS g', rows);
    reading double precision;
    finding double precision;
    found bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM %s, %s', arrays, pairs) INTO found;
    SELECT min(measured('SELECT cardinality(ids) + cardinality(sis) FROM ' || arrays)),
           min(measured(format('SELECT count(*) FROM %s, %s', arrays, pairs))) INTO reading, finding FROM generate_series(1, 2);
    INSERT INTO measured_parts VALUES (radius, parts, 'array_agg', reading, 0), (radius, parts, 'pairs', finding - reading, found);
END $$;
-- Each block by itself, as a shard or a loop does it.
CREATE PROCEDURE measure_blocks(radius integer, parts integer) LANGUAGE plpgsql AS $$
DECLARE
    number integer;
BEGIN
    CREATE TABLE in_block (block integer, id bigint, si bigint);
    INSERT INTO measured_parts VALUES (radius, parts, 'load', measured(format('INSERT INTO in_block SELECT block, id, si FROM fingerprint,
        unnest(near_blocks(si, %s, %s)) AS block', radius, parts)), 0);
    FOR number IN SELECT DISTINCT block FROM in_block LOOP
        EXECUTE format('CREATE TABLE one_block AS SELECT id, si FROM in_block WHERE block = %s', number);
        CALL measure_arrays(radius, parts, 'one_block', format('near_pairs(ids, sis, %s, %s, %s)', radius, parts, number));
        DROP TABLE one_block;
    END LOOP;
    DROP TABLE in_block;
END $$;
-- What a new session has taken for itself: not what it has touched of the shared buffers.
CREATE VIEW own_mb AS
SELECT round((substring(status FROM 'VmHWM:\s+(\d+)')::bigint - substring(status FROM 'RssShmem:\s+(\d+)')::bigint) / 1024.0) AS mb
FROM pg_read_file('/proc/self/status') AS status;
SELECT format('CALL measure_arrays(%s, 1, ''fingerprint'', ''near_pairs(ids, sis, %s)'')', radius, radius) FROM unnest('{3, 6, 10}'::integer[]) AS radius \gexec
CALL measure_blocks(3, 4);
CALL measure_blocks(3, 16);
CALL measure_blocks(6, 4);
CALL measure_blocks(10, 4);
SELECT radius, parts, count(*) FILTER (WHERE what = 'pairs') AS blocks, round(sum(seconds) FILTER (WHERE what = 'load')::numeric, 2) AS "s to load",
       round(sum(seconds) FILTER (WHERE what = 'array_agg')::numeric, 2) AS "s of array_agg", round(sum(seconds) FILTER (WHERE what = 'pairs')::numeric, 2) AS "s for pairs",
       sum(rows) AS pairs
FROM measured_parts GROUP BY radius, parts ORDER BY radius, parts;
\c
SELECT count(*) AS pairs FROM (SELECT array_agg(id) AS ids, array_agg(si) AS sis FROM fingerprint) AS f, near_pairs(ids, sis, 3);
SELECT mb AS "MB for all at once" FROM own_mb;
CREATE TABLE in_block AS SELECT id, si FROM fingerprint WHERE 5 = ANY (near_blocks(si, 3, 16));
\c
SELECT count(*) AS pairs FROM (SELECT array_agg(id) AS ids, array_agg(si) AS sis FROM in_block) AS f, near_pairs(ids, sis, 3, 16, 5);
SELECT mb AS "MB for a block of 16 parts" FROM own_mb;
DROP TABLE in_block;
