-- What the tests of near joins share.
\set ECHO none
-- What EXPLAIN shows of the work of a join, without numbers that may change.
CREATE FUNCTION join_work(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
        IF line ~ '(Cond|Recheck|Filter|Batches|Searches|Comparisons|Pairs|Memory):' THEN
            RETURN NEXT regexp_replace(trim(line), '((Comparisons|Memory): )\d+', '\1...');
        END IF;
    END LOOP;
END $$;
-- How many rows a join of join_many with itself is expected to have, and how many it has.
CREATE FUNCTION join_estimate(condition text, OUT estimated bigint, OUT counted bigint) LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE format('EXPLAIN (FORMAT JSON) SELECT FROM join_many AS a JOIN join_many AS b ON %s', condition) INTO plan;
    estimated := plan->0->'Plan'->>'Plan Rows';
    EXECUTE format('SELECT count(*) FROM join_many AS a JOIN join_many AS b ON %s', condition) INTO counted;
END $$;
-- The number of rows of a query, and what they are.
CREATE FUNCTION join_answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer text;
BEGIN
    EXECUTE format('SELECT count(*) || '' '' || coalesce(sum(hashtextextended(s::text, 0)), 0) FROM (%s) AS s', query) INTO answer;
    RETURN answer;
END $$;
-- The kind of its join.
CREATE FUNCTION join_plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line ~ 'Join|Nested' THEN
            RETURN substring(line FROM '(?:Near|Nested|Hash|Merge)[A-Za-z ]*');
        END IF;
    END LOOP;
END $$;
\set ECHO all
