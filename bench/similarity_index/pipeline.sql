-- Near pairs of the texts of one collection and kind, as users find them: candidates by fingerprint, then a second look.
-- Called with -v collection=A -v kind=documents; the tables `sample` and `related` have all texts and related pairs.
\set ON_ERROR_STOP 1
SET client_min_messages = warning;
DROP TABLE IF EXISTS doc, fingerprint, signature, seconds, judged, score CASCADE;

CREATE UNLOGGED TABLE doc (id bigint PRIMARY KEY, change text, number integer, body text);
ALTER TABLE doc ALTER body SET STORAGE EXTERNAL;
INSERT INTO doc SELECT id, change, number, text FROM sample WHERE collection = :'collection' AND kind = :'kind';
VACUUM ANALYZE doc;

-- Seconds that this session has spent on a processor.
CREATE OR REPLACE FUNCTION cpu() RETURNS double precision LANGUAGE sql VOLATILE AS $$
    SELECT split_part(pg_read_file('/proc/self/schedstat', 0, 100), ' ', 1)::double precision / 1e9
$$;

CREATE TABLE seconds (step text, radius integer, look text, pairs bigint, seconds double precision);
CREATE OR REPLACE PROCEDURE measure(step text, radius integer, look text, statement text) LANGUAGE plpgsql AS $$
DECLARE
    start double precision := cpu();
    pairs bigint;
BEGIN
    EXECUTE statement INTO pairs;
    INSERT INTO seconds VALUES (step, radius, look, pairs, cpu() - start);
    COMMIT;
END $$;

CREATE TABLE fingerprint (id bigint, si bigint);
CALL measure('fingerprints', NULL, NULL, $$
    WITH made AS (INSERT INTO fingerprint SELECT id, simhash(body) FROM doc RETURNING id) SELECT count(*) FROM made
$$);
CREATE TABLE signature (id bigint, seen integer[]);
ALTER TABLE signature ALTER seen SET STORAGE EXTERNAL;
CALL measure('signatures', NULL, NULL, $$
    WITH made AS (INSERT INTO signature SELECT id, minhash(body, 128, 'doc2') FROM doc RETURNING id)
    SELECT count(*) FROM made
$$);
VACUUM ANALYZE fingerprint, signature;

-- What a second look sees of a text, and what compares it.
CREATE TEMP TABLE look (name text, seen text, compared text);
INSERT INTO look VALUES
    ('128 bins', $$minhash(body, 128, 'doc2')$$, 'minhash_similarity'),
    ('512 bins', $$minhash(body, 512, 'doc2')$$, 'minhash_similarity'),
    ('winnow', 'winnow_sketch(body, 16, 8)', 'sketch_similarity'),
    ('manber', 'manber_sketch(body, 12, 3)', 'sketch_similarity'),
    ('all features', 'ARRAY(SELECT hash FROM simhash_features(body) ORDER BY hash)', 'sketch_similarity');

CREATE FUNCTION pg_temp.candidates(radius integer) RETURNS text LANGUAGE sql RETURN format($$
    SELECT x.id AS a, y.id AS b, hamming(x.si, y.si) AS distance
    FROM fingerprint AS x JOIN fingerprint AS y ON hamming(x.si, y.si) <= %s AND x.id < y.id
$$, radius);
-- A second look at the texts of candidates, each of which is read once.
CREATE FUNCTION pg_temp.recipe(radius integer, seen text, compared text) RETURNS text LANGUAGE sql RETURN format($$
    WITH candidate AS MATERIALIZED (%s),
    signature AS MATERIALIZED (
        SELECT id, %s AS seen FROM doc WHERE id IN (SELECT a FROM candidate UNION SELECT b FROM candidate)
    )
    SELECT count(*) FROM (
        SELECT a, b, %s(x.seen, y.seen) AS resemblance
        FROM candidate
            JOIN (SELECT DISTINCT ON (id) id, seen FROM signature) AS x ON x.id = a
            JOIN (SELECT DISTINCT ON (id) id, seen FROM signature) AS y ON y.id = b
        OFFSET 0
    ) AS compared WHERE resemblance >= 0.4
$$, pg_temp.candidates(radius), seen, compared);

SELECT format('CALL measure(%L, %s, NULL, %L)', 'candidates', radius, 'SELECT count(*) FROM (' || pg_temp.candidates(radius) || ') AS c')
FROM generate_series(14, 20, 2) AS radius \gexec
SELECT format('CALL measure(%L, %s, %L, %L)', 'recipe', radius, name, pg_temp.recipe(radius, seen, compared))
FROM look, generate_series(14, 20, 2) AS radius WHERE name LIKE '% bins' OR radius = 18 \gexec
SELECT format('CALL measure(%L, %s, %L, %L)', 'recipe', radius, 'stored', format('SELECT count(*) FROM (%s) AS c
    JOIN signature AS x ON x.id = a JOIN signature AS y ON y.id = b WHERE minhash_similarity(x.seen, y.seen) >= 0.4', pg_temp.candidates(radius)))
FROM generate_series(14, 20, 2) AS radius \gexec
CREATE INDEX ON fingerprint USING hamming (si);
SET simhash_pg.enable_near_join = off;
CALL measure('join', 14, NULL, 'SELECT count(*) FROM fingerprint AS a JOIN fingerprint AS b ON hamming(a.si, b.si) <= 14 AND a.id < b.id');
RESET simhash_pg.enable_near_join;

-- The pairs that count: a changed text with its original, and two originals that are not related.
CREATE TABLE judged AS
SELECT c.*, x.number AS first, y.number AS second, replace(x.change || y.change, 'none', '') AS change
FROM (SELECT x.id AS a, y.id AS b, hamming(x.si, y.si) AS distance
      FROM fingerprint AS x JOIN fingerprint AS y ON hamming(x.si, y.si) <= 20 AND x.id < y.id) AS c
    JOIN (SELECT DISTINCT id, number, change FROM doc) AS x ON x.id = a
    JOIN (SELECT DISTINCT id, number, change FROM doc) AS y ON y.id = b
WHERE x.number = y.number AND 'none' IN (x.change, y.change)
   OR x.change = 'none' AND y.change = 'none' AND (least(x.number, y.number), greatest(x.number, y.number)) NOT IN (
       SELECT a, b FROM related WHERE collection = :'collection' AND kind = :'kind');
ANALYZE judged;
CREATE TABLE score (look text, change text, first integer, second integer, distance integer, score double precision);
SELECT format($$
    WITH signature AS MATERIALIZED (
        SELECT id, %s AS seen FROM doc WHERE id IN (SELECT a FROM judged UNION SELECT b FROM judged)
    )
    INSERT INTO score SELECT %L, change, first, second, distance, %s(x.seen, y.seen)
    FROM judged
        JOIN (SELECT DISTINCT ON (id) id, seen FROM signature) AS x ON x.id = a
        JOIN (SELECT DISTINCT ON (id) id, seen FROM signature) AS y ON y.id = b
$$, seen, name, compared) FROM look \gexec
