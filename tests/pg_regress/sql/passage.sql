-- On a slow machine, repeated_passages reports its progress.
SET client_min_messages = warning;
-- maximal passages, whose positions are those of substr
SELECT *, substr(a, a_pos, len) = passage AS in_a, substr(b, b_pos, len) = passage AS in_b
FROM (VALUES ('It was a bright cold day in April.', 'Then: a bright cold day! It was a bright one.')) AS t (a, b), shared_passages(a, b, 8);
SELECT * FROM shared_passages('日本語の文章です。', 'これも日本語の文章だ', 4);
-- equal texts share everything, nearly equal ones nearly everything; shorter ones share nothing
SELECT * FROM shared_passages('one two three, four five, one two three', 'one two three, four five, one two three', 8);
SELECT * FROM shared_passages('one two three, four five, one two three', 'one two three, four_five, one two three', 8);
SELECT * FROM shared_passages('no repetition here', 'no repetition here', 18) UNION ALL SELECT * FROM shared_passages('no repetition here', 'no repetition here', 19);
-- a copy among stored texts, and one text within another
SELECT t.n, a_pos, b_pos, len FROM (VALUES (1, 'Copied word for word.'), (2, 'Not at all.'), (3, 'Here: Copied word for word.'), (4, 'word for word')) AS t (n, body),
    shared_passages(t.body, 'Copied word for word.', 10) ORDER BY n;
-- repeated_passages finds passages that one text repeats
SELECT pos, len, first_pos FROM repeated_passages($$SELECT 1::bigint, 'one two three, four five, one two three'$$, 8);
-- texts that share nothing, and empty texts
SELECT count(*) FROM shared_passages('abc', 'xyz', 1) UNION ALL SELECT count(*) FROM shared_passages('', '', 1)
UNION ALL SELECT count(*) FROM shared_passages('short', 'short text') UNION ALL SELECT count(*) FROM shared_passages(NULL, 'a', 1);
-- a passage and no more, wherever it is
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
EXPLAIN (COSTS OFF) SELECT id FROM passage_document WHERE sketch_overlaps(passage_sketch(body, 60), passage_sketch(passage_query(), 60));
SELECT id, a_pos, b_pos, len FROM passage_document, shared_passages(body, passage_query(), 60) WHERE sketch_overlaps(passage_sketch(body, 60), passage_sketch(passage_query(), 60)) ORDER BY id;
-- a verbatim copy is found, and shown as such
SELECT d.id, a_pos, b_pos, len, length(d.body) FROM passage_document AS q, passage_document AS d, shared_passages(d.body, q.body, 60)
WHERE q.id = 42 AND sketch_overlaps(passage_sketch(d.body, 60), passage_sketch(q.body, 60));
DROP FUNCTION passage_query;
DROP TABLE passage_document;
SELECT passage_sketch('', 26) AS empty, passage_sketch('abc', 26) AS short, passage_sketch(NULL, 26) AS null;
SELECT passage_sketch('a', 5);
SELECT passage_sketch('a', -1);
-- passages that occurred before in a corpus, in its order
CREATE TABLE repeat_document (id bigint, name text, code uuid, body text);
INSERT INTO repeat_document VALUES
    (1, 'a', md5('1')::uuid, 'It was a bright cold day in April, and the clocks were striking thirteen.'),
    (2, 'b', md5('2')::uuid, NULL),
    (3, 'c', md5('3')::uuid, ''),
    (4, 'd', md5('4')::uuid, 'They said: It was a bright cold day. They said: the clocks were striking. They said: It'),
    (5, 'e', md5('5')::uuid, repeat('a', 100)),
    (6, 'f', md5('6')::uuid, repeat('ab', 20) || 'aaaa'),
    (7, 'é', md5('7')::uuid, '日本語の文章です。日本語の文章ではない。'),
    (8, 'é', md5('8')::uuid, 'これも日本語の文章だ'),
    (8, NULL, NULL, 'これも日本語の文章だ');
