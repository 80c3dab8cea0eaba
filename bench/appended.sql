-- Clusters of rows that are appended, by the two statements of docs/deduplication.md, against near_cluster of all rows, in
-- processor seconds. Called with -v rows=N -v appends=N -v batch=N -v codes='bigint bit'.
SET client_min_messages = warning;
CREATE TABLE measured_appended (number serial, part text, what text, seconds double precision, rows bigint);
\ir processor_seconds.sql
CREATE PROCEDURE measure_appended(part text, what text, query text) LANGUAGE plpgsql AS $$
DECLARE
    started double precision := processor_seconds();
    changed bigint;
BEGIN
    EXECUTE query;
    GET DIAGNOSTICS changed = ROW_COUNT;
    INSERT INTO measured_appended (part, what, seconds, rows) VALUES (part, what, processor_seconds() - started, changed);
END $$;
-- Half of all codes are scattered, half come in clusters of 50 that differ in up to four bits, at first; these grow.
CREATE FUNCTION fingerprint_of(id bigint, rows bigint) RETURNS bigint LANGUAGE sql IMMUTABLE RETURN
    CASE WHEN id % 2 = 0 THEN hashint8extended(id, 1)
         ELSE hashint8extended(id % (rows / 50), 2) # (1::bigint << (id % 61)::integer) # (1::bigint << (id % 53)::integer) END;
-- A code of 256 bits, whose last 192 tell families apart.
CREATE FUNCTION picture_of(id bigint, rows bigint) RETURNS bit(256) LANGUAGE sql IMMUTABLE RETURN
    (SELECT fingerprint_of(id, rows)::bit(64) || string_agg(hashint8extended(CASE WHEN id % 2 = 0 THEN id ELSE -(id % (rows / 50)) END, seed)::bit(64)::text, '' ORDER BY seed)::varbit
     FROM generate_series(3, 5) AS seed)::bit(256);

CREATE PROCEDURE measure_part(type text, code text, radius integer, rows bigint, appends bigint, batch bigint) LANGUAGE plpgsql AS $$
DECLARE
    part text := format('%s, radius %s', type, radius);
    load text := 'INSERT INTO story SELECT id, %s(id, %s) FROM generate_series(%s, %s::bigint) AS id';
BEGIN
    EXECUTE format('CREATE TABLE story (id bigint PRIMARY KEY, code %s)', type);
    EXECUTE format('CREATE TABLE cluster (id bigint PRIMARY KEY REFERENCES story ON DELETE CASCADE, keeper bigint NOT NULL,
        is_keeper boolean GENERATED ALWAYS AS (id = keeper) STORED, code %s, place bigint GENERATED ALWAYS AS IDENTITY)', type);
    EXECUTE format(load, code, rows, 1, rows);
    ANALYZE story;
    COMMIT;
    CALL measure_appended(part, 'near_cluster of the first rows, stored',
        format('INSERT INTO cluster (id, keeper, code) SELECT id, near_cluster(id, code, %s) OVER (ORDER BY id), code FROM story ORDER BY id', radius));
    ANALYZE cluster;
    COMMIT;
    FOR beginning IN rows + 1 .. rows + appends * batch BY batch LOOP
        EXECUTE format(load, code, rows, beginning, beginning + batch - 1);
        COMMIT;
        CALL measure_appended(part, 'appended: near a keeper', format('INSERT INTO cluster (id, keeper, code)
            SELECT DISTINCT ON (new.id) new.id, old.id, new.code
            FROM story AS new JOIN cluster AS old ON old.is_keeper AND hamming(new.code, old.code) <= %s
            WHERE NOT EXISTS (SELECT FROM cluster AS c WHERE c.id = new.id)
            ORDER BY new.id, old.place', radius));
        CALL measure_appended(part, 'appended: the others', format('INSERT INTO cluster (id, keeper, code)
            SELECT id, near_cluster(id, code, %s) OVER (ORDER BY id), code
            FROM story AS new WHERE NOT EXISTS (SELECT FROM cluster AS c WHERE c.id = new.id) ORDER BY id', radius));
        COMMIT;
    END LOOP;
    CALL measure_appended(part, 'near_cluster of all',
        format('CREATE TABLE expected AS SELECT id, near_cluster(id, code, %s) OVER (ORDER BY id) AS keeper FROM story', radius));
    CALL measure_appended(part, 'rows that differ from it',
        'CREATE TABLE differing AS SELECT FROM expected AS e FULL JOIN cluster AS c USING (id) WHERE e.keeper IS DISTINCT FROM c.keeper');
    DROP TABLE story, cluster, expected, differing;
    COMMIT;
END $$;
SELECT format('CALL measure_part(%L, %L, %s, %s, %s, %s)', type, code, radius, :rows, :appends, :batch)
FROM (VALUES ('bigint', 'fingerprint_of', 3), ('bit(256)', 'picture_of', 31)) AS part (type, code, radius)
WHERE split_part(type, '(', 1) = ANY (string_to_array(:'codes', ' ')) \gexec
SELECT part, what, count(*) AS times, round(sum(seconds)::numeric, 2) AS "s of CPU", round(max(seconds)::numeric, 2) AS longest, sum(rows) AS rows
FROM measured_appended GROUP BY part, what ORDER BY min(number);
