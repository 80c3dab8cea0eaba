-- Which tool finds which change: 500 stored essays, changed in six ways, and the share whose original is found.
SELECT setseed(0.17);

-- Each word is replaced with this probability, by a word of the other text.
CREATE FUNCTION with_words_replaced(body text, other text, share float8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    words text[] := string_to_array(body, ' ');
    others text[] := string_to_array(other, ' ');
BEGIN
    FOR i IN 1..cardinality(words) LOOP
        IF random() < share THEN
            words[i] := others[1 + floor(random() * cardinality(others))::integer];
        END IF;
    END LOOP;
    RETURN array_to_string(words, ' ');
END $$;

CREATE TABLE changed AS
SELECT change, d.body AS original, c.body
FROM document AS d JOIN document AS other ON other.id = d.id + 500,
     LATERAL (VALUES (1, d.body), (2, with_words_replaced(d.body, other.body, 0.01)), (3, with_words_replaced(d.body, other.body, 0.2)), (4, left(d.body, 7500)),
                     (5, overlay(other.body PLACING substr(d.body, 3000, 5000) FROM 5000 FOR 5000)),
                     (6, overlay(other.body PLACING substr(d.body, 3000, 300) FROM 5000 FOR 300))) AS c (change, body)
WHERE d.id <= 500;

SELECT (ARRAY['copied', '1 % of the words replaced', '20 % of the words replaced', 'a half left', '5,000 of 15,000 characters quoted', '300 quoted'])[change] AS change,
       round(100 * avg((body = original)::integer)) AS "equal",
       round(100 * avg((distance <= 6)::integer)) AS "within 6", round(100 * avg((distance <= 10)::integer)) AS "10",
       round(100 * avg((distance <= 18)::integer)) AS "18",
       round(100 * avg(sketch_overlaps(excerpt_sketch(body, 100), excerpt_sketch(original, 100))::integer)) AS "excerpt of 100",
       round(100 * avg(sketch_overlaps(excerpt_sketch(body, 50), excerpt_sketch(original, 50))::integer)) AS "of 50",
       round(100 * avg((minhash_similarity(minhash(body, 128, 'doc2'), minhash(original, 128, 'doc2')) >= 0.45)::integer)) AS "resemblance 0.45",
       round(avg(distance), 1) AS "mean distance"
FROM (SELECT *, hamming(simhash(body), simhash(original)) AS distance FROM changed OFFSET 0) AS c
GROUP BY c.change ORDER BY c.change;

SELECT round(avg(pg_column_size(excerpt_sketch(body)))) AS "bytes of excerpt_sketch", round(avg(pg_column_size(manber_sketch(body)))) AS "of manber_sketch",
       round(avg(pg_column_size(minhash(body)))) AS "of minhash"
FROM document WHERE id <= 500;

-- Every essay with the same declaration, one copied, one quoted: pairs that share values of few essays.
UPDATE document SET body = body || (SELECT ' ' || string_agg(initcap(md5(i::text)), ' ') FROM generate_series(1, 15) AS i);
INSERT INTO document (id, body)
SELECT 1000001, body FROM document WHERE id = 100
UNION ALL SELECT 1000002, overlay(a.body PLACING substr(b.body, 3000, 3000) FROM 3000 FOR 3000) FROM document AS a, document AS b WHERE (a.id, b.id) = (200, 300);
UPDATE document SET excerpt = excerpt_sketch(body);
VACUUM FULL document;
SELECT cpu_ms() AS before \gset
CREATE TABLE pairs AS
SELECT a, b, count(*) AS values
FROM (SELECT array_agg(id) AS ids FROM document, unnest(excerpt) AS hash GROUP BY hash HAVING count(*) BETWEEN 2 AND (SELECT count(*) FROM document) / 100) AS rare,
     unnest(ids) AS a, unnest(ids) AS b
WHERE a < b GROUP BY a, b;
SELECT round((cpu_ms() - :before) / 1000, 1) AS "s for pairs without frequent values", count(*) AS pairs, count(*) FILTER (WHERE values >= 3) AS "with 3 values" FROM pairs;
