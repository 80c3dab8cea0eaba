# Random queries about distances, from a grammar. A production is text in which {name|argument|argument} stands for a
# random production of that name, in which @1 and @2 are the arguments. Queries that begin with ORDERED have one order;
# the rows of others are a multiset. What is in /*ARITHMETIC …*/ is for the answer by arithmetic alone. {q}, {i}, {r}
# and {k} are values: a fingerprint, an integer radius, a radius of any type, a number of rows. They are written into
# the query, or become parameters. Fingerprints are of type TYPE: bigint, or a string of bits.
package QueryGenerator;

use strict;
use warnings;

# The shapes of queries.
my %shapes = (
	range => [
		'SELECT {columns|a} FROM {source} AS a WHERE {where|a}',
		'SELECT s.id, s.d FROM (SELECT a.id, {distance|{print|a}|{q}} AS d FROM {source} AS a) AS s WHERE s.d <= {r}',
	],
	aggregate => [
		'SELECT count(*), min(a.id), max({distance|{print|a}|{q}}), sum(a.grp) FROM {source} AS a WHERE {where|a}',
		'SELECT count(*) FILTER (WHERE {where|a}), count(a.si) FROM {source} AS a WHERE {where|a}',
	],
	filtered => [
		('{filtered_by|{where|a}}') x 2,
		'SELECT f.id, (SELECT count(*) FILTER (WHERE {match|a|f}) FROM {source} AS a) FROM {few} AS f',
	],
	grouped => [
		'SELECT {distance|a.si|{q}} AS d, count(*), min(a.id) FROM {source} AS a WHERE {where|a} '
			. 'GROUP BY d HAVING count(*) >= 1',
		'SELECT DISTINCT a.grp, {distance|a.si|{q}} FROM {source} AS a WHERE {where|a}',
		'ORDERED SELECT DISTINCT ON (a.grp) a.grp, a.id FROM {source} AS a WHERE {where|a} '
			. 'ORDER BY a.grp, {distance|a.si|{q}}, a.id',
		'SELECT a.grp, sum(count(*)) OVER (ORDER BY a.grp) FROM {source} AS a WHERE {where|a} '
			. 'GROUP BY GROUPING SETS ((a.grp), ())',
	],
	nearest => [
		'ORDERED SELECT {distance|{print|a}|{q}} AS d FROM {source} AS a {maybe_where|a} ORDER BY d {limit}',
		'ORDERED SELECT {distance|{print|a}|{q}} AS d FROM {source} AS a {maybe_where|a} ORDER BY d {limit}',
		'ORDERED SELECT {distance|{print|a}|{q}} AS d, a.id FROM {source} AS a {maybe_where|a} '
			. 'ORDER BY d, a.id {limit}',
		'ORDERED SELECT a.id FROM {source} AS a {maybe_where|a} ORDER BY {distance|{print|a}|{q}}, a.id DESC {limit}',
		'ORDERED SELECT {distance|a.si|{q}} AS d FROM {source} AS a ORDER BY d {direction} {limit}',
		'SELECT count(*), max(s.d) FROM (SELECT {distance|a.si|{q}} AS d FROM {source} AS a {maybe_where|a} '
			. 'ORDER BY d LIMIT {k}) AS s',
	],
	most_similar => [
		'ORDERED SELECT hamming_similarity(a.si, {q}) AS s FROM {source} AS a {maybe_where|a} '
			. 'ORDER BY s DESC NULLS LAST {limit}',
		'ORDERED SELECT hamming_similarity(a.si, {q}) AS s, a.id FROM {source} AS a WHERE a.si IS NOT NULL '
			. 'ORDER BY s DESC, a.id {limit}',
		'ORDERED SELECT {falling|a.si|{q}} AS s FROM {source} AS a {maybe_where|a} ORDER BY s DESC NULLS LAST {limit}',
		'ORDERED SELECT {falling|a.si|{q}} AS s FROM {source} AS a WHERE a.si IS NOT NULL ORDER BY s DESC {limit}',
		'ORDERED SELECT {distance|a.si|{q}} * 3 + 1 AS s FROM {source} AS a {maybe_where|a} '
			. 'ORDER BY s {direction} {limit}',
	],
	nearest_by_two => [
		'ORDERED SELECT {distance|a.si|{q}} AS d, {distance|a.si|{q}} AS e FROM {source} AS a {maybe_where|a} '
			. 'ORDER BY d, e {limit}',
		'ORDERED SELECT {distance|a.si|{q}} AS d, {distance|a.other|{q}} AS e, a.id FROM {source} AS a '
			. 'ORDER BY d, e, a.id {limit}',
	],
	join => [
		'SELECT a.id, b.id FROM {few} AS a {join_type} {source} AS b ON {match|a|b} {maybe_where|a}',
		'SELECT a.id, b.id FROM {few} AS a {join_type} {source} AS b ON {match|a|b} AND {where|b}',
		'SELECT b.id, a.id FROM {source} AS b {join_type} {few} AS a ON {match|b|a}',
		'SELECT count(*), sum(b.id) FROM {few} AS a, {source} AS b WHERE {match|a|b} AND a.grp <= b.grp',
		'SELECT v.n, b.id FROM (VALUES (1, {q}::TYPE), (2, {q}::TYPE)) AS v (n, si) {join_type} {source} AS b '
			. 'ON {pair|v|b}',
		'SELECT a.id, b.id, c.id FROM {few} AS a JOIN {few} AS b ON {match|a|b} LEFT JOIN {source} AS c ON {match|c|b}',
	],
	large_join => [
		'SELECT count(*), sum(a.id), sum(b.id) FROM {some} AS a {join_type} {source} AS b ON {match|a|b}',
		'SELECT count(*), sum(b.id), sum(a.id) FROM {source} AS b {join_type} {some} AS a ON {match|b|a} '
			. 'AND a.grp <> b.grp',
		'SELECT a.id, b.id FROM {some} AS a {join_type} {source} AS b ON {match|a|b} AND a.id % 10 = b.id % 10 '
			. 'WHERE a.grp IS DISTINCT FROM b.grp',
		'SELECT a.id FROM {some} AS a WHERE {not} EXISTS (SELECT FROM {source} AS b '
			. 'WHERE {match|a|b} AND a.grp < b.grp)',
		'SELECT a.id FROM {some} AS a WHERE {not} EXISTS (SELECT FROM {source} AS b WHERE {match|a|b})',
		'SELECT count(*), sum(a.id), sum(b.id) FROM {some} AS a {join_type} {source} AS b ON {match|a|b} '
			. 'AND {look|a|b}',
		'SELECT a.id FROM {some} AS a WHERE {not} EXISTS (SELECT FROM {source} AS b '
			. 'WHERE {match|b|a} AND {look|a|b} AND a.id <> b.id)',
		'UPDATE {changed} AS a SET grp = -1 FROM {some} AS b WHERE {match|a|b} AND a.id <> b.id RETURNING a.id',
	],
	radius_join => [
		'SELECT v.r, j.* FROM (VALUES ({i}), ({i}), (3), ({i})) AS v (r), LATERAL (SELECT a.id, b.id '
			. 'FROM {few} AS a {join_type} {source} AS b ON {distance|a.si|b.si} <= v.r OFFSET 0) AS j',
		'SELECT v.r, j.* FROM (VALUES ({i}, {q}::TYPE), (3, 0::TYPE), ({i}, 1::TYPE)) AS v (r, x), '
			. 'LATERAL (SELECT a.id, b.id FROM {few} AS a JOIN {source} AS b ON {distance|(a.si # v.x)|b.si} <= v.r '
			. 'AND {within|a.other|b.other} OFFSET 0) AS j',
	],
	array_join => ['SELECT u.n, b.id FROM unnest(ARRAY[{q}, {q}, {q}]::TYPE[]) WITH ORDINALITY '
		. 'AS u (si, n) {join_type} {source} AS b ON {pair|u|b}'],
	full_join => [
		'SELECT a.id, b.id FROM {few} AS a FULL JOIN (SELECT * FROM {source} AS s WHERE {near|s}) AS b '
			. 'ON a.grp = b.grp AND {match|a|b}',
		'SELECT a.id, b.id FROM {few} AS a FULL JOIN {full_side} AS b ON {full_match|a|b}',
		'SELECT a.id, a.src, a.label, b.id, b.part, b.label, b.grp FROM {labelled|few} AS a '
			. 'FULL JOIN {labelled|full_side} AS b ON {full_match|a|b} {placeholder_where|b}',
		'SELECT count(*), count(w.id), count(v.id), sum(v.id), count(v.label) '
			. 'FROM (SELECT * FROM {labelled|few} AS f) AS w FULL JOIN (SELECT * FROM {labelled|full_side} AS g) '
			. 'AS v ON {full_match|w|v}',
		'WITH w AS MATERIALIZED (SELECT * FROM {few} AS f), v AS MATERIALIZED (SELECT * FROM {full_side} AS g) '
			. 'SELECT w.id, v.id FROM w FULL JOIN v ON {full_match|w|v}',
		('WITH w AS MATERIALIZED (SELECT {varying|f} FROM {few} AS f), v AS MATERIALIZED (SELECT {varying|g} '
			. 'FROM {full_side} AS g) SELECT w.id, v.id FROM w FULL JOIN v ON {full_match|w|v} {full_where|w|v}') x 2,
		'SELECT a.id, n.* FROM {few} AS a LEFT JOIN (SELECT b.id, b.label, c.id AS third, c.src '
			. 'FROM {labelled|few} AS b FULL JOIN {labelled|full_side} AS c ON {full_match|b|c}) AS n ON n.id = a.id',
	],
	placeholder => [
		'SELECT a.id, b.id, b.src, b.label, b.part, b.grp FROM {few} AS a {outer_join} {labelled|source} AS b '
			. 'ON {match|a|b} {placeholder_where|b}',
		'SELECT a.id, a.label, b.src, b.other FROM {labelled|some} AS a {outer_join} {labelled|source} AS b '
			. 'ON {match|a|b} AND a.part = b.part',
		('SELECT a.id, b.id, m.label, m.grp, m.src FROM {few} AS a {outer_join} {labelled|few} AS m '
			. 'ON m.id % 97 = a.id % 97 JOIN {source} AS b ON {match|a|b} {placeholder_where|m}') x 3,
		'SELECT a.id, b.id, m.label, m.grp FROM {few} AS a '
			. 'LEFT JOIN {labelled|source} AS m ON {match|a|m} {outer_join} {few} AS b ON {match|m|b} '
			. '{placeholder_where|m}',
		'SELECT a.id, n.third, n.label, n.part, n.grp FROM {few} AS a {outer_join} (SELECT b.*, c.id AS third '
			. 'FROM {labelled|few} AS b {outer_join} {source} AS c ON {match|b|c}) AS n ON {match|a|n}',
		'SELECT a.id, n.* FROM {few} AS a LEFT JOIN (SELECT b.id, coalesce(b.grp, c.grp, -1) '
			. 'AS both, (SELECT max(s.id) FROM {few} AS s WHERE s.grp = b.grp) AS most '
			. 'FROM {few} AS b {outer_join} {source} AS c ON {match|b|c}) AS n ON a.id % 61 = n.id % 61',
		'SELECT a.id, a.label FROM {labelled|some} AS a WHERE {not} EXISTS (SELECT FROM {labelled|source} AS b '
			. 'WHERE {match|a|b} AND a.part <> b.part)',
	],
	whole_row => [
		'SELECT a.id, b FROM {few} AS a {join_type} {source} AS b ON {match|a|b}',
		'SELECT a, b.label, b FROM {some} AS a {outer_join} {labelled|source} AS b ON {match|a|b} '
			. 'AND a.id % 7 = b.id % 7',
		'SELECT a, count(b), count(b.*) FROM {few} AS a LEFT JOIN {source} AS b ON {match|a|b} GROUP BY a',
		'SELECT a.id, (b).id FROM {few} AS a LEFT JOIN {source} AS b ON {match|a|b} WHERE b IS NULL OR (b).grp < 5',
	],
	self_join => ['{self_join_of|{relation}}'],
	semi_join => [
		'SELECT a.id FROM {few} AS a WHERE {not} EXISTS (SELECT FROM {source} AS b WHERE {match|b|a} AND a.id <> b.id)',
		'SELECT a.id FROM {few} AS a WHERE a.grp {not} IN (SELECT b.grp FROM {source} AS b '
			. 'WHERE {match|a|b} AND b.grp IS NOT NULL)',
		'SELECT a.id FROM {source} AS a WHERE {near|a} AND {not} EXISTS (SELECT FROM {source} AS b '
			. 'WHERE {match|b|a} AND b.grp = 4)',
		'SELECT a.id, a.other FROM {source} AS a WHERE EXISTS (SELECT FROM {few} AS b '
			. 'WHERE {match|a|b} AND a.id <> b.id)',
		'SELECT count(*), sum(a.id) FROM {source} AS a WHERE EXISTS (SELECT FROM {few} AS b WHERE {match|a|b}) '
			. 'AND EXISTS (SELECT FROM {few} AS c WHERE {match|c|a} AND c.grp <> 4)',
	],
	cte => [
		'WITH w AS {materialized} (SELECT * FROM {source} AS a WHERE {where|a}) SELECT w.id FROM w WHERE {where|w}',
		'WITH w AS {materialized} (SELECT a.id, {distance|a.si|{q}} AS d FROM {source} AS a) SELECT id, d FROM w '
			. 'WHERE d < {r}',
		'WITH w AS {materialized} (SELECT * FROM {few} AS f) SELECT w.id, a.id '
			. 'FROM w {join_type} {source} AS a ON {match|w|a}',
		'WITH w AS MATERIALIZED (SELECT * FROM {few} AS f), v AS MATERIALIZED (SELECT * FROM {few} AS f) '
			. 'SELECT w.id, v.id FROM w {join_type} v ON {match|w|v}',
		'WITH RECURSIVE w AS (SELECT {q}::TYPE AS si, 0 AS step UNION SELECT a.si, step + 1 FROM w '
			. 'JOIN {few} AS a ON {pair|a|w} WHERE step < 2) SELECT * FROM w',
	],
	lateral => [
		'SELECT a.id, n.* FROM {few} AS a {lateral_join} LATERAL (SELECT {distance|b.si|a.{column}} AS d '
			. 'FROM {source} AS b {maybe_where|b} ORDER BY d LIMIT {k}) AS n ON true',
		'SELECT a.id, n.* FROM {few} AS a {lateral_join} LATERAL (SELECT b.id FROM {source} AS b WHERE {match|b|a} '
			. 'ORDER BY {distance|a.si|b.si}, b.id LIMIT 5) AS n ON true',
		'SELECT a.id, n.* FROM {few} AS a, LATERAL (SELECT count(*) AS c FROM {source} AS b WHERE {match|a|b}) AS n',
	],
	lateral_by_two => [
		'SELECT a.id, n.* FROM {few} AS a {lateral_join} LATERAL (SELECT {distance|b.si|a.si} '
			. 'AS d, {distance|b.si|{q}} AS e FROM {source} AS b ORDER BY d, e LIMIT {k}) AS n ON true',
	],
	window => [
		'SELECT a.id, count(*) OVER (PARTITION BY a.grp ORDER BY {distance|a.si|{q}}) FROM {source} AS a '
			. 'WHERE {where|a}',
		'SELECT a.id, rank() OVER (ORDER BY {distance|a.si|{q}}), lag(a.id) '
			. 'OVER (ORDER BY {distance|a.si|{q}}, a.id) FROM {source} AS a {maybe_where|a}',
	],
	sublink => [
		'SELECT a.id, (SELECT count(*) FROM {source} AS b WHERE {match|b|a}) FROM {few} AS a',
		'SELECT a.id, (SELECT min({distance|a.si|b.si}) FROM {source} AS b {maybe_where|b}) FROM {few} AS a '
			. 'WHERE {near|a}',
		'SELECT a.id, ARRAY(SELECT {distance|b.si|a.si} FROM {source} AS b ORDER BY 1 LIMIT 4) FROM {few} AS a',
		'SELECT a.id FROM {source} AS a WHERE {distance|a.si|(SELECT b.si FROM {few} AS b '
			. 'ORDER BY b.si DESC NULLS LAST LIMIT 1)} <= {r}',
	],
	set_operation => [
		'SELECT a.id FROM {source} AS a WHERE {where|a} {set_operator} SELECT b.id FROM {source} AS b WHERE {where|b}',
		'SELECT u.id FROM (SELECT a.id, a.si FROM {source} AS a UNION ALL SELECT b.id, b.si FROM {source} AS b) AS u '
			. 'WHERE {within|u.si|{q}}',
		'ORDERED SELECT u.d FROM (SELECT {distance|a.si|{q}} AS d FROM {source} AS a UNION ALL '
			. 'SELECT {distance|b.si|{q}} FROM {source} AS b) AS u ORDER BY u.d {limit}',
	],
	row_lock => ['SELECT a.id FROM {lockable} AS a WHERE {where|a} FOR {lock}'],
	change => [
		'UPDATE {changed} AS a SET grp = a.grp + 1, si = a.other WHERE {where|a} RETURNING a.id, a.si',
		'DELETE FROM {changed} AS a WHERE {near|a} RETURNING a.id',
		'DELETE FROM {changed} AS a USING {few} AS b WHERE {match|a|b} AND a.id > b.id RETURNING a.id',
	],
	change_joined => [
		'INSERT INTO {changed} SELECT coalesce(a.id, b.id) + 1000000, b.grp, a.si, b.other '
			. 'FROM {few} AS a {join_type} {source} AS b ON {match|a|b} RETURNING id, si',
		'INSERT INTO {changed} SELECT a.id + 1000000, {distance|a.si|{q}}, a.si, a.other FROM {labelled|source} AS a '
			. 'WHERE {where|a}',
		'UPDATE {changed} AS a SET grp = length(\'near\'), other = a.si FROM {few} AS m '
			. 'LEFT JOIN {labelled|few} AS b ON {match|m|b} WHERE {match|a|m} RETURNING a.id',
		'DELETE FROM {changed} AS a USING {labelled|few} AS b WHERE {match|a|b} AND b.part = \'low\' RETURNING a.id',
		'DELETE FROM {changed} AS a WHERE {not} EXISTS (SELECT FROM {few} AS b WHERE {match|a|b}) AND {near|a}',
		'DELETE FROM {changed} AS a WHERE EXISTS (SELECT FROM {few} AS b '
			. 'WHERE {match|a|b} AND a.id <> b.id) RETURNING a.id',
		'MERGE INTO {changed} AS a USING {few} AS b ON {match|a|b} AND a.id % 600 = b.id % 600 WHEN MATCHED '
			. 'AND a.grp = 1 THEN DELETE WHEN MATCHED THEN UPDATE SET grp = -1 WHEN NOT MATCHED THEN '
			. 'INSERT VALUES (b.id + 2000000, b.grp, b.si, b.other)',
		'MERGE INTO {changed} AS a USING {labelled|few} AS b ON {match|a|b} WHEN MATCHED '
			. 'AND a.id % 5 = 0 THEN DO NOTHING WHEN NOT MATCHED THEN '
			. 'INSERT VALUES (b.id + 2000000, b.label, b.si, b.other)',
		'MERGE INTO {changed} AS a USING {few} AS b ON {match|a|b} AND a.id = b.id WHEN MATCHED THEN DELETE',
	],
	outer_append => [
		'SELECT a.id, u.x, {distance|1::TYPE|a.id::TYPE} FROM {few} AS a '
			. 'LEFT JOIN (SELECT si, 1 AS x FROM {source} AS b UNION ALL SELECT si, 2 FROM {source} AS c) AS u '
			. 'ON {pair|a|u} ORDER BY u.x',
		'SELECT u.x, count(*) FROM {few} AS a LEFT JOIN (SELECT si, 1 AS x FROM {source} AS b UNION ALL SELECT si, 2 '
			. 'FROM {source} AS c) AS u ON {pair|a|u} GROUP BY u.x',
	],
);

