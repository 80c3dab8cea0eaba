# Tables on other servers, with postgres_fdw: three databases represent three servers. Conditions and orders are sent to
# the other server, which uses its index, and all results are those of one table with all rows.

use strict;
use warnings;
use Test::More;
use SimhashTest;

my $node = start_node('postgres_fdw');
my $code = q{(hashint8extended(i % 900, 1)::bit(64) || hashint8extended(i % 900, 2)::bit(64))::bit(128) #
	(i % 32)::bit(128)};
my $rows = qq{SELECT i, hashint8extended(i % 900, 1) # (1::bigint << (i % 60)::integer), $code, 'text ' || i
	FROM generate_series(1, 9000) AS i};

$node->safe_psql('postgres', qq{
	CREATE EXTENSION postgres_fdw;
	CREATE TABLE document (id bigint, si bigint, code bit(128), body text) PARTITION BY HASH (id);
	CREATE TABLE local (id bigint, si bigint, code bit(128), body text);
	INSERT INTO local $rows;
	CREATE TABLE query AS SELECT id AS n, si FROM local WHERE id % 300 = 7;
	CREATE SERVER incapable FOREIGN DATA WRAPPER postgres_fdw OPTIONS (dbname 'shard_0');
	CREATE USER MAPPING FOR CURRENT_USER SERVER incapable;
	CREATE FOREIGN TABLE incapable (id bigint, si bigint, code bit(128)) SERVER incapable OPTIONS
		(table_name 'document');
	VACUUM ANALYZE;});
for my $i (0 .. 2)
{
	$node->safe_psql('postgres', "CREATE DATABASE shard_$i");
	$node->safe_psql("shard_$i", q{
		CREATE EXTENSION simhash_pg;
		CREATE TABLE document (id bigint PRIMARY KEY, si bigint, code bit(128), body text);
		CREATE INDEX by_si ON document USING hamming (si);
		CREATE INDEX by_code ON document USING hamming (code);});
	$node->safe_psql('postgres', qq{
		CREATE SERVER shard_$i FOREIGN DATA WRAPPER postgres_fdw
			OPTIONS (dbname 'shard_$i', extensions 'simhash_pg', fetch_size '10');
		CREATE USER MAPPING FOR CURRENT_USER SERVER shard_$i;
		CREATE FOREIGN TABLE document_$i PARTITION OF document FOR VALUES WITH (MODULUS 3, REMAINDER $i)
			SERVER shard_$i OPTIONS (table_name 'document');});
}
$node->safe_psql('postgres', 'INSERT INTO document SELECT * FROM local; ANALYZE document;');
$node->safe_psql("shard_$_", 'VACUUM ANALYZE document') for 0 .. 2;
cmp_ok($node->safe_psql("shard_$_", 'SELECT count(*) FROM document'), '>', 2500, "shard $_ has its rows") for 0 .. 2;

# The statements that a query sends to the shards.
sub remote_sql
{
	my ($before, $query) = @_;
	my $plan = $node->safe_psql('postgres', "$before; EXPLAIN (VERBOSE, COSTS OFF) $query");
	return $plan =~ /Remote SQL: (.*)/g;
}

# The plan of a remote statement where it is executed. Its parameters are given as postgres_fdw gives them, untyped.
sub plan_there
{
	my ($statement, @values) = @_;
	my $execute = @values ? 'EXECUTE sent(' . join(', ', map { "'$_'" } @values) . ')' : 'EXECUTE sent';
	return $node->safe_psql('shard_1',
		"PREPARE sent AS $statement; SET enable_seqscan = off; SET enable_bitmapscan = off; "
		. "SET enable_sort = off; EXPLAIN (COSTS OFF) $execute");
}

