-- maximal passages, counted as substr counts
SELECT *, substr(a, a_pos, len) = passage AS in_a, substr(b, b_pos, len) = passage AS in_b
FROM (VALUES ('It was a bright cold day in April.', 'Then: a bright cold day! It was a bright one.')) AS t (a, b), shared_passages(a, b, 8);
SELECT * FROM shared_passages('日本語の文章です。', 'これも日本語の文章だ', 4);
-- equal texts are one: what comes twice in it
SELECT * FROM shared_passages('one two three, four five, one two three', 'one two three, four five, one two three', 8);
SELECT * FROM shared_passages('no repetition here', 'no repetition here', 5);
-- nothing shared, nothing to share
SELECT count(*) FROM shared_passages('abc', 'xyz', 1) UNION ALL SELECT count(*) FROM shared_passages('', '', 1)
UNION ALL SELECT count(*) FROM shared_passages('short', 'short text') UNION ALL SELECT count(*) FROM shared_passages(NULL, 'a', 1);
-- all of a passage and no more, wherever it stands
SELECT count(*) AS wrong FROM (
    SELECT i, md5(i::text) || passage || md5((i + 1)::text) AS a, md5((i + 2)::text) || md5((i + 3)::text) || passage AS b, passage
    FROM generate_series(1, 500) AS i, LATERAL (SELECT string_agg(chr(65 + (i * j * j) % 57), '') AS passage FROM generate_series(1, 60 + i % 40) AS j) AS p) AS t
WHERE NOT EXISTS (SELECT FROM shared_passages(a, b, 50) AS s WHERE position(t.passage IN s.passage) > 0);
SELECT shared_passages('a', 'a', 0);
-- recursive shingles: three of four ways to cut
SELECT level, hash, pos, len FROM recursive_shingles('abcdefgh', 1, 1);
SELECT level, count(*), count(*) FILTER (WHERE len <> 4 ^ level) AS wrong_length, min(pos), max(pos)
FROM recursive_shingles(repeat('0123456789', 500)) GROUP BY level ORDER BY level;
SELECT count(*) <= 3 * 5000 AS at_most_3n FROM recursive_shingles(repeat('0123456789', 500));
SELECT count(*) FROM recursive_shingles('') UNION ALL SELECT count(*) FROM recursive_shingles('abc') UNION ALL SELECT count(*) FROM recursive_shingles('abcd');
SELECT count(DISTINCT hash) = 1 AS characters_not_bytes FROM recursive_shingles('äöüßäöüß', 1, 1) WHERE pos IN (1, 5);
-- every shared run of 26 characters shares a hash of level 2
SELECT count(*) AS missed FROM (
    SELECT repeat('x', i % 16) || run || repeat('y', 20) AS a, repeat('z', i / 16) || run || repeat('w', 20) AS b
    FROM generate_series(0, 255) AS i, LATERAL (SELECT substr(md5(i::text), 1, 26) AS run) AS r) AS t
WHERE NOT EXISTS (SELECT FROM recursive_shingles(a, 2, 2) AS x JOIN recursive_shingles(b, 2, 2) AS y USING (hash));
SELECT * FROM recursive_shingles('a', 2, 1);
SELECT * FROM recursive_shingles('a', 1, 13);
-- search in a corpus, through GIN
CREATE TABLE passage_document AS SELECT i AS id, string_agg(md5((i * 100 + j)::text), ' ') AS body FROM generate_series(1, 300) AS i, generate_series(1, 10) AS j GROUP BY i;
CREATE INDEX ON passage_document USING gin (passage_sketch(body, 60));
ANALYZE passage_document;
SET enable_seqscan = off;
CREATE FUNCTION passage_query() RETURNS text LANGUAGE sql STABLE
    RETURN 'quoted: ' || (SELECT substr(body, 20, 70) FROM passage_document WHERE id = 42) || ' and ' || (SELECT substr(body, 101, 59) FROM passage_document WHERE id = 43);
EXPLAIN (COSTS OFF) SELECT id FROM passage_document WHERE passage_sketch(body, 60) && passage_sketch(passage_query(), 60);
SELECT id, a_pos, b_pos, len FROM passage_document, shared_passages(body, passage_query(), 60) WHERE passage_sketch(body, 60) && passage_sketch(passage_query(), 60) ORDER BY id;
DROP FUNCTION passage_query;
DROP TABLE passage_document;
SELECT passage_sketch('', 26) AS empty, passage_sketch('abc', 26) AS short, passage_sketch(NULL, 26) AS null;
SELECT passage_sketch('a', 5);
SELECT passage_sketch('a', -1);