# Their parts.
my %parts = (
	self_join_of => [
		'SELECT a.id, b.id FROM @1 AS a JOIN @1 AS b ON a.id < b.id AND {match|a|b} WHERE a.grp = 1',
		'SELECT a.id FROM @1 AS a WHERE a.grp = 2 AND {not} EXISTS (SELECT FROM @1 AS b '
			. 'WHERE b.id < a.id AND {match|b|a})',
	],
	# Each aggregate has the same FILTER.
	filtered_by => [ 'SELECT count(*) FILTER (WHERE @1), sum(a.id) FILTER (WHERE @1) FROM {source} AS a',
		'SELECT max(a.grp) FILTER (WHERE @1) FROM {source} AS a HAVING count(*) FILTER (WHERE @1) <> 1' ],
	columns => [ '@1.id', '@1.id', '@1.si', '@1.id, @1.si', '@1.grp, @1.other', 'count(*)',
		'@1.id, {distance|@1.si|{q}}' ],
	maybe_where => [ '', 'WHERE {where|@1}' ],
	where => [ ('{near|@1}') x 8, '{near|@1} AND {other|@1}', '{near|@1} AND {near|@1}', '({near|@1} OR {near|@1})',
		'{near|@1} OR {near|@1} AND {other|@1}',
		'{near|@1} AND NOT ({far|@1})', '({near|@1}) IS NOT FALSE', '{near|@1} AND {far|@1}' ],
	near => [ ('{within|{print|@1}|{q}}') x 5, '{within|{q}|{print|@1}}', '@1.grp = 2 AND {within|@1.si|{q}}',
		'@1.grp > 4 AND {within|@1.si|{q}}' ],
	pair  => [ '{within|@1.si|@2.si}', '{within|@2.si|@1.si}' ],
	match => [ ('{pair|@1|@2}') x 8, '{within|@1.si|@2.other}', '{within|@1.{column}|@2.si} AND {other|@1}',
		'{within|(@1.si # 21::TYPE)::TYPE|@2.si}',
		'{within|(@1.si # @1.other)|@2.si}', '{within|(@1.si # @2.si)|{q}}' ],
	full_match => [ ('{full_within|@1.si|@2.si}') x 4, '{full_within|@2.si|@1.other}',
		'{full_within|@1.si|@2.si} AND {other|@1}', '{full_within|@2.si|@1.si} AND @1.grp <> @2.grp',
		'{full_within|@1.si|(@2.si # 21::TYPE)::TYPE}', '{full_within|@1.si|@2.si} AND {look|@1|@2}' ],
	full_within => [
		'{distance|@1|@2} <= {r} {full|@1|@2}', '{distance|@1|@2} <= 0 {full|@1|@2}',
			'{distance|@1|@2} < {r} {full|@1|@2}', '{distance|@1|@2} = {r} {full|@1|@2}',
			'{r} >= {distance|@1|@2} {full|@1|@2}',
		'{distance|@1|@2} <= (SELECT {i}) {full|@1|@2}', '{distance|@1|@2} BETWEEN {i} AND {r} {full|@1|@2}',
			'NOT {distance|@1|@2} > {r} {full|@1|@2}', 'hamming_within(@1, @2, {i}) {full|@1|@2}',
		'hamming_similarity(@1, @2) >= {similarity} {full|@1|@2}',
			'{similarity} < hamming_similarity(@1, @2) {full|@1|@2}',
	],
	# Codes of unknown length.
	varying => ['@1.id, @1.grp, @1.si::VARYING AS si, @1.other::VARYING AS other'],
	full_where => [ '', 'WHERE @1.grp IS DISTINCT FROM @2.grp', 'WHERE coalesce(@1.id, @2.id) % 3 <> 1' ],
	# An equality that is always true of two codes. Without one, PostgreSQL has no full join.
	full => ['/*ARITHMETIC AND length((@1)::text) * 0 = length((@2)::text) * 0*/'],
	look  => [ '{within|@1.other|@2.other}', ('{distance|@1.other|@2.other} < 30') x 2,
		'{distance|@2.si|@1.other} <= 33 AND {distance|@1.si|@2.si} < 28' ],
	far   => [ '{distance|{print|@1}|{q}} > {r}', 'NOT {within|@1.si|{q}}', '{distance|@1.si|{q}} <> {i}',
		'{distance|@1.si|{q}} IS NULL' ],
	other => [ '@1.grp = 1', '@1.grp < 5', '@1.grp IN (1, 2, 7)', '@1.si IS NOT NULL', '@1.id % 2 = 0',
		'@1.other > 0::TYPE' ],
	print => [ ('@1.si') x 12, '@1.other', '(@1.si # @1.other)', '(@1.si # 21::TYPE)::TYPE' ],
	within => [
		'{distance|@1|@2} <= {r}', '{distance|@1|@2} <= {r}', '{distance|@1|@2} < {r}', '{distance|@1|@2} = {r}',
			'{r} >= {distance|@1|@2}', '{r} > {distance|@1|@2}',
		'{distance|@1|@2} <= (SELECT {i})', '{distance|@1|@2} BETWEEN {i} AND {r}', 'NOT {distance|@1|@2} > {r}',
			'hamming_within(@1, @2, {i})', '@1 <@ hamming_ball(@2, {i})',
		'hamming_similarity(@1, @2) >= {similarity}', '{similarity} < hamming_similarity(@1, @2)',
		'{unindexed|@1|@2}', '{line|@1|@2}', ('{wrapped|@1|@2}') x 3, '{known|@1|@2}',
	],
	# A condition on the distance is implied.
	wrapped => [
		'{distance|@1|@2} IN ({i}, {i}, 2)', '{distance|@1|@2} = ANY (ARRAY[{i}, {i}]::integer[])',
			'{distance|@1|@2} IN (0, 3, 5)', '{distance|@1|@2} = ANY (ARRAY[0, 4, NULL])',
			'{distance|@1|@2} < ANY (ARRAY[1, 6])', '64 - {distance|@1|@2} IN (64, 61, 60)',
		'({distance|@1|@2} <= {r}) IS TRUE', '({distance|@1|@2} <= {r} AND @1 IS NOT NULL) IS TRUE',
			'coalesce({distance|@1|@2} <= {r}, false)',
		'CASE WHEN {distance|@1|@2} <= {r} THEN true ELSE false END',
			'CASE WHEN {distance|@1|@2} <= {r} THEN true WHEN {distance|@1|@2} IS NULL THEN false END',
		'least({distance|@1|@2}, {distance|@1|{q}}) <= {i}', 'greatest({distance|@1|@2}, {distance|@1|{q}}) < {i}',
			'abs({distance|@1|@2}) <= {r}',
	],
	# The same, if the limits are known when the query is planned.
	known => [
		'({distance|@1|@2} <= {r}) IS NOT FALSE', '({distance|@1|@2} = {i}) IS NOT FALSE',
			'coalesce({distance|@1|@2}, 99) <= {i}', 'coalesce({distance|@1|@2}, 4) <= {i}',
		'{i} >= least({distance|@1|@2}, {distance|@1|{q}}, 77)', '0 <= {i} - {distance|@1|@2}',
	],
	falling => [ '64 - {distance|@1|@2}', '1 - {distance|@1|@2} / 64.0',
		'1 - {distance|@1|@2} / 64.0::double precision', '-2 * {distance|@1|@2}' ],
	# A radius follows from them.
	line => [ '{distance|@1|@2} / 8 <= {i}', '-{distance|@1|@2} >= -({r})', 'floor({distance|@1|@2} * 0.3) = {i}',
		'round(100 - {distance|@1|@2} * 100.0 / 64, 1) >= 90', '({distance|@1|@2} * 1.5)::integer < {i}',
		'1 - hamming(@1, @2) / 64.0 >= {similarity}', '64 - {distance|@1|@2} > 64 - {r}',
		'{distance|@1|@2} * 3 + 1 <= 3.0 * {i}', '100 * hamming_similarity(@1, @2) >= 90' ],
	unindexed => [
		'EXISTS (SELECT FROM unnest(ARRAY[@2, 5::TYPE]) AS one (of) WHERE {distance|@1|one.of} <= {r})',
	],
	similarity   => [ (0.9) x 4, '(SELECT 0.9)', 0.95, 0.75, 1, 2, -1, "'NaN'", 'NULL' ],
	distance     => [ 'hamming(@1, @2)', 'hamming(@1, @2)', 'hamming(@2, @1)', '(@1 OPERATOR @2)' ],
	column       => [ 'si', 'si', 'other' ],
	limit        => [ ('LIMIT {k}') x 10, ('LIMIT {k} OFFSET {k}') x 3, 'LIMIT -1',
		('FETCH FIRST 7 ROWS WITH TIES') x 2, '' ],
	direction    => [ 'DESC', 'NULLS FIRST', 'DESC NULLS LAST', 'ASC' ],
	not          => [ '', 'NOT' ],
	join_type    => [ 'JOIN', 'LEFT JOIN', 'RIGHT JOIN' ],
	outer_join   => [ 'LEFT JOIN', 'LEFT JOIN', 'RIGHT JOIN' ],
	lateral_join => [ 'JOIN', 'LEFT JOIN' ],
	materialized => [ '', 'MATERIALIZED', 'NOT MATERIALIZED' ],
	set_operator => [ 'UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT', 'EXCEPT ALL' ],
	lock         => [ 'UPDATE', 'SHARE', 'NO KEY UPDATE OF a', 'UPDATE SKIP LOCKED' ],
	few          => [ '(SELECT * FROM {relation} AS f WHERE f.id % 61 = 5)',
		'(SELECT * FROM {relation} AS f WHERE f.id % 97 = 3 OFFSET 0)' ],
	some         => [ '(SELECT * FROM {relation} AS f WHERE f.id % 4 = 1)',
		'(SELECT * FROM {relation} AS f WHERE f.id % 3 = 2 OFFSET 0)' ],
	source       => [ ('{relation}') x 5, '(SELECT * FROM {relation} AS i WHERE {near|i} OFFSET 0)',
		'(SELECT * FROM {relation} AS i WHERE {other|i})' ],
	full_side    => [ '{some}', '(SELECT * FROM {relation} AS i WHERE {near|i} OFFSET 0)' ],
	labelled     => [ ('(SELECT l.id, l.grp, l.si, l.other, \'x\'::text AS src, coalesce(l.grp, -1) AS label, CASE '
		. 'WHEN l.grp > 4 THEN \'high\' ELSE \'low\' END AS part FROM {@1} AS l)') x 3,
		'(SELECT l.id, l.grp, coalesce(l.si, l.other) AS si, l.other, NULL::text AS src, l.grp + 1 AS label, \'low\' '
			. 'AS part FROM {@1} AS l WHERE {other|l})' ],
	placeholder_where => [ '', '', 'WHERE @1.grp IS NULL OR @1.grp < 5', 'WHERE @1.label IS DISTINCT FROM 3',
		'WHERE @1.src IS NULL OR @1.part = \'high\'' ],
	relation     => [ ('{table}') x 6, 'united', 'close', 'guarded', 'secured', '(SELECT * FROM partial WHERE grp < 5)',
		'(SELECT * FROM partial WHERE grp > 4)',
		'(SELECT id, grp, (si # other)::TYPE AS si, other FROM computed)',
			'(SELECT id, grp, (si # 21::TYPE)::TYPE AS si, other FROM computed)' ],
	lockable     => [ '{table}', 'partial', 'guarded', 'secured' ],
	changed      => [ '{table}', '{table}', 'partial', 'computed' ],
	table        => [qw(plain boxed covering tenants pairs several nothing parted family balls)],
);

