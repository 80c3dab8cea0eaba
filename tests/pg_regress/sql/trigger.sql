CREATE TABLE document (id integer PRIMARY KEY, si bigint, title text, body varchar, note char(10));
CREATE TRIGGER fingerprint BEFORE INSERT OR UPDATE ON document
    FOR EACH ROW EXECUTE FUNCTION simhash_trigger('si', 'title', 'body');
-- texts joined by a line break, NULLs skipped
INSERT INTO document VALUES (1, NULL, 'A title', 'and a body'), (2, 42, 'A title', NULL), (3, 42, NULL, NULL), (4, 42, '', '');
SELECT id, si = simhash(concat_ws(E'\n', title, body)) AS right, si IS NULL AS none FROM document ORDER BY id;
-- every change counts, also one that sets the fingerprint itself
UPDATE document SET body = 'and another body' WHERE id = 1;
UPDATE document SET si = 7 WHERE id = 2;
SELECT id, si = simhash(concat_ws(E'\n', title, body)) AS right FROM document WHERE id <= 2 ORDER BY id;
-- ON CONFLICT DO UPDATE fires it as well
INSERT INTO document (id, title) VALUES (3, 'Now with a title') ON CONFLICT (id) DO UPDATE SET title = excluded.title;
SELECT si = simhash('Now with a title') AS right FROM document WHERE id = 3;
-- dropped and added columns move the others
ALTER TABLE document DROP COLUMN note;
ALTER TABLE document DROP COLUMN si;
ALTER TABLE document ADD COLUMN si bigint;
UPDATE document SET id = id;
SELECT bool_and(si IS NOT DISTINCT FROM simhash(concat_ws(E'\n', title, body))) AS right FROM document;
-- another scheme, anywhere among the arguments after the first
CREATE OR REPLACE TRIGGER fingerprint BEFORE INSERT OR UPDATE ON document
    FOR EACH ROW EXECUTE FUNCTION simhash_trigger('si', 'scheme=char:8', 'body');
UPDATE document SET id = id;
SELECT bool_and(si IS NOT DISTINCT FROM simhash(body, 'char:8')) AS right FROM document;
-- the default is doc2
CREATE TABLE of_schemes (body text, by_default bigint, doc2 bigint, doc1 bigint, simhash_doc bigint);
CREATE TRIGGER a BEFORE INSERT ON of_schemes FOR EACH ROW EXECUTE FUNCTION simhash_trigger('by_default', 'body');
CREATE TRIGGER b BEFORE INSERT ON of_schemes FOR EACH ROW EXECUTE FUNCTION simhash_trigger('doc2', 'body', 'scheme=doc2');
CREATE TRIGGER c BEFORE INSERT ON of_schemes FOR EACH ROW EXECUTE FUNCTION simhash_trigger('doc1', 'body', 'scheme=doc1');
CREATE TRIGGER d BEFORE INSERT ON of_schemes FOR EACH ROW EXECUTE FUNCTION simhash_trigger('simhash_doc', 'body', 'scheme=simhash-doc');
INSERT INTO of_schemes VALUES ('the old harbour');
SELECT by_default = simhash(body, 'doc2') AS by_default, doc2 = simhash(body, 'doc2') AS doc2, doc1 = simhash(body, 'doc1') AS doc1,
       simhash_doc = simhash(body, 'simhash-doc') AS simhash_doc
FROM of_schemes;
DROP TABLE of_schemes;
-- partitions, one with its columns in another order
CREATE TABLE parted (id integer, body text, si bigint) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
CREATE TABLE parted_2 (si bigint, gone integer, body text, id integer);
ALTER TABLE parted_2 DROP COLUMN gone;
ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES FROM (10) TO (20);
CREATE TRIGGER fingerprint BEFORE INSERT OR UPDATE ON parted
    FOR EACH ROW EXECUTE FUNCTION simhash_trigger('si', 'body');
