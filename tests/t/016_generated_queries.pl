# Random queries, each executed in four ways: by index, by near join, by sequential scan, and with arithmetic instead of
# the extension. The results, or the errors, must be the same. Fingerprints have type bigint in one half of the queries,
# and are bit strings of 70 bits in the other. The seed is printed; SEED repeats a run, and QUERIES makes it longer
# (make soak). QueryGenerator.pm contains the grammar, and generated_queries.sql the tables.

use strict;
use warnings;
use Test::More;
use File::Basename;
use List::Util qw(sum);
use SimhashTest;
use PostgreSQL::Test::Utils;
use QueryGenerator;

use constant BATCH => 50;
use constant ROWS  => 600;

my $seed = $ENV{SEED} // int rand 2**31;
my $queries = $ENV{QUERIES} // 1000;
diag("seed $seed");

my %ways = (
	'by index' => "SET search_path = ours, public; SET enable_seqscan = off; SET enable_sort = off; "
		. "SET enable_hashjoin = off; SET simhash_pg.enable_near_join = off;",
	'by near join' => "SET search_path = ours, public; SET enable_nestloop = off;",
	'by scan' => "SET search_path = ours, public; SET enable_hashjoin = off; SET simhash_pg.enable_near_join = off; "
		. "SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;",
	'by arithmetic' => "SET search_path = arithmetic, public;");

my ($generator, $node);

# Begins with one type of fingerprints, in a separate cluster.
sub begin
{
	my ($kind) = @_;
	$generator = QueryGenerator->new($seed, $kind);
	$node = start_node("generated_$kind");
	$node->safe_psql('postgres', 'DROP EXTENSION simhash_pg; CREATE TABLE base (n, grp, si, other) AS VALUES '
		. $generator->rows(ROWS));
	my $tables = slurp_file(dirname(__FILE__) . '/generated_queries.sql');
	$tables = of_bits($tables) if $kind eq 'bits';
	$node->safe_psql('postgres', $tables);
}

