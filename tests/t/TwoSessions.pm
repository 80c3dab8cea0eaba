# Generates pairs of sessions for 034_two_sessions.pl. The first session changes rows and has not committed when the
# second session runs a statement with a join on distances. The grammar has the form of QueryGenerator.pm:
# {name|argument} stands for a random production of that name.
#
# A semi join, or an UPDATE with FROM, may find any of several inner rows first, and PostgreSQL rechecks an updated row
# with the inner row that was found. So that the result does not depend on this choice, the rows of table hit that are
# near to a row of doc are alike in everything that a statement reads: they belong to one family, whose number
# determines fam, v and note. Codes of one family differ in at most two bits, codes of different families in more bits
# than any radius. Sketches of one family have most values in common, sketches of different families have none.
package TwoSessions;

use strict;
use warnings;

# The statements of the second session. Their target is doc AS a or hit AS b.
my %shapes = (
	update => [
		'UPDATE doc AS a SET {set} WHERE {some|a} AND {exists|a} {returning|a}',
		'UPDATE doc AS a SET {set} FROM {joined|a} AND {some|a} {returning|a}',
		'UPDATE doc AS a SET {set}, note = b.note FROM hit AS b '
			. 'WHERE {match|a|b} AND {some|a} RETURNING a.id, a.v, b.fam, b.note',
		'UPDATE doc AS a SET v = (SELECT count(*) FROM hit AS b WHERE {near|a.c|b.c}) WHERE {some|a} {returning|a}',
		'UPDATE doc AS a SET c = b.c FROM hit AS b WHERE {match|a|b} AND b.id % 10 = 1 AND {some|a} {returning|a}',
		'UPDATE doc AS a SET {set} WHERE {some|a} AND {wide|a.c} {returning|a}',
		'UPDATE hit AS b SET v = b.v + 10 WHERE EXISTS (SELECT FROM doc AS a WHERE {near|a.c|b.c}) {returning|b}',
		'UPDATE hit AS b SET v = b.v + 10 FROM doc AS a WHERE {near|a.c|b.c} AND {some|a} {returning|b}',
	],
	delete => [
		'DELETE FROM doc AS a WHERE {some|a} AND {exists|a} {returning|a}',
		'DELETE FROM doc AS a WHERE {some|a} AND {exists|a} {returning|a}',
		'DELETE FROM doc AS a USING {joined|a} AND {some|a} {returning|a}',
		'DELETE FROM doc AS a WHERE {wide|a.c} AND {wide|a.d} {returning|a}',
		'DELETE FROM hit AS b WHERE {not} EXISTS (SELECT FROM doc AS a '
			. 'WHERE {near|a.c|b.c} AND {some|a}) {returning|b}',
		'DELETE FROM hit AS b USING doc AS a WHERE {near|a.c|b.c} AND {some|a} {returning|b}',
	],
	merge => [
		'MERGE INTO doc AS a USING {one} AS b ON {match|a|b} AND {some|a} WHEN MATCHED AND a.v = 2 THEN '
			. 'DELETE WHEN MATCHED THEN UPDATE SET {set}, note = b.note',
		'MERGE INTO doc AS a USING {one} AS b ON {match|a|b} WHEN MATCHED AND a.v > 2 THEN DO NOTHING '
			. 'WHEN MATCHED THEN DELETE {insert}',
		'MERGE INTO doc AS a USING {one} AS b ON {match|a|b} AND {some|a} WHEN MATCHED THEN UPDATE SET {set} {insert}',
		'MERGE INTO doc AS a USING (SELECT m.id, b.note FROM doc AS m {join} {one} AS b ON {match|m|b}) AS s '
			. 'ON a.id = s.id AND {some|a} WHEN MATCHED AND s.note IS NULL THEN DELETE WHEN MATCHED THEN '
			. 'UPDATE SET {set}, note = s.note',
	],
	row_lock => [
		'SELECT a.id, a.v FROM doc AS a WHERE {some|a} AND {exists|a} {lock|a}',
		'SELECT a.id, a.v FROM doc AS a WHERE {some|a} AND {exists|a} {lock|a}',
		'SELECT a.id, a.v, b.id FROM doc AS a JOIN hit AS b ON {match|a|b} WHERE {some|a} {lock|a, b}',
		'SELECT a.id, a.v, b.id FROM doc AS a LEFT JOIN hit AS b ON {match|a|b} WHERE {some|a} {lock|a}',
		'SELECT a.id, a.v, b.id, b.v FROM doc AS a RIGHT JOIN hit AS b ON {match|a|b} AND {some|a} {lock|b}',
		'SELECT a.id, a.v FROM {joined|a} AND {some|a} {lock|a}' =~ s/FROM \{joined/FROM doc AS a, {joined/r,
		'SELECT b.id, b.v FROM hit AS b WHERE {not} EXISTS (SELECT FROM doc AS a '
			. 'WHERE {near|a.c|b.c} AND {some|a}) {lock|b}',
		'SELECT a.id, a.v FROM doc AS a WHERE {some|a} AND {exists|a} ORDER BY a.id LIMIT 4 {lock|a}',
		'SELECT a.id, a.v FROM doc AS a WHERE {wide|a.c} OR {wide|a.d} {lock|a}',
		('SELECT a.id, a.v FROM doc AS a WHERE a.c IS NOT NULL ORDER BY {distance|a.c}, a.id LIMIT 9 {lock|a}') x 2,
		'SELECT a.id, a.v, b.id, l.word FROM doc AS a JOIN hit AS b ON {match|a|b} {join} label AS l '
			. 'ON l.fam = a.fam WHERE {some|a} {lock|a}',
	],
	insert_select => [
		'INSERT INTO log SELECT a.id, a.v, a.note FROM doc AS a WHERE {some|a} AND {exists|a} {lock|a} RETURNING *',
		'INSERT INTO log SELECT a.id, b.fam, b.note FROM doc AS a LEFT JOIN hit AS b ON {match|a|b} '
			. 'WHERE {some|a} {lock|a}',
		'INSERT INTO log SELECT a.id, b.fam, b.note FROM doc AS a {join} hit AS b ON {match|a|b} '
			. 'WHERE {some|a} RETURNING *',
		'INSERT INTO doc SELECT a.* FROM doc AS a WHERE {some|a} AND {exists|a} ON CONFLICT (id) DO '
			. 'UPDATE SET v = doc.v + 10 WHERE doc.v <> 3 RETURNING doc.id, doc.v',
	],
	cte => [
		'WITH w AS (UPDATE doc AS a SET {set} WHERE {some|a} AND {exists|a} RETURNING a.*) INSERT INTO log '
			. 'SELECT w.id, w.v, w.note FROM w RETURNING *',
		'WITH w AS (DELETE FROM doc AS a WHERE {some|a} AND {exists|a} RETURNING a.*) SELECT w.id, b.id '
			. 'FROM w {join} hit AS b ON {match|w|b}',
		'WITH w AS (UPDATE doc AS a SET {set} FROM {joined|a} AND {some|a} RETURNING a.*) SELECT w.id, w.v FROM w '
			. 'WHERE {not} EXISTS (SELECT FROM hit AS b WHERE {near|w.c|b.c})',
		'WITH w AS (SELECT a.id FROM doc AS a WHERE {some|a} AND {exists|a} {lock|a}) '
			. 'UPDATE doc AS t SET v = t.v + 10 FROM w WHERE t.id = w.id {returning|t}',
		'WITH b AS MATERIALIZED (SELECT * FROM hit) DELETE FROM doc AS a USING b '
			. 'WHERE {match|a|b} AND {some|a} {returning|a}',
		'WITH b AS MATERIALIZED (SELECT * FROM hit) UPDATE doc AS a SET {set} '
			. 'WHERE {some|a} AND EXISTS (SELECT FROM b WHERE {match|a|b}) {returning|a}',
	],
);

# Their parts.
my %parts = (
	match => [ ('{near|@1.c|@2.c}') x 3, '{near|@1.c|@2.c} AND {near|@1.d|@2.d}', '{near|@1.d|@2.d} AND @1.v <> @2.v' ],
	exists => [
		('EXISTS (SELECT FROM hit AS b WHERE {match|@1|b})') x 8,
		('NOT EXISTS (SELECT FROM hit AS b WHERE {match|@1|b})') x 3,
		'@1.fam {not} IN (SELECT b.fam FROM hit AS b WHERE {match|@1|b})',
		'EXISTS (SELECT FROM hit AS b WHERE {near|@1.c|b.c}) AND {not} EXISTS (SELECT FROM hit AS e '
			. 'WHERE {near|@1.d|e.d})',
		'EXISTS (SELECT FROM hit AS b WHERE {near|@1.c|b.c}) AND {not} EXISTS (SELECT FROM label AS l '
			. 'WHERE l.fam = @1.fam)',
		'{not} EXISTS (SELECT FROM hit AS b {join} label AS l ON l.fam = b.fam WHERE {match|@1|b})',
		'EXISTS (SELECT FROM (SELECT * FROM hit AS h OFFSET 0) AS b WHERE {match|@1|b})',
		'EXISTS (SELECT FROM (SELECT h.c, h.d, h.v, count(*) FROM hit AS h GROUP BY 1, 2, 3) AS b WHERE {match|@1|b})',
		'@1.id IN (SELECT m.id FROM doc AS m {join} hit AS b ON {match|m|b})',
		'@1.id IN (SELECT m.id FROM doc AS m WHERE EXISTS (SELECT FROM hit AS b WHERE {match|m|b}))',
		'(@1.v = 3 OR EXISTS (SELECT FROM hit AS b WHERE {near|@1.c|b.c}))',
		'@1.id = ANY (ARRAY(SELECT m.id FROM doc AS m JOIN hit AS b ON {match|m|b}))',
	],
	joined => [
		('hit AS b WHERE {match|@1|b}') x 3,
		'hit AS b {join} label AS l ON l.fam = b.fam WHERE {match|@1|b}',
		'hit AS b JOIN hit AS e ON {near|b.c|e.c} WHERE {near|@1.d|e.d}',
		'(SELECT * FROM hit AS h OFFSET 0) AS b WHERE {match|@1|b}',
		'(SELECT h.c, h.d, h.v, count(*) FROM hit AS h GROUP BY 1, 2, 3) AS b WHERE {match|@1|b}',
		'doc AS m {join} hit AS b ON {match|m|b} WHERE @1.id = m.id',
		'doc AS m LEFT JOIN hit AS b ON {match|m|b} WHERE @1.id = m.id AND b.id IS NULL',
		'label AS l {join} hit AS b ON l.fam = b.fam WHERE {near|@1.c|b.c}',
		('doc AS m FULL JOIN hit AS b ON {near|m.c|b.c}{full|m.c|b.c} WHERE @1.id = coalesce(m.id, b.fam)') x 2,
		'hit AS b, hit AS e WHERE {near|@1.c|b.c} AND {near|@1.d|e.d} AND b.fam = e.fam',
	],
	set => [ 'v = a.v + 10', 'v = a.v + 10, c = code(a.fam, 2)', "d = code(500000 + a.id, 0), v = a.v * 2" ],
	one => ['(SELECT * FROM hit AS h WHERE h.id % 10 = 1)'],
	insert => [ 'WHEN NOT MATCHED THEN INSERT VALUES (b.id + 50000, b.c, b.d, b.fam, b.v, b.note)',
		'WHEN NOT MATCHED THEN DO NOTHING' ],
	join => [ 'JOIN', 'JOIN', 'LEFT JOIN', 'RIGHT JOIN' ],
	not => [ '', '', 'NOT' ],
	some => [ '@1.id < 40', '@1.id < 40', '@1.id % 3 < 2 AND @1.id < 90', '@1.v < 4', '@1.fam > 1' ],
	returning => [ '', 'RETURNING @1.id, @1.v, @1.note' ],
	lock => [ ('FOR UPDATE OF @1') x 4, ('FOR NO KEY UPDATE OF @1') x 2, 'FOR SHARE OF @1', 'FOR KEY SHARE OF @1',
		'FOR UPDATE OF @1 SKIP LOCKED', 'FOR UPDATE OF @1 NOWAIT' ],
);

# What the first session does with row n of doc or row h of hit. Family f has rows in hit, family g has none.
my %changes = (
	'another column' => [ 'UPDATE doc SET v = v + 1 WHERE id = {n}',
		q{UPDATE doc SET note = note || '!' WHERE id = {n}}, 'UPDATE doc SET v = v + 1 WHERE id < 8' ],
	'out of the condition' => [ 'UPDATE doc SET c = code({g}, 0) WHERE id = {n}',
		'UPDATE doc SET d = code({g}, 0) WHERE id = {n}', 'UPDATE doc SET c = code({g}, 0), fam = {g} WHERE id = {n}',
		'UPDATE doc SET c = NULL WHERE id = {n}' ],
	'into it, or to another match' => [ 'UPDATE doc SET c = code({f}, 1), d = code({f} + 1000, 1), fam = {f} '
		. 'WHERE id = {n}', 'UPDATE doc SET c = code({f}, 1) WHERE id = {n}',
		'UPDATE doc SET c = code({f}, 1), d = code({f} + 1000, 1) WHERE id < 8' ],
	'the inner row' => [ 'UPDATE hit SET v = v + 1 WHERE id = {h}', 'UPDATE hit SET c = code({g}, 0) WHERE id = {h}',
		'UPDATE hit SET c = code({f}, 0) WHERE fam = {f}', 'DELETE FROM hit WHERE id = {h}',
		'DELETE FROM hit WHERE fam < 6' ],
	'a key' => [ 'UPDATE doc SET id = id + 10000 WHERE id = {n}', 'UPDATE hit SET id = id + 100000 WHERE id = {h}' ],
	'a row is deleted' => [ 'DELETE FROM doc WHERE id = {n}',
		'DELETE FROM doc WHERE id = {n}; INSERT INTO doc VALUES ({n}, code({f}, 1), code({f} + 1000, 0), {f}, 1)' ],
	'a row is added' => [ q{INSERT INTO doc VALUES (20000, code({f}, 1), code({f} + 1000, 1), {f}, 1, 'new')},
		q{INSERT INTO hit VALUES (200000, code({g}, 1), code({g} + 1000, 1), {g}, 1, 'new')} ],
	'a lock' => [ map { "SELECT FROM doc WHERE id = {n} FOR $_" } 'UPDATE', 'SHARE', 'NO KEY UPDATE' ],
);
my @twice = ('%s; %s', '%s; %s', 'SAVEPOINT s; %s; ROLLBACK TO s; %s', 'SAVEPOINT s; %s; RELEASE s; %s');

# The settings of each plan. PostgreSQL does not run statements that change or lock rows in parallel, so workers share
# only the query that the second session runs before and after its statement.
my $near = 'enable_nestloop = off';
my $workers = 'max_parallel_workers_per_gather = 2; parallel_setup_cost = 0; parallel_tuple_cost = 0; '
	. 'min_parallel_table_scan_size = 0';
my %plans = (
	'near join' => $near,
	'near join, little memory' => "$near; work_mem = '64kB'; hash_mem_multiplier = 1",
	'near join, workers' => "$near; $workers",
	'index' => 'enable_seqscan = off; enable_sort = off; enable_hashjoin = off; simhash_pg.enable_near_join = off; '
		. 'enable_mergejoin = off; enable_bitmapscan = off',
	'bitmap' => 'enable_seqscan = off; enable_hashjoin = off; simhash_pg.enable_near_join = off; enable_mergejoin = '
		. 'off; enable_indexscan = off',
	'nested loop' => 'enable_hashjoin = off; simhash_pg.enable_near_join = off; enable_mergejoin = off; '
		. 'enable_indexscan = off; enable_bitmapscan = off',
	'default' => '',
);
# A serializable transaction locks the whole table only in a sequential scan, and arithmetic has no other scan.
my $scans = 'enable_indexscan = off; enable_bitmapscan = off';

my %types = (bigint => 64, 'bit(64)' => 64, 'bit(70)' => 70, 'bit(160)' => 160, 'bigint[]' => 0);

sub pick { return $_[ rand @_ ]; }

sub new
{
	my ($class, $seed) = @_;
	srand($seed);
	return bless {}, $class;
}

# Creates the tables of a batch of pairs, which differ in codes, sizes and indexes.
sub tables
{
	my ($self) = @_;
	my $type = $self->{type} = pick('bigint', 'bigint', sort keys %types);
	my $large = int rand 2;
	my ($families, $of_family) = $large ? (500 + int(rand 200), 3) : (6 + int(rand 30), pick(1, 3));
	@$self{qw(families docs)} = ($families, $large ? 200 : 60);
	my %indexes = (bigint => [ [], ['hamming (c)'], [ 'hamming (c)', 'hamming (d)' ], ['hamming (c, v)'],
		['gist (c gist_hamming_ops)'] ], 'bigint[]' => [ [], ['gin (c sketch_ops)'] ]);
	my @indexes = @{ pick(@{ $indexes{$type} // [ @{ $indexes{bigint} }[ 0 .. 3 ] ] }) };
	my $hashes = join ' || ', map { "hashint8extended(family, $_)::bit(64)" } 1 .. 3;
	my $code = $type eq 'bigint' ? 'hashint8extended(family, 1) # CASE WHEN flip > 0 THEN 1::bigint << flip ELSE 0 END'
	  : $type eq 'bigint[]' ? 'ARRAY[family * 10, family * 10 + 1, family * 10 + 2, family * 10 + 3 + flip]'
	  : "CASE WHEN flip > 0 THEN set_bit(($hashes)::$type, flip, 1 - get_bit(($hashes)::$type, flip)) ELSE "
		. "($hashes)::$type END";
	my $row = "code(f, flip)::$type AS c, code(f + 1000 + CASE WHEN i %% 5 = 0 THEN 700000 ELSE 0 END, flip)::$type "
		. "AS d, f AS fam, %s AS v, 'n' || f %% 7 AS note";
	my $sql = "DROP TABLE IF EXISTS doc, hit, label, log, base_doc, base_hit; DROP FUNCTION IF EXISTS code;
		CREATE FUNCTION code(family bigint, flip integer) RETURNS $type LANGUAGE sql IMMUTABLE
			AS 'SELECT " . ($code =~ s/'/''/gr) . "';
		CREATE TABLE base_doc AS SELECT i AS id, " . sprintf($row, 'i % 6') . " FROM generate_series(1, $self->{docs})
			AS i, LATERAL (SELECT 1 + i * 7 % $families AS f, i % 3 AS flip) AS family;
		CREATE TABLE base_hit AS SELECT f * 10 + n AS id, " . sprintf($row, 'f % 6') . " FROM generate_series(1,
			$families) AS f, generate_series(1, $of_family) AS n, LATERAL (SELECT 1 AS i, (n + 1) % 3 AS flip) AS family
			WHERE f % 3 > 0;
		CREATE TABLE label AS SELECT f AS fam, 'word ' || f AS word FROM generate_series(1, $families) AS f
			WHERE f % 4 > 0;
		CREATE TABLE log (id integer, n integer, note text);
		";
	for my $table ('doc', 'hit')
	{
		my $parted = rand() < 0.15;
		$sql .= "CREATE TABLE $table (LIKE base_$table, PRIMARY KEY (id))" . ($parted ? ' PARTITION BY HASH (id)' : '')
			. ';';
		$sql .= "CREATE TABLE ${table}_$_ PARTITION OF $table FOR VALUES WITH (MODULUS 2, REMAINDER $_);"
			for $parted ? (0, 1) : ();
	}
	for my $table ('doc', int rand 2 ? 'hit' : ())
	{
		$sql .= "CREATE INDEX ON $table USING $_;" for @indexes;
	}
	@$self{qw(large index analyzes)} = ($large, join(', ', @indexes), rand() < 0.8);
	return $sql;
}

# Returns the tables to the state in which each pair begins.
sub reset
{
	my ($self) = @_;
	return 'TRUNCATE doc, hit, log; INSERT INTO doc TABLE base_doc; INSERT INTO hit TABLE base_hit; '
		. ($self->{analyzes} ? 'ANALYZE doc, hit, label;' : '');
}

# Shows how the tables differ from that state.
sub contents
{
	return 'TABLE log ORDER BY log; ' . join ' ', map {
		"SELECT '$_', count(*) FROM $_; (TABLE $_ EXCEPT TABLE base_$_) ORDER BY 1; "
		. "(TABLE base_$_ EXCEPT TABLE $_) ORDER BY 1;" } 'doc', 'hit';
}

# A condition on a distance, with the extension and with arithmetic: of two rows that are near, of a row and a constant
# with a wide radius, or the distance alone. PostgreSQL's own full join needs an equality as well, and so do sketches.
sub condition
{
	my ($self, $pair, $name, $one, $other) = @_;
	my $is_sketch = $self->{type} eq 'bigint[]';
	my $bits = $types{ $self->{type} };
	my $radius = $name eq 'wide' ? int $bits * 0.48 : $pair->{prepared} ? '$1' : 2 + int rand 6;
	my $cast = $self->{type} eq 'bigint' ? '::bit(64)' : '';
	$other //= 'code(8, 0)';
	($one, $other) = ($other, $one) if int rand 2;
	my $distance = pick("hamming($one, $other)", "hamming($one, $other)",
		"($one " . ($self->{type} eq 'bigint' ? '<~>' : '<^>') . " $other)");
	my @ours = $is_sketch ? ("sketch_overlaps($one, $other)", "sketch_similarity($one, $other) >= "
		. ($pair->{prepared} ? '$1 / 8.0::double precision' : 0.5))
	  : ("$distance <= $radius", "$radius >= $distance", "hamming_within($one, $other, $radius)");
	push @ours, "hamming_similarity($one, $other) >= " . ($bits - $radius - 0.5) / $bits
		unless $radius eq '$1' || $is_sketch;
	my $counted = "bit_count(($one # $other)$cast)";
	my $equality = " AND length(($one)::text) * 0 = length(($other)::text) * 0";
	push @{ $pair->{conditions} }, $name eq 'distance' ? ($is_sketch ? [ 'a.v', 'a.v' ] : [ $distance, $counted ])
	  : $name eq 'full' ? [ $is_sketch ? $equality : '', $equality ]
	  : [ pick(@ours), $is_sketch ? "$one && $other" : "$counted <= $radius" ];
	return "?$#{ $pair->{conditions} }?";
}

sub produce
{
	my ($self, $pair, $name, undef, @arguments) = @_;
	return $self->condition($pair, $name, @arguments) if $name =~ /^(?:near|wide|distance|full)$/;
	my $production = pick(@{ $shapes{$name} // $parts{$name} // die "no production of $name" });
	return $production =~ s/\@(\d)/$arguments[$1 - 1]/gr;
}

sub expand
{
	my ($self, $pair, $text) = @_;
	while ($text =~ s/\{(\w+)((?:\|[^{}|]*)*)\}/$self->produce($pair, $1, split m{\|}, $2)/e) { }
	return $text;
}

# The family of a row of doc. Families whose number is a multiple of 3 have no rows in hit.
sub family_of { my ($self, $row) = @_; return 1 + $row * 7 % $self->{families}; }

# A row of doc that the second session is likely to find.
sub row
{
	my ($self) = @_;
	return pick(grep { $self->family_of($_) % 3 || rand() < 0.2 } 1 .. 12);
}

# A change that the first session makes.
sub change
{
	my ($self, $pair, $row, @of) = @_;
	my $kind = pick(@of, ('another column') x 6);
	$pair->{kinds}{$kind} = 1;
	my @families = grep { $_ % 3 } 1 .. $self->{families};
	my $family = rand() < 0.6 && $self->family_of($row) % 3 ? $self->family_of($row) : pick(@families);
	my %values = (n => $row, f => pick(@families), g => 900000 + int rand 1000, h => 10 * $family + 1);
	return pick(@{ $changes{$kind} }) =~ s/\{(\w)\}/$values{$1}/gr;
}

# A pair of sessions.
sub pair
{
	my ($self) = @_;
	my $shape = pick(sort keys %shapes);
	my $pair = { statement_of => $shape, prepared => rand() < 0.2, conditions => [], kinds => {},
		isolation => pick(('READ COMMITTED') x 8, 'REPEATABLE READ', 'SERIALIZABLE') };
	$pair->{plan} = pick(('near join') x 4, $self->{large} ? ('near join, little memory') x 3 : (),
		('near join, workers') x 2, $self->{index} ? ('index', 'bitmap') x 3 : (), 'nested loop', 'default');
	my @settings = map { "SET $_;" } grep { $_ } split(/; /, $plans{ $pair->{plan} }),
		$pair->{isolation} eq 'SERIALIZABLE' && $pair->{plan} !~ /index|bitmap/ ? split(/; /, $scans) : ();
	my $statement = $pair->{statement} = $self->expand($pair, "{$shape}");
	my %joins = (semi => qr/(?<!NOT )EXISTS| IN \(/, anti => qr/NOT EXISTS/, left => qr/LEFT JOIN/,
		right => qr/RIGHT JOIN/, full => qr/FULL JOIN/,
		inner => qr/(?<!LEFT |IGHT |FULL )JOIN|FROM (?:doc|hit) AS . WHERE \?|USING/,
		several => qr/\?\d+\?.*\?\d+\?/);
	$pair->{joins} = [ grep { $statement =~ $joins{$_} } sort keys %joins ];
	$pair->{read} = $self->expand($pair,
		'SELECT count(*), sum(a.id), sum(b.fam) FROM doc AS a {join} hit AS b ON {match|a|b} AND {some|a}');
	$pair->{settings} = join ' ', @settings;
	# With an index scan, a serializable transaction locks single rows, so that fewer transactions fail than with
	# arithmetic.
	$pair->{first_isolation} = $pair->{plan} =~ /index|bitmap|default/ ? 'READ COMMITTED' : $pair->{isolation};
	# The second session mostly waits for the row of the first change.
	my ($row, @kinds) = ($self->row, sort keys %changes);
	my @changes = $self->change($pair, $row, grep { rand() < 0.2 || !/inner|added/ } @kinds);
	if (rand() < 0.3)
	{
		@changes = sprintf pick(@twice), @changes, $self->change($pair, $row, @kinds);
		$pair->{kinds}{'twice in a row'} = 1;
	}
	push @changes, map { $self->change($pair, $self->row, @kinds) } 1 .. pick(0, 0, 1, 2);
	$pair->{changes} = join '; ', @changes;
	$pair->{end} = pick(('COMMIT') x 8, 'ROLLBACK');
	$pair->{kinds}{'rolled back'} = 1 if $pair->{end} eq 'ROLLBACK';
	$pair->{early} = $pair->{isolation} ne 'READ COMMITTED' && rand() < 0.3;
	return $pair;
}

# A statement with the extension, or with arithmetic.
sub written
{
	my ($pair, $statement, $way) = @_;
	my $place = $way eq 'arithmetic' ? 1 : 0;
	return $statement =~ s/\?(\d+)\?/$pair->{conditions}[$1][$place]/gr;
}

1;
