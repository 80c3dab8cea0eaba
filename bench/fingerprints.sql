-- Fingerprints for benchmarks of whole tables, called with -v rows=N: half of them are scattered, half come in clusters of 50
-- that differ in up to four bits.
DROP TABLE IF EXISTS fingerprint CASCADE;
CREATE TABLE fingerprint AS
SELECT i AS id, CASE WHEN i % 2 = 0 THEN hashint8extended(i, 1)
                     ELSE hashint8extended(i % (:rows / 50), 2) # (1::bigint << (i % 61)::integer) # (1::bigint << (i % 53)::integer) END AS si
FROM generate_series(1, :rows::bigint) AS i;
VACUUM ANALYZE fingerprint;
