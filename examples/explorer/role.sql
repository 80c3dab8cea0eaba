-- A role that can read the documents and do nothing else, whatever it sets.
CREATE ROLE explorer LOGIN;
ALTER ROLE explorer SET default_transaction_read_only = on;
-- These two take rights from every role. Leave them out in a database that others use.
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO explorer;
GRANT SELECT ON document TO explorer;
