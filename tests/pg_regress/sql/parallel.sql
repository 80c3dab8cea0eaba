-- Several processes search whole codes together, and find each row once, in order, as a scan does.
SET jit = off;
CREATE TABLE document (id integer, tenant_id integer, code bit(256));
INSERT INTO document
SELECT i, i % 20, CASE WHEN i % 100 > 0 THEN
    (SELECT string_agg(hashint8extended(CASE WHEN i % 2 = 0 THEN i ELSE i / 50 END, word)::bit(64)::text, '' ORDER BY word)::bit(256) # (i % 7)::bit(256)
    FROM generate_series(1, 4) AS word) END
FROM generate_series(1, 20000) AS i;
VACUUM ANALYZE document;
-- queries in which a stored code replaces $1
CREATE TABLE question AS SELECT number, replace(query, '$1', format('%L::bit(256)', code)) AS query
FROM document, unnest(ARRAY[
    'SELECT array_agg(d) FROM (SELECT hamming(code, $1) AS d FROM document ORDER BY hamming(code, $1) LIMIT 20) AS x',
    'SELECT array_agg(d) FROM (SELECT hamming(code, $1) AS d FROM document ORDER BY hamming(code, $1)) AS x',
    'SELECT array_agg(id ORDER BY id) FROM (SELECT id FROM document ORDER BY hamming(code, $1)) AS x',
    'SELECT array_agg(d) FROM (SELECT hamming(code, $1) AS d FROM document WHERE hamming(code, $1) <= 120 ORDER BY hamming(code, $1)) AS x',
    'SELECT array_agg(id ORDER BY id) FROM document WHERE hamming(code, $1) <= 130',
    'SELECT array_agg(id ORDER BY id) FROM document WHERE hamming(code, $1) <= 140 AND hamming(code, ~ $1) <= 140',
    'SELECT count(*) FROM document WHERE hamming(code, $1) <= 256',
    'SELECT array_agg(id ORDER BY id) FROM document WHERE code IS NULL',
    'SELECT array_agg(id ORDER BY id) FROM document WHERE tenant_id = 7 AND hamming(code, $1) <= 130',
    'SELECT array_agg(d) FROM (SELECT hamming(code, $1) AS d FROM document WHERE tenant_id = 7 ORDER BY hamming(code, $1)) AS x'
    ]) WITH ORDINALITY AS asked (query, number)
WHERE id = 301;
SET max_parallel_workers_per_gather = 2;
SET min_parallel_index_scan_size = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET enable_bitmapscan = off;
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        RETURN NEXT ltrim(regexp_replace(line, '<[01]+,', '<Q,', 'g'), ' ->');
    END LOOP;
END $$;
-- EXECUTE … INTO uses no workers, so results are stored in a table.
CREATE TABLE answer (way text, number bigint, line text);
CREATE PROCEDURE answers(way text) LANGUAGE plpgsql AS $$
DECLARE
    asked question;
BEGIN
    FOR asked IN TABLE question LOOP
        EXECUTE format('CREATE TABLE made AS %s', asked.query);
        EXECUTE format('INSERT INTO answer SELECT %L, %s, made::text FROM made; DROP TABLE made', answers.way, asked.number);
    END LOOP;
END $$;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
CALL answers('scan');
RESET enable_indexscan;
RESET enable_indexonlyscan;
SET enable_seqscan = off;
SET enable_sort = off;
CREATE INDEX whole ON document USING hamming (code) WITH (trees = whole);
-- above a parallel scan, some versions gather rows in order and others sort them
SELECT number, line FROM question, plan(query) AS line WHERE number <= 8 AND line ~ 'Index';
CALL answers('whole');
SET work_mem = '64kB';
CALL answers('whole, little memory');
SET parallel_leader_participation = off;
CALL answers('whole, by workers');
RESET parallel_leader_participation;
RESET work_mem;
DROP INDEX whole;
CREATE INDEX by_both ON document USING hamming (code) WITH (trees = both);
CALL answers('both');
DROP INDEX by_both;
-- if codes cannot be divided, one process searches
CREATE INDEX by_words ON document USING hamming (code) WITH (trees = words);
CALL answers('words');
DROP INDEX by_words;
CREATE INDEX by_tenant ON document USING hamming (code, tenant_id) WITH (trees = whole);
CALL answers('tenants');
SELECT number, line FROM question, plan(query) AS line WHERE number > 8 AND line ~ 'Index|Filter';
SELECT answer.way, count(*), count(*) FILTER (WHERE answer.line IS NOT DISTINCT FROM scanned.line) AS same
FROM answer JOIN answer AS scanned USING (number) WHERE scanned.way = 'scan' GROUP BY answer.way ORDER BY answer.way;
-- a search that is rescanned
SET enable_material = off;
SET simhash_pg.enable_near_join = off;
SET enable_mergejoin = off;
SELECT count(*) FROM generate_series(1, 3) AS n, LATERAL (SELECT FROM document, question WHERE hamming(document.code, (SELECT code FROM document WHERE id = 301)) <= 130 AND question.number = 1) AS x;
-- a query may end before it has read all rows
SELECT count(*) FROM (SELECT FROM document ORDER BY hamming(code, (SELECT code FROM document WHERE id = 301)) LIMIT 5) AS x;
-- or reads none
SELECT count(*) FROM document WHERE hamming(code, (SELECT code FROM document WHERE id = 301)) <= -1;
DROP TABLE document, question, answer CASCADE;
DROP FUNCTION plan;
DROP PROCEDURE answers;
