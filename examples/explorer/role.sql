-- A role that can read one table and do nothing else, whatever it sets. Usage:
-- psql -v schema=public -v table=document -f role.sql archive        (-v role=... names it otherwise than explorer)
\if :{?role}
\else
    \set role explorer
\endif
CREATE ROLE :"role" LOGIN;
ALTER ROLE :"role" SET default_transaction_read_only = on;
GRANT USAGE ON SCHEMA :"schema" TO :"role";
GRANT SELECT ON :"schema".:"table" TO :"role";
-- The functions of the extension.
SELECT format('GRANT USAGE ON SCHEMA %s TO %I', extnamespace::regnamespace, :'role')
FROM pg_extension WHERE extname = 'simhash_pg' \gexec
