# Code of a table's owner is never executed with the privileges of another role, unless PostgreSQL itself does so.
#
# A role owns a table, and has put a canary into each place that can contain code: expressions and predicates of
# indexes, casts, domains, defaults, generated columns, constraints, triggers, policies, views and statistics. A canary
# writes to the server's log as which role it is executed. Then a superuser, and a role that is not the owner, execute
# everything that uses the extension or its indexes. In a second database, the tables have B-trees, and the same
# statements use PostgreSQL's own functions. A canary may be executed as another role only if this happens there as
# well.
#
# The same is repeated with code that changes: a session that remains open uses a table while its canaries are harmless,
# the owner changes them, and the session continues. These canaries also report for which row they are called, because
# row-level security hides most rows from the second role. ChangedCanaries.pm generates tables, changes and statements.
#
# Types, indexes, canaries and plans are chosen at random for each table. The seed is printed, and SEED repeats a run.
# CANARIES is the number of tables whose code does not change; half as many have code that changes.

use strict;
use warnings;
use Test::More;
use List::Util qw(sum0);
use PostgreSQL::Test::Utils;
use SimhashTest;
use ChangedCanaries;

my $seed = $ENV{SEED} // int rand 2**31;
my $rounds = $ENV{CANARIES} || 2;
diag("seed $seed");
srand $seed;

my $node = start_node('whose_rights', allows_streaming => 'logical');
$node->append_conf('postgresql.conf',
	"log_line_prefix = ''\nlog_statement = none\nlog_error_verbosity = terse\nlog_min_error_statement = panic\n"
	. "autovacuum = off\n"
	  . "max_wal_senders = 40\nmax_replication_slots = 40\nmax_logical_replication_workers = 20\n"
	  . "max_worker_processes = 40\njit = off");
$node->restart;
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN; CREATE ROLE reader LOGIN');

sub any { return $_[ rand @_ ] }

# The functions of the owner. Each takes the name of its place.
my $canaries = q{
	CREATE FUNCTION hostile.sing(place text) RETURNS boolean LANGUAGE plpgsql PARALLEL SAFE AS $$
		BEGIN RAISE LOG 'canary % sings as % in % during %', place, current_user, current_database(),
			current_setting('application_name'); RETURN true; END $$;
	CREATE FUNCTION hostile.of(place text, value anyelement) RETURNS anyelement LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
		AS $$
		BEGIN PERFORM hostile.sing(place); RETURN value; END $$;
	CREATE FUNCTION hostile.triggered() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN PERFORM hostile.sing('trigger ' || tg_name); RETURN coalesce(new, old); END $$;
	CREATE DOMAIN hostile.positive AS integer CHECK (hostile.of('domain positive', value) > 0);
	CREATE DOMAIN hostile.fingerprint AS bigint CHECK (hostile.of('domain fingerprint', value) IS NOT NULL);
	CREATE DOMAIN hostile.hash AS bit(256) CHECK (hostile.of('domain hash', length(value)) > 0);
	CREATE DOMAIN hostile.body AS text CHECK (length(hostile.of('domain body', value)) > 0);
	CREATE TYPE hostile.composite AS (id integer, name hostile.body);
	CREATE TYPE hostile.mood AS ENUM ('glad', 'sad');
	CREATE TYPE hostile.span AS RANGE (subtype = integer);
	CREATE FUNCTION hostile.span_of(id integer) RETURNS hostile.span LANGUAGE sql IMMUTABLE
		AS 'SELECT hostile.span($1, $1 + 1)';} . join '', map {
		my $type = "hostile.$_";
		my $name = $_ =~ s/\[\]/s/r;
		qq{
	CREATE FUNCTION hostile.text_of_$name($type) RETURNS text LANGUAGE plpgsql
		AS \$\$ BEGIN PERFORM hostile.sing('cast of $name'); RETURN '$name'; END \$\$;
	CREATE CAST ($type AS text) WITH FUNCTION hostile.text_of_$name($type) AS IMPLICIT;}
	} 'composite', 'mood', 'span', 'composite[]';

# For each database: how an index, a distance and so on are written there.
my %databases = (
	ours => { am => 'hamming', extension => 'CREATE EXTENSION simhash_pg;', gist => [ 'gist', 'gist_hamming_ops' ],
		sketches => 'sketch_ops', ball => [ 'hamming_ball(', ', 1)', '~' ] },
	twins => { am => 'btree', extension => '', gist => [ 'btree', '' ], sketches => '', ball => [ '(', ')', '=' ] });
my %codes = (
	bigint => { plain => 'bigint', domain => 'hostile.fingerprint', bits => '(%s)::bit(64)',
		value => 'hashint8extended(i %% 40, %d)' },
	bit => { plain => 'bit(256)', domain => 'hostile.hash', bits => '%s',
		value => "(hashint8extended(i %% 40, %d)::bit(64) || repeat('0', 192)::bit(192))::bit(256)" });

# Keys of many types, some of which are the owner's and have casts.
my @keys = (
	[ number => 'integer', 'i' ],
	[ positive => 'hostile.positive', 'i' ],
	[ composite => 'hostile.composite', q{ROW(i, 'n')::hostile.composite} ],
	[ composites => 'hostile.composite[]', q{ARRAY[ROW(i, 'n')::hostile.composite]} ],
	[ mood => 'hostile.mood', q{'glad'::hostile.mood} ],
	[ span => 'hostile.span', 'hostile.span_of(i)' ]);
