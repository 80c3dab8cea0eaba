-- The passages that an essay shares with stored ones, in processor time. Called with -v essays=PATH -v rows=N, which
-- is how many of them are stored; the others are searched with.
SET client_min_messages = warning;
CREATE TABLE document (id integer PRIMARY KEY, body text, excerpt bigint[], passage bigint[]);
COPY document (id, body) FROM :'essays';
CREATE TABLE asked AS SELECT * FROM document WHERE id > :rows;
CREATE TABLE submitted AS SELECT * FROM asked ORDER BY id LIMIT 1;
DELETE FROM document WHERE id > :rows;
ANALYZE document, asked, submitted;

CREATE TABLE measured (number serial, what text, queries integer, index_s numeric, index_mb numeric, of_text numeric, literal_ms numeric, parameter_ms numeric, generic_ms numeric, join_ms numeric, passages bigint, plan text);

-- Processor time that this session has taken, in ms: others may use the machine as well.
CREATE FUNCTION cpu_ms() RETURNS numeric LANGUAGE sql VOLATILE AS $$SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::numeric / 1e6$$;

-- The average time of some different queries, in ms, and all passages that they find.
CREATE FUNCTION average(query text, queries integer, OUT ms numeric, OUT passages bigint) LANGUAGE plpgsql AS $$
DECLARE
    started numeric := cpu_ms();
    essay text;
    found bigint;
BEGIN
    passages := 0;
    FOR essay IN SELECT body FROM asked ORDER BY id LIMIT queries LOOP
        EXECUTE format(query, quote_literal(essay)) INTO found;
        passages := passages + found;
    END LOOP;
    ms := round((cpu_ms() - started) / queries, 1);
END $$;

-- Searches a column with the sketch that is written so.
CREATE PROCEDURE measure(title text, index text, condition text) LANGUAGE plpgsql AS $$
DECLARE
    started numeric := cpu_ms();
    seconds numeric;
    size bigint;
    query text := 'SELECT count(s.*) FROM document AS d, shared_passages(d.body, %1$s, 100) AS s WHERE ' || condition;
    -- Scans, and sketches of passages, take long.
    many integer := CASE WHEN index ~ '^excerpt' THEN 1000 ELSE 50 END;
    line text;
    scans text := '';
    literal record;
BEGIN
    IF index <> '' THEN
        EXECUTE 'CREATE INDEX searched ON document USING gin (' || index || ')';
        seconds := round((cpu_ms() - started) / 1000, 1);
        size := pg_relation_size('searched');
    END IF;
    ANALYZE document;
    literal := average(query, many);
    FOR line IN EXECUTE 'EXPLAIN ' || format(query, quote_literal((SELECT body FROM submitted))) LOOP
        scans := scans || coalesce(substring(line FROM '(Bitmap Index|Seq) Scan') || ' ', '');
    END LOOP;
    SET LOCAL plan_cache_mode = force_custom_plan;
    EXECUTE 'PREPARE by_parameter(text) AS ' || format(query, '$1');
    INSERT INTO measured (what, queries, index_s, index_mb, of_text, literal_ms, parameter_ms, passages, plan)
    SELECT title, many, seconds, round(size / 1e6), round(size / (SELECT sum(octet_length(body)) FROM document)::numeric, 2),
        literal.ms, p.ms, p.passages, scans
    FROM average('EXECUTE by_parameter(%s)', many) AS p;
    SET LOCAL plan_cache_mode = force_generic_plan;
    UPDATE measured SET generic_ms = (SELECT ms FROM average('EXECUTE by_parameter(%s)', many)) WHERE number = (SELECT max(number) FROM measured);
    DEALLOCATE by_parameter;
    started := cpu_ms();
    EXECUTE format(replace(query, 'document AS d,', '(SELECT * FROM asked ORDER BY id LIMIT %2$s) AS q, document AS d,'), 'q.body', many);
    UPDATE measured SET join_ms = round((cpu_ms() - started) / many, 1) WHERE number = (SELECT max(number) FROM measured);
    DROP INDEX IF EXISTS searched;
END $$;

SELECT count(*) AS essays, round(sum(octet_length(body)) / 1e6) AS mb FROM document;
SELECT cpu_ms() AS before \gset
UPDATE document SET excerpt = excerpt_sketch(body);
SELECT round((cpu_ms() - :before) / 1000, 1) AS "s to make excerpt_sketch(body)", round(avg(cardinality(excerpt))) AS "values" FROM document;
VACUUM FULL document;
CALL measure('excerpt_sketch, sketch_ops', 'excerpt sketch_ops', 'sketch_overlaps(d.excerpt, excerpt_sketch(%1$s))');
CALL measure('excerpt_sketch, array_ops', 'excerpt', 'sketch_overlaps(d.excerpt, excerpt_sketch(%1$s))');
CALL measure('excerpt_sketch, no index', '', 'sketch_overlaps(d.excerpt, excerpt_sketch(%1$s))');
CALL measure('a hundredth of the sketch, sketch_ops', 'excerpt sketch_ops', 'sketch_containment(excerpt_sketch(%1$s), d.excerpt) >= 0.01');
CALL measure('a hundredth of the sketch, no index', '', 'sketch_containment(excerpt_sketch(%1$s), d.excerpt) >= 0.01');
\if :with_passage_sketch
UPDATE document SET passage = passage_sketch(body, 106);
VACUUM FULL document;
CALL measure('passage_sketch of 106, sketch_ops', 'passage sketch_ops', 'sketch_overlaps(d.passage, passage_sketch(%1$s, 106))');
CALL measure('passage_sketch of 106, array_ops', 'passage', 'sketch_overlaps(d.passage, passage_sketch(%1$s, 106))');
CALL measure('passage_sketch of 106, no index', '', 'sketch_overlaps(d.passage, passage_sketch(%1$s, 106))');
\endif
SELECT what, queries, index_s AS "index, s", index_mb AS "MB", of_text AS "of the text", literal_ms AS "literal, ms", parameter_ms AS "parameter", generic_ms AS "generic plan",
       join_ms AS "join", passages, plan FROM measured ORDER BY number;
CREATE INDEX searched ON document USING gin (excerpt sketch_ops);
ANALYZE document;
\echo rows that GIN finds and the table gives, by the least share of the query
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(*) FROM document, submitted WHERE sketch_overlaps(document.excerpt, excerpt_sketch(submitted.body));
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(*) FROM document, submitted WHERE sketch_containment(excerpt_sketch(submitted.body), document.excerpt) >= 0.01;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(*) FROM document, submitted WHERE sketch_similarity(document.excerpt, excerpt_sketch(submitted.body)) >= 0.2;
-- For passages_core.sql.
DROP INDEX searched;
CREATE INDEX ON document USING gin (excerpt);
UPDATE submitted SET excerpt = excerpt_sketch(body);
INSERT INTO document SELECT * FROM submitted;
VACUUM ANALYZE document;
