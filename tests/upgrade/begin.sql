-- The extension at version :release, and what the files named after versions need: they make objects and ask questions.
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION simhash_pg VERSION :'release';

-- The query of a question, the index that its plan must have (NULL: none), and the digest of the answer that the release gave.
CREATE TABLE question (name text PRIMARY KEY, digest text NOT NULL, index text, query text NOT NULL);
CREATE FUNCTION digest(answer text) RETURNS text LANGUAGE sql AS 'SELECT left(md5(answer), 8)';

CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    rows text;
BEGIN
    EXECUTE format('SELECT string_agg(a::text, E''\n'' ORDER BY a::text COLLATE "C") FROM (%s) AS a', query) INTO rows;
    RETURN rows;
END $$;

CREATE FUNCTION answer_by_scan(query text) RETURNS text LANGUAGE sql
    SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off
    AS 'SELECT answer(query)';

CREATE FUNCTION answer_by_index(query text) RETURNS text LANGUAGE sql
    SET enable_seqscan = off SET enable_sort = off
    AS 'SELECT answer(query)';

CREATE FUNCTION plan_by_index(query text) RETURNS text LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_sort = off AS $$
DECLARE
    line text;
    plan text := '';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        plan := plan || E'\n' || line;
    END LOOP;
    RETURN plan;
END $$;

-- The answers to all questions, after looking whether index and scan agree.
CREATE FUNCTION answers() RETURNS TABLE (name text, answer text) LANGUAGE plpgsql AS $$
DECLARE
    q question;
BEGIN
    FOR q IN SELECT * FROM question LOOP
        name := q.name;
        answer := answer_by_scan(q.query);
        IF answer IS NULL THEN
            RAISE EXCEPTION '%: no rows', q.name;
        ELSIF q.index IS NOT NULL AND plan_by_index(q.query) !~ (q.index || '[^\n]*\n *(Index Cond|Order By): ') THEN
            RAISE EXCEPTION '%: not by the index %: %', q.name, q.index, plan_by_index(q.query);
        ELSIF q.index IS NOT NULL AND answer_by_index(q.query) <> answer THEN
            RAISE EXCEPTION E'%: by scan\n%\nby index\n%', q.name, answer, answer_by_index(q.query);
        END IF;
        RETURN NEXT;
    END LOOP;
END $$;

CREATE FUNCTION assert(holds boolean, what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF holds IS NOT TRUE THEN
        RAISE EXCEPTION 'not so: %', what;
    END IF;
END $$;

-- An error unless every answer is the one that the release gave.
CREATE FUNCTION assert_answers(occasion text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    wrong text;
BEGIN
    SELECT string_agg(format('%s: %s instead of %s', q.name, digest(a.answer), q.digest), E'\n' ORDER BY q.name) INTO wrong
    FROM question AS q JOIN answers() AS a USING (name) WHERE digest(a.answer) <> q.digest;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION E'other answers than of the release, %\n%', occasion, wrong;
    END IF;
END $$;

-- An error unless all indexes of type hamming are sound.
CREATE FUNCTION assert_sound() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    index regclass;
    found_problem text;
BEGIN
    FOR index IN
        SELECT c.oid FROM pg_class AS c JOIN pg_am AS a ON a.oid = c.relam WHERE a.amname = 'hamming' AND c.relkind = 'i'
    LOOP
        SELECT format('block %s: %s', block, problem) INTO found_problem FROM hamming_index_check(index, true);
        PERFORM assert(NOT FOUND, index || ' is sound; ' || found_problem);
    END LOOP;
    PERFORM assert(index IS NOT NULL, 'there are indexes of type hamming');
END $$;
