# A standby returns the same rows by index and by sequential scan at any moment, while the primary inserts, deletes and
# vacuums. With wal_consistency_checking, it also compares each page that it has changed with the primary's, and stops
# if they differ.

use strict;
use warnings;
use Test::More;
use SimhashTest;
use PostgreSQL::Test::Utils;

my $seconds = $ENV{STANDBY_SECONDS} // 10;
my $primary = start_node('primary', allows_streaming => 1);
$primary->append_conf('postgresql.conf', "autovacuum = off\nwal_consistency_checking = 'all'");
$primary->restart;
is($primary->safe_psql('postgres', 'SHOW wal_consistency_checking'), 'all', 'pages are logged for comparison');
make_workload($primary);
my $standby = PostgreSQL::Test::Cluster->new('standby');
# Page images make WAL long; the part that the standby has not read yet is kept.
$primary->safe_psql('postgres', "SELECT pg_create_physical_replication_slot('standby')");
$primary->backup('base');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
# Queries are not cancelled because VACUUM removes rows.
$standby->append_conf('postgresql.conf',
	"hot_standby_feedback = on\nmax_standby_streaming_delay = -1\nprimary_slot_name = standby");
$standby->start;

my $out = '';
my $err = '';
my @scripts = pgbench_scripts($primary->basedir, insert => 6, update => 3, delete => 2, vacuum => 1);
my $load = IPC::Run::start(
	[ 'pgbench', '-n', '-c', '3', '-T', $seconds, @scripts, '-h', $primary->host, '-p', $primary->port, 'postgres' ],
	'>', \$out, '2>', \$err, patience($seconds));
# The pages of an index can be checked meanwhile, on both.
my $false_alarms = sub {
	my ($where) = @_;
	for my $index ('document_si', 'document_code')
	{
		is($where->safe_psql('postgres', "SELECT * FROM hamming_index_check('$index')"), '',
			'no false alarm on ' . $where->name . " by $index");
	}
};
$false_alarms->($_) for ($primary, $standby) x 3;
my @check = pgbench_scripts($standby->basedir, check => 1);
my $checks = '';
my $wrong = '';
# After an error, a client ends, and pgbench fails.
my $same = IPC::Run::run(
	[ 'pgbench', '-n', '-c', '2', '-T', $seconds, @check, '-h', $standby->host, '-p', $standby->port, 'postgres' ],
	'>', \$checks, '2>', \$wrong, patience($seconds));
ok($same, 'every query of the standby found what a scan finds') or diag($wrong);
like($checks, qr/transactions actually processed: [1-9]/, 'there were some');
ok($load->finish, 'the primary went on') or diag($err);

$primary->wait_for_catchup($standby);
my $rows = 'SELECT count(*), count(si), sum(id) FROM document';
is($standby->safe_psql('postgres', $rows), $primary->safe_psql('postgres', $rows), 'the standby has caught up');
my $answers = "SELECT by_index(n, 20), nearest_by_index(n, 50), by_index(c, 20), nearest_by_index(c, 50)
	FROM generate_series(0, 3) AS n, scattered_code(n) AS c";
is($standby->safe_psql('postgres', $answers), $primary->safe_psql('postgres', $answers), 'and answers the same');
is(check_workload($primary), '', 'the indexes are sound');
my $stats = "SELECT rows, nulls, leaf_pages FROM hamming_index_stats('document_si')";
is($standby->safe_psql('postgres', $stats), $primary->safe_psql('postgres', $stats),
	'the standby tells what its index consists of');

# An unlogged index has no contents on a standby. The view says so, and has all other indexes.
$primary->safe_psql('postgres',
	'CREATE UNLOGGED TABLE scratch AS SELECT i::bigint AS si FROM generate_series(1, 1000) AS i; '
	. 'CREATE INDEX scratch_si ON scratch USING hamming (si)');
$primary->wait_for_catchup($standby);
my $view = q{SELECT index, rows, reindex, problem FROM hamming_indexes ORDER BY index::text};
my $of_scratch = qr/^scratch_si\|.*$/m;
my $listed = $standby->safe_psql('postgres', $view);
like($listed, qr/^scratch_si\|\|f\|cannot access unlogged index "scratch_si" during recovery$/m,
	'the view tells which index cannot be read on a standby');
is($listed =~ s/$of_scratch//r, $primary->safe_psql('postgres', $view) =~ s/$of_scratch//r,
	'and shows the others as on the primary');
my (undef, undef, $refused) = run_psql($standby, 'postgres',
	"\\set VERBOSITY verbose\nSELECT * FROM hamming_index_check('scratch_si')");
like($refused,
	qr/ERROR:  0A000: cannot access unlogged index "scratch_si" during recovery\nDETAIL:  .*not replicated.*\nHINT:  /,
	'the check refuses it');
is($primary->safe_psql('postgres', "SELECT count(*) FROM hamming_index_check('scratch_si', true)"), 0,
	'which is sound on the primary');

# Pages of indexes were compared: the WAL contains images that serve only for comparison.
my @indexes = map { $primary->safe_psql('postgres', "SELECT pg_relation_filenode('document_$_')") } 'si', 'code';
my $from = $primary->lsn('flush');
$primary->safe_psql('postgres',
	"INSERT INTO document SELECT nextval('ids'), any_fingerprint(), any_code() FROM generate_series(1, 100)");
my ($log) = run_command([ 'pg_waldump', '--bkp-details', '--path', $primary->data_dir . '/pg_wal', '--rmgr', 'Generic',
	'--start', $from, '--end', $primary->lsn('flush') ]);
like($log, qr{/$_ fork main blk \d+ \(FPW for WAL verification\)}, "changes of index $_ came with images to compare")
	for @indexes;
$primary->wait_for_catchup($standby);
unlike(slurp_file($standby->logfile), qr/inconsistent page found/, 'the standby has the same pages');

# The standby is promoted.
$standby->promote;
$primary->stop('immediate');
is(check_workload($standby), '', 'so are those of the standby');
is($standby->safe_psql('postgres',
	"SELECT rows, reindex, problem FROM hamming_indexes WHERE index = 'scratch_si'::regclass"), '0|f|',
	'and the unlogged index is empty there');

done_testing();
