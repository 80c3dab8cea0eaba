-- Living clusters. That they are those of near_cluster after any history is in tests/t/032_living_clusters.pl.
CREATE TABLE story (id bigint PRIMARY KEY, published date, tenant integer, si bigint, code bit(80));
INSERT INTO story (id, published, tenant, si) VALUES (3, '2026-01-03', 1, 63), (1, '2026-01-01', 1, 0), (2, '2026-01-02', 1, 7),
    (4, '2026-01-04', 1, 0), (5, '2026-01-05', 2, -1), (6, NULL, 2, NULL), (7, NULL, 2, 7);
UPDATE story SET code = (si::bit(64) || B'1111000011110000')::bit(80);

SELECT near_clusters_create('story', key => 'id', code => 'si', radius => 3);
\d story_clusters
SELECT attname, col_description(attrelid, attnum) FROM pg_attribute WHERE attrelid = 'story_clusters'::regclass AND attnum > 0 ORDER BY attnum;
\d story_clusters_changes
\d story_clusters_rows
SELECT tgname, tgenabled, encode(tgargs, 'escape') AS arguments FROM pg_trigger WHERE tgrelid = 'story'::regclass ORDER BY tgname;
TABLE story_clusters ORDER BY id;
-- Nothing has changed.
SELECT near_clusters_refresh('story');
-- A new first row takes 1, 2 and 4 over; 3 stays.
INSERT INTO story (id, si) VALUES (0, 1);
TABLE story_clusters_changes;
SELECT near_clusters_refresh('story');
SELECT id, cluster, distance FROM story_clusters ORDER BY id;
TABLE story_clusters_changes;
-- It goes, and 2 gets another key and code.
DELETE FROM story WHERE id = 0;
UPDATE story SET id = 20, si = 62 WHERE id = 2;
UPDATE story SET published = '2025-01-01' WHERE id = 1;
TABLE story_clusters_changes;
SELECT near_clusters_refresh('story');
SELECT id, cluster, distance FROM story_clusters ORDER BY id;
-- What is rolled back was not noted.
BEGIN; DELETE FROM story; SAVEPOINT s; INSERT INTO story (id, si) VALUES (9, 9); ROLLBACK TO s; ROLLBACK;
SELECT count(*) FROM story_clusters_changes;
-- A cluster is NULL in no row that others see.
SELECT count(*) FROM story_clusters WHERE cluster IS NULL;
-- What a code would join.
SELECT near_cluster_of('story', 1), near_cluster_of('story', 31), near_cluster_of('story', 1024 - 1), near_cluster_of('story', NULL::bigint);
TRUNCATE story;
INSERT INTO story VALUES (1, NULL, 1, 5);
SELECT near_clusters_refresh('story');
SELECT id, cluster, distance FROM story_clusters ORDER BY id;
-- Changes that no trigger has seen.
ALTER TABLE story DISABLE TRIGGER near_clusters_rows;
INSERT INTO story VALUES (2, NULL, 1, 4);
ALTER TABLE story ENABLE ALWAYS TRIGGER near_clusters_rows;
SELECT near_clusters_refresh('story');
SELECT near_clusters_refresh('story', everything => true);
SELECT id, cluster, distance FROM story_clusters ORDER BY id;
-- With the table of clusters, all goes.
DROP TABLE story_clusters;
\d story
\d

-- An order, tenants, a part of the rows, strings of bits, any key.
ALTER TABLE story ADD COLUMN name text;
DELETE FROM story;
INSERT INTO story (id, published, tenant, si, name) SELECT i, date '2026-01-01' + i, i % 2, (1::bigint << i % 5) - 1, 'story ' || i FROM generate_series(1, 12) AS i;
UPDATE story SET code = (si::bit(64) || B'1111000011110000')::bit(80);
ALTER TABLE story ALTER COLUMN name SET NOT NULL, ADD UNIQUE (name);
SELECT near_clusters_create('story', 'name', 'code', 2, first => ARRAY['length(name) DESC NULLS LAST', 'published DESC'],
                            within => '{tenant}', filter => 'id <> 7');
