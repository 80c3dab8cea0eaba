-- What of the algorithms' speed is left inside Postgres, and the cost of a sequential scan.
\pset footer off

-- The median time of a query in milliseconds.
CREATE FUNCTION median_ms(query text, runs integer DEFAULT 7) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    begun timestamptz;
    times double precision[];
BEGIN
    EXECUTE query;
    FOR run IN 1..runs LOOP
        begun := clock_timestamp();
        EXECUTE query;
        times := times || extract(epoch FROM clock_timestamp() - begun) * 1000;
    END LOOP;
    RETURN (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY t) FROM unnest(times) AS t);
END $$;

-- English text in rows of 1 to 100 KB, uncompressed.
CREATE TABLE document (kb integer, body text);
ALTER TABLE document ALTER body SET STORAGE EXTERNAL;
INSERT INTO document
WITH licences AS (
    SELECT string_agg(pg_read_file('/usr/share/common-licenses/' || name), '' ORDER BY name) AS body
    FROM pg_ls_dir('/usr/share/common-licenses') AS name
)
SELECT kb, substr(body, 1 + (i * 7919 * kb) % (length(body) - kb * 1000), kb * 1000)
FROM licences, unnest('{1,5,20,100}'::integer[]) AS kb, generate_series(1, 20000 / kb) AS i;
VACUUM ANALYZE document;

SELECT kb AS "KB a row", call, round(mbs) AS "MB/s", core AS "in the crate", round(100 * mbs / nullif(core, 0)) AS "% of it"
FROM unnest('{1,5,20,100}'::integer[]) AS kb,
     (VALUES (1, $$simhash(body, 'char:8')$$, :char8), (2, $$simhash(body, 'word:3')$$, :word3),
             (3, $$simhash(body)$$, :doc1), (4, $$simhash(body, 'commoncrawl')$$, :commoncrawl), (5, $$manber_sketch(body)$$, :manber),
             (6, $$winnow_sketch(body)$$, :winnow), (7, $$heintze_sketch(body)$$, :heintze), (8, $$minhash(body)$$, :minhash),
             (9, $$passage_sketch(body, 106)$$, :recursive), (10, $$extract_text(body)$$, 0)) AS calls (number, call, core),
     LATERAL (SELECT 20000 / median_ms(format('SELECT count(%s) FROM document WHERE kb = %s', call, kb)) AS mbs) AS m
ORDER BY number, kb;

-- A sequential scan by distance against one by what Postgres has of its own.
CREATE TABLE fingerprint AS SELECT hashint8extended(i, 1) AS si FROM generate_series(1, 1000000) AS i;
VACUUM (FREEZE, ANALYZE) fingerprint;
SELECT call, round(ms::numeric, 1) AS ms, round((ms / first_value(ms) OVER (ORDER BY number))::numeric, 2) AS ratio
FROM (VALUES (1, 'bit_count((si # 42)::bit(64)) <= 6'), (2, 'hamming(si, 42) <= 6'), (3, 'hamming_within(si, 42, 6)'),
             (4, 'si <> 42')) AS calls (number, call),
     LATERAL median_ms('SELECT count(*) FROM fingerprint WHERE ' || call, 15) AS ms
ORDER BY number;
