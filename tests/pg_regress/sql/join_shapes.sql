-- Near joins in all the places where a join may stand give what counting bits gives, which no plan of ours serves.
SET max_parallel_workers_per_gather = 0;
CREATE TABLE join_a (id integer PRIMARY KEY, grp integer, si bigint, note text);
CREATE TABLE join_b (LIKE join_a INCLUDING ALL);
INSERT INTO join_a SELECT i, i % 3, CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN hashint8extended(i, 0) ELSE (hashint8extended(i % 300, 1) # (1::bigint << (i % 63))) END, 'a' || i FROM generate_series(1, 2000) AS i;
INSERT INTO join_b SELECT i, i % 3, CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN hashint8extended(i, 2) ELSE (hashint8extended(i % 300, 1) # (1::bigint << (i % 61))) END, 'b' || i FROM generate_series(1, 1500) AS i;
ANALYZE join_a, join_b;
CREATE FUNCTION near_nodes(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    nodes text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        nodes := concat_ws(', ', nullif(nodes, ''), substring(line FROM 'Near (?:[A-Z][a-z]+ )?Join'));
    END LOOP;
    RETURN nodes;
END $$;
-- What a query counts, by near joins and by bits.
CREATE FUNCTION both_ways(query text, OUT nodes text, OUT near text, OUT fits boolean) LANGUAGE plpgsql AS $$
DECLARE
    plain text := regexp_replace(query, 'hamming\((\w+\.si), (\w+\.si)\)', 'bit_count((\1 # \2)::bit(64))', 'g');
    counted text;
BEGIN
    nodes := near_nodes(query);
    EXECUTE query INTO near;
    EXECUTE plain INTO counted;
    fits := near IS NOT DISTINCT FROM counted AND plain <> query;
END $$;
SELECT * FROM both_ways('SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 2 JOIN join_a AS c ON hamming(c.si, b.si) <= 2 AND c.id <> a.id');
SELECT * FROM both_ways('SELECT sum(n) FROM (SELECT a.id, count(b.id) AS n FROM join_a AS a LEFT JOIN join_b AS b ON hamming(a.si, b.si) <= 2 AND b.id % 2 = 0 GROUP BY a.id) AS s');
SELECT * FROM both_ways('SELECT count(*) FROM join_a AS a WHERE a.grp + 1 IN (SELECT b.grp FROM join_b AS b WHERE hamming(a.si, b.si) <= 2)');
SELECT * FROM both_ways('WITH b AS MATERIALIZED (SELECT * FROM join_b WHERE grp < 2) SELECT count(*) FROM join_a AS a JOIN b ON hamming(a.si, b.si) <= 2');
SELECT * FROM both_ways('SELECT count(*) FROM (SELECT si FROM join_a UNION ALL SELECT si FROM join_b) AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 2');
SELECT * FROM both_ways('SELECT count(*) FROM unnest((SELECT array_agg(si) FROM join_a)) AS a (si) JOIN join_b AS b ON hamming(a.si, b.si) <= 2');
SELECT * FROM both_ways('SELECT count(*) FROM generate_series(1, 2) AS g, LATERAL (SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 2 AND a.grp = g OFFSET 0) AS c');
SELECT * FROM both_ways('SELECT string_agg(note, '' '' ORDER BY note) FROM (SELECT a.note FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 2 GROUP BY a.note HAVING count(*) > 5) AS s');
SELECT * FROM both_ways('SELECT max(r::text) FROM (SELECT a AS r FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 2) AS s');

-- Parts of tables, joined part by part if the planner may.
CREATE TABLE part_a (LIKE join_a) PARTITION BY LIST (grp);
CREATE TABLE part_b (LIKE join_a) PARTITION BY LIST (grp);
SELECT format('CREATE TABLE part_%s%s PARTITION OF part_%s FOR VALUES IN (%s)', side, grp, side, grp) FROM unnest('{a, b}'::text[]) AS side, generate_series(0, 2) AS grp \gexec
INSERT INTO part_a SELECT * FROM join_a;
INSERT INTO part_b SELECT * FROM join_b;
ANALYZE part_a, part_b;
SELECT * FROM both_ways('SELECT count(*) FROM part_a AS a JOIN part_b AS b ON hamming(a.si, b.si) <= 2');
SET enable_partitionwise_join = on;
SET enable_nestloop = off;
SELECT * FROM both_ways('SELECT count(*) FROM part_a AS a JOIN part_b AS b ON hamming(a.si, b.si) <= 2 AND a.grp = b.grp');
SELECT * FROM both_ways('SELECT count(*), count(b.id) FROM part_a AS a LEFT JOIN part_b AS b ON hamming(a.si, b.si) <= 2 AND a.grp = b.grp');
RESET enable_nestloop;
RESET enable_partitionwise_join;

-- Prepared: the radius and the rows of a side are parameters of a plan for all.
SET plan_cache_mode = force_generic_plan;
PREPARE near_rows (integer, bigint[]) AS SELECT count(*) FROM unnest($2) AS a (si) JOIN join_b AS b ON hamming(a.si, b.si) <= $1;
SET enable_nestloop = off;
EXPLAIN (COSTS OFF) EXECUTE near_rows (1, NULL);
SELECT array_agg(si) AS codes FROM join_a WHERE id <= 500 \gset
EXECUTE near_rows (2, :'codes');
SELECT count(*) FROM join_a AS a JOIN join_b AS b ON bit_count((a.si # b.si)::bit(64)) <= 2 WHERE a.id <= 500;
EXECUTE near_rows (NULL, :'codes');
EXECUTE near_rows (64, '{1, NULL}');
EXECUTE near_rows (2, NULL);
RESET enable_nestloop;
RESET plan_cache_mode;
DEALLOCATE near_rows;

-- Rows are changed, merged, and kept by a cursor beyond its transaction.
BEGIN;
SELECT near_nodes('MERGE INTO join_b AS b USING join_a AS a ON hamming(a.si, b.si) <= 1 WHEN MATCHED THEN DELETE');
MERGE INTO join_b AS b USING (SELECT DISTINCT ON (si) * FROM join_a ORDER BY si, id) AS a ON hamming(a.si, b.si) <= 0
WHEN MATCHED AND b.grp = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET note = a.note WHEN NOT MATCHED THEN INSERT VALUES (a.id + 5000, a.grp, a.si, 'new');
SELECT count(*), count(*) FILTER (WHERE note = 'new') AS new, count(*) FILTER (WHERE note LIKE 'a%') AS changed FROM join_b;
SELECT near_nodes('DELETE FROM join_a AS a WHERE EXISTS (SELECT FROM join_a AS b WHERE b.id < a.id AND hamming(a.si, b.si) <= 2)');
DELETE FROM join_a AS a WHERE EXISTS (SELECT FROM join_a AS b WHERE b.id < a.id AND hamming(a.si, b.si) <= 2);
SELECT * FROM both_ways('SELECT count(*) FROM join_a AS a JOIN join_a AS b ON b.id < a.id AND hamming(a.si, b.si) <= 2');
ROLLBACK;
BEGIN;
DECLARE near_rows CURSOR WITH HOLD FOR SELECT count(*) OVER () FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 2;
COMMIT;
FETCH 1 FROM near_rows;
CLOSE near_rows;

-- A function that tells what it sees is called for no row that its user may not see.
CREATE FUNCTION tell(note text) RETURNS boolean COST 0.0001 LANGUAGE plpgsql AS $$
BEGIN
    IF note LIKE '%7' THEN
        RAISE WARNING 'seen: %', note;
    END IF;
    RETURN true;
END $$;
CREATE ROLE regress_join_reader;
GRANT SELECT ON join_a, join_b TO regress_join_reader;
ALTER TABLE join_b ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON join_b USING (note NOT LIKE '%7');
CREATE VIEW visible_a WITH (security_barrier) AS SELECT * FROM join_a WHERE note NOT LIKE '%7';
GRANT SELECT ON visible_a TO regress_join_reader;
SET ROLE regress_join_reader;
SELECT near_nodes('SELECT count(*) FROM visible_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 2 AND tell(a.note) AND tell(b.note) AND tell(a.note || b.note)');
SELECT count(*) FROM visible_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 2 AND tell(a.note) AND tell(b.note) AND tell(a.note || b.note);
SELECT count(*) FROM visible_a AS a LEFT JOIN join_b AS b ON hamming(a.si, b.si) <= 2 AND tell(a.note || b.note) WHERE tell(b.note) IS NOT FALSE;
RESET ROLE;
SELECT count(*) FROM join_a AS a JOIN join_b AS b ON bit_count((a.si # b.si)::bit(64)) <= 2 WHERE a.note NOT LIKE '%7' AND b.note NOT LIKE '%7';
DROP VIEW visible_a;
DROP POLICY visible ON join_b;
ALTER TABLE join_b DISABLE ROW LEVEL SECURITY;

-- Workers share the outer side, and an error of theirs is that of the query.
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 2;
SELECT * FROM both_ways('SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 2');
SELECT * FROM both_ways('SELECT count(*) FROM join_a AS a LEFT JOIN join_b AS b ON hamming(a.si, b.si) <= 2 AND a.grp < b.grp');
SELECT * FROM both_ways('SELECT count(*) FROM join_a AS a WHERE NOT EXISTS (SELECT FROM join_b AS b WHERE hamming(a.si, b.si) <= 2)');
SELECT count(*) FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 2 AND 1 / (a.id - 602) < 5;
RESET max_parallel_workers_per_gather;

-- Errors and joins that end early leave no memory behind, and no files.
CREATE FUNCTION joins_again(times integer) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. times LOOP
        BEGIN
            PERFORM FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 2 AND 1 / (a.id - 1998) < 5;
        EXCEPTION WHEN division_by_zero THEN
            PERFORM FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 2 LIMIT 1;
        END;
    END LOOP;
    RETURN (SELECT sum(total_bytes) FROM pg_backend_memory_contexts);
END $$;
SET work_mem = '64kB';
SELECT joins_again(10) IS NOT NULL AS warm;
SELECT joins_again(1) AS before \gset
SELECT joins_again(100) - :before < 300000 AS keeps_nothing;
SELECT count(*) FROM pg_ls_tmpdir();
RESET work_mem;
-- Tables that inherit.
CREATE TABLE child () INHERITS (join_a);
INSERT INTO child SELECT id + 10000, grp, si, note FROM join_b;
SELECT * FROM both_ways('SELECT count(*), count(DISTINCT a.tableoid) FROM join_a AS a JOIN join_b AS b ON hamming(a.si, b.si) <= 2');
DROP TABLE child;
DROP TABLE join_a, join_b, part_a, part_b;
DROP FUNCTION near_nodes, both_ways, tell, joins_again;
DROP ROLE regress_join_reader;