my %keys = (
	columns => join(', ', map { "$_->[0] $_->[1]" } @keys),
	names => join(', ', map { $_->[0] } @keys),
	values => join(', ', map { $_->[2] } @keys));

# A table as it is drawn: its definition, where %AM% is the access method, and which of its canaries have to be heard.
sub draw_table
{
	my ($kind) = @_;
	my $code = $codes{$kind};
	my @code = map { sprintf $code->{value}, $_ } 1, 2;
	my $code_type = $code->{ any('plain', 'domain') };
	my $body = any('text', 'varchar(200)', 'hostile.body');
	my $rows = "SELECT i, $keys{values}, $code[0], $code[1], ARRAY[i % 7, 10 + i % 40]::bigint[], i % 5, i % 3, "
		. "'some words of the text ' || i";
	my $sql = qq{
		CREATE TABLE hostile.t (id integer PRIMARY KEY, $keys{columns}, code $code_type, other $code->{plain},
			sketch bigint[], x integer, grp integer, body $body,
			made integer GENERATED ALWAYS AS (hostile.of('generated column', x)) STORED,
				note text DEFAULT hostile.of('default', 'n'::text),
			CHECK (hostile.of('constraint', true) AND x >= 0 AND hostile.of('constraint', x) >= 0));
		CREATE TRIGGER before BEFORE INSERT OR UPDATE
			OR DELETE ON hostile.t FOR EACH ROW EXECUTE FUNCTION hostile.triggered();
		CREATE TRIGGER after AFTER INSERT OR UPDATE OR DELETE ON hostile.t FOR EACH ROW EXECUTE FUNCTION
			hostile.triggered();
		INSERT INTO hostile.t (id, $keys{names}, code, other, sketch, x, grp, body) $rows
			FROM generate_series(1, 400) AS i;};
	my @heard = ('generated column', 'default', 'constraint', 'trigger before', 'trigger after', 'policy',
		'view column', 'view condition');
	my $trees = $kind eq 'bit' ? ' WITH (trees = %s)' : '';
	# Three indexes whose first column is the code, an expression of it, or one of each.
	for my $n (1 .. 3)
	{
		my $plain = $n == 3 ? 'other' : 'code';
		my $first = $n == 1 || $n == 3 && rand() < 0.5 ? $plain
			: "(hostile.of('code of index $n', $plain)::$code->{plain})";
		push @heard, "code of index $n" if $first ne $plain;
		my @further = map { any('grp', "(hostile.of('column $_ of index $n', x))",
			"(hostile.of('column $_ of index $n', 'c'::text) || x)") } 2 .. 1 + int rand 3;
		@further = ("(hostile.of('column 2 of index $n', x))") if $n == 1;
		my $columns = join(', ', $first, @further);
		push @heard, $columns =~ /'(column \d of index \d)', x/g;
		my $predicate = $n == 1 ? '' : any('', ' WHERE x < 9',
			" WHERE x < 9 AND hostile.of('predicate of index $n', x) < 9");
		push @heard, "predicate of index $n" if $predicate =~ /hostile/;
		# An index on an expression always has whole codes.
		my $options = $first eq $plain ? sprintf($trees, any('words', 'words', 'both', 'whole')) : '';
		$sql .= "CREATE INDEX t_$n ON hostile.t USING %AM% ($columns)$options$predicate;\n";
	}
	# Our classes of other access methods.
	if ($kind eq 'bigint')
	{
		$sql .= "CREATE INDEX t_4 ON hostile.t USING %GIST% ((hostile.of('code of index 4', other)) %GIST_OPS%) "
			. "WHERE hostile.of('predicate of index 4', x) < 9 AND x < 9;\n";
		push @heard, 'code of index 4', 'predicate of index 4';
	}
	$sql .= "CREATE INDEX t_5 ON hostile.t USING gin (sketch %SKETCH_OPS%) "
		. "WHERE hostile.of('predicate of index 5', x) < 9 AND x < 9;\n";
	$sql .= qq{
		CREATE STATISTICS hostile.s ON (hostile.of('statistics', x)), grp FROM hostile.t;
		CREATE VIEW hostile.v AS SELECT id, $keys{names}, code, body, other, sketch, grp, hostile.of('view column', x)
			AS x FROM hostile.t WHERE hostile.of('view condition', id) > 0;
		CREATE POLICY p ON hostile.t USING (hostile.of('policy', id) > 0);
		ALTER TABLE hostile.t ENABLE ROW LEVEL SECURITY;
		CREATE TABLE hostile.small AS SELECT * FROM hostile.t WHERE id <= 60;
		GRANT ALL ON ALL TABLES IN SCHEMA hostile TO reader;
		ANALYZE hostile.t, hostile.small;};
	push @heard, 'statistics', 'predicate of index 5', 'exclusion';
	my $near = sub { my ($a, $b) = @_; [ "hamming($a, $b)", 'bit_count(' . sprintf($code->{bits}, "$a # $b") . ')' ] };
	return { sql => $sql, kind => $kind, code => $code, rows => $rows, near => $near, heard => \@heard };
}

my $index = 'SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off; '
	. 'SET enable_hashjoin = off; SET simhash_pg.enable_near_join = off;';
my $workers = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; '
	. 'SET min_parallel_table_scan_size = 0; SET min_parallel_index_scan_size = 0;';
