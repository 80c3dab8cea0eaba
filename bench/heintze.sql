-- Heintze's claim: choosing rare substrings instead of random ones more than halves the false positives. Next to both, his suggestion
-- to avoid what the stored fingerprints show to be frequent: here what ten documents have in common. Documents are text
-- files that Debian's packages bring; called with -v files=PATH, a list of them. Stored fingerprints have 100 substrings of 32
-- letters, search fingerprints 1,000. A match is a pair of documents with a common value. It is false if less than 5 % of the
-- smaller document's substrings are in the other, by a sample of one in 16.
CREATE TABLE heintze_file (path text);
COPY heintze_file FROM :'files';
CREATE TABLE heintze_document AS
SELECT row_number() OVER ()::integer AS id, lower(body) AS body, regexp_replace(lower(body), '[^a-z]', '', 'g') AS letters
FROM (SELECT convert_from(pg_read_binary_file(path), 'LATIN1') AS body FROM heintze_file ORDER BY md5(path) LIMIT 6000) AS f
WHERE length(regexp_replace(body, '[^a-zA-Z]', '', 'g')) BETWEEN 3000 AND 60000 LIMIT 3000;
CREATE TABLE heintze_fingerprint AS
SELECT id, 'rare' AS chosen, heintze_sketch(body, 100) AS stored, heintze_sketch(body, 1000) AS search FROM heintze_document
UNION ALL
-- The least of random numbers are a random choice, and the same one in every document.
SELECT id, 'random', every[1:100], every[1:1000] FROM heintze_document, manber_sketch(letters, 32, 0, hash => 'xxh3') AS every;
CREATE TABLE heintze_frequent AS
SELECT value, count(*) AS documents FROM heintze_fingerprint, unnest(search) AS value WHERE chosen = 'rare' GROUP BY value HAVING count(*) >= 10;
INSERT INTO heintze_fingerprint
SELECT id, 'rare, not frequent', heintze_sketch(body, 100, frequent => known), heintze_sketch(body, 1000, frequent => known)
FROM heintze_document, (SELECT array_agg(value ORDER BY documents, value) AS known FROM heintze_frequent) AS f;
CREATE TABLE heintze_sample AS SELECT id, manber_sketch(letters, 32, 4, hash => 'xxh3') AS sample FROM heintze_document;
CREATE INDEX heintze_rare ON heintze_fingerprint USING gin (stored sketch_ops) WHERE chosen = 'rare';
CREATE INDEX heintze_random ON heintze_fingerprint USING gin (stored sketch_ops) WHERE chosen = 'random';
CREATE INDEX heintze_not_frequent ON heintze_fingerprint USING gin (stored sketch_ops) WHERE chosen = 'rare, not frequent';
ANALYZE heintze_fingerprint;
-- The plain query, through the index.
CREATE TABLE heintze_match (chosen text, search_id integer, stored_id integer, shared integer);
SELECT format('INSERT INTO heintze_match SELECT %1$L, a.id, b.id, round(sketch_containment(b.stored, a.search) * cardinality(b.stored))
               FROM heintze_fingerprint AS a JOIN heintze_fingerprint AS b ON sketch_overlaps(b.stored, a.search) AND a.id <> b.id
               WHERE a.chosen = %1$L AND b.chosen = %1$L', chosen)
FROM heintze_fingerprint GROUP BY chosen \gexec
CREATE TABLE heintze_pair AS
SELECT search_id, stored_id, greatest(sketch_containment(a.sample, b.sample), sketch_containment(b.sample, a.sample)) AS contained
FROM (SELECT DISTINCT search_id, stored_id FROM heintze_match) AS p
JOIN heintze_sample AS a ON a.id = search_id JOIN heintze_sample AS b ON b.id = stored_id;
SELECT count(*) AS documents FROM heintze_document;
SELECT chosen, count(*) FILTER (WHERE contained < 0.05) AS "false matches", count(*) FILTER (WHERE contained >= 0.05) AS "true matches",
       count(*) FILTER (WHERE contained >= 0.3) AS "of 30 % and more",
       count(*) FILTER (WHERE contained < 0.05 AND shared >= 2) AS "false, 2 shared", count(*) FILTER (WHERE contained < 0.05 AND shared >= 5) AS "false, 5 shared"
FROM heintze_match JOIN heintze_pair USING (search_id, stored_id) GROUP BY chosen ORDER BY chosen DESC;
