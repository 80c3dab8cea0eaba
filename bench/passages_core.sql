-- The first query of a session, with an index of the class array_ops.
\set sketch `cat excerpt`
\echo The first query of a session
\timing on
SELECT count(*) AS essays FROM document WHERE sketch_overlaps(excerpt, :'sketch');
