-- How well ways to compare programs part copies from independent solutions. Called with -v programs=PATH -v rows=N.
CREATE FUNCTION cpu_ms() RETURNS numeric LANGUAGE sql VOLATILE AS $$SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::numeric / 1e6$$;
CREATE TABLE program (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, task integer, level integer, body text);
COPY program (task, level, body) FROM :'programs';
SELECT count(*) AS programs, count(*) FILTER (WHERE level BETWEEN 1 AND 6) AS copies, count(*) FILTER (WHERE level = 7) AS independent FROM program;

CREATE FUNCTION folded(body text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN regexp_replace(body, '\s+', ' ', 'g');

-- Each program with the original of its task, by many ways.
CREATE TABLE score AS
SELECT o.level AS other_level, p.level, way.*
FROM program AS o JOIN program AS p ON o.task = p.task AND p.level > 0,
     LATERAL (VALUES
        (1, 'simhash, doc2', -hamming(simhash(o.body), simhash(p.body))::float8),
        (2, 'minhash, char:5', minhash_similarity(minhash(o.body, 256, 'char:5'), minhash(p.body, 256, 'char:5'))),
        (3, 'shared_passages of 20, share of the original',
            (SELECT sum(upper(r) - lower(r)) FROM (SELECT unnest(range_agg(int4range(a_pos, a_pos + length))) AS r
             FROM shared_passages(o.body, p.body, 20)) AS s)::float8 / length(o.body)),
        (4, 'winnow 24, 8: similarity', sketch_similarity(winnow_sketch(o.body, 24, 8), winnow_sketch(p.body, 24, 8))),
        (5, 'winnow 24, 8: containment of the original', sketch_containment(winnow_sketch(o.body, 24, 8), winnow_sketch(p.body, 24, 8))),
        (6, 'winnow 24, 4: containment of the original', sketch_containment(winnow_sketch(o.body, 24, 4), winnow_sketch(p.body, 24, 4))),
        (7, 'the same, white space folded', sketch_containment(winnow_sketch(folded(o.body), 24, 4), winnow_sketch(folded(p.body), 24, 4))),
        (8, 'winnow 24, 8, white space folded', sketch_containment(winnow_sketch(folded(o.body), 24, 8), winnow_sketch(folded(p.body), 24, 8))),
        (9, 'winnow 32, 8, white space folded', sketch_containment(winnow_sketch(folded(o.body), 32, 8), winnow_sketch(folded(p.body), 32, 8))),
        (10, 'winnow 32, 8, white space folded, greater of both containments', greatest(
            sketch_containment(winnow_sketch(folded(o.body), 32, 8), winnow_sketch(folded(p.body), 32, 8)),
            sketch_containment(winnow_sketch(folded(p.body), 32, 8), winnow_sketch(folded(o.body), 32, 8)))),
        (11, 'winnow 24, 8, without white space',
            sketch_containment(winnow_sketch(regexp_replace(o.body, '\s+', '', 'g'), 24, 8), winnow_sketch(regexp_replace(p.body, '\s+', '', 'g'), 24, 8)))
     ) AS way (number, name, score)
WHERE o.level = 0;

-- The area under the ROC curve: how often a copy scores higher than an independent solution; a draw is a half.
SELECT name AS way, round(avg(won), 3) AS "all", round(avg(won) FILTER (WHERE c.level = 1), 3) AS "level 1", round(avg(won) FILTER (WHERE c.level = 2), 3) AS "2",
       round(avg(won) FILTER (WHERE c.level = 3), 3) AS "3", round(avg(won) FILTER (WHERE c.level = 4), 3) AS "4",
       round(avg(won) FILTER (WHERE c.level = 5), 3) AS "5", round(avg(won) FILTER (WHERE c.level = 6), 3) AS "6"
FROM score AS c JOIN score AS i USING (number, name),
     LATERAL (SELECT (sign(coalesce(c.score, 0)::numeric - coalesce(i.score, 0)::numeric) + 1) / 2 AS won) AS w
WHERE c.level < 7 AND i.level = 7
GROUP BY number, name ORDER BY number;

-- A program among many: with pieces of the files that Debian's packages bring, most of them of source code.
CREATE TABLE path (name text);
COPY path FROM :'files';
CREATE TABLE stored AS
SELECT folded(substr(body, place, 1500)) AS body, NULL::bigint[] AS sketch
FROM (SELECT convert_from(pg_read_binary_file(name), 'LATIN1') AS body FROM path ORDER BY name) AS f,
     generate_series(1, length(body) - 1500, 1500) AS place LIMIT :rows;
INSERT INTO stored SELECT folded(body) FROM program;
UPDATE stored SET sketch = winnow_sketch(body, 24, 8);
VACUUM FULL stored;
SELECT cpu_ms() AS before \gset
CREATE INDEX sketches ON stored USING gin (sketch sketch_ops);
SELECT count(*) AS stored, round(avg(cardinality(sketch))) AS "values", round((cpu_ms() - :before) / 1000, 1) AS "s to make the index", pg_size_pretty(pg_relation_size('sketches')) AS size FROM stored;
VACUUM ANALYZE stored;

-- Which of them is in this program to three tenths?
CREATE TABLE search (id integer, ms numeric, found bigint);
DO $$
DECLARE
    searched record;
    before numeric;
    answers bigint;
BEGIN
    FOR searched IN SELECT id, winnow_sketch(folded(body), 24, 8) AS sketch FROM program WHERE level BETWEEN 1 AND 6 AND id % 5 = 0 LOOP
        before := cpu_ms();
        EXECUTE 'SELECT count(*) FROM stored WHERE sketch_containment(sketch, $1) >= 0.3' INTO answers USING searched.sketch;
        INSERT INTO search VALUES (searched.id, cpu_ms() - before, answers);
    END LOOP;
END $$;
SELECT round((percentile_cont(0.5) WITHIN GROUP (ORDER BY ms))::numeric, 1) AS "ms a search, median", round(max(ms), 1) AS most, round(avg(found)) AS found FROM search;
