-- Which test items are in a corpus, in processor time. Called with -v folder=PATH.
\set item :folder/item.tsv
\set corpus :folder/corpus.tsv
CREATE FUNCTION cpu_ms() RETURNS numeric LANGUAGE sql VOLATILE AS $$SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::numeric / 1e6$$;
CREATE TABLE item (id integer PRIMARY KEY, how text, body text, sketch bigint[] GENERATED ALWAYS AS (excerpt_sketch(body, 40)) STORED);
COPY item (id, how, body) FROM :'item';
CREATE TABLE file (id integer, body text);
COPY file FROM :'corpus';
CREATE TABLE corpus AS SELECT substr(body, place, 5000) AS body FROM file, generate_series(1, length(body), 5000) AS place;
VACUUM ANALYZE item, corpus;
SELECT sum(octet_length(body)) / 1e8 AS hundreds FROM corpus \gset

SELECT cpu_ms() AS before \gset
SELECT sum(cardinality(excerpt_sketch(replace(body, E'\n', ' '), 40))) AS values FROM corpus \gset
SELECT count(*) AS items, round(:hundreds * 100) AS "MB of corpus", :values AS "values", round((cpu_ms() - :before) / 1000 / :hundreds, 2) AS "s for the sketches of 100 MB" FROM item;
SELECT cpu_ms() AS before \gset
CREATE TABLE item_value AS
SELECT item, value
FROM (SELECT item, size, value, row_number() OVER (PARTITION BY item ORDER BY items, value) AS place
      FROM (SELECT id AS item, cardinality(sketch) AS size, value, count(*) OVER (PARTITION BY value) AS items
            FROM item, unnest(sketch) AS value) AS v) AS w
WHERE place <= size - ceil(0.7 * size) + 1;
ANALYZE item_value;
CREATE TABLE hit AS
SELECT id, count(DISTINCT piece) AS pieces
FROM item_value
JOIN (SELECT piece, sketch, unnest(sketch) AS value
      FROM (SELECT ctid AS piece, excerpt_sketch(replace(body, E'\n', ' '), 40) AS sketch FROM corpus OFFSET 0) AS s) AS c USING (value)
JOIN item ON id = item
WHERE sketch_containment(item.sketch, c.sketch) >= 0.7
GROUP BY id;
SELECT round((cpu_ms() - :before) / 1000 / :hundreds, 2) AS "s for the join, for each 100 MB", sum(pieces) AS pairs FROM hit;
-- An item that falls onto a border of two pieces is cut.
SELECT how, CASE WHEN length(body) < 40 THEN '30 to 39' WHEN length(body) < 100 THEN '40 to 99' ELSE '100 and more' END AS characters, count(*) AS items,
       round(avg((hit.id IS NOT NULL)::integer), 3) AS found
FROM item LEFT JOIN hit USING (id) GROUP BY 1, 2 ORDER BY 1, min(length(body));
