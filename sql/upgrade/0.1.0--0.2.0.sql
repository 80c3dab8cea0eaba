\echo Use "ALTER EXTENSION simhash_pg UPDATE" to load this file. \quit

-- The SQL objects of 0.2.0 are those of 0.1.0.