my %plans = (
	'scan' => 'SET enable_indexscan = off; SET enable_bitmapscan = off;',
	'index' => $index,
	'bitmap' => 'SET enable_seqscan = off; SET enable_indexscan = off; SET enable_hashjoin = off; '
		. 'SET simhash_pg.enable_near_join = off;',
	'near join' => 'SET enable_nestloop = off;',
	'near join, small memory' => q{SET enable_nestloop = off; SET work_mem = '64kB'; SET hash_mem_multiplier = 1;},
	'workers' => "$workers SET enable_nestloop = off;",
	'workers, index' => "$workers $index");

# What the superuser and the reader do, as pairs of statements: by the extension, and without it.
sub statements
{
	my ($table) = @_;
	my ($near, $code) = @$table{ 'near', 'code' };
	my $query = sprintf $code->{value} =~ s/\bi\b/17/r, 1;
	my (@all, %functions);
	# One statement that has a distance in it, of these two codes.
	my $both = sub {
		my ($statement, $a, $b) = @_;
		my $distances = $near->($a, $b);
		return [ map { $statement =~ s/NEAR/$_/gr } @$distances ];
	};
	for my $from ('hostile.t', 'hostile.v')
	{
		for my $what ('count(*)', '*')
		{
			my $as = $what eq '*' ? '' : ' AS q';
			push @all, map { $both->($_, 'code', $query) } "SELECT $what FROM $from WHERE NEAR <= 3",
				"SELECT $what FROM $from WHERE NEAR <= 3 AND grp = 1",
			  "SELECT $what FROM $from WHERE NEAR <= 3 AND x < 9 AND id > 3";
			push @all, map { $both->($_, 'other',
				$query) } "SELECT $what FROM $from WHERE NEAR <= 9 AND x < 9 AND grp = 2";
		}
		push @all, map { $both->($_, 'code', $query) } "SELECT id FROM $from ORDER BY NEAR LIMIT 5",
			"SELECT code FROM $from ORDER BY NEAR LIMIT 5",
		  "SELECT id FROM $from WHERE x < 9 ORDER BY NEAR LIMIT 300",
			"SELECT id, NEAR FROM $from WHERE grp = 1 ORDER BY NEAR LIMIT 3";
		push @all, map { $both->($_, 'a.code', 'b.code') }
		  ("SELECT count(*) FROM $from AS a JOIN hostile.small AS b ON NEAR <= 2",
			"SELECT count(*), count(b.span) FROM $from AS a LEFT JOIN hostile.small AS b ON NEAR <= 2 AND a.x = b.x",
			"SELECT count(*) FROM $from AS a WHERE EXISTS (SELECT FROM hostile.small AS b "
				. "WHERE NEAR <= 2 AND a.id <> b.id)",
			"SELECT count(*) FROM $from AS a WHERE NOT EXISTS (SELECT FROM hostile.small AS b WHERE NEAR <= 2)",
			"SELECT count(*) FROM hostile.small AS b, LATERAL (SELECT a.id FROM $from AS a WHERE a.x < 9 "
				. "ORDER BY NEAR LIMIT 2) AS l");
	}
	push @all, [ map { "SELECT id FROM hostile.t WHERE x < 9 AND $_" } 'sketch_overlaps(sketch, ARRAY[3, '
		. '17]::bigint[])', 'sketch && ARRAY[3, 17]::bigint[]' ];
	push @all, $both->('SELECT id FROM hostile.t WHERE NEAR <= 3 FOR UPDATE', 'code', $query);
	push @all, map { $both->($_, 'a.code', 'b.code') }
	  ('DELETE FROM hostile.t AS a USING hostile.small AS b WHERE NEAR <= 2 AND a.id > b.id',
		'UPDATE hostile.t AS a SET x = 4 WHERE EXISTS (SELECT FROM hostile.small AS b WHERE NEAR <= 2)',
		"MERGE INTO hostile.t AS a USING (SELECT DISTINCT ON (code) * FROM hostile.small) AS b ON NEAR <= 1 "
			. "AND a.id < 9 WHEN MATCHED THEN UPDATE SET x = 3 WHEN NOT MATCHED THEN DO NOTHING");
	push @all, [ map { "INSERT INTO hostile.t (id, $keys{names}, code, other, sketch, x, grp, body) $table->{rows} "
		. "FROM generate_series(1001, 1010) AS i" } 1, 2 ];
	push @all, [ map { "UPDATE hostile.t SET code = other WHERE id < 9" } 1, 2 ];
	# Functions that read a relation by its name. The measure is a plain SELECT of the same columns.
	$functions{'create_rare_code(name,regclass,name)'} = 1;
	push @all, [ "SELECT create_rare_code('rare_' || gen_random_uuid(), '$_', 'body')", "SELECT body FROM $_" ]
		for 'hostile.t', 'hostile.v', 'hostile.small';
	for my $from ('hostile.t', 'hostile.v', 'hostile.small')
	{
		$functions{'hamming_histogram(regclass,name,integer,name)'} = 1;
		$functions{'near_differences(regclass,name,name,integer,name,integer)'} = 1;
		push @all, [ "SELECT * FROM hamming_histogram('$from', 'code', 50)", "SELECT code FROM $from" ];
		push @all, [ "SELECT * FROM hamming_histogram('$from', 'code', 50, 'body')", "SELECT code, body FROM $from" ];
		push @all, map { [ "SELECT * FROM near_differences('$from', 'code', 'body', 3, '$_->[0]')",
			"SELECT code, body, $_->[0] FROM $from" ] } @keys;
	}
	push @all, map { [ "SELECT near_cluster($_, code, 2) OVER (ORDER BY id) FROM hostile.t",
		"SELECT $_, code, first_value(id) OVER (ORDER BY id) FROM hostile.t" ] } 'id', 'composite';
	push @all, [ "SELECT near_blocks(code, 3, 4) FROM hostile.t", 'SELECT code FROM hostile.t' ];
	push @all, [ "SELECT * FROM repeated_passages('SELECT id, body FROM hostile.v', 10, NULL::integer)",
		'SELECT id, body FROM hostile.v' ];
	my @maintenance = map { [ $_, $_ ] } 'VACUUM hostile.t', 'VACUUM (FULL) hostile.t', 'ANALYZE hostile.t',
		'REINDEX TABLE hostile.t', 'REINDEX TABLE CONCURRENTLY hostile.t',
	  'CLUSTER hostile.t USING t_pkey', 'ALTER TABLE hostile.t ALTER note TYPE varchar(99)';
	for my $concurrently ('', 'CONCURRENTLY')
	{
		push @maintenance, [ map {
			"CREATE INDEX $concurrently ON hostile.t USING $databases{$_}{am} (other, (hostile.of('further index', x)))"
		} 'ours', 'twins' ];
	}
	for my $n (1 .. 3)
	{
		$functions{$_} = 1 for 'hamming_index_check(regclass,boolean)', 'hamming_index_stats(regclass)';
		push @maintenance, [ "SELECT * FROM hamming_index_check('hostile.t_$n', $_)", 'SELECT 1' ] for 'false', 'true';
		push @maintenance, [ "SELECT * FROM hamming_index_stats('hostile.t_$n')", 'SELECT 1' ];
	}
	push @maintenance, [ 'SELECT * FROM hamming_indexes', 'SELECT 1' ],
		[ 'ALTER EXTENSION simhash_pg UPDATE', 'SELECT 1' ];
	push @maintenance, [ map {
		"ALTER TABLE hostile.small ADD EXCLUDE USING $databases{$_}{am} ((hostile.of('exclusion', id::bigint)) WITH =)"
	} 'ours', 'twins' ];
	push @maintenance, map { [ $_,
		$_ ] } 'INSERT INTO hostile.small SELECT * FROM hostile.t WHERE id BETWEEN 50 AND 70 ON CONFLICT DO NOTHING',
		'COPY hostile.t TO STDOUT';
	return (\%functions, \@maintenance, @all);
}