\d story_clusters_rows
SELECT name, cluster, distance, within_1, first_1, first_2 FROM story_clusters ORDER BY name;
SELECT name, near_cluster(name, code, 2) OVER (PARTITION BY tenant ORDER BY length(name) DESC NULLS LAST, published DESC, name) FROM story WHERE id <> 7 ORDER BY name;
UPDATE story SET tenant = 1 WHERE id = 12;
SELECT near_clusters_refresh('story');
SELECT name, cluster, distance FROM story_clusters ORDER BY name;
SELECT name, near_cluster(name, code, 2) OVER (PARTITION BY tenant ORDER BY length(name) DESC NULLS LAST, published DESC, name) FROM story WHERE id <> 7 ORDER BY name;
SELECT near_cluster_of('story', code, within => ARRAY[tenant::text], key => NULL::text) FROM story WHERE id = 12;
-- Errors of a look-up.
SELECT near_cluster_of('story', code, within => '{1}') FROM story WHERE id = 12;
SELECT near_cluster_of('story', code, key => NULL::text) FROM story WHERE id = 12;
SELECT near_cluster_of('story', 5, within => '{1}', key => NULL::text);
SELECT near_cluster_of('story', code, within => '{x}', key => NULL::text) FROM story WHERE id = 12;
-- What is clustered cannot be dropped without its clusters.
\set VERBOSITY terse
ALTER TABLE story DROP COLUMN tenant;
\set VERBOSITY default
SELECT near_clusters_create('story', 'id', 'si', 2);
DROP TABLE story_clusters;

-- Connected.
SELECT near_clusters_create('story', 'id', 'si', 1, linkage => 'connected', first => '{published DESC}');
SELECT id, cluster, distance FROM story_clusters ORDER BY id;
DELETE FROM story WHERE si = 3;
SELECT near_clusters_refresh('story');
SELECT id, cluster, distance FROM story_clusters ORDER BY id;
SELECT near_cluster_of('story', 2), near_cluster_of('story', 4), near_cluster_of('story', -1);
-- With the table, all goes.
DROP TABLE story;
\d

-- A cluster of half of the table.
CREATE TABLE many (id integer PRIMARY KEY, si bigint);
INSERT INTO many SELECT i, CASE WHEN i <= 200 THEN i ELSE hashint8extended(i, 1) END FROM generate_series(1, 350) AS i;
SELECT near_clusters_create('many', 'id', 'si', 8);
INSERT INTO many SELECT i, hashint8extended(i, 1) FROM generate_series(351, 500) AS i;
SELECT near_clusters_refresh('many');
INSERT INTO many SELECT i, i FROM generate_series(1001, 1200) AS i;
SELECT near_clusters_refresh('many');
DROP TABLE many_clusters;
SELECT near_clusters_create('many', 'id', 'si', 2, 'connected');
INSERT INTO many SELECT i, i FROM generate_series(2001, 2300) AS i;
SELECT near_clusters_refresh('many');

-- The keeper of many equal rows goes: one change, by which all of them are clustered again.
CREATE TABLE alike AS SELECT i AS id, 5::bigint AS si FROM generate_series(1, 40000) AS i;
ALTER TABLE alike ADD PRIMARY KEY (id);
SET client_min_messages = error;
SELECT near_clusters_create('alike', 'id', 'si', 1);
DELETE FROM alike WHERE id = 1;
SET statement_timeout = '600s';   -- as long as anything may take before it counts as hanging
SELECT near_clusters_refresh('alike');
RESET statement_timeout;
RESET client_min_messages;
SELECT cluster, count(*) FROM alike_clusters GROUP BY cluster;
DROP TABLE alike;

-- Errors.
CREATE TABLE wrong (id integer, cluster integer PRIMARY KEY, si bigint, other integer NOT NULL UNIQUE, body text);
SELECT near_clusters_create('wrong', 'id', 'si', 3);
SELECT near_clusters_create('wrong', 'cluster', 'si', 3);
SELECT near_clusters_create('wrong', 'none', 'si', 3);
ALTER TABLE wrong RENAME COLUMN other TO first_1;
SELECT near_clusters_create('wrong', 'first_1', 'si', 3);
ALTER TABLE wrong RENAME COLUMN first_1 TO other;
ALTER TABLE wrong ADD COLUMN numbers integer[] NOT NULL UNIQUE DEFAULT '{1}';
SELECT near_clusters_create('wrong', 'numbers', 'si', 3);
ALTER TABLE wrong DROP COLUMN numbers;
SELECT near_clusters_create('wrong', 'other', 'none', 3);
SELECT near_clusters_create('wrong', 'other', 'body', 3);
SELECT near_clusters_create('wrong', 'other', 'si', NULL);
SELECT near_clusters_create('wrong', 'other', 'si', -1);
SELECT near_clusters_create('wrong', 'other', 'si', 3, 'single');
SELECT near_clusters_create('wrong', 'other', 'si', 3, first => '{none}');
SELECT near_clusters_create('wrong', 'other', 'si', 3, first => '{NULL}');
SELECT near_clusters_create('wrong', 'other', 'si', 3, look => 'si');
SELECT near_clusters_create('hamming_indexes', 'other', 'si', 3);
SELECT near_clusters_create(NULL, 'other', 'si', 3);
SELECT near_clusters_refresh('wrong');
SELECT near_cluster_of('wrong', 5);
CREATE TRIGGER t AFTER INSERT ON wrong FOR EACH ROW EXECUTE FUNCTION near_clusters_trigger();
INSERT INTO wrong VALUES (1, 1, 1, 1);
DROP TRIGGER t ON wrong;
CREATE TRIGGER t BEFORE INSERT ON wrong FOR EACH ROW EXECUTE FUNCTION near_clusters_trigger('table=many_clusters', 'key=id');
INSERT INTO wrong VALUES (1, 1, 1, 1);
DROP TRIGGER t ON wrong;
-- Notes are written to a table of the owner's that is made for them alone.
CREATE TRIGGER t AFTER INSERT ON wrong FOR EACH ROW EXECUTE FUNCTION near_clusters_trigger('table=none', 'key=id');
INSERT INTO wrong VALUES (1, 1, 1, 1);
CREATE TABLE none_changes (id integer UNIQUE);
INSERT INTO wrong VALUES (1, 1, 1, 1);
SELECT near_clusters_refresh('wrong');
DROP TABLE wrong, none_changes;
CREATE ROLE nobody_special;
SET ROLE nobody_special;
SELECT near_clusters_refresh('many');
SELECT near_clusters_create('many', 'id', 'si', 3);
RESET ROLE;
DROP ROLE nobody_special;
DROP TABLE many;

