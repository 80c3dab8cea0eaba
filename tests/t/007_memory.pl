# Hundreds of thousands of calls do not leak memory. Even 16 bytes per call would be detected.

use strict;
use warnings;
use Test::More;
use SimhashTest;

plan skip_all => 'reads /proc' unless -r '/proc/self/status';

my $node = start_node('memory');
$node->safe_psql('postgres', q{
	CREATE TABLE document AS SELECT repeat('w' || md5(i::text) || ' ', 10) AS body FROM generate_series(1, 1000) AS i});

my $session = session($node, on_error_stop => 0);
my $pid = ask($session, 'SELECT pg_backend_pid()');

# What the status of a process says in kB.
sub status
{
	my ($process, $what) = @_;
	open my $status, '<', "/proc/$process/status" or die "cannot read the status of $process: $!";
	my ($kb) = map { /^$what:\s+(\d+) kB/ ? $1 : () } <$status>;
	return $kb;
}

# Memory of the session without mapped files.
sub private_memory
{
	return status($pid, 'RssAnon');
}

for (
	(map { [ $_, 300 ] }
		"simhash(body, 'char:8')",
		"simhash(body)",
		"simhash(body, 'doc1')",
		"cardinality(manber_sketch(body, 20, 2))",
		"cardinality(winnow_sketch(body, 10, 10))",
		"cardinality(heintze_sketch(body, 10, 10))",
		"cardinality(minhash(body, 16))",
		"length(minhash_bits(body, 256))",
		"simhash(ARRAY[body, 'x'], ARRAY[1, n])",
		"extract_text(body)",
		"simhash_text(body, NULL, body)",
		"simhash_decode(simhash_encode(n))",
		"sketch_similarity(ARRAY[n, 2, 1], '{1,2,3}')"),
	# Functions that return rows, or several values, take longer.
	(map { [ $_, 50 ] }
		"(SELECT simhash_agg(feature, weight) FROM simhash_features(body, 'word:1'))",
		"(SELECT count(*) FROM shared_passages(body, body || 'x', 10))",
		"(SELECT count(*) FROM recursive_shingles(body, 2, 2))",
		"passage_headline(body, body || 'x', 10, 'Escape=html')",
		"(SELECT count(*) FROM repeated_passages(format('VALUES (%L, %L)', body, body || n), 10, NULL::text))",
		"simhash_explain(body, 'other', 'word:1')",
		"simhash_explain(body, 'other')"))
{
	my ($call, $thousands) = @$_;
	# The first thousands of calls allocate memory that all later calls use.
	my $calls = "SELECT count($call) FROM document, generate_series(1, %d) AS n";
	$session->query(sprintf $calls, 20);
	my $before = private_memory();
	is(ask($session, sprintf $calls, $thousands), 1000 * $thousands, "$thousands thousand calls of $call");
	my $grown = private_memory() - $before;
	# PostgreSQL may once have asked for another block of a megabyte.
	cmp_ok($grown, '<', 2048, "memory grew by $grown kB");
}

# Errors do not leak memory.
$session->query(q{
	CREATE FUNCTION fails(n integer) RETURNS integer LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1..n LOOP
			BEGIN
				PERFORM simhash('a', 'none');
			EXCEPTION WHEN invalid_parameter_value THEN NULL;
			END;
		END LOOP;
		RETURN n;
	END $$});
$session->query('SELECT fails(1000)');
my $before = private_memory();
is(ask($session, 'SELECT fails(100000)'), 100000, 'a hundred thousand errors');
my $grown = private_memory() - $before;
cmp_ok($grown, '<', 1024, "memory grew by $grown kB");

# Texts of a corpus are read until one exceeds the memory limit.
$node->safe_psql('postgres', 'CREATE SEQUENCE computed');
my (undef, undef, $refusal) = run_psql($node, 'postgres', q{
	SET maintenance_work_mem = '1MB';
	SELECT count(*) FROM repeated_passages($$SELECT nextval('computed'), repeat('x', 300000)
		FROM generate_series(1, 50)$$, 100, NULL::bigint)});
