# Statements whose rows another session changes concurrently. In each of many random pairs, the first session changes
# rows, and the second one runs a statement with a join by distance. It waits for the first session, which then commits
# or rolls back. Each pair runs twice from the same state, with the extension and with arithmetic instead of it:
# returned rows, numbers of rows, errors and tables must be the same. The seed is printed; SEED repeats a run, and PAIRS
# makes it longer (make soak). TwoSessions.pm contains the grammar.

use strict;
use warnings;
use Test::More;
use List::Util qw(uniq);
use SimhashTest;
use PostgreSQL::Test::Utils;
use TwoSessions;

# The number of pairs that use the same tables.
use constant BATCH => 10;

my $seed = $ENV{SEED} // int rand 2**31;
my $pairs = $ENV{PAIRS} // 100;
diag("seed $seed");

my $node = start_node('two_sessions');
$node->append_conf('postgresql.conf',
	"autovacuum = off\nlog_temp_files = 0\njit = off\nmax_parallel_workers_per_gather = 0\nstatement_timeout = '"
	. SECONDS_OF_PATIENCE . "s'");
$node->restart;
# Waits until a session is blocked by another one or has finished its last statement.
$node->safe_psql('postgres', q{
	CREATE FUNCTION how_far(session integer, statement text) RETURNS text LANGUAGE plpgsql AS $$
	BEGIN
		LOOP
			IF cardinality(pg_blocking_pids(session)) > 0 THEN
				RETURN 'waits';
			ELSIF EXISTS (SELECT FROM pg_stat_get_activity(session) WHERE query = statement AND state LIKE 'idle%') THEN
				RETURN 'has finished';
			END IF;
			PERFORM pg_sleep(0.001), pg_stat_clear_snapshot();
		END LOOP;
	END $$;});
my ($first, $second, $watch) = map { session($node, on_error_stop => 0) } 1 .. 3;
my $pid = ask($second, 'SELECT pg_backend_pid()');
my $generator = TwoSessions->new($seed);
my $number = 0;

# Statements for psql, which prints the SQLSTATE and the number of rows of each.
sub printed { return join '', map { "\\echo -- \n$_;\n\\echo -- :SQLSTATE :ROW_COUNT\n" } @_; }

# The statement, or how to prepare and execute it.
sub statements
{
	my ($pair, $way) = @_;
	my $statement = TwoSessions::written($pair, $pair->{statement}, $way);
	return $pair->{prepared} ? ("PREPARE p (integer) AS $statement", 'EXECUTE p (4)') : $statement;
}

