\set SHOW_CONTEXT never
-- letters of one template; the last one is a version of the first
CREATE TABLE letter AS
SELECT i AS id, format('Dear customer, today we sent your order of %s and %s. It will reach you within three days.', md5(i::text), md5(i || 'b')) AS body
FROM generate_series(1, 1000) AS i;
INSERT INTO letter SELECT 1001, 'Reminder! ' || body FROM letter WHERE id = 1;
ALTER TABLE letter ADD si bigint GENERATED ALWAYS AS (simhash(body)) STORED;
-- in one statement, with either code first
WITH w AS (SELECT feature_weights(body, 'word:2') AS weights FROM letter), c AS (
    SELECT id, near_cluster(id, si, 18, rare_code(body, (SELECT weights FROM w))) OVER (ORDER BY id) AS keeper,
           near_cluster(id, rare_code(body, (SELECT weights FROM w)), 50, si::bit(64), 18) OVER (ORDER BY id) AS exchanged FROM letter)
SELECT * FROM c WHERE keeper <> id OR exchanged <> id;
-- by a function and a stored code, with the same codes
SELECT create_rare_code('rare', 'letter', 'body');
ALTER TABLE letter ADD rare bit(256) GENERATED ALWAYS AS (rare(body)) STORED;
SELECT id, keeper FROM (SELECT id, near_cluster(id, si, 18, rare) OVER (ORDER BY id) AS keeper FROM letter) AS c WHERE keeper <> id;
SELECT count(*) AS different FROM letter WHERE rare <> rare_code(body, (SELECT feature_weights(body, 'word:2') FROM letter));
SELECT replace(obj_description('rare(text)'::regprocedure), to_char(now(), 'YYYY-MM-DD'), 'today') AS comment, provolatile, proisstrict, proparallel, prosecdef,
    procost, prorettype::regtype
FROM pg_proc WHERE oid = 'rare(text)'::regprocedure;
SELECT rare(NULL) AS null, rare('') AS empty, length(rare('a b')) AS bits;
-- plans name the function, and do not show its weights; those of an index on it need no cast, and near joins need no column
CREATE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
        RETURN NEXT regexp_replace(line, '[01]{255}[01]', 'code');
    END LOOP;
END $$;
CREATE INDEX letter_rare ON letter USING hamming (rare(body));
ANALYZE letter;
SELECT plan_of('SELECT a.id FROM letter AS a JOIN letter AS b ON hamming(rare(a.body), rare(b.body)) <= 50 AND a.id < b.id');
SELECT plan_of('SELECT id FROM letter AS a WHERE EXISTS (SELECT FROM letter AS b WHERE hamming(a.si, b.si) <= 18 AND hamming(rare(a.body), rare(b.body)) <= 50 AND a.id > b.id)');
SELECT count(*) FILTER (WHERE line LIKE '%near_cluster(id, si, 18, (rare(body))::"bit", 50%') > 0 AS named, max(length(line)) < 1000 AS short
FROM plan_of('SELECT id, rare(body), near_cluster(id, si, 18, rare(body), 50) OVER (ORDER BY id) FROM letter') AS line;
SET enable_seqscan = off;
SELECT plan_of('SELECT id FROM letter WHERE hamming(rare(body), repeat(''01'', 128)::bit(256)) <= 50 AND rare(body) IS NOT NULL');
SELECT plan_of('SELECT id FROM letter ORDER BY hamming(rare(body), repeat(''01'', 128)::bit(256)) LIMIT 3');
RESET enable_seqscan;
-- with the same rows as by the column
SELECT a.id, b.id FROM letter AS a JOIN letter AS b ON hamming(rare(a.body), rare(b.body)) <= 50 AND a.id < b.id;
SELECT a.id, b.id FROM letter AS a JOIN letter AS b ON hamming(a.rare, b.rare) <= 50 AND a.id < b.id;
SELECT count(*) AS different FROM (SELECT near_cluster(id, si, 18, rare(body), 50) OVER (ORDER BY id) AS by_body, near_cluster(id, si, 18, rare) OVER (ORDER BY id) AS by_column FROM letter) AS c
WHERE by_body <> by_column;
SELECT count(*) AS different FROM
    (SELECT id FROM letter ORDER BY hamming(rare(body), (SELECT rare FROM letter WHERE id = 1)), id LIMIT 10) AS by_index
    FULL JOIN (SELECT id FROM letter ORDER BY hamming(rare, (SELECT rare FROM letter WHERE id = 1)), id LIMIT 10) AS by_column USING (id)