my $bits = q{repeat('01', 64)::bit(128)};
my $literal = q{B'} . '01' x 64 . q{'::bit(128)};
my $generic = 'SET plan_cache_mode = force_generic_plan';
my $nearest = 'ORDER BY (si OPERATOR(public.<~>) 42::bigint) ASC NULLS LAST';
my $within = sub { "WHERE (public.hamming_within($_[0]))" };
# What is asked, what is sent, the index condition or order there; for queries with parameters, how they are declared
# and which values they have.
my @shapes = (
	[ 'a radius', 'SELECT id FROM document WHERE hamming(si, 42) <= 6', $within->('si, 42::bigint, 6'), 'si <@' ],
	[ 'an operator', 'SELECT id FROM document WHERE si <~> 42 < 7', $within->('si, 42::bigint, 6'), 'si <@' ],
	[ 'a similarity', 'SELECT id FROM document WHERE hamming_similarity(si, 42) > 0.9', $within->('si, 42::bigint, 6'),
		'si <@' ],
	[ 'a subquery', 'SELECT id FROM document WHERE hamming(si, (SELECT si FROM query WHERE n = 307)) <= 6',
		$within->('si, $1::bigint, 6'), 'si <@', undef, 42 ],
	[ 'a count', 'SELECT count(*) FROM document WHERE hamming(si, 42) <= 6', $within->('si, 42::bigint, 6'), 'si <@' ],
	[ 'a deletion', 'DELETE FROM document WHERE hamming(si, 42) <= 6', $within->('si, 42::bigint, 6'), 'si <@' ],
	[ 'the nearest', 'SELECT id FROM document ORDER BY hamming(si, 42) LIMIT 5', $nearest, 'si <~>' ],
	[ 'the most similar', 'SELECT id FROM document ORDER BY hamming_similarity(si, 42) DESC NULLS LAST LIMIT 5',
		$nearest, 'si <~>' ],
	[ 'the nearest within a radius',
		'SELECT id FROM document WHERE hamming(si, 42) <= 20 ORDER BY hamming(si, 42) LIMIT 5',
		$within->('si, 42::bigint, 20') . " $nearest", 'si <@' ],
	[ 'a radius of bits', "SELECT id FROM document WHERE hamming(code, $bits) < 12", $within->("code, $literal, 11"),
		'code <@' ],
	[ 'the nearest bits', "SELECT id FROM document ORDER BY hamming(code, $bits) LIMIT 5",
		"ORDER BY (code OPERATOR(public.<^>) $literal) ASC NULLS LAST", 'code <^>' ],
	[ 'parameters', 'SELECT id FROM document WHERE hamming(si, $1) <= $2',
		$within->('si, $1::bigint, $2::integer'), 'si <@', 'bigint, integer', 42, 6 ],
	[ 'a numeric parameter', 'SELECT id FROM document WHERE hamming(si, 42) < $1',
		$within->('si, 42::bigint, public.hamming_radius_lt($1::numeric)'), 'si <@', 'numeric', 6.5 ],
	[ 'a similarity as parameter', 'SELECT id FROM document WHERE hamming_similarity(si, 42) >= $1',
		$within->('si, 42::bigint, public.hamming_radius_ge($1::double precision, 64)'), 'si <@', 'float8', 0.9 ],
	[ 'a parameter of bits', 'SELECT id FROM document WHERE hamming(code, $1) <= 11',
		$within->('code, $1::"bit", 11'), 'code <@', 'bit(128)', '01' x 64 ],
	[ 'the nearest to a parameter', 'SELECT id FROM document ORDER BY hamming(si, $1) LIMIT 5',
		'ORDER BY (si OPERATOR(public.<~>) $1::bigint) ASC NULLS LAST', 'si <~>', 'bigint', 42 ],
	[ 'a text in a subquery', 'SELECT id FROM document WHERE hamming(si, (SELECT simhash($1))) <= 6',
		$within->('si, $1::bigint, 6'), 'si <@', 'text', 42 ],
	[ 'a join in LATERAL', 'SELECT n, id FROM query AS q, LATERAL (SELECT id FROM document '
		. 'WHERE hamming(si, q.si) <= 3 OFFSET 0) AS d',
		$within->('si, $1::bigint, 3'), 'si <@', undef, 42 ],
	[ 'the nearest in LATERAL',
		'SELECT n, id FROM query AS q, LATERAL (SELECT id FROM document ORDER BY hamming(si, q.si) LIMIT 3) AS d',
		'ORDER BY (si OPERATOR(public.<~>) $1::bigint) ASC NULLS LAST', 'si <~>', undef, 42 ]);
