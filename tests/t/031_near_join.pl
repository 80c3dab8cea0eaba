# Near joins that end early: cancelled in each stage, in a worker that fails, in one that is killed. Nothing stays behind,
# and the next join is right.

use strict;
use warnings;
use Test::More;
use SimhashTest;
use PostgreSQL::Test::Utils;

my $node = start_node('near_join');
$node->append_conf('postgresql.conf', "restart_after_crash = on\nautovacuum = off");
$node->restart;
# Rows that sleep when they are read, and values that sleep when they are looked at.
$node->safe_psql('postgres', q{
	CREATE TABLE scattered AS SELECT i AS id, hashint8extended(i, 1) AS si FROM generate_series(1, 5000) AS i;
	CREATE TABLE consecutive AS SELECT i AS id, i::bigint AS si FROM generate_series(1, 60000) AS i;
	CREATE FUNCTION waits(id integer) RETURNS boolean LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$
	BEGIN
		PERFORM pg_sleep(CASE id WHEN 3000 THEN 1000 ELSE 0 END);
		RETURN true;
	END $$;
	VACUUM ANALYZE;});

my $settings = q{SET enable_nestloop = off; SET max_parallel_workers_per_gather = 0; SET work_mem = '64kB'; SET hash_mem_multiplier = 1; SET application_name = 'joins';};
my $sleeping = '(SELECT * FROM scattered WHERE waits(id) OFFSET 0)';
# Where a join is when it is cancelled: a query that stays there, and what shows that it does.
my $sleeps = q{wait_event = 'PgSleep'};
my $runs = q{state = 'active' AND query_start < clock_timestamp() - interval '0.3 s'};
my @stages = (
	[ 'reading the inner side', "SELECT count(*) FROM scattered AS a LEFT JOIN $sleeping AS b ON hamming(a.si, b.si) <= 3", $sleeps ],
	[ 'reading a batch', "SELECT count(*) FROM $sleeping AS a LEFT JOIN scattered AS b ON hamming(a.si, b.si) <= 3", $sleeps ],
	[ 'finding pairs', 'SELECT count(*) FROM consecutive AS a JOIN consecutive AS b ON hamming(a.si, b.si) <= 40', $runs ],
	[ 'a second look', 'SELECT count(*) FROM consecutive AS a JOIN consecutive AS b ON hamming(a.si, b.si) <= 40 AND hamming(a.si # -65536, b.si) <= 47', $runs ],
	[ 'further conditions', 'SELECT count(*) FROM scattered AS a JOIN scattered AS b ON hamming(a.si, b.si) <= 3 AND waits(a.id + b.id - b.id)', $sleeps ],
	[ 'rows without a partner', 'SELECT count(*) FROM scattered AS a LEFT JOIN scattered AS b ON hamming(a.si, b.si # 5) <= 1 WHERE waits(a.id + coalesce(b.id, 0))', $sleeps ],
	[ 'inner rows without a partner', 'SELECT count(*) FROM scattered AS a FULL JOIN scattered AS b ON hamming(a.si, b.si # 5) <= 1 WHERE waits(b.id + coalesce(a.id, 0))', $sleeps ]);
my $right = $node->safe_psql('postgres', 'SET enable_hashjoin = off; SELECT count(*) FROM scattered AS a JOIN scattered AS b ON hamming(a.si, b.si) <= 16 AND a.id < 200');
my $session = session($node, on_error_stop => 0);
$session->query($settings);
for my $stage (@stages)
{
	my ($name, $query, $there) = @$stage;
	like(ask($session, "EXPLAIN (COSTS OFF) $query"), qr/Custom Scan \(Near \w*/, "$name: its plan");
	for my $how ('cancel', 'timeout')
	{
		$session->query("SET statement_timeout = '1s'") if $how eq 'timeout';
		$session->query_until(qr/begun/, "\\echo begun\n$query;\n");
		if ($how eq 'cancel')
		{
			ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'joins' AND state = 'active' AND $there"), "$name: it is there");
			$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'joins'});
		}
		$session->query('RESET statement_timeout');
		my $expected = $how eq 'cancel' ? 'due to user request' : 'due to statement timeout';
		like($session->{stderr}, qr/canceling statement $expected/, "$name: $how comes through");
		$session->{stderr} = '';
		is(ask($session, 'SELECT count(*) FROM pg_ls_tmpdir()'), 0, 'no temporary file is left');
	}
}
is(ask($session, 'SELECT count(*) FROM scattered AS a JOIN scattered AS b ON hamming(a.si, b.si) <= 16 AND a.id < 200'), $right, 'the session goes on joining');
$session->quit;

# In workers.
my $parallel = q{SET enable_nestloop = off; SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off;};
my $join = 'SELECT count(*) FROM scattered AS a JOIN scattered AS b ON hamming(a.si, b.si) <= 16 AND a.id < 200';
like($node->safe_psql('postgres', "$parallel EXPLAIN (COSTS OFF) $join"), qr/Gather.*Custom Scan \(Near Join\)/s, 'workers join');
is($node->safe_psql('postgres', "$parallel $join"), $right, 'and find the same');
my (undef, undef, $err) = run_psql($node, 'postgres', "$parallel SELECT count(*) FROM scattered AS a JOIN scattered AS b ON hamming(a.si, b.si) <= 3 AND 1 / (a.id - b.id * 1) > 0;");
like($err, qr/ERROR:  division by zero/, 'an error in a worker ends the query');

my $hangs = "$parallel SELECT count(*) FROM scattered AS a JOIN scattered AS b ON hamming(a.si, b.si) <= 3 AND waits(a.id + b.id - b.id)";
my ($out, $lost) = ('', '');
my $client = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', $hangs ], '<', \undef, '>', \$out, '2>', \$lost);
my $worker = q{backend_type = 'parallel worker' AND wait_event = 'PgSleep'};
ok($node->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_stat_activity WHERE $worker"), 'a worker is joining');
kill 'KILL', $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE $worker LIMIT 1");
$client->finish;
like($lost, qr/connection|crash/, 'a worker is killed: the client hears of it');
$node->poll_query_until('postgres', 'SELECT true') or die 'the server does not come back';
is($node->safe_psql('postgres', "$parallel $join"), $right, 'the server comes back with its data');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), 0, 'and without temporary files');
unlike(slurp_file($node->logfile), qr/PANIC|panicked|signal 11|signal 6/, 'nothing worse than being killed');

done_testing();