WHERE by_index IS NULL OR by_column IS NULL;
-- by parallel workers
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT plan_of('SELECT count(*) FROM letter WHERE rare(body) = rare');
SELECT count(*) FROM letter WHERE rare(body) = rare;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
-- it depends on the extension
SELECT count(*) AS dependencies FROM pg_depend WHERE objid = 'rare(text)'::regprocedure AND refobjid = 'rare_code'::regtype AND deptype = 'n';
-- a name is not made again
SELECT create_rare_code('rare', 'letter', 'body');
CREATE FUNCTION "Odd ""name"(integer) RETURNS integer LANGUAGE SQL IMMUTABLE RETURN $1;
SELECT create_rare_code('Odd "name', 'letter', 'body');
-- the texts that are weighed come from the whole table, and not from its beginning
CREATE TABLE ordered AS SELECT CASE WHEN i <= 20000 THEN 'p q' ELSE 'q r' END AS body FROM generate_series(1, 40000) AS i;
SELECT create_rare_code('of_ordered', 'ordered', 'body');
SELECT of_ordered('p q r') = rare_code('p q r', (SELECT feature_weights(body, 'word:2') FROM ordered)) AS of_all;
-- few texts, or none
CREATE TABLE few AS SELECT body FROM letter WHERE id <= 10;
SELECT create_rare_code('of_few', 'few', 'body');
TRUNCATE few;
\set SHOW_CONTEXT errors
SELECT create_rare_code('of_none', 'few', 'body');
\set SHOW_CONTEXT never
SELECT create_rare_code('of_none', 'letter', 'si');
SELECT create_rare_code('of_none', 'letter', 'nothing');
SELECT create_rare_code('of_none', 0, 'body');
-- the rights are those of the caller, and the schema is the first of the search path
CREATE ROLE regress_reader;
CREATE SCHEMA regress_own AUTHORIZATION regress_reader;
SET ROLE regress_reader;
SET search_path = regress_own, public;
SELECT create_rare_code('rare', 'letter', 'body');
RESET ROLE;
GRANT SELECT ON letter TO regress_reader;
SET ROLE regress_reader;
SELECT create_rare_code('rare', 'letter', 'body');
SET search_path = public;
SELECT create_rare_code('theirs', 'letter', 'body');
RESET ROLE;
REVOKE USAGE ON LANGUAGE plpgsql FROM PUBLIC;
SET ROLE regress_reader;
SET search_path = regress_own, public;
SELECT create_rare_code('theirs', 'letter', 'body');
RESET ROLE;
GRANT USAGE ON LANGUAGE plpgsql TO PUBLIC;
SELECT proowner::regrole, pronamespace::regnamespace FROM pg_proc WHERE oid = 'regress_own.rare(text)'::regprocedure;
-- a role that may not call a function can read its weights all the same, as the documentation says
REVOKE EXECUTE ON FUNCTION public.rare FROM PUBLIC;
SET ROLE regress_reader;
SELECT public.rare('a b');
SELECT prosrc LIKE '%decode(''%' AS readable FROM pg_proc WHERE oid = 'public.rare(text)'::regprocedure;
RESET ROLE;
SET search_path = '';
SELECT public.create_rare_code('theirs', 'public.letter', 'body');
RESET search_path;
BEGIN READ ONLY;
SELECT create_rare_code('theirs', 'letter', 'body');
ROLLBACK;
DROP TABLE letter, few;
DROP FUNCTION plan_of, rare, "Odd ""name"(text), "Odd ""name"(integer), of_few, of_ordered;
DROP SCHEMA regress_own CASCADE;
DROP ROLE regress_reader;
