-- A set of texts, and the weights of the documentation's statements. Called with -v texts=FILE -v weights=FILE.
SET client_min_messages = warning;
CREATE FUNCTION cpu_s() RETURNS numeric LANGUAGE sql VOLATILE AS $$SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::numeric / 1e9$$;
CREATE TABLE document (id bigint PRIMARY KEY, body text COMPRESSION lz4, si bigint GENERATED ALWAYS AS (simhash(body)) STORED);
COPY document (id, body) FROM :'texts';
VACUUM ANALYZE document;
\i :weights
