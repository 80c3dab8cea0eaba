# Clusters and pairs of 10,000 fingerprints are those of a naive implementation, for each radius from 0 to 12 and both
# linkages. The statements of docs/deduplication.md for rows that are added give the clusters of all rows. Long work can
# be canceled, and reports its progress.

use strict;
use warnings;
use Test::More;
use IPC::Run;
use SimhashTest;

use constant ROWS => 10_000;
use constant MAX_RADIUS => 12;

my $seed = $ENV{SEED} // int(rand(2**31));
diag("seed $seed");

srand($seed);
my $node = start_node('clusters');

# Scattered ones, families whose members differ in up to eight bits of one of them, long chains, equal ones, dense ones
# that are nearly all near each other, and NULLs; in no order.
$node->safe_psql('postgres', qq{
	SELECT setseed(($seed % 1000003) / 1000003.0);
	CREATE TABLE document AS
	SELECT id, CASE
		WHEN r < 5 THEN NULL
		WHEN r < 8 THEN hashint8extended(floor(random() * 150)::bigint, 2)
		-- Neighbours of a chain differ in four bits.
		WHEN r < 10 THEN (15::bigint << (4 * floor(random() * 15)::integer)) - 1
		WHEN r < 13 THEN floor(random() * 1000)::bigint << 20
		WHEN r < 30 THEN hashint8extended(floor(random() * 1e9)::bigint, 1)
		ELSE hashint8extended(floor(random() * 1000)::bigint, 3) # (
			SELECT bit_or(1::bigint << floor(random() * 64 + bit * 0)::integer)
				FROM generate_series(1, 1 + id % 8) AS bit) END AS si
	FROM (SELECT id, random() * 100 AS r FROM generate_series(1, @{[ROWS]}) AS id OFFSET 0) AS row ORDER BY random();
	-- The oracle: everything with everything, without an index.
	CREATE TABLE near AS
	SELECT a.id AS a, b.id AS b, bit_count((a.si # b.si)::bit(64)) AS distance
	FROM document AS a JOIN document AS b ON a.id < b.id AND bit_count((a.si # b.si)::bit(64)) <= @{[MAX_RADIUS]};});

# The earlier of each near pair, by the later one, with the distance.
my @near;
for (split(/\n/, $node->safe_psql('postgres', 'SELECT b, a, distance FROM near ORDER BY b, a')))
{
	my ($b, $a, $distance) = split(/\|/);
	push @{ $near[$b] }, [ $a, $distance ];
}
my ($pairs, $rows) = split(/\|/, $node->safe_psql('postgres',
	'SELECT (SELECT count(*) FROM near), count(si) FROM document'));
cmp_ok($pairs, '>', 10_000, "$pairs pairs of $rows fingerprints");

sub leaders
{
	my ($radius) = @_;
	my @keeper;
	for my $b (1 .. ROWS)
	{
		my ($leader) = grep { $_->[1] <= $radius && $keeper[ $_->[0] ] == $_->[0] } @{ $near[$b] // [] };
		$keeper[$b] = $leader ? $leader->[0] : $b;
	}
	return @keeper;
}

# The smallest reachable id.
sub connected
{
	my ($radius) = @_;
	my (@neighbours, @keeper);
	for my $b (1 .. ROWS)
	{
		for (grep { $_->[1] <= $radius } @{ $near[$b] // [] })
		{
			push @{ $neighbours[$b] }, $_->[0];
			push @{ $neighbours[ $_->[0] ] }, $b;
		}
	}
	for my $first (1 .. ROWS)
	{
		my @reached = ($first);
		while (defined(my $next = pop @reached))
		{
			next if defined $keeper[$next];
			$keeper[$next] = $first;
			push @reached, @{ $neighbours[$next] // [] };
		}
	}
	return @keeper;
}

# Any work_mem from the minimum to 4 MB. With little memory, files are used.
sub any_memory { return sprintf "SET work_mem = '%dkB'; ", 64 * 2**int rand 7; }

my %oracle = (leader => \&leaders, connected => \&connected);
for my $linkage (sort keys %oracle)
{
	for my $radius (0 .. MAX_RADIUS)
	{
		my @keeper = $oracle{$linkage}->($radius);
		my $expected = join("\n", map { "$_|$keeper[$_]" } 1 .. ROWS);
		my $clusters = grep { $keeper[$_] == $_ } 1 .. ROWS;
		my $found = $node->safe_psql('postgres', any_memory()
			. "SELECT id, near_cluster(id, si, $radius, '$linkage') OVER (ORDER BY id) FROM document ORDER BY id");
		ok($found eq $expected, "radius $radius, $linkage: the $clusters clusters are those of the oracle "
			. "(seed $seed)");
	}
}
for my $radius (0 .. MAX_RADIUS)
{
	my $differing = $node->safe_psql('postgres', any_memory() . qq{
		WITH pairs AS (
			SELECT a.id, b.id, hamming(a.si, b.si) FROM document AS a
				JOIN document AS b ON hamming(a.si, b.si) <= $radius AND a.id < b.id),
		expected AS (SELECT * FROM near WHERE distance <= $radius)
		SELECT count(*) FROM ((TABLE pairs EXCEPT ALL TABLE expected) UNION ALL (TABLE expected EXCEPT ALL TABLE pairs))
			AS d});
	is($differing, 0, "radius $radius: the pairs are those of the oracle (seed $seed)");
}

# The clusters of a window do not depend on memory, for which rows go to files: a crowd within 3 of one code, families
# that a second code tells apart, NULLs among codes and keys, keys of any length, partitions.
$node->safe_psql('postgres', qq{
	SELECT setseed(($seed % 1000003) / 1000003.0);
	CREATE TABLE windowed AS
	SELECT id, id % 3 AS part, CASE WHEN id % 13 > 0 THEN repeat('k', id % 300) || id END AS key, CASE
		WHEN r < 3 THEN NULL
		WHEN r < 40 THEN 1::bigint << floor(random() * 60)::integer | 1::bigint << floor(random() * 60)::integer |
			1::bigint << id % 60
		WHEN r < 70 THEN hashint8extended(floor(random() * 40)::bigint, 1) # 1::bigint << id % 60
		ELSE hashint8extended(id, 2) END AS si,
		CASE WHEN r BETWEEN 2 AND 98 THEN hashint8extended(floor(random() * 4)::bigint, 3)::bit(64) #
			(id % 4)::bit(64) END AS second
	FROM (SELECT id, random() * 100 AS r FROM generate_series(1, 6000) AS id OFFSET 0) AS row;});
for (1 .. 24)
{
	my ($key, $code) = ((qw(id key))[ rand 2 ], (qw(si second))[ rand 2 ]);
	my $call = sprintf("near_cluster(%s, %s, %d%s, '%s') OVER (%s ORDER BY %s)", $key, $code, rand 9,
		int(rand 2) ? sprintf(', second, %d', rand 9) : '',
		(qw(leader connected))[ $_ % 2 ], int(rand 2) ? 'PARTITION BY part' : '', ('id', 'si, id')[ rand 2 ]);
	# Most of the first rows are keepers, so that a join first finds the rows that are near no other.
	$call = 'near_cluster(key, si, 1) OVER (ORDER BY id)' if $_ == 2;
	# In this order, the first blocks have a crowd, and the join comes when some later rows are decided.
	$call = 'near_cluster(key, si, 3) OVER (ORDER BY bit_count(si::bit(64)) > 3 OR id % 5 = 0, id)' if $_ == 4;
	my %found = map { $_ => $node->safe_psql('postgres',
		"SET hash_mem_multiplier = 1; SET work_mem = '$_'; SELECT id, $call FROM windowed ORDER BY id") } '64kB',
		'300kB', '64MB';
	ok($found{'64kB'} eq $found{'64MB'} && $found{'300kB'} eq $found{'64MB'},
		"with little memory as with much: $call (seed $seed)");
}
my $small = q{SET hash_mem_multiplier = 1; SET work_mem = '64kB';};
my $window = 'SELECT near_cluster(id, si, 3) OVER (ORDER BY id) > 0 FROM windowed';
# All rows of a cluster have the same key, even if it is computed differently each time.
my $keys = "SELECT count(DISTINCT k) FROM (SELECT near_cluster(repeat('k', 200) || id, si, 1) OVER (ORDER BY id) "
	. "AS k FROM windowed) AS c";
is($node->safe_psql('postgres', "$small @{[$keys =~ s/\|\| id/|| gen_random_uuid()/r]}"),
	$node->safe_psql('postgres', $keys), "each cluster has one key (seed $seed)");
# A window closes its files if it ends early, or with an error.
is($node->safe_psql('postgres', "$small $window LIMIT 1; BEGIN;
	DO 'BEGIN PERFORM 1 / (near_cluster(id, si, 3) OVER (ORDER BY id) - 1) FROM windowed;
		EXCEPTION WHEN division_by_zero THEN END';
	DECLARE c CURSOR FOR $window; FETCH 1 FROM c; SAVEPOINT s; FETCH 1 FROM c; ROLLBACK TO s; FETCH 1 FROM c;
		COMMIT;"), "t\nt\nt\nt", 'windows that end early');
# A cursor that fails in a subtransaction is closed later, when PostgreSQL has closed its file and given its place to
# another one.
my ($status, $counted, $errors) = run_psql($node, 'postgres', "\\set ON_ERROR_STOP 0\n$small BEGIN;
	DECLARE failing CURSOR FOR SELECT 1 / (near_cluster(id, si, 3) OVER (ORDER BY id) * 0 + id - 50) FROM windowed;
		MOVE 1 FROM failing;
	SAVEPOINT s; MOVE 100 FROM failing; ROLLBACK TO s; DECLARE other CURSOR FOR $window; MOVE 1 FROM other;
		CLOSE failing;
	FETCH ALL FROM other; COMMIT;", '-At');
is(scalar(() = $counted =~ /^t$/mg), 5999, 'a failed cursor does not close the file of another one');
like($errors, qr/\A(?:psql:\S+ )?ERROR:  division by zero\n\z/, 'and nothing else fails');
# Its files count towards temp_file_limit, and it can be canceled while it writes them.
for my $linkage (sort keys %oracle)
{
	my (undef, undef, $limited) = run_psql($node, 'postgres', "$small SET temp_file_limit = '500kB'; "
		. $window =~ s/si, 3/si, 3, '$linkage'/r);
	like($limited, qr/temporary file size exceeds/, "$linkage: temp_file_limit ends a window");
	my (undef, undef, $late) = run_psql($node, 'postgres', "$small SET statement_timeout = 300;
		SELECT near_cluster(g, g, 3, '$linkage') OVER (ORDER BY g) FROM generate_series(1, 10000000::bigint) AS g;");
	like($late, qr/canceling statement due to statement timeout/, 'and so does a cancel');
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), 0, 'no temporary file is left');
unlike(PostgreSQL::Test::Utils::slurp_file($node->logfile), qr/temporary file leak/, 'no file is left open');

# Strings of bits of any width, some with popular halves.
for (1 .. 24)
{
	my $bits = 1 + int(rand(600));
	my $radius = int(rand() < 0.7 ? rand($bits / 5) : rand($bits + 1));
	my $related = 1 + int(rand(8));
	my $shared = 2 + int(rand(5));
	my $sql = qq{
		CREATE TEMP TABLE code AS
		SELECT id, overlay(string PLACING B'1' FROM 1 + id * 7 % $bits)::bit($bits) AS code
		FROM generate_series(1, 700) AS id, LATERAL (
			SELECT string_agg(hashint8extended(CASE WHEN id % $shared = 0 AND w % 3 = 0 THEN 0 ELSE id / $related END,
				w + $seed)::bit(64)::text, '')
				::varbit::bit($bits) FROM generate_series(0, $bits / 64) AS w) AS s (string);
		CREATE TEMP TABLE expected AS
		SELECT a.id AS a, b.id AS b, bit_count(a.code # b.code)::integer AS distance
		FROM code AS a JOIN code AS b ON a.id < b.id AND bit_count(a.code # b.code) <= $radius;
		CREATE TEMP TABLE found AS
		SELECT a.id AS a, b.id AS b, hamming(a.code, b.code) AS distance FROM code AS a
			JOIN code AS b ON hamming(a.code, b.code) <= $radius AND a.id < b.id;
		CREATE TEMP TABLE cluster AS SELECT id, near_cluster(id, code, $radius) OVER (ORDER BY id) AS keeper
			FROM code;};
	# Pairs; then rows that are near an earlier keeper than their own, or are not keepers and have no keeper near.
	my $result = $node->safe_psql('postgres', any_memory() . qq{$sql
		SELECT (SELECT count(*) FROM ((TABLE found EXCEPT ALL TABLE expected)
			UNION ALL (TABLE expected EXCEPT ALL TABLE found)) AS d),
			(SELECT count(*) FROM cluster AS c LEFT JOIN (
				SELECT b, min(a) AS a FROM expected JOIN cluster AS k ON k.id = a AND k.keeper = a GROUP BY b) AS l
					ON l.b = c.id
				WHERE keeper <> coalesce(l.a, id))});
	is($result, '0|0', "$bits bits, radius $radius: pairs and clusters are those of the oracle (seed $seed)");
}

# The statements of the page, with another radius, a second code, or tenants.
my $page = PostgreSQL::Test::Utils::slurp_file("$ENV{DOCS}/docs/deduplication.md");
my ($create) = $page =~ /^(CREATE TABLE cluster \(.*?\);\n)/ms;
my ($first) = $page =~ /^(INSERT INTO cluster[^;]*FROM story ORDER BY[^;]*;\n)/m;
my ($append) = $page =~ /^(BEGIN ISOLATION LEVEL REPEATABLE READ;\n.*?^COMMIT;\n)/ms;
die 'the statements of the page are not found' if grep { !defined } $create, $first, $append;

sub with_parameters
{
	my ($sql, $radius, $look_radius, $has_tenants) = @_;
	my $look = defined $look_radius ? ", second_code => look, second_radius => $look_radius" : '';
	my $partition = $has_tenants ? 'PARTITION BY tenant_id ' : '';
	my $near = "hamming(new.si, old.si) <= $radius";
	$near .= " AND hamming(new.look, old.look) <= $look_radius" if $look;
	$near .= ' AND new.tenant_id = old.tenant_id' if $has_tenants;
	my $with_more = sub {
		my ($columns) = @_;
		my $table = $columns =~ /new/ ? 'new.' : '';
		return "$columns, ${table}look, ${table}tenant_id";
	};
	$sql =~ s/(\(id, keeper, si|new\.id, old\.id, new\.si|, id\),\s+si)(?=[)\n])/$with_more->($1)/ge;
	my $call = "near_cluster(id, si, $radius$look) OVER ($partition";
	my $changed = ($sql =~ s/near_cluster\(id, si, 12\)\s+OVER \(/$call/g);
	$changed += ($sql =~ s/hamming\(new\.si, old\.si\) <= 12/$near/g) if $sql =~ /JOIN/;
	die "not as expected: $sql" if $changed != ($sql =~ /JOIN/ ? 2 : 1);
	return $sql;
}

# Rows that are near some of a few centers, or equal, or without a code; dense ones, of which most are near each other.
# Their keys and lengths are in no order.
sub story_rows
{
	my ($type, $bits, $radius, $rows) = @_;
	my $family = 'floor(random() * 30)::bigint + n * 0';
	my $flips = 'ceil(random() * ' . ($radius + 1) . ')::integer';
	my $code = $type eq 'bigint'
	  ? "CASE WHEN n % 5 = 0 THEN floor(random() * 500)::bigint << 20 ELSE hashint8extended($family, $seed) # coalesce((
			SELECT bit_or(1::bigint << floor(random() * 64 + bit * 0)::integer) FROM generate_series(2, $flips) AS bit),
				0) END"
	  : "(SELECT string_agg(hashint8extended(family, $seed + w)::bit(64)::text, '' ORDER BY w)::varbit
			FROM generate_series(0, $bits / 64) AS w)::bit($bits)
			# (lpad('', floor(random() * $bits)::integer, '0') || lpad('', $flips, '1')
			|| repeat('0', $bits))::varbit::bit($bits)";
	return qq{INSERT INTO story SELECT nextval('key') * 7919 % 1000003, repeat('x', floor(random() * 20)::integer),
		floor(random() * 3),
			CASE WHEN random() > 0.05 THEN $code END, CASE
				WHEN random() > 0.05 THEN (family % 5)::bit(8) # floor(random() * 4)::integer::bit(8) END
		FROM (SELECT n, $family AS family FROM generate_series(1, $rows) AS n OFFSET 0) AS row;\n};
}

my $sum_of_members = 0;
for my $round (1 .. $ENV{APPENDS} // 16)
{
	my $bits = $round % 2 ? 64 : 1 + int(rand(300));
	my $type = $round % 2 ? 'bigint' : "bit($bits)";
	my $radius = int(rand() < 0.8 ? rand($bits / 5) : rand($bits + 1));
	my $look_radius = $round % 3 == 0 ? int(rand(4)) : undef;
	my $has_tenants = $round % 4 > 1;
	my @options = ($radius, $look_radius, $has_tenants);
	my $clusters = 'SELECT id, keeper, near_cluster(id, si, 12) OVER (ORDER BY place) AS expected FROM story '
		. 'LEFT JOIN (SELECT id, keeper, place FROM cluster) AS c USING (id)';
	my $expected = with_parameters($clusters =~ s/JOIN/\x00/r, @options) =~ s/\x00/JOIN/r;
	my $compare = "SELECT count(*) FILTER (WHERE keeper IS DISTINCT "
		. "FROM expected) || '|' || count(*) FILTER (WHERE id <> keeper) FROM ($expected) AS c;\n";
	my $sql = qq{SET client_min_messages = warning; DROP TABLE IF EXISTS story, cluster; DROP SEQUENCE IF EXISTS key;
		CREATE TABLE story (id bigint PRIMARY KEY, body text, tenant_id integer, si $type, look bit(8));
		CREATE SEQUENCE key; SELECT setseed(@{[rand()]});
		$create ALTER TABLE cluster ADD look bit(8), ADD tenant_id integer, ALTER si TYPE $type
			USING NULL;\n} . story_rows($type, $bits, $radius, int(rand(400))) . with_parameters($first, @options)
			. $compare;
	for (1 .. 4)
	{
		# Deletes duplicates, or clusters.
		my $gone = $_ % 2 ? 'NOT is_keeper AND random() < 0.3' : 'keeper % 4 = 1';
		$sql .= "DELETE FROM story USING cluster WHERE story.id = cluster.id AND $gone;\n" if rand() < 0.7;
		my $rows = story_rows($type, $bits, $radius, 1 + int(rand(200)));
		my $step = with_parameters($append, @options);
		# Rows that another session commits between the two statements are found by the next run.
		my $between = 'INSERT INTO story SELECT -nextval(\'key\'), body, tenant_id, si, look FROM story ORDER BY id '
			. 'LIMIT 20';
		$step =~ s/^(?=-- the others)/\\! psql -Xqd "@{[$node->connstr('postgres')]}" -c "$between"\n/m
			or die 'no place between the statements';
		$sql .= "ANALYZE;\n" if rand() < 0.3;
		$sql .= $rows . $step . with_parameters($append, @options) . $compare;
	}
	my @found = split /\n/, $node->safe_psql('postgres', $sql);
	my @differing = grep { !/^0\|/ } grep { /\|/ } @found;
	my @compared = map { /\|(\d+)/ ? $1 : () } @found;
	$sum_of_members += $compared[-1];
	is(join(' ', scalar(@compared), @differing), '5', "added rows, $type, radius $radius"
		. (defined $look_radius ? ", look $look_radius" : '') . ($has_tenants ? ', tenants' : '')
		. ": the clusters of all rows (seed $seed)");
}
cmp_ok($sum_of_members, '>', 500, "$sum_of_members duplicates among them");

# The page's statements delete a text only if one that is kept contains it, also of texts that are equal or have no
# words. The second one deletes more. Codes do not depend on the words, so that clusters have texts that do not contain
# each other.
my ($once) = $page =~ /^(WITH c AS [^;]*?RETURNING letter\.id, keeper;\n)/ms;
my ($again) = $page =~ /^(WITH RECURSIVE c AS [^;]*?RETURNING letter\.id, keeper;\n)/ms;
die 'the statements for contained texts are not found' if grep { !defined } $once, $again;
$node->safe_psql('postgres', qq{SELECT setseed(($seed % 1000003) / 1000003.0);
	CREATE TABLE letter_before AS
	SELECT id, CASE WHEN id % 50 > 1 THEN string_agg(chr(97 + (family + word) % 26) || word % (3 + id % 3), ' '
		ORDER BY word) WHEN id % 50 > 0 THEN '' END AS body,
		CASE WHEN id % 50 > 1 THEN (1::bigint << family * 5) - family % 2 END AS si, CASE
			WHEN id % 9 > 0 THEN family % 5 ELSE 7 END::bit(256) AS rare
	FROM (SELECT id, floor(random() * 12)::integer AS family, 3 + floor(random() * 60)::integer AS words
		FROM generate_series(1, 1000) AS id OFFSET 0) AS row,
		generate_series(1, words) AS word
	GROUP BY id, family;});
my @deleted;
for my $statement ($once, $again)
{
	my $rows = $node->safe_psql('postgres',
		"CREATE TABLE letter AS TABLE letter_before; $statement ALTER TABLE letter RENAME TO letter_after;");
	my $values = join ', ', map { '(' . tr/|/,/r . ')' } split /\n/, $rows;
	push @deleted, $node->safe_psql('postgres', qq{
		SELECT count(*) FILTER (WHERE k.id IS NULL OR (text_containment(d.body, k.body, 'word:2') >= 0.93) IS NOT TRUE
			OR length(d.body) > length(k.body))
			|| '|' || 1000 - count(*) - (SELECT count(*) FROM letter_after) || '|' || count(*)
		FROM (VALUES $values) AS gone (id, keeper) JOIN letter_before AS d USING (id)
			LEFT JOIN letter_after AS k ON k.id = keeper;
		DROP TABLE letter_after;});
}
like($deleted[0], qr/^0\|0\|/, "texts that are kept contain those that go (seed $seed)");
like($deleted[1], qr/^0\|0\|/, "also if those that are left over form clusters (seed $seed)");
cmp_ok($deleted[1] =~ s/.*\|//r, '>', $deleted[0] =~ s/.*\|//r, "which finds more: @deleted");

# Work that takes minutes is canceled when it first reports its progress. It must end then, and not when it is nearly
# done.
$node->safe_psql('postgres',
	'CREATE TABLE scattered AS SELECT i AS id, hashint8extended(i, 1) AS si FROM generate_series(1, 1000000) AS i');
# Fewer strings of bits, since joining them takes longer.
my $few = '(SELECT * FROM scattered LIMIT 300000) AS f';
my $bits = '(si::bit(64) || hashint8extended(id, 2)::bit(64))::bit(128)';
for my $query (
	'SELECT count(k) FROM (SELECT near_cluster(id, si, 14) OVER (ORDER BY id) AS k FROM scattered) AS c',
	"SELECT count(k) FROM (SELECT near_cluster(id, si, 16, 'connected') OVER (ORDER BY id) AS k FROM scattered) AS c",
	"SELECT count(k) FROM (SELECT near_cluster(id, $bits, 40) OVER (ORDER BY id) AS k FROM $few) AS c")
{
	my $out = '';
	my $err = '';
	my $psql = IPC::Run::start([ 'psql', '-Xq', '-d', $node->connstr('postgres'), '-c', $query ], '>', \$out, '2>',
		\$err, patience(0));
	$psql->pump until $err =~ /NOTICE:.*\n/ || !$psql->pumpable;
	$node->safe_psql('postgres',
		"SELECT pg_cancel_backend(pid) FROM pg_stat_activity "
		. "WHERE query LIKE '%scattered%' AND pid <> pg_backend_pid()");
	$psql->finish;
	like($err, qr/canceling statement due to user request/, "cancelled: $query");
	my @done = $err =~ /NOTICE:  \w+: (\d+) % of (?:1000000|300000) codes compared/g;
	ok(@done && $done[-1] < 75, "after it had said how far it was: @done %");
}

done_testing();
