# The same text has the same fingerprint in every encoding, and invalid text causes no damage.

use strict;
use warnings;
use Test::More;
use SimhashTest;

my $node = start_node('encodings');

# Bytes of a text in some encoding as an SQL expression of type text.
sub text_of { return "convert_from('\\x" . unpack('H*', $_[0]) . "'::bytea, '$_[1]')"; }

my %encodings = (LATIN1 => 'LATIN1', WIN1252 => 'WIN1252', EUC_JP => 'EUC_JP', LATIN9 => 'LATIN9');
for my $name (keys %encodings, 'SQL_ASCII')
{
	$node->safe_psql('postgres', "CREATE DATABASE \L$name\E TEMPLATE template0 ENCODING '$name' LOCALE 'C'");
	$node->safe_psql("\L$name", 'CREATE EXTENSION simhash_pg');
}

my $western = "Gr\xc3\xbc\xc3\x9fe aus K\xc3\xb6ln, \xc3\xa0 bient\xc3\xb4t";    # UTF-8
my $japanese = "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x81\xae\xe6\x96\x87\xe7\xab\xa0";
for (
	[ 'latin1', $western ],
	[ 'win1252', $western ],
	[ 'latin9', $western ],
	[ 'euc_jp', $japanese ],
	# 2 MB, so that the text is converted slice by slice.
	[ 'latin1', "$western " x 60000 ],
	[ 'euc_jp', $japanese x 120000 ])
{
	my ($database, $text) = @$_;
	my $all = sprintf 'SET client_encoding = UTF8; SELECT %s FROM (SELECT %s AS t) AS x', join(
		', ',
		"simhash(t)", "simhash(t, 'char:3')",
		"simhash(t, 'word:1')", "manber_sketch(t, 5, 2)",
		"simhash(t, 'commoncrawl')", "manber_sketch(t, 5, 2, unit => 'character')",
		"winnow_sketch(t, 5, 5)", "heintze_sketch(t, 10, 5)", "minhash(t, 8, 'char:3')", "minhash(t, 8)",
		"minhash_bits(t, 8)", "passage_sketch(t, 6) IS NOT NULL", "simhash(regexp_split_to_array(t, ' '))",
		# A huge text has too many parts for a list.
		length($text) > 1000 ? () : (
			"(SELECT string_agg(feature, '|') FROM simhash_features(t, 'word:1'))",
			"(SELECT string_agg(passage, '|') FROM shared_passages(t, substr(t, 3), 4))",
			"passage_headline(t, substr(t, 3, 9), 4, 'Escape=html')",
			"(SELECT string_agg(format('%s %s %s', document, pos, length), '|') "
				. "FROM repeated_passages(format('VALUES (%L, %L), (%L, %L)', t, t, substr(t, 3), "
				. "substr(t, 3)), 4, t))",
			"simhash_explain(t, substr(t, 5), 'word:1')",
			"extract_text('<p>' || t || '<p>&lt;' || t)"),
		"simhash(simhash_text(t, NULL, t), 'char:3')"), text_of($text, 'UTF8');
	is($node->safe_psql($database, $all), $node->safe_psql('postgres', $all),
		"$database: the same as in UTF8, " . length($text) . ' bytes');
}

# Normalization turns the micro sign into U+03BC, which LATIN1 does not have.
is($node->safe_psql('latin1',
	"SELECT string_agg(feature, ' ') FROM simhash_features('5 ' || chr(181) || 'm', 'word:1')"),
	'5 \u{3bc}m', 'features that the database cannot hold are escaped');
is( $node->safe_psql('latin1',
	"SELECT simhash_explain('5 ' || chr(181) || 'm', '5', 'word:1') -> 'deciding' -> 0 ->> 'feature'"),
	'\u{3bc}m', 'in explanations too');

