-- The tables that bench/load searches and changes. Called with -v rows=N.
SET client_min_messages = warning;

-- A code that follows from a number, and changes of some 8 of its 256 bits.
CREATE FUNCTION code(n bigint) RETURNS bit(256) LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN
    (hashint8extended(n, 1)::bit(64) || hashint8extended(n, 2)::bit(64) || hashint8extended(n, 3)::bit(64) || hashint8extended(n, 4)::bit(64))::bit(256);
CREATE FUNCTION changes(n bigint) RETURNS bit(256) LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN
    code(n # (1::bigint << 50)) & code(n # (1::bigint << 51)) & code(n # (1::bigint << 52)) & code(n # (1::bigint << 53)) & code(n # (1::bigint << 54));

-- Half of the codes are scattered, half in clusters of 8.
CREATE TABLE picture (id bigint, code bit(256));
INSERT INTO picture SELECT i, CASE WHEN i % 16 < 8 THEN code(-(i / 16)) # changes(i) ELSE code(i) END FROM generate_series(1, :rows) AS i;
\timing on
CREATE INDEX ON picture USING hamming (code);
\timing off
VACUUM (FREEZE, ANALYZE) picture;

-- Codes to look for: stored ones that were changed, and as many that are near to nothing.
CREATE TABLE query AS
SELECT n, CASE WHEN n % 2 = 0 THEN code(-((hashint8extended(n, 9) & 9223372036854775807) % :rows / 16)) # changes(-n - 1)
            ELSE code(n # (1::bigint << 49)) END AS code
FROM generate_series(0::bigint, 99999) AS n;
ALTER TABLE query ADD PRIMARY KEY (n);
VACUUM (FREEZE, ANALYZE) query;

CREATE TABLE ticket (
    id bigint GENERATED ALWAYS AS IDENTITY,
    tenant integer,
    si bigint,
    EXCLUDE USING hamming (hamming_ball(si, 6) WITH ~, tenant WITH =)
);

-- Offers one of some changed copies of 100,000 fingerprints to one of 10 tenants; it is refused if another is near.
CREATE FUNCTION offer(n bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO ticket (tenant, si) VALUES (n % 10, hashint8extended(n % 100000, 1) # (1::bigint << (n / 100000 % 60)::integer));
EXCEPTION WHEN exclusion_violation OR deadlock_detected THEN
    NULL;
END $$;