like($refusal, qr/maintenance_work_mem/, 'fifty texts are too large');
cmp_ok($node->safe_psql('postgres', 'SELECT last_value FROM computed'), '<', 10, 'only few of them were computed');

# Index scans do not leak memory either. A statement may begin one for each row, as an exclusion constraint does.
$session->query(q{
	CREATE TABLE seen (id integer, bytes bigint);
	CREATE FUNCTION look(id integer) RETURNS bigint LANGUAGE sql VOLATILE AS $$
		INSERT INTO seen SELECT $1, sum(used_bytes) FROM pg_backend_memory_contexts;
		SELECT $1::bigint $$});
for my $type ('bigint', 'bit(80)')
{
	$session->query("CREATE TABLE excluded (id integer, si $type, EXCLUDE USING hamming (si WITH =)); TRUNCATE seen");
	$session->query("INSERT INTO excluded SELECT i, (CASE WHEN i % 20000 = 1 THEN look(i) ELSE i END)::$type "
		. "FROM generate_series(1, 60001) AS i");
	my $bytes = ask($session, 'SELECT max(bytes) FILTER (WHERE id = 60001) - max(bytes) FILTER (WHERE id = 20001) '
		. 'FROM seen');
	cmp_ok($bytes, '<', 200_000, "forty thousand scans of an index on $type in one statement left $bytes bytes");
	$session->query('DROP TABLE excluded');
}

# Strings of bits that are stored outside of their rows are fetched one by one: when they are searched, by columns and
# by expressions, when they are added, and when an index is built.
$session->query(q{
	CREATE TABLE code (id integer, code bit(1024), body text) WITH (toast_tuple_target = 128);
	ALTER TABLE code ALTER code SET STORAGE EXTERNAL, ALTER body SET STORAGE MAIN;
	INSERT INTO code SELECT i, (SELECT string_agg(hashint8extended(i, n)::bit(64)::text, '')
		FROM generate_series(1, 16) AS n)::bit(1024), repeat('x', 2000)
		FROM generate_series(1, 3000) AS i;
	CREATE INDEX code_column ON code USING hamming (code);
	CREATE INDEX code_expression ON code USING hamming (((~code)::bit(1024)));
	SET enable_seqscan = off;
	SET enable_bitmapscan = off;
	SET enable_sort = off;
	SET work_mem = '64kB'});
is(ask($session, "SELECT pg_relation_size(reltoastrelid) > 0 FROM pg_class WHERE relname = 'code'"), 't',
	'codes are outside of their rows');
# The memory that searches leak between their first and their last thousand rows.
my %searches = (
	'searches of a column' => 'SELECT FROM code AS a JOIN code AS b ON hamming(b.code, a.code) <= 20',
	'searches of an expression' => 'SELECT FROM code AS a JOIN code AS b '
		. 'ON hamming((~b.code)::bit(1024), (~a.code)::bit(1024)) <= 20',
	'an ordered search of a column' => 'SELECT FROM code ORDER BY hamming(code, (SELECT code FROM code WHERE id = 1))',
	'an ordered search of an expression' => 'SELECT FROM code ORDER BY hamming((~code)::bit(1024), (SELECT code '
		. 'FROM code WHERE id = 1))');
