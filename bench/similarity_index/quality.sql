-- What each fingerprint finds, in Markdown, and the same for the plots. Called with -v data=FOLDER/.
\set QUIET on
SET client_min_messages = warning;
-- MinHash of 16 values of 4 bits: how many values differ.
CREATE FUNCTION values_of_4_bits(a bigint, b bigint) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT bit_count((((a # b) | (a # b) >> 1 | (a # b) >> 2 | (a # b) >> 3) & 1229782938247303441)::bit(64))::integer
$$;
CREATE TABLE scheme (name text PRIMARY KEY, place integer);
INSERT INTO scheme SELECT scheme, row_number() OVER () FROM (
    SELECT scheme, min(n) FROM (SELECT scheme, row_number() OVER () AS n FROM fingerprint) AS f GROUP BY scheme ORDER BY 2) AS s;

CREATE TABLE original AS SELECT scheme, id, si FROM fingerprint JOIN quality USING (id) WHERE origin IS NULL;
ANALYZE original;

-- At which distance changed documents are from their originals.
CREATE TABLE changed AS
SELECT scheme, change, CASE scheme WHEN 'minhash, 16 × 4 bits' THEN values_of_4_bits(c.si, o.si) ELSE hamming(c.si, o.si) END AS distance, count(*) AS n
FROM quality JOIN fingerprint AS c USING (id) JOIN original AS o USING (scheme)
WHERE o.id = quality.origin
GROUP BY 1, 2, 3;

-- At which distance unrelated originals are from each other: all but those that are related.
CREATE TABLE unrelated AS
SELECT scheme, distance, sum(n) AS n
FROM (
    SELECT name AS scheme, p.distance, count(*) AS n
    FROM scheme, LATERAL (SELECT array_agg(id) AS ids, array_agg(si) AS sis FROM original WHERE scheme = name) AS f,
        LATERAL hamming_pairs(ids, sis, 20) AS p
    WHERE name <> 'minhash, 16 × 4 bits'
    GROUP BY 1, 2
    UNION ALL
    SELECT scheme, values_of_4_bits(a.si, b.si), count(*)
    FROM (SELECT * FROM original WHERE scheme = 'minhash, 16 × 4 bits' OFFSET 0) AS a
        JOIN (SELECT id, si FROM original WHERE scheme = 'minhash, 16 × 4 bits' OFFSET 0) AS b ON a.id < b.id
    GROUP BY 1, 2
    UNION ALL
    SELECT scheme, CASE scheme WHEN 'minhash, 16 × 4 bits' THEN values_of_4_bits(oa.si, ob.si) ELSE hamming(oa.si, ob.si) END, -count(*)
    FROM related AS r JOIN original AS oa ON oa.id = r.a JOIN original AS ob USING (scheme)
    WHERE ob.id = r.b
    GROUP BY 1, 2
) AS counted
GROUP BY 1, 2;

SELECT count(*) FILTER (WHERE origin IS NULL) AS originals, count(*) FILTER (WHERE change = 'insert') AS inserts,
       count(*) FILTER (WHERE change = 'delete') AS deletes, round(sum(octet_length(text)) / 1e6) AS mb,
       (count(*) FILTER (WHERE origin IS NULL) * (count(*) FILTER (WHERE origin IS NULL) - 1) / 2 - (SELECT count(*) FROM related)) / 1e6 AS millions,
       (SELECT count(*) FROM related) AS related
FROM quality \gset

CREATE TABLE result AS
SELECT name AS scheme, place, radius,
       100.0 * coalesce((SELECT sum(n) FROM changed WHERE scheme = name AND change = 'insert' AND distance <= radius), 0) / :inserts AS inserts,
       100.0 * coalesce((SELECT sum(n) FROM changed WHERE scheme = name AND change = 'delete' AND distance <= radius), 0) / :deletes AS deletes,
       100.0 * coalesce((SELECT sum(n) FROM changed WHERE scheme = name AND distance <= radius), 0) / (:inserts + :deletes) AS found,
       coalesce((SELECT sum(n) FROM unrelated WHERE scheme = name AND distance <= radius), 0) / :millions AS false_pairs
FROM scheme, generate_series(0, 20) AS radius;

\copy (SELECT scheme, radius, round(inserts, 2), round(deletes, 2), round(found, 2), round(false_pairs::numeric, 4) FROM result ORDER BY place, radius) TO plots.tsv

-- A number that is shown in a cell.
CREATE FUNCTION short(n numeric) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN n = 0 THEN '0' WHEN n < 0.095 THEN to_char(n, 'FM0.00') WHEN n < 9.95 THEN to_char(n, 'FM0.0') ELSE to_char(n, 'FM999,999,999') END $$;

SELECT format(E'\n## Which fingerprint finds what\n\n%s documents of the same, none longer than 200,000 characters, and the copies of which something was inserted (%s) or deleted (%s):
%s MB. Of the %s million pairs of originals, %s resemble each other (0.3 or more of their shingles of three words, as MinHash of 256 values estimates it). The others
are unrelated: those within the radius are false pairs.

At most 10 false pairs in a million; in the last column the share found where there would be exactly 10, between two radii (for few false pairs the last radius counts).

| fingerprint | radius | insertions found, %% | deletions found, %% | all found, %% | false pairs in a million | all found at 10, %% |
|---|---|---|---|---|---|---|', grouped(:originals), grouped(:inserts), grouped(:deletes), grouped(:mb),
    grouped(:millions + :related / 1e6, 1), grouped(:related));
WITH best AS (
    SELECT DISTINCT ON (scheme) * FROM result WHERE false_pairs <= 10 ORDER BY scheme, radius DESC),
between_radii AS (
    SELECT b.*, CASE WHEN next.scheme IS NULL OR b.false_pairs = 0 THEN b.found
                     ELSE b.found + (next.found - b.found) * ln(10 / b.false_pairs) / ln(next.false_pairs / b.false_pairs) END AS at_10
    FROM best AS b LEFT JOIN result AS next ON next.scheme = b.scheme AND next.radius = b.radius + 1)
SELECT format('| %s | %s | %s | %s | %s | %s | %s |', CASE name WHEN 'doc1' THEN '**doc1**' ELSE name END, coalesce(radius::text, 'none'),
              round(inserts, 1), round(deletes, 1), round(found, 1), short(false_pairs), round(at_10::numeric, 1))
FROM scheme LEFT JOIN between_radii ON scheme = name ORDER BY scheme.place;
SELECT format(E'\nOf the fingerprints of %s, the highest 32 bits are 0.', string_agg(scheme, ' and '))
FROM (SELECT scheme FROM fingerprint GROUP BY scheme HAVING min(si) >= 0 AND max(si) < 1::bigint << 32) AS narrow HAVING count(*) > 0;

-- A table of all radii.
CREATE FUNCTION all_radii(title text, cells text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    RETURN NEXT format(E'\n### %s\n\n| radius | %s |\n|---%s|', title, (SELECT string_agg(r::text, ' | ' ORDER BY r) FROM generate_series(0, 20) AS r), repeat('|---', 21));
    RETURN QUERY EXECUTE format('SELECT format(''| %%s | %%s |'', scheme, string_agg(%s, '' | '' ORDER BY radius)) FROM result GROUP BY scheme, place ORDER BY place', cells);
END $$;
SELECT all_radii('Insertions found, % of ' || :inserts, 'round(inserts)::text');
SELECT all_radii('Deletions found, % of ' || :deletes, 'round(deletes)::text');
SELECT all_radii('False pairs in a million', 'short(false_pairs)');
