# Conditions on sketches find the same rows by each index, by a scan, and in naive SQL: generated arrays, conditions,
# thresholds and joins. SEED repeats a run, and QUERIES makes it longer.

use strict;
use warnings;
use Test::More;
use SimhashTest;

my $seed = $ENV{SEED} || int rand 1e9;
my $queries = $ENV{QUERIES} || 250;
srand $seed;
diag "SEED=$seed";
my $node = start_node('sketches');

# Few distinct values, so that arrays have some in common. Some are the keys of sizes in sketch_ops as well.
sub value
{
	return sprintf '-922337203685477%04d', 5808 - int rand 40 if rand() < 0.03;
	return int(rand 2) ? int rand 12 : int(rand 60) - 30;
}

# An array as SQL writes it: sorted or not, with repeated values, NULLs, two dimensions, or without elements.
sub any_array
{
	my ($may_have_null) = @_;
	my @values = map { value() } 1 .. int rand(rand() < 0.8 ? 14 : 80);
	@values = sort { $a <=> $b } keys %{ { map { $_ => 1 } @values } } if rand() < 0.5;
	@values = map { rand() < 0.2 ? 'NULL' : $_ } @values if $may_have_null && rand() < 0.3;
	if (@values >= 2 && @values % 2 == 0 && rand() < 0.2)
	{
		my $half = @values / 2;
		return sprintf '{{%s},{%s}}', join(',', @values[ 0 .. $half - 1 ]), join(',', @values[ $half .. $#values ]);
	}
	return '{' . join(',', @values) . '}';
}

sub any_share
{
	my @shares = (-1, 0, 0.25, 1 / 3, 0.5, 0.6, 0.75, 1, 1.5, "'NaN'", "'Infinity'");
	return rand() < 0.5 ? $shares[ rand @shares ] : sprintf '%.3f', rand;
}

# The rows of both tables are the same, but arrays with a NULL have no shares.
my @rows = map { "($_, " . (rand() < 0.05 ? 'NULL' : "'" . any_array(1) . "'") . ')' } 1 .. 800;
$node->safe_psql('postgres',
	'CREATE TABLE tagged (id integer, a bigint[], b bigint[]); INSERT INTO tagged (id, a) VALUES ' . join(',', @rows)
	. ';'
	. ' UPDATE tagged SET b = a WHERE a::text !~ \'NULL\'; ANALYZE tagged;'
	. 'CREATE FUNCTION shared(a bigint[], b bigint[]) RETURNS bigint LANGUAGE sql IMMUTABLE AS'
	. ' $$SELECT count(*) FROM (SELECT unnest(a) INTERSECT SELECT unnest(b)) AS s (v) WHERE v IS NOT NULL$$;'
	. 'CREATE FUNCTION size(a bigint[]) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$SELECT count(DISTINCT v) '
	. 'FROM unnest(a) AS v$$;');

# A condition, and its meaning in SQL without sketches.
sub any_condition
{
	my ($query) = @_;
	my ($share, $sign) = (any_share(), (qw(>= > =))[ rand 3 ]);
	my $as = "$sign ${share}::double precision";
	my $shared = "shared(b, $query)::double precision";
	my $both = "(size(b) + size($query) - shared(b, $query))";
	my @conditions = (
		[ "sketch_overlaps(a, $query)", "shared(a, $query) > 0", 1 ],
		[ "sketch_overlaps($query, a)", "shared(a, $query) > 0", 1 ],
		[ "sketch_similarity(b, $query) $as", "$shared / nullif($both, 0) $as" ],
		[ "sketch_similarity($query, b) $as", "$shared / nullif($both, 0) $as" ],
		[ "sketch_containment($query, b) $as", "$shared / nullif(size($query), 0) $as" ],
		[ "sketch_containment(b, $query) $as", "$shared / nullif(size(b), 0) $as" ]);
	return @{ $conditions[ rand @conditions ] };
}

my %used;
my $differences = 0;
for my $class ('sketch_ops', 'array_ops')
{
	$node->safe_psql('postgres',
		"CREATE INDEX by_a ON tagged USING gin (a $class); CREATE INDEX by_b ON tagged USING gin (b $class)");
	for my $n (1 .. $queries / 2)
	{
		# Other rows are inserted and deleted, in the pending list of the index too.
		$node->safe_psql('postgres',
			'INSERT INTO tagged SELECT id + 10000, b, b FROM tagged WHERE id % 50 = 7; '
			. 'DELETE FROM tagged WHERE id > 30000;') if $n % 20 == 0;
		my $is_literal = rand() < 0.5;
		my ($condition, $meaning, $may_have_null) = any_condition($is_literal ? 'QUERY' : '$1');
		my $array = any_array($may_have_null);
		my $literal = "'$array'::bigint[]";
		my $find = sub { "SELECT coalesce(string_agg(id::text, ' ' ORDER BY id), '') FROM tagged WHERE "
			. ($_[0] =~ s/QUERY/$literal/gr) };
		my $statement = $find->($condition);
		my $run = $is_literal ? $statement : "EXECUTE q($literal)";
		my $prepare = $is_literal ? '' : "PREPARE q(bigint[]) AS $statement;";
		my $truth = $find->(($may_have_null ? 'a' : 'b') . ' IS NOT NULL AND ' . ($meaning =~ s/\$1/$literal/gr));
		my $forget = $is_literal ? '' : 'DEALLOCATE q;';
		my ($expected, $by_scan, $plan, $by_index) = map { s/^\s+|\s+$//gr } split /^answer$/m,
			$node->safe_psql('postgres',
			"$truth; SELECT 'answer'; SET enable_bitmapscan = off; $prepare $run; "
				. "SELECT 'answer'; $forget RESET enable_bitmapscan;"
			. " SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan; "
			. "$prepare EXPLAIN (COSTS OFF) $run; SELECT 'answer'; $run"), -1;
		my ($shape) = $condition =~ /(sketch_\w+\((?:QUERY|\$1)?)/;
		$used{"$class $shape" . ($is_literal ? '' : ' $1')}++ if $plan
			=~ /Bitmap Index Scan on by_[ab]\n\s+Index Cond: /;
		next if $by_scan eq $expected && $by_index eq $expected;
		$differences++;
		diag "$class: $run\n$prepare\n$plan\n", map { sprintf "%d rows: %.200s\n", scalar split(/ /), $_ } $expected,
			$by_scan, $by_index;
	}
	$node->safe_psql('postgres', 'DROP INDEX by_a, by_b');
}
is($differences, 0, "$queries queries of seed $seed");
note explain \%used;
SKIP:
{
	skip 'too few queries to cover everything', 1 if $queries < 300;
	my @shapes = ('sketch_overlaps(', 'sketch_similarity(', 'sketch_containment(');
	my @missing = grep { !$used{"sketch_ops $_"} || !$used{"sketch_ops $_ \$1"} } map { ($_) } @shapes;
	push @missing, grep { !$used{"array_ops $_"} } @shapes;
	is_deeply(\@missing, [], 'indexes answered conditions of each shape');
}

# Joins of sketches. SQL without sketches counts sizes, and the values that each two rows share, once.
$node->safe_psql('postgres', q{
	DELETE FROM tagged WHERE id > 500;
	ALTER TABLE tagged ADD PRIMARY KEY (id), ADD size bigint;
	UPDATE tagged SET size = size(b) WHERE b IS NOT NULL;
	CREATE TABLE element AS SELECT DISTINCT id, v FROM tagged, unnest(a) AS v WHERE v IS NOT NULL;
	CREATE TABLE pair AS SELECT x.id AS x, y.id AS y, count(*) AS shared FROM element AS x JOIN element AS y USING (v)
		GROUP BY 1, 2;
	ALTER TABLE pair ADD PRIMARY KEY (x, y);
	INSERT INTO pair SELECT x.id, y.id, 0 FROM tagged AS x, tagged AS y WHERE x.a IS NOT NULL AND y.a IS NOT NULL
		ON CONFLICT DO NOTHING;
	CREATE TABLE other AS TABLE tagged;
	ALTER TABLE other ADD PRIMARY KEY (id);});
$node->safe_psql('postgres', 'VACUUM ANALYZE');

# A condition on rows x and y, and its meaning in plain SQL.
sub any_join_condition
{
	my ($share, $sign) = (any_share(), (qw(>= > =))[ rand 3 ]);
	my ($x, $y) = rand() < 0.5 ? qw(x y) : qw(y x);
	my $as = "$sign ${share}::double precision";
	my $shared = '(SELECT shared FROM pair AS p WHERE p.x = x.id AND p.y = y.id)';
	my @conditions = (
		[ "sketch_overlaps($x.a, $y.a)", "$shared > 0" ],
		[ "sketch_similarity($x.b, $y.b) $as",
			"$shared\::double precision / nullif(x.size + y.size - $shared, 0) $as" ],
		[ "sketch_containment($x.b, $y.b) $as", "$shared\::double precision / nullif($x.size, 0) + 0 * $y.size $as" ]);
	return @{ $conditions[ rand @conditions ] };
}

# The shape of a query with CONDITION between rows x and y, some of each table, its text, and what goes before it.
sub any_join
{
	my $some = sub {
		my ($table, $least) = (@_, 12);
		return sprintf '(SELECT * FROM %s WHERE id %% %d = %d%s)', $table, $least + int rand 20, int rand 12,
			rand() < 0.3 ? ' OFFSET 0' : '';
	};
	my $x = $some->('tagged');
	my $y = rand() < 0.2 ? 'other' : $some->(rand() < 0.3 ? 'tagged' : 'other');
	my $join = (qw(JOIN LEFT RIGHT))[ rand 3 ];
	$join .= ' JOIN' unless $join eq 'JOIN';
	my $not = rand() < 0.5 ? 'NOT' : '';
	my $more = ('', '', 'AND x.id < y.id', 'AND x.id % 3 <> y.id % 3',
		'AND cardinality(x.a) <= cardinality(y.a)')[ rand 5 ];
	my $where = ('', '', 'WHERE x.id IS DISTINCT FROM y.id', 'WHERE coalesce(y.id, 1) % 2 = 1')[ rand 4 ];
	my @joins = (
		[ pairs => "SELECT x.id AS x, y.id AS y FROM $x AS x $join $y AS y ON CONDITION $more $where" ],
		[ pairs => "SELECT x.id AS x, y.id AS y FROM $x AS x $join $y AS y ON CONDITION $more $where" ],
		[ full => "SELECT x.id AS x, y.id AS y FROM $x AS x FULL JOIN $y AS y ON x.id % 5 = y.id % 5 "
			. "AND CONDITION $where" ],
		[ exists => "SELECT x.id AS x, 0 AS y FROM $x AS x WHERE $not EXISTS (SELECT FROM $y AS y "
			. "WHERE CONDITION $more)" ],
		[ exists => "SELECT x.id AS x, 0 AS y FROM $x AS x WHERE $not EXISTS (SELECT FROM $y AS y "
			. "WHERE CONDITION $more)" ],
		[ in => "SELECT x.id AS x, 0 AS y FROM $x AS x WHERE x.id % 50 IN (SELECT y.id % 50 FROM $y AS y "
			. "WHERE CONDITION)" ],
		[ changed => 'SELECT id AS x, 0 AS y FROM gone',
			"WITH gone AS (DELETE FROM tagged AS x USING $y AS y WHERE CONDITION AND x.id % 20 = 3 RETURNING x.id)" ],
		[ cte => "SELECT x.id AS x, y.id AS y FROM kept AS x $join $y AS y ON CONDITION $more",
			"WITH kept AS MATERIALIZED $x" ],
		[ three => 'SELECT x.id AS x, z.id AS y FROM ' . $some->('tagged', 40) . ' AS x JOIN ' . $some->('other', 40)
			. ' AS y ON CONDITION JOIN '
			. $some->('other', 40) . ' AS z ON z.id > y.id AND sketch_overlaps(z.a, y.a)' ]);
	my ($shape, $text, $with) = @{ $joins[ rand @joins ] };
	return ($shape, $text, $with // '');
}

my %ways = (
	'by index' => 'SET LOCAL simhash_pg.enable_near_join = off; SET LOCAL enable_hashjoin = off; '
		. 'SET LOCAL enable_mergejoin = off; SET LOCAL enable_seqscan = off; SET LOCAL enable_material = off;',
	'by scan' => 'SET LOCAL simhash_pg.enable_near_join = off; SET LOCAL enable_hashjoin = off; '
		. 'SET LOCAL enable_bitmapscan = off;');
sub any_memory { return sprintf "SET LOCAL work_mem = '%dkB'; SET LOCAL hash_mem_multiplier = 1; ", 64 * 2**int rand 7;
}
my $workers = 'SET LOCAL parallel_setup_cost = 0; SET LOCAL parallel_tuple_cost = 0; '
	. 'SET LOCAL min_parallel_table_scan_size = 0;';
my (%joined, $pairs);
$differences = 0;
for my $class ('sketch_ops', 'array_ops')
{
	$node->safe_psql('postgres',
		"DROP INDEX IF EXISTS by_a, by_b; CREATE INDEX by_a ON other USING gin (a $class); "
		. "CREATE INDEX by_b ON other USING gin (b $class); ANALYZE other");
	for my $n (1 .. $queries / 5)
	{
		my ($shape, $join, $with) = any_join();
		my ($condition, $meaning) = any_join_condition();
		# The number of rows, and a hash of them.
		my $answer = sub {
			my ($of) = @_;
			my $hash = "hashtextextended(coalesce(x, -1) || '/' || coalesce(y, -1), 0)";
			return "$with SELECT count(*) || ' ' || coalesce(sum($hash), 0) FROM ($join) AS s" =~ s/CONDITION/$of/gr;
		};
		# A nested loop in a nested loop would begin workers again for each row.
		my $settings = any_memory() . ($shape ne 'three' && rand() < 0.25 ? $workers : '');
		my $script = "SET jit = off; BEGIN; " . $answer->($meaning) . "; ROLLBACK; SELECT 'answer';";
		for my $way (sort keys %ways)
		{
			$script .= "BEGIN; $ways{$way} $settings EXPLAIN (COSTS OFF) " . $answer->($condition)
				. "; SELECT 'result'; " . $answer->($condition) . "; ROLLBACK; SELECT 'answer';";
		}
		my ($expected, @parts) = map { s/^\s+|\s+$//gr } split /^answer$/m, $node->safe_psql('postgres', $script), -1;
		$pairs += (split / /, $expected)[0];
		for my $way (sort keys %ways)
		{
			my ($plan, $found) = map { s/^\s+|\s+$//gr } split /^result$/m, shift @parts;
			$joined{"$class, $shape"}++ if $way eq 'by index' && $plan =~ /Bitmap Index Scan on by_[ab]/;
			next if $found eq $expected;
			$differences++;
			diag "$class, $way: $settings\n", $answer->($condition), "\n$plan\n$expected by plain SQL: ",
				$answer->($meaning), "\n$found\n";
		}
	}
}
is($differences, 0, "@{[2 * int $queries / 5]} joins of seed $seed, with $pairs rows");
note explain \%joined;
SKIP:
{
	skip 'too few queries to cover everything', 1 if $queries < 300;
	my @shapes = map { my $class = $_; map { "$class, $_" } qw(pairs exists three) } qw(sketch_ops array_ops);
	is_deeply([ grep { !$joined{$_} } @shapes ], [], 'every index answered joins of several shapes');
}
$node->safe_psql('postgres', 'DROP INDEX by_a, by_b');

# A long search can be cancelled: GIN asks of each of a million values whether a row without it and those before can
# match.
$node->safe_psql('postgres', 'CREATE INDEX by_b ON tagged USING gin (b sketch_ops);'
	. ' CREATE TABLE huge AS SELECT array_agg(i) AS sketch FROM generate_series(1::bigint, 3000000) AS i');
my ($code, undef, $error) = $node->psql('postgres',
	q{SET statement_timeout = '3s'; SET enable_seqscan = off;
	SELECT count(*) FROM tagged WHERE sketch_containment((SELECT sketch FROM huge), b) >= 0.5});
isnt($code, 0, 'the search is cancelled');
like($error, qr/canceling statement due to statement timeout/, 'by its time limit');
done_testing();
