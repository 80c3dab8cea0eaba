-- What the objects answer, whatever the plan.
SET search_path = public;
SELECT id, si, code, sketch, spelling FROM document WHERE id % 17 = 0 ORDER BY id;
SELECT * FROM triggered WHERE id % 17 = 0 ORDER BY id;
SELECT * FROM different ORDER BY id;
SELECT * FROM near ORDER BY id;
SELECT * FROM keeper ORDER BY id;
SELECT * FROM of_features ORDER BY part;
SELECT near_text(made_text(77), 12) AS id ORDER BY id;
SELECT a.id, b.id FROM document AS a JOIN document AS b ON hamming(a.si, b.si) <= 6 WHERE a.id < b.id ORDER BY 1, 2;
SELECT hamming(si, 4711) FROM document ORDER BY hamming(si, 4711) LIMIT 50;
SELECT id FROM document WHERE hamming(simhash(body, 'char:4'), simhash(made_text(107), 'char:4')) <= 12 ORDER BY id;
SELECT id FROM document WHERE hamming(code, (SELECT code FROM document WHERE id = 120)) <= 100 ORDER BY id;
SELECT id FROM document WHERE sketch_similarity(sketch, (SELECT sketch FROM document WHERE id = 115)) >= 0.2 ORDER BY id;
SELECT index, problem FROM unnest('{document_si,document_code,document_expression}'::regclass[]) AS index, hamming_index_check(index, true);
SELECT has_function_privilege('pg_monitor', 'hamming_index_check(regclass, boolean)', 'EXECUTE') AS privilege;
