-- Which judged pairs each rule deletes. Called with -v folder=PATH: COLLECTION/A_vs_B has the two texts, and their grade.
\pset footer off
SET client_min_messages = warning;
CREATE EXTENSION simhash_pg;
CREATE TABLE pair AS
SELECT collection, folder, split_part(folder, '_vs_', 1) AS a, split_part(folder, '_vs_', 2) AS b, pg_read_file(format('%s/%s/%s/label', :'folder', collection, folder))::integer AS grade
FROM unnest('{core,terabyte,web}'::text[]) AS collection, pg_ls_dir(:'folder' || '/' || collection) AS folder;
CREATE TABLE document AS
SELECT DISTINCT ON (collection, id) collection, id, pg_read_file(format('%s/%s/%s/full-text-%s', :'folder', collection, folder, id)) AS body
FROM pair, unnest(ARRAY[a, b]) AS id;
SELECT create_rare_code('rare', 'document', 'body') \g /dev/null

-- Of each pair, the longer text is kept, as in docs/deduplication.md.
CREATE TABLE compared AS
SELECT collection = 'web' AS is_check, grade >= 1 AS is_duplicate, hamming(simhash(d.body), simhash(k.body)) AS distance, hamming(rare(d.body), rare(k.body)) AS rare,
       text_containment(d.body, k.body, 'word:2') AS pairs, text_containment(d.body, k.body) = 1 AS all_words
FROM pair JOIN document AS d USING (collection) JOIN document AS k USING (collection)
WHERE d.id IN (a, b) AND k.id IN (a, b) AND (length(k.body), d.id) > (length(d.body), k.id);
SELECT CASE WHEN is_check THEN 'other pages' ELSE 'news and government' END AS pairs, count(*), count(*) FILTER (WHERE is_duplicate) AS duplicates FROM compared GROUP BY is_check ORDER BY is_check;

\echo right deletions / duplicates found, in percent, and pairs deleted
SELECT rule, max(cell) FILTER (WHERE NOT is_check) AS "news and government", max(cell) FILTER (WHERE is_check) AS "other pages", max(cell) FILTER (WHERE is_check IS NULL) AS "all"
FROM (
    SELECT place, rule, is_check, format('%s / %s, %s', round(100.0 * count(*) FILTER (WHERE goes AND is_duplicate) / nullif(count(*) FILTER (WHERE goes), 0), 1),
               round(100.0 * count(*) FILTER (WHERE goes AND is_duplicate) / count(*) FILTER (WHERE is_duplicate), 1), count(*) FILTER (WHERE goes)) AS cell
    FROM compared, LATERAL (VALUES
        (1, 'within 18, rare <= 50', distance <= 18 AND rare <= 50),
        (2, 'within 18, rare <= 40', distance <= 18 AND rare <= 40),
        (3, 'within 18, rare <= 30', distance <= 18 AND rare <= 30),
        (4, 'rare <= 50, contained >= 0.90', distance <= 18 AND rare <= 50 AND pairs >= 0.90),
        (5, 'rare <= 50, contained >= 0.93', distance <= 18 AND rare <= 50 AND pairs >= 0.93),
        (6, 'rare <= 50, contained >= 0.95', distance <= 18 AND rare <= 50 AND pairs >= 0.95),
        (7, 'rare <= 50, contained = 1', distance <= 18 AND rare <= 50 AND pairs = 1),
        (8, 'rare <= 50, contained >= 0.93, all words', distance <= 18 AND rare <= 50 AND pairs >= 0.93 AND all_words)) AS rules (place, rule, goes)
    GROUP BY place, rule, GROUPING SETS ((is_check), ())) AS s
GROUP BY place, rule ORDER BY place;
