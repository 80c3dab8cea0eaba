-- The processor time of this session.
CREATE OR REPLACE FUNCTION processor_seconds() RETURNS double precision LANGUAGE sql VOLATILE AS
    $$SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::double precision / 1e9$$;