-- A second code must be near as well.
CREATE TABLE seen (id integer PRIMARY KEY, si bigint, look bit(16));
INSERT INTO seen VALUES (1, 0, B'0000000000000000'), (2, 1, B'1111111100000000'), (3, 3, B'1111111000000001'), (4, 1, NULL), (5, NULL, B'0000000000000000'), (6, 2, B'0000000000000001');
SELECT near_clusters_create('seen', 'id', 'si', 3, look => 'look', look_radius => 2);
SELECT id, cluster, distance FROM seen_clusters ORDER BY id;
SELECT id, near_cluster(id, si, 3, look, 2) OVER (ORDER BY id) FROM seen ORDER BY id;
SELECT id, near_cluster(id, si, 3, look => look, look_radius => 2, linkage => 'connected') OVER (ORDER BY id DESC) FROM seen ORDER BY id;
UPDATE seen SET look = B'0000000000000000' WHERE id IN (2, 4);
SELECT near_clusters_refresh('seen');
SELECT id, cluster, distance FROM seen_clusters ORDER BY id;
SELECT near_cluster_of('seen', 0, look => B'1111111000000001', key => NULL::integer), near_cluster_of('seen', 0, key => NULL::integer);
SELECT near_cluster(id, si, 3, look, 17) OVER (ORDER BY id) FROM seen;
SELECT near_cluster(id, si, 3, look, NULL) OVER (ORDER BY id) FROM seen;
DROP TABLE seen_clusters;
SELECT near_clusters_create('seen', 'id', 'si', 3, look => 'si', look_radius => 2);
SELECT near_clusters_create('seen', 'id', 'si', 3, look => 'look', look_radius => 17);
DROP TABLE seen;

