-- The texts of this machine, with an index, and a role that can only read them.
SET client_min_messages = warning;
\ir demo-texts.sql
CREATE INDEX ON document USING hamming (si);

-- The cluster is ours alone, so this may be taken from all roles.
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC;
\set schema public
\set table document
\ir role.sql