# What canaries have sung since the last call: by what was going on, and by whom.
my $read = 0;

sub songs
{
	my $log = slurp_file($node->logfile, $read);
	$read += length $log;
	my %songs;
	# What applies changes of a publication has no application's name.
	while ($log =~ /^LOG:  canary (.*) sings as (.*) in (.*) during (.*?)(?: of row (.*))?$/mg)
	{
		$songs{ $4 || $3 =~ s/_/ /r }{$1}{$2}{ $5 // '' }++;
	}
	return \%songs;
}

# A superuser deletes rows that the owner has just changed, so their conditions are tested once more.
sub rechecks
{
	my ($name, $near) = @_;
	my ($owner, $other) = map { $node->background_psql($name) } 1, 2;
	$owner->query('SET ROLE owner; BEGIN; UPDATE hostile.t SET x = x WHERE id <= 9');
	$other->query_until(qr/begun/, "SET application_name = '$name rechecks'; BEGIN;\n\\echo begun\n"
		  . "DELETE FROM hostile.t AS a WHERE x < 9 AND EXISTS (SELECT FROM hostile.small AS b WHERE $near <= 2);\n");
	$node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = '$name rechecks' "
		. "AND wait_event_type = 'Lock'") or die 'it does not wait';
	$owner->query('COMMIT');
	$other->query('ROLLBACK');
	$_->quit for $owner, $other;
}

my %used = map { $_ => 0 } 'Index Scan', 'Index Only Scan', 'Bitmap Index Scan', 'Near Join', 'Near Semi Join',
	'Workers';
