# The pages in the files of real indexes are the golden pages of crates/hamming_index/tests/golden, byte by byte.

use strict;
use warnings;
use Test::More;
use SimhashTest;

my $page_size = 8192;
# pd_lsn and pd_checksum, which differ from file to file.
my $not_ours = 10;

my $node = start_node('index_format');
$node->append_conf('postgresql.conf', 'autovacuum = off');
$node->restart;

# The bytes that a golden file lists, at their offsets. The others are zero.
sub golden
{
	my ($name) = @_;
	my $page = "\0" x $page_size;
	open my $file, '<', "$ENV{TESTDIR}/../crates/hamming_index/tests/golden/$name.hex" or die "$name: $!";
	while (my $line = <$file>)
	{
		next if $line =~ /^#/;
		my ($offset, $bytes) = split /  /, $line;
		my $binary = join '', map { chr hex } split / /, $bytes;
		substr($page, hex $offset, length $binary) = $binary;
	}
	return $page;
}

# A page of an index, from its file.
sub page
{
	my ($index, $block) = @_;
	$node->safe_psql('postgres', 'CHECKPOINT');
	my $path = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('$index')");
	open my $file, '<:raw', $path or die "$path: $!";
	seek $file, $block * $page_size, 0;
	read($file, my $page, $page_size) == $page_size or die "$path has no block $block";
	return $page;
}

sub is_golden
{
	my ($index, $block, $name, $what) = @_;
	my ($got, $expected) = map { substr $_, $not_ours } page($index, $block), golden($name);
	is(unpack('H*', $got), unpack('H*', $expected), $what);
}

$node->safe_psql('postgres', q{
	CREATE TABLE built (si bigint);
	INSERT INTO built VALUES (81985529216486895), (NULL), (81985529216486894), (-81985529216486896), (0);
	CREATE INDEX built_si ON built USING hamming (si);

	CREATE TABLE many AS SELECT i * 5000000000000001 AS si FROM generate_series(1, 700) AS i;
	CREATE INDEX many_si ON many USING hamming (si) WITH (fillfactor = 50);

	CREATE TABLE of_tenants AS SELECT si, CASE WHEN (ctid::text::point)[1] < 4 THEN 1 ELSE 2 END AS tenant_id
		FROM built;
	CREATE INDEX of_tenants_si ON of_tenants USING hamming (si, tenant_id);
	CREATE TABLE many_of_tenants AS SELECT i * 5000000000000001 AS si, (1 + i % 2)::integer AS tenant_id
		FROM generate_series(1, 700) AS i;
	CREATE INDEX many_of_tenants_si ON many_of_tenants USING hamming (si, tenant_id) WITH (fillfactor = 50);

	-- 80 bits: the bytes of a text.
	CREATE TABLE coded AS SELECT ('x' || encode(convert_to(t, 'UTF8'), 'hex'))::bit(80) AS code
		FROM unnest('{0123456789,ABCDEFGHIJ,abcdefghij}'::text[]) AS t;
	CREATE INDEX coded_built ON coded USING hamming (code) WITH (trees = words);
	CREATE TABLE coded_later (LIKE coded);
	CREATE INDEX coded_inserted ON coded_later USING hamming (code) WITH (trees = words);
	CREATE INDEX whole_inserted ON coded_later USING hamming (code) WITH (trees = whole);
	INSERT INTO coded_later SELECT * FROM coded;
	CREATE INDEX whole_built ON coded USING hamming (code) WITH (trees = whole);});
is_golden('built_si', 1, 'leaf', 'a leaf that was built');
is_golden('built_si', 4, 'null_leaf', 'a leaf of rows without a fingerprint');
is_golden('many_si', 1, 'inner', 'an inner page');
is_golden('of_tenants_si', 5, 'filter_leaf', 'a leaf of further columns');
is_golden('many_of_tenants_si', 5, 'filter_inner', 'an inner page of further columns');
for my $index ('coded_built', 'coded_inserted')
{
	is_golden($index, 0, 'code_description', "$index: the page that says how many bits a code has");
	is_golden($index, 5, 'code_leaf', "$index: a leaf of the second word");
}

for my $index ('whole_built', 'whole_inserted')
{
	is_golden($index, 0, 'whole_description', "$index: the page that says that the index has whole codes");
	is_golden($index, 2, 'whole_leaf', "$index: a leaf of whole codes");
}

# Each tree becomes one empty leaf, its root, and gives up its other pages.
$node->safe_psql('postgres', 'DELETE FROM many; VACUUM many;');
is_golden('many_si', $_, 'free', "block $_ is free") for 5, 16;

done_testing();
