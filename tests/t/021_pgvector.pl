# pgvector, which also has a Hamming distance of bit strings, in the same schema, created before or after this
# extension. Skipped if it is not installed.

use strict;
use warnings;
use Test::More;
use SimhashTest;

my $node = start_node('pgvector');
my $installed = $node->safe_psql('postgres',
	q{SELECT default_version FROM pg_available_extensions WHERE name = 'vector'});
if ($installed eq '')
{
	plan skip_all => 'pgvector is not installed for this PostgreSQL';
}

# The plan of a query that takes an index if one has its operators.
sub plan_of
{
	my ($database, $query) = @_;
	return $node->safe_psql($database, "SET enable_seqscan = off; SET enable_sort = off; EXPLAIN (COSTS OFF) $query");
}

my $code = q{(SELECT code FROM image WHERE id = 7)};

for my $order ([ 'vector', 'simhash_pg' ], [ 'simhash_pg', 'vector' ])
{
	my ($first, $second) = @$order;
	my $database = "${first}_first";
	my $name = "$first, then $second";
	$node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE template0");
	$node->safe_psql($database, "CREATE EXTENSION $first; CREATE EXTENSION $second;");
	is($node->safe_psql($database,
		q{SELECT count(DISTINCT extnamespace) FROM pg_extension WHERE extname IN ('vector', 'simhash_pg')}),
		'1', "$name: both are in one schema");

	# The table of a user of pgvector, with its index.
	$node->safe_psql($database, q{
		CREATE TABLE image (id integer PRIMARY KEY, code bit(128), si bigint);
		INSERT INTO image SELECT i, ('x' || md5((i / 10)::text))::bit(128) # (i % 10)::bit(128), i
			FROM generate_series(1, 2000) AS i;
		CREATE INDEX by_vector ON image USING hnsw (code bit_hamming_ops);
		CREATE INDEX by_hamming ON image USING hamming (code);
		CREATE INDEX by_si ON image USING hamming (si);
		VACUUM ANALYZE image;});
	like(plan_of($database, "SELECT id FROM image ORDER BY code <~> $code LIMIT 5"), qr/by_vector\b/,
		"$name: <~> of bit is pgvector's");
	like(plan_of($database, "SELECT id FROM image ORDER BY code <^> $code LIMIT 5"), qr/by_hamming\b/,
		"$name: <^> of bit is ours");
	like(plan_of($database, "SELECT id FROM image WHERE hamming(code, $code) <= 3"), qr/by_hamming\b/,
		"$name: a condition on bit");
	like(plan_of($database, "SELECT id FROM image WHERE hamming(si, '42') <= 3"), qr/by_si\b/,
		"$name: a condition on bigint");
	like(plan_of($database, "SELECT id FROM image ORDER BY si <~> '42' LIMIT 5"), qr/by_si\b/,
		"$name: <~> of bigint is ours");
	is( $node->safe_psql($database, qq{
			SELECT count(*), count(*) FILTER (WHERE code <~> other = code <^> other
				AND hamming_distance(code, other) = hamming(code, other))
			FROM image, LATERAL (SELECT $code) AS o (other)}),
		'2000|2000', "$name: the same distances");
	is( $node->safe_psql($database,
		"SET enable_seqscan = off; SELECT array_agg(id ORDER BY id) FROM image WHERE hamming(code, $code) <= 2"),
		$node->safe_psql($database, "SET enable_indexscan = off; SET enable_bitmapscan = off;
			SELECT array_agg(id ORDER BY id) FROM image WHERE (code <~> $code) <= 2"),
		"$name: the same rows");

	my $dump = $node->basedir . "/$database.dump";
	$node->command_ok([ 'pg_dump', '--file', $dump, $node->connstr($database) ], "$name: dump");
	$node->safe_psql('postgres', "CREATE DATABASE restored_$database TEMPLATE template0");
	$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr("restored_$database") ],
		"$name: restore");
	like(plan_of("restored_$database", "SELECT id FROM image WHERE hamming(code, $code) <= 3"), qr/by_hamming\b/,
		"$name: restored");

	$node->safe_psql($database, "DROP EXTENSION $first CASCADE");
	is($node->safe_psql($database, "SELECT count(*) FROM image WHERE code " . ($second eq 'vector' ? '<~>' : '<^>')
		. " $code <= 2"),
		$node->safe_psql($database, "SELECT count(*) FROM image WHERE bit_count(code # $code) <= 2"),
			"$name: one goes, the other stays");
}

done_testing();
