-- The same condition in a session that has not loaded the library, with an index of the class array_ops.
\set sketch `cat excerpt`
\echo The same in a session without the library: the operator and the estimate of PostgreSQL
\timing on
SELECT count(*) AS essays FROM document WHERE excerpt && :'sketch';