INSERT INTO parted (id, body) VALUES (1, 'first partition'), (11, 'second partition');
UPDATE parted SET body = body || ', changed' WHERE id = 11;
UPDATE parted SET id = 12 WHERE id = 1;
SELECT tableoid::regclass, id, si = simhash(body) AS right FROM parted ORDER BY id;
DROP TABLE parted;
-- columns of all types that are text, with odd names
CREATE DOMAIN short_text AS text CHECK (length(value) < 100);
CREATE TABLE "odd Names" ("The SI" bigint, "a ""quoted"" column" short_text, padded char(20), "scheme" text);
CREATE TRIGGER fingerprint BEFORE INSERT ON "odd Names"
    FOR EACH ROW EXECUTE FUNCTION simhash_trigger('The SI', 'a "quoted" column', 'padded', 'scheme', 'scheme=char:1');
INSERT INTO "odd Names" VALUES (NULL, 'x', 'y', 'z') RETURNING "The SI" = simhash(E'x\ny\nz', 'char:1') AS right;
DROP TABLE "odd Names";
DROP DOMAIN short_text;
-- every misuse is an error, and the row is not stored
CREATE TABLE misused (id integer, si bigint, small integer, made bigint GENERATED ALWAYS AS (id) STORED,
                      body text, upper_body text GENERATED ALWAYS AS (upper(body)) STORED, raw bytea);
CREATE FUNCTION misuse(timing text, level text, VARIADIC arguments text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    message text;
    detail text;
    hint text;
BEGIN
    EXECUTE format('CREATE TRIGGER t %s ON misused FOR EACH %s EXECUTE FUNCTION simhash_trigger(%s)', timing, level,
                   (SELECT string_agg(quote_literal(a), ', ') FROM unnest(arguments) AS a));
    BEGIN
        INSERT INTO misused (id, body) VALUES (1, 'text');
        UPDATE misused SET id = 2;
        DELETE FROM misused;
        RAISE NOTICE 'accepted';
    EXCEPTION WHEN others THEN
        GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
        RAISE NOTICE E'%: %\n  detail: %\n  hint: %', SQLSTATE, message, detail, hint;
    END;
    DROP TRIGGER t ON misused;
    IF EXISTS (SELECT FROM misused) THEN RAISE 'a row was written'; END IF;
END $$;
\set VERBOSITY terse
SELECT misuse('AFTER INSERT', 'ROW', 'si', 'body');
SELECT misuse('BEFORE INSERT', 'STATEMENT', 'si', 'body');
SELECT misuse('BEFORE DELETE', 'ROW', 'si', 'body');
SELECT misuse('BEFORE INSERT', 'ROW', VARIADIC '{}');
SELECT misuse('BEFORE INSERT', 'ROW', 'si');
SELECT misuse('BEFORE INSERT', 'ROW', 'si', 'scheme=char:8');
SELECT misuse('BEFORE INSERT', 'ROW', 'si', 'body', 'scheme=char:8', 'scheme=word:1');
SELECT misuse('BEFORE INSERT', 'ROW', 'si', 'body', 'scheme=md5');
SELECT misuse('BEFORE INSERT', 'ROW', 'si', 'body', 'scheme=char:99');
SELECT misuse('BEFORE INSERT', 'ROW', 'none', 'body');
SELECT misuse('BEFORE INSERT', 'ROW', 'si', 'Body');
SELECT misuse('BEFORE INSERT', 'ROW', 'si', 'former');
SELECT misuse('BEFORE INSERT', 'ROW', 'si', 'body', 'ctid');
SELECT misuse('BEFORE INSERT', 'ROW', 'si', 'body', 'word:3');
SELECT misuse('BEFORE INSERT', 'ROW', 'small', 'body');
SELECT misuse('BEFORE INSERT', 'ROW', 'made', 'body');
SELECT misuse('BEFORE INSERT', 'ROW', 'si', 'id');
SELECT misuse('BEFORE INSERT', 'ROW', 'si', 'raw');
SELECT misuse('BEFORE INSERT', 'ROW', 'si', 'upper_body');
SELECT simhash_trigger();
DROP FUNCTION misuse;
DROP TABLE misused, document;