# Sorts the rows of each statement.
sub ordered { return join '', map { join '', sort split /^/m } split /^(?=-- $)/m,
	$_[0] =~ s/background_psql: QUERY_SEPARATOR//gr; }

# Runs a pair. Returns what both sessions have printed, and the tables.
sub run
{
	my ($pair, $way) = @_;
	my $before = $pair->{first_isolation};
	my $name = 'pair ' . ++$number . " $way $pair->{plan}";
	my $read = TwoSessions::written($pair, $pair->{read}, $way) =~ s/\$1/4/gr;
	my ($prepare, @executed) = statements($pair, $way);
	($prepare, @executed) = ('SELECT', $prepare) unless @executed;
	# Visible in pg_stat_activity even if the transaction has failed.
	my $last = "SET application_name = '$name has finished'";
	my %run;
	ask($watch, $generator->reset);
	ask($second, "RESET ALL; $pair->{settings} SET plan_cache_mode = force_generic_plan; "
		. "SET application_name = '$name'; $prepare");
	$run{$_->[0]} = $way eq 'arithmetic' ? '' : ask($second, "EXPLAIN (COSTS OFF) $_->[1]")
		for [ plan => @executed ], [ reading => $read ];
	my $out = ask($second, printed("BEGIN ISOLATION LEVEL $pair->{isolation}", $read));
	my $other = ask($first, printed("BEGIN ISOLATION LEVEL $before", $pair->{changes})
		. ($pair->{early} ? printed($pair->{end}) : ''));
	$out .= "\n" . $second->query_until(qr/begun/, "\\echo begun\n" . printed(@executed) . "$last;\n");
	$run{waits} = ask($watch, "SELECT how_far($pid, \$\$$last;\$\$)") eq 'waits';
	$other .= ask($first, printed($pair->{end})) unless $pair->{early};
	$out .= ask($second, printed($read, 'COMMIT') . "DEALLOCATE ALL");
	$run{answer} = "second session:\n" . ordered("$out\n") . "first session:\n$other\ntables:\n"
		. ask($watch, TwoSessions::contents()) . "\n";
	$_->{stderr} = '' for $first, $second;
	return \%run;
}

# The statements of a pair, and the lines that differ.
sub report
{
	my ($pair, $ours, $truth) = @_;
	my ($too_many, $missing) = map { my ($x, $y) = @$_; join '', grep { index("\n$y", "\n$_") < 0 } split /^/m,
		$x } [ $ours->{answer}, $truth->{answer} ], [ $truth->{answer}, $ours->{answer} ];
	my ($read, @statements) = (TwoSessions::written($pair, $pair->{read}, 'ours'), statements($pair, 'ours'));
	return "DIFFERENT: $pair->{plan}, $pair->{isolation}\n"
		. "A: BEGIN ISOLATION LEVEL $pair->{first_isolation}; $pair->{changes};\n"
		. "B: $pair->{settings} BEGIN ISOLATION LEVEL $pair->{isolation}; $read;\nB: "
	  . join('; ', @statements) . ";\nA: $pair->{end};" . ($pair->{early} ? ' (before the statement of B)' : '')
	  . "\nnot by arithmetic:\n${too_many}by arithmetic alone:\n$missing$ours->{plan}\n";
}

my (%count, %differ);
while (($count{pairs} // 0) < $pairs)
{
	my $tables = $generator->tables;
	$node->safe_psql('postgres', $tables);
	my $differences = 0;
	for (1 .. BATCH)
	{
		my $pair = $generator->pair;
		my ($ours, $truth) = map { run($pair, $_) } 'ours', 'arithmetic';
		my @kinds = ((map { "$_: $pair->{$_}" } qw(statement_of isolation plan)), "codes: $generator->{type}",
			(map { "join: $_" } @{ $pair->{joins} }), (map { "change: $_" } sort keys %{ $pair->{kinds} }),
			$ours->{waits} ? 'waits' : (), (map { "SQLSTATE $_" } grep { $_ ne '25P02' } uniq($truth->{answer}
				=~ /^-- (\w{5}) /mg)), (map { "node: $_" } "$ours->{plan}$ours->{reading}"
				=~ /Custom Scan \((Near [\w ]*Join)\)/g),
			$ours->{plan} =~ /Custom Scan/ ? 'by near join' : (), $ours->{plan} =~ /(?:using|on) \w+_[cd](?:_v)?_idx/
				? ('by index', "index: $generator->{index}") : (), $ours->{plan} =~ /Order By: .*<[~^]>/
				? 'by an ordered index' : (), $ours->{plan} =~ /Group Key: \S+\.ctid/ ? 'by inner rows' : (),
			$ours->{reading} =~ /Parallel Custom Scan|Gather.*Custom Scan/s ? 'by workers' : ());
		$count{$_}++ for 'pairs', @kinds;
		next if $ours->{answer} eq $truth->{answer};
		$differences++;
		$differ{$_}++ for 'pairs', @kinds;
		diag($differences == 1 ? "$tables\n" : '', report($pair, $ours, $truth));
	}
	is($differences, 0, "$count{pairs} pairs of seed $seed");
}
note(sprintf '%5d, of which %d differ: %s', $count{$_}, $differ{$_} // 0, $_) for sort keys %count;
$_->quit for $first, $second, $watch;

# The test would show nothing if no session waited, or if the extension were not used.
my $log = slurp_file($node->logfile);
my %least = ($pairs >= 100 ? (waits => 0.4, 'by near join' => 0.25, 'node: Near Semi Join' => 0, 'by index' => 0) : (),
	$pairs >= 1000 ? map { $_ => 0 } 'by workers', 'by inner rows', 'SQLSTATE 40001',
		(map { "node: Near ${_}Join" } 'Left ', 'Right ', 'Full ', 'Anti '),
		'index: gist (c gist_hamming_ops)', 'index: gin (c sketch_ops)' : ());
cmp_ok($count{$_} // 0, '>', $least{$_} * $count{pairs}, "enough of them: $_") for sort keys %least;
is(join(' ', grep { /SQLSTATE (?!00000|23505|40001|55P03)/ } sort keys %count), '', 'no other errors');
like($log, qr/ours near join, little memory LOG:  temporary file/, 'some wrote files') if $pairs >= 1000;
unlike($log, qr/PANIC|panicked|terminated by signal/, 'no crash');

done_testing();
