-- Which rows each rule deletes: right ones, of all it deletes, and of those that are versions of an earlier row. Called
-- with -v folder=PATH. The first row of a cluster keeps it; a deletion is right if its keeper is a version of the same text.
\set page :folder/page.tsv
CREATE FUNCTION cpu_s() RETURNS numeric LANGUAGE sql VOLATILE AS $$SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::numeric / 1e9$$;
CREATE TABLE page (id bigint PRIMARY KEY, kind text, change text, origin bigint, body text);
COPY page FROM :'page';
SELECT count(*) AS rows, round(avg(length(body))) AS characters FROM page;

-- The recipe of the docs.
SELECT cpu_s() AS before \gset
DO $$ BEGIN
    EXECUTE format('CREATE FUNCTION rare(text) RETURNS bit(256) IMMUTABLE STRICT PARALLEL SAFE RETURN minhash_bits($1, 256, %L::bytea)::bit(256)',
                   (SELECT feature_weights(body, 'word:2') FROM page));
END $$;
SELECT round(cpu_s() - :before, 2) AS weighing \gset
SELECT cpu_s() AS before \gset
CREATE TABLE code AS SELECT id, kind, change, origin, simhash(body) AS si, rare(body) AS rare FROM page;
SELECT :weighing AS "s for the weights", round(cpu_s() - :before, 2) AS "s for both codes";
SELECT cpu_s() AS before \gset
ALTER TABLE code ADD look bit(256);
UPDATE code SET look = minhash_bits(body, 256, 'word:2')::bit(256) FROM page WHERE page.id = code.id;
VACUUM ANALYZE code;

CREATE TABLE verdict (place integer GENERATED ALWAYS AS IDENTITY, rule text, id bigint, keeper bigint, seconds numeric);
CREATE PROCEDURE judge(rule text, clusters text) LANGUAGE plpgsql AS $$
DECLARE
    before numeric := cpu_s();
BEGIN
    EXECUTE 'INSERT INTO verdict (rule, id, keeper) SELECT $1, * FROM (' || clusters || ') AS c (id, keeper)' USING rule;
    UPDATE verdict SET seconds = cpu_s() - before WHERE verdict.rule = judge.rule AND verdict.id = 0;
END $$;
SELECT format('CALL judge(%L, %L)', 'doc2 <= ' || radius, format('SELECT id, near_cluster(id, si, %s) OVER (ORDER BY id) FROM code', radius))
FROM unnest('{3, 6, 12}'::integer[]) AS radius \gexec
SELECT format('CALL judge(%L, %L)', name || ' <= ' || radius, format('SELECT id, near_cluster(id, si, 18, %s, %s) OVER (ORDER BY id) FROM code', name, radius))
FROM (VALUES ('look', '{40, 51}'::integer[]), ('rare', '{30, 40, 45, 50, 55, 60, 70}')) AS rule (name, radii), unnest(radii) AS radius \gexec
SELECT format('CALL judge(%L, %L)', 'rare <= 50, longest first',
    'SELECT id, near_cluster(id, si, 18, rare, 50) OVER (ORDER BY length(body) DESC, id) FROM code JOIN page USING (id)') \gexec
\if :{?exact}
-- A share of .65 is never estimated by more than 80 bits.
CREATE TABLE weighed AS SELECT feature_weights(body, 'word:2') AS weights FROM page;
ALTER TABLE weighed ALTER weights SET STORAGE EXTERNAL;
CALL judge('text_similarity >= .65', 'SELECT code.id, coalesce(cluster, code.id) FROM code LEFT JOIN (SELECT (clusters_of_pairs(array_agg(a.id), array_agg(b.id))).*
    FROM code AS a JOIN code AS b ON a.id < b.id AND hamming(a.si, b.si) <= 18 AND hamming(a.rare, b.rare) <= 80
        JOIN page AS p ON p.id = a.id JOIN page AS q ON q.id = b.id
    WHERE text_similarity(p.body, q.body, (SELECT weights FROM weighed)) >= 0.65) AS c ON key = code.id');
\endif
SELECT rule, max(seconds)::numeric(8, 1) AS s, max(summary) FILTER (WHERE kind = 'clean') AS clean, max(summary) FILTER (WHERE kind = 'templated') AS templated
FROM (
    SELECT rule, min(place) AS place, max(seconds) AS seconds, a.kind,
           format('%s / %s', round(100.0 * count(*) FILTER (WHERE keeper <> v.id AND a.origin = k.origin) / nullif(count(*) FILTER (WHERE keeper <> v.id), 0), 2),
                  round(100.0 * count(*) FILTER (WHERE keeper <> v.id AND a.origin = k.origin) / count(*) FILTER (WHERE a.origin <> a.id), 1)) AS summary
    FROM verdict AS v JOIN code AS a ON a.id = v.id JOIN code AS k ON k.id = keeper
    GROUP BY rule, a.kind) AS s
GROUP BY rule ORDER BY min(place);