# The ways to send a query to the server.
my @ways = (qw(literal literal literal generic generic custom auto cursor cursor));

# Settings that all ways share, and those with which an index is used. Workers cost as much as a scan of a table: if
# they cost nothing, a scan that is repeated for each row of a nested loop starts thousands of them.
my @shared_settings = (('SET LOCAL max_parallel_workers_per_gather = 0') x 5, 'SET LOCAL ROLE reader',
	'SET LOCAL max_parallel_workers_per_gather = 1; SET LOCAL min_parallel_table_scan_size = 0; '
		. 'SET LOCAL min_parallel_index_scan_size = 0; SET LOCAL parallel_setup_cost = 20; '
		. 'SET LOCAL parallel_tuple_cost = 0');
my @index_settings = (('') x 3, 'SET LOCAL enable_bitmapscan = off', 'SET LOCAL enable_indexscan = off',
	('SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_material = off') x 3);

# Settings with which near joins work differently.
my @join_settings = (('') x 5, 'SET LOCAL hash_mem_multiplier = 1', 'SET LOCAL enable_material = off',
	'SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off');

my %numbers = (
	integer => [ 0 .. 12, 2, 3, 4, 6, 16, 20, 30, 40, 61, 62, 63, 64, 65, 69, 70, 71, -1, -2147483648, 2147483647,
		'NULL' ],
	bigint  => [ 0 .. 8, 61, 64, 65, -1, 2147483648, 9223372036854775807, '-9223372036854775808', 'NULL' ],
	smallint => [ 0 .. 8, 63, 64, -1, 32767, 'NULL' ],
	numeric  => [ 0, 1, 3, 6, 2.5, 6.5, -0.5, 63.9, 64.1, 1e20, 'NaN', 'Infinity', '-Infinity', 'NULL' ],
	'double precision' => [ 0, 1, 3, 6, 2.5, 6.5, -0.5, 63.9, 64.1, 1e300, 'NaN', 'Infinity', '-Infinity', 'NULL' ],
);
my @rows = (0, 1, 1, 2, 3, 5, 10, 10, 30, 200, 5000, 'NULL');

