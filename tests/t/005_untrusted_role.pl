# A role without any privilege can install and use everything in its own database.

use strict;
use warnings;
use Test::More;
use SimhashTest;

my $node = start_node('untrusted');
$node->safe_psql('postgres', 'CREATE ROLE developer LOGIN');
$node->safe_psql('postgres', 'CREATE DATABASE theirs TEMPLATE template0 OWNER developer');

sub as_developer { return run_psql($node, 'theirs', $_[0], '-U', 'developer', '-At'); }

my ($code, $out, $err) = as_developer('CREATE EXTENSION simhash_pg');
is($code, 0, 'the owner of a database installs the extension') or diag($err);
($code, $out, $err) = as_developer(q{
	CREATE TABLE document (body text, si bigint, made bigint GENERATED ALWAYS AS (simhash(body)) STORED);
	CREATE TRIGGER fingerprint BEFORE INSERT ON document FOR EACH ROW EXECUTE FUNCTION simhash_trigger('si', 'body');
	INSERT INTO document VALUES ('a text of theirs');
	SELECT si = made, hamming(si, made), hamming_within(si, made, 0), si <~> made,
		sketch_similarity(manber_sketch(body, 3, 0), manber_sketch(body, 3, 0)) FROM document;});
is($code, 0, 'and uses it') or diag($err);
is($out, "t|0|t|0|1\n", 'with the right results');

($code, $out, $err) = as_developer(
	q{CREATE FUNCTION mine(bigint, bigint) RETURNS integer LANGUAGE C AS '$libdir/simhash_pg', 'hamming_wrapper'});
isnt($code, 0, 'but cannot declare functions of the library otherwise');

# Row-level security: what can raise, and so tell something of a row, must not see a row that the policy
# hides. The hidden row here would raise.
($code, $out, $err) = as_developer(q{
	CREATE TABLE secret (owner name, si bigint, scheme text);
	INSERT INTO secret VALUES ('developer', 1, 'word:1'), ('somebody', 2, 'none');
	ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
	ALTER TABLE secret FORCE ROW LEVEL SECURITY;
	CREATE POLICY own ON secret USING (owner = current_user);
	SELECT si FROM secret WHERE hamming(si, 0) <= 64 AND simhash('a', scheme) IS NOT NULL;});
is($out, "1\n", 'row-level security holds') or diag($err);
is($err, '', 'and says nothing of the hidden row');

# The same for strings of bits. The hidden row here has another length.
($code, $out, $err) = as_developer(q{
	CREATE TABLE image (owner name, code bit(256), loose bit varying);
	INSERT INTO image SELECT 'developer', i::bit(256), i::bit(256) FROM generate_series(1, 2000) AS i;
	INSERT INTO image VALUES ('somebody', 1::bit(256), B'1');
	CREATE INDEX ON image USING hamming (code);
	ANALYZE image;
	SELECT hamming(code, 1::bit(256)), hamming_within(code, 2::bit(256), 0), hamming_similarity(code, code)
		FROM image WHERE hamming(code, 1::bit(256)) <= 0;
	ALTER TABLE image ENABLE ROW LEVEL SECURITY;
	ALTER TABLE image FORCE ROW LEVEL SECURITY;
	CREATE POLICY own ON image USING (owner = current_user);
	SELECT count(*) FROM image WHERE hamming(loose, 1::bit(256)) <= 1;});
is($out, "0|f|1\n0|f|1\n11\n", 'strings of bits are used, and their row-level security holds') or diag($err);
is($err, '', 'and says nothing of the hidden row');

done_testing();
