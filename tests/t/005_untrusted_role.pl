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
	q{CREATE FUNCTION mine(bigint, bigint) RETURNS integer LANGUAGE C AS '$libdir/simhash_pg', 'simhash_pg_hamming'});
isnt($code, 0, 'but cannot declare functions of the library otherwise');

# Row-level security: a function that can raise an error, and thereby reveal a row, must not be called for rows that the
# policy hides. It would raise an error for the hidden row here.
($code, $out, $err) = as_developer(q{
	CREATE TABLE secret (owner name, si bigint, scheme text);
	INSERT INTO secret VALUES ('developer', 1, 'word:1'), ('somebody', 2, 'none');
	ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
	ALTER TABLE secret FORCE ROW LEVEL SECURITY;
	CREATE POLICY own ON secret USING (owner = current_user);
	SELECT si FROM secret WHERE hamming(si, 0) <= 64 AND simhash('a', scheme) IS NOT NULL;});
is($out, "1\n", 'row-level security holds') or diag($err);
is($err, '', 'and says nothing of the hidden row');

# The same for bit strings. The hidden row has another length.
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

# A near join compares codes before it tests other conditions, but never for rows that a policy or a view hides. A
# function with a low cost, which reports its arguments, is in WHERE, in the join condition, and in a code.
($code, $out, $err) = as_developer(q{
	CREATE FUNCTION tells(si bigint) RETURNS bigint LANGUAGE plpgsql STABLE COST 0.0001
		AS $$BEGIN RAISE NOTICE 'seen %', si; RETURN si; END $$;
	CREATE TABLE hiding (owner name, si bigint);
	INSERT INTO hiding SELECT 'developer', 1000000 + i FROM generate_series(1, 3) AS i;
	INSERT INTO hiding VALUES ('somebody', 42), ('somebody', 1000003);
	CREATE TABLE probe AS SELECT i AS id, i::bigint AS si FROM generate_series(1000001, 1000003) AS i;
	CREATE VIEW seen WITH (security_barrier) AS SELECT * FROM hiding WHERE owner = 'developer';
	ANALYZE hiding, probe;
	CREATE TABLE asked (query text);
	INSERT INTO asked SELECT format(query, hides) FROM unnest(ARRAY['hiding', 'seen']) AS hides, unnest(ARRAY[
		'SELECT p.id, h.si FROM probe AS p JOIN %s AS h ON hamming(p.si, h.si) <= 1 WHERE tells(h.si) > 0',
		'SELECT p.id, h.si FROM probe AS p JOIN %s AS h ON hamming(p.si, h.si) <= 1 AND tells(h.si) > p.id - 100',
		'SELECT p.id, h.si FROM probe AS p LEFT JOIN %s AS h ON hamming(p.si, h.si) <= 1 AND tells(h.si) > p.id - 100',
		'SELECT p.id, h.si FROM probe AS p JOIN %s AS h ON hamming(p.si, tells(h.si)) <= 1',
		'SELECT p.id, h.si FROM probe AS p JOIN %s AS h ON hamming(tells(h.si), p.si) <= 1 '
			'AND hamming(p.si, h.si) <= 3']) AS query;
	ALTER TABLE hiding ENABLE ROW LEVEL SECURITY;
	ALTER TABLE hiding FORCE ROW LEVEL SECURITY;
	CREATE POLICY own ON hiding USING (owner = current_user);
	SET enable_nestloop = off;
	CREATE FUNCTION near_joins(query text) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		line text;
		found bigint := 0;
	BEGIN
		FOR line IN EXECUTE 'EXPLAIN ' || query LOOP found := found + (line ~ 'Near .*Join')::integer; END LOOP;
		RETURN found;
	END $$;
	CREATE FUNCTION rows_of(query text) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		found bigint;
	BEGIN
		EXECUTE 'SELECT count(*) FROM (' || query || ') AS q WHERE id > 0' INTO found;
		RETURN found;
	END $$;
	SELECT string_agg(near_joins(query) || ' ' || rows_of(query), ', ') FROM asked;});
is($code, 0, 'leaky functions in near joins') or diag($err);
is($out, join(', ', ('1 7') x 10) . "\n", 'all of them near joins, with the rows that are shown');
my %told = map { $_ => 1 } $err =~ /NOTICE:  seen (\d+)/g;
is_deeply([ sort keys %told ], [qw(1000001 1000002 1000003)], 'and no hidden row is seen') or diag($err);

done_testing();
