# The trigger with COPY, and with concurrent writers.

use strict;
use warnings;
use Test::More;
use SimhashTest;
use PostgreSQL::Test::Utils;

my $node = start_node('trigger');
my $wrong = "SELECT count(*) FROM document WHERE si IS DISTINCT FROM simhash(concat_ws(E'\\n', title, body))";

$node->safe_psql(
	'postgres', q{
	CREATE TABLE document (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, title text, si bigint, body text);
	CREATE TRIGGER fingerprint BEFORE INSERT OR UPDATE ON document
		FOR EACH ROW EXECUTE FUNCTION simhash_trigger('si', 'title', 'body');});

# COPY, with NULLs and line breaks.
my $rows = join '', map { "title $_\tline one of $_\\nline two of $_\n\\N\t$_ only a body\n" } 1 .. 5000;
my ($code, $out, $err) =
  run_psql($node, 'postgres', "COPY document (title, body) FROM STDIN;\n$rows\\.\n");
is($code, 0, 'COPY succeeds') or diag($err);
is($node->safe_psql('postgres', 'SELECT count(*) FROM document'), 10000, 'all rows are there');
is($node->safe_psql('postgres', $wrong), 0, 'every row has its fingerprint');

# Writers that insert and change the same rows all the time.
my $script = $node->basedir . '/writers.sql';
append_to_file($script, q{
\set id random(1, 50)
\set n random(1, 1000000)
INSERT INTO document (title, body) VALUES ('title ' || :n, 'body ' || :n);
UPDATE document SET title = 'title ' || :n WHERE id = :id;
UPDATE document SET body = 'changed ' || :n WHERE id = :id;
});
$node->command_ok(
	[ 'pgbench', '-n', '-c', '8', '-j', '2', '-t', '200', '-f', $script, $node->connstr('postgres') ],
	'eight concurrent writers');
is($node->safe_psql('postgres', 'SELECT count(*) FROM document'), 11600, 'all their rows are there');
is($node->safe_psql('postgres', $wrong), 0, 'every row has the fingerprint of its last text');

# Types of other extensions that are stored like text.
SKIP:
{
	my $has_citext = $node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'");
	skip 'citext is not installed', 1 unless $has_citext;
	$node->safe_psql(
		'postgres', q{
		CREATE EXTENSION citext;
		CREATE TABLE folded (body citext, si bigint);
		CREATE TRIGGER fingerprint BEFORE INSERT ON folded FOR EACH ROW EXECUTE FUNCTION simhash_trigger('si', 'body');
		INSERT INTO folded VALUES ('A text of citext');});
	is($node->safe_psql('postgres', 'SELECT si = simhash(body::text) FROM folded'), 't', 'a column of type citext');
}

# If the trigger refuses a row, the whole COPY fails.
$node->safe_psql('postgres', 'ALTER TABLE document ALTER si TYPE integer USING 0');
($code, $out, $err) = run_psql($node, 'postgres', "COPY document (title) FROM STDIN;\na\nb\n\\.\n");
isnt($code, 0, 'COPY into a table whose target is no bigint fails');
like($err, qr/column "si" has type integer, not bigint/, 'and says why');
is($node->safe_psql('postgres', 'SELECT count(*) FROM document'), 11600, 'no row was written');

done_testing();
