-- The texts of this machine, with an index, and a role that can only read them.
SET client_min_messages = warning;
\ir demo-texts.sql
CREATE INDEX ON document USING hamming (si);

\ir role.sql
