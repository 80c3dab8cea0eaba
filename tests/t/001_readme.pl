# Every example of the README runs, in order, and prints what the README shows.

use strict;
use warnings;
use Test::More;
use SimhashTest;

open my $file, '<:raw', $ENV{README} or die "cannot read $ENV{README}: $!";
my $readme = do { local $/; <$file> };
close $file;

# The extension is created by an example, as a reader would do it.
my $node = start_node('readme');
$node->safe_psql('postgres', 'CREATE DATABASE reader TEMPLATE template0');

my ($examples, $outputs) = (0, 0);
while ($readme =~ /^```sql\n(.*?)^```\n(?:\n?^```text\n(.*?)^```\n)?/msg)
{
	my ($sql, $expected) = ($1, $2);
	my $line = 1 + (substr($readme, 0, $-[0]) =~ tr/\n//);
	my ($code, $out, $err) = run_psql($node, 'reader', $sql);
	is($code, 0, "line $line: the example runs") or diag($err);
	# psql leaves blanks at the end of lines that editors take away.
	s/[ ]+$//mg, s/\n+\z/\n/ for grep { defined } ($out, $expected);
	is($out, $expected, "line $line: its output is what the README shows") if defined $expected;
	$examples++;
	$outputs++ if defined $expected;
}
my $blocks = () = $readme =~ /^```sql$/mg;
is($examples, $blocks, 'no example was left out');
$blocks = () = $readme =~ /^```text$/mg;
is($outputs, $blocks, 'nor an output');

done_testing();
