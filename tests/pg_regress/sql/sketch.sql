-- Manber's polynomial over "Hello world", 3 bytes at a time
SELECT manber_sketch('Hello world', 3, 0, 31, 1048576) AS all_windows, manber_sketch('Hello world', 3, 2, 31, 1048576) AS sampled;
SELECT manber_sketch('Hello world', 3, 0, 257, 65536) AS all_windows, manber_sketch('Hello world', 3, 2, 257, 65536) AS sampled;
-- Java's String.hashCode is the window over the whole string, as a signed 32-bit number
SELECT (manber_sketch('abc', 3, 0, 31, 4294967296))[1]::bit(32)::integer AS abc,
       (manber_sketch('Hello world', 11, 0, 31, 4294967296))[1]::bit(32)::integer AS hello_world;
-- bytes of UTF-8, whatever the text
SELECT manber_sketch('é', 1, 0, 31, 1024) AS bytes;
-- texts that share a passage share its sketch
SELECT sketch_containment(manber_sketch(passage, 20, 2), manber_sketch(head || passage || tail, 20, 2)) AS contained,
       sketch_resemblance(manber_sketch(passage, 20, 2), manber_sketch(head || passage || tail, 20, 2)) BETWEEN 0.3 AND 0.7 AS resembles
FROM (SELECT string_agg(md5(i::text), ' ') FILTER (WHERE i <= 10) AS head,
             string_agg(md5(i::text), ' ') FILTER (WHERE i BETWEEN 11 AND 30) AS passage,
             string_agg(md5(i::text), ' ') FILTER (WHERE i > 30) AS tail FROM generate_series(1, 40) AS i) AS texts;
-- sorted and distinct
SELECT sketch = ARRAY(SELECT DISTINCT unnest(sketch) ORDER BY 1) AS sorted_and_distinct
FROM manber_sketch(repeat('round and round it goes, ', 1000), 20, 0) AS sketch;
-- nothing to hash
SELECT manber_sketch('') AS empty, manber_sketch('shorter than the window') AS short, manber_sketch(NULL) IS NULL AS nulls;
-- comparison as sets: neither order nor repetition matter
SELECT sketch_resemblance('{1,2,3}', '{2,3,4}'), sketch_containment('{1,2,3}', '{2,3,4,5}'),
       sketch_resemblance('{3,1,2,1}', '{2,3,3,4}') AS unsorted, sketch_resemblance('{{1,2},{3,4}}', '{1,2,3,4}') AS matrix;
SELECT sketch_resemblance('{}', '{}') AS both_empty, sketch_resemblance('{}', '{1}') AS one_empty,
       sketch_containment('{}', '{1}') AS first_empty, sketch_containment('{1}', '{}') AS second_empty,
       sketch_resemblance(NULL, '{1}') AS nulls;
SELECT sketch_resemblance('{1,NULL}', '{1}');
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
EXPLAIN (COSTS OFF) SELECT id FROM sketched WHERE sketch && manber_sketch(repeat(md5('500'), 2), 32, 2);
SELECT id FROM sketched WHERE sketch && manber_sketch(repeat(md5('500'), 2), 32, 2);
DROP TABLE sketched;
