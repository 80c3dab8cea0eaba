-- Asks a database that was updated, dumped and restored.
SET search_path = public;
SELECT assert(count(*) = 0, 'generated columns keep doc1') FROM document
WHERE (doc1, page) IS DISTINCT FROM (simhash(body, 'doc1'), simhash(body, 'doc1'));
INSERT INTO triggered_by_default SELECT id, title, body FROM document WHERE id < 100;
SELECT assert(count(*) = 0, 'triggers keep doc1') FROM triggered_by_default
WHERE si IS DISTINCT FROM simhash(simhash_text(title, body), 'doc1');
SELECT assert(count(*) = 0, 'views keep doc1') FROM by_default JOIN document USING (id) WHERE si <> doc1;
SELECT assert(count(*) = 0, 'what is newer keeps doc2') FROM fresh WHERE si IS DISTINCT FROM simhash(body, 'doc2');
SELECT assert_sound();
