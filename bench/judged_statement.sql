-- README's statement, with the pages of one part as its table: how many of the judged pairs are in one cluster afterwards.
-- Called after judged.sql, with -v part=NAME -v is_check=BOOLEAN -v weights=FILE -v statement=FILE -v result=FILE.
SET client_min_messages = warning;
CREATE SCHEMA :"part";
SET search_path = :"part", public;
CREATE TABLE page AS SELECT row_number() OVER (ORDER BY collection, id) AS number, collection, id, body FROM public.document WHERE (collection = 'web') = :is_check;
CREATE TABLE document AS SELECT number AS id, body, simhash(body) AS si FROM page;
\i :weights
\pset format unaligned
\pset tuples_only on
\pset fieldsep '\t'
\o :result
\i :statement
\o
\pset format aligned
\pset tuples_only off
\pset footer off
CREATE TABLE gone (number bigint PRIMARY KEY, keeper bigint);
COPY gone FROM :'result';
CREATE TABLE place AS SELECT collection, id, coalesce(keeper, number) AS cluster FROM page LEFT JOIN gone USING (number);
SELECT :'part' AS "README's statement", round(100.0 * count(*) FILTER (WHERE grade >= 1) / count(*), 1) AS "right, percent of the pairs in one cluster",
       round(100.0 * count(*) FILTER (WHERE grade >= 1) / (SELECT count(*) FROM pair WHERE grade >= 1 AND (collection = 'web') = :is_check), 1) AS "found, percent of the duplicates"
FROM pair JOIN place AS x ON (x.collection, x.id) = (pair.collection, a) JOIN place AS y ON (y.collection, y.id) = (pair.collection, b)
WHERE x.cluster = y.cluster;
