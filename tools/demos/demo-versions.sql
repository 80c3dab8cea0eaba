\pset border 1
\pset footer off
SET client_min_messages = warning;
CREATE EXTENSION simhash_pg;
CREATE TABLE page (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    released date NOT NULL,
    title text NOT NULL,
    body text NOT NULL,
    si bigint GENERATED ALWAYS AS (simhash(body)) STORED,
    superseded_by bigint REFERENCES page
);
INSERT INTO page (released, title, body)
SELECT released, title, body
FROM (VALUES ('old', :'old_date'::date), ('new', :'new_date'::date)) AS r (release, released),
     LATERAL pg_ls_dir(:'folder' || '/' || release) AS file,
     LATERAL (SELECT regexp_replace(file, '\.html$', '') AS title,
                     extract_text(convert_from(pg_read_binary_file(format('%s/%s/%s', :'folder', release, file)), 'UTF8')) AS body) AS t
WHERE body <> ''
ORDER BY released, title;

\echo '1. Two releases of a documentation. A page has no number that says which page of'
\echo 'the other release it was before, and pages are added, divided and renamed.'
\echo
\set ECHO queries
SELECT released, count(*) AS pages, pg_size_pretty(sum(length(body))) AS text
FROM page GROUP BY released ORDER BY released;

\set ECHO none
\echo '2. Two codes find families of pages: near by the first one, and by a second one in'
\echo 'which rare words have more weight. The latest page of a family is its keeper, and'
\echo 'the others are superseded by it. Nothing is deleted.'
\echo
\set ECHO queries
SELECT create_rare_code('rare', 'page', 'body');
ALTER TABLE page ADD rare bit(256) GENERATED ALWAYS AS (rare(body)) STORED;
UPDATE page SET superseded_by = keeper
FROM (SELECT id, near_cluster(id, si, 18, second_code => rare, second_radius => 50)
          OVER (ORDER BY released DESC, id) AS keeper
      FROM page) AS c JOIN page AS latest ON latest.id = keeper
WHERE page.id = c.id AND page.released < latest.released;
SELECT count(*) FILTER (WHERE old.superseded_by IS NULL) AS without_later_version,
       count(new.id) AS superseded,
       count(*) FILTER (WHERE old.title = new.title) AS by_page_of_same_name
FROM page AS old LEFT JOIN page AS new ON new.id = old.superseded_by
WHERE old.released = (SELECT min(released) FROM page);

\set ECHO none
\echo '3. Is it really a version? version_score compares the texts, and is the lower, the'
\echo 'more doubtful a pair is. The words that only one page contains are the evidence:'
\echo
\set ECHO queries
CREATE TABLE rarity AS
SELECT feature_weights(body, 'word:2') AS weights FROM page;
CREATE TABLE pair AS
SELECT old.id AS old, new.id AS new,
       version_score(old.body, new.body, (SELECT weights || '' FROM rarity)) AS score
FROM page AS old JOIN page AS new ON new.id = old.superseded_by;
SELECT old.title AS old, new.title AS new, score::numeric(3, 2),
       left(string_agg(feature, ' ' ORDER BY feature) FILTER (WHERE side = 'a'), 20)
           AS only_in_old,
       left(string_agg(feature, ' ' ORDER BY feature) FILTER (WHERE side = 'b'), 20)
           AS only_in_new
FROM pair JOIN page AS old ON old.id = pair.old JOIN page AS new ON new.id = pair.new,
     near_differences(old.body, new.body)
GROUP BY old.id, new.id, score ORDER BY pair.score, old.id LIMIT 8;

\set ECHO none
\echo '4. A page whose successor has another name was renamed if the score is high. Below'
\echo '0.75, it is probably another page, so the link is removed:'
\echo
\set ECHO queries
SELECT old.title AS old, new.title AS new, score::numeric(3, 2)
FROM pair JOIN page AS old ON old.id = pair.old JOIN page AS new ON new.id = pair.new
WHERE old.title <> new.title ORDER BY pair.score DESC, old.id LIMIT 8;
UPDATE page SET superseded_by = NULL
FROM pair JOIN page AS new ON new.id = pair.new
WHERE page.id = pair.old AND page.title <> new.title AND score < 0.75;

\set ECHO none
\echo '5. What is new in this version? shared_passages covers whatever the old page'
\echo 'contains as well, in runs of 30 characters. The gaps are new:'
\echo
\set ECHO queries
CREATE TABLE added AS
SELECT new.id, new.title,
       substr(new.body, lower(gap), upper(gap) - lower(gap)) AS passage
FROM page AS old JOIN page AS new ON new.id = old.superseded_by,
     unnest(int4multirange(int4range(1, length(new.body) + 1))
            - (SELECT coalesce(range_agg(int4range(b_pos, b_pos + length)), '{}')
               FROM shared_passages(old.body, new.body, 30))) AS gap;
SELECT title, length(passage) AS length,
       left(regexp_replace(passage, '\s+', ' ', 'g'), 50) AS begins_with
FROM added ORDER BY length DESC, id LIMIT 8;

\set ECHO none
\echo '6. Pages that are new altogether, and pages that have no successor:'
\echo
\set ECHO queries
SELECT released, string_agg(title, ' ' ORDER BY title) FILTER (WHERE place <= 4) AS pages,
       count(*)
FROM (SELECT *, row_number() OVER (PARTITION BY released ORDER BY title) AS place
      FROM page
      WHERE superseded_by IS NULL
        AND NOT EXISTS (SELECT FROM page AS old WHERE old.superseded_by = page.id)) AS p
GROUP BY released ORDER BY released;

\set ECHO none
\echo '7. The current documentation is what nothing supersedes. All pages are still there:'
\echo
\set ECHO queries
SELECT count(*) AS pages, count(*) FILTER (WHERE superseded_by IS NULL) AS current
FROM page;
\set ECHO none