# The tables with strings of bits. An index of GiST becomes one of type hamming on one of its columns.
sub of_bits
{
	my ($tables) = @_;
	$tables =~ s/(CREATE TYPE hamming_ball AS \(center) bigint/$1 varbit/;
	$tables =~ s/bit\(64\)|bigint/bit(70)/g;
	$tables =~ s/\b64\b/70/g;
	$tables =~ s/<~>/<^>/g;
	# There are no constraints on balls of strings of bits.
	$tables =~ s/hamming_ball\((\w+), \d+\)/$1/g;
	$tables =~ s/USING gist \(grp, si gist_hamming_ops\)/USING hamming (si, grp)/g;
	my $before = qr/(?:other gist_hamming_ops, |grp, )?/;
	my $behind = qr/(?:, other gist_hamming_ops)?/;
	$tables =~ s/USING gist \($before(\w+|\(\(.*\)\)) gist_hamming_ops$behind\)/USING hamming ($1)/g;
	$tables =~ s/^(CREATE INDEX include_idx .*) INCLUDE .*;/$1;/m;
	# Takes each choice of trees in turn. An index on an expression has only one.
	my $index = 0;
	my $with = sub {
		my ($create, $is_half_full) = @_;
		my $trees = $create =~ /hamming \(\(/ ? 'whole' : (qw(words both whole))[ $index++ % 3 ];
		return "WITH (trees = $trees" . ($is_half_full ? ', fillfactor = 50)' : ')');
	};
	my $has_option = qr/( WITH \(fillfactor = 50\))?/;
	my $is_partial = qr/( WHERE .*)?/;
	$tables =~ s{^(\s*CREATE INDEX .* USING hamming .*?)$has_option$is_partial;$}
		{"$1 " . $with->($1, $2) . ($3 // '') . ';'}gme;
	return $tables;
}

# The settings of a query for one way to answer it.
sub settings
{
	my ($query, $way) = @_;
	my %own = ('by index' => $query->{index}, 'by near join' => $query->{near_join});
	return join '', map { "$_;\n" } grep { $_ } $query->{shared}, $own{$way};
}

# A statement as it is written for one way.
sub statement
{
	my ($statement, $way) = @_;
	$statement =~ s{/\*ARITHMETIC (.*?)\*/}{$way eq 'by arithmetic' ? $1 : ''}ge;
	return $statement;
}

# The statements of a query in a transaction of their own, and by index or near join also their plans.
sub script
{
	my ($query, $way) = @_;
	my $shows_plan = $way =~ /^by (?:index|near join)$/;
	my $script = "BEGIN;\n" . settings($query, $way);
	for my $text (@{ $query->{statements} })
	{
		my $statement = statement($text, $way);
		$script .= "\\echo \@plan\nEXPLAIN (COSTS OFF) $statement;\n" if $shows_plan
			&& $statement !~ /^(PREPARE|FETCH|MOVE|SET)/;
		$script .= "\\echo \@answer\n$statement;\n\\echo \@state :SQLSTATE\n";
	}
	return $script . "ROLLBACK;\nDEALLOCATE ALL;\n";
}

# The results of several queries in one way.
sub answers
{
	my ($way, @batch) = @_;
	my $script = "$ways{$way}\nSET jit = off; SET statement_timeout = '" . SECONDS_OF_PATIENCE . "s';\n"
	  . "\\pset null ~\n\\set ON_ERROR_ROLLBACK on\n\\set VERBOSITY sqlstate\n"
	  . join '', map { "\\echo \@query\n" . script($_, $way) } @batch;
	my ($out, $err);
	my $code = $node->psql('postgres', $script, stdout => \$out, stderr => \$err, on_error_stop => 0);
	die "psql ended with $code: $err" . $node->logfile if $code;
	my (undef, @parts) = split /^\@query\n?/m, $out;
	return map { answer($parts[$_], $batch[$_]) } 0 .. $#batch;
}

# What psql printed for one query: rows are sorted where the query does not order them, those of a cursor all together.
sub answer
{
	my ($printed, $query) = @_;
	my ($answer, $plan, @combined) = ('', '');
	for my $part (split /^(?=\@(?:plan|answer))/m, $printed)
	{
		$plan .= $part if $part =~ /^\@plan/;
		next unless $part =~ /^\@answer\n(.*?)\@state (\w+)/s;
		my ($state, @rows) = ($2, split /^/m, $1);
		push @combined, splice @rows if $query->{combined};
		$answer .= join('', $query->{ordered} ? @rows : sort @rows) . "-- $state\n";
	}
	$answer = join('', sort @combined) . $answer;
	return { answer => $answer, plan => $plan };
}

# A query that can be pasted into psql, and the lines in which its result differs from the right one.
sub report
{
	my ($query, $way, $answer, $truth) = @_;
	my $too_many = beyond($answer->{answer}, $truth);
	my $missing = beyond($truth, $answer->{answer});
	return "DIFFERENT $way:\n$ways{$way}\nBEGIN; " . settings($query, $way)
	  . join('', map { "$_;\n" } @{ $query->{statements} }) . "ROLLBACK; DEALLOCATE ALL;\n"
	  . ($too_many || $missing ? "not by arithmetic:\n${too_many}by arithmetic alone:\n$missing"
	  : "in another order\n") . $answer->{plan};
}

# The first lines that one text has more often than another.
sub beyond
{
	my ($text, $other) = @_;
	my %times;
	$times{$_}++ for split /^/m, $other;
	my @lines = grep { !$times{$_}-- } split /^/m, $text;
	return join '', splice @lines, 0, 10;
}

# The indexes of a plan that find or order rows by distance.
sub indexes
{
	my ($plan) = @_;
	my $another = qr/(?:Index Cond: .*\n\s*)??/;
	return $plan =~ /(?:using|Scan on) (\w+)_idx\w*\b.*\n\s*$another(?:Index Cond|Order By): .*(?:<\@|<~>|<\^>)/g;
}

# The forms of which the plan does not contain the index: with constants, and with parameters in a generic plan.
sub forms_without_index
{
	my $type = $generator->{parameter};
	my $print = $generator->literal('fingerprint', $generator->{centers}[0]);
	my @all = qw(within line wrapped falling);
	my @known = map { [ $_, "EXPLAIN (COSTS OFF) $_" ] } $generator->forms($print, 3, @all, 'known');
	my @generic =
	  map { [ $_, "PREPARE f ($type, integer) AS $_; EXPLAIN (COSTS OFF) EXECUTE f ($print, 3); DEALLOCATE f" ] }
	  $generator->forms('$1', '$2', @all);
	my $script = "$ways{'by index'}\nSET plan_cache_mode = force_generic_plan;\n" . join '',
		map { "\\echo \@plan\n$_->[1];\n" } @known, @generic;
	my (undef, @plans) = split /^\@plan\n/m, $node->safe_psql('postgres', $script);
	is(scalar @plans, @known + @generic, "$type: every form has a plan");
	return map { $_->[0] } grep { !indexes(shift @plans) } @known, @generic;
}

for my $kind ('bigint', 'bits')
{
	begin($kind);
	is(join("\n", forms_without_index()), '', 'every form of a condition, and of an order, uses the index');
	my (%generated, %by_index, %indexes, %joins, %states);
	my $with_index = 0;
	my $with_rows = 0;
	my $index_only = 0;
	my $rechecks = 0;
	my $by_inner = 0;
	my $done = 0;
	while ($done < $queries)
	{
		my @batch = map { $generator->query } 1 .. BATCH;
		my %answers = map { $_ => [ answers($_, @batch) ] } sort keys %ways;
		my $differences = 0;
		for my $n (0 .. $#batch)
		{
			my $query = $batch[$n];
			my $index = $answers{'by index'}[$n];
			my @used = indexes($index->{plan});
			$with_index++ if @used;
			$indexes{$_}++ for @used;
			$index_only++ if $index->{plan} =~ /Index Only Scan using (?:hamming|several|partition|inheritance)_idx/;
			$by_inner++ if $index->{plan} =~ /Group Key: \S+\.ctid\n/;
			$joins{$_}++ for $answers{'by near join'}[$n]{plan} =~ /Custom Scan \((Near [\w ]*Join)\)/g;
			$rechecks++ if $answers{'by near join'}[$n]{plan} =~ /Near Cond: .* AND /;
			for my $part (QueryGenerator::counted($query))
			{
				$generated{$part}++;
				$by_index{$part}++ if @used;
			}
			my $truth = $answers{'by arithmetic'}[$n]{answer};
			$states{$_}++ for $truth =~ /^-- (\w+)/mg;
			$with_rows++ if $truth =~ /^[^-]/m;
			for my $way ('by index', 'by near join', 'by scan')
			{
				my $answer = $answers{$way}[$n];
				next if $answer->{answer} eq $truth;
				# Which rows an expression is computed for depends on the plan, and so does whether it overflows.
				next if $truth =~ /^-- 22003/m;
				$differences++;
				diag(report($query, $way, $answer, $truth));
			}
		}
		$done += @batch;
		is($differences, 0, "$kind: $done queries of seed $seed");
	}

	note("$with_index of $done by an index, $with_rows found rows: ", explain(\%indexes, \%joins, \%states));
	note(sprintf '%5d of %5d with an index: %s', $by_index{$_} // 0, $generated{$_}, $_) for sort keys %generated;

	# A test that compares scans with scans, or nothing with nothing, shows nothing.
	SKIP:
	{
		skip 'too few queries to cover everything', 1 if $queries < 1000;
		cmp_ok($with_index, '>', $done * 0.5, 'most queries used an index for distances');
		cmp_ok($with_rows, '>', $done * 0.5, 'most found rows');
		cmp_ok($states{'00000'}, '>', 0.9 * sum(values %states), 'most statements are no errors');
		my @kinds = $node->safe_psql('postgres',
			q{SELECT DISTINCT split_part(relname, '_idx', 1) FROM pg_class
			WHERE relkind = 'i' AND relname LIKE '%\_idx%'}) =~ /\w+/g;
		is_deeply([ grep { !$indexes{$_} } @kinds ], [], 'every kind of index was used');
		is_deeply([ sort keys %joins ], [ sort map { "Near ${_}Join" } '', 'Anti ', 'Full ', 'Left ', 'Right ',
			'Semi ' ], 'every kind of near join was used');
		cmp_ok($index_only, '>', 0, "$index_only by an index alone") if $kind eq 'bigint';
		cmp_ok($rechecks, '>', 0, "$rechecks of them with a recheck");
		cmp_ok($by_inner, '>', 0, "$by_inner with EXISTS from the inner side");
		my @uncovered = grep { !$by_index{$_} } QueryGenerator::must_use_index();
		is_deeply(\@uncovered, [], 'every shape of query and every way to write a radius used an index');
	}
}
done_testing();