for my $round (1 .. $rounds)
{
	my $table = draw_table(('bit', 'bigint')[ $round % 2 ]);
	my $schema = 'GRANT CREATE ON SCHEMA public TO PUBLIC; '
		. 'CREATE SCHEMA hostile AUTHORIZATION owner; GRANT USAGE ON SCHEMA hostile TO PUBLIC; SET ROLE owner;'
		. $canaries . $table->{sql};
	my ($functions, $maintenance, @queries) = statements($table);
	my (@run, %script, %names);
	for my $role ($superuser, 'reader')
	{
		push @run, map { { role => $role, plan => $_->[0], pair => $_->[1] } } map { my $pair = $_;
		map { [ $_, $pair ] } (any(sort keys %plans), any(sort keys %plans)) } @queries;
	}
	push @run, map { { role => $superuser, plan => 'scan', pair => $_ } } @$maintenance;
	for my $which (0, 1)
	{
		my $database = ('ours', 'twins')[$which];
		my $name = $names{$database} = "$database$round";
		my $as = $databases{$database};
		my %place = (AM => $as->{am}, GIST => $as->{gist}[0], GIST_OPS => $as->{gist}[1],
			SKETCH_OPS => $as->{sketches});
		$node->safe_psql('postgres', "CREATE DATABASE $name TEMPLATE template0");
		$node->safe_psql($name, "SET application_name = '$name begin'; $databases{$database}{extension} "
			. $schema =~ s/%(\w+)%/$place{$1}/gr =~ s/ WITH \(trees = \w+\)/$which ? '' : $&/ger);
		my $script = "\\set ON_ERROR_STOP 0\n\\pset pager off\n";
		for my $n (0 .. $#run)
		{
			my ($role, $plan, $pair) = @{ $run[$n] }{ 'role', 'plan', 'pair' };
			my $statement = $pair->[$which];
			my $is_query = $statement =~ /^(SELECT|DELETE|UPDATE|MERGE|INSERT)/;
			$script .= "SET application_name = '$name $n'; SET ROLE " . ($role eq $superuser ? 'NONE' : $role)
				. ";\n$plans{$plan}\n";
			$script .= $is_query ? "BEGIN;\n\\echo \@plan\nEXPLAIN (COSTS OFF) $statement;\n\\o /dev/null\n"
				. "$statement;\n\\o\n\\echo \@state $n :SQLSTATE\nROLLBACK;\n"
				: "$statement;\n\\echo \@state $n :SQLSTATE\n";
			$script .= "RESET ALL;\n";
		}
		my ($out, $err);
		$node->psql($name, $script, stdout => \$out, stderr => \$err, on_error_stop => 0);
		rechecks($name, $table->{near}->('a.code', 'b.code')->[$which]);
		# What remains after all of it is dumped and restored, and replicated.
		$node->safe_psql($name, "SET application_name = '$name end'; RESET ROLE; "
			. "CREATE PUBLICATION p FOR TABLE hostile.t; "
			. "SELECT pg_create_logical_replication_slot('$name', 'pgoutput')");
		my $dump = $node->basedir . "/$name.dump";
		for my $step ("restored $name", "subscribed $name")
		{
			local $ENV{PGAPPNAME} = $step;
			my $copy = $step =~ s/ /_/r;
			my @part = $step =~ /^sub/ ? ('--schema-only', '--no-publications') : ();
			$node->command_ok([ 'pg_dump', '--format', 'custom', '--file', "$dump.$copy", @part,
				$node->connstr($name) ], "$step: dumped");
			$node->safe_psql('postgres', "CREATE DATABASE $copy TEMPLATE template0");
			$node->command_ok([ 'pg_restore', '--exit-on-error', '--dbname', $node->connstr($copy), "$dump.$copy" ],
				"$step: restored");
		}
		my $connection = $node->connstr($name);
		$node->safe_psql("subscribed_$name",
			"SET application_name = 'subscribed $name'; "
			. "CREATE SUBSCRIPTION \"subscribed $name\" CONNECTION "
			. "'${\($connection =~ s/'/''/gr)}' PUBLICATION p WITH (create_slot = false, slot_name = $name)");
		$node->poll_query_until("subscribed_$name",
			"SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate <> 'r'") or die 'no copy';
		$node->safe_psql($name, "SET application_name = '$name end'; "
			. "INSERT INTO hostile.t (id, $keys{names}, code, other, sketch, x, grp, body) $table->{rows} "
			. "FROM generate_series(2001, 2050) AS i; UPDATE hostile.t SET x = 4 WHERE id > 2040; "
			. "DELETE FROM hostile.t WHERE id > 2045");
		$node->poll_query_until("subscribed_$name", "SELECT count(*) = 45 FROM hostile.t WHERE id > 2000")
			or die 'no rows arrive';
		$node->safe_psql("subscribed_$name",
			"ALTER SUBSCRIPTION \"subscribed $name\" DISABLE; "
			. "ALTER SUBSCRIPTION \"subscribed $name\" SET (slot_name = NONE); DROP SUBSCRIPTION \"subscribed $name\"");
		$node->poll_query_until('postgres', "SELECT NOT active FROM pg_replication_slots WHERE slot_name = '$name'")
			or die 'the slot is in use';
		$node->safe_psql('postgres', "SELECT pg_drop_replication_slot('$name')");
		$script{$database} = { out => $out, err => $err };
	}
	my $songs = songs();
	my $listed = $node->safe_psql($names{ours}, q{SELECT string_agg(f, ' ' ORDER BY f COLLATE "C")
		FROM (SELECT p.oid::regprocedure::text AS f FROM pg_proc AS p
		JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
			JOIN pg_extension AS e ON e.oid = d.refobjid AND extname = 'simhash_pg'
		WHERE 'regclass'::regtype = ANY (p.proargtypes)) AS q});
	is($listed, join(' ', sort keys %$functions), 'every function that reads a relation by its name is called')
		if $round == 1;

	# The states of statements are the same, or a canary might have had no chance to sing.
	my %states = map { my $database = $_; ($database => [ $script{$database}{out}
		=~ /^\@state (.*)/mg ]) } keys %script;
	is_deeply($states{ours}, $states{twins}, "round $round: " . @run
		. " statements end alike with the extension and without it") or diag($script{ours}{err});
	my @failed = grep { !/ 00000$/ } @{ $states{ours} };
	cmp_ok(scalar @failed, '<=', 0.1 * @run, 'most of them without an error') or diag("@failed $script{ours}{err}");
	my $plan = $script{ours}{out};
	$used{$_} += () = $plan =~ /$_(?: using t_\d| on t_\d|\)| Planned)/g for keys %used;

	# Who heard a canary that is not to be heard.
	my @wrong;
	for my $n (0 .. $#run, 'rechecks', 'end', 'restored', 'subscribed')
	{
		my ($ours, $twins) = map { $songs->{ $n =~ /^(restored|subscribed)$/ ? "$n $_"
			: "$_ $n" } // {} } @names{ 'ours', 'twins' };
		for my $place (sort keys %$ours)
		{
			for my $role (grep { $_ ne 'owner' && !$twins->{$place}{$_} } sort keys %{ $ours->{$place} })
			{
				push @wrong, "$place as $role: " . ($n =~ /^\d+$/ ? "$run[$n]{plan}: $run[$n]{pair}[0]" : $n);
			}
		}
	}
	is(scalar @wrong, 0, "round $round: no canary sings as somebody as whom it would not without the extension")
		or diag(join "\n", splice @wrong, 0, 20);

	# A canary that never sings shows nothing.
	my %heard;
	for my $during (grep { /\b$names{ours}\b/ } keys %$songs)
	{
		$heard{$_} = 1 for keys %{ $songs->{$during} };
	}
	is_deeply([ grep { !$heard{$_} } sort @{ $table->{heard} } ], [],
		"round $round: all " . @{ $table->{heard} } . ' canaries are heard');
	my %restored = map { $_ => 1 } grep { /^(?:restored|subscribed)/ } keys %$songs;
	is(scalar keys %restored, 4, 'also in what is restored and replicated');
}

# The statements by which the owner changes a table in three steps, and uses it after each, as commands of psql that run
# them in a session of the owner.
sub change_commands
{
	my ($name, $table) = @_;
	my @commands;
	for my $step (1 .. 3)
	{
		my $id = 700 + $step;
		my @statements = ("SET application_name = '$name change $step'",
			"SET lock_timeout = '${\SECONDS_OF_PATIENCE}s'", @{ $table->{steps}[ $step - 1 ] },
			$table->insertions("generate_series($id, $id)"), 'UPDATE hostile.t SET x = x WHERE id < 5',
				map { "DELETE FROM hostile.$_ WHERE id = $id" } 't', 'excluding');
		my $script = $node->basedir . "/$name.change_$step.sql";
		append_to_file($script, join '', "\\set ON_ERROR_STOP 1\n", map { "$_;\n" } @statements);
		push @commands, "\\! psql -X -q -d \"${\$node->connstr($name)} user=owner\" -f $script </dev/null "
			. ">$script.out 2>&1\n";
	}
	return @commands;
}

# What a superuser and the reader do with a table: each statement in a mode and by a plan that are drawn for it.
# Statements by the expressions of an index matter most after the last change, by which the session's relation caches
# have been renewed.
sub draw_runs
{
	my ($table) = @_;
	my @runs;
	for my $statement ($table->statements)
	{
		my $text = $statement->{pair}[0];
		my $has_cursors = $text =~ /^SELECT/ && $text !~ /FOR UPDATE$/;
		# A function that reads a relation by its name plans its query each time, which a prepared statement does not.
		my @prepared = $statement->{name} =~ /histogram|differences/ ? ()
			: ('prepared', $text =~ /\bQ\b/ ? 'prepared with a parameter' : ());
		my @plans = $statement->{name} eq 'range' ? ('index', 'workers, index', 'bitmap')
			: $statement->{name} =~ /^(?:nearest|all)$/ ? ('index', 'workers, index') : sort keys %plans;
		for my $role ($superuser, 'reader')
		{
			# `nearest` is planned in each phase, so that it shows whether an index is searched (check_plans).
			my $mode = any('plain', @prepared, $has_cursors ? 'cursor' : (),
				$has_cursors && $statement->{name} ne 'nearest' ? 'open cursor' : ());
			my %skips = map { $_ => rand() < 0.6 } $mode eq 'open cursor' ? ()
				: ('after 2', $statement->{by} eq 'named' ? () : 'after 3');
			push @runs, { %$statement, role => $role, mode => $mode, plan => any(@plans), skips => \%skips };
		}
	}
	return @runs;
}

# What psql does for a run in a phase: `warm`, or `after` one of the steps. A cursor that stays open is declared in the
# phase before the step.
sub in_phase
{
	my ($name, $n, $run, $phase, $which) = @_;
	my $mode = $run->{mode};
	my $statement = $run->{pair}[$which];
	my $literal = $statement =~ s/\bQ\b/$run->{query}/gr;
	my $before = '';
	my $execute = "$literal;";
	my $explained = $literal;
	if ($mode =~ /^prepared/)
	{
		my ($type, $body, $argument) = $mode eq 'prepared' ? ('', $literal, '')
			: ("($run->{argument})", $statement =~ s/\bQ\b/\$1/gr, "($run->{query})");
		$before = "PREPARE p$n$type AS $body;\n" if $phase eq 'warm';
		($execute, $explained) = ("EXECUTE p$n$argument;", "EXECUTE p$n$argument");
	}
	elsif ($mode =~ /cursor$/)
	{
		my @execute = ("DECLARE c$n CURSOR FOR $literal;\nFETCH 2 FROM c$n;\n", "FETCH ALL FROM c$n;");
		$execute = $mode eq 'cursor' ? join('', @execute) : $phase =~ /^before/ ? $execute[0] : $execute[1];
		$explained = "DECLARE explained CURSOR FOR $literal";
	}
	my @transaction = $mode eq 'open cursor' ? ('', '') : ("BEGIN;\n", "ROLLBACK;\n");
	# An open cursor has the plan that was explained when it was declared.
	my $explain = $phase =~ /^(?:warm|before 1)$/ || $phase eq 'after 1' && $mode ne 'open cursor'
		|| $phase eq 'after 3' && $run->{by} eq 'named';
	my $role = $run->{role} eq $superuser ? 'NONE' : $run->{role};
	return "SET application_name = '$name $phase $n'; SET ROLE $role;\n"
		. "$plans{ $run->{plan} } SET plan_cache_mode = force_generic_plan;\n"
	  . "$before$transaction[0]\\o /dev/null\n$execute\n\\o\n\\echo \@state $phase $n :SQLSTATE\n"
	  . ($explain ? "\\echo \@plan $phase $n\nEXPLAIN (COSTS OFF) $explained;\n" : '') . "$transaction[1]RESET ALL;\n";
}

# What a session does in one database: everything, then a change by the owner, everything again, and so on; in the end,
# maintenance.
sub session_script
{
	my ($name, $table, $runs, $which) = @_;
	my @changes = change_commands($name, $table);
	my @all = 0 .. $#$runs;
	my $open = [ grep { $runs->[$_]{mode} eq 'open cursor' } @all ];
	my $others = [ grep { $runs->[$_]{mode} ne 'open cursor' } @all ];
	my $do = sub { my ($phase, $which_runs) = @_; return join '', map { in_phase($name, $_, $runs->[$_], $phase,
		$which) } grep { !$runs->[$_]{skips}{$phase} } @$which_runs };
	my $script = "\\set ON_ERROR_STOP 0\n\\pset pager off\n" . $do->('warm', $others);
	# Cursors stay open only while functions are changed: the last step locks the table.
	for my $step (1, 2)
	{
		$script .= "BEGIN;\n" . $do->("before $step", $open) . $changes[ $step - 1 ] . $do->("after $step", $open)
			. "COMMIT;\n" . $do->("after $step", $others);
	}
	$script .= $changes[2] . $do->('after 3', $others);
	my @maintenance = $table->maintenance;
	$script .= join '', map { "SET application_name = '$name maintenance $_'; SET ROLE NONE;\n\\o /dev/null\n"
		. "$maintenance[$_][$which];\n\\o\n\\echo \@state maintenance $_ :SQLSTATE\n" } 0 .. $#maintenance;
	return $script;
}

# Creates the table in a database, and begins the session there.
sub begin_session
{
	my ($name, $table, $runs, $database) = @_;
	my $as = $databases{$database};
	my %place = (AM => $as->{am}, GIST => $as->{gist}[0], GIST_OPS => $as->{gist}[1], BALL => $as->{ball}[0],
		RADIUS => $as->{ball}[1], NEAR => $as->{ball}[2]);
	my $sql = $table->{sql} =~ s/%([A-Z_]+)%/$place{$1}/gr;
	$sql =~ s/ WITH \(trees = \w+\)//g if $database eq 'twins';
	$node->safe_psql('postgres', "CREATE DATABASE $name TEMPLATE template0");
	$node->safe_psql($name, "SET application_name = '$name begin'; "
		. "$as->{extension} CREATE SCHEMA hostile AUTHORIZATION owner; GRANT USAGE ON SCHEMA hostile TO PUBLIC; "
		. "SET ROLE owner; $sql");
	my $script = $node->basedir . "/$name.sql";
	append_to_file($script, session_script($name, $table, $runs, $database eq 'ours' ? 0 : 1));
	return IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr($name), '-f', $script ], '<', '/dev/null', '>',
		"$script.out", '2>', "$script.err", patience(300));
}

