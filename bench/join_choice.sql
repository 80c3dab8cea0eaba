-- Does the planner choose the faster way to join? Tables of a thousand rows and more with one another, scattered and half of
-- them in clusters: processor seconds by near join and by searches of an index, and which of them is chosen. Searches are
-- measured for some rows of the outer side, which is the smaller one, and taken times all of them. Processor time is counted
-- in ticks, so 5 ms are added before times are compared. Called with -v rows=N.
SET client_min_messages = warning;
SET work_mem = '256MB';
CREATE FUNCTION processor_seconds() RETURNS double precision LANGUAGE sql VOLATILE AS
    $$SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::double precision / 1e9$$;
CREATE FUNCTION code(i bigint, rows bigint, kind text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN kind = 'scattered' OR i % 2 = 0 THEN hashint8extended(i, 1)
        ELSE hashint8extended(i % (rows / 50), 2) # (1::bigint << (i % 61)::integer) # (1::bigint << (i / 7 % 53)::integer) END $$;
CREATE TABLE size AS SELECT (10 ^ e)::bigint AS rows FROM generate_series(3, log(:rows)::integer) AS e;
SELECT format('CREATE TABLE %1$s_%2$s AS SELECT i AS id, code(i, %2$s, %1$L) AS si FROM generate_series(1, %2$s::bigint) AS i', kind, rows),
       format('CREATE INDEX ON %1$s_%2$s USING hamming (si)', kind, rows)
FROM unnest('{scattered, clustered}'::text[]) AS kind, size \gexec
VACUUM ANALYZE;

CREATE TABLE choice (kind text, outer_rows bigint, inner_rows bigint, radius integer, near double precision, searches double precision, chosen text);
CREATE FUNCTION chosen(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
        IF line ~ 'Near .*Join|Nested Loop' THEN
            RETURN CASE WHEN line ~ 'Near' THEN 'near join' ELSE 'searches' END;
        END IF;
    END LOOP;
END $$;
CREATE FUNCTION seconds(query text) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    started double precision := processor_seconds();
    rows bigint;
BEGIN
    EXECUTE query INTO rows;
    RETURN processor_seconds() - started;
END $$;
CREATE PROCEDURE measure_choice(kind text, outer_rows bigint, inner_rows bigint, radius integer) LANGUAGE plpgsql AS $$
DECLARE
    searched bigint := least(outer_rows, 3000);
    join_of text := format('FROM %%s AS a JOIN %s_%s AS b ON hamming(a.si, b.si) <= %s', kind, inner_rows, radius);
    query text := 'SELECT count(*) ' || format(join_of, kind || '_' || outer_rows);
    near double precision;
    searches double precision;
    chosen text := chosen(query);
BEGIN
    SET LOCAL enable_nestloop = off;
    near := seconds(query);
    SET LOCAL enable_nestloop = on;
    SET LOCAL enable_hashjoin = off;
    SET LOCAL enable_seqscan = off;
    EXECUTE format('CREATE TEMPORARY TABLE searched ON COMMIT DROP AS SELECT * FROM %s_%s ORDER BY hashint8(id) LIMIT %s', kind, outer_rows, searched);
    query := 'SELECT count(*) ' || format(join_of, 'searched');
    PERFORM seconds(query);
    searches := seconds(query) * outer_rows / searched;
    INSERT INTO choice VALUES (kind, outer_rows, inner_rows, radius, near, searches, chosen);
    COMMIT;
END $$;
SELECT format('CALL measure_choice(%L, %s, %s, %s)', kind, a.rows, b.rows, radius)
FROM unnest('{scattered, clustered}'::text[]) AS kind, size AS a, size AS b, unnest('{3, 6, 10}'::integer[]) AS radius WHERE a.rows <= b.rows \gexec
SELECT kind, outer_rows, inner_rows, radius, round(near::numeric, 3) AS "near join", round(searches::numeric, 3) AS searches, chosen,
       round(((CASE chosen WHEN 'near join' THEN near ELSE searches END + 0.005) / (least(near, searches) + 0.005))::numeric, 1) AS "times the faster"
FROM choice ORDER BY kind DESC, outer_rows, inner_rows, radius;
