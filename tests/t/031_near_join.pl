# Near joins with little memory return the same rows as a nested loop. Near joins that end early, because they are
# canceled in one of their stages, or because a worker fails or is killed, leave nothing behind, and the next join is
# right.

use strict;
use warnings;
use Test::More;
use SimhashTest;
use PostgreSQL::Test::Utils;

my $node = start_node('near_join');
$node->append_conf('postgresql.conf', "restart_after_crash = on\nautovacuum = off");
$node->restart;
# Functions that sleep when a row is read, or when a value is computed.
$node->safe_psql('postgres', q{
	CREATE TABLE scattered AS SELECT i AS id, hashint8extended(i, 1) AS si FROM generate_series(1, 5000) AS i;
	CREATE TABLE consecutive AS SELECT i AS id, i::bigint AS si FROM generate_series(1, 60000) AS i;
	CREATE FUNCTION waits(id integer) RETURNS boolean LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$
	BEGIN
		PERFORM pg_sleep(CASE id WHEN 3000 THEN 1000 ELSE 0 END);
		RETURN true;
	END $$;
	VACUUM ANALYZE;});

my $settings = q{SET enable_nestloop = off; SET max_parallel_workers_per_gather = 0; SET work_mem = '64kB';
	SET hash_mem_multiplier = 1; SET application_name = 'joins';};
my $sleeping = '(SELECT * FROM scattered WHERE waits(id) OFFSET 0)';
# The stages in which a join is canceled: for each of them a query that remains in it, and a sign that it does.
my $sleeps = q{wait_event = 'PgSleep'};
my $runs = q{state = 'active' AND query_start < clock_timestamp() - interval '0.3 s'};
my @stages = (
	[ 'reading the inner side',
		"SELECT count(*) FROM scattered AS a LEFT JOIN $sleeping AS b ON hamming(a.si, b.si) <= 3", $sleeps ],
	[ 'reading a batch', "SELECT count(*) FROM $sleeping AS a LEFT JOIN scattered AS b ON hamming(a.si, b.si) <= 3",
		$sleeps ],
	[ 'finding pairs', 'SELECT count(*) FROM consecutive AS a JOIN consecutive AS b ON hamming(a.si, b.si) <= 40',
		$runs ],
	[ 'a recheck', 'SELECT count(*) FROM consecutive AS a JOIN consecutive AS b ON hamming(a.si, b.si) <= 40 '
		. 'AND hamming(a.si # -65536, b.si) <= 47', $runs ],
	[ 'further conditions', 'SELECT count(*) FROM scattered AS a JOIN scattered AS b ON hamming(a.si, b.si) <= 3 '
		. 'AND waits(a.id + b.id - b.id)', $sleeps ],
	[ 'unmatched rows', 'SELECT count(*) FROM scattered AS a LEFT JOIN scattered AS b '
		. 'ON hamming(a.si, b.si # 5) <= 1 WHERE waits(a.id + coalesce(b.id, 0))', $sleeps ],
	[ 'unmatched inner rows', 'SELECT count(*) FROM scattered AS a '
		. 'FULL JOIN scattered AS b ON hamming(a.si, b.si # 5) <= 1 WHERE waits(b.id + coalesce(a.id, 0))', $sleeps ]);
my $right = $node->safe_psql('postgres',
	'SET simhash_pg.enable_near_join = off; SELECT count(*) FROM scattered AS a '
	. 'JOIN scattered AS b ON hamming(a.si, b.si) <= 16 AND a.id < 200');