for my $shape (@shapes)
{
	my ($name, $query, $sent, $index, $types, @values) = @$shape;
	my @asked = $types
	  ? remote_sql("$generic; PREPARE asked($types) AS $query", 'EXECUTE asked(' . join(', ', map { "'$_'" } @values)
	  . ')')
	  : remote_sql('SET jit = off', $query);
	is(scalar(grep { /\Q$sent\E$/ } @asked), 3, "$name: each shard is sent it") or diag(join "\n", @asked);
	my ($statement) = grep { /\Q$sent\E$/ } @asked;
	like(plan_there($statement, @values),
		qr/Index (?:Only )?Scan using \w+ on document\n.*(?:Index Cond|Order By): \(\Q$index\E /s,
		"$name: the index there finds it")
	  if $statement;
}

# The answers, from the shards and from one table. Of rows at the same distance any may be the nearest.
my @questions = (
	'SELECT array_agg(id ORDER BY id) FROM TABLE WHERE hamming(si, (SELECT si FROM query WHERE n = 307)) <= 6',
	'SELECT array_agg(id ORDER BY id) FROM TABLE WHERE hamming_similarity(si, (SELECT si FROM query WHERE n = 7)) >= '
		. '0.95',
	"SELECT array_agg(id ORDER BY id) FROM TABLE WHERE hamming(code, (SELECT code FROM local WHERE id = 77)) <= 3",
	'SELECT array_agg(d) FROM (SELECT hamming(si, 42) AS d FROM TABLE ORDER BY d LIMIT 50) AS n',
	'SELECT array_agg(d) FROM (SELECT hamming(si, 42) AS d FROM TABLE WHERE hamming(si, 42) <= 20 ORDER BY d '
		. 'LIMIT 50) AS n',
	"SELECT array_agg(d) FROM (SELECT hamming(code, $bits) AS d FROM TABLE ORDER BY d LIMIT 50) AS n",
	'SELECT array_agg((n, id) ORDER BY n, id) FROM query AS q JOIN TABLE AS d ON hamming(d.si, q.si) <= 3',
	'SELECT array_agg((n, id) ORDER BY n, id) FROM query AS q, LATERAL (SELECT id FROM TABLE '
		. 'WHERE hamming(si, q.si) <= 3 OFFSET 0) AS d',
	'SELECT array_agg((n, x) ORDER BY n, x) FROM query AS q, LATERAL (SELECT hamming(si, q.si) AS x FROM TABLE '
		. 'ORDER BY x LIMIT 12) AS d',
	'SELECT simhash_agg(body, 1) FROM TABLE',
	'SELECT array_agg((id, keeper) ORDER BY id) FROM (SELECT id, near_cluster(id, si, 3) OVER (ORDER BY id) '
		. 'AS keeper FROM TABLE) AS c');
for my $question (@questions)
{
	my ($shards, $one) = map { $node->safe_psql('postgres', $question =~ s/TABLE/$_/r) } 'document', 'local';
	isnt($one, '', "something is found: $question");
	is($shards, $one, 'the shards answer the same');
}

# Conditions that are not sent, and those that are sent instead.
is_deeply([ remote_sql("$generic; PREPARE asked(text) AS SELECT id FROM document WHERE hamming(si, simhash(\$1)) <= 6",
	q{EXECUTE asked('a')}) ],
	[ ('SELECT id, si FROM public.document') x 3 ], 'simhash of a parameter in a generic plan: everything is fetched');
is_deeply([ remote_sql('SET jit = off',
	'SELECT n, id FROM query AS q JOIN document AS d ON hamming(d.si, q.si) <= 3') ],
	[ ('SELECT id, si FROM public.document') x 3 ], 'a plain join: everything is fetched');
like($node->safe_psql('postgres',
	'EXPLAIN (VERBOSE, COSTS OFF) SELECT n, id FROM query AS q LEFT JOIN document AS d ON hamming(d.si, q.si) <= 3 '
	. 'AND d.id <> n'),
	qr/Custom Scan \(Near \w+ Join\).*Remote SQL: SELECT id, si FROM public\.document$/ms,
		'and joined here, by a near join');
is_deeply([ remote_sql('SET jit = off', 'SELECT id FROM incapable WHERE hamming(si, 42) <= 6') ],
	['SELECT id, si FROM public.document'], 'without the option extensions: everything is fetched');
is_deeply([ remote_sql('SET jit = off', 'SELECT id FROM incapable WHERE bit_count((si # 42)::bit(64)) <= 6') ],
	['SELECT id FROM public.document WHERE ((bit_count((si # 42::bigint)::bit(64)) <= 6))'], 'but bit_count is sent');
$node->safe_psql('postgres', join '; ',
	map { "ALTER SERVER shard_$_ OPTIONS (ADD use_remote_estimate 'true')" } 0 .. 2);
is_deeply([ remote_sql('SET jit = off',
	'SELECT n, id FROM query AS q JOIN document AS d ON hamming(d.si, q.si) <= 3 WHERE n = 307') ],
	[ ('SELECT id, si FROM public.document WHERE (public.hamming_within(si, $1::bigint, 3))') x 3 ],
	'a plain join where the other server is asked for its estimates');
is($node->safe_psql('postgres', $questions[6] =~ s/TABLE/document/r),
	$node->safe_psql('postgres', $questions[6] =~ s/TABLE/local/r), 'the same pairs');

# A join of many rows is a local near join of the rows that all servers send. Tables of one server can be joined there.
$node->safe_psql('postgres', join '; ', map { "ALTER SERVER shard_$_ OPTIONS (DROP use_remote_estimate)" } 0 .. 2);
my $near = 'SELECT count(*) FROM local AS a JOIN TABLE AS b ON hamming(a.si, b.si) <= 3 '
	. 'AND hamming(a.code, b.code) <= 40';
like($node->safe_psql('postgres', 'SET jit = off; EXPLAIN (COSTS OFF) ' . $near =~ s/TABLE/document/r),
	qr/Custom Scan \(Near Join\)\n.*Near Cond.* AND .*\n(.*\n)*.*Append\n.*Foreign Scan on document_0/,
		'a join of many rows is a near join here');
my ($there, $here) = map { $node->safe_psql('postgres', $near =~ s/TABLE/$_/r) } 'document', 'local';
is($there, $here, 'which finds the same pairs');
cmp_ok($there, '>', 9000, 'and not only those of a row with itself');
$node->safe_psql('shard_0', 'CREATE TABLE few AS SELECT * FROM document WHERE id < 50');
$node->safe_psql('postgres',
	'CREATE FOREIGN TABLE few (id bigint, si bigint) SERVER shard_0; '
	. 'ALTER SERVER shard_0 OPTIONS (ADD use_remote_estimate \'true\')');
is_deeply([ remote_sql('SET jit = off; SET simhash_pg.enable_near_join = off; SET enable_nestloop = off',
	'SELECT a.id, b.id FROM few AS a JOIN document_0 AS b ON hamming(a.si, b.si) <= 3') ],
	['SELECT r1.id, r2.id FROM (public.few r1 INNER '
		. 'JOIN public.document r2 ON ((public.hamming_within(r1.si, r2.si, 3))))'],
		'tables of one server can be joined there');

# Blocks of near pairs: each server has some of them, and joins its own.
for my $number (0 .. 2)
{
	$node->safe_psql("shard_$number", 'CREATE TABLE in_block (block integer, id bigint, si bigint)');
}
$node->safe_psql('postgres', join '; ',
	'CREATE TABLE in_block (block integer, id bigint, si bigint) PARTITION BY HASH (block)',
	(map { "CREATE FOREIGN TABLE in_block_$_ PARTITION OF in_block FOR "
		. "VALUES WITH (MODULUS 3, REMAINDER $_) SERVER shard_$_ OPTIONS (table_name 'in_block')" } 0 .. 2),
	'INSERT INTO in_block SELECT block, id, si FROM document, unnest(near_blocks(si, 3, 16)) AS block');
$node->safe_psql("shard_$_", 'ANALYZE in_block') for 0 .. 2;
my $in_blocks = 'SELECT DISTINCT a.id, b.id FROM in_block AS a '
	. 'JOIN in_block AS b ON a.block = b.block AND hamming(a.si, b.si) <= 3 AND a.id < b.id';
$node->safe_psql('postgres', join '; ', map { "ALTER SERVER shard_$_ OPTIONS (ADD use_remote_estimate 'true')" } 1, 2);
# Rows of few columns are joined faster here, so the joins here are off.
my $no_joins = join '; ', 'SET jit = off', 'SET simhash_pg.enable_near_join = off',
	map { "SET enable_$_ = off" } qw(hashjoin mergejoin nestloop);
my @joins = remote_sql("$no_joins; SET enable_partitionwise_join = on", $in_blocks);
is(scalar(grep { /r\w+ INNER JOIN public\.in_block r\w+ ON .*hamming_within/ } @joins), 3,
	'blocks can be joined where they are') or diag(join "\n", @joins);
is($node->safe_psql('postgres',
	"$no_joins; SET enable_partitionwise_join = on; SELECT count(*), sum(a * b) FROM ($in_blocks) AS p (a, b)"),
	$node->safe_psql('postgres',
		'SELECT count(*), sum(a.id * b.id) FROM local AS a JOIN local AS b ON hamming(a.si, b.si) <= 3 '
		. 'AND a.id < b.id'),
	'and have the pairs of all rows');

# Conditions on sketches are sent as they are written; what stays PostgreSQL's own needs no extension on the other
# server.
$node->safe_psql('shard_0', q{CREATE TABLE tagged (id bigint, tags bigint[])});
$node->safe_psql('postgres', q{CREATE FOREIGN TABLE tagged (id bigint, tags bigint[]) SERVER shard_0});
like((remote_sql('SELECT hamming(1, 2)', "SELECT FROM tagged WHERE $_->[0]"))[0], $_->[1], "$_->[0] is sent")
	for [ q{sketch_overlaps(tags, '{7}')}, qr/WHERE \(public\.sketch_overlaps\(tags, '\{7\}'(::bigint\[\])?\)\)/ ],
	[ q{tags && '{7}'}, qr/WHERE \(\(tags && '\{7\}'(::bigint\[\])?\)\)/ ];

# An aggregate is sent if it is grouped by the key that partitions the table.
my @aggregates = remote_sql('SET enable_partitionwise_aggregate = on',
	'SELECT id, simhash_agg(body, 1) FROM document GROUP BY id');
my $weight = qr/(1::double precision|'1'::double precision)/;
my $by_key = qr/^SELECT id, public\.simhash_agg\(body, $weight\) FROM public\.document GROUP BY /;
is(scalar(grep { $_ =~ $by_key } @aggregates), 3, 'simhash_agg by the key of the partitions')
	or diag(join "\n", @aggregates);

done_testing();