for my $what (sort keys %searches)
{
	$session->query('TRUNCATE seen');
	is(ask($session, "SELECT count(CASE WHEN n % 1000 = 0 THEN look(n::integer) END) "
		. "FROM (SELECT row_number() OVER () AS n FROM ($searches{$what}) AS q) AS numbered"),
		3, "three thousand rows by $what");
	my $bytes = ask($session, 'SELECT max(bytes) FILTER (WHERE id = 3000) - max(bytes) FILTER (WHERE id = 1000) '
		. 'FROM seen');
	cmp_ok($bytes, '<', 50_000, "$what left $bytes bytes");
}
for (
	[ 'inserts', 'INSERT INTO code SELECT id + 10000, code, body FROM code LIMIT %d', 100, 3000 ],
	[ 'builds', 'REINDEX TABLE code', 0, 0 ])
{
	my ($what, $statement, $few, $many) = @$_;
	$session->query(sprintf $statement, $few);
	my $before = private_memory();
	$session->query(sprintf $statement, $many);
	my $grown = private_memory() - $before;
	cmp_ok($grown, '<', 1024, "$what: memory grew by $grown kB");
}
is(ask($session, 'SELECT count(*) FROM code'), 6100, 'all rows are there');
# They do not accumulate when all of them are read. A view shows the memory after each thousand rows.
$session->query(q{
	CREATE TABLE stored (id integer, code bit(8192)) WITH (toast_tuple_target = 128);
	ALTER TABLE stored ALTER code SET STORAGE EXTERNAL;
	INSERT INTO stored SELECT i, i::bit(8192) FROM generate_series(1, 20001) AS i;
	CREATE VIEW looked AS SELECT CASE WHEN id % 10000 <> 1 OR look(id) > 0 THEN code END AS code FROM stored;
	TRUNCATE seen});
is(ask($session, "SELECT sum(pairs) FROM hamming_histogram('looked', 'code', 10)"), 200_000, 'pairs of a histogram');
my $left = ask($session, 'SELECT max(bytes) FILTER (WHERE id = 20001) - max(bytes) FILTER (WHERE id = 10001) '
	. 'FROM seen');
cmp_ok($left, '<', 50_000, "ten thousand codes that a histogram has read left $left bytes");
# Near joins read values that are stored elsewhere, begin again many times, and end in errors.
$session->query(q{
	RESET enable_seqscan;
	SET enable_nestloop = off;
	SET max_parallel_workers_per_gather = 0;
	CREATE TABLE small AS SELECT i AS id, hashint8extended(i, 1) AS si FROM generate_series(1, 300) AS i;
	ANALYZE stored, small;
	CREATE FUNCTION explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
	BEGIN
		RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || query;
	END $$;
	CREATE FUNCTION join_fails(n integer) RETURNS integer LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1..n LOOP
			BEGIN
				PERFORM count(*) FROM small AS a JOIN small AS b ON hamming(a.si, b.si) <= 3 AND 1 / (a.id - 200) < 5;
			EXCEPTION WHEN division_by_zero THEN NULL;
			END;
		END LOOP;
		RETURN n;
	END $$});
