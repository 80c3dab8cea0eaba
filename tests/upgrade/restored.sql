-- Asks a database that was updated, dumped and restored.
SET search_path = public;
SELECT assert(count(*) = 0, 'generated columns keep their schemes') FROM document
WHERE (doc1, doc2) IS DISTINCT FROM (simhash(body, 'doc1'), simhash(body, 'doc2'));
INSERT INTO triggered_by_default SELECT id, title, body FROM document WHERE id < 100;
SELECT assert(count(*) = 0, 'triggers keep doc2') FROM triggered_by_default
WHERE si IS DISTINCT FROM simhash(simhash_text(title, body), 'doc2');
SELECT assert(count(*) = 0, 'views keep doc2') FROM by_default JOIN document USING (id) WHERE si <> doc2;
SELECT assert_sound();
SELECT assert(near_clusters_refresh('document') > 0, 'changes noted before the dump are settled');
SELECT assert(count(*) > 1000 AND bool_and(c.cluster IS NOT DISTINCT FROM n.cluster), 'clusters are those of near_cluster')
FROM (SELECT id, near_cluster(id, doc1, 6) OVER (ORDER BY id) AS cluster FROM document) AS n
    FULL JOIN document_clusters AS c USING (id);