my (%kinds_heard, %kinds_used);

# Every index is searched: after the first change still by its plain columns, because the session has not been told of
# the change, and after the last one by its expressions.
sub check_plans
{
	my ($table, $runs, $out) = @_;
	my %searched = ('after 1 plain' => {}, 'after 3 named' => {});
	while ($out =~ /^\@plan (.*?) (\d+)\n(.*?)(?=^\@)/msg)
	{
		my $phase = $1;
		my $run = $runs->[$2];
		my $plan = $3;
		$run->{has_bitmap} = 1 if $plan =~ /Bitmap Heap Scan/;
		for my $kind ('Index Scan', 'Bitmap Index Scan', 'Near Join', 'Workers')
		{
			my $uses = $plan =~ /\b$kind(?: using t_\d| on t_\d|\)| Planned)/;
			$kinds_used{$_} += $uses for $kind, $kind eq 'Index Scan' ? "$kind, $run->{mode}" : ();
		}
		$searched{"$phase $run->{by}"}{ $run->{index} } = 1 if $run->{index}
			&& $plan =~ /Scan (?:using|on) $run->{index}\b/;
	}
	for my $how ('after 1 plain', 'after 3 named')
	{
		my @not = grep { ($how =~ /plain/ || $_->{is_expression}) && !$searched{$how}{ $_->{name} } } @{
			$table->{indexes} };
		my %forms = map { $_->{name} => $_->{is_expression} ? $table->{canaries}{"key of $_->{name}"}{form}
			: 'column' } @not;
		is_deeply([ map { "$_->{name}: $_->{type}, $forms{$_->{name}}" } @not ], [], "every index is searched, $how");
	}
}

