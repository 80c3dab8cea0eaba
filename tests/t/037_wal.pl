# PostgreSQL's generic_redo replays the records that crates/pg_border/src/storage/wal.rs writes, for each kind of
# change.
#
# Records do not contain images of pages (full_page_writes = off), except those of pages that are replaced, so that each
# list of (offset, length, bytes) is applied. A standby compares each page with the primary's after each record
# (wal_consistency_checking), and at the end the files of the indexes are equal. pg_waldump shows that each kind of
# change occurred: its record has a certain number of pages, each with an image (i) or a list (l).

use strict;
use warnings;
use Test::More;
use SimhashTest;
use PostgreSQL::Test::Utils;

my $primary = start_node('primary', allows_streaming => 1);
$primary->append_conf('postgresql.conf',
	"autovacuum = off\nfull_page_writes = off\nwal_consistency_checking = 'all'\nwal_keep_size = '1GB'");
$primary->restart;
make_workload($primary);
$primary->safe_psql('postgres', q{
	CREATE INDEX document_whole ON document USING hamming (code) WITH (trees = whole);
	CREATE INDEX document_part ON document USING hamming (code, part) WITH (trees = whole);
	CREATE UNLOGGED TABLE unlogged (si bigint);});
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

# Statements, the kind of change, and the records that they must have written.
my $rows = "INSERT INTO document SELECT nextval('ids'), any_fingerprint(), any_code() FROM generate_series(1, 1500)";
my @changes = (
	[ 'CREATE INDEX ON unlogged USING hamming (si)', i => 'the empty index that replaces an unlogged one' ],
	[ $rows, llll => 'a word is added', l => 'a row that is NULL, or its further columns', iii => 'a page is split',
		lll => 'entries are given to a neighbour' ],
	[ "TRUNCATE document; $rows", ii => 'a tree grows' ],
	[ 'DELETE FROM document WHERE id % 50 = 0; VACUUM document', l => 'some dead rows are removed' ],
	[ 'DELETE FROM document WHERE id % 50 > 2; VACUUM document', i => 'most rows of a page are removed',
		iii => 'neighbours are merged', ii => 'a tree is lowered' ],
	[ "DELETE FROM document; VACUUM document; $rows", llll => 'a word is added to pages that were freed' ]);
for (@changes)
{
	my ($statements, @expected) = @$_;
	my $begin = $primary->lsn('insert');
	$primary->safe_psql('postgres', $_) for split /; /, $statements;
	my %records = records($begin, $primary->lsn('insert'));
	note("$statements: ", join ', ', map { "$records{$_} x $_" } sort keys %records);
	while (my ($record, $change) = splice(@expected, 0, 2))
	{
		cmp_ok($records{$record} // 0, '>', 0, $change);
	}
}
# A standby that has found a difference has stopped.
my $end = $primary->lsn('flush');
$primary->poll_query_until('postgres', "SELECT count(*) = 0 OR bool_or(replay_lsn >= '$end') FROM pg_stat_replication");
unlike(slurp_file($standby->logfile), qr/inconsistent page found/, 'each page was the same after each record');
$_->safe_psql('postgres', 'CHECKPOINT') for $primary, $standby;
for my $index (split /\n/, $primary->safe_psql('postgres',
	"SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'document'::regclass"))
{
	my @bytes = map { contents($_, $index) } $primary, $standby;
	cmp_ok(length $bytes[0], '>', 0, "$index has pages");
	ok($bytes[0] eq $bytes[1], 'which have the same bytes on the standby');
}

# The number of generic WAL records with such pages between the two positions.
sub records
{
	my ($begin, $end) = @_;
	my ($out) = run_command([ 'pg_waldump', '--bkp-details', '--path', $primary->data_dir . '/pg_wal', '--rmgr',
		'Generic', '--start', $begin, '--end', $end ]);
	my %records;
	for my $record (split /^(?=rmgr: )/m, $out)
	{
		$records{ join '', map { / \(FPW\)/ ? 'i' : 'l' } $record =~ /(blkref #.*)/g }++;
	}
	return %records;
}

# The bytes of an index, except LSNs, checksums, and what is between the two parts of a page, which replay clears.
sub contents
{
	my ($node, $index) = @_;
	my $file = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('$index')");
	my @pages = unpack '(a8192)*', slurp_file($file);
	for (@pages)
	{
		my ($lower, $upper) = unpack 'x12 S S', $_;
		substr($_, $lower, $upper - $lower) = '';
		substr($_, 0, 10) = '';
	}
	return join '', @pages;
}

done_testing();