SELECT r.*, substr(d.body, pos, len) AS text, substr(d.body, pos, len) = substr(f.body, first_pos, len) AS stood_before
FROM repeated_passages('SELECT id, body FROM repeat_document WHERE id < 8 ORDER BY id', 12) AS r
    JOIN repeat_document AS d ON d.id = r.document JOIN repeat_document AS f ON f.id = r.first_document;
SELECT * FROM repeated_passages('SELECT id, body FROM repeat_document WHERE id IN (1, 4) ORDER BY id DESC', 20);
-- keys of other types, and equal ones
SELECT * FROM repeated_passages('SELECT name, body FROM repeat_document WHERE id >= 7 AND name IS NOT NULL ORDER BY id', 6, NULL::text);
SELECT * FROM repeated_passages('SELECT code, body FROM repeat_document WHERE id >= 7 AND code IS NOT NULL ORDER BY id', 6, NULL::uuid);
SELECT * FROM repeated_passages('SELECT id, body FROM repeat_document WHERE id >= 7 ORDER BY id, name', 6);
SELECT * FROM repeated_passages('VALUES (ARRAY[1, 2], ''same text''::varchar), (ARRAY[3], ''same text'')', 9, '{}'::integer[]);
SELECT pg_typeof(document), pg_typeof(first_document) FROM repeated_passages('VALUES (1::smallint, ''twice''), (2::smallint, ''twice'')', 5, 0::smallint);
-- toasted keys and texts
CREATE TABLE repeat_long AS SELECT string_agg(md5(i::text), '') AS body FROM generate_series(1, 2000) AS i;
SELECT md5(document) = md5(body) AS key, pos, len, md5(first_document) = md5(body) AS first, first_pos
FROM repeat_long, repeated_passages('SELECT body, body FROM repeat_long UNION ALL SELECT body, reverse(body) || body FROM repeat_long', 100, NULL::text);
-- nothing to find
SELECT count(*) FROM repeated_passages('SELECT id, body FROM repeat_document ORDER BY id') AS r WHERE document < 5
UNION ALL SELECT count(*) FROM repeated_passages('SELECT 1::bigint, ''''::text WHERE false')
UNION ALL SELECT count(*) FROM repeated_passages('SELECT 1::bigint, NULL::text')
UNION ALL SELECT count(*) FROM repeated_passages(NULL) UNION ALL SELECT count(*) FROM repeated_passages('SELECT 1', NULL) UNION ALL SELECT count(*) FROM repeated_passages(NULL, 100, NULL::text);
-- all characters of windows that occurred before, and no others
CREATE TABLE repeat_random AS
SELECT i AS id, (SELECT string_agg(substr('ab', 1 + (hashint8extended(i, j) & 1)::integer, 1), '') FROM generate_series(1, 40) AS j) AS body
FROM generate_series(1, 40) AS i;
WITH at AS (SELECT id, i AS pos, substr(body, i, 12) AS text FROM repeat_random, generate_series(1, 29) AS i),
     again AS (SELECT id, pos FROM at AS a WHERE EXISTS (SELECT FROM at AS b WHERE b.text = a.text AND (b.id, b.pos) < (a.id, a.pos))),
     expected AS (SELECT DISTINCT id, i AS pos FROM again, generate_series(pos, pos + 11) AS i),
     found AS (SELECT DISTINCT document AS id, i AS pos FROM repeated_passages('SELECT id::bigint, body FROM repeat_random ORDER BY id', 12), generate_series(pos, pos + len - 1) AS i)
SELECT (SELECT count(*) > 100 FROM expected) AS enough, (SELECT count(*) FROM (TABLE expected EXCEPT TABLE found) AS x) AS missed,
       (SELECT count(*) FROM (TABLE found EXCEPT TABLE expected) AS x) AS wrong;
DROP TABLE repeat_random, repeat_long;
-- with the caller's privileges, and read-only
CREATE ROLE passage_reader;
SET ROLE passage_reader;
SELECT * FROM repeated_passages('SELECT id, body FROM repeat_document');
RESET ROLE;
DROP ROLE passage_reader;
SELECT * FROM repeated_passages('DELETE FROM repeat_document RETURNING id, body');
SELECT * FROM repeated_passages('WITH gone AS (DELETE FROM repeat_document RETURNING id, body) SELECT id, body FROM gone');
SELECT * FROM repeated_passages('SELECT id, body FROM repeat_document FOR UPDATE');
SELECT * FROM repeated_passages('CREATE TABLE other ()');
SELECT * FROM repeated_passages('COMMIT');
SELECT * FROM repeated_passages('COPY repeat_document TO STDOUT');
SELECT * FROM repeated_passages('SELECT 1::bigint, ''a''; SELECT 2::bigint, ''b''');
SELECT * FROM repeated_passages('');
SELECT * FROM repeated_passages('SELECT id, nobody FROM repeat_document');
SELECT * FROM repeated_passages('SELECT id, $1 FROM repeat_document');
-- other columns and keys
SELECT * FROM repeated_passages('SELECT body FROM repeat_document');
SELECT * FROM repeated_passages('SELECT id, body, name FROM repeat_document');
SELECT * FROM repeated_passages('SELECT code, body FROM repeat_document');
SELECT * FROM repeated_passages('SELECT id, code FROM repeat_document');
SELECT * FROM repeated_passages('SELECT id, body::char(5) FROM repeat_document');
SELECT * FROM repeated_passages('SELECT name, body FROM repeat_document ORDER BY id', 100, NULL::text);
-- limits
SELECT * FROM repeated_passages('SELECT id, body FROM repeat_document', 0);
SELECT * FROM repeated_passages('SELECT id, body FROM repeat_document', 65537);
SET maintenance_work_mem = '1MB';
SELECT * FROM repeated_passages('SELECT i::bigint, repeat(md5(i::text), 1000) FROM generate_series(1, 100) AS i');
RESET maintenance_work_mem;
SELECT repeated_passages('SELECT id, body FROM repeat_document WHERE id IN (1, 4) ORDER BY id', 20);
DROP TABLE repeat_document;
-- a text with marks around the passages that it shares
CREATE TABLE headline AS SELECT 'Then: a bright cold day! It was a bright one. "Nobody" <knew> why.' AS doc, 'It was a bright cold day in April: "Nobody" <knew>.' AS other;
SELECT passage_headline(doc, other, 8), passage_headline(doc, other), passage_headline(doc, doc), passage_headline(doc, doc, 100) FROM headline;
SELECT passage_headline(doc, other, 8, 'StartSel=<mark>, StopSel=</mark>, Escape=html'), passage_headline(doc, other, 8, 'StartSel="", stopsel="|"') FROM headline;
SELECT passage_headline(repeat('x', 100) || doc || repeat('y', 100), other, 8, 'MaxFragments=2, ContextLength=0, FragmentDelimiter=" / "'),
       passage_headline(doc, 'nothing', 8, 'MaxFragments=2') FROM headline;
SELECT passage_headline('It didn''t brighten: 3.14 cold days', 'didn''t brighter 3.14 colder', 3), passage_headline('It didn''t brighten: 3.14 cold days', 'didn''t brighter 3.14 colder', 3, 'WholeWords=true');
SELECT passage_headline('日本語の文章です。', 'これも日本語の文章だ', 4, 'StartSel=「, StopSel=」');
SELECT passage_headline('', '') = '' AS empty, passage_headline(NULL, 'a') IS NULL AS null, passage_headline('a', 'a', 5, NULL) IS NULL AS null_options;
SELECT passage_headline('a', 'a', 0);
SELECT passage_headline('a', 'a', 1, 'MinWords=5');
SELECT passage_headline('a', 'a', 1, 'WholeWords=yes');
SELECT passage_headline('a', 'a', 1, 'StartSel=<b> StopSel');
SELECT passage_headline('a', 'a', 1, 'MaxFragments=many');
SELECT passage_headline('a', 'a', 1, 'Escape=xml');
SELECT passage_headline('a', 'a', 1, 'just words');
DROP TABLE headline;
