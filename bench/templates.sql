-- Rows that are near by one code and apart by another, which is why there is a second code: clusters and joins, with the codes
-- in either order, in processor seconds. Called with -v rows=N.
SET client_min_messages = warning;
\ir processor_seconds.sql
CREATE TABLE letter AS SELECT i AS id, format('Dear customer, today we sent your order of %s and %s. It will reach you within three days.', md5(i::text), md5(i || 'b')) AS body
FROM generate_series(1, :rows) AS i;
CREATE TABLE of_one_template AS WITH learned AS MATERIALIZED (SELECT feature_weights(body, 'word:2') AS weights FROM letter)
SELECT id, simhash(body) AS si, minhash_bits(body, 256, weights)::bit(256) AS rare FROM letter, learned;
CREATE FUNCTION scattered(i bigint) RETURNS bit(256) LANGUAGE sql IMMUTABLE RETURN ('x' || md5(i::text) || md5(i || 'b'))::bit(256);
CREATE TABLE half_of_one_template AS SELECT id, si, rare FROM of_one_template WHERE id % 2 = 0
UNION ALL SELECT i, hashint8extended(i, 7), scattered(i)::bit(256) FROM generate_series(1, :rows, 2) AS i;
CREATE TABLE scattered AS SELECT i AS id, hashint8extended(i, 7) AS si, scattered(i)::bit(256) AS rare FROM generate_series(1, :rows) AS i;
-- Fingerprints within 6 bits of each other.
CREATE TABLE hot AS SELECT i AS id, 77 # (1::bigint << (i % 61)::integer) # (1::bigint << (i % 59)::integer) # (1::bigint << (i % 53)::integer) AS si, scattered(i)::bit(256) AS rare
FROM generate_series(1, :rows) AS i;
VACUUM ANALYZE of_one_template, half_of_one_template, scattered, hot;

CREATE TABLE measured (number serial, rows_of text, what text, first text, seconds double precision, rows bigint, memory text);
CREATE PROCEDURE measure(rows_of text, what text, first text, query text) LANGUAGE plpgsql AS $$
DECLARE
    started double precision := processor_seconds();
    rows bigint;
BEGIN
    EXECUTE query INTO rows;
    INSERT INTO measured (rows_of, what, first, seconds, rows, memory) VALUES (rows_of, what, first, processor_seconds() - started, rows, current_setting('work_mem'));
END $$;
SELECT format($$SET work_mem = %L; CALL measure(%L, %L, %L, %L)$$, memory, rows_of, what, first, format(query, rows_of)) AS statement
FROM unnest('{4MB, 64MB, 256MB}'::text[]) AS memory, unnest('{of_one_template, half_of_one_template, scattered, hot}'::text[]) AS rows_of, (VALUES
    ('near_cluster', 'si', 'SELECT count(*) FROM (SELECT id, near_cluster(id, si, 14, rare, 50) OVER (ORDER BY id) AS keeper FROM %1$I) AS c WHERE keeper <> id'),
    ('near_cluster', 'rare', 'SELECT count(*) FROM (SELECT id, near_cluster(id, rare, 50, si::bit(64), 14) OVER (ORDER BY id) AS keeper FROM %1$I) AS c WHERE keeper <> id'),
    ('EXISTS', 'si', 'SELECT count(*) FROM %1$I AS d WHERE EXISTS (SELECT FROM %1$I AS e WHERE hamming(e.si, d.si) <= 14 AND hamming(e.rare, d.rare) <= 50 AND e.id < d.id)'),
    ('EXISTS', 'rare', 'SELECT count(*) FROM %1$I AS d WHERE EXISTS (SELECT FROM %1$I AS e WHERE hamming(e.rare, d.rare) <= 50 AND hamming(e.si, d.si) <= 14 AND e.id < d.id)'),
    ('JOIN', 'si', 'SELECT count(*) FROM %1$I AS d JOIN %1$I AS e ON hamming(e.si, d.si) <= 14 AND hamming(e.rare, d.rare) <= 50 AND e.id < d.id'),
    ('JOIN', 'rare', 'SELECT count(*) FROM %1$I AS d JOIN %1$I AS e ON hamming(e.rare, d.rare) <= 50 AND hamming(e.si, d.si) <= 14 AND e.id < d.id')
) AS queries (what, first, query) \gexec
SELECT rows_of, what, memory, round(max(seconds) FILTER (WHERE first = 'si')::numeric, 2) AS "si first, s", round(max(seconds) FILTER (WHERE first = 'rare')::numeric, 2) AS "rare first, s",
    round((max(seconds) / min(seconds))::numeric, 2) AS "times the better order", min(rows) AS rows
FROM measured GROUP BY rows_of, what, memory ORDER BY memory, rows_of, what;
