# A restored dump of a table with a generated column, and of one with a trigger, has the same fingerprints. Codes of
# rare pairs of words are computed again, by a function whose weights are in the dump.

use strict;
use warnings;
use Test::More;
use SimhashTest;

my $node = start_node('dump');
$node->safe_psql(
	'postgres', q{
	CREATE TABLE generated (id integer PRIMARY KEY, body text,
		si bigint GENERATED ALWAYS AS (simhash(body, 'word:2')) STORED,
		by_default bigint GENERATED ALWAYS AS (simhash(body)) STORED,
		sketch bigint[] GENERATED ALWAYS AS (manber_sketch(body, 20, 2)) STORED);
	INSERT INTO generated SELECT i, repeat(translate(md5(i::text), '0123456789', 'nors tu i '), 3)
		FROM generate_series(1, 500) AS i;
	CREATE TABLE triggered (id integer PRIMARY KEY, body text, si bigint);
	CREATE TRIGGER fingerprint BEFORE INSERT OR UPDATE ON triggered
		FOR EACH ROW EXECUTE FUNCTION simhash_trigger('si', 'body', 'scheme=char:8');
	INSERT INTO triggered SELECT id, body FROM generated;
	CREATE INDEX ON generated (hamming(si, 42));
	ALTER TABLE triggered ADD CHECK (hamming_within(si, 42, 64));
	CREATE VIEW near AS SELECT id FROM generated WHERE hamming(si, 42) <= 24 AND si <~> 42 <= 24;
	CREATE TABLE codes (id integer PRIMARY KEY, code bit(128), ball hamming_bit_ball,
		CHECK (hamming(code, repeat('01', 64)::bit(128)) < 128));
	INSERT INTO codes SELECT id, ('x' || md5(body))::bit(128), hamming_ball(('x' || md5(id::text))::bit(128), id - 9)
		FROM generated;
	CREATE INDEX ON codes (hamming(code, repeat('0', 128)::bit(128)));
	CREATE VIEW near_codes AS SELECT id FROM codes WHERE code <^> repeat('0', 128)::bit(128) <= 64 OR code <@ ball;
	SET client_min_messages = warning;
	SELECT create_rare_code('rare', 'generated', 'body');
	ALTER TABLE generated ADD rare bit(256) GENERATED ALWAYS AS (rare(body)) STORED;
	CREATE INDEX generated_rare ON generated USING hamming (rare(body));});

my $fingerprints = q{
	SELECT md5(string_agg(concat_ws(' ', id, si, by_default, sketch, rare), ',' ORDER BY id)) FROM generated
	UNION ALL SELECT md5(string_agg(id || ' ' || si, ',' ORDER BY id)) FROM triggered
	UNION ALL SELECT concat_ws(' ', 'by default', count(DISTINCT by_default), 'rare', count(DISTINCT rare))
		FROM generated
	UNION ALL SELECT obj_description('rare(text)'::regprocedure)
	UNION ALL SELECT 'faults ' || count(*) FROM hamming_index_check('generated_rare', true)
	UNION ALL SELECT 'near ' || count(*) FROM near
	UNION ALL SELECT md5(string_agg(concat_ws(' ', id, code, ball), ',' ORDER BY id)) FROM codes
	UNION ALL SELECT 'near codes ' || count(*) FROM near_codes};
my $before = $node->safe_psql('postgres', $fingerprints);
my $first = qr/[0-9a-f]{32}\n[0-9a-f]{32}\nby default 500 rare 500\ncode of rare pairs .*\nfaults 0\nnear [1-9]\d*\n/;
my $second = qr/[0-9a-f]{32}\nnear codes [1-9]/;
like($before, qr/^$first$second/, 'there is something to compare');

for my $format ('plain', 'custom')
{
	my $dump = $node->basedir . "/$format.dump";
	$node->command_ok(
		[ 'pg_dump', '--format', $format, '--file', $dump, $node->connstr('postgres') ], "$format dump");
	$node->safe_psql('postgres', "CREATE DATABASE restored_$format TEMPLATE template0");
	my $target = $node->connstr("restored_$format");
	my @restore =
	  $format eq 'plain'
	  ? ('psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $target)
	  : ('pg_restore', '--exit-on-error', '--dbname', $target, $dump);
	$node->command_ok(\@restore, "$format restore");
	is($node->safe_psql("restored_$format", $fingerprints), $before, "$format: the same fingerprints");
	$node->safe_psql("restored_$format", "UPDATE triggered SET body = 'new text' WHERE id = 1");
	is( $node->safe_psql("restored_$format", "SELECT si = simhash('new text', 'char:8') FROM triggered WHERE id = 1"),
		't', "$format: the trigger still works");
}

done_testing();
