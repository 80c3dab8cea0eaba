-- Which rows each rule deletes, of one set. Called with -v page=PATH -v radius=R, within which doc2 looks
-- for candidates, and -v weighed=CONDITION.
-- The first row of a cluster keeps it; a deletion is right if its keeper is a version of the same text.
CREATE FUNCTION cpu_s() RETURNS numeric LANGUAGE sql VOLATILE AS $$SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::numeric / 1e9$$;
CREATE TABLE page (id bigint PRIMARY KEY, kind text, change text, origin bigint, body text COMPRESSION lz4);
COPY page FROM :'page';
SELECT count(*) > 500000 AS is_large FROM page \gset
SELECT cpu_s() AS before \gset
SELECT format('CREATE VIEW weighed AS SELECT body FROM page WHERE %s', :'weighed') \gexec
SELECT setseed(0.5), create_rare_code('rare', 'weighed', 'body') \g /dev/null
SELECT round(cpu_s() - :before, 2) AS weighing \gset
CREATE TABLE code AS SELECT id, kind, change, origin, simhash(body) AS si, rare(body)::bit(256) AS rare, CASE WHEN NOT :'is_large' THEN minhash_bits(body, 256, 'word:2')::bit(256) END AS look, NULL::bit(256) AS letters FROM page;
VACUUM ANALYZE code;
CREATE TABLE few AS SELECT body FROM page LIMIT 20000;
SELECT cpu_s() AS before, count(*) AS rows FROM few \gset
SELECT count(simhash(body)) FROM few \g /dev/null
SELECT cpu_s() AS of_doc2 \gset
SELECT count(minhash_bits(body, 256, 'word:2')) FROM few \g /dev/null
SELECT cpu_s() AS of_look \gset
SELECT count(rare(body)) FROM few \g /dev/null
SELECT round(1e6 * (cpu_s() - :of_look) / :rows, 1) AS us_rare, round(1e6 * (:of_look - :of_doc2) / :rows, 1) AS us_look, round(1e6 * (:of_doc2 - :before) / :rows, 1) AS us_doc2 \gset
SELECT kind, count(*) AS rows, count(*) FILTER (WHERE origin <> id) AS versions, round(avg(length(body))) AS characters,
       :weighing AS "s for the weights", :us_doc2 AS "µs a text: doc2", :us_look AS look, :us_rare AS rare
FROM page GROUP BY kind ORDER BY kind;

CREATE TABLE verdict (place integer GENERATED ALWAYS AS IDENTITY, rule text, id bigint, keeper bigint, seconds numeric);
CREATE PROCEDURE judge(rule text, clusters text) LANGUAGE plpgsql AS $$
<<judged>>
DECLARE
    before numeric := cpu_s();
    seconds numeric;
BEGIN
    EXECUTE 'INSERT INTO verdict (rule, id, keeper) SELECT $1, * FROM (' || clusters || ') AS c (id, keeper)' USING rule;
    seconds := cpu_s() - before;
    UPDATE verdict SET seconds = judged.seconds WHERE verdict.rule = judge.rule AND verdict.id = 0;
END $$;
SELECT format('CALL judge(%L, %L)', 'doc2 <= ' || limits, format('SELECT id, near_cluster(id, si, %s) OVER (ORDER BY id) FROM code', limits))
FROM unnest(CASE WHEN :'is_large' THEN '{6}' ELSE '{0, 3, 6, 12}' END::integer[] || :radius) AS limits \gexec
SELECT format('CALL judge(%L, %L)', name || ' <= ' || limits, format('SELECT id, near_cluster(id, si, %s, %s, %s) OVER (ORDER BY id) FROM code', :radius, name, limits))
FROM (VALUES ('look', '{30, 40, 51}'::integer[], NOT :'is_large'), ('rare', '{50}', :'is_large'), ('rare', '{30, 35, 40, 45, 50, 55, 60, 65, 70}', NOT :'is_large'))
    AS rule (name, radii, is_asked), unnest(radii) AS limits WHERE is_asked \gexec
SELECT format('CALL judge(%L, %L)', 'rare <= 50, longest first',
    format('SELECT id, near_cluster(id, si, %s, rare, 50) OVER (ORDER BY length(body) DESC, id) FROM code JOIN page USING (id)', :radius))
