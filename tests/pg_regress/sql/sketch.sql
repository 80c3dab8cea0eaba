-- Manber's polynomial over "Hello world", 3 bytes at a time
SELECT manber_sketch('Hello world', 3, 0, 31, 1048576) AS all_windows, manber_sketch('Hello world', 3, 2, 31, 1048576) AS sampled;
SELECT manber_sketch('Hello world', 3, 0, 257, 65536) AS all_windows, manber_sketch('Hello world', 3, 2, 257, 65536) AS sampled;
-- Java's String.hashCode is the window over the whole string, as a signed 32-bit number
SELECT (manber_sketch('abc', 3, 0, 31, 4294967296))[1]::bit(32)::integer AS abc,
       (manber_sketch('Hello world', 11, 0, 31, 4294967296))[1]::bit(32)::integer AS hello_world;
SELECT manber_sketch('abc', 3, 0, hash => 'java') AS abc, manber_sketch('Hello world', 11, 0, hash => 'java') AS hello_world,
       manber_sketch('é😀', 1, 0, hash => 'java') AS code_units;
-- two criteria, characters, and XXH3
SELECT manber_sketch('Hello world', 3, 0, 31, 1048576, divisor => 7) AS by_7, manber_sketch('Hello world', 3, 1, 31, 1048576, divisor => 7) AS even_too;
SELECT manber_sketch('日本語', 1, 0, 31, 1048576, unit => 'character') AS characters, cardinality(manber_sketch('日本語', 1, 0, 31, 1048576)) AS bytes;
SELECT manber_sketch('abc', 3, 0, hash => 'xxh3') = ARRAY[simhash('abc', 'char:3')] AS xxh3, manber_sketch('日本', 2, 0, unit => 'character', hash => 'xxh3') = ARRAY[simhash('日本', 'char:2')] AS of_characters;
-- the first Similarity Index: windows of 40, Java's hash, those divisible by 25, their sum
SELECT cardinality(sketch) AS fingerprints, (SELECT sum(f) FROM unnest(sketch) AS f) AS si
FROM manber_sketch((SELECT string_agg('line ' || i, ' ') FROM generate_series(1, 100) AS i), 40, 0, divisor => 25, hash => 'java') AS sketch;
-- bytes of UTF-8, whatever the text
SELECT manber_sketch('é', 1, 0, 31, 1024) AS bytes;
-- texts that share a passage share its sketch
SELECT sketch_containment(manber_sketch(passage, 20, 2), manber_sketch(head || passage || tail, 20, 2)) AS contained,
       sketch_similarity(manber_sketch(passage, 20, 2), manber_sketch(head || passage || tail, 20, 2)) BETWEEN 0.3 AND 0.7 AS resembles
FROM (SELECT string_agg(md5(i::text), ' ') FILTER (WHERE i <= 10) AS head,
             string_agg(md5(i::text), ' ') FILTER (WHERE i BETWEEN 11 AND 30) AS passage,
             string_agg(md5(i::text), ' ') FILTER (WHERE i > 30) AS tail FROM generate_series(1, 40) AS i) AS texts;
-- sorted and distinct
SELECT sketch = ARRAY(SELECT DISTINCT unnest(sketch) ORDER BY 1) AS sorted_and_distinct
FROM manber_sketch(repeat('round and round it goes, ', 1000), 20, 0) AS sketch;
-- nothing to hash
SELECT manber_sketch('') AS empty, manber_sketch('shorter than the window') AS short, manber_sketch(NULL) IS NULL AS nulls;
-- comparison as sets: neither order nor repetition matter
SELECT sketch_similarity('{1,2,3}', '{2,3,4}'), sketch_containment('{1,2,3}', '{2,3,4,5}'),
       sketch_similarity('{3,1,2,1}', '{2,3,3,4}') AS unsorted, sketch_similarity('{{1,2},{3,4}}', '{1,2,3,4}') AS matrix;
SELECT sketch_similarity('{}', '{}') AS both_empty, sketch_similarity('{}', '{1}') AS one_empty,
       sketch_containment('{}', '{1}') AS first_empty, sketch_containment('{1}', '{}') AS second_empty,
       sketch_similarity(NULL, '{1}') AS nulls;
