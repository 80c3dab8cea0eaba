-- Random codes, none of which is near to another: the rows, the indexes, and the processor time of searches.
SET client_min_messages = warning;
CREATE FUNCTION random_code(n bigint, seed bigint) RETURNS bit(256) LANGUAGE sql IMMUTABLE STRICT AS
    $$ SELECT (hashint8extended(n, seed)::bit(64) || hashint8extended(n, seed + 1)::bit(64)
               || hashint8extended(n, seed + 2)::bit(64) || hashint8extended(n, seed + 3)::bit(64))::bit(256) $$;
CREATE TABLE image AS SELECT i AS id, random_code(i, 11)::bit(256) AS code FROM generate_series(1, :rows::bigint) AS i;
CREATE INDEX image_code ON image USING hamming (code) WITH (trees = whole);
CREATE TABLE document AS SELECT i AS id, hashint8extended(i, 15) AS si FROM generate_series(1, :rows::bigint) AS i;
CREATE INDEX document_si ON document USING hamming (si);
VACUUM (FREEZE, ANALYZE) image, document;
\ir processor_seconds.sql

-- The milliseconds of processor time that a search takes on average, for different codes. The searches are the nearest
-- code of 256 bits ("codes"), the fingerprints within a radius ("3", "6" or "12"), and the nearest ten ("nearest").
CREATE FUNCTION search_ms(search text, searches integer, seed bigint) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    wanted bit(256);
    fingerprint bigint;
    before CONSTANT double precision := processor_seconds();
BEGIN
    SET LOCAL enable_seqscan = off;
    FOR n IN 1..searches LOOP
        CASE search
            WHEN 'codes' THEN
                wanted := random_code(n, seed);
                PERFORM id FROM image ORDER BY hamming(code, wanted) LIMIT 1;
            WHEN 'nearest' THEN
                fingerprint := hashint8extended(n, seed);
                PERFORM id FROM document ORDER BY hamming(si, fingerprint) LIMIT 10;
            WHEN '3' THEN
                fingerprint := hashint8extended(n, seed);
                PERFORM id FROM document WHERE hamming(si, fingerprint) <= 3;
            WHEN '6' THEN
                fingerprint := hashint8extended(n, seed);
                PERFORM id FROM document WHERE hamming(si, fingerprint) <= 6;
            WHEN '12' THEN
                fingerprint := hashint8extended(n, seed);
                PERFORM id FROM document WHERE hamming(si, fingerprint) <= 12;
        END CASE;
    END LOOP;
    RETURN round(((processor_seconds() - before) * 1000 / searches)::numeric, 4);
END $$;

-- The median distance of the tenth nearest fingerprint.
CREATE FUNCTION tenth_distance(seed bigint) RETURNS integer LANGUAGE sql AS $$
    SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY tenth)
    FROM generate_series(1, 9) AS n,
        LATERAL (SELECT max(distance) AS tenth
                 FROM (SELECT hamming(si, hashint8extended(n, seed)) AS distance FROM document
                       ORDER BY hamming(si, hashint8extended(n, seed)) LIMIT 10) AS nearest) AS t
$$;
