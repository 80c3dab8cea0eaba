# Citus, which distributes the shards of a table over nodes. Each shard uses its own index, and all results are those of
# one table with all rows. One node has all shards, which shows the plans of several; then a shard is moved to a second
# node. Skipped if Citus is not installed.

use strict;
use warnings;
use Test::More;
use SimhashTest;

my $node = start_node('citus');
my $installed = $node->safe_psql('postgres',
	q{SELECT default_version FROM pg_available_extensions WHERE name = 'citus'});
if ($installed eq '')
{
	plan skip_all => 'Citus is not installed for this PostgreSQL';
}
note("Citus $installed");

# Citus creates the extension again, and creates it on other nodes too.
$node->safe_psql('postgres', 'DROP EXTENSION simhash_pg');
my $other = PostgreSQL::Test::Cluster->new('other');
$other->init(extra => [ '--encoding', 'UTF8', '--locale', 'C' ]);
$other->start;
load_libraries($_, 'citus'), $_->safe_psql('postgres', 'CREATE EXTENSION citus') for $node, $other;
my ($here, $there) = map { "'" . $_->host . "', " . $_->port } $node, $other;
my $code = '(hashint8extended(i % 900, 1)::bit(64) || hashint8extended(i % 900, 2)::bit(64))::bit(128) # (i % '
	. '32)::bit(128)';
$node->safe_psql('postgres', qq{
	CREATE EXTENSION simhash_pg;
	SELECT citus_set_coordinator_host($here), citus_set_node_property($here, 'shouldhaveshards', true);
	CREATE TABLE local (id bigint PRIMARY KEY, tenant integer, body text, si bigint, code bit(128));
	INSERT INTO local SELECT i, i % 30, 'text ' || i, hashint8extended(i % 900, 1) # (1::bigint << (i % 60)::integer),
		$code
		FROM generate_series(1, 9000) AS i;
	CREATE TABLE document (LIKE local INCLUDING ALL);
	SELECT create_distributed_table('document', 'id', shard_count => 3);
	CREATE TABLE tenant_document (tenant integer, id bigint, body text,
		si bigint GENERATED ALWAYS AS (simhash(body)) STORED, PRIMARY KEY (tenant, id));
	SELECT create_distributed_table('tenant_document', 'tenant', shard_count => 3);
	CREATE TABLE query (id bigint PRIMARY KEY, si bigint);
	INSERT INTO query SELECT id, si FROM local WHERE id % 300 = 7;
	CREATE TABLE fingerprint (id bigint PRIMARY KEY, si bigint);
	INSERT INTO fingerprint SELECT id, si FROM local;
	SELECT create_reference_table('query'), create_reference_table('fingerprint');
	CREATE TABLE aside AS SELECT id, si FROM local;
	CREATE INDEX aside_si ON aside USING hamming (si);});
$node->safe_psql('postgres', "CREATE INDEX ${_}_si ON $_ USING hamming (si)")
	for 'document', 'tenant_document', 'fingerprint';
$node->safe_psql('postgres',
	'CREATE INDEX document_code ON document USING hamming (code); INSERT INTO document SELECT * FROM local');
my $file = $node->basedir . '/rows';
$node->safe_psql('postgres', "COPY (SELECT tenant, id, body FROM local) TO '$file'");
$node->safe_psql('postgres',
	"COPY tenant_document (tenant, id, body) FROM '$file'; "
	. "VACUUM ANALYZE local, document, tenant_document, query, fingerprint");
is($node->safe_psql('postgres',
	'SELECT count(*) FROM tenant_document AS t JOIN local AS l USING (id) WHERE t.si = simhash(l.body)'),
	'9000', 'COPY reaches the shards, where generated columns are computed');

# Puts these libraries into the server, whatever it had before.
sub load_libraries
{
	my ($server, $libraries) = @_;
	$server->append_conf('postgresql.conf', join "\n", "shared_preload_libraries = '$libraries'", 'wal_level = logical',
		'max_wal_senders = 10', 'max_replication_slots = 10',
		"citus.local_hostname = '" . $server->host . "'", 'citus.enable_statistics_collection = off');
	$server->restart;
}

