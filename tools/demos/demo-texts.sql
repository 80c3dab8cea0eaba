-- Texts of this machine, each with its fingerprint: the files that :files lists, at most :documents of them.
CREATE EXTENSION simhash_pg;
CREATE TABLE file (path text);
COPY file FROM :'files';

CREATE TABLE document (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    title text NOT NULL,
    body text NOT NULL,
    si bigint GENERATED ALWAYS AS (simhash(body)) STORED
);
INSERT INTO document (title, body)
SELECT title, body
FROM (
    SELECT regexp_replace(path, '^/usr/(share/|lib/)?(doc/)?', '') AS title, convert_from(pg_read_binary_file(path), 'LATIN1') AS body
    FROM (SELECT path FROM file ORDER BY hashtext(path) LIMIT :documents) AS f) AS text
ORDER BY title;
VACUUM ANALYZE document;
