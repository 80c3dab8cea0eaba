# If the temporary files of a near join or of near_cluster are truncated, the statement ends with an error, or returns
# all rows unchanged. It never returns fewer rows, and never crashes.

use strict;
use warnings;
use Test::More;
use SimhashTest;
use PostgreSQL::Test::Utils;

my $node = start_node('temporary_files');
$node->safe_psql('postgres', q{
	CREATE TABLE code AS SELECT i AS id, hashint8extended(i / 2, 1) AS si, repeat('x', i % 50) AS filler FROM generate_series(1, 6000) AS i;
	ANALYZE;});
# Columns of one length, and of several. Only near_cluster needs a file for so few rows, with keys that are longer than
# the rows.
my $from = 'FROM code AS a FULL JOIN code AS b ON hamming(a.si, b.si) <= 3 AND a.id <> b.id';
my %queries = (fixed => "SELECT a.id, b.id $from", varying => "SELECT a.id, b.filler $from",
	(map { $_ => "SELECT id, near_cluster(repeat('x', 200) || id, si, 3, '$_') OVER () FROM code WHERE id <= 700" } 'leader', 'connected'));
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
		my ($code, $out, $err) = run_psql($node, 'postgres', "$settings BEGIN; DECLARE c CURSOR FOR $query; FETCH 1 FROM c;\n"
			. "\\! for file in $files; do truncate --size=-$lost \$file && echo cut; done\nFETCH ALL FROM c;\n", '-At', '-v', 'VERBOSITY=verbose');
		my $cut = scalar(() = $out =~ /^cut$/mg);
		my $read = scalar(() = $out =~ /^(?!cut$)/mg);
		cmp_ok($cut, '>', 0, "$columns, $lost bytes less: there were files");
		my $end = $err =~ /ERROR:  58030: could not read from temporary file/ ? 'error' : $err eq '' && $read == $rows ? 'right' : 'wrong';
		isnt($end, 'wrong', 'an error, or all rows') or diag("$read of $rows rows, $err");
		$ends{$columns}{$lost ? $end : 'whole'}++;
	}
	cmp_ok($ends{$columns}{error} // 0, '>', 0, 'an error for some');
	is($ends{$columns}{whole}, 1, 'all rows without damage');
}
unlike(slurp_file($node->logfile), qr/PANIC|panicked|terminated by signal/, 'no crash');

done_testing();
