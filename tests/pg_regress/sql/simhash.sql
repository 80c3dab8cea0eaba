-- values that must never change
SELECT scheme, simhash('The quick brown fox jumps over the lazy dog', scheme)
FROM unnest('{char:1,char:4,char:8,char:32,word:1,word:3,word:32}'::text[]) AS scheme;
-- similar texts are near, others far
SELECT hamming(simhash(a, 'char:4'), simhash(b, 'char:4')) < 16 AS near,
       hamming(simhash(a, 'char:4'), simhash(c, 'char:4')) > 16 AS far
FROM (VALUES ('The quick brown fox jumps over the lazy dog', 'The quick brown fox jumped over the lazy dog',
              'Sphinx of black quartz, judge my vow')) AS t (a, b, c);
-- words: neither case, punctuation nor layout matter
SELECT simhash(E'Hello,\n\tWORLD! How are you?', 'word:2') = simhash('hello world how are you', 'word:2') AS same;
SELECT simhash('Straße ﬁne ＡＢＣ', 'word:1') = simhash('STRASSE FINE abc', 'word:1') AS folded;
-- characters: everything matters
SELECT simhash('Hello', 'char:1') <> simhash('hello', 'char:1') AS differs;
-- doc1 leaves numbers and addresses out
SELECT scheme, simhash('see https://example.org/a?b=1 for all 12345 of the reports', scheme)
     = simhash('see for all of the reports', scheme) AS same
FROM unnest('{doc1,doc2,simhash-doc}'::text[]) AS scheme;
-- and only these, if no blank separates them
SELECT scheme, simhash('请看https://example.org/a的说明', scheme) = simhash('请看 的说明', scheme) AS unspaced,
       simhash('<a href="https://example.org">Annual report</a> (WWW.EXAMPLE.ORG)', scheme) = simhash('<a href="">Annual report</a> ()', scheme) AS markup
FROM unnest('{doc1,doc2}'::text[]) AS scheme;
SELECT simhash('a') = simhash('a', 'doc2') AS default_scheme, simhash('a') = simhash('a', 'doc1') AS doc1;
-- doc2: pairs make the order of words matter; repetitions do not matter
SELECT simhash('one two three four', 'doc2') = simhash('four three two one', 'doc2') AS shuffled,
       simhash('a b a b', 'doc2') = simhash('a b a b a b a b', 'doc2') AS repeated,
       hamming(simhash(repeat('x ', 3), 'doc2'), simhash('x', 'doc2')) BETWEEN 1 AND 40 AS pair_of_x;
-- simhash-doc: single words of three characters and more, in any order
SELECT simhash('see all of the reports', 'simhash-doc') = simhash('reports: see the, see ALL', 'simhash-doc') AS same,
       simhash('see all of the reports', 'simhash-doc') = simhash(ARRAY['see', 'all', 'the', 'reports']) AS words;
-- a text shorter than the shingle is one feature
SELECT simhash('ab', 'char:8') = simhash('ab', 'char:32') AS short, simhash('ab', 'char:8') = simhash('ab', 'char:2') AS whole;
-- no features, no fingerprint
SELECT scheme, simhash('', scheme) AS empty, simhash(E' \t\n', scheme) IS NULL AS blank, simhash('?!...', scheme) IS NULL AS marks,
       simhash('1994', scheme) IS NULL AS number
