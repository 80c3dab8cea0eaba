# The most important property: each kind of index finds the same rows as a sequential scan, for every radius, after any
# changes of the table. Data and operations are random. The seed is printed; SEED repeats a run, and ROUNDS makes it
# longer (make soak).

use strict;
use warnings;
use Test::More;
use SimhashTest;

my $seed = $ENV{SEED} // int(rand(2**31));
my $rounds = $ENV{ROUNDS} // 5;
my $queries = 8;
note("SEED=$seed");
diag("seed $seed");

my $node = start_node('property');
my $session = session($node);
# The trees of indexes of long codes.
srand($seed);
my @trees = map { (qw(words both whole))[ int(rand(3)) ] } 1 .. 2;
note("trees: @trees");
$session->query(
	q{
	CREATE TABLE document (id integer, si bigint);
	CREATE INDEX document_gist ON document USING gist (si gist_hamming_ops);
	-- A table of its own, so that the planner has no choice.
	CREATE TABLE twin (LIKE document);
	CREATE INDEX twin_hamming ON twin USING hamming (si);
	-- Strings of bits, of more than 64 and of fewer.
	CREATE TABLE short (id integer, si bit(40));
	CREATE INDEX short_hamming ON short USING hamming (si);
	CREATE TABLE code (id integer, si bit(130));
	CREATE INDEX code_hamming ON code USING hamming (si) WITH (trees = } . $trees[0] . q{);
	-- Many codes with few bits set, which are near one another in every word: more candidates than memory has room for.
	CREATE TABLE sparse (id integer, si bit(200), grp integer GENERATED ALWAYS AS (id % 3) STORED);
	CREATE INDEX sparse_hamming ON sparse USING hamming (si, grp) WITH (trees = } . $trees[1] . q{);
	-- A second column, whose values have very different numbers of rows.
	CREATE TABLE part (id integer, si bigint, grp integer GENERATED ALWAYS
		AS (nullif(id % 40 / 8 * (id % 3), 2)) STORED);
	CREATE INDEX part_hamming ON part USING hamming (si, grp);
	SET jit = off;
	SET max_parallel_workers_per_gather = 0;

	-- A fingerprint: scattered, or near to one of a few, or one of a few, or NULL. Clusters as tight as the
	-- last fill pages whose bounding boxes are exact in most bits, where an error of one bit shows.
	CREATE FUNCTION any_fingerprint() RETURNS bigint LANGUAGE sql VOLATILE AS $$
		SELECT CASE floor(random() * 10)
			WHEN 0 THEN NULL
			WHEN 1 THEN floor(random() * 4)::bigint - 2
			WHEN 2 THEN hashint8extended(floor(random() * 1e9)::bigint, 1)
			WHEN 3 THEN hashint8extended(floor(random() * 1e9)::bigint, 1)
			WHEN 4 THEN hashint8extended(floor(random() * 20)::bigint, 2)
				# (1::bigint << floor(random() * 64)::integer) # (1::bigint << floor(random() * 64)::integer)
			WHEN 5 THEN hashint8extended(floor(random() * 20)::bigint, 2) # (1::bigint << floor(random() * 64)::integer)
			ELSE hashint8extended(floor(random() * 2)::bigint, 9) # floor(random() * 8)::bigint
		END $$;

	-- A query is a fingerprint with up to six bits changed.
	CREATE FUNCTION any_query() RETURNS bigint LANGUAGE sql VOLATILE AS $$
		SELECT coalesce(any_fingerprint(), 0) # coalesce(bit_or(1::bigint << floor(random() * 64)::integer), 0)
		FROM generate_series(1, floor(random() * 7)::integer) $$;

	-- A string of bits whose words are fingerprints, the first also the others in one of three.
	CREATE FUNCTION any_code() RETURNS bit LANGUAGE sql VOLATILE AS $$
		SELECT (a::bit(64) || (CASE WHEN random() < 0.3 THEN a ELSE b END)::bit(64) ||
			(a % 3)::integer::bit(2))::bit(130)
		FROM (SELECT any_fingerprint() AS a, any_fingerprint() AS b) AS two $$;

	CREATE FUNCTION any_code_query() RETURNS bit LANGUAGE sql VOLATILE AS $$
		SELECT (a::bit(64) || (CASE WHEN random() < 0.5 THEN a ELSE b END)::bit(64) ||
			(a % 3)::integer::bit(2))::bit(130)
		FROM (SELECT any_query() AS a, any_query() AS b) AS two $$;

	CREATE FUNCTION any_sparse_code() RETURNS bit LANGUAGE sql VOLATILE AS $$
		SELECT (SELECT bit_and(('x' || md5(random()::text) || md5(random()::text))::bit(200))
			FROM generate_series(1, 1 + floor(random() * 5)::integer) AS n) $$;

	CREATE FUNCTION use_index(yes boolean) RETURNS void LANGUAGE sql AS $$
		SELECT set_config('enable_seqscan', (NOT yes)::text, false), set_config('enable_sort', (NOT yes)::text, false),
			set_config('enable_indexscan', yes::text, false), set_config('enable_bitmapscan', yes::text, false),
			set_config('enable_indexonlyscan', yes::text, false) $$;

	CREATE FUNCTION plan(question text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		line text;
		plan text := '';
	BEGIN
		FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || question LOOP
			plan := plan || E'\n' || line;
		END LOOP;
		RETURN plan;
	END $$;

	-- How many values two answers have, and the first place at which they differ; NULL if they are the same.
	CREATE FUNCTION first_difference(by_scan text[], other text[]) RETURNS text LANGUAGE sql AS $$
		SELECT format('%s values, by scan %s; at place %s %s, by scan %s', coalesce(cardinality(other), 0),
			coalesce(cardinality(by_scan), 0),
			place, coalesce(other[place], 'NULL'), coalesce(by_scan[place], 'NULL'))
		FROM generate_series(1, greatest(cardinality(by_scan), cardinality(other))) AS place
		WHERE other[place] IS DISTINCT FROM by_scan[place] ORDER BY place LIMIT 1 $$;

	-- The answers of a query by scan and by the indexes of some tables with the same rows, also by plain index scans
	-- alone; whatever differs, or was not done by the index, is returned.
	CREATE FUNCTION disagreement(question text, VARIADIC indexes text[]) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		asked text;
		by_scan text[];
		by_index text[];
		by_plain_scan text[];
		is_never boolean;
		is_of_codes boolean := question !~ '\mid\M' AND NOT indexes && '{code_hamming,part_hamming,sparse_hamming}';
	BEGIN
		-- 64 kB to 4 MB.
		PERFORM set_config('work_mem', (64 << floor(random() * 7)::integer) || 'kB', false);
		FOR number IN 1..cardinality(indexes) LOOP
			asked := replace(question, 'FROM document', 'FROM ' || split_part(indexes[number], '_', 1));
			IF number = 1 THEN
				PERFORM use_index(false);
				EXECUTE asked INTO by_scan;
			END IF;
			PERFORM use_index(true);
			EXECUTE asked INTO by_index;
			-- The planner knows that no code is equal to two different ones.
			is_never := plan(asked) LIKE '%One-Time Filter: false%';
			IF NOT is_never AND plan(asked) NOT LIKE '%' || indexes[number] || '%' THEN
				RETURN asked || plan(asked);
			END IF;
			IF indexes[number] LIKE '%hamming' THEN
				SET enable_bitmapscan = off;
				EXECUTE asked INTO by_plain_scan;
				-- Of codes that the index has as a whole, the table is not needed.
				IF is_of_codes AND NOT is_never AND plan(asked) NOT LIKE '%Index Only Scan using ' || indexes[number] ||
					'%' THEN
					RETURN asked || plan(asked);
				END IF;
			ELSE
				by_plain_scan := by_index;
			END IF;
			IF by_scan IS DISTINCT FROM by_index OR by_scan IS DISTINCT FROM by_plain_scan THEN
				RETURN format('%s, work_mem %s: %s', asked, current_setting('work_mem'), coalesce(
					'by index ' || first_difference(by_scan, by_index),
						'by its plain scan ' || first_difference(by_scan, by_plain_scan)));
			END IF;
		END LOOP;
		RETURN NULL;
	END $$;

	-- About two strings of a number of bits, with each radius that is a multiple of the step behind the first.
	CREATE FUNCTION disagreements(q text, other text, bits integer, first integer, step integer,
		VARIADIC indexes text[])
		RETURNS SETOF text LANGUAGE plpgsql AS $$
	DECLARE
		condition text;
	BEGIN
		FOR radius IN first..bits BY step LOOP
			RETURN NEXT disagreement(format(
				'SELECT array_agg(id ORDER BY id) FROM document WHERE hamming(si, %s) <= %s',
				q, radius), VARIADIC indexes);
		END LOOP;
		RETURN NEXT disagreement(format('SELECT array_agg(d) FROM (SELECT hamming(si, %1$s) AS d FROM document
			ORDER BY hamming(si, %1$s) LIMIT %2$s) AS n', q, floor(random() * 3000)), VARIADIC indexes);
		RETURN NEXT disagreement(format('SELECT array_agg(d) FROM (SELECT hamming(si, %1$s) AS d FROM document
			WHERE hamming(si, %1$s) < %2$s ORDER BY hamming(si, %1$s)) AS n', q, floor(random() * bits)),
				VARIADIC indexes);
		RETURN NEXT disagreement(format('SELECT array_agg(d) FROM (SELECT hamming(si, %1$s) AS d FROM document
			WHERE hamming(si, %3$s) < %2$s ORDER BY hamming(si, %1$s)) AS n', q, floor(random() * bits), other),
				VARIADIC indexes);
		RETURN NEXT disagreement(format(
			'SELECT array_agg(id ORDER BY id) FROM document WHERE hamming(si, %s) < %s AND hamming(si, %s) < %s',
			q, floor(random() * bits), other, floor(random() * bits)), VARIADIC indexes);
		RETURN NEXT disagreement(format(
			'SELECT array_agg(id ORDER BY id) FROM document WHERE si = %s', q),
			VARIADIC indexes);
		-- What codes of up to 64 bits are answered with, without the table.
		FOREACH condition IN ARRAY ARRAY[format('hamming(si, %s) <= %s', q, first),
			format('hamming(si, %s) <= %s', q, bits / 3),
			format('hamming(si, %s) <= %s AND hamming(si, %s) < %s', q, bits / 2, other, floor(random() * bits)),
				'si IS NULL', 'si IS NOT NULL'] LOOP
			RETURN NEXT disagreement(format('SELECT array_agg(si ORDER BY si) FROM document WHERE %s', condition),
				VARIADIC indexes);
			RETURN NEXT disagreement(format('SELECT ARRAY[count(*)] FROM document WHERE %s', condition),
				VARIADIC indexes);
		END LOOP;
		RETURN NEXT disagreement(format(
			'SELECT array_agg(si ORDER BY si) FROM (SELECT si FROM document ORDER BY hamming(si, %s)) AS n', q),
			VARIADIC indexes);
	END $$;

	-- The questions of a round share the radii: each is asked once, and each question asks few.
	CREATE FUNCTION disagreements(question integer, questions integer) RETURNS SETOF text LANGUAGE sql AS $$
		SELECT disagreements(format('%L::bigint', any_query()), format('%L::bigint', any_query()), 64,
			question, questions, 'document_gist', 'twin_hamming') $$;
	CREATE FUNCTION disagreements_of_short(question integer, questions integer) RETURNS SETOF text LANGUAGE sql AS $$
		SELECT disagreements(format('%L::bit(40)', any_query()::bit(40)), format('%L::bit(40)', any_query()::bit(40)),
			40, question, questions, 'short_hamming') $$;
	CREATE FUNCTION disagreements_of_codes(question integer, questions integer) RETURNS SETOF text LANGUAGE sql AS $$
		SELECT disagreements(format('%L::bit(130)', q), format('%L::bit(130)', any_code_query()), 130,
			4 * question + floor(random() * 4)::integer, 4 * questions, 'code_hamming')
		FROM (SELECT any_code_query() AS q) AS one $$;

	CREATE FUNCTION disagreements_of_sparse(question integer, questions integer) RETURNS SETOF text LANGUAGE plpgsql
		AS $$
	DECLARE
		q text := format('%L::bit(200)', CASE WHEN question % 2 = 0 THEN repeat('0', 200)::bit(200)
			ELSE any_sparse_code() END);
		other text := format('%L::bit(200)', any_sparse_code());
		grp text := (ARRAY['', 'AND grp = 1'])[1 + question % 2];
	BEGIN
		FOR radius IN 20 + question..100 BY 40 LOOP
			RETURN NEXT disagreement(format(
				'SELECT array_agg(id ORDER BY id) FROM document WHERE hamming(si, %s) <= %s %s',
				q, radius, grp), 'sparse_hamming');
			RETURN NEXT disagreement(format('SELECT array_agg(d) FROM (SELECT hamming(si, %1$s) AS d FROM document
				WHERE true %3$s ORDER BY hamming(si, %1$s) LIMIT %2$s) AS n', q, radius * 40, grp), 'sparse_hamming');
		END LOOP;
		RETURN NEXT disagreement(format(
			'SELECT array_agg(id ORDER BY id) FROM document WHERE hamming(si, %s) < %s AND hamming(si, %s) < %s',
			q, 50 + floor(random() * 50), other, 50 + floor(random() * 50)), 'sparse_hamming');
	END $$;

	-- Of one value of the second column.
	CREATE FUNCTION disagreements_of_parts(question integer, questions integer) RETURNS SETOF text LANGUAGE plpgsql
		AS $$
	DECLARE
		q text := format('%L::bigint', any_query());
		grp text;
	BEGIN
		FOREACH grp IN ARRAY '{grp = 0, grp = 1, grp = 8, grp = 99, grp IS NULL, grp < 4}'::text[] LOOP
			FOR radius IN question..64 BY 2 * questions LOOP
				RETURN NEXT disagreement(format(
					'SELECT array_agg(id ORDER BY id) FROM document WHERE %s AND hamming(si, %s) <= %s',
					grp, q, radius), 'part_hamming');
			END LOOP;
			RETURN NEXT disagreement(format('SELECT array_agg(d) FROM (SELECT hamming(si, %1$s) AS d FROM document
				WHERE %3$s ORDER BY hamming(si, %1$s) LIMIT %2$s) AS n', q, floor(random() * 100), grp),
					'part_hamming');
			RETURN NEXT disagreement(format(
				'SELECT array_agg(id ORDER BY id) FROM document WHERE %s AND si IS NULL',
				grp), 'part_hamming');
		END LOOP;
	END $$;
});
$session->query("SELECT setseed($seed / 2147483648.0)");
$session->query('INSERT INTO sparse SELECT n, any_sparse_code() FROM generate_series(1, 8000) AS n');

# Both tables get the same changes.
my @operations = (
	'INSERT INTO document SELECT (SELECT coalesce(max(id), 0) FROM document) + n, any_fingerprint()
		FROM generate_series(1, 3000) AS n;
	 INSERT INTO twin SELECT * FROM document WHERE id > (SELECT coalesce(max(id), 0) FROM twin);
	 INSERT INTO short SELECT id, si::bit(40) FROM document WHERE id > (SELECT coalesce(max(id), 0) FROM short);
	 INSERT INTO part SELECT id, si FROM document WHERE id > (SELECT coalesce(max(id), 0) FROM part);
	 INSERT INTO code SELECT (SELECT coalesce(max(id), 0) FROM code) + n, any_code()
		FROM generate_series(1, 3000) AS n',
	'UPDATE document SET si = any_fingerprint() WHERE random() < 0.2;
	 UPDATE twin SET si = d.si FROM document AS d WHERE d.id = twin.id AND d.si IS DISTINCT FROM twin.si;
	 UPDATE short SET si = any_fingerprint()::bit(40) WHERE random() < 0.2;
	 UPDATE part SET si = d.si FROM document AS d WHERE d.id = part.id AND d.si IS DISTINCT FROM part.si;
	 UPDATE code SET si = any_code() WHERE random() < 0.2;
	 UPDATE sparse SET si = any_sparse_code() WHERE random() < 0.02',
	'DELETE FROM document WHERE random() < 0.1;
	 DELETE FROM twin WHERE NOT EXISTS (SELECT FROM document AS d WHERE d.id = twin.id);
	 DELETE FROM short WHERE random() < 0.1;
	 DELETE FROM part WHERE NOT EXISTS (SELECT FROM document AS d WHERE d.id = part.id);
		DELETE FROM code WHERE random() < 0.1',
	'VACUUM document; VACUUM twin; VACUUM short; VACUUM code; VACUUM part; VACUUM sparse',
	'REINDEX INDEX document_gist; REINDEX INDEX twin_hamming; REINDEX INDEX short_hamming; REINDEX INDEX '
		. 'code_hamming; REINDEX INDEX part_hamming; REINDEX INDEX sparse_hamming',
	join(';', (map { "DELETE FROM $_ WHERE hashint4(id) % 8 <> 0" } 'document', 'twin', 'short', 'code', 'part'),
		(map { "VACUUM $_" } 'document', 'twin', 'short', 'code', 'part')));
my @weights = (0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5);

srand($seed);
my $compared = 0;
for my $round (1 .. $rounds)
{
	# Most rows are deleted at most once a round, so that some hundred of the 3,000 new ones stay.
	my @choice = @weights;
	for my $step (1 .. 6)
	{
		my $chosen = $step == 1 ? 0 : $choice[ rand @choice ];
		my $operation = $operations[$chosen];
		@choice = grep { $_ != 5 } @choice if $chosen == 5;
		$session->query($_) for split /;/, $operation;
	}
	for my $function ('disagreements', 'disagreements_of_short', 'disagreements_of_codes', 'disagreements_of_parts',
		'disagreements_of_sparse')
	{
		my $answer = ask($session,
			"SELECT count(*), string_agg(d, E'\\n') FROM generate_series(0, $queries - 1) "
			. "AS n, $function(n, $queries) AS d");
		my ($count, $differences) = split /\|/, $answer, 2;
		$compared += $count;
		is($differences, '', "$function in round $round of seed $seed");
	}
	for my $table ('document', 'code')
	{
		my $rows = ask($session, "SELECT count(*) FROM $table");
		cmp_ok($rows, '>', 150, "$rows rows of $table are left");
	}
	is(ask($session, "SELECT * FROM hamming_index_check('$_', true)"), '', "$_ is sound")
		for 'twin_hamming', 'short_hamming', 'code_hamming', 'part_hamming', 'sparse_hamming';
}
cmp_ok($compared, '>=', (65 + 41 + 31 + 3 * 16 * $queries) * $rounds, "$compared comparisons");
$session->quit;

done_testing();
