-- The paper's three steps, in Markdown. Its own figures are those of its sections 2.1 to 2.5.
\set QUIET on
CREATE TABLE measured (what text PRIMARY KEY, value double precision);

-- Runs a statement and keeps how many seconds it took.
CREATE PROCEDURE measure(what text, statement text) LANGUAGE plpgsql AS $$
DECLARE
    started timestamptz := clock_timestamp();
BEGIN
    EXECUTE statement;
    INSERT INTO measured VALUES (what, extract(epoch FROM clock_timestamp() - started));
END $$;
CREATE FUNCTION seconds(of_what text) RETURNS double precision LANGUAGE sql STABLE AS 'SELECT value FROM measured WHERE what = of_what';
CREATE FUNCTION grouped(n anyelement, decimals integer DEFAULT 0) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$SELECT to_char(round(n::numeric, decimals), CASE decimals WHEN 0 THEN 'FM999,999,999,999' ELSE 'FM999,999,990.0' END)$$;

-- Read once, so that no step waits for the disk.
SELECT sum(octet_length(body)) AS bytes, count(*) AS documents FROM document \gset
\o /dev/null
SELECT sum(octet_length(body || '')) FROM document;
\o

CALL measure('fingerprints', 'CREATE UNLOGGED TABLE fingerprinted AS SELECT id, simhash(body, ''commoncrawl'') AS si FROM document');
CALL measure('fingerprints doc1', 'CREATE UNLOGGED TABLE fingerprinted_doc1 AS SELECT id, simhash(body, ''doc1'') AS si FROM document');
CALL measure('fingerprints doc2', 'CREATE UNLOGGED TABLE fingerprinted_doc2 AS SELECT id, simhash(body, ''doc2'') AS si FROM document');
ANALYZE fingerprinted;
ANALYZE fingerprinted_doc1;
ANALYZE fingerprinted_doc2;