# The plan of a query with those of its shards. Reading a small shard as a whole is not allowed.
sub plan_of
{
	my ($query, $before) = @_;
	return $node->safe_psql('postgres', join '; ', 'SET citus.explain_all_tasks = on',
		'SET citus.propagate_set_commands = local',
		$before // (), 'BEGIN', 'SET LOCAL enable_seqscan = off', 'SET LOCAL enable_bitmapscan = off',
			'SET LOCAL enable_sort = off',
		"EXPLAIN (COSTS OFF, VERBOSE) $query", 'COMMIT');
}

my $bits = q{repeat('01', 64)::bit(128)};
my $first = '(SELECT si FROM query WHERE id = 307)';
my $pairs = q{SELECT string_agg(q || ' ' || d, ',' ORDER BY q, d) FROM (SELECT q.id AS q, d.id AS d FROM};
# What is asked, and what the plan of each of three shards has. TABLE is the distributed table, or the local one with
# the same rows. Of rows at the same distance any may be the nearest.
my @questions = (
	[ 'a radius', "SELECT array_agg(id ORDER BY id) FROM TABLE WHERE hamming(si, $first) <= 6",
		'Index Cond: \(\S*si <@ ' ],
	[ 'a radius of constants', 'SELECT array_agg(id ORDER BY id) FROM TABLE WHERE hamming(si, 42) <= 20',
		'Index Cond: \(\S*si <@ ' ],
	[ 'a similarity', "SELECT array_agg(id ORDER BY id) FROM TABLE WHERE hamming_similarity(si, $first) > 0.9",
		'Index Cond: \(\S*si <@ ' ],
	[ 'a radius of bits', "SELECT array_agg(id ORDER BY id) FROM TABLE "
		. "WHERE hamming(code, (SELECT code FROM local WHERE id = 77)) <= 3", 'Index Cond: \(\S*code <@ ' ],
	[ 'the nearest', 'SELECT array_agg(d) FROM (SELECT hamming(si, 42) AS d FROM TABLE ORDER BY d LIMIT 50) AS n',
		'Order By: \(\S*si <~> ' ],
	[ 'the nearest within a radius',
		'SELECT array_agg(d) FROM (SELECT hamming(si, 42) AS d FROM TABLE WHERE hamming(si, 42) <= 20 ORDER BY d '
		. 'LIMIT 9) AS n',
		'Index Cond: \(\S*si <@ .*\n.*Order By: \(\S*si <~> ' ],
	[ 'the nearest bits', "SELECT array_agg(d) FROM (SELECT hamming(code, $bits) AS d FROM TABLE ORDER BY d LIMIT 9) "
		. "AS n", 'Order By: \(\S*code <\^> ' ],
	[ 'a join with a reference table', "$pairs query AS q JOIN TABLE AS d ON hamming(d.si, q.si) <= 3) AS p",
		'Index Cond: \(\S*si <@ hamming_ball\(q\.si, 3' ],
	[ 'a broadcast', "WITH q AS MATERIALIZED (SELECT id, si FROM TABLE WHERE id < 30) $pairs q "
		. "JOIN TABLE AS d ON hamming(d.si, q.si) <= 3) AS p",
		'Index Cond: \(\S*si <@ hamming_ball\(intermediate_result\.si, 3' ],
	[ 'the nearest three of each', q{SELECT string_agg(q || ' ' || x, ',' ORDER BY q, x)
		FROM (SELECT q.id AS q, hamming(d.si, q.si) AS x,
		row_number() OVER (PARTITION BY q.id ORDER BY hamming(d.si, q.si)) AS place FROM query AS q
			JOIN TABLE AS d ON hamming(d.si, q.si) <= 3) AS n
		WHERE place <= 3}, 'Index Cond: \(\S*si <@ hamming_ball\(q\.si, 3' ],
	[ 'clusters of all', 'SELECT count(*), sum(id * keeper) FROM (SELECT id, near_cluster(id, si, 3) '
		. 'OVER (ORDER BY id) AS keeper FROM TABLE) AS c',
		'Query: SELECT id, id AS keeper' ],
	[ 'feature_weights', q{SELECT md5(feature_weights(body, 'word:1')) FROM TABLE},
		q{worker_(?:binary_)?partial_agg\('public\.feature_weights\(text,text\)'} ],
	[ 'simhash_agg', 'SELECT simhash_agg(body, 1) FROM TABLE',
		q{worker_(?:binary_)?partial_agg\('public\.simhash_agg\(text,double precision\)'} ],
	[ 'simhash_agg of weights',
		q{SELECT string_agg(tenant || ' ' || s, ',' ORDER BY tenant)
		FROM (SELECT tenant, simhash_agg(body, id) AS s FROM TABLE GROUP BY tenant) AS g},
		q{worker_(?:binary_)?partial_agg\('public\.simhash_agg\(text,double precision\)'} ]);
my %answers;
for my $question (@questions)
{
	my ($name, $query, $mark) = @$question;
	$answers{$name} = $node->safe_psql('postgres', $query =~ s/TABLE/local/gr);
	isnt($answers{$name}, '', "$name: there is an answer");
	my $plan = plan_of($query =~ s/TABLE/document/gr);
	is(scalar(() = $plan =~ /$mark/g), 3, "$name: on each of three shards") or diag($plan);
}

# Many rows of two tables: each shard has a near join with its copy of the reference table.
my $near = 'SELECT count(*), sum(d.id * f.id) FROM TABLE AS d JOIN fingerprint AS f ON hamming(d.si, f.si) <= 6 '
	. 'AND d.id <> f.id';
$answers{'a near join'} = $node->safe_psql('postgres', $near =~ s/TABLE/local/r);
my $near_plan = $node->safe_psql('postgres', 'SET citus.explain_all_tasks = on; EXPLAIN (COSTS OFF) '
	. $near =~ s/TABLE/document/r);
is(scalar(() = $near_plan =~ /Custom Scan \(Near Join\)/g), 3, 'a near join: on each of three shards')
	or diag($near_plan);
push @questions, [ 'a near join', $near ];

# Citus may ask the shards of its own node without a connection.
sub same_answers
{
	my ($when) = @_;
	for my $local ('on', 'off')
	{
		is($node->safe_psql('postgres', "SET citus.enable_local_execution = $local; $_->[1]" =~ s/TABLE/document/gr),
			$answers{ $_->[0] },
			"$_->[0]: the answer $when, local execution $local") for @questions;
	}
}
same_answers('of one node');

# Blocks are divided by their number, and each shard finds the pairs of its own.
$node->safe_psql('postgres', q{CREATE TABLE in_block (block integer, id bigint, si bigint);
	SELECT create_distributed_table('in_block', 'block', shard_count => 3);
	INSERT INTO in_block SELECT block, id, si FROM document, unnest(near_blocks(si, 3, 16)) AS block;});
my $in_blocks = 'SELECT count(*), sum(a * b) FROM (SELECT DISTINCT a.id AS a, b.id AS b
	FROM in_block AS a JOIN in_block AS b ON a.block = b.block AND hamming(a.si, b.si) <= 3 AND a.id < b.id) AS p';
my $of_all = 'SELECT count(*), sum(a.id * b.id) FROM local AS a JOIN local AS b ON hamming(a.si, b.si) <= 3 '
	. 'AND a.id < b.id';
is($node->safe_psql('postgres', $in_blocks), $node->safe_psql('postgres', $of_all), 'pairs of blocks');
my $blocks_plan = $node->safe_psql('postgres', "SET citus.explain_all_tasks = on; EXPLAIN (COSTS OFF) $in_blocks");
is(scalar(() = $blocks_plan =~ /Custom Scan \(Near Join\)/g), 3,
	'pairs of blocks: a near join on each of three shards') or diag($blocks_plan);

my (undef, undef, $told) = run_psql($node, 'postgres',
	'SET citus.log_local_commands = on; BEGIN; SELECT id FROM document WHERE id = 1;
	SELECT id FROM document WHERE hamming(si, 42) <= 6; COMMIT');
my $locally = 'executing the command locally';
my $of_shard = qr/SELECT id FROM public\.document_\d+ document WHERE public\.hamming_within/;
is(scalar(() = $told =~ /$locally: $of_shard/g), 3,
	'shards of this node are asked without a connection') or diag($told);

# A prepared statement is executed more often than the five times after which PostgreSQL tries a generic plan.
my $twice = join ";\n", 'PREPARE asked (bigint, integer) AS SELECT count(*) FROM document WHERE hamming(si, $1) <= $2',
	('EXECUTE asked(42, 20)') x 8,
		'PREPARE told (text) AS SELECT count(*) FROM document WHERE hamming(si, simhash($1)) <= 20',
		(q{EXECUTE told('text 7')}) x 8;
is($node->safe_psql('postgres', $twice), $node->safe_psql('postgres', $twice =~ s/document/local/gr),
	'prepared statements');
like(plan_of('EXECUTE asked(42, 6)', join ';', (split /;\n/, $twice)[ 0 .. 8 ]), qr/(?:Index Cond: \(\S*si <@ .*?){3}/s,
	'their plans');

# A tenant's rows are in one shard, with all that joins them.
my $tenant = plan_of('SELECT id FROM tenant_document WHERE tenant = 7 AND hamming(si, 42) <= 6');
like($tenant, qr/Task Count: 1\n.*Index Cond: \(\S*si <@ /s, 'a query of one tenant goes to its shard');
my $colocated = 'SELECT count(*), sum(a.id * b.id) FROM TENANT AS a '
	. 'JOIN TENANT AS b ON a.tenant = b.tenant AND a.id < b.id AND hamming(a.si, b.si) <= 9';
my $clusters = 'SELECT count(*), sum(id * keeper) FROM (SELECT id, near_cluster(id, si, 9) OVER (PARTITION BY tenant '
	. 'ORDER BY id) AS keeper FROM TENANT) AS c';
$node->safe_psql('postgres', 'CREATE TABLE local_tenant AS SELECT tenant, id, simhash(body) AS si FROM local');
for my $query ($colocated, $clusters)
{
	is($node->safe_psql('postgres', $query =~ s/TENANT/tenant_document/gr),
		$node->safe_psql('postgres', $query =~ s/TENANT/local_tenant/gr), "the same: $query");
	unlike(plan_of($query =~ s/TENANT/tenant_document/gr), qr/Distributed Subplan|read_intermediate_result/,
		'without moving rows');
}
like(plan_of('SELECT id FROM fingerprint WHERE hamming(si, 42) <= 6'), qr/Task Count: 1\n.*Index Cond: \(\S*si <@ /s,
	'a reference table');

# Statements that Citus refuses, as docs/more-than-one-machine.md says.
for my $refused (
	[ 'complex joins', 'SELECT 1 FROM document AS a JOIN document AS b ON hamming(a.si, b.si) <= 3' ],
	[ 'cannot push down', 'SELECT 1 FROM query AS q, LATERAL (SELECT id FROM document ORDER BY hamming(si, q.si) '
		. 'LIMIT 3) AS d' ],
	[ 'could not create distributed plan',
		"SET plan_cache_mode = force_generic_plan; PREPARE p (bigint) AS SELECT id FROM document "
		. "WHERE hamming(si, \$1) <= 6; EXECUTE p(42)" ],
	[ 'triggers are not supported',
		q{CREATE TRIGGER f BEFORE INSERT ON document FOR EACH ROW EXECUTE FUNCTION simhash_trigger('si', 'body')} ])
{
	my (undef, undef, $err) = run_psql($node, 'postgres', $refused->[1]);
	like($err, qr/ERROR:  $refused->[0]/, "refused: $refused->[0]");
}

$node->safe_psql('postgres', q{SET citus.enable_unsafe_triggers = on;
	CREATE TABLE filled (id bigint, body text, si bigint);
	SELECT create_distributed_table('filled', 'id', shard_count => 3);
	CREATE TRIGGER f BEFORE INSERT ON filled FOR EACH ROW EXECUTE FUNCTION simhash_trigger('si', 'body');
	INSERT INTO filled SELECT id, body FROM local LIMIT 100;});
is($node->safe_psql('postgres', 'SELECT count(*) FROM filled WHERE si = simhash(body)'), '100',
	'the trigger works where Citus is told to allow it');

# The second node gets the extension and reference tables by Citus, and a shard with its indexes.
$node->safe_psql('postgres', "SELECT citus_add_node($there); SELECT replicate_reference_tables('force_logical')");
is($other->safe_psql('postgres', q{SELECT extversion FROM pg_extension WHERE extname = 'simhash_pg'}),
	$node->safe_psql('postgres', q{SELECT extversion FROM pg_extension WHERE extname = 'simhash_pg'}),
		'the extension is made on the second node');
$node->safe_psql('postgres',
	qq{SELECT citus_move_shard_placement(min(shardid), $here, $there, 'force_logical') FROM citus_shards
	WHERE table_name = 'document'::regclass});
is($node->safe_psql('postgres',
	q{SELECT count(DISTINCT nodeport) FROM citus_shards WHERE table_name = 'document'::regclass}), '2',
	'a shard has moved');
same_answers('of two nodes');
my $on_shards = sub { "SELECT count(*), min(success::text), string_agg(DISTINCT result, ',') "
	. "FROM run_command_on_shards('document', \$\$$_[0]\$\$)" };
is($node->safe_psql('postgres',
	$on_shards->(q{SELECT count(*)
		FROM hamming_index_check(replace('%s', 'document', 'document_si')::regclass, true)})),
	'3|true|0', 'the index of each shard is sound');

# Citus creates a function on all nodes, but not after the shards were read by several connections at once.
my $rare_code = q{SELECT create_rare_code('rare', 'document', 'body')};
my (undef, undef, $refusal) = run_psql($node, 'postgres', $rare_code);
like($refusal, qr/ERROR:  cannot run function command because there was a parallel operation/,
	'create_rare_code is refused by default');
is($node->safe_psql('postgres', "SET citus.multi_shard_modify_mode = 'sequential'; $rare_code"), 'rare(text)',
	'create_rare_code with one connection at a time');
my $rare_clusters = sub { "SELECT count(*), sum(id * keeper) FROM (SELECT id, "
	. "near_cluster(id, si, 9, rare(body), 128) OVER (PARTITION BY tenant ORDER BY id) AS keeper FROM $_[0]) AS c" };
is($node->safe_psql('postgres', $rare_clusters->('tenant_document')),
	$node->safe_psql('postgres', $rare_clusters->('(SELECT id, tenant, body, simhash(body) AS si FROM local) AS l')),
	'its function on the shards');
unlike(plan_of($rare_clusters->('tenant_document')), qr/Distributed Subplan|read_intermediate_result/,
	'its function without moving rows');

# The libraries in both orders. Citus does not call the planner hook of a library that is loaded before it.
for my $libraries ('citus,simhash_pg', 'simhash_pg,citus')
{
	load_libraries($_, $libraries) for $node, $other;
	for my $name ('a radius', 'the nearest')
	{
		my ($question) = grep { $_->[0] eq $name } @questions;
		my $plan = plan_of($question->[1] =~ s/TABLE/document/gr);
		is(scalar(() = $plan =~ /$question->[2]/g), 3, "$libraries: $name by the indexes") or diag($plan);
	}
	like(plan_of('SELECT id FROM aside WHERE hamming(si, 42) <= 3'), qr/Index Cond: \(\S*si <@ /,
		"$libraries: a table that Citus does not shard");
	same_answers($libraries);
}

# The examples of the page, in a separate database.
$node->safe_psql('postgres', 'CREATE DATABASE reader TEMPLATE template0');
open my $page, '<:raw', "$ENV{DOCS}/docs/more-than-one-machine.md" or die "cannot read the page: $!";
my @examples = do { local $/; <$page> =~ /^```postgresql\n(.*?)^```\n/msg };
ok(@examples > 3, 'the page has examples for Citus');
for my $example (@examples)
{
	my ($status, $out, $err) = run_psql($node, 'reader', $example);
	is($status, 0, 'an example of the page runs') or diag($example . $err);
}

$node->safe_psql('postgres',
	'DROP TABLE document, tenant_document, query, fingerprint, filled, aside; DROP FUNCTION rare; DROP EXTENSION '
	. 'simhash_pg');
is($other->safe_psql('postgres', q{SELECT count(*) FROM pg_extension WHERE extname = 'simhash_pg'}), '0',
	'the extension is dropped everywhere');
done_testing();
