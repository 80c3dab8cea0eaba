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
SELECT replace(obj_description('rare(text)'::regprocedure), to_char(now(), 'YYYY-MM-DD'), 'today') AS comment, provolatile, proisstrict, proparallel, prosecdef
FROM pg_proc WHERE oid = 'rare(text)'::regprocedure;
SELECT rare(NULL) AS null, rare('') AS empty, length(rare('a b')) AS bits;
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
SELECT create_rare_code('of_none', 'few', 'body');
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
SELECT proowner::regrole, pronamespace::regnamespace FROM pg_proc WHERE oid = 'regress_own.rare(text)'::regprocedure;
SET search_path = '';
SELECT public.create_rare_code('theirs', 'public.letter', 'body');
RESET search_path;
BEGIN READ ONLY;
SELECT create_rare_code('theirs', 'letter', 'body');
ROLLBACK;
DROP TABLE letter, few;
DROP FUNCTION rare, "Odd ""name"(text), "Odd ""name"(integer), of_few, of_ordered;
DROP SCHEMA regress_own CASCADE;
DROP ROLE regress_reader;
