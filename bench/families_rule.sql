-- Which texts a statement deletes; none is deleted in the end. Called with -v statement=FILE -v result=PATH, which two files begin with.
\pset format unaligned
\pset tuples_only on
\pset fieldsep ' '
\set deleted :result '.deleted'
\set seconds :result '.seconds'
BEGIN;
SELECT cpu_s() AS before \gset
\o :deleted
\i :statement
\o :seconds
SELECT cpu_s() - :before;
\o
ROLLBACK;
