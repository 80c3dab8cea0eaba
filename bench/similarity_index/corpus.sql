-- Documents, and changed copies of half of them, as in section 2.1 of the paper.
-- Called with -v files=PATH (a list of them) -v folder=PREFIX -v packages=PATH -v documents=N -v quality=N -v seed=N.

-- A number from 0 to 1 that depends on the seed, the document and what it is for, and on nothing else.
CREATE FUNCTION chance(seed bigint, document bigint, purpose integer) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
    SELECT (hashint8extended(document, seed * 100 + purpose) >> 11 & ((1::bigint << 52) - 1)) / (1::bigint << 52)::double precision
$$;

-- The text of a file; NULL if it is not in UTF-8.
CREATE FUNCTION text_of(path text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    body text;
BEGIN
    body := convert_from(pg_read_binary_file(path), 'UTF8');
    RETURN CASE
        WHEN path ~ '\.html$' THEN extract_text(body)
        -- Of a manual page, what is not roff.
        WHEN path ~ '/man/' THEN regexp_replace(body, '^[.''][A-Za-z\\"]+[ \t]*|\\f.|\\&', '', 'gn')
        ELSE body END;
EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
    RETURN NULL;
END $$;

CREATE TABLE package (name text, collection text);
COPY package FROM :'packages' (DELIMITER ' ');
CREATE TABLE file (path text);
COPY file FROM :'files';

-- Each package was unpacked into a folder of its name.
CREATE UNLOGGED TABLE source (package text, name text, digest text, body text);
-- What is measured is not how PostgreSQL compresses.
ALTER TABLE source ALTER body SET STORAGE EXTERNAL;
INSERT INTO source
SELECT split_part(path, '/', 1), substr(path, strpos(path, '/') + 1), md5(body), body
FROM (SELECT substr(path, 1 + length(:'folder')) AS path, text_of(path) AS body FROM file OFFSET 0) AS f
WHERE octet_length(body) BETWEEN 1000 AND 4300000;

CREATE VIEW distinct_text AS
SELECT collection, f.*
FROM (SELECT DISTINCT ON (digest) package, name, body FROM source ORDER BY digest, name) AS f JOIN package AS p ON p.name = f.package;

CREATE UNLOGGED TABLE document (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    origin bigint,        -- of a changed copy
    change text NOT NULL, -- none, insert or delete
    percent integer,
    body text NOT NULL
);
ALTER TABLE document ALTER body SET STORAGE EXTERNAL;

INSERT INTO document (name, change, body)
SELECT name, 'none', body FROM distinct_text
WHERE collection <> 'B' AND length(body) >= 1000
ORDER BY chance(:seed, hashtextextended(name, 0), 1)
LIMIT :documents;

-- A document is changed with probability 1/2; then something is inserted or deleted with probability 1/2 each: a string of up to 80 %
-- of the document. What is inserted is a string of the same document, and goes anywhere.
INSERT INTO document (name, origin, change, percent, body)
SELECT name || CASE WHEN is_insertion THEN '_i_' ELSE '_d_' END || percent, id, CASE WHEN is_insertion THEN 'insert' ELSE 'delete' END, percent,
       CASE WHEN is_insertion THEN overlay(body PLACING substr(body, start, size) FROM target FOR 0)
            ELSE overlay(body PLACING '' FROM start FOR size) END
FROM (
    SELECT *, (chance(:seed, id, 5) * (length(body) - size))::integer + 1 AS start, (chance(:seed, id, 6) * length(body))::integer + 1 AS target
    FROM (
        SELECT id, name, body, chance(:seed, id, 3) < 0.5 AS is_insertion, ceil(80 * chance(:seed, id, 4))::integer AS percent,
               greatest((length(body) * 0.8 * chance(:seed, id, 4))::integer, 1) AS size
        FROM document WHERE chance(:seed, id, 2) < 0.5
    ) AS chosen
) AS changed
ORDER BY id;
ANALYZE document;

-- Documents of the second part: the packages of a collection take turns.
CREATE TABLE original AS
SELECT collection, body
FROM (
    SELECT collection, body, row_number() OVER (PARTITION BY collection ORDER BY turn, lot) AS place
    FROM (
        SELECT collection, body, lot, row_number() OVER (PARTITION BY package ORDER BY lot) AS turn
        FROM (SELECT *, chance(:seed, hashtextextended(name, 0), 7) AS lot FROM distinct_text) AS f
        WHERE collection <> '-' AND octet_length(body) <= 60000
    ) AS f
) AS f
WHERE place <= :quality;
DROP VIEW distinct_text;
DROP TABLE source;