my %joins = (
	'a near join of stored values' => [ 10000,
		'SELECT row_number() OVER () AS n, a.code AS x, b.code AS y FROM stored AS a JOIN stored AS b
		ON hamming(hashint8extended(a.id, 1), hashint8extended(b.id, 1)) <= 1' ],
	'a near join of stored codes' => [ 1000,
		'SELECT row_number() OVER () AS n, a.id AS x, b.id AS y FROM code AS a '
		. 'JOIN code AS b ON hamming(a.code, b.code) <= 20' ],
	'near joins that begin again' => [ 200, 'SELECT n, c AS x, c AS y FROM generate_series(1, 400) AS n,
		LATERAL (SELECT count(*) AS c FROM small AS a JOIN small AS b ON hamming(a.si, b.si # n) <= 3 OFFSET 0)
			AS j' ]);
for my $what (sort keys %joins)
{
	my ($every, $query) = @{ $joins{$what} };
	like(ask($session, "SELECT string_agg(plan, '') FROM explained(\$\$$query\$\$) AS plan"), qr/Near Join/,
		"$what: its plan");
	$session->query('TRUNCATE seen');
	$session->query("SELECT count(CASE WHEN n % $every = 0 THEN look(n::integer) END), count(x), count(y) "
		. "FROM ($query) AS q");
	my $bytes = ask($session, "SELECT (max(bytes) FILTER (WHERE id = 2 * $every) - max(bytes) FILTER "
		. "(WHERE id = $every)) FROM seen");
	cmp_ok($bytes, '<', 50_000, "$what left $bytes bytes");
}
ask($session, 'SELECT join_fails(10)');
my $used = ask($session, 'SELECT sum(used_bytes) FROM pg_backend_memory_contexts');
is(ask($session, 'SELECT join_fails(200)'), 200, 'two hundred near joins fail');
my $more = ask($session, 'SELECT sum(used_bytes) FROM pg_backend_memory_contexts') - $used;
cmp_ok($more, '<', 50_000, "and left $more bytes");
is(ask($session, 'SELECT count(*) FROM pg_ls_tmpdir()'), 0, 'no temporary file is left');
$session->quit;

# EXPLAIN shows the memory that a near join took at its peak. A session first reads both sides and joins a few rows, so
# that it has what PostgreSQL takes for a query. Compiled expressions would take 60 MB.
$node->safe_psql('postgres', q{
	CREATE TABLE taken AS SELECT i AS id, hashint8extended(i, 1) AS si, hashint8extended(i, 2) AS other, repeat('x', 60)
		AS filler FROM generate_series(1, 200000) AS i;
	VACUUM ANALYZE taken});
for my $work_mem ('4MB', '64MB')
{
	for my $join ('SELECT count(*) FROM %1$s AS a JOIN %1$s AS b ON hamming(a.si, b.si) <= 2',
		'SELECT count(a.filler || b.filler) FROM %1$s AS a JOIN %1$s AS b ON hamming(a.si, b.si) <= 2',
		'SELECT count(*) FROM %1$s AS a JOIN %1$s AS b ON hamming(a.si, b.si) <= 2 AND hamming(a.other, b.other) <= 5',
		'SELECT count(*) FROM %1$s AS a WHERE EXISTS (SELECT FROM %1$s AS b '
			. 'WHERE hamming(a.si, b.si) <= 2 AND a.id <> b.id)')
	{
		my $fresh = session($node);
		$fresh->query("SET work_mem = '$work_mem'; SET jit = off; SET enable_nestloop = off; "
			. "SET max_parallel_workers_per_gather = 0");
		ask($fresh, 'SELECT count(filler) FROM taken');
		ask($fresh, sprintf $join, '(SELECT * FROM taken WHERE id < 5)');
		my $process = ask($fresh, 'SELECT pg_backend_pid()');
		my $before = status($process, 'VmHWM');
		my ($shown) = $fresh->query_safe('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ' . sprintf $join, 'taken')
			=~ /Near.*Peak Memory: (\d+) kB/s;
		my $took = status($process, 'VmHWM') - $before;
		cmp_ok($took, '<', 1.2 * $shown + 1024, sprintf "$work_mem, $shown kB shown, $took kB taken: $join", 'taken');
		cmp_ok($shown, '<', 1.2 * $took + 1024, 'nor is more shown than was taken');
		$fresh->quit;
	}
}

# A window keeps to its memory too. PostgreSQL sorts and stores its rows in work_mem, twice; connected rows take 4 bytes
# more.
for my $linkage ('leader', 'connected')
{
	my $fresh = session($node);
	$fresh->query("SET work_mem = '4MB'; SET hash_mem_multiplier = 1; SET jit = off; "
		. "SET max_parallel_workers_per_gather = 0");
	ask($fresh, 'SELECT count(filler) FROM taken');
	my $process = ask($fresh, 'SELECT pg_backend_pid()');
	my $sum = "SELECT sum(k) FROM (SELECT near_cluster(id, si, 2, '$linkage') OVER (ORDER BY id) AS k FROM %s) AS c";
	ask($fresh, sprintf $sum, '(SELECT * FROM taken WHERE id < 5) AS t');
	my $before = status($process, 'VmHWM');
	is(ask($fresh, sprintf $sum, 'taken'), 20000100000, "$linkage: no rows are near");
	my $took = status($process, 'VmHWM') - $before;
	cmp_ok($took, '<', (3 * 4 + 5) * 1024 + 800, "$linkage: $took kB taken");
	$fresh->quit;
}

done_testing();