# The kinds of fingerprints, which are strings of bits here.
my %kinds = (
	bigint => { type => 'bigint', varying => 'bigint', parameter => 'bigint', bits => 64, operator => '<~>',
		written => sub { unpack 'q>', pack 'B64', $_[0] } },
	bits   => { type => 'bit(70)', varying => 'varbit', parameter => 'bit', bits => 70, operator => '<^>',
		written => sub { $_[0] } },
);

sub new
{
	my ($class, $seed, $kind) = @_;
	srand($seed);
	my $self = bless { %{ $kinds{$kind} } }, $class;
	$self->{centers} = [ map { $self->random_bits } 1 .. 12 ];
	return $self;
}

sub pick { return $_[ rand @_ ]; }

sub random_bits
{
	my ($self) = @_;
	return join '', map { int rand 2 } 1 .. $self->{bits};
}

# Changes some bits, among the last ones of the string.
sub flip_bits
{
	my ($print, $count, $among) = @_;
	substr($print, -1 - int rand($among // length $print), 1) =~ tr/01/10/ for 1 .. $count;
	return $print;
}

# A scattered value, one near or equal to one of a few, one in a tight cluster, or a special one.
sub fingerprint
{
	my ($self) = @_;
	my $center = pick(@{ $self->{centers} });
	my ($zeros, $ones) = map { $_ x ($self->{bits} - 1) } 0, 1;
	return pick(
		(map { $self->random_bits } 1 .. 3), (flip_bits($center, int rand 4)) x 4, $center,
			flip_bits($self->{centers}[0], int rand 4, 3),
		pick("${zeros}0", "${zeros}1", "${ones}1", substr("${zeros}10101", 4), "0$ones", "1$zeros", 'NULL', 'NULL'));
}

# The rows of table base, as VALUES.
sub rows
{
	my ($self, $count) = @_;
	return join ', ', map { sprintf '(%d, %s, %s, %s)', $_, pick(0 .. 9, 'NULL'),
		map { $self->literal('fingerprint', $self->fingerprint) } 1, 2 } 1 .. $count;
}

# A random value of a type.
sub value
{
	my ($self, $type) = @_;
	return pick(@rows) if $type eq 'rows';
	return flip_bits(pick(@{ $self->{centers} }), int rand 4) if $type eq 'fingerprint' && rand() < 0.7;
	return $self->fingerprint if $type eq 'fingerprint';
	return pick("'six'", "'99999999999'") if $type eq 'integer' && rand() < 0.005;
	return pick(@{ $numbers{$type} });
}

# A value in SQL: a number if that has the right type, otherwise quoted.
sub literal
{
	my ($self, $type, $value) = @_;
	my $sql_type = $type eq 'rows' ? 'bigint' : $type eq 'fingerprint' ? $self->{type} : $type;
	return "$value\::$sql_type" if $value eq 'NULL';
	return $value if $value =~ /^'/;
	return "'" . $self->{written}($value) . "'::$sql_type" if $type eq 'fingerprint';
	return $value if $type eq 'rows' || $type eq 'integer' && $value != -2147483648 && rand() < 0.8;
	return "'$value'" if $type eq 'integer';
	return $value if $type eq 'numeric' && $value =~ /^[\d.]+$/;
	return "'$value'::$sql_type";
}

# A random production of a name, with its arguments.
sub produce
{
	my ($self, $query, $name, undef, @arguments) = @_;
	my %types = (q => 'fingerprint', i => 'integer', k => 'rows',
		r => pick(('integer') x 8, 'bigint', 'smallint', 'numeric', 'double precision'));
	if ($types{$name})
	{
		push @{ $query->{types} }, $types{$name};
		return "?$#{ $query->{types} }?";
	}
	my $production = pick(@{ $shapes{$name} // $parts{$name} // die "no production of $name" });
	$query->{used}{"$name: $production"} = 1;
	$production =~ s/\@(\d)/$arguments[$1 - 1]/g;
	return $production;
}

# What an index must have answered at least once, as it is counted in a query: its shape, and its way to write a radius
# if it has only one.
sub must_use_index { return (sort(keys %shapes), grep { !/unindexed/ } @{ $parts{within} }); }

# Each way to write a condition or an order that an index supports, as a query with these values: a fingerprint and a
# radius.
sub forms
{
	my ($self, $print, $radius, @kinds) = @_;
	my %fixed = (q => $print, r => $radius, i => $radius, similarity => 0.9, distance => 'hamming(@1, @2)');
	return map {
		my $kind = $_;
		map {
			my $form = $_ =~ s/\@1/a.si/gr =~ s/\@2/{q}/gr;
			my $expand = sub {
				my ($name, $arguments) = @_;
				my (undef, @values) = split /\|/, $arguments;
				return $fixed{$name} =~ s{\@(\d)}{$values[$1 - 1]}gr;
			};
			while ($form =~ s/\{(\w+)((?:\|[^{}|]*)*)\}/$expand->($1, $2)/e) { }
			$form =~ s/OPERATOR/$self->{operator}/g;
			'SELECT a.id FROM plain AS a ' . ($kind eq 'falling' ? "ORDER BY $form DESC NULLS LAST LIMIT 3"
				: "WHERE $form");
		} grep { !/\{(?:unindexed|line|wrapped|known)\|/ } @{ $parts{$kind} };
	} @kinds;
}

sub counted
{
	my ($query) = @_;
	my @within = map { /^within: (.*)/ } keys %{ $query->{used} };
	return ($query->{shape}, @within == 1 ? @within : ());
}

# work_mem from the minimum to the default.
sub work_mem { return sprintf q{SET LOCAL work_mem = '%dkB'}, 64 * 2**rand 6; }

# A query: its statements, of which some can be explained, and the settings.
sub query
{
	my ($self) = @_;
	my $shape = pick(sort keys %shapes);
	my $query = { shape => $shape, types => [], shared => pick(@shared_settings) . '; ' . work_mem(),
		index => pick(@index_settings), near_join => pick(@join_settings) };
	# Where a nested loop does not keep the rows that workers return, it starts workers for each outer row.
	if ($query->{shared} =~ /parallel_setup_cost/) { s/(?:; )?SET LOCAL enable_material = off//
		for @$query{qw(index near_join)} }
	# PostgreSQL has other ways for a full join with an equality, and may find them cheaper.
	$query->{near_join} = 'SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off' if $shape eq 'full_join';
	my $text = "{$shape}";
	while ($text =~ s/\{(\w+)((?:\|[^{}|]*)*)\}/$self->produce($query, $1, split m{\|}, $2)/e) { }
	$query->{ordered} = $text =~ s/^ORDERED //;
	$text =~ s/TYPE/$self->{type}/g;
	$text =~ s/VARYING/$self->{varying}/g;
	$text =~ s/OPERATOR/$self->{operator}/g;
	my $way = $shape =~ /^change/ ? 'literal' : pick(@ways);
	$query->{statements} = $shape =~ /^change/ ? [ $self->with_values($query, $text), contents($text) ]
	  : $way eq 'literal' ? [ $self->with_values($query, $text) ]
	  : $way eq 'cursor' ? [ $self->cursor($query, $text) ] : [ $self->prepared($query, $text, $way) ];
	return $query;
}

sub with_values
{
	my ($self, $query, $text) = @_;
	$text =~ s/\?(\d+)\?/$self->literal($query->{types}[$1], $self->value($query->{types}[$1]))/ge;
	return $text;
}

# The rows of a changed table.
sub contents
{
	my ($text) = @_;
	my ($table) = $text =~ /^(?:INSERT INTO|UPDATE|DELETE FROM|MERGE INTO) (\w+)/ or die "no table: $text";
	return "SELECT count(*), md5(string_agg(t::text, ' ' ORDER BY t::text)) FROM $table AS t";
}

# A cursor goes to and fro. Where the order is not certain, all of its rows are one multiset.
sub cursor
{
	my ($self, $query, $text) = @_;
	return $self->with_values($query, $text) if $text =~ / FOR (?:UPDATE|SHARE|NO KEY)/;
	$query->{combined} = !$query->{ordered};
	my $declared = 'FOR ' . $self->with_values($query, $text);
	return ("DECLARE c SCROLL CURSOR $declared", 'MOVE 3 FROM c', 'MOVE BACKWARD ALL FROM c', 'FETCH 4 FROM c',
		'FETCH ALL FROM c', 'FETCH BACKWARD ALL FROM c') if $query->{combined} && rand() < 0.5;
	return ("DECLARE c NO SCROLL CURSOR $declared", map { "FETCH $_ FROM c" } 1, 3, 60, 'ALL') if $query->{combined};
	return ('DECLARE c SCROLL CURSOR FOR ' . $self->with_values($query, $text),
		map { "FETCH $_ FROM c" } 3, 'BACKWARD 2', 'ABSOLUTE 6', 'PRIOR', 'ALL', 'LAST');
}

# A prepared statement, executed with other values again; six times, if the plan is to become generic by itself.
sub prepared
{
	my ($self, $query, $text, $way) = @_;
	my %sql_type = (rows => 'bigint', fingerprint => $self->{parameter});
	my @types = map { $sql_type{$_} // $_ } @{ $query->{types} };
	my $parameters = @types ? '(' . join(', ', @types) . ')' : '';
	$text =~ s/\?(\d+)\?/'$' . ($1 + 1)/ge;
	return ($way eq 'auto' ? () : "SET LOCAL plan_cache_mode = force_${way}_plan", "PREPARE p $parameters AS $text",
		map { my $values = join ', ', map { $self->literal($_, $self->value($_)) } @{ $query->{types} };
		'EXECUTE p ' . ($values eq '' ? '' : "($values)") }
		  1 .. ($way eq 'auto' ? 6 : 2));
}

1;
