-- Does the planner choose the fastest way to join? Two tables of 10 to N rows; codes of 64, 256 and 1,024 bits, a tenth of them
-- copies with some changed bits; a small and a large radius; three settings of work_mem; an index on neither table, one or both;
-- with statistics and without. Processor seconds of a near join, of searches of an index, measured for some rows and taken times
-- all of them, and of comparing all rows, measured so too. Each measurement ends after a limit of time.
-- 5 ms are added before times are compared. Called with -v rows=N -v limit=10s.
SET client_min_messages = warning;
\ir processor_seconds.sql
CREATE FUNCTION code64(i bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS
    $$SELECT CASE WHEN i % 10 = 0 THEN hashint8extended(i - 1, 1) # (1::bigint << (i % 61)::integer) ELSE hashint8extended(i, 1) END$$;
CREATE FUNCTION word(i bigint, seed bigint) RETURNS bit(64) LANGUAGE sql IMMUTABLE AS
    $$SELECT CASE WHEN i % 10 = 0 THEN hashint8extended(i - 1, seed) # (1::bigint << (i % 61)::integer) ELSE hashint8extended(i, seed) END::bit(64)$$;
CREATE FUNCTION code256(i bigint) RETURNS bit(256) LANGUAGE sql IMMUTABLE AS
    $$SELECT (word(i, 1) || word(i, 2) || word(i, 3) || word(i, 4))::bit(256)$$;
CREATE FUNCTION code1024(i bigint) RETURNS bit(1024) LANGUAGE sql IMMUTABLE AS
    $$SELECT (code256(i) || code256(i + 1000000007) || code256(i + 2000000014) || code256(i + 3000000021))::bit(1024)$$;
CREATE TABLE size AS SELECT rows::bigint FROM unnest('{10, 1000, 100000, 1000000}'::bigint[]) AS rows WHERE rows <= :rows;
CREATE TABLE nearness AS SELECT * FROM (VALUES (64, 3), (64, 10), (256, 16), (256, 60), (1024, 50), (1024, 150)) AS near (width, radius);
SELECT format('CREATE TABLE %1$s%2$s_%3$s AS SELECT i AS id, code%2$s(i)::%4$s AS code FROM generate_series(1, %3$s::bigint) AS i', side, width, rows, CASE width WHEN 64 THEN 'bigint' ELSE format('bit(%s)', width) END),
       format('CREATE INDEX %1$s%2$s_%3$s_code ON %1$s%2$s_%3$s USING hamming (code)', side, width, rows)
FROM unnest('{a,b}'::text[]) AS side, unnest('{64, 256, 1024}'::integer[]) AS width, size \gexec
VACUUM ANALYZE;

-- Processor seconds of a query; NULL if it takes longer than a statement may.
CREATE FUNCTION seconds(query text) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    started double precision := processor_seconds();
    rows bigint;
BEGIN
    EXECUTE query INTO rows;
    RETURN processor_seconds() - started;
EXCEPTION WHEN query_canceled THEN
    -- It takes longer than a statement may.
    RETURN NULL;
END $$;
CREATE FUNCTION join_of(width integer, radius integer, a text, b text) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$SELECT format('SELECT count(*) FROM %s AS a JOIN %s AS b ON hamming(a.code, b.code) <= %s', a, b, radius)$$;
-- Rows that search, or are compared.
SELECT format('CREATE TABLE few%1$s AS SELECT * FROM a%1$s_%2$s ORDER BY hashint8(id) LIMIT 10000', width, (SELECT max(rows) FROM size)) FROM unnest('{64, 256, 1024}'::integer[]) AS width \gexec
ANALYZE;
-- What one row of the other table takes: by the index, and by a comparison with each row.
CREATE TABLE one_row (width integer, radius integer, rows bigint, searched double precision, compared double precision);
CREATE FUNCTION seconds_of_rows(width integer, radius integer, rows bigint, few bigint) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    taken text := format('(SELECT * FROM few%s LIMIT %s)', width, few);
    query text := join_of(width, radius, taken, format('b%s_%s', width, rows));
    taken_time double precision := seconds(query);
    -- Processor time is counted in ticks.
    times integer := CASE WHEN taken_time < 0.05 THEN 20 ELSE 1 END;
    started double precision := processor_seconds();
BEGIN
    FOR time IN 1..times LOOP
        PERFORM seconds(query);
    END LOOP;
    RETURN CASE WHEN taken_time IS NOT NULL THEN (processor_seconds() - started) / few / times END;
END $$;
SET simhash_pg.enable_near_join = off;
SET statement_timeout = :'limit';
SET enable_seqscan = off;
SELECT format('INSERT INTO one_row SELECT %s, %s, %s, seconds_of_rows(%1$s, %2$s, %3$s, CASE WHEN %3$s <= 1000 THEN 10000 ELSE 300 END)', width, radius, rows) FROM nearness, size \gexec
RESET enable_seqscan;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT format('UPDATE one_row SET compared = seconds_of_rows(width, radius, rows, least(10000, 1000000 / rows)) WHERE width = %s AND radius = %s AND rows = %s', width, radius, rows) FROM nearness, size \gexec
RESET enable_indexscan;
RESET enable_bitmapscan;
RESET simhash_pg.enable_near_join;

CREATE TABLE near_seconds (width integer, radius integer, a bigint, b bigint, memory text, seconds double precision);
SET enable_nestloop = off;
SELECT format('SET work_mem = %L', memory),
       format('INSERT INTO near_seconds SELECT %1$s, %2$s, %3$s, %4$s, %5$L, seconds(join_of(%1$s, %2$s, %6$L, %7$L))', width, radius, a.rows, b.rows, memory, format('a%s_%s', width, a.rows), format('b%s_%s', width, b.rows))
FROM nearness, size AS a, size AS b, unnest('{4MB,64MB,1GB}'::text[]) AS memory
WHERE a.rows::double precision * b.rows <= 1e11 OR radius <= width / 16 \gexec
RESET enable_nestloop;
RESET statement_timeout;

CREATE TABLE choice (width integer, radius integer, a bigint, b bigint, memory text, indexes text, analysed boolean, chosen text);
-- What is chosen where indexes or statistics are missing, which are there again afterwards.
CREATE FUNCTION chosen(width integer, radius integer, a bigint, b bigint, indexes text, analysed boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    tables text[] := ARRAY[format('a%s_%s', width, a), format('b%s_%s', width, b)];
    line text;
    shown text := '';
BEGIN
    FOR side IN 1..2 LOOP
        IF strpos(indexes, left(tables[side], 1)) = 0 THEN
            EXECUTE format('DROP INDEX %s_code', tables[side]);
        END IF;
        IF NOT analysed THEN
            DELETE FROM pg_statistic WHERE starelid = tables[side]::regclass;
            UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE oid IN (tables[side]::regclass, to_regclass(tables[side] || '_code'));
        END IF;
    END LOOP;
    FOR line IN EXECUTE 'EXPLAIN ' || join_of(width, radius, tables[1], tables[2]) LOOP
        shown := shown || line || E'\n';
    END LOOP;
    RAISE EXCEPTION USING ERRCODE = 'SH000', MESSAGE = CASE
        WHEN shown ~ 'Near .*Join' THEN 'near join'
        WHEN shown ~ '(Index Scan using|Index Only Scan using|Bitmap Index Scan on) a' THEN 'searches of a'
        WHEN shown ~ '(Index Scan using|Index Only Scan using|Bitmap Index Scan on) b' THEN 'searches of b'
        ELSE 'comparisons' END;
EXCEPTION WHEN SQLSTATE 'SH000' THEN
    RETURN SQLERRM;
END $$;
SELECT format('SET work_mem = %L', memory),
       format('INSERT INTO choice SELECT %s, %s, %s, %s, %L, indexes, analysed, chosen(%1$s, %2$s, %3$s, %4$s, indexes, analysed) FROM unnest(''{"",a,b,ab}''::text[]) AS indexes, unnest(''{t,f}''::boolean[]) AS analysed', width, radius, a, b, memory)
FROM near_seconds \gexec

CREATE VIEW compared_choice AS
SELECT c.*, way.seconds + 0.005 AS seconds, best.way AS best, (way.seconds + 0.005) / (best.seconds + 0.005) AS ratio
FROM choice AS c JOIN near_seconds AS n USING (width, radius, a, b, memory)
JOIN one_row AS of_a ON (of_a.width, of_a.radius, of_a.rows) = (c.width, c.radius, c.a)
JOIN one_row AS of_b ON (of_b.width, of_b.radius, of_b.rows) = (c.width, c.radius, c.b)
CROSS JOIN LATERAL (VALUES ('near join', n.seconds), ('comparisons', c.a * of_b.compared),
    ('searches of a', CASE WHEN c.indexes ~ 'a' THEN c.b * of_a.searched END), ('searches of b', CASE WHEN c.indexes ~ 'b' THEN c.a * of_b.searched END)) AS way (way, seconds)
CROSS JOIN LATERAL (SELECT * FROM (VALUES ('near join', n.seconds), ('comparisons', c.a * of_b.compared),
    ('searches of a', CASE WHEN c.indexes ~ 'a' THEN c.b * of_a.searched END), ('searches of b', CASE WHEN c.indexes ~ 'b' THEN c.a * of_b.searched END)) AS all_ways (way, seconds)
    ORDER BY seconds NULLS LAST LIMIT 1) AS best
WHERE way.way = c.chosen;
SELECT memory, analysed, count(*) AS joins, count(*) FILTER (WHERE ratio > 1.3) AS "1.3 times the best", count(*) FILTER (WHERE ratio > 2) AS "2 times", round(max(ratio)::numeric, 1) AS most
FROM compared_choice GROUP BY memory, analysed ORDER BY pg_size_bytes(memory), analysed DESC;
SELECT width, radius, a, b, string_agg(DISTINCT memory, ' ') AS memory, string_agg(DISTINCT CASE indexes WHEN '' THEN 'none' ELSE indexes END, ' ') AS indexes,
       string_agg(DISTINCT CASE WHEN analysed THEN 'yes' ELSE 'no' END, ' ') AS analysed, chosen, round(min(seconds)::numeric, 3) AS seconds, best, round(max(ratio)::numeric, 1) AS "times the best"
FROM compared_choice WHERE ratio > 1.3 GROUP BY width, radius, a, b, chosen, best ORDER BY max(ratio) DESC;
SELECT width, radius, rows, round((searched * 1e6)::numeric, 1) AS "us of a search", round((compared / rows * 1e9)::numeric, 1) AS "ns of a comparison" FROM one_row ORDER BY width, radius, rows;
