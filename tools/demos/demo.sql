\pset border 1
\pset footer off
\echo 'The Similarity Index paper, section 4: which documents are at least 90 % similar'
\echo 'to sttech.txt? Two of the seven rows are not.'
\echo

CREATE EXTENSION simhash_pg;
CREATE TABLE sr_document (r_object_id text PRIMARY KEY, object_name text, si bigint);
INSERT INTO sr_document VALUES
    ('090000018006e74c', 'sttech.txt',     B'0011111101011101000101010000111101110110010010010101110010000011'::bigint),
    ('090000018006e74d', 'treknolo',       B'0001101101000101000101010000111101111110010010010101110010010011'::bigint),
    ('090000018006e74e', 'warpte_i_6.txt', B'0001111101011101000101010000111101110110010010010101110010000011'::bigint),
    ('090000018006e764', 'treknolo_i_25',  B'0001101101000101000101010000111101111110010010010101110010010011'::bigint),
    ('090000018006e765', 'warpte.txt',     B'0001111101011101000101010000111101110110010010010101110010000011'::bigint),
    -- The two files of section 2.2.2, which are similar to each other, but not to these.
    ('file 1',           'file 1',         -6639445703004650224),
    ('file 2',           'file 2',         -6657454535236512496);

\set ECHO queries
SELECT object_name, si, hamming(si, 4565828753376763011) AS hd
FROM sr_document
WHERE hamming(si, 4565828753376763011) <= hamming_radius(0.90)
ORDER BY r_object_id;
\set ECHO none

SELECT :'texts' <> '' AS has_texts \gset
\if :has_texts
\echo 'Real texts: which licenses on this machine have near fingerprints? The sketches'
\echo 'of the texts show how much they have in common, and so which are versions.'
\echo

CREATE TABLE document (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    title text NOT NULL,
    body text NOT NULL,
    si bigint GENERATED ALWAYS AS (simhash(body)) STORED,
    sketch bigint[] GENERATED ALWAYS AS (manber_sketch(body)) STORED
);
INSERT INTO document (title, body)
SELECT title, pg_read_file(:'texts' || '/' || title)
FROM pg_ls_dir(:'texts') AS title
-- Links to another file of the same folder are not documents of their own.
WHERE title NOT IN ('GFDL', 'GPL', 'LGPL')
ORDER BY title;

\set ECHO queries
CREATE INDEX ON document USING hamming (si);
SELECT count(*) AS documents, pg_size_pretty(sum(length(body))) AS text
FROM document;

SELECT a.title, b.title AS near, hamming(a.si, b.si) AS hd,
       similarity::numeric(4, 2) AS shared_text,
       CASE WHEN similarity > 0.2 THEN 'a version' ELSE 'another' END AS it_is
FROM document AS a
JOIN document AS b ON a.id < b.id AND hamming(a.si, b.si) <= 16,
    sketch_similarity(a.sketch, b.sketch) AS similarity
ORDER BY hd, a.title;
\set ECHO none
\else
\echo 'There are no texts in /usr/share/common-licenses, so this part is skipped.'
\endif
