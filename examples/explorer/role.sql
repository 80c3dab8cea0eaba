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
-- The table's living clusters.
SELECT DISTINCT format('GRANT SELECT ON %s TO %I', d.refobjid::regclass, :'role')
FROM pg_trigger AS g JOIN pg_depend AS d ON d.classid = 'pg_trigger'::regclass AND d.objid = g.oid
WHERE g.tgrelid = format('%I.%I', :'schema', :'table')::regclass AND g.tgname = 'near_clusters_rows'
    AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> g.tgrelid \gexec
