-- The ten best sketches of many, in processor time. Called with -v documents=NUMBER -v values=NUMBER, those of a sketch.
--
-- Sketches are made up, since a million texts of 5 KB take longer to make than to search. One value in twenty is a phrase
-- of 10,000, which are as frequent as Zipf's law says. Ten documents are a family, which has some of the other values in
-- common: from none to nearly all.
SET client_min_messages = warning;
CREATE FUNCTION cpu_ms() RETURNS numeric LANGUAGE sql VOLATILE AS $$SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::numeric / 1e6$$;
CREATE FUNCTION chance(number bigint, seed bigint) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$SELECT (hashint8extended(number, seed) & 1048575) / 1048576.0::float8$$;
CREATE FUNCTION made_up_sketch(id bigint, family bigint, size integer) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$
    SELECT array_agg(DISTINCT CASE
        WHEN chance(id * 1000 + part, 2) < 0.05 THEN hashint8extended(floor(10000 ^ chance(id * 1000 + part, 3))::bigint, 4)
        WHEN chance(id * 1000 + part, 5) < chance(family, 1) THEN hashint8extended(family * 1000 + part, 6)
        ELSE hashint8extended(id * 1000 + part, 7) END)
    FROM generate_series(1, size) AS part
$$;
CREATE TABLE document (id bigint, sketch bigint[] NOT NULL);
INSERT INTO document SELECT id, made_up_sketch(id, id / 10, (:values * (0.5 + chance(id, 8)))::integer) FROM generate_series(1, :documents) AS id;
VACUUM ANALYZE document;
SELECT cpu_ms() AS before \gset
CREATE INDEX sketches ON document USING gin (sketch sketch_ops);
SELECT count(*) AS documents, round(avg(cardinality(sketch))) AS "values", pg_size_pretty(pg_table_size('document')) AS size,
       round((cpu_ms() - :before) / 1000, 1) AS "s for the index", pg_size_pretty(pg_relation_size('sketches')) AS "its size" FROM document;

-- New members of families: a fifth to nearly all of their values, or phrases alone, are in others.
CREATE TABLE query AS
SELECT shared, q.number, made_up_sketch(1000000000 + family, family, :values) AS sketch
FROM (VALUES (1, 'most', 0.8, 1.0), (2, 'some', 0.2, 0.5), (3, 'little', 0.03, 0.12), (4, 'phrases', 0.0, 0.003)) AS kind (place, shared, least, most),
     LATERAL (SELECT family, row_number() OVER () AS number FROM generate_series(1, :documents / 10 - 1) AS family
              WHERE chance(family, 1) BETWEEN least AND most LIMIT 20) AS q
ORDER BY place;

-- Time is counted by the ticks of the scheduler, so all queries of a kind are measured together.
CREATE TABLE measured (place serial, share text, shared text, by_index boolean, ms numeric);
CREATE PROCEDURE measure(queries integer, runs integer, is_indexed boolean) LANGUAGE plpgsql AS $$
DECLARE
    kind record;
    asked bigint[];
    started numeric;
BEGIN
    PERFORM set_config('enable_bitmapscan', is_indexed::text, true), set_config('enable_seqscan', (NOT is_indexed)::text, true);
    FOR kind IN SELECT * FROM unnest('{"sketch_similarity(sketch, %L)","sketch_containment(%L, sketch)","sketch_containment(sketch, %L)"}'::text[]) AS share,
                              unnest('{most,some,little,phrases}'::text[]) AS shared LOOP
        started := cpu_ms();
        FOR run IN 1..runs LOOP
            FOR asked IN SELECT sketch FROM query WHERE shared = kind.shared AND number <= queries LOOP
                EXECUTE format('SELECT id FROM document ORDER BY ' || kind.share || ' DESC LIMIT 10', asked);
            END LOOP;
        END LOOP;
        INSERT INTO measured (share, shared, by_index, ms)
        SELECT kind.share, kind.shared, is_indexed, (cpu_ms() - started) / runs / count(*) FROM query WHERE shared = kind.shared AND number <= queries;
    END LOOP;
END $$;
CALL measure(10, 3, true);
CALL measure(1, 1, false);
SELECT replace(share, '%L', 'query') AS share, shared, round(min(ms) FILTER (WHERE by_index), 1) AS "ms by index", round(min(ms) FILTER (WHERE NOT by_index)) AS "by a sort"
FROM measured GROUP BY share, shared ORDER BY min(place);

-- Rows that the index gives, and those of them that answer, by the least share of the query's twenty.
CREATE FUNCTION rows_read(condition text, OUT read numeric, OUT answers numeric) LANGUAGE plpgsql AS $$
DECLARE
    asked bigint[];
    plan jsonb;
BEGIN
    read := 0;
    answers := 0;
    FOR asked IN SELECT sketch FROM query WHERE shared = 'some' LOOP
        EXECUTE format('EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) SELECT id FROM document WHERE ' || condition, asked) INTO plan;
        plan := plan -> 0 -> 'Plan';
        IF plan ->> 'Node Type' <> 'Bitmap Heap Scan' THEN RAISE 'not by index: %', plan; END IF;
        answers := answers + (plan ->> 'Actual Rows')::numeric;
        read := read + (plan ->> 'Actual Rows')::numeric + coalesce((plan ->> 'Rows Removed by Index Recheck')::numeric, 0);
    END LOOP;
END $$;
SET enable_seqscan = off;
SELECT replace(condition, '%L', 'query') AS condition, read, answers
FROM unnest('{"sketch_similarity(sketch, %L) >= 0.05","sketch_containment(%L, sketch) >= 0.1","sketch_containment(sketch, %L) >= 0.1","sketch_overlaps(sketch, %L)"}'::text[]) AS condition, rows_read(condition);

-- What an inverted list would take in a tree of hamming: each of the index's four holds every value with its row.
CREATE TABLE inverted AS SELECT unnest(sketch) AS value FROM document;
SELECT cpu_ms() AS before \gset
CREATE INDEX trees ON inverted USING hamming (value);
SELECT count(*) AS "values", round((cpu_ms() - :before) / 4000, 1) AS "s for one tree of hamming", pg_size_pretty(pg_relation_size('trees') / 4) AS "its size" FROM inverted;
