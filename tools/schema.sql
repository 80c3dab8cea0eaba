-- Everything that the extension has made, as text.
SELECT pg_describe_object(d.classid, d.objid, 0), obj_description(d.objid, d.classid::regclass::name)
FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'simhash_pg'
WHERE d.deptype = 'e' ORDER BY 1;
SELECT pg_get_functiondef(p.oid)
FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'simhash_pg'
ORDER BY p.oid::regprocedure::text;
SELECT o.oid::regoperator, o.oprcom::regoperator, o.oprnegate::regoperator, o.oprcode, o.oprrest, o.oprjoin, o.oprcanmerge, o.oprcanhash
FROM pg_operator AS o JOIN pg_depend AS d ON d.classid = 'pg_operator'::regclass AND d.objid = o.oid AND d.deptype = 'e'
JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'simhash_pg'
ORDER BY o.oid::regoperator::text;
SELECT extname, extrelocatable, extversion FROM pg_extension WHERE extname = 'simhash_pg';