SELECT sketch_similarity('{1,NULL}', '{1}');
SELECT sketch_containment('{1}', ARRAY[NULL]::bigint[]);
SELECT sketch_containment(array_fill(0::bigint, ARRAY[8388609]), '{1}');
-- wrong parameters
SELECT manber_sketch('a', 0);
SELECT manber_sketch('a', 65537);
SELECT manber_sketch('a', 50, -1);
SELECT manber_sketch('a', 50, 33);
SELECT manber_sketch('a', 50, 8, 1);
SELECT manber_sketch('a', 50, 8, 31, 1);
SELECT manber_sketch('a', 50, 8, 31, -5);
SELECT manber_sketch('a', 50, 8, 6, 9);
-- the built-in GIN index finds the texts that share anything
CREATE TABLE sketched (id integer, sketch bigint[]);
INSERT INTO sketched SELECT i, manber_sketch(repeat(md5(i::text), 3), 32, 2) FROM generate_series(1, 1000) AS i;
CREATE INDEX ON sketched USING gin (sketch);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM sketched WHERE sketch_overlaps(sketch, manber_sketch(repeat(md5('500'), 2), 32, 2));
SELECT id FROM sketched WHERE sketch_overlaps(sketch, manber_sketch(repeat(md5('500'), 2), 32, 2));
DROP TABLE sketched;
SELECT manber_sketch('a', divisor => 0);
SELECT manber_sketch('a', unit => 'bit');
SELECT manber_sketch('a', hash => 'md5');
-- winnowing: every shared run of k + w - 1 bytes is caught
SELECT winnow_sketch('The quick brown fox jumps over the lazy dog', 8, 6);
SELECT winnow_sketch('') AS empty, winnow_sketch('short') AS short, cardinality(winnow_sketch('just one window', 15, 100)) AS one, winnow_sketch(NULL) AS null;
-- The arrays are what PostgreSQL itself would make of their values.
SELECT s = ARRAY(SELECT unnest(s)) AS same, array_dims(s), pg_column_size(s) = pg_column_size(ARRAY(SELECT unnest(s))) AS same_size
FROM (VALUES (winnow_sketch('')), (passage_sketch('thirteen text', 6))) AS v (s);
SELECT count(*) AS missed FROM (SELECT md5(i::text) || run || md5('x') AS a, run || md5((-i)::text) AS b
    FROM generate_series(1, 300) AS i, LATERAL (SELECT substr(md5(i || 'run'), 1, 25) AS run) AS r) AS t
WHERE NOT sketch_overlaps(winnow_sketch(a, 10, 16), winnow_sketch(b, 10, 16));
SELECT winnow_sketch('a', 0, 5);
SELECT winnow_sketch('a', 5, 10001);
-- Heintze: the rarest substrings; the stored hashes are some of the hashes of a search
SELECT heintze_sketch('The quick brown fox jumps over the lazy dog', 3, 10);
SELECT heintze_sketch('Hello, World! 42') = heintze_sketch('hello world') AS letters_only, heintze_sketch('') AS empty, heintze_sketch('42') AS no_letters, heintze_sketch(NULL) AS null;
SELECT cardinality(stored) AS stored, cardinality(searched) AS searched, stored <@ searched AS subset
FROM (SELECT heintze_sketch(body) AS stored, heintze_sketch(body, 1000) AS searched
      FROM (SELECT string_agg(md5(i::text), ' ') AS body FROM generate_series(1, 200) AS i) AS t) AS s;
-- substrings known to be frequent come last, the most frequent at the very end
SELECT cardinality(ARRAY(SELECT unnest(plain) INTERSECT SELECT unnest(avoiding))) AS kept_of_10
FROM (SELECT heintze_sketch(body, 10) AS plain, heintze_sketch(body, 10, frequent => heintze_sketch(body, 10)) AS avoiding
      FROM (SELECT string_agg(md5(i::text), ' ') AS body FROM generate_series(1, 50) AS i) AS t) AS s;
SELECT heintze_sketch('abcdefg', 1, 5, frequent => f) <> ARRAY[f[3]] AS others_first
FROM (SELECT heintze_sketch('abcdefg', 10, 5) AS f) AS s;
SELECT heintze_sketch('a', 0);
SELECT heintze_sketch('a', 100, 4);
SELECT heintze_sketch('a', frequent => '{NULL}');
-- excerpts: winnowing for a number of characters
SELECT excerpt_sketch(t, 50) = winnow_sketch(t, 25, 26) AS winnowed, excerpt_sketch(t) = excerpt_sketch(t, 100) AS default_100
FROM (SELECT string_agg(md5(i::text), ' ') FROM generate_series(1, 20) AS i) AS s (t);
SELECT excerpt_sketch('The quick brown fox jumps over the lazy dog', 20), excerpt_sketch('日本語の文章です', 10),
       excerpt_sketch('shorter than ten', 40) AS shorter_than_half, cardinality(excerpt_sketch('shorter than it', 20)) AS shorter, excerpt_sketch(NULL) AS null;
SELECT count(*) AS missed FROM (SELECT md5(i::text) || run || md5('x') AS a, run || md5((-i)::text) AS b
    FROM generate_series(1, 300) AS i, LATERAL (SELECT substr(translate(md5(i || 'run'), '0123456789', 'éαж日本語😀ßñö'), 1, 25) AS run) AS r) AS t
WHERE NOT sketch_overlaps(excerpt_sketch(a, 25), excerpt_sketch(b, 25));
SELECT excerpt_sketch('a', 9);
SELECT excerpt_sketch('a', 10001);
