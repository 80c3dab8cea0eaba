-- what the planner may assume of each function
SELECT p.oid::regprocedure AS function, p.provolatile AS volatile, p.proisstrict AS strict, p.proparallel AS parallel,
       p.proleakproof AS leakproof, p.procost AS cost
FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'simhash_pg'
ORDER BY p.oid::regprocedure::text COLLATE "C";
-- every object has a comment (arrays of types are not made by us)
SELECT pg_describe_object(d.classid, d.objid, 0) AS without_comment
FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'simhash_pg'
WHERE d.deptype = 'e' AND obj_description(d.objid, d.classid::regclass::name) IS NULL
  AND NOT EXISTS (SELECT FROM pg_type AS t WHERE d.classid = 'pg_type'::regclass AND t.oid = d.objid AND (t.typcategory = 'A' OR t.typrelid <> 0));
-- no object is in pg_catalog (access methods have no schema)
SELECT DISTINCT identity LIKE 'public.%' AS in_public
FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'simhash_pg',
     LATERAL pg_identify_object(d.classid, d.objid, 0) WHERE d.deptype = 'e' AND d.classid <> 'pg_am'::regclass;
-- no symbol is one that the library of another extension may have, too
SELECT count(*) AS without_prefix FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'simhash_pg' WHERE p.probin IS NOT NULL AND p.prosrc NOT LIKE 'simhash\_pg\_%';
-- the extension can be created in any schema
CREATE SCHEMA elsewhere;
ALTER EXTENSION simhash_pg SET SCHEMA elsewhere;
SELECT elsewhere.hamming(1, 2), 1::bigint OPERATOR(elsewhere.<~>) 2 AS operator;
ALTER EXTENSION simhash_pg SET SCHEMA public;
DROP SCHEMA elsewhere;
