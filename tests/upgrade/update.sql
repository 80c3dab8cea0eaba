-- Asks all questions before the update, after it in the same session and in a new one, and once more after the data changed.
SET plan_cache_mode = force_generic_plan;
PREPARE near (bigint, integer) AS SELECT array_agg(id ORDER BY id) AS near FROM document WHERE hamming(doc1, $1) <= $2;
PREPARE nearest (bigint, integer) AS
    SELECT array_agg(d) AS nearest FROM (SELECT doc1 <~> $1 AS d FROM document ORDER BY doc1 <~> $1 LIMIT $2) AS n;
EXECUTE near (42, 20) \gset before_
EXECUTE nearest (42, 20) \gset before_
SELECT assert_answers('before the update');
SELECT assert_sound();

ALTER EXTENSION simhash_pg UPDATE;

SELECT assert(installed_version = default_version, 'the update leads to this version')
FROM pg_available_extensions WHERE name = 'simhash_pg';
SELECT assert_answers('after the update, in the same session');
EXECUTE near (42, 20) \gset after_
EXECUTE nearest (42, 20) \gset after_
SELECT assert(:'before_near' = :'after_near' AND :'before_nearest' = :'after_nearest', 'prepared queries give the same answers');

\connect
SET client_min_messages = warning;
SELECT assert_answers('after the update, in a new session');
SELECT assert_sound();
SELECT assert(has_function_privilege('pg_monitor', 'hamming_index_check(regclass, boolean)', 'EXECUTE'), 'a granted privilege stays');

DELETE FROM document WHERE id % 20 = 18;
UPDATE document SET body = made_text(id + 5) WHERE id % 20 = 19;
INSERT INTO document (id, title, body) SELECT i, 'new', made_text(i) FROM generate_series(3001, 3500) AS i;
INSERT INTO triggered SELECT id, title, body FROM document WHERE id BETWEEN 1000 AND 1500;
UPDATE triggered SET title = 'changed' WHERE id % 10 = 5;
INSERT INTO parted SELECT id, doc1 FROM document WHERE id > 3000;
VACUUM ANALYZE document, triggered, parted;
REINDEX INDEX document_gist;
REFRESH MATERIALIZED VIEW pair;
WITH inserted AS (INSERT INTO different SELECT -1, si # 1 FROM different LIMIT 1 ON CONFLICT DO NOTHING RETURNING 1)
SELECT assert(count(*) = 0, 'the exclusion constraint refuses a near-duplicate') FROM inserted;
SELECT assert(count(*) = 0, 'generated columns are what their functions say') FROM document
WHERE (doc1, doc2, words, chars, crawl, page, spelling, manber, signature) IS DISTINCT FROM (
    simhash(body, 'doc1'), simhash(body, 'doc2'), simhash(body, 'word:2'), simhash(body, 'char:8'), simhash(body, 'commoncrawl'),
    simhash(body, 'doc2'), simhash_encode(simhash(body, 'doc2'), 'doc2'), manber_sketch(body, 20, 4), minhash_classic(body));
SELECT assert(count(*) = 0, 'the trigger sets what simhash says') FROM triggered
WHERE si IS DISTINCT FROM simhash(simhash_text(title, body), 'word:3');

-- What was made without a scheme keeps the default of its release.
INSERT INTO triggered_by_default SELECT id, title, body FROM document WHERE id BETWEEN 1000 AND 1500;
UPDATE triggered_by_default SET title = 'changed' WHERE id % 10 = 5;
SELECT assert(count(*) = 0, 'a trigger without a scheme keeps doc2') FROM triggered_by_default
WHERE si IS DISTINCT FROM simhash(simhash_text(title, body), 'doc2');
INSERT INTO written SELECT body FROM document WHERE id BETWEEN 100 AND 150;
SELECT assert(count(*) > 100 AND bool_and(si = simhash(body, 'doc2')), 'a rule keeps doc2') FROM ruled;
REINDEX INDEX document_by_default;

-- Index and scan agree on the changed data too.
SELECT assert(count(*) = (SELECT count(*) FROM question), 'every question has an answer') FROM answers();
SELECT assert_sound();

-- Living clusters of codes that the release has made, with changes that the next refresh settles.
SELECT assert(near_clusters_create('document', 'id', 'doc1', 6) IS NOT NULL, 'clusters are set up');
DELETE FROM document WHERE id % 20 = 3;
INSERT INTO document (id, title, body) SELECT i, 'newer', made_text(i) FROM generate_series(4001, 4100) AS i;
