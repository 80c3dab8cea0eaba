\pset border 1
\pset footer off
SET client_min_messages = warning;
CREATE EXTENSION simhash_pg;
CREATE TABLE picture (id integer, kind text, code bit(256));
CREATE TABLE changed (original integer, change text, codes bit(256)[]);
\set pictures :folder '/pictures'
\set changed :folder '/changed'
COPY picture FROM :'pictures';
COPY changed FROM :'changed';
-- A large collection. Codes of unrelated pictures are about as far from each other as codes made at random.
INSERT INTO picture
SELECT -i, 'random', hashint8extended(i, 1)::bit(64) || hashint8extended(i, 2)::bit(64)
                     || hashint8extended(i, 3)::bit(64) || hashint8extended(i, 4)::bit(64)
FROM generate_series(1, :rows) AS i;

\echo
\echo 'An index on the codes of these pictures, and on many random codes:'
\echo
\timing on
\set ECHO queries
CREATE INDEX ON picture USING hamming (code);
\set ECHO none
\timing off
VACUUM ANALYZE picture;
\echo
SELECT count(*) AS pictures, pg_size_pretty(pg_relation_size('picture_code_idx')) AS index,
       pg_relation_size('picture_code_idx') / count(*) AS bytes_a_row FROM picture;

\echo 'Which picture was blurred? (The second time, so that everything is in memory.)'
\echo
SELECT FROM picture, changed WHERE original = 1 AND change = 'blurred' AND hamming(code, codes[1]) <= 31 \g /dev/null
\set ECHO queries
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF)
SELECT id FROM picture
WHERE hamming(code, (SELECT codes[1] FROM changed
                     WHERE original = 1 AND change = 'blurred')) <= 31;
\set ECHO none
SET enable_indexscan = off;
SET enable_bitmapscan = off;
\echo 'The same without the index:'
\echo
\set ECHO queries
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF)
SELECT id FROM picture
WHERE hamming(code, (SELECT codes[1] FROM changed
                     WHERE original = 1 AND change = 'blurred')) <= 31;
\set ECHO none
RESET enable_indexscan;
RESET enable_bitmapscan;

SELECT count(*) * 8 AS lookups FROM changed \gset
\echo
\echo All changed pictures in their eight orientations, :lookups searches:
\echo
\timing on
\set ECHO queries
CREATE TABLE found AS
SELECT original, change, number AS orientation, id,
       hamming(picture.code, o.code) AS distance
FROM changed, unnest(codes) WITH ORDINALITY AS o (code, number), picture
WHERE hamming(picture.code, o.code) <= 31;
\set ECHO none
\timing off

\echo
\echo 'For which share of the changed pictures is the original found?'
\echo
SELECT change, to_char(100.0 * count(distance) / count(*), '990.0 %') AS "as it is",
       to_char(100.0 * count(least) / count(*), '990.0 %') AS "in eight orientations",
       min(least) AS nearest, max(least) AS farthest
FROM changed LEFT JOIN (
    SELECT original, change, min(distance) FILTER (WHERE orientation = 1) AS distance, min(distance) AS least
    FROM found WHERE id = original GROUP BY original, change
) AS right_ones USING (original, change)
GROUP BY change ORDER BY min(changed.ctid);

\echo 'Which share of what is found is the original, and not another picture?'
\echo
SELECT count(*) AS found, count(*) FILTER (WHERE id = original) AS originals,
       to_char(100.0 * count(*) FILTER (WHERE id = original) / count(*), '990.00 %') AS precision
FROM found;
