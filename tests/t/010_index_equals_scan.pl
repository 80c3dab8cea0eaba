# The property that matters: each kind of index finds what a sequential scan finds, for every radius, whatever
# was done to the table. Random data and operations from a seed that is printed; SEED repeats a run, ROUNDS
# makes it longer (make soak).

use strict;
use warnings;
use Test::More;
use SimhashTest;

my $seed = $ENV{SEED} // int(rand(2**31));
my $rounds = $ENV{ROUNDS} // 8;
my $queries = 8;
note("SEED=$seed");
diag("seed $seed");

my $node = start_node('property');
my $session = session($node);
$session->query(
	q{
	CREATE TABLE document (id integer, si bigint);
	CREATE INDEX document_gist ON document USING gist (si gist_hamming_ops);
	-- A table of its own, so that the planner has no choice.
	CREATE TABLE twin (LIKE document);
	CREATE INDEX twin_hamming ON twin USING hamming (si);
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

	-- The answers of a query by scan and by each kind of index, the second also by plain index scans alone;
	-- whatever differs, or was not done by the index, is returned.
	CREATE FUNCTION disagreement(question text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		twin_question text := replace(question, 'FROM document', 'FROM twin');
		by_scan integer[];
		by_gist integer[];
		by_hamming integer[];
		by_plain_scan integer[];
	BEGIN
		PERFORM use_index(false);
		EXECUTE question INTO by_scan;
		PERFORM use_index(true);
		EXECUTE question INTO by_gist;
		EXECUTE twin_question INTO by_hamming;
		IF plan(question) NOT LIKE '%document_gist%' THEN
			RETURN question || plan(question);
		ELSIF plan(twin_question) NOT LIKE '%twin_hamming%' THEN
			RETURN twin_question || plan(twin_question);
		END IF;
		SET enable_bitmapscan = off;
		EXECUTE twin_question INTO by_plain_scan;
		IF by_scan IS DISTINCT FROM by_gist OR by_scan IS DISTINCT FROM by_hamming OR by_scan IS DISTINCT FROM by_plain_scan THEN
			RETURN format('%s: by scan %s, by gist %s, by hamming %s, by its plain scan %s', question, by_scan, by_gist, by_hamming, by_plain_scan);
		END IF;
		RETURN NULL;
	END $$;

	CREATE FUNCTION disagreements(q bigint) RETURNS SETOF text LANGUAGE plpgsql AS $$
	BEGIN
		FOR radius IN 0..64 LOOP
			RETURN NEXT disagreement(format(
				'SELECT array_agg(id ORDER BY id) FROM document WHERE hamming(si, %L) <= %s', q, radius));
		END LOOP;
		RETURN NEXT disagreement(format('SELECT array_agg(d) FROM (SELECT hamming(si, %1$L) AS d FROM document
			ORDER BY hamming(si, %1$L) LIMIT %2$s) AS n', q, floor(random() * 3000)));
		RETURN NEXT disagreement(format('SELECT array_agg(d) FROM (SELECT hamming(si, %1$L) AS d FROM document
			WHERE hamming(si, %1$L) < %2$s ORDER BY hamming(si, %1$L)) AS n', q, floor(random() * 64)));
		RETURN NEXT disagreement(format('SELECT array_agg(d) FROM (SELECT hamming(si, %1$L) AS d FROM document
			WHERE hamming(si, %3$L) < %2$s ORDER BY hamming(si, %1$L)) AS n', q, floor(random() * 64), any_query()));
		RETURN NEXT disagreement(format('SELECT array_agg(id ORDER BY id) FROM document WHERE hamming(si, %L) < %s AND hamming(si, %L) < %s',
			q, floor(random() * 64), any_query(), floor(random() * 64)));
		RETURN NEXT disagreement(format('SELECT array_agg(id ORDER BY id) FROM document WHERE si = %L::bigint', q));
	END $$;
});
$session->query("SELECT setseed($seed / 2147483648.0)");

# What is done to the one table is done to the other.
my @operations = (
	'INSERT INTO document SELECT (SELECT coalesce(max(id), 0) FROM document) + n, any_fingerprint() FROM generate_series(1, 3000) AS n;
	 INSERT INTO twin SELECT * FROM document WHERE id > (SELECT coalesce(max(id), 0) FROM twin)',
	'UPDATE document SET si = any_fingerprint() WHERE random() < 0.2;
	 UPDATE twin SET si = d.si FROM document AS d WHERE d.id = twin.id AND d.si IS DISTINCT FROM twin.si',
	'DELETE FROM document WHERE random() < 0.1; DELETE FROM twin WHERE NOT EXISTS (SELECT FROM document AS d WHERE d.id = twin.id)',
	'VACUUM document; VACUUM twin',
	'REINDEX INDEX document_gist; REINDEX INDEX twin_hamming',
	'DELETE FROM document WHERE hashint4(id) % 8 <> 0; DELETE FROM twin WHERE hashint4(id) % 8 <> 0; VACUUM document; VACUUM twin');
my @weights = (0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5);

srand($seed);
my $compared = 0;
for my $round (1 .. $rounds)
{
	for my $step (1 .. 6)
	{
		my $operation = $step == 1 ? $operations[0] : $operations[ $weights[ rand @weights ] ];
		$session->query($_) for split /;/, $operation;
	}
	my $answer = ask($session,
		"SELECT count(*), string_agg(d, E'\\n') FROM (SELECT any_query() AS q FROM generate_series(1, $queries) OFFSET 0) AS q,
		LATERAL disagreements(q) AS d");
	my ($count, $differences) = split /\|/, $answer, 2;
	$compared += $count;
	my $rows = ask($session, 'SELECT count(*) FROM document');
	is($differences, '', "round $round of seed $seed: $rows rows");
	cmp_ok($rows, '>', 300, 'enough for several pages');
	is(ask($session, 'SELECT * FROM hamming_index_check(\'twin_hamming\', true)'), '', 'the index is sound');
}
cmp_ok($compared, '>=', 65 * $queries * $rounds, "$compared comparisons");
$session->quit;

done_testing();