my $session = session($node, on_error_stop => 0);
$session->query($settings);
for my $stage (@stages)
{
	my ($name, $query, $there) = @$stage;
	like(ask($session, "EXPLAIN (COSTS OFF) $query"), qr/Custom Scan \(Near \w*/, "$name: its plan");
	for my $how ('cancel', 'timeout')
	{
		$session->query("SET statement_timeout = '200ms'") if $how eq 'timeout';
		$session->query_until(qr/begun/, "\\echo begun\n$query;\n");
		if ($how eq 'cancel')
		{
			ok($node->poll_query_until('postgres',
				"SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'joins' AND state = 'active' "
				. "AND $there"), "$name: it is there");
			$node->safe_psql('postgres',
				q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'joins'});
		}
		$session->query('RESET statement_timeout');
		my $expected = $how eq 'cancel' ? 'due to user request' : 'due to statement timeout';
		like($session->{stderr}, qr/canceling statement $expected/, "$name: $how comes through");
		$session->{stderr} = '';
		is(ask($session, 'SELECT count(*) FROM pg_ls_tmpdir()'), 0, 'no temporary file is left');
	}
}
is(ask($session, 'SELECT count(*) FROM scattered AS a JOIN scattered AS b ON hamming(a.si, b.si) <= 16 AND a.id < 200'),
	$right, 'the session goes on joining');
$session->quit;

# With too little memory the sides are divided into files: the same rows as of a nested loop without a near join.
my $seed = $ENV{SEED} || time;
note "SEED=$seed";
srand $seed;
my %near = (bigint => 'hamming(a.si, b.si) <= %d', bit => 'hamming(a.look, b.look) <= %d',
	varbit => 'hamming(a.free, b.free) <= %d');
my %counted = (bigint => 'bit_count((a.si # b.si)::bit(64)) <= %d', bit => 'bit_count(a.look # b.look) <= %d',
	varbit => 'bit_count(a.free # b.free) <= %d');
my $left = 'SELECT a.id, b.id AS other, md5(b.note) AS note FROM joined_a AS a LEFT JOIN joined_b AS b ON %s';
my $missing = 'SELECT NULL, b.id, md5(b.note) FROM joined_b AS b WHERE NOT EXISTS (SELECT FROM joined_a AS a WHERE %s)';
# Without a near join, PostgreSQL has no full join on such a condition.
my @kinds = (
	(map { [ $_, $_ ] } 'SELECT a.id, b.id AS other, md5(b.note) AS note FROM joined_a AS a JOIN joined_b AS b ON %s',
		$left,
		$left =~ s/LEFT/RIGHT/r,
		'SELECT a.id, md5(a.note) AS note FROM joined_a AS a WHERE EXISTS (SELECT FROM joined_b AS b WHERE %s)',
		'SELECT a.id, md5(a.note) AS note FROM joined_a AS a WHERE NOT EXISTS (SELECT FROM joined_b AS b WHERE %s)'),
	# A full join has no other plan, so it is served for strings of unknown length with a further condition as well.
	(map { [ $left =~ s/LEFT/FULL/r, "$left UNION ALL $missing", @$_ ] } [], [ 'varbit', ' AND a.grp <> b.grp' ]));