-- The table changes. What would make a wrong answer is an error.
CREATE TABLE altered (id integer PRIMARY KEY, si bigint, tenant integer, body text);
INSERT INTO altered SELECT i, i, 1, 'x' || i FROM generate_series(1, 6) AS i;
SELECT near_clusters_create('altered', 'id', 'si', 1, within => '{tenant}', first => '{length(body) DESC}');
SELECT near_clusters_create('altered', 'id', 'si', 2);
\set VERBOSITY terse
ALTER TABLE altered ALTER COLUMN id TYPE bigint;
ALTER TABLE altered ALTER COLUMN si TYPE numeric;
ALTER TABLE altered DROP COLUMN si;
\set VERBOSITY default
-- Names of the table and of other columns than the key do not matter.
ALTER TABLE altered RENAME TO renamed;
ALTER TABLE renamed RENAME COLUMN si TO code;
ALTER TABLE renamed RENAME COLUMN tenant TO customer;
INSERT INTO renamed VALUES (7, 7, 1, 'longer');
SELECT near_clusters_refresh('renamed');
SELECT id, cluster, distance FROM altered_clusters ORDER BY id;
ALTER TABLE renamed RENAME COLUMN id TO number;
INSERT INTO renamed VALUES (8, 8, 1, 'x');
ALTER TABLE renamed RENAME COLUMN number TO id;
BEGIN;
ALTER TABLE renamed DROP CONSTRAINT altered_pkey;
INSERT INTO renamed VALUES (7, 9, 1, 'twice');
SELECT near_clusters_refresh('renamed');
ROLLBACK;
BEGIN;
ALTER TABLE renamed DROP COLUMN body CASCADE;
SELECT near_clusters_refresh('renamed');
ROLLBACK;
BEGIN;
ALTER TABLE altered_clusters_changes RENAME TO elsewhere;
SELECT near_clusters_refresh('renamed');
ROLLBACK;
BEGIN;
ALTER TABLE altered_clusters RENAME TO elsewhere;
SELECT near_clusters_refresh('renamed');
ROLLBACK;
BEGIN;
ALTER TABLE renamed SET UNLOGGED;
SELECT near_clusters_refresh('renamed');
ROLLBACK;
DROP TABLE renamed;
-- A table of another type by the same names, after a look-up by the first one.
CREATE TABLE altered (id integer PRIMARY KEY, si bigint, tenant name);
INSERT INTO altered VALUES (1, 1, 'a');
SELECT near_clusters_create('altered', 'id', 'si', 1, within => '{tenant}');
SELECT near_cluster_of('altered', 1, within => '{a}', key => NULL::integer);
DROP TABLE altered_clusters;
ALTER TABLE altered ALTER tenant TYPE text;
SELECT near_clusters_create('altered', 'id', 'si', 1, within => '{tenant}');
SELECT near_cluster_of('altered', 1, within => '{a}', key => NULL::integer);
-- A snapshot that does not see what others have done since.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT near_clusters_refresh('altered');
ROLLBACK;
-- Another owner needs the other tables as well.
CREATE ROLE next_owner;
GRANT CREATE ON SCHEMA public TO next_owner;
ALTER TABLE altered OWNER TO next_owner;
INSERT INTO altered VALUES (2, 2, 'a');
ALTER TABLE altered_clusters OWNER TO next_owner;
ALTER TABLE altered_clusters_changes OWNER TO next_owner;
ALTER VIEW altered_clusters_rows OWNER TO next_owner;
INSERT INTO altered VALUES (2, 0, 'a');
SELECT near_clusters_refresh('altered');
SELECT id, cluster FROM altered_clusters;
DROP TABLE altered;
REVOKE CREATE ON SCHEMA public FROM next_owner;
DROP ROLE next_owner;
-- Rows of any kind of key: records, and texts whose case does not count.
CREATE TYPE place AS (page integer, line text);
CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE keyed (line place PRIMARY KEY, node text COLLATE no_case NOT NULL UNIQUE, si bigint);
INSERT INTO keyed VALUES ((1, 'a'), 'a', 1), ((1, 'b'), 'B', 3), ((2, 'a'), 'c', 7);
SELECT near_clusters_create('keyed', 'line', 'si', 1, first => '{node DESC}');
DELETE FROM keyed WHERE node = 'b';
UPDATE keyed SET si = 5 WHERE node = 'a';
SELECT near_clusters_refresh('keyed');
SELECT line, cluster FROM keyed_clusters ORDER BY line;
DROP TABLE keyed_clusters;
SELECT near_clusters_create('keyed', 'node', 'si', 2, 'connected');
UPDATE keyed SET node = 'A' WHERE node = 'a';
DELETE FROM keyed WHERE node = 'C';
INSERT INTO keyed VALUES ((3, 'a'), 'd', 0);
SELECT near_clusters_refresh('keyed');
SELECT node, cluster FROM keyed_clusters ORDER BY node;
DROP TABLE keyed;
DROP TYPE place;
DROP COLLATION no_case;
-- All of it can move to another schema, in one transaction.
CREATE SCHEMA other;
CREATE TABLE moved (id integer PRIMARY KEY, si bigint);
SELECT near_clusters_create('moved', 'id', 'si', 1);
BEGIN;
ALTER TABLE moved SET SCHEMA other;
INSERT INTO other.moved VALUES (1, 1);
ROLLBACK;
ALTER TABLE moved SET SCHEMA other;
ALTER TABLE moved_clusters SET SCHEMA other;
ALTER TABLE moved_clusters_changes SET SCHEMA other;
ALTER VIEW moved_clusters_rows SET SCHEMA other;
INSERT INTO other.moved VALUES (1, 1);
SELECT near_clusters_refresh('other.moved');
DROP SCHEMA other CASCADE;

-- Other relations than ordinary tables. A partition has clusters of its own.
CREATE TABLE parted (id integer PRIMARY KEY, si bigint) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (100);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (100) TO (200);
SELECT near_clusters_create('parted', 'id', 'si', 1);
SELECT near_clusters_create('parted_1', 'id', 'si', 1);
INSERT INTO parted VALUES (1, 1), (2, 2), (101, 1);
UPDATE parted SET id = 150 WHERE id = 1;
SELECT near_clusters_refresh('parted_1');
SELECT id, cluster FROM parted_1_clusters;
TRUNCATE parted;
SELECT near_clusters_refresh('parted_1');
SELECT count(*) FROM parted_1_clusters;
CREATE VIEW seen AS TABLE parted;
SELECT near_clusters_create('seen', 'id', 'si', 1);
CREATE TEMP TABLE brief (id integer PRIMARY KEY, si bigint);
SELECT near_clusters_create('brief', 'id', 'si', 1);
DROP VIEW seen;
DROP TABLE parted, brief;
