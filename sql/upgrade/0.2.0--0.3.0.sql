\echo Use "ALTER EXTENSION simhash_pg UPDATE" to load this file. \quit

COMMENT ON FUNCTION hamming_histogram(regclass, name, integer, name) IS
    'distances in a column of codes, of a random sample of the rows: of pairs, and to the nearest; rows found within each distance, how many of them are unrelated, and which radius to search and which to delete with; with the column of the texts, unrelated rows are measured';