-- Every comparison is made, of as many documents as the paper had.
CREATE UNLOGGED TABLE as_many AS SELECT * FROM fingerprinted ORDER BY id DESC LIMIT 20476;
SELECT count(*) * (count(*) - 1) / 2 AS comparisons FROM as_many \gset
SET enable_mergejoin = off;
SET simhash_pg.enable_near_join = off;
CALL measure('comparisons', 'SELECT count(*) FROM as_many AS a JOIN as_many AS b ON a.id < b.id AND hamming(a.si, b.si) <= 6');
RESET enable_mergejoin;
RESET simhash_pg.enable_near_join;
CALL measure('pairs', 'CREATE UNLOGGED TABLE pair AS
    SELECT a.id AS a, b.id AS b, hamming(a.si, b.si) AS distance FROM fingerprinted AS a JOIN fingerprinted AS b ON a.id < b.id AND hamming(a.si, b.si) <= 6');
CALL measure('pairs doc1', 'CREATE UNLOGGED TABLE pair_doc1 AS
    SELECT a.id AS a, b.id AS b, hamming(a.si, b.si) AS distance FROM fingerprinted_doc1 AS a JOIN fingerprinted_doc1 AS b ON a.id < b.id AND hamming(a.si, b.si) <= 6');
CALL measure('pairs doc2', 'CREATE UNLOGGED TABLE pair_doc2 AS
    SELECT a.id AS a, b.id AS b, hamming(a.si, b.si) AS distance FROM fingerprinted_doc2 AS a JOIN fingerprinted_doc2 AS b ON a.id < b.id AND hamming(a.si, b.si) <= 10');
CALL measure('index', 'CREATE INDEX ON fingerprinted USING hamming (si)');
SET simhash_pg.enable_near_join = off;
CALL measure('join', 'SELECT count(*) FROM fingerprinted AS a JOIN fingerprinted AS b ON a.id < b.id AND hamming(a.si, b.si) <= 6');
RESET simhash_pg.enable_near_join;

-- What came of it, for the fingerprints of the paper, for doc1 and for doc2.
CREATE FUNCTION found(fingerprints regclass, pairs regclass, radius integer,
    OUT pairs_found bigint, OUT similar_documents bigint, OUT most_matches bigint, OUT most_matched text,
    OUT inserts bigint, OUT inserts_found bigint, OUT deletes bigint, OUT deletes_found bigint,
    OUT exact bigint, OUT exact_deletes bigint, OUT largest_exact_insert integer, OUT largest_exact_delete integer) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT count(*) FROM %s WHERE distance <= $1', pairs) INTO pairs_found USING radius;
    EXECUTE format('
        WITH matches AS (
            SELECT id, count(*) AS n FROM (
                SELECT a AS id FROM %1$s WHERE distance <= $1 UNION ALL SELECT b FROM %1$s WHERE distance <= $1) AS p GROUP BY id)
        SELECT count(*), max(n), (SELECT name FROM matches JOIN document USING (id) ORDER BY n DESC, id LIMIT 1) FROM matches', pairs)
        INTO similar_documents, most_matches, most_matched USING radius;
    EXECUTE format('
        SELECT count(*) FILTER (WHERE change = ''insert''), count(*) FILTER (WHERE change = ''insert'' AND d <= $1),
               count(*) FILTER (WHERE change = ''delete''), count(*) FILTER (WHERE change = ''delete'' AND d <= $1),
               count(*) FILTER (WHERE d = 0), count(*) FILTER (WHERE d = 0 AND change = ''delete''),
               max(percent) FILTER (WHERE d = 0 AND change = ''insert''), max(percent) FILTER (WHERE d = 0 AND change = ''delete'')
        FROM (
            SELECT c.change, c.percent, hamming(f.si, o.si) AS d
            FROM document AS c JOIN %1$s AS f USING (id) JOIN %1$s AS o ON o.id = c.origin) AS changed', fingerprints)
        INTO inserts, inserts_found, deletes, deletes_found, exact, exact_deletes, largest_exact_insert, largest_exact_delete USING radius;
END $$;

WITH corpus AS (
    SELECT count(*) AS n, count(*) FILTER (WHERE origin IS NULL) AS originals, sum(octet_length(body)) / 1e6 AS mb,
           sum(octet_length(body)) FILTER (WHERE origin IS NULL) / 1e6 AS mb_of_originals,
           count(*) FILTER (WHERE change = 'insert') AS inserts, count(*) FILTER (WHERE change = 'delete') AS deletes
    FROM document),
cc AS (SELECT * FROM found('fingerprinted', 'pair', 6)),
doc1 AS (SELECT * FROM found('fingerprinted_doc1', 'pair_doc1', 6)),
doc2 AS (SELECT * FROM found('fingerprinted_doc2', 'pair_doc2', 6)),
loose AS (SELECT * FROM found('fingerprinted_doc2', 'pair_doc2', 10)),
line (n, what, paper, same, tight, ours, wide) AS (
    SELECT 1, 'original documents', '13,620 (343 MB)', grouped(originals) || ' (' || grouped(mb_of_originals) || ' MB)', '', '', '' FROM corpus
    UNION ALL SELECT 2, 'with changed copies', '20,476 (523 MB)', grouped(n) || ' (' || grouped(mb) || ' MB)', '', '', '' FROM corpus
    UNION ALL SELECT 3, 'insertions, deletions', '4,619, 3,057', grouped(inserts) || ', ' || grouped(deletes), '', '', '' FROM corpus
    UNION ALL SELECT 4, 'fingerprints, one core', '160 s, 3.3 MB/s', grouped(seconds('fingerprints'), 1) || ' s, ' || grouped(mb / seconds('fingerprints')) || ' MB/s',
        grouped(seconds('fingerprints doc1'), 1) || ' s, ' || grouped(mb / seconds('fingerprints doc1')) || ' MB/s',
        grouped(seconds('fingerprints doc2'), 1) || ' s, ' || grouped(mb / seconds('fingerprints doc2')) || ' MB/s', '' FROM corpus
    UNION ALL SELECT 5, 'each compared with each', '211 million in 106 s, 2.0 million/s',
        grouped(:comparisons / 1e6) || ' million in ' || grouped(seconds('comparisons'), 1) || ' s, ' || grouped(:comparisons / 1e6 / seconds('comparisons')) || ' million/s', '', '', ''
    UNION ALL SELECT 6, 'all ' || grouped(n * (n - 1) / 2 / 1e6) || ' million pairs in a near join', '',
        grouped(seconds('pairs'), 1) || ' s, ' || grouped(n * (n - 1) / 2 / 1e6 / seconds('pairs')) || ' million/s',
        grouped(seconds('pairs doc1'), 1) || ' s', '', grouped(seconds('pairs doc2'), 1) || ' s' FROM corpus
    UNION ALL SELECT 7, 'the same as a join through an index', '', grouped(seconds('join'), 1) || ' s (index built in ' || grouped(seconds('index'), 1) || ' s)', '', '', ''
    UNION ALL SELECT 8, 'pairs found', '35,377', grouped(cc.pairs_found), grouped(doc1.pairs_found), grouped(doc2.pairs_found), grouped(loose.pairs_found) FROM cc, doc1, doc2, loose
    UNION ALL SELECT 9, 'documents similar to another', '14,900 (73 %)',
        grouped(cc.similar_documents) || ' (' || grouped(100.0 * cc.similar_documents / n) || ' %)',
        grouped(doc1.similar_documents) || ' (' || grouped(100.0 * doc1.similar_documents / n) || ' %)',
        grouped(doc2.similar_documents) || ' (' || grouped(100.0 * doc2.similar_documents / n) || ' %)',
        grouped(loose.similar_documents) || ' (' || grouped(100.0 * loose.similar_documents / n) || ' %)' FROM corpus, cc, doc1, doc2, loose
    UNION ALL SELECT 10, 'most matches of one document', '15', grouped(cc.most_matches), grouped(doc1.most_matches), grouped(doc2.most_matches), grouped(loose.most_matches) FROM cc, doc1, doc2, loose
    UNION ALL SELECT 11, 'insertions found', '4,478 (97 %)',
        grouped(cc.inserts_found) || ' (' || grouped(100.0 * cc.inserts_found / cc.inserts) || ' %)',
        grouped(doc1.inserts_found) || ' (' || grouped(100.0 * doc1.inserts_found / doc1.inserts) || ' %)',
        grouped(doc2.inserts_found) || ' (' || grouped(100.0 * doc2.inserts_found / doc2.inserts) || ' %)',
        grouped(loose.inserts_found) || ' (' || grouped(100.0 * loose.inserts_found / loose.inserts) || ' %)' FROM cc, doc1, doc2, loose
    UNION ALL SELECT 12, 'deletions found', '585 (19 %)',
        grouped(cc.deletes_found) || ' (' || grouped(100.0 * cc.deletes_found / cc.deletes) || ' %)',
        grouped(doc1.deletes_found) || ' (' || grouped(100.0 * doc1.deletes_found / doc1.deletes) || ' %)',
        grouped(doc2.deletes_found) || ' (' || grouped(100.0 * doc2.deletes_found / doc2.deletes) || ' %)',
        grouped(loose.deletes_found) || ' (' || grouped(100.0 * loose.deletes_found / loose.deletes) || ' %)' FROM cc, doc1, doc2, loose
    UNION ALL SELECT 13, '**changed documents found**', '5,063 (**66 %**)',
        grouped(cc.inserts_found + cc.deletes_found) || ' (**' || grouped(100.0 * (cc.inserts_found + cc.deletes_found) / (cc.inserts + cc.deletes)) || ' %**)',
        grouped(doc1.inserts_found + doc1.deletes_found) || ' (**' || grouped(100.0 * (doc1.inserts_found + doc1.deletes_found) / (doc1.inserts + doc1.deletes)) || ' %**)',
        grouped(doc2.inserts_found + doc2.deletes_found) || ' (**' || grouped(100.0 * (doc2.inserts_found + doc2.deletes_found) / (doc2.inserts + doc2.deletes)) || ' %**)',
        grouped(loose.inserts_found + loose.deletes_found) || ' (**' || grouped(100.0 * (loose.inserts_found + loose.deletes_found) / (loose.inserts + loose.deletes)) || ' %**)'
        FROM cc, doc1, doc2, loose
    UNION ALL SELECT 14, 'changed, with distance 0', '940', grouped(cc.exact), grouped(doc1.exact), grouped(doc2.exact), '' FROM cc, doc1, doc2
    UNION ALL SELECT 15, '... of which deletions', '27 (3 %)', grouped(cc.exact_deletes) || ' (' || grouped(100.0 * cc.exact_deletes / greatest(cc.exact, 1)) || ' %)',
        grouped(doc1.exact_deletes) || ' (' || grouped(100.0 * doc1.exact_deletes / greatest(doc1.exact, 1)) || ' %)',
        grouped(doc2.exact_deletes) || ' (' || grouped(100.0 * doc2.exact_deletes / greatest(doc2.exact, 1)) || ' %)', '' FROM cc, doc1, doc2
    UNION ALL SELECT 16, 'largest insertion, deletion with distance 0', '80 %, 33 %', cc.largest_exact_insert || ' %, ' || coalesce(cc.largest_exact_delete || ' %', 'none'),
        doc1.largest_exact_insert || ' %, ' || coalesce(doc1.largest_exact_delete || ' %', 'none'),
        doc2.largest_exact_insert || ' %, ' || coalesce(doc2.largest_exact_delete || ' %', 'none'), '' FROM cc, doc1, doc2)
SELECT string_agg(text, E'\n' ORDER BY n) FROM (
    SELECT 0 AS n, E'## The paper''s three steps\n\n| | the paper (2013) | the same fingerprints, `commoncrawl`, radius 6 | `doc1`, radius 6 | `doc2`, radius 6 | `doc2`, radius 10 |\n|---|---|---|---|---|---|' AS text
    UNION ALL SELECT n, format('| %s | %s | %s | %s | %s | %s |', what, paper, same, tight, ours, wide) FROM line
    UNION ALL SELECT 100, format(E'\nMost matched: `%s` (`commoncrawl`), `%s` (`doc1`), `%s` (`doc2`, radius 6).', cc.most_matched, doc1.most_matched, doc2.most_matched) FROM cc, doc1, doc2) AS lines;
