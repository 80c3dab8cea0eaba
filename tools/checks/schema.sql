-- Everything that the extension has made, as text to compare: every attribute of its rows in the system catalogs, a line each.
-- OIDs are written as names. Expressions, whose stored form depends on the layout of the script, are written as SQL.
\set QUIET on

CREATE TEMPORARY TABLE member AS
SELECT d.classid::regclass AS catalog, 'oid' AS key, d.objid AS object, pg_describe_object(d.classid, d.objid, 0) AS name
FROM pg_depend AS d JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
WHERE e.extname = 'simhash_pg' AND d.deptype = 'e';
-- These rows belong to members, but are no members themselves.
INSERT INTO member
SELECT 'pg_aggregate'::regclass, 'aggfnoid', m.object, m.name
FROM member AS m JOIN pg_aggregate AS a ON a.aggfnoid = m.object WHERE m.catalog = 'pg_proc'::regclass
UNION ALL
SELECT 'pg_amop'::regclass, 'oid', a.oid, pg_describe_object('pg_amop'::regclass, a.oid, 0)
FROM member AS m JOIN pg_amop AS a ON a.amopfamily = m.object WHERE m.catalog = 'pg_opfamily'::regclass
UNION ALL
SELECT 'pg_amproc'::regclass, 'oid', a.oid, pg_describe_object('pg_amproc'::regclass, a.oid, 0)
FROM member AS m JOIN pg_amproc AS a ON a.amprocfamily = m.object WHERE m.catalog = 'pg_opfamily'::regclass;

CREATE FUNCTION pg_temp.attributes(m member) RETURNS TABLE (attribute text, value text) LANGUAGE plpgsql AS $$
DECLARE
    names text;
    not_comparable text[] := ARRAY(
        SELECT attname FROM pg_attribute
        WHERE attrelid = m.catalog AND (attname = 'oid' OR atttypid = 'pg_node_tree'::regtype));
BEGIN
    SELECT string_agg(format(
        CASE WHEN is_array
            THEN '%L, ARRAY(SELECT pg_describe_object(%L::regclass, u.o, 0) FROM unnest(c.%I::oid[]) WITH ORDINALITY AS u(o, n) ORDER BY n)'
            ELSE '%L, pg_describe_object(%L::regclass, c.%I::oid, 0)' END, fkcols[1], pktable, fkcols[1]), ', ')
    INTO names FROM pg_get_catalog_foreign_keys() WHERE fktable = m.catalog AND cardinality(fkcols) = 1;
    RETURN QUERY EXECUTE format(
        'SELECT a.* FROM %s AS c, jsonb_each_text((to_jsonb(c) || jsonb_build_object(%s)) - $1) AS a WHERE c.%I = $2',
        m.catalog, names, m.key) USING not_comparable, m.object;
END $$;

SELECT name, attribute, value FROM (
    SELECT m.name, a.attribute, a.value FROM member AS m, pg_temp.attributes(m) AS a
    UNION ALL
    SELECT name, 'comment', obj_description(object, catalog::name) FROM member WHERE key = 'oid'
    UNION ALL
    -- Of an aggregate, the attributes are the definition.
    SELECT m.name, 'definition', pg_get_functiondef(p.oid)
    FROM member AS m JOIN pg_proc AS p ON p.oid = m.object
    WHERE m.catalog = 'pg_proc'::regclass AND p.prokind <> 'a'
    UNION ALL
    -- What pg_dump takes as given.
    SELECT m.name, 'initial privileges', i.initprivs::text
    FROM member AS m JOIN pg_init_privs AS i ON i.classoid = m.catalog AND i.objoid = m.object
    UNION ALL
    SELECT 'extension', a.key, a.value
    FROM pg_extension AS e, jsonb_each_text(to_jsonb(e) - 'oid') AS a WHERE e.extname = 'simhash_pg'
) AS line ORDER BY name COLLATE "C", attribute COLLATE "C", value COLLATE "C";

DROP FUNCTION pg_temp.attributes;
DROP TABLE member;