WHERE NOT :'is_large' \gexec
-- A row goes only if its keeper, the longest text, contains it.
SELECT format('CALL judge(%L, %L)', 'rare <= 50, contained >= ' || share, format('SELECT c.id, CASE WHEN text_containment(p.body, k.body, ''word:2'') >= %s THEN keeper ELSE c.id END
    FROM (SELECT id, near_cluster(id, si, %s, rare, 50) OVER (ORDER BY length(body) DESC, id) AS keeper FROM code JOIN page USING (id)) AS c JOIN page AS p USING (id) JOIN page AS k ON k.id = keeper', share, :radius))
FROM unnest('{0.90, 0.93, 0.95}'::numeric[]) AS share WHERE NOT :'is_large' OR share = 0.93 \gexec
-- Those that are left over form clusters of their own, as in docs/deduplication.md.
SELECT format('CALL judge(%L, %L)', 'rare <= 50, contained >= 0.93, or left over', format('WITH RECURSIVE c AS (
    SELECT 1 AS round, id, near_cluster(id, si, %1$s, rare) OVER (ORDER BY length(body) DESC, id) AS keeper FROM code JOIN page USING (id)
    UNION ALL
    SELECT round + 1, p.id, near_cluster(p.id, si, %1$s, rare) OVER (ORDER BY length(p.body) DESC, p.id)
    FROM c JOIN code ON code.id = c.id JOIN page AS p ON p.id = c.id JOIN page AS k ON k.id = keeper
    WHERE keeper <> c.id AND round < 5 AND (text_containment(p.body, k.body, ''word:2'') >= 0.93) IS NOT TRUE)
    SELECT DISTINCT ON (c.id) c.id, CASE WHEN round < 5 THEN keeper ELSE c.id END FROM c ORDER BY c.id, round DESC', :radius)) \gexec
-- Short texts have few words, so characters may say more. Like pairs of words they keep numbers.
SELECT avg(length(body)) < 300 AS is_short FROM page \gset
\if :is_short
UPDATE code SET letters = minhash_bits(body, 256, weights)::bit(256) FROM page, (SELECT feature_weights(body, 'char:4') AS weights FROM page) AS w WHERE page.id = code.id;
SELECT format('CALL judge(%L, %L)', 'rare char:4 <= ' || limits, format('SELECT id, near_cluster(id, si, 18, letters, %s) OVER (ORDER BY id) FROM code', limits))
FROM unnest('{0, 5, 10, 15, 20, 30, 40, 50}'::integer[]) AS limits \gexec
SELECT format('CALL judge(%L, %L)', 'word:1 <= ' || limits, format('SELECT id, near_cluster(id, simhash(body, ''word:1''), %s) OVER (ORDER BY id) FROM page', limits))
FROM unnest('{0, 1, 2, 3}'::integer[]) AS limits \gexec
\endif
\if :{?exact}
-- A share of .65 is never estimated by more than 80 bits.
CREATE TABLE weights AS SELECT feature_weights(body, 'word:2') AS weights FROM weighed;
ALTER TABLE weights ALTER weights SET STORAGE EXTERNAL;
CALL judge('text_similarity >= .65', 'SELECT code.id, coalesce(cluster, code.id) FROM code LEFT JOIN (SELECT (clusters_of_pairs(array_agg(a.id), array_agg(b.id))).*
    FROM code AS a JOIN code AS b ON a.id < b.id AND hamming(a.si, b.si) <= 18 AND hamming(a.rare, b.rare) <= 80
        JOIN page AS p ON p.id = a.id JOIN page AS q ON q.id = b.id
    WHERE text_similarity(p.body, q.body, (SELECT weights FROM weights)) >= 0.65) AS c ON key = code.id');
\endif
\echo right deletions / versions found / other texts that go, in percent
SELECT format('%s, %s s', rule, s) AS rule, kind, format('%s / %s / %s', round(100.0 * found / nullif(gone, 0), 2), round(100.0 * found / versions, 1), round(100.0 * wrong / others, 3))
FROM (
    SELECT rule, min(place) AS place, max(max(seconds)) OVER (PARTITION BY rule)::numeric(8, 1) AS s, a.kind,
           count(*) FILTER (WHERE keeper <> v.id) AS gone,
           count(*) FILTER (WHERE keeper <> v.id AND a.origin = k.origin) AS found, count(*) FILTER (WHERE a.origin <> a.id) AS versions,
           count(*) FILTER (WHERE keeper <> v.id AND a.origin <> k.origin AND a.origin = a.id) AS wrong, count(*) FILTER (WHERE a.origin = a.id) AS others
    FROM verdict AS v JOIN code AS a ON a.id = v.id JOIN code AS k ON k.id = keeper
    GROUP BY rule, a.kind) AS s
ORDER BY place
\crosstabview rule kind format
