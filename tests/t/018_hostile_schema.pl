# The extension calls no function of the role that owns its schema.

use strict;
use warnings;
use Test::More;
use SimhashTest;

# Functions with a body in SQL, and a call of each.
my %calls = (
	'rare_code(text,bytea)' => q{shared.rare_code('a cat', (SELECT shared.feature_weights(t, 'word:1')
		FROM (VALUES ('a cat'), ('a dog')) AS v (t)))},
	'simhash(tsvector)' => q{shared.simhash(to_tsvector('simple', 'a cat and a cat'))},
	'simhash_decode(numeric)' => q{shared.simhash_decode(18446744073709551615)});

my $node = start_node('hostile');
my $bodies = q{SELECT p.oid::regprocedure AS function, coalesce(pg_get_function_sqlbody(p.oid), prosrc) AS body
	FROM pg_proc AS p JOIN pg_language AS l ON l.oid = prolang AND lanname = 'sql'
	JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension AS e ON e.oid = d.refobjid AND extname = 'simhash_pg'};
is($node->safe_psql('postgres', "SELECT string_agg(function::text, ' ' ORDER BY function::text) FROM ($bodies) AS b"),
	join(' ', sort keys %calls), 'every body in SQL is called below');

my $names = $node->safe_psql('postgres',
	qq{SELECT string_agg(DISTINCT name[1], ' ') FROM ($bodies) AS b, regexp_matches(body, '(\\w+)\\s*\\(', 'g')
		AS name});
like($names, qr/\bcardinality\b.*\bsimhash_agg\b/, 'names that bodies use are found');
my $operators = $node->safe_psql('postgres',
	qq{SELECT string_agg(DISTINCT name[1], ' ') FROM ($bodies) AS b, regexp_matches(body, '[-+*/<>=~!@#%^&|]+', 'g')
		AS name});

$node->safe_psql('postgres', 'CREATE ROLE mallory LOGIN');

# A database with a schema of user mallory, who then runs some statements there.
sub hostile_database
{
	my ($name, $sql) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $name TEMPLATE template0");
	$node->safe_psql($name, 'CREATE SCHEMA shared AUTHORIZATION mallory');
	my ($code, undef, $err) = run_psql($node, $name, "SET search_path = shared; $sql", '-U', 'mallory');
	is($code, 0, "$name: mallory is ready") or diag($err);
}

# An overload of each name and operator for every pair of types that could be a better match, except for the functions
# that the extension itself creates.
my $own = $node->safe_psql('postgres', q{
	SELECT string_agg(quote_literal(proname || '(' || oidvectortypes(proargtypes) || ')'), ',') FROM pg_proc
	WHERE pronamespace = 'public'::regnamespace});
hostile_database('overloads', qq{
	WITH types AS (SELECT unnest('{smallint,integer,bigint,real,double precision,numeric,text,name,
			character varying,anyelement,anyarray,smallint[],integer[],bigint[],text[],
			tsvector,bit,bit varying}'::text[]) AS type),
		signatures AS (
			SELECT name, type AS args FROM types, unnest(string_to_array('$names', ' ')) AS name
			UNION ALL SELECT name, l.type || ', ' || r.type
				FROM types AS l, types AS r, unnest(string_to_array('$names operator', ' ')) AS name)
	SELECT format('CREATE FUNCTION %I(%s) RETURNS integer LANGUAGE plpgsql AS %L', name, args,
		format('BEGIN RAISE EXCEPTION ''%s runs as %%'', current_user; END', name))
	FROM signatures WHERE name || '(' || args || ')' <> ALL (ARRAY[$own])
	UNION ALL SELECT format('CREATE OPERATOR %s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = operator)', name, l.type,
		r.type)
	FROM types AS l, types AS r, unnest(string_to_array('$operators', ' ')) AS name
	\\gexec
	});
my ($code, $out, $err) = run_psql($node, 'overloads', 'CREATE EXTENSION simhash_pg SCHEMA shared');
is($code, 0, 'the extension is installed among overloads') or diag($err);
for my $function (sort keys %calls)
{
	($code, $out, $err) =
	  run_psql($node, 'overloads',
		"SET search_path = shared, public; SET client_min_messages = warning; SELECT $calls{$function} IS NOT NULL",
		'-At');
	is($err, '', "$function runs nothing of mallory's");
	is($out, "t\n", "$function has a result");
}

# If a name is taken, the script fails.
for (
	[ 'aggregate', 'CREATE FUNCTION simhash_agg(text, double precision) RETURNS bigint LANGUAGE sql RETURN 1',
		qr/function "simhash_agg" already exists with same argument types/ ],
	[ 'defaults', 'CREATE FUNCTION simhash_agg(text, double precision, integer DEFAULT 1) RETURNS bigint '
		. 'LANGUAGE sql RETURN 1',
		qr/function simhash_agg\(text, double precision\) is not unique/ ],
	[ 'operator', q{CREATE FUNCTION mine(bigint, bigint) RETURNS integer LANGUAGE sql RETURN 1;
		CREATE OPERATOR <~~> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = mine, COMMUTATOR = <~>)},
		qr/must be owner of operator <~>|operator <~>\(bigint,bigint\) is not a member of extension "simhash_pg"/ ],
	[ 'type', 'CREATE TYPE hamming_ball AS (center bigint, radius integer)', qr/type "hamming_ball" already exists/ ],
	[ 'function_of_bits', 'CREATE FUNCTION hamming(bit, bit) RETURNS integer LANGUAGE sql RETURN 1',
		qr/function "hamming" already exists with same argument types/ ],
	[ 'operator_of_bits', q{CREATE FUNCTION mine(bit, bit) RETURNS integer LANGUAGE sql RETURN 1;
		CREATE OPERATOR <^^> (LEFTARG = bit, RIGHTARG = bit, FUNCTION = mine, COMMUTATOR = <^>)},
		qr/must be owner of operator <\^>|operator <\^>\(bit,bit\) is not a member of extension "simhash_pg"/ ],
	[ 'type_of_bits', 'CREATE TYPE hamming_bit_ball AS (center bit, radius integer)',
		qr/type "hamming_bit_ball" already exists/ ])
{
	my ($name, $sql, $expected) = @$_;
	hostile_database($name, $sql);
	($code, $out, $err) = run_psql($node, $name, 'CREATE EXTENSION simhash_pg SCHEMA shared');
	like($err, $expected, "$name: the script does not go on with theirs");
}

done_testing();
