-- The cost of a sequential scan.
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

-- A sequential scan by distance against one by what Postgres has of its own.
CREATE TABLE fingerprint AS SELECT hashint8extended(i, 1) AS si FROM generate_series(1, 1000000) AS i;
VACUUM (FREEZE, ANALYZE) fingerprint;
SELECT call, round(ms::numeric, 1) AS ms, round((ms / first_value(ms) OVER (ORDER BY number))::numeric, 2) AS ratio
FROM (VALUES (1, 'bit_count((si # 42)::bit(64)) <= 6'), (2, 'hamming(si, 42) <= 6'), (3, 'hamming_within(si, 42, 6)'),
             (4, 'si <> 42')) AS calls (number, call),
     LATERAL median_ms('SELECT count(*) FROM fingerprint WHERE ' || call, 15) AS ms
ORDER BY number;
