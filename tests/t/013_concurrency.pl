# Many sessions insert, update, delete and search at the same time, and one vacuums. Each result is compared with that
# of a sequential scan with the same snapshot. SECONDS is the duration (make soak: minutes).

use strict;
use warnings;
use Test::More;
use SimhashTest;
use PostgreSQL::Test::Utils;

my $seconds = $ENV{SECONDS_OF_LOAD} // 20;
my $node = start_node('concurrency');
$node->append_conf('postgresql.conf', "autovacuum = off\nlog_lock_waits = on");
$node->restart;
make_workload($node);

my @load = pgbench_scripts($node->basedir, insert => 8, update => 4, delete => 3, check => 10);
my @vacuum = pgbench_scripts($node->basedir, vacuum => 1);
my @to = ('-h', $node->host, '-p', $node->port, 'postgres');
# A deadlock would last for ever: it ends the test.
my $patience = patience($seconds);
my $vacuums = '';
my $err = '';
my $vacuuming = IPC::Run::start([ 'pgbench', '-n', '-c', '1', '-T', $seconds, @vacuum, @to ], '>', \$vacuums, '2>',
	\$err, $patience);
my $out = '';
my $wrong = '';
my $same = IPC::Run::run([ 'pgbench', '-n', '-c', '9', '-j', '2', '-T', $seconds, @load, @to ], '>', \$out, '2>',
	\$wrong, $patience);
ok($same, 'every answer was that of a scan, and nothing failed') or diag($wrong);
ok($vacuuming->finish, 'vacuum went on meanwhile') or diag($err);
like($out, qr/transactions actually processed: [1-9]/, 'there were transactions');
like($vacuums, qr/transactions actually processed: [1-9]/, 'and vacuums');
note($out);
note($vacuums);

# The view of all indexes is read while indexes are rebuilt, created and dropped.
my %scripts = (
	view => 'SELECT count(*) FROM hamming_indexes;',
	rebuild => 'REINDEX INDEX CONCURRENTLY document_si;',
	drop => 'CREATE TABLE brief AS SELECT si FROM document LIMIT 10; '
		. 'CREATE INDEX brief_si ON brief USING hamming (si); DROP INDEX brief_si; DROP TABLE brief;');
append_to_file($node->basedir . "/$_.sql", "$scripts{$_}\n" =~ s/; /;\n/gr) for keys %scripts;
my %done;
my %running = map {
	my $name = $_;
	($name => IPC::Run::start([ 'pgbench', '-n', '-c', '1', '-T', $seconds, '-f', $node->basedir . "/$name.sql", @to ],
		'>', \$done{$name}{out}, '2>', \$done{$name}{err}, $patience))
} sort keys %scripts;
for my $name (sort keys %running)
{
	ok($running{$name}->finish, "no error of $name") or diag($done{$name}{err});
	like($done{$name}{out}, qr/transactions actually processed: [1-9]/, "$name was done");
}

is(check_workload($node), '', 'the indexes are sound');
$node->safe_psql('postgres', 'DELETE FROM document');
$node->safe_psql('postgres', 'VACUUM document');
is($node->safe_psql('postgres',
	"SELECT rows, nulls, leaf_pages, inner_pages "
	. "FROM unnest('{document_si,document_code,document_twin}'::regclass[]) AS i, hamming_index_stats(i)"),
	"0|0|5|0\n0|0|14|0\n0|0|6|0", 'and give all pages back when all rows are gone');
unlike(slurp_file($node->logfile), qr/PANIC|panicked|terminated by signal|deadlock/, 'no crash, no deadlock');

done_testing();
