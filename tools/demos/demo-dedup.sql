\pset border 1
\pset footer off
SET client_min_messages = warning;

\echo '1. Texts of this machine, each with its fingerprint. Many are equal, or nearly.'
\echo
\ir demo-texts.sql
\set ECHO queries
SELECT count(*) AS documents, count(DISTINCT si) AS distinct_fingerprints,
       pg_size_pretty(sum(length(body))) AS text
FROM document;

\set ECHO none
\echo '2. How far apart are they? "rows" is how many other rows a search with this'
\echo 'radius finds on average. "duplicates" is how many of these have most of their'
\echo 'rare words in common. The radius "to_search" finds 95 % of the duplicates.'
\echo
\set ECHO queries
SELECT distance, rows, duplicates, at_most, to_search
FROM hamming_histogram('document', 'si', body => 'body')
WHERE distance <= 10 OR distance IN (12, 14, 16, 18) ORDER BY distance;

\set ECHO none
\echo '3. A second code, in which rare words have more weight, decides which rows'
\echo 'belong together. The first code may then differ in more bits (18 of 64), because'
\echo 'texts that are near by chance differ in more than 30 of the 256 bits of the'
\echo 'second code, which is the default. The longest text of each cluster is its keeper.'
\echo
\set ECHO queries
SELECT create_rare_code('rare', 'document', 'body');
ALTER TABLE document
    ADD rare bit(256) GENERATED ALWAYS AS (rare(body)) STORED;
CREATE TABLE cluster AS
SELECT id, near_cluster(id, si, 18, second_code => rare)
           OVER (ORDER BY length(body) DESC, id) AS keeper
FROM document;
SELECT count(*) AS clusters, sum(members) AS documents, max(members) AS largest
FROM (SELECT count(*) AS members FROM cluster GROUP BY keeper) AS c
WHERE members > 1;

\set ECHO none
\echo '4. Which share of the words and numbers of each text does its keeper contain?'
\echo 'If it contains all of them, deleting the text loses no word. The others stay:'
\echo 'they may be versions, or siblings that were made from one template.'
\echo
\set ECHO queries
CREATE TABLE duplicate AS
SELECT c.id, keeper, text_containment(d.body, k.body) AS contained
FROM cluster AS c JOIN document AS d USING (id)
JOIN document AS k ON k.id = keeper
WHERE c.id <> keeper;
SELECT CASE WHEN contained = 1 THEN 'goes' ELSE 'stays' END AS decision,
       count(*) AS texts, min(contained)::numeric(4, 3) AS least_contained,
       max(contained)::numeric(4, 3) AS most_contained
FROM duplicate GROUP BY decision ORDER BY decision;

\set ECHO none
\echo '5. Texts that stay, those of which the keeper contains the least first:'
\echo
\set ECHO queries
SELECT right(d.title, 30) AS title, right(k.title, 30) AS keeper,
       contained::numeric(4, 3)
FROM duplicate JOIN document AS d USING (id)
JOIN document AS k ON k.id = keeper
WHERE contained < 1 ORDER BY contained, d.id LIMIT 8;

\set ECHO none
\echo '6. The pair with the farthest fingerprints among those that go, and the longest'
\echo 'passages that these two texts have in common:'
\echo
\set ECHO queries
WITH pair AS (
    SELECT d.title, k.title AS keeper, hamming(d.si, k.si) AS distance,
           d.body AS a, k.body AS b
    FROM duplicate JOIN document AS d USING (id)
    JOIN document AS k ON k.id = keeper
    WHERE contained = 1 AND length(d.body) BETWEEN 2000 AND 20000
    ORDER BY distance DESC, d.id LIMIT 1)
SELECT right(title, 17) AS title, right(keeper, 17) AS keeper, distance, length,
       regexp_replace(left(passage, 16), '\s+', ' ', 'g') AS passage
FROM pair, shared_passages(a, b, 60) ORDER BY length DESC LIMIT 4;

\set ECHO none
\echo '7. The words in which near texts differ. "#" stands for any number, and "share"'
\echo 'is the share of the pairs that differ in this word. Read these words before you'
\echo 'delete anything.'
\echo
\set ECHO queries
SELECT feature, pairs, share::numeric(4, 2)
FROM near_differences('document', 'rare', 'body', 30) LIMIT 8;

\set ECHO none
\echo '8. Delete the texts that are contained in their keepers:'
\echo
\set ECHO queries
DELETE FROM document USING duplicate
WHERE document.id = duplicate.id AND contained = 1;
SELECT count(*) AS documents, pg_size_pretty(sum(length(body))) AS text
FROM document;
\set ECHO none