# Canaries are harmless at first, and are heard after they have been changed.
sub check_changes
{
	my ($table, $songs) = @_;
	my @early = map { my $during = $_; map { "$during: $_" } sort keys %{ $songs->{$during} } } grep {
		/^\w+ (?:begin|warm|before 1)\b/ } sort keys %$songs;
	is_deeply(\@early, [], 'no canary sings before it is changed');
	my %heard = map { map { $_ => 1 } keys %$_ } values %$songs;
	my $canaries = $table->{canaries};
	is_deeply([ map { "$_ ($canaries->{$_}{form}; $canaries->{$_}{change})" } grep {
		!$heard{$_} } sort keys %$canaries ], [], 'all ' . keys(%$canaries) . ' canaries are heard');
	$kinds_heard{ $canaries->{$_}{change} } = 1 for grep { $heard{$_} } keys %$canaries;
}

# How often a canary has been called as the reader for rows that row security hides from it.
sub calls_for_hidden_rows
{
	my ($songs) = @_;
	my $calls = $songs->{reader} // {};
	return sum0(map { $calls->{$_} } grep { /^\d+$/ && ChangedCanaries::is_hidden($_) } keys %$calls);
}

# Who hears a canary that is not to be heard, and which canaries are called for hidden rows.
sub check_songs
{
	my ($table, $runs, $songs, $names) = @_;
	my @maintenance = $table->maintenance;
	my (@wrong, @hidden);
	for my $during (map { /^$names->{ours} (.*)/ ? $1 : () } sort keys %$songs)
	{
		my ($phase, $n) = $during =~ /^(.*?) ?(\d*)$/;
		my $run = $phase =~ /^(?:warm|before|after)/ ? $runs->[$n] : { by => '', mode => 'plain', plan => $phase,
			role => '', pair => $phase eq 'maintenance' ? $maintenance[$n] : [''] };
		my ($ours, $twins) = map { $songs->{"$_ $during"} // {} } @$names{ 'ours', 'twins' };
		# When an open cursor returns its first row, arithmetic has read the whole table, unlike an index scan.
		my $earlier = $run->{mode} eq 'open cursor' ? $songs->{"$names->{twins} " . $during =~ s/^after/before/r} // {}
			: {};
		for my $place (sort keys %$ours)
		{
			my $described = "$place ($table->{canaries}{$place}{form}; $table->{canaries}{$place}{change}), "
				. "$during, $run->{mode}, $run->{plan}: $run->{pair}[0]";
			# A query that names an expression may compute it, but not for hidden rows.
			my $is_named = $run->{by} eq 'named' && $place =~ / of $run->{index}$/;
			push @wrong, map { "as $_: $described" } grep { $_ ne 'owner' && !$twins->{$place}{$_}
				&& !$earlier->{$place} && !$is_named } sort keys %{ $ours->{$place} };
			# The policy decides what is hidden, the view shows what its owner sees, and the other table has no policy.
			next if $place =~ /policy|^exclusion/ || $run->{pair}[0] =~ /hostile\.v\b/;
			# If a query repeats the predicate of an index, a bitmap heap scan computes it for all rows of a lossy
			# bitmap, before it hides any. A bitmap of a B-tree is lossy only if it exceeds work_mem.
			next if $is_named && $place =~ /^predicate/ && $run->{has_bitmap};
			my $calls = calls_for_hidden_rows($ours->{$place});
			my $measure = calls_for_hidden_rows($twins->{$place}) + calls_for_hidden_rows($earlier->{$place});
			push @hidden, "$calls calls instead of $measure: $described" if $calls > $measure;
		}
	}
	is(scalar @wrong, 0, 'no canary that has been changed sings as somebody as whom it would not without the '
		. 'extension') or diag(join "\n", splice @wrong, 0, 20);
	is(scalar @hidden, 0, 'and none is called more often for rows that row security hides')
		or diag(join "\n", splice @hidden, 0, 20);
}

# A session warms up, the owner of the table changes it, and the session goes on.
sub warm_change_again
{
	my ($round) = @_;
	my $table = ChangedCanaries->new;
	my @runs = draw_runs($table);
	my %names = (ours => "warm_ours$round", twins => "warm_twins$round");
	my %session = map { $_ => begin_session($names{$_}, $table, \@runs, $_) } sort keys %names;
	my (%out, %err, %states);
	for my $database (sort keys %names)
	{
		$session{$database}->finish;
		($out{$database}, $err{$database}) = map { slurp_file($node->basedir . "/$names{$database}.sql.$_") } 'out',
			'err';
		$states{$database} = [ $out{$database} =~ /^\@state (.*)/mg ];
		is(join('', map { slurp_file($node->basedir . "/$names{$database}.change_$_.sql.out") } 1 .. 3), '',
			"$names{$database} is changed without an error");
	}
	is_deeply($states{ours}, $states{twins}, "warm $round: " . @{ $states{ours} }
		. ' statements end alike with the extension and without it') or diag($err{ours});
	is_deeply([ grep { !/ 00000$/ } @{ $states{ours} } ], [], 'and without an error') or diag($err{ours});
	check_plans($table, \@runs, $out{ours});
	my $songs = songs();
	check_changes($table, $songs);
	check_songs($table, \@runs, $songs, \%names);
}

warm_change_again($_) for 1 .. ($rounds + 1) / 2;
is_deeply([ grep { !$kinds_heard{$_} } ChangedCanaries::kinds_of_changes() ], [],
	'every kind of change has been heard');
note(explain(\%used), explain(\%kinds_used));
is_deeply([ map { my $kinds = $_; grep { !$kinds->{$_} } sort keys %$kinds } \%used, \%kinds_used ], [],
	'every kind of plan has run');
done_testing();
