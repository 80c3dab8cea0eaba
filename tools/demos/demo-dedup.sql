\pset border 1
\pset footer off
SET client_min_messages = warning;

\echo 'Texts of this machine, each with its fingerprint'
\echo
\ir demo-texts.sql
\set ECHO queries
SELECT count(*) AS documents, count(si) AS fingerprints, count(DISTINCT si) AS distinct_ones, pg_size_pretty(sum(length(body))) AS text FROM document;

\echo 'How many rows does each radius find, and how many of these are duplicates?'
\echo
SELECT distance, rows::numeric(8, 3), duplicates::numeric(8, 3), at_most::numeric(8, 3), to_search
FROM hamming_histogram('document', 'si', body => 'body') WHERE distance <= 16 ORDER BY distance;

\echo 'Clusters: the first of each is its keeper'
\echo
SELECT create_rare_code('rare', 'document', 'body');
ALTER TABLE document ADD rare bit(256) GENERATED ALWAYS AS (rare(body)) STORED;
CREATE TABLE cluster AS
SELECT id, near_cluster(id, si, 18, second_code => rare, second_radius => 50) OVER (ORDER BY id) AS keeper FROM document;

SELECT count(*) AS clusters, sum(members) AS documents, sum(members - 1) AS could_go
FROM (SELECT keeper, count(*) AS members FROM cluster GROUP BY keeper HAVING count(*) > 1) AS c;

SELECT members, keeper_title AS keeper, one_of_them
FROM (
    SELECT count(*) AS members, right(k.title, 42) AS keeper_title,
           (array_agg(right(d.title, 42) ORDER BY d.id DESC))[1] AS one_of_them
    FROM cluster JOIN document AS k ON k.id = keeper JOIN document AS d ON d.id = cluster.id
    GROUP BY k.id HAVING count(*) > 1) AS c
ORDER BY members DESC, keeper LIMIT 12;

\echo 'Two versions of a text: what do they share?'
\echo
WITH pair AS (
    SELECT k.title, d.title AS version, hamming(k.si, d.si) AS hd, k.body AS a, d.body AS b
    FROM cluster JOIN document AS k ON k.id = keeper JOIN document AS d ON d.id = cluster.id
    WHERE k.si <> d.si AND length(k.body) BETWEEN 2000 AND 20000
    ORDER BY hamming(k.si, d.si) DESC, k.id, d.id LIMIT 1)
SELECT right(title, 30) AS title, right(version, 30) AS version, hd, a_pos, b_pos, length,
       regexp_replace(left(passage, 40), '\s+', ' ', 'g') || '...' AS passage
FROM pair, shared_passages(a, b, 60) ORDER BY length DESC LIMIT 5;

\echo 'In which words do near texts differ?'
\echo
SELECT feature, pairs, share::numeric(4, 2), of_all::numeric(4, 2) FROM near_differences('document', 'rare', 'body', 50) LIMIT 10;

\echo 'Keep the first of each cluster'
\echo
DELETE FROM document USING cluster WHERE document.id = cluster.id AND cluster.id <> keeper;
SELECT count(*) AS documents, pg_size_pretty(sum(length(body))) AS text FROM document;
\set ECHO none
