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

-- The constraint of docs/tickets.md, and two tenants with 10,000 tickets each, half of which have no numbers.
CREATE TABLE ticket (
    id bigint GENERATED ALWAYS AS IDENTITY,
    tenant bigint,
    si bigint,
    numbers text,
    EXCLUDE USING hamming (hamming_ball(si, 12) WITH ~, tenant WITH =, numbers WITH =)
);
INSERT INTO ticket (tenant, si, numbers) SELECT i % 2, hashint8extended(i, 1), CASE WHEN i % 4 < 2 THEN '' ELSE (i % 7)::text END
FROM generate_series(1, 20000) AS i ON CONFLICT DO NOTHING;

-- A text in the form of one ticket of many: some 4 bits differ from the others', and where there are numbers, they are one of 7.
CREATE FUNCTION ticket_of(text bigint, form bigint, OUT tenant bigint, OUT si bigint, OUT numbers text) LANGUAGE sql RETURN
    (text % 2, hashint8extended(text, 1) # (hashint8extended(form, 2) & hashint8extended(form, 3) & hashint8extended(form, 4) & hashint8extended(form, 5)),
     CASE WHEN text % 4 < 2 THEN '' ELSE (form % 7)::text END);
-- Offers it; it is refused if another with the same numbers is near.
CREATE FUNCTION offer(text bigint, form bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO ticket (tenant, si, numbers) SELECT * FROM ticket_of(text, form);
EXCEPTION WHEN exclusion_violation OR deadlock_detected THEN
    NULL;
END $$;
