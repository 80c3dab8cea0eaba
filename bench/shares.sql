-- The ten most similar of many sketches that reach a share, in processor time. Called with -v documents=NUMBER
-- -v values=NUMBER, those of a sketch.
--
-- Sketches are made up, since a million texts of 5 KB take longer to make than to search. One value in twenty is a phrase
-- of 10,000, which are as frequent as Zipf's law says. Ten documents are a family, which has some of the other values in
-- common: from none to nearly all.
SET client_min_messages = warning;
CREATE FUNCTION cpu_ms() RETURNS numeric LANGUAGE sql VOLATILE AS $$SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::numeric / 1e6$$;
CREATE FUNCTION chance(number bigint, seed bigint) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$SELECT (hashint8extended(number, seed) & 1048575) / 1048576.0::float8$$;
CREATE FUNCTION made_up_sketch(id bigint, family bigint, size integer) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$
    SELECT array_agg(DISTINCT CASE
        WHEN chance(id * 1000 + part, 2) < 0.05 THEN hashint8extended(floor(10000 ^ chance(id * 1000 + part, 3))::bigint, 4)
        WHEN chance(id * 1000 + part, 5) < chance(family, 1) THEN hashint8extended(family * 1000 + part, 6)
        ELSE hashint8extended(id * 1000 + part, 7) END)
    FROM generate_series(1, size) AS part
$$;
CREATE TABLE document (id bigint, sketch bigint[] NOT NULL);
INSERT INTO document SELECT id, made_up_sketch(id, id / 10, (:values * (0.5 + chance(id, 8)))::integer) FROM generate_series(1, :documents) AS id;
VACUUM ANALYZE document;
SELECT cpu_ms() AS before \gset
CREATE INDEX sketches ON document USING gin (sketch sketch_ops);
SELECT count(*) AS documents, round(avg(cardinality(sketch))) AS "values", pg_size_pretty(pg_table_size('document')) AS size,
       round((cpu_ms() - :before) / 1000, 1) AS "s for the index", pg_size_pretty(pg_relation_size('sketches')) AS "its size" FROM document;

-- New members of families, of whose values a twentieth to nearly all are in others.
CREATE TABLE query AS
SELECT made_up_sketch(1000000000 + family, family, :values) AS sketch
FROM generate_series(1, :documents / 10 - 1) AS family WHERE chance(family, 1) > 0.05 LIMIT 20;

-- Time is counted by the ticks of the scheduler, so all queries of a kind are measured together.
CREATE FUNCTION measured(share text, limit_of_share float8, OUT ms numeric, OUT answers numeric) LANGUAGE plpgsql AS $$
DECLARE
    statement text := format('SELECT count(*) FROM (SELECT FROM document WHERE %1$s >= %2$s ORDER BY %1$s DESC LIMIT 10) AS s', share, limit_of_share);
    started numeric := cpu_ms();
    asked bigint[];
    rows bigint;
BEGIN
    answers := 0;
    FOR asked IN SELECT sketch FROM query LOOP
        EXECUTE format(statement, asked) INTO rows;
        answers := answers + rows;
    END LOOP;
    SELECT (cpu_ms() - started) / count(*), answers / count(*) INTO ms, answers FROM query;
END $$;
SET enable_seqscan = off;
SELECT replace(share, '%1$L', 'query') AS share, limit_of_share AS "at least", round(ms, 2) AS ms, round(answers, 1) AS "of 10 found"
FROM unnest('{"sketch_similarity(sketch, %1$L)","sketch_containment(%1$L, sketch)","sketch_containment(sketch, %1$L)"}'::text[]) AS share,
     unnest('{0.5,0.2,0.05}'::float8[]) AS limit_of_share, measured(share, limit_of_share);
