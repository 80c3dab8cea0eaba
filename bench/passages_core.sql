-- The same condition in a session that has not loaded the library: PostgreSQL's own &&, with its estimate.
\set sketch `cat excerpt`
\echo The same in a session without the library: the operator and the estimate of PostgreSQL
\timing on
EXPLAIN (COSTS OFF) SELECT count(*) FROM document WHERE excerpt && '{}';
SELECT count(*) FROM document WHERE excerpt && :'sketch';
