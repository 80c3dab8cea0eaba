# Functions that the TAP tests share.
package SimhashTest;

use strict;
use warnings;
use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(usleep);

our @EXPORT = qw(start_node start_again run_psql ask bindir session function_names patience SECONDS_OF_PATIENCE
	make_workload check_workload pgbench_scripts);

# The time after which a step counts as hanging, for PostgreSQL's own modules too.
use constant SECONDS_OF_PATIENCE => $ENV{PG_TEST_TIMEOUT_DEFAULT} || 180;

# A running cluster with the extension in database postgres.
sub start_node
{
	my ($name, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	my $run = \&PostgreSQL::Test::Utils::system_or_bail;
	# initdb takes a second of computing. A copy of what it made before takes none (tools/tests/test).
	my $init = sub { $_[0] eq 'initdb' ? $run->('cp', '-RPp', $ENV{INITIAL_DATA}, $node->data_dir) : $run->(@_) };
	no warnings 'redefine';
	local *PostgreSQL::Test::Utils::system_or_bail = $ENV{INITIAL_DATA} ? $init : $run;
	$node->init(extra => [ '--encoding', 'UTF8', '--locale', 'C' ], %options);
	$node->append_conf('postgresql.conf', 'fsync = off');
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION simhash_pg');
	return $node;
}

# Starts a server that was killed. The last of its processes may take a moment to notice, so it is tried again, ever
# more rarely: each failure prints the server's whole log.
sub start_again
{
	my ($node) = @_;
	my $begin = time;
	for (my $pause = 0.1; ; $pause = $pause < 10 ? $pause * 1.5 : 10)
	{
		return if $node->start(fail_ok => 1);
		$node->{_pid} = undef;
		my $zombie = killed_zombie($node);
		die "the server does not start again in ${\(time - $begin)} s: $zombie" . last_line($node->logfile)
		  if time - $begin > ($zombie ? 20 : SECONDS_OF_PATIENCE);
		usleep(1e6 * $pause);
	}
}

# Says so if the process of the server that was killed still exists because nobody asks how it ended.
sub killed_zombie
{
	my ($node) = @_;
	open(my $file, '<', $node->data_dir . '/postmaster.pid') or return '';
	my ($pid) = <$file> =~ /(\d+)/ or return '';
	open(my $stat, '<', "/proc/$pid/stat") or return '';
	return '' unless <$stat> =~ /^\d+ \(.*\) Z/;
	return "process $pid is a zombie, for process 1 of this container is no init (docker run --init); ";
}

sub last_line
{
	my ($file) = @_;
	my @lines = split /\n/, PostgreSQL::Test::Utils::slurp_file($file);
	return $lines[-1] // 'its log is empty';
}

# Runs statements as a person would see them: aligned output, stopped by the first error.
# Returns the exit code, the output and the errors.
sub run_psql
{
	my ($node, $database, $sql, @options) = @_;
	my @command = ('psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($database), @options, '-f', '-');
	my $out = '';
	my $err = '';
	IPC::Run::run(\@command, '<', \$sql, '>', \$out, '2>', \$err);
	return ($? >> 8, $out, $err);
}

# A session of psql. Its timer is for each query, where PostgreSQL's module can (by itself it is for the whole session).
sub session
{
	my ($node, @options) = @_;
	my $session = $node->background_psql('postgres', @options);
	$session->set_query_timer_restart(1) if $session->can('set_query_timer_restart');
	return $session;
}

# The names of all functions of the extension, as the catalog lists them.
sub function_names
{
	my ($node) = @_;
	return split /\n/, $node->safe_psql('postgres', q{
		SELECT DISTINCT proname FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass
			AND d.objid = p.oid AND d.deptype = 'e'
		JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'simhash_pg' ORDER BY 1});
}

# Ends a program that runs longer than the seconds that it is meant to run.
sub patience
{
	my ($seconds) = @_;
	return IPC::Run::timeout($seconds + SECONDS_OF_PATIENCE);
}

# What a background session answers. The modules of older minor versions leave ends of lines and their separator in it.
sub ask
{
	my ($session, $query) = @_;
	return $session->query($query) =~ s/background_psql: QUERY_SEPARATOR//r =~ s/^\s+|\s+$//gr;
}

# The directory of PostgreSQL's programs.
sub bindir
{
	chomp(my $dir = `pg_config --bindir`);
	return $dir;
}

# The columns of the workload's table, each with an index of type hamming, and their types. The index on `twin` has a
# second column, and is asked for one of its values.
my %columns = (si => 'bigint', code => 'bit', twin => 'bigint');

# The table, and functions that raise an error when an index does not find what a sequential scan finds. Both are
# looked at by one query, so they have the same snapshot whatever others do.
sub make_workload
{
	my ($node) = @_;
	$node->safe_psql('postgres', q{
		CREATE SEQUENCE ids;
		CREATE TABLE document (id bigint, si bigint, code bit(150), twin bigint GENERATED ALWAYS AS (si) STORED,
			part integer GENERATED ALWAYS AS (nullif(id % 20 / 4 * (id % 3), 2)) STORED);
		CREATE INDEX document_si ON document USING hamming (si);
		CREATE INDEX document_code ON document USING hamming (code);
		CREATE INDEX document_twin ON document USING hamming (twin, part);
		CREATE FUNCTION any_fingerprint() RETURNS bigint LANGUAGE sql VOLATILE AS $$
			SELECT CASE floor(random() * 8)
				WHEN 0 THEN NULL
				WHEN 1 THEN floor(random() * 4)::bigint
				WHEN 2 THEN hashint8extended(floor(random() * 200)::bigint, 2) #
					(1::bigint << floor(random() * 64)::integer)
				WHEN 3 THEN hashint8extended(floor(random() * 200)::bigint, 2) # floor(random() * 64)::bigint
				ELSE hashint8extended(floor(random() * 1e9)::bigint, 1) END $$;
		-- The same for strings of bits: a scattered one, and one that may be NULL, popular, or near to one of a few.
		CREATE FUNCTION scattered_code(n bigint) RETURNS bit LANGUAGE sql IMMUTABLE AS $$
			SELECT (hashint8extended(n, 1)::bit(64) || hashint8extended(n, 2)::bit(64) || hashint8extended(n,
				3)::bit(22))::bit(150) $$;
		CREATE FUNCTION flipped(code bit, place integer) RETURNS bit LANGUAGE sql IMMUTABLE
			AS 'SELECT set_bit(code, place, 1 - get_bit(code, place))';
		CREATE FUNCTION any_code() RETURNS bit LANGUAGE sql VOLATILE AS $$
			SELECT CASE floor(random() * 8)
				WHEN 0 THEN NULL
				WHEN 1 THEN floor(random() * 4)::bigint::bit(150)
				WHEN 2 THEN flipped(scattered_code(floor(random() * 200)::bigint), floor(random() * 150)::integer)
				WHEN 3 THEN scattered_code(floor(random() * 200)::bigint) # floor(random() * 64)::bigint::bit(150)
				ELSE scattered_code(floor(random() * 1e9)::bigint) END $$;
		INSERT INTO document SELECT nextval('ids'), any_fingerprint(), any_code() FROM generate_series(1, 20000);});
	for my $column (sort keys %columns)
	{
		my $functions = q{
		CREATE FUNCTION by_scan(query TYPE, radius integer) RETURNS bigint[] LANGUAGE sql STABLE
			SET enable_indexscan = off SET enable_bitmapscan = off
			AS 'SELECT array_agg(id ORDER BY id) FROM document WHERE hamming(COLUMN, query) <= radius';
		CREATE FUNCTION by_index(query TYPE, radius integer) RETURNS bigint[] LANGUAGE sql STABLE
			SET enable_seqscan = off SET enable_bitmapscan = off
			AS 'SELECT array_agg(id ORDER BY id) FROM document WHERE hamming(COLUMN, query) <= radius';
		CREATE FUNCTION by_bitmap(query TYPE, radius integer) RETURNS bigint[] LANGUAGE sql STABLE
			SET enable_seqscan = off SET enable_indexscan = off
			AS 'SELECT array_agg(id ORDER BY id) FROM document WHERE hamming(COLUMN, query) <= radius';
		CREATE FUNCTION nearest_by_scan(query TYPE, k integer) RETURNS integer[] LANGUAGE sql STABLE
			SET enable_indexscan = off AS 'SELECT array_agg(d)
				FROM (SELECT hamming(COLUMN, query) AS d FROM document ORDER BY hamming(COLUMN, query) LIMIT k) AS n';
		CREATE FUNCTION nearest_by_index(query TYPE, k integer) RETURNS integer[] LANGUAGE sql STABLE
			SET enable_seqscan = off SET enable_sort = off
			AS 'SELECT array_agg(d)
				FROM (SELECT hamming(COLUMN, query) AS d FROM document ORDER BY hamming(COLUMN, query) LIMIT k) AS n';

		CREATE FUNCTION assert_same(query TYPE, radius integer) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
		DECLARE
			k integer := 1 + radius * 10;
		BEGIN
			IF by_index(query, radius) IS DISTINCT FROM by_scan(query, radius) OR by_bitmap(query, radius) IS DISTINCT
				FROM by_scan(query, radius) THEN
				RAISE EXCEPTION 'radius % of %: by scan %, by index %, by bitmap %', radius, query,
					by_scan(query, radius), by_index(query, radius), by_bitmap(query, radius);
			ELSIF nearest_by_index(query, k) IS DISTINCT FROM nearest_by_scan(query, k) THEN
				RAISE EXCEPTION 'nearest % of %: by scan %, by index %', k, query, nearest_by_scan(query, k),
					nearest_by_index(query, k);
			END IF;
			RETURN coalesce(cardinality(by_index(query, radius)), 0);
		END $$;};
		if ($column eq 'twin')
		{
			$functions =~ s/FROM document WHERE/FROM document WHERE part = radius % 9 AND/g;
			$functions =~ s/FROM document ORDER BY/FROM document WHERE part = k % 9 ORDER BY/g;
			$functions =~ s/\b(by_scan|by_index|by_bitmap|nearest_by_scan|nearest_by_index|assert_same)\b/$1_of_part/g;
		}
		$node->safe_psql('postgres', $functions =~ s/TYPE/$columns{$column}/gr =~ s/COLUMN/$column/gr);
		my $query = $column eq 'code' ? 'scattered_code(42)' : 42;
		my ($scan, $nearest) = map {
			$node->safe_psql('postgres',
				"SET enable_seqscan = off; SET enable_sort = off; EXPLAIN SELECT id FROM document $_")
		} "WHERE hamming($column, $query) <= 6", "ORDER BY hamming($column, $query) LIMIT 10";
		die "not by the index: $scan $nearest" unless $scan =~ /document_$column/ && $nearest =~ /document_$column/;
	}
}

# The faults of the indexes of the workload's table.
sub check_workload
{
	my ($node) = @_;
	return join '', map { $node->safe_psql('postgres',
		"SELECT * FROM hamming_index_check('document_$_', true)") } sort keys %columns;
}

# Writes scripts for pgbench, and returns the options that choose them by weight. Nobody waits for a row that another
# has locked: clients that meet the same rows in other orders would end in a deadlock.
sub pgbench_scripts
{
	my ($dir, %weights) = @_;
	my $free_of = sub { "ctid = ANY (ARRAY(SELECT ctid FROM document WHERE id % $_[0] = :part FOR "
		. "UPDATE SKIP LOCKED));" };
	my %scripts = (
		insert => "INSERT INTO document SELECT nextval('ids'), any_fingerprint(), any_code() "
			. "FROM generate_series(1, 200);",
		update => "\\set part random(0, 499)\nUPDATE document SET si = any_fingerprint(), code = any_code() WHERE "
			. $free_of->(500),
		delete => "\\set part random(0, 39)\nDELETE FROM document WHERE " . $free_of->(40),
		vacuum => 'VACUUM document;',
		check => "\\set radius random(0, 24)\n"
		  . "SELECT assert_same(coalesce(any_fingerprint(), 0) # (1::bigint << floor(random() * 64)::integer), "
		  . ":radius);\n"
		  . "SELECT assert_same_of_part(coalesce(any_fingerprint(), 0), :radius);\n"
		  . "SELECT assert_same(flipped(coalesce(any_code(), scattered_code(0)), floor(random() * 150)::integer), "
		  . ":radius);");
	my @options;
	for my $name (sort keys %weights)
	{
		PostgreSQL::Test::Utils::append_to_file("$dir/$name.sql", $scripts{$name}) unless -e "$dir/$name.sql";
		push @options, '-f', "$dir/$name.sql\@$weights{$name}";
	}
	return @options;
}

1;