my %divided = map { $_ => 0 } my @memories = ('64kB', '256kB', '1MB', '64MB');
# Workers divide both sides for each other. A worker that starts late has nothing to read.
my $shared = q{SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0;};
my $shared_joins = 0;
my $processes = 0;
for (1 .. $ENV{ROUNDS} || 3)
{
	# Two tables, or one with itself. In some of them, most codes are in one crowd.
	my $second = $_ == 1 || int(rand 2) ? 'joined_a' : 'joined_c';
	my $sql = 'DROP TABLE IF EXISTS joined_a, joined_c CASCADE;';
	for my $table ('joined_a', 'joined_c')
	{
		my $rows = $_ == 1 ? 2500 : 500 + int(rand 2500);
		my $centres = 20 + int(rand 300);
		my $flips = 1 + int(rand 12);
		my $width = int(rand 2) ? 8 : 1000;
		my $part = 5 + int(rand 9);
		my $crowd = $_ == 1 || int(rand 2) ? 70 : 0;
		$sql .= qq{CREATE TABLE $table AS SELECT *, look::varbit AS free FROM (
			SELECT i AS id, i % 7 AS grp, repeat('x', i % $width) AS note,
				CASE WHEN i % 29 = 0 THEN NULL WHEN i % $part = 0 THEN 1 WHEN i % $part = 1 THEN hashint8extended(i, 0)
					WHEN i % 100 < $crowd THEN 77 # (1::bigint << (i % 61)) # (1::bigint << (i % 47)) #
						(1::bigint << (i % 3))
					ELSE hashint8extended(i % $centres, 1) # (1::bigint << (i % 63) >> (i % $flips)) END AS si,
				CASE WHEN i % 31 > 0 THEN hashint8extended(i % $centres, 2)::bit(64) ||
					(hashint8extended(i % $centres, 3) # (i % 64))::bit(64)
					|| (i % $flips)::bit(20) END::bit(148) AS look
			FROM generate_series(1, $rows) AS i) AS t; ANALYZE $table;};
	}
	$node->safe_psql('postgres', "$sql CREATE VIEW joined_b AS TABLE $second;");
	for my $kind (@kinds)
	{
		my $type = $kind->[2] // ('bigint', 'bit')[ rand 2 ];
		my $further = $kind->[3] // (int(rand 2) ? ' AND a.grp <> b.grp' : '');
		# At radius 0 the condition is an equality, which PostgreSQL joins itself.
		my $radius = 1 + int(rand($type eq 'bigint' ? 8 : 19));
		# A condition of WHERE is tested after an outer join.
		my $where = int(rand 2) ? ' WHERE coalesce(s.id, 0) % 3 <> 1' : '';
		my ($query, $by_loop) = map {
			my $from = $kind->[$_];
			my $condition = sprintf(($_ ? \%counted : \%near)->{$type}, $radius) . $further;
			'SELECT count(*), sum(hashtextextended(s::text, 0)) FROM (' . ($from =~ s/%s/$condition/gr)
				. ") AS s$where";
		} 0, 1;
		my $expected = $node->safe_psql('postgres', "SET enable_hashjoin = off; $by_loop");
		for my $memory (@memories)
		{
			my $set = "SET enable_nestloop = off; SET max_parallel_workers_per_gather = 0; "
				. "SET hash_mem_multiplier = 1; SET work_mem = '$memory';";
			is($node->safe_psql('postgres', "$set $query"), $expected, "$memory: $query");
			my $plan = $node->safe_psql('postgres', "$set EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $query");
			like($plan, qr/Custom Scan \(Near \w*/, 'by a near join');
			$divided{$memory}++ if $plan =~ /Batches: (\d+)/ && $1 > 1;
			$set .= $shared . (int(rand 2) ? '' : 'SET parallel_leader_participation = off;');
			is($node->safe_psql('postgres', "$set $query"), $expected, "$memory, workers: $query");
			$plan = $node->safe_psql('postgres', "$set EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $query");
			$shared_joins++ if $plan =~ /Parallel Custom Scan \(Near/;
			$processes += $1 - 1 if $plan =~ /Processes: (\d)/;
		}
	}
}
# A process that begins late divides both sides as the others do, although they have matched rows meanwhile.
my $semi = 'SELECT count(*), sum(a.id) FROM joined_a AS a '
	. 'WHERE EXISTS (SELECT FROM joined_b AS b WHERE hamming(a.look, b.look) <= 3 AND a.grp <> b.grp)';
my %answers = map { $_ => 1 } split /\n/, $node->safe_psql('postgres',
	"SET enable_nestloop = off; SET work_mem = '256kB'; SET hash_mem_multiplier = 1; $shared" . "$semi;" x 60);
is_deeply([ keys %answers ], [ $node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0; $semi") ],
	'a semi join of workers has one answer');
cmp_ok($divided{'64kB'}, '>', 0, 'joins with little memory are divided');
is($divided{'64MB'}, 0, 'none is with enough');
cmp_ok($shared_joins, '>', 0, "workers divide both sides: $shared_joins joins");
cmp_ok($processes, '>', 0, "and join them together: $processes more processes");
# However often the rows exceed memory, each partition is searched a few times: four loads of a side at most are in one.
$node->safe_psql('postgres',
	'CREATE TABLE long_row AS SELECT id, si, repeat(md5(id::text), 12) AS filler FROM scattered');
my ($batches, $searches, $memory) = $node->safe_psql('postgres', "$settings EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF)
	SELECT count(a.filler || b.filler) FROM long_row AS a
		JOIN long_row AS b ON hamming(a.si, b.si) <= 3") =~ /Batches: (\d+)\s+Searches: (\d+).*Peak Memory: (\d+)/s;
cmp_ok($batches, '>', 100, "64 kB divide 2 MB into $batches partitions");
cmp_ok($searches, '<=', 16 * $batches, "which are searched $searches times");
cmp_ok($memory, '<', 1000, "in $memory kB, also while the division is planned");
my (undef, undef, $limited) = run_psql($node, 'postgres',
	"$settings SET temp_file_limit = '100kB'; SELECT count(*) FROM consecutive AS a "
	. "LEFT JOIN consecutive AS b ON hamming(a.si, b.si) <= 0 AND a.id <> b.id;");
like($limited, qr/temporary file size exceeds/, 'temp_file_limit ends a join');
# PostgreSQL counts the temporary files.
my $temporary = q{SELECT temp_files, temp_bytes FROM pg_stat_database WHERE datname = 'postgres'};
my ($files, $bytes) = split /\|/, $node->safe_psql('postgres', $temporary);
my $filed = 'SELECT count(*) FROM scattered AS a JOIN scattered AS b ON hamming(a.si, b.si) <= 3';
my $offset = -s $node->logfile;
like($node->safe_psql('postgres',
	"$settings SET log_temp_files = 0; EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) $filed"),
	qr/Custom Scan \(Near Join\).*\n(?: +(?!->).*\n)* +Buffers: .*temp read=[1-9]\d* written=[1-9]/,
		'EXPLAIN (BUFFERS) has the temporary blocks of the node');
like(slurp_file($node->logfile, $offset), qr/LOG:  temporary file: path .*, size [1-9]/,
	'log_temp_files names the files');
ok($node->poll_query_until('postgres', "SELECT temp_files > $files AND temp_bytes > $bytes FROM ($temporary) AS s"),
	'pg_stat_database counts them');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), 0, 'and no file is left');

# The same in workers.
my $parallel = q{SET enable_nestloop = off; SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;
	SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off;};
my $join = 'SELECT count(*) FROM scattered AS a JOIN scattered AS b ON hamming(a.si, b.si) <= 16 AND a.id < 200';
like($node->safe_psql('postgres', "$parallel EXPLAIN (COSTS OFF) $join"), qr/Gather.*Custom Scan \(Near Join\)/s,
	'workers join');
is($node->safe_psql('postgres', "$parallel $join"), $right, 'and find the same');
my (undef, undef, $err) = run_psql($node, 'postgres',
	"$parallel SELECT count(*) FROM scattered AS a JOIN scattered AS b ON hamming(a.si, b.si) <= 3 "
	. "AND 1 / (a.id - b.id * 1) > 0;");
like($err, qr/ERROR:  division by zero/, 'an error in a worker ends the query');

# While one worker reads its rows, the others wait for it: cancelled, and the worker ended. The join begins again, too,
# and ends early. PostgreSQL shows what they wait for.
my $waits = $node->pg_version->major < 17 ? 'IPC HashBuildHashOuter' : 'Extension NearJoinPartition';
my $reading = "$parallel SET parallel_tuple_cost = 0.1; SET application_name = 'joins'; "
	. "SELECT count(*) FROM scattered AS a JOIN scattered AS b ON hamming(a.si, b.si) <= 3 WHERE waits(b.id)";
like($node->safe_psql('postgres', $reading =~ s/SELECT count/EXPLAIN (COSTS OFF) SELECT count/r),
	qr/Parallel Custom Scan \(Near Join\)/, 'workers share both sides');
for my $how (['pg_cancel_backend', q{application_name = 'joins' AND backend_type = 'client backend'},
	'canceling statement due to user request'],
	['pg_terminate_backend', q{backend_type = 'parallel worker' AND wait_event = 'PgSleep'},
		'terminating (?:connection|background worker)'])
{
	my ($function, $who, $message) = @$how;
	my $nothing = '';
	my $said = '';
	my $reader = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', $reading ], '<', \undef,
		'>', \$nothing, '2>', \$said);
	ok($node->poll_query_until('postgres',
		q{SELECT count(*) FILTER (WHERE wait_event = 'PgSleep') = 1
		AND count(*) FILTER (WHERE wait_event_type || ' ' || wait_event = '} . $waits . q{') > 0
		FROM pg_stat_activity WHERE backend_type = 'parallel worker'}),
		"$function: a worker reads, another one waits: $waits");
	$node->safe_psql('postgres', "SELECT $function(pid) FROM pg_stat_activity WHERE $who");
	$reader->finish;
	like($said, qr/$message/, "$function ends the query");
	ok($node->poll_query_until('postgres',
		q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker'}),
		"$function: no worker is left");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), 0, "$function: no file is left");
}
my $again = 'SELECT count(*), sum(s.id) FROM generate_series(1, 3) AS v '
	. 'LEFT JOIN (SELECT a.id FROM scattered AS a LEFT JOIN scattered AS b ON hamming(a.si, b.si # 5) <= 3 '
	. 'AND a.id < b.id OFFSET 0) AS s ON s.id > v * 1000';
like($node->safe_psql('postgres',
	"$parallel SET enable_material = off; SET cpu_operator_cost = 0.1; "
	. "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $again"),
	qr/Gather \(.* loops=3\).*Parallel Custom Scan \(Near Left Join\)/s, 'a join of workers begins again');
is($node->safe_psql('postgres', "$parallel SET enable_material = off; SET cpu_operator_cost = 0.1; $again"),
	$node->safe_psql('postgres', "SET simhash_pg.enable_near_join = off; $again"), 'with the same rows');
is($node->safe_psql('postgres',
	"$parallel SELECT count(*) FROM (SELECT FROM scattered AS a FULL JOIN scattered AS b ON hamming(a.si, b.si) <= 3 "
	. "LIMIT 10) AS s"), 10, 'and ends early');
# PostgreSQL tests a condition of WHERE without columns above the join; up to 16, only if the join is in a subquery of
# its own.
my $full = 'SELECT a.id FROM scattered AS a FULL JOIN scattered AS b ON hamming(a.si, b.si # 5) <= 1';
for my $offset ('OFFSET 0', $node->pg_version->major < 17 ? () : '')
{
	my ($all, $none) = map { $node->safe_psql('postgres',
		"SELECT count(*) FROM ($full $offset) AS s WHERE current_setting('port') $_ ''") } '<>', '=';
	is($all, $node->safe_psql('postgres', "SELECT count(*) FROM ($full) AS s"),
		"a full join below a condition without columns $offset");
	is($none, 0, 'has no rows if the condition is false');
}
my $counted = 'SELECT count(*) FROM generate_series(1, 3) AS v '
	. 'LEFT JOIN (SELECT a.id FROM scattered AS a JOIN scattered AS b ON hamming(a.si, b.si) <= 14 OFFSET 0) AS s '
	. 'ON s.id > v * 1000';
my $pairs = 3 * $node->safe_psql('postgres',
	'SELECT count(*) FROM scattered AS a JOIN scattered AS b ON hamming(a.si, b.si) <= 14');
like($node->safe_psql('postgres',
	"$parallel SET enable_material = off; SET cpu_operator_cost = 0.1; "
	. "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $counted"),
	qr/Gather \(.* loops=3\).*Near Pairs: $pairs\n/s, 'EXPLAIN counts the work of all its executions');

my $hangs = "$parallel SELECT count(*) FROM scattered AS a JOIN scattered AS b ON hamming(a.si, b.si) <= 3 "
	. "AND waits(a.id + b.id - b.id)";
my $out = '';
my $lost = '';
my $client = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', $hangs ], '<', \undef, '>',
	\$out, '2>', \$lost);
my $worker = q{backend_type = 'parallel worker' AND wait_event = 'PgSleep'};
ok($node->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_stat_activity WHERE $worker"),
	'a worker is joining');
kill 'KILL', $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE $worker LIMIT 1");
$client->finish;
like($lost, qr/connection|crash/, 'a worker is killed: the client hears of it');
$node->poll_query_until('postgres', 'SELECT true') or die 'the server does not come back';
is($node->safe_psql('postgres', "$parallel $join"), $right, 'the server comes back with its data');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), 0, 'and without temporary files');
unlike(slurp_file($node->logfile), qr/PANIC|panicked|signal 11|signal 6/, 'nothing worse than being killed');

done_testing();
