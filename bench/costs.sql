-- Whether the planner chooses what is fastest, for one width and one number of rows: -v rows=N -v bits=N. Half of the codes
-- are scattered, half in clusters of 8 that differ in few bits; each hundredth row is a tenant's.
SET client_min_messages = warning;
DROP TABLE IF EXISTS item, question, taken CASCADE;
SELECT CASE WHEN :bits = 64 THEN 'bigint' ELSE 'bit(' || :bits || ')' END AS type, :bits / 32 AS near, :bits * 3 / 8 AS far \gset

CREATE OR REPLACE FUNCTION scattered(n bigint, bits integer) RETURNS bit varying LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT ('x' || string_agg(encode(sha512(int8send(n) || int4send(part)), 'hex'), ''))::bit varying::bit(4096)::bit varying
    FROM generate_series(1, (bits + 511) / 512) AS part $$;
CREATE TABLE item AS
SELECT i AS id, i % 100 AS tenant, (CASE WHEN i % 16 < 8 THEN set_bit(set_bit(scattered(-i / 16, :bits), i % :bits, 1), i % 7, 0)
    ELSE scattered(i, :bits) END)::bit(:bits)::text::bit(:bits):::type AS code
FROM generate_series(1, :rows) AS i;
CREATE INDEX ON item USING hamming (code, tenant);
VACUUM (FREEZE, ANALYZE) item;

-- Each question of a code that has seven near, and of one that has none.
CREATE TABLE question AS
SELECT row_number() OVER () AS n, name, replace(format(query, of), '$1', format('%L::%s', code, :'type')) AS query
FROM (VALUES ('within ' || :near, 'SELECT id FROM item WHERE hamming(code, $1) <= ' || :near || ' %s'),
             ('within ' || :far, 'SELECT id FROM item WHERE hamming(code, $1) <= ' || :far || ' %s'),
             ('nearest 5', 'SELECT id FROM item WHERE true %s ORDER BY hamming(code, $1) LIMIT 5'),
             ('nearest 100', 'SELECT id FROM item WHERE true %s ORDER BY hamming(code, $1) LIMIT 100')) AS asked (kind, query),
     (VALUES ('', ''), (', a tenant', 'AND tenant = 7')) AS filters (filter, of),
     (SELECT 'near' AS place, code FROM item WHERE id = 1607 UNION ALL SELECT 'far', scattered(-1000000007, :bits)::bit(:bits):::type) AS codes,
     LATERAL (SELECT kind || filter || ', ' || place) AS names (name);

CREATE TABLE taken (n bigint, way text, plan text, ms double precision);
CREATE OR REPLACE FUNCTION milliseconds(statement text) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    start text := pg_read_file('/proc/self/schedstat');
    ms double precision := 0;
    runs integer := 0;
BEGIN
    EXECUTE 'PREPARE asked AS SELECT count(id) FROM (' || statement || ' OFFSET 0) AS x';
    WHILE ms < 20 LOOP
        EXECUTE 'EXECUTE asked';
        ms := (split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::bigint - split_part(start, ' ', 1)::bigint) / 1e6;
        runs := runs + 1;
    END LOOP;
    DEALLOCATE asked;
    RETURN ms / runs;
END $$;

-- Processor time of each question, by the plan that is chosen and by each kind of plan alone: the least of three.
CREATE OR REPLACE PROCEDURE measure() LANGUAGE plpgsql AS $$
DECLARE
    asked record;
    way text;
    kind text;
    line text;
    plan text;
BEGIN
    FOREACH way IN ARRAY '{chosen,indexscan,bitmapscan,seqscan}'::text[] LOOP
        FOREACH kind IN ARRAY '{indexscan,bitmapscan,seqscan}'::text[] LOOP
            PERFORM set_config('enable_' || kind, (way IN ('chosen', kind))::text, true);
        END LOOP;
        FOR asked IN SELECT * FROM question LOOP
            plan := NULL;
            FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || asked.query LOOP
                plan := coalesce(plan, substring(line FROM 'Seq Scan|Index Scan|Bitmap Heap Scan'));
            END LOOP;
            INSERT INTO taken SELECT asked.n, way, plan, min(milliseconds(asked.query)) FROM generate_series(1, 3);
        END LOOP;
    END LOOP;
END $$;
CALL measure();

SELECT :bits AS bits, :rows AS rows, q.name AS question, c.plan AS chosen, round(c.ms::numeric, 3) AS ms, b.plan AS best,
       round(b.ms::numeric, 3) AS "best, ms", round((c.ms / b.ms)::numeric, 1) AS "times as long"
FROM question AS q JOIN LATERAL (
         SELECT chosen.plan, min(same.ms) AS ms FROM taken AS chosen JOIN taken AS same USING (n, plan)
         WHERE chosen.n = q.n AND chosen.way = 'chosen' GROUP BY chosen.plan) AS c ON true
     JOIN LATERAL (SELECT * FROM taken WHERE n = q.n ORDER BY ms LIMIT 1) AS b ON true
ORDER BY q.n;
