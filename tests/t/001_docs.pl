# Every example of README.md and docs/ is executed in order, and must print what the page shows. Each page has its own
# database, so that a reader can begin with any page.

use strict;
use warnings;
use Test::More;
use SimhashTest;

my $node = start_node('docs');
my $has_vector = $node->safe_psql('postgres', q{SELECT 1 FROM pg_available_extensions WHERE name = 'vector'});
my @pages = map { s{^\Q$ENV{DOCS}\E/}{}r } sort(glob("'$ENV{DOCS}/docs/*.md'"), glob("'$ENV{DOCS}/docs/*/*.md'"));
ok(@pages > 0, 'there are pages in docs/');
run_page($_) for 'README.md', @pages;
done_testing();

sub run_page
{
	my ($page) = @_;
	my $text = read_page($page);
	SKIP: {
		skip "$page: pgvector is not installed for this PostgreSQL", 1
			if $text =~ /^CREATE EXTENSION vector/m && !$has_vector;
		run_examples($page, $text);
	}
}

sub run_examples
{
	my ($page, $text) = @_;
	my $database = database_for($page);
	my $examples = 0;
	my $outputs = 0;
	while ($text =~ /^```sql\n(.*?)^```\n(?:\n?^```text\n(.*?)^```\n)?/msg)
	{
		my $sql = $1;
		my $expected = $2;
		my $line = 1 + (substr($text, 0, $-[0]) =~ tr/\n//);
		run_example($database, "$page, line $line", $sql, $expected);
		$examples++;
		$outputs++ if defined $expected;
	}
	is($examples, blocks($text, 'sql'), "$page: no example was left out");
	is($outputs, blocks($text, 'text'), "$page: nor an output");
}

sub read_page
{
	my ($page) = @_;
	open my $file, '<:raw', "$ENV{DOCS}/$page" or die "cannot read $page: $!";
	local $/;
	return <$file>;
}

# An empty database: the page's own examples create the extension, as a reader would.
sub database_for
{
	my ($page) = @_;
	my $database = lc($page =~ s{\.md$}{}r) =~ tr/a-z0-9/_/cr;
	$node->safe_psql('postgres', "CREATE DATABASE reader_of_$database TEMPLATE template0");
	return "reader_of_$database";
}

sub run_example
{
	my ($database, $place, $sql, $expected) = @_;
	my ($code, $out, $err) = run_psql($node, $database, $sql);
	is($code, 0, "$place: the example runs") or diag($err);
	# psql prints blanks at the end of lines, which editors remove.
	s/[ ]+$//mg, s/\n+\z/\n/ for grep { defined } ($out, $expected);
	is($out, $expected, "$place: its output is what the page shows") if defined $expected;
}

# How many blocks a page has in this language, however they are indented.
sub blocks
{
	my ($text, $language) = @_;
	return scalar(() = $text =~ /^\s*`{3,}\s*$language\b/mgi);
}
