-- our functions behind other users' operators, functions, classes and aggregates for other types
SET client_min_messages = warning;
CREATE TABLE other_types (i integer, si bigint, t text, b hamming_ball, f double precision);
INSERT INTO other_types SELECT i, i, 'text ' || i, hamming_ball(i, 3), i FROM generate_series(1, 100) AS i;
ANALYZE other_types;
CREATE OPERATOR <<< (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8lt, RESTRICT = hamming_ball_sel, JOIN = hamming_ball_joinsel);
CREATE OPERATOR <<< (LEFTARG = text, RIGHTARG = text, FUNCTION = text_lt, RESTRICT = hamming_ball_sel, JOIN = hamming_ball_joinsel);
CREATE OPERATOR <<< (LEFTARG = integer, RIGHTARG = bigint, FUNCTION = int48lt, RESTRICT = hamming_ball_sel, JOIN = hamming_ball_joinsel);
CREATE OPERATOR <<< (LEFTARG = hamming_ball, RIGHTARG = hamming_ball, FUNCTION = hamming_ball_near, RESTRICT = hamming_ball_sel, JOIN = hamming_ball_joinsel);
CREATE FUNCTION not_null(bigint) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 IS NOT NULL; END';
CREATE OPERATOR <<< (RIGHTARG = bigint, FUNCTION = not_null, RESTRICT = hamming_ball_sel);
EXPLAIN (COSTS OFF) SELECT FROM other_types WHERE si <<< 81985529216486895;
EXPLAIN (COSTS OFF) SELECT FROM other_types WHERE 81985529216486895 <<< si;
EXPLAIN (COSTS OFF) SELECT FROM other_types WHERE t <<< 'text'::text;
EXPLAIN (COSTS OFF) SELECT FROM other_types WHERE i <<< 81985529216486895;
EXPLAIN (COSTS OFF) SELECT FROM other_types WHERE b <<< '<1,2>';
EXPLAIN (COSTS OFF) SELECT FROM other_types WHERE <<< si;
SELECT count(*) FROM other_types AS a, other_types AS b WHERE a.si <<< b.si AND a.t <<< b.t AND a.i <<< b.si;
-- functions with our planner support
CREATE FUNCTION of_text(text, text) RETURNS integer LANGUAGE plpgsql IMMUTABLE SUPPORT hamming_support AS 'BEGIN RETURN 0; END';
CREATE FUNCTION of_text(text, text, text) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT SUPPORT hamming_support AS 'boolin';
CREATE FUNCTION of_balls(hamming_ball, hamming_ball, double precision) RETURNS boolean LANGUAGE plpgsql IMMUTABLE SUPPORT hamming_support AS 'BEGIN RETURN true; END';
CREATE FUNCTION of_nothing() RETURNS boolean LANGUAGE plpgsql STABLE SUPPORT hamming_support AS 'BEGIN RETURN true; END';
CREATE FUNCTION of_sketches(text, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE SUPPORT sketch_support AS 'BEGIN RETURN true; END';
EXPLAIN (COSTS OFF) SELECT FROM other_types WHERE of_text(t, 'b') = 0;
EXPLAIN (COSTS OFF) SELECT FROM other_types WHERE of_text(t, 'b', 'c');
EXPLAIN (COSTS OFF) SELECT FROM other_types WHERE of_balls(b, '<1,2>', 3);
EXPLAIN (COSTS OFF) SELECT FROM other_types WHERE of_nothing();
EXPLAIN (COSTS OFF) SELECT FROM other_types WHERE of_sketches(t, 'b');
-- our own functions are still recognized
EXPLAIN (COSTS OFF) SELECT FROM other_types WHERE hamming(si, 42) <= 6 AND of_text(t, 'b') = 0;
-- classes for GiST
CREATE OPERATOR CLASS bad_text_ops FOR TYPE text USING gist AS
    OPERATOR 1 =, FUNCTION 1 gist_hamming_consistent(internal, bigint, smallint, oid, internal), FUNCTION 2 gist_hamming_union(internal, internal),
    FUNCTION 3 gist_hamming_compress(internal), FUNCTION 5 gist_hamming_penalty(internal, internal, internal), FUNCTION 6 gist_hamming_picksplit(internal, internal),
    FUNCTION 7 gist_hamming_same(gist_hamming_key, gist_hamming_key, internal), STORAGE gist_hamming_key;
CREATE OPERATOR CLASS bad_integer_ops FOR TYPE integer USING gist AS
    OPERATOR 1 =, FUNCTION 1 gist_hamming_consistent(internal, bigint, smallint, oid, internal), FUNCTION 2 gist_hamming_union(internal, internal),
    FUNCTION 3 gist_hamming_compress(internal), FUNCTION 5 gist_hamming_penalty(internal, internal, internal), FUNCTION 6 gist_hamming_picksplit(internal, internal),
    FUNCTION 7 gist_hamming_same(gist_hamming_key, gist_hamming_key, internal), STORAGE gist_hamming_key;
CREATE OPERATOR CLASS bad_storage_ops FOR TYPE bigint USING gist AS
    OPERATOR 2 =, FUNCTION 1 gist_hamming_consistent(internal, bigint, smallint, oid, internal), FUNCTION 2 gist_hamming_union(internal, internal),
    FUNCTION 3 gist_hamming_compress(internal), FUNCTION 5 gist_hamming_penalty(internal, internal, internal), FUNCTION 6 gist_hamming_picksplit(internal, internal),
    FUNCTION 7 gist_hamming_same(gist_hamming_key, gist_hamming_key, internal);
CREATE OPERATOR CLASS bad_float_ops FOR TYPE double precision USING gist AS
    OPERATOR 1 =, FUNCTION 1 gist_hamming_consistent(internal, bigint, smallint, oid, internal), FUNCTION 2 gist_hamming_union(internal, internal),
    FUNCTION 5 gist_hamming_penalty(internal, internal, internal), FUNCTION 6 gist_hamming_picksplit(internal, internal),
    FUNCTION 7 gist_hamming_same(gist_hamming_key, gist_hamming_key, internal);
CREATE INDEX ON other_types USING gist (t bad_text_ops);
CREATE INDEX ON other_types USING gist (i bad_integer_ops);
CREATE INDEX ON other_types USING gist (si bad_storage_ops);
CREATE TABLE many_floats AS SELECT i::double precision AS f FROM generate_series(1, 1000) AS i;
CREATE INDEX ON many_floats USING gist (f bad_float_ops);
-- the right type, but an operator of the wrong one
CREATE OPERATOR CLASS bad_operator_ops FOR TYPE bigint USING gist AS
    OPERATOR 1 =, OPERATOR 2 < (bigint, integer),
    FUNCTION 1 gist_hamming_consistent(internal, bigint, smallint, oid, internal), FUNCTION 2 gist_hamming_union(internal, internal),
    FUNCTION 3 gist_hamming_compress(internal), FUNCTION 5 gist_hamming_penalty(internal, internal, internal), FUNCTION 6 gist_hamming_picksplit(internal, internal),
    FUNCTION 7 gist_hamming_same(gist_hamming_key, gist_hamming_key, internal), STORAGE gist_hamming_key;
CREATE INDEX bad_operator ON other_types USING gist (si bad_operator_ops);
SET enable_seqscan = off;
SELECT count(*) FROM other_types WHERE si = 5::bigint;
SELECT count(*) FROM other_types WHERE si < 5;
ALTER TABLE other_types ADD EXCLUDE USING gist (si bad_operator_ops WITH =);
DROP OPERATOR FAMILY bad_operator_ops USING gist CASCADE;
-- classes for the access method
CREATE OPERATOR CLASS bad_text_ops FOR TYPE text USING hamming AS OPERATOR 1 =;
CREATE OPERATOR CLASS bad_bigint_ops FOR TYPE bigint USING hamming AS OPERATOR 1 =;
CREATE OPERATOR CLASS empty_ops FOR TYPE bigint USING hamming AS STORAGE bigint;
CREATE OPERATOR CLASS bad_bit_ops FOR TYPE bit USING hamming AS OPERATOR 1 =, OPERATOR 2 <;
CREATE OPERATOR CLASS bad_varbit_ops FOR TYPE bit varying USING hamming AS OPERATOR 2 =;
CREATE INDEX ON other_types USING hamming (t bad_text_ops);
CREATE INDEX ON other_types USING hamming (si bad_bigint_ops);
CREATE INDEX ON other_types USING hamming (si empty_ops);
CREATE INDEX ON other_types USING hamming ((si::bit(64)) bad_bit_ops);
CREATE INDEX ON other_types USING hamming ((si::bit(64)::varbit) bad_varbit_ops);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'bad_bit_ops';
CREATE TABLE none_yet (t text);
CREATE UNLOGGED TABLE none_unlogged (t text, EXCLUDE USING hamming (t bad_text_ops WITH =));
CREATE INDEX ON none_yet USING hamming (t bad_text_ops);
-- an operator that is added to our own family
CREATE INDEX right_class ON other_types USING hamming (si);
CREATE OPERATOR <@@ (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8eq);
ALTER OPERATOR FAMILY hamming_ops USING hamming ADD OPERATOR 1 <@@ (bigint, bigint), OPERATOR 3 < (bigint, bigint);
SELECT count(*) FROM other_types WHERE si <@@ 5;
SELECT count(*) FROM other_types WHERE si < 5::bigint;
INSERT INTO other_types (si) VALUES (5);
SELECT count(*) FROM other_types WHERE si = 5::bigint;
-- (since PostgreSQL 17 the DETAIL names the operator's schema)
\set VERBOSITY terse
CREATE INDEX ON other_types USING hamming (si);
\set VERBOSITY default
ALTER OPERATOR FAMILY hamming_ops USING hamming DROP OPERATOR 1 (bigint, bigint), OPERATOR 3 (bigint, bigint);
-- our function of a set, declared as one of a row, and of another set
DO $$
DECLARE
    body text := (SELECT format('STRICT LANGUAGE c AS %L, %L', probin, prosrc) FROM pg_proc WHERE proname = 'repeated_passages' AND pronargs = 2);
BEGIN
    EXECUTE 'CREATE FUNCTION one_row(text, integer) RETURNS record ' || body;
    EXECUTE 'CREATE FUNCTION numbers(text, integer) RETURNS SETOF integer ' || body;
END $$;
SELECT one_row('SELECT 1::bigint, ''once more''', 3);
SELECT * FROM numbers('SELECT 1::bigint, ''once more''', 3);
DROP FUNCTION one_row, numbers;
-- an operator for other numbers that is added to a family of PostgreSQL
CREATE FUNCTION at_most(integer, oid) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1::bigint <= $2::bigint';
CREATE OPERATOR <=<= (LEFTARG = integer, RIGHTARG = oid, FUNCTION = at_most);
ALTER OPERATOR FAMILY integer_ops USING btree ADD OPERATOR 2 <=<= (integer, oid);
SELECT count(*) = (SELECT count(si) FROM other_types) AS all FROM other_types WHERE hamming(si, 42) <=<= 4000000000::oid;
ALTER OPERATOR FAMILY integer_ops USING btree DROP OPERATOR 2 (integer, oid);
DROP OPERATOR <=<= (integer, oid);
DROP FUNCTION at_most;
DROP OPERATOR FAMILY bad_text_ops USING gist CASCADE;
DROP OPERATOR FAMILY bad_integer_ops USING gist CASCADE;
DROP OPERATOR FAMILY bad_storage_ops USING gist CASCADE;
DROP OPERATOR FAMILY bad_float_ops USING gist CASCADE;
DROP OPERATOR FAMILY bad_text_ops USING hamming CASCADE;
DROP OPERATOR FAMILY bad_bigint_ops USING hamming CASCADE;
DROP OPERATOR FAMILY empty_ops USING hamming CASCADE;
DROP TABLE other_types, many_floats, none_yet;
DROP FUNCTION of_text(text, text), of_text(text, text, text), of_balls, of_nothing, of_sketches;
DROP OPERATOR <<< (bigint, bigint), <<< (text, text), <<< (integer, bigint), <<< (hamming_ball, hamming_ball), <<< (NONE, bigint), <@@ (bigint, bigint);
DROP FUNCTION not_null;
