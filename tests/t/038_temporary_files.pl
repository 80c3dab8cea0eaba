# If the temporary files of a near join or of near_cluster are truncated, the statement ends with an error, or returns
# all rows unchanged. It never returns fewer rows, and never crashes. The files of near_cluster grow with its rows, and
# not with their square.

use strict;
use warnings;
use Test::More;
use SimhashTest;
use PostgreSQL::Test::Utils;

my $node = start_node('temporary_files');
$node->safe_psql('postgres', q{
	CREATE TABLE code AS SELECT i AS id, hashint8extended(i / 2, 1) AS si, repeat('x', i % 50) AS filler
		FROM generate_series(1, 6000) AS i;
	ANALYZE;});
# Columns of one length, and of several. Only near_cluster needs a file for so few rows, with keys that are longer than
# the rows.
my $from = 'FROM code AS a FULL JOIN code AS b ON hamming(a.si, b.si) <= 3 AND a.id <> b.id';
my %queries = (fixed => "SELECT a.id, b.id $from", varying => "SELECT a.id, b.filler $from",
	(map { $_ => "SELECT id, near_cluster(repeat('x', 200) || id, si, 3, '$_') OVER () FROM code WHERE id <= 700" }
		'leader', 'connected'));
my $files = $node->data_dir . '/base/pgsql_tmp/*';
my %ends;
for my $columns (sort keys %queries)
{
	my $query = $queries{$columns};
	my $settings = "SET work_mem = '64kB'; SET enable_nestloop = off; SET jit = off;";
	like($node->safe_psql('postgres', "$settings EXPLAIN $query"), qr/Near.*Join|WindowAgg/, "$columns: its plan");
	my $rows = () = $node->safe_psql('postgres', "$settings $query") =~ /^/mg;
	for my $lost (0, 3, 8, 80, 10_000, 1_000_000_000)
	{
		# The query pauses after its first row.
		my ($code, $out, $err) = run_psql($node, 'postgres',
			"$settings BEGIN; DECLARE c CURSOR FOR $query; FETCH 1 FROM c;\n"
			. "\\! for file in $files; do truncate --size=-$lost \$file && echo cut; done\nFETCH ALL FROM c;\n", '-At',
			'-v', 'VERBOSITY=verbose');
		my $cut = scalar(() = $out =~ /^cut$/mg);
		my $read = scalar(() = $out =~ /^(?!cut$)/mg);
		cmp_ok($cut, '>', 0, "$columns, $lost bytes less: there were files");
		my $end = $err =~ /ERROR:  58030: could not read from temporary file/ ? 'error' : $err eq '' && $read == $rows
			? 'right' : 'wrong';
		isnt($end, 'wrong', 'an error, or all rows') or diag("$read of $rows rows, $err");
		$ends{$columns}{$lost ? $end : 'whole'}++;
	}
	cmp_ok($ends{$columns}{error} // 0, '>', 0, 'an error for some');
	is($ends{$columns}{whole}, 1, 'all rows without damage');
}
# Half of the rows are near others, in families that come later again and again, so that no part of the rows has most of
# the keepers. The bytes that temporary files have at the end are counted, among which are those of PostgreSQL's own
# window. Files that are written again count once. There are more of them if partitions are divided twice.
$node->safe_psql('postgres', q{
	CREATE TABLE family AS SELECT i AS id, CASE WHEN i % 2 = 0
		THEN hashint8extended(abs(hashint8extended(i, 3)) % 15000, 11) # (1::bigint << (i % 61)::integer)
			ELSE hashint8extended(i, 7) END AS si
	FROM generate_series(1, 120000) AS i;});

sub bytes_of
{
	my ($cluster, $from) = @_;
	my (undef, undef, $log) = run_psql($node, 'postgres', "SET work_mem = '64kB'; SET hash_mem_multiplier = 1;
		SET log_temp_files = 0; SET client_min_messages = log;
		SELECT count(k) FROM (SELECT near_cluster($cluster) OVER (ORDER BY id) AS k FROM $from) AS c");
	my $bytes = 0;
	$bytes += $1 while $log =~ /temporary file: path .*, size (\d+)/g;
	return $bytes;
}

for my $linkage ('leader', 'connected')
{
	my ($few, $many) = map { bytes_of("id, si, 3, '$linkage'", "family WHERE id <= $_") } 30_000, 120_000;
	cmp_ok($few, '>', 1_000_000, "$linkage: there are files");
	cmp_ok($many, '<', 4.7 * $few, "four times as many rows take $many instead of $few bytes");
	cmp_ok($many, '<', 120_000 * 160, 'and less than files that are not written again');
	# A key is written once for its row and once for each row of the cluster, and by PostgreSQL.
	my $wide = bytes_of("repeat('k', 100) || id, si, 3, '$linkage'", 'family WHERE id <= 120000');
	cmp_ok($wide, '<', $many + 120_000 * 3 * 120, "and with keys of 105 bytes $wide");
}
# Wide codes are divided once for each bit of the radius and once more, here 51 times, but in the same files. A row
# takes 40 bytes in a file, and some more in PostgreSQL's own files.
my $rows = 8000;
$node->safe_psql('postgres', "CREATE TABLE wide AS
	SELECT i AS id, ('x' || md5(i::text) || md5(i || 'b'))::bit(256) AS code FROM generate_series(1, $rows) AS i");
my $bytes = bytes_of('id, code, 50', 'wide');
cmp_ok($bytes, '>', $rows * 40 * 2, 'rows of wide codes are divided');
cmp_ok($bytes, '<', $rows * 40 * 20, "and take $bytes bytes");
unlike(slurp_file($node->logfile), qr/PANIC|panicked|terminated by signal/, 'no crash');

done_testing();