# Characters that a database cannot store cause an error, and no damage.
my (undef, $text, $error) = run_psql($node, 'latin1', "SELECT extract_text('caf&eacute;')", '-At');
is($text, "caf\xe9\n", 'an entity that LATIN1 has');
(undef, undef, $error) = run_psql($node, 'latin1', "SELECT extract_text('&#8212;')");
like($error, qr/character with byte sequence 0xe2 0x80 0x94 in encoding "UTF8" has no equivalent in encoding "LATIN1"/,
	'and one that it has not');

# Trigger arguments, column names and messages in another encoding.
my $o = "\xf6";    # ö in LATIN1
$node->safe_psql('latin1', "SET client_encoding = LATIN1; CREATE TABLE d (\"K${o}rper\" text, si bigint);
	CREATE TRIGGER f BEFORE INSERT ON d FOR EACH ROW EXECUTE FUNCTION simhash_trigger('si', 'K${o}rper');
	INSERT INTO d VALUES ('Text mit \xfcml\xe4uten')");
is($node->safe_psql('latin1', "SET client_encoding = LATIN1; SELECT si = simhash(\"K${o}rper\") FROM d"),
	't', 'a column whose name is not ASCII');
my (undef, undef, $err) = run_psql($node, 'euc_jp', "SELECT simhash('a', " . text_of($japanese, 'UTF8') . ')');
like($err, qr/unknown fingerprint scheme "\\u\{65e5\}/, 'messages are ASCII where the database is not UTF8');

# Even in UTF8, a text can contain invalid bytes, for example from a function in C. Here, a cast creates one without a
# check.
$node->safe_psql('postgres', 'CREATE CAST (bytea AS text) WITHOUT FUNCTION');
for my $length (1, 100, 10000)
{
	my $start = "repeat('a b', $length)";
	for my $function ('simhash', 'winnow_sketch', 'extract_text')
	{
		is( $node->safe_psql('postgres', "SELECT $function($start || '\\xffc3'::bytea::text || 'ab')"),
			$node->safe_psql('postgres', "SELECT $function($start || repeat(chr(65533), 2) || 'ab')"),
			"$function: bytes that are not UTF-8 count as U+FFFD, $length times three bytes before them");
	}
}
$node->safe_psql('postgres', 'DROP CAST (bytea AS text)');

# SQL_ASCII accepts any bytes.
my $garbage = "SELECT %s FROM (SELECT string_agg(chr(i % 255 + 1), '') AS t FROM generate_series(1, 100000) AS i) AS x";
for my $function ("count(simhash(t))", "simhash(t, 'char:3')", "simhash(t, 'word:1')",
	"simhash(t, 'commoncrawl')", "cardinality(winnow_sketch(t))", "cardinality(heintze_sketch(t))",
		"cardinality(minhash(t))",
	"length(extract_text(t)) - length(extract_text(t))", "(SELECT count(*) FROM simhash_features(t, 'char:2'))",
	"(SELECT count(*) FROM shared_passages(t, t))", "length(passage_headline(t, substr(t, 5), 20))",
	"(SELECT count(*) FROM repeated_passages(format('VALUES (1::bigint, %L), (2, %L)', t, substr(t, 5)), 20))",
		"(SELECT count(*) FROM recursive_shingles(t))",
	"(simhash_explain(t, t || 'x', 'word:1') ->> 'distance')", "simhash(ARRAY[t])", "simhash(simhash_text(t, NULL, t))")
{
	like($node->safe_psql('sql_ascii', sprintf $garbage, $function), qr/^-?\d+$/, "bytes that are no text: $function");
}
like($node->safe_psql('sql_ascii', sprintf $garbage, "cardinality(manber_sketch(t))"), qr/^\d+$/,
	'and a sketch of them');
is( $node->safe_psql('sql_ascii', "SELECT simhash(E'valid \\xc3\\xa9', 'word:1')"),
	$node->safe_psql('postgres', "SELECT simhash(E'valid \\u00e9', 'word:1')"),
	'UTF-8 in SQL_ASCII is read as such');
($_, undef, $err) = run_psql($node, 'sql_ascii', "SELECT simhash('a', E'\\xff\\xfe')");
like($err, qr/unknown fingerprint scheme/, 'a scheme that is no text');

done_testing();