FROM unnest('{doc2,doc1,simhash-doc,char:1,word:1}'::text[]) AS scheme;
SELECT scheme, simhash('word', scheme) IS NOT NULL AS one_word, simhash('of', scheme) IS NOT NULL AS short_word, simhash('字', scheme) IS NOT NULL AS ideograph
FROM unnest('{doc2,doc1,simhash-doc}'::text[]) AS scheme;
SELECT simhash(NULL) IS NULL AND simhash('a', NULL) IS NULL AS nulls;
-- wrong schemes
SELECT simhash('a', 'sha1');
SELECT simhash('a', '');
SELECT simhash('a', 'DOC1');
SELECT simhash('a', 'char:0');
SELECT simhash('a', 'char:33');
SELECT simhash('a', 'word:-1');
SELECT simhash('a', 'word:99999999999999999999');
SELECT simhash('a', 'char:03');
SELECT simhash('a', repeat('é', 100));
-- toasted, compressed and out of line
CREATE TABLE simhash_long (body text, si bigint GENERATED ALWAYS AS (simhash(body, 'char:8')) STORED);
ALTER TABLE simhash_long ALTER body SET STORAGE EXTERNAL;
INSERT INTO simhash_long SELECT string_agg(md5(i::text), ' ') FROM generate_series(1, 10000) AS i;
INSERT INTO simhash_long SELECT repeat('all work and no play makes a dull text ', 100000);
SELECT si = simhash(body || '', 'char:8') AS same FROM simhash_long;
UPDATE simhash_long SET body = body || 'x' RETURNING si = simhash(body, 'char:8') AS follows;
DROP TABLE simhash_long;
-- sums of many features in parallel workers are the same
CREATE TABLE simhash_many AS SELECT i, md5(i::text) || ' ' || md5((i + 1)::text) AS body FROM generate_series(1, 20000) AS i;
ANALYZE simhash_many;
SELECT sum(simhash(body, 'word:1') % 1000003) AS serial FROM simhash_many \gset
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT sum(simhash(body, 'word:1') % 1000003) FROM simhash_many;
SELECT sum(simhash(body, 'word:1') % 1000003) = :serial AS same FROM simhash_many;
DROP TABLE simhash_many;
-- the same as Common Crawl's code computes
SELECT text, to_hex(simhash(text, 'commoncrawl')) FROM unnest(ARRAY['Hello world', 'abcd', 'The quick brown fox jumps over the lazy dog', '日本語の文章です', '', 'abc']) AS text;
-- neither case nor punctuation matters; identifiers and invisible characters are left out
SELECT simhash(a, 'doc1') = simhash(b, 'doc1') AS doc1, simhash(a, 'doc2') = simhash(b, 'doc2') AS doc2, a FROM (VALUES
    ('Can''t stop, o''clock', 'can’t stop o’clock'), ('id 550e8400-e29b-41d4-a716-446655440000 of doi:10.1000/182 ends', 'ID of ends'),
    ('co' || chr(173) || 'operate' || chr(7) || ' now', 'cooperate now'), ('digest d41d8cd98f00b204e9800998ecf8427e here', 'digest here')) AS t (a, b);
-- several columns as one text: NULLs are skipped, and an empty text has no fingerprint
SELECT simhash_text('a', NULL, 'b') = E'a\nb' AS skipped, simhash_text(NULL, 'a') = 'a' AS one, simhash_text('', 'a') = E'\na' AS empty,
       simhash_text(NULL, NULL) AS all_null, simhash_text(VARIADIC '{}') AS none, simhash_text(VARIADIC NULL) AS null,
       simhash_text('a'::char(5), 'b'::varchar, 'c') = E'a\nb\nc' AS types;
\set VERBOSITY terse
SELECT simhash_text();
SELECT simhash_text('a', 1);
\set VERBOSITY default
-- the same fingerprint as the trigger's, whatever is NULL
CREATE TABLE simhash_columns (title varchar, head char(10), body text, si bigint,
    made bigint GENERATED ALWAYS AS (simhash(simhash_text(title, head, body), 'word:2')) STORED);
CREATE TRIGGER fingerprint BEFORE INSERT OR UPDATE ON simhash_columns
    FOR EACH ROW EXECUTE FUNCTION simhash_trigger('si', 'title', 'head', 'body', 'scheme=word:2');
INSERT INTO simhash_columns SELECT title, head, body FROM (VALUES (NULL), (''), ('A title of it')) AS t (title),
    (VALUES (NULL), (''), ('Two words')) AS h (head), (VALUES (NULL), (''), (E'The body\nhas two lines')) AS b (body);
SELECT count(*) AS rows, count(made) AS with_fingerprint, count(*) FILTER (WHERE si IS DISTINCT FROM made) AS different,
       count(DISTINCT made) AS fingerprints FROM simhash_columns;
CREATE INDEX ON simhash_columns (minhash(simhash_text(title, body)));
DROP TABLE simhash_columns;
