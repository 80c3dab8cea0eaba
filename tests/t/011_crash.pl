# The server is killed at random moments during inserts, updates, deletes and vacuum. After recovery, each index has
# every row in every tree, and returns the same rows as a sequential scan. SEED repeats the moments, and ROUNDS is their
# number.

use strict;
use warnings;
use Test::More;
use SimhashTest;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(usleep);

my $seed = $ENV{SEED} // int(rand(2**31));
my $rounds = $ENV{CRASHES} // 16;
diag("seed $seed");
srand($seed);

my $node = start_node('crash');
# Little memory and many checkpoints, so that pages are written, and torn, at all times.
$node->append_conf('postgresql.conf', q{
	shared_buffers = 2MB
	checkpoint_timeout = 30s
	max_wal_size = 32MB
	min_wal_size = 32MB
	autovacuum = off
	restart_after_crash = off
	log_min_messages = error});
$node->restart;
make_workload($node);

my @scripts = pgbench_scripts($node->basedir, insert => 6, update => 3, delete => 2, vacuum => 1);
my $changed = 0;
my $grown = 0;
for my $round (1 .. $rounds)
{
	my $state = 'SELECT pg_current_wal_insert_lsn()';
	my $before = $node->safe_psql('postgres', $state);
	my $out = '';
	my $err = '';
	my $load = IPC::Run::start(
		[ 'pgbench', '-n', '-c', '4', '-T', '60', @scripts, '-h', $node->host, '-p', $node->port, 'postgres' ],
		'>', \$out, '2>', \$err);
	# Waits until there is something to recover, however slow the machine is.
	$node->poll_query_until('postgres', "SELECT pg_current_wal_insert_lsn() > '$before'") or die 'nothing was written';
	usleep(int(rand(700_000)));
	$node->kill9;
	$load->finish;
	start_again($node);

	my $problems = check_workload($node);
	my ($code, undef, $wrong) = run_psql($node, 'postgres',
		"SELECT assert_same(coalesce(any_fingerprint(), 0), n), assert_same(coalesce(any_code(), scattered_code(0)), "
			. "n), assert_same_of_part(coalesce(any_fingerprint(), 0), n) FROM generate_series(0, 24, 3) AS n");
	is("$problems$wrong", '', "crash $round");
	$changed++ if $node->safe_psql('postgres', $state) ne $before;
	# This keeps rounds short.
	$node->safe_psql('postgres', 'DELETE FROM document WHERE random() < 0.5; VACUUM document')
	  if $node->safe_psql('postgres', 'SELECT count(*) FROM document') > 60000;
}
is($changed, $rounds, 'there was something to recover each time');
unlike(slurp_file($node->logfile), qr/PANIC|panicked|signal 11|signal 6/, 'nothing worse than being killed');

done_testing();
