-- Random codes of 256 bits, none of which is near to another: the rows, the index, and the search of the nearest one.
SET client_min_messages = warning;
CREATE FUNCTION random_code(n bigint, seed bigint) RETURNS bit(256) LANGUAGE sql IMMUTABLE STRICT AS
    $$ SELECT (hashint8extended(n, seed)::bit(64) || hashint8extended(n, seed + 1)::bit(64)
               || hashint8extended(n, seed + 2)::bit(64) || hashint8extended(n, seed + 3)::bit(64))::bit(256) $$;
CREATE TABLE image AS SELECT i AS id, random_code(i, 11) AS code FROM generate_series(1, :rows::bigint) AS i;
CREATE INDEX image_code ON image USING hamming (code) WITH (trees = whole);
VACUUM (FREEZE, ANALYZE) image;
\ir processor_seconds.sql
-- The median milliseconds of processor time for the nearest of nine codes.
CREATE FUNCTION nearest_ms(seed bigint) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    center bit(256);
    before double precision;
    times double precision[];
BEGIN
    SET LOCAL enable_seqscan = off;
    FOR n IN 1..9 LOOP
        center := random_code(n, seed);
        before := processor_seconds();
        PERFORM id FROM image ORDER BY hamming(code, center) LIMIT 1;
        times := times || (processor_seconds() - before) * 1000;
    END LOOP;
    RETURN (SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY t)::numeric, 1) FROM unnest(times) AS t);
END $$;
-- The first search loads the pages.
SELECT nearest_ms(90);
