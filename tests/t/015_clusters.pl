# Clusters and pairs of 10,000 fingerprints are those of a naive oracle, for each radius from 0 to 12 and both linkages;
# long work can be cancelled, and says how far it is.

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

# Scattered ones, families whose members differ in up to eight bits of one of them, long chains, equal ones, dense ones that are nearly
# all near each other, and NULLs; in no order.
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
			SELECT bit_or(1::bigint << floor(random() * 64 + bit * 0)::integer) FROM generate_series(1, 1 + id % 8) AS bit) END AS si
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
my ($pairs, $rows) = split(/\|/, $node->safe_psql('postgres', 'SELECT (SELECT count(*) FROM near), count(si) FROM document'));
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

# The smallest id that can be reached.
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

my %oracle = (leader => \&leaders, connected => \&connected);
for my $linkage (sort keys %oracle)
{
	for my $radius (0 .. MAX_RADIUS)
	{
		my @keeper = $oracle{$linkage}->($radius);
		my $expected = join("\n", map { "$_|$keeper[$_]" } 1 .. ROWS);
		my $clusters = grep { $keeper[$_] == $_ } 1 .. ROWS;
		my $found = $node->safe_psql('postgres', qq{
			SELECT c.* FROM (SELECT array_agg(id) AS ids, array_agg(si) AS sis FROM document) AS d,
				near_clusters(ids, sis, $radius, '$linkage') AS c ORDER BY c.key});
		ok($found eq $expected, "radius $radius, $linkage: the function's $clusters clusters are those of the oracle (seed $seed)");
		$found = $node->safe_psql('postgres',
			"SELECT id, near_cluster(id, si, $radius, '$linkage') OVER (ORDER BY id) FROM document ORDER BY id");
		ok($found eq $expected, "radius $radius, $linkage: so are the window's (seed $seed)");
	}
}
for my $radius (0 .. MAX_RADIUS)
{
	my $differing = $node->safe_psql('postgres', qq{
		WITH pairs AS (
			SELECT p.* FROM (SELECT array_agg(id) AS ids, array_agg(si) AS sis FROM document) AS d, near_pairs(ids, sis, $radius) AS p),
		expected AS (SELECT * FROM near WHERE distance <= $radius)
		SELECT count(*) FROM ((TABLE pairs EXCEPT ALL TABLE expected) UNION ALL (TABLE expected EXCEPT ALL TABLE pairs)) AS d});
	is($differing, 0, "radius $radius: the pairs are those of the oracle (seed $seed)");
}

# Strings of bits of any width, some with popular halves.
for (1 .. 24)
{
	my $bits = 1 + int(rand(600));
	my $radius = int(rand() < 0.7 ? rand($bits / 5) : rand($bits + 1));
	my ($related, $shared) = (1 + int(rand(8)), 2 + int(rand(5)));
	my $sql = qq{
		CREATE TEMP TABLE code AS
		SELECT id, overlay(string PLACING B'1' FROM 1 + id * 7 % $bits)::bit($bits) AS code
		FROM generate_series(1, 700) AS id, LATERAL (
			SELECT string_agg(hashint8extended(CASE WHEN id % $shared = 0 AND w % 3 = 0 THEN 0 ELSE id / $related END, w + $seed)::bit(64)::text, '')
				::varbit::bit($bits) FROM generate_series(0, $bits / 64) AS w) AS s (string);
		CREATE TEMP TABLE expected AS
		SELECT a.id AS a, b.id AS b, bit_count(a.code # b.code)::integer AS distance
		FROM code AS a JOIN code AS b ON a.id < b.id AND bit_count(a.code # b.code) <= $radius;
		CREATE TEMP TABLE found AS
		SELECT p.* FROM (SELECT array_agg(id::bigint) AS ids, array_agg(code) AS codes FROM code) AS c, near_pairs(ids, codes, $radius) AS p;
		CREATE TEMP TABLE cluster AS SELECT id, near_cluster(id, code, $radius) OVER (ORDER BY id) AS keeper FROM code;};
	# Pairs; then rows that are near an earlier keeper than their own, or are not keepers and have no keeper near.
	my $result = $node->safe_psql('postgres', qq{$sql
		SELECT (SELECT count(*) FROM ((TABLE found EXCEPT ALL TABLE expected) UNION ALL (TABLE expected EXCEPT ALL TABLE found)) AS d),
			(SELECT count(*) FROM cluster AS c LEFT JOIN (
				SELECT b, min(a) AS a FROM expected JOIN cluster AS k ON k.id = a AND k.keeper = a GROUP BY b) AS l ON l.b = c.id
				WHERE keeper <> coalesce(l.a, id))});
	is($result, '0|0', "$bits bits, radius $radius: pairs and clusters are those of the oracle (seed $seed)");
}

# Work that takes minutes is cancelled when it first says how far it is. It ends then, and not when it is nearly done.
$node->safe_psql('postgres', 'CREATE TABLE scattered AS SELECT i AS id, hashint8extended(i, 1) AS si FROM generate_series(1, 1000000) AS i');
my $arrays = '(SELECT array_agg(id) AS ids, array_agg(si) AS sis FROM scattered) AS a';
# Of strings of bits, which are joined more slowly, fewer.
my $few = '(SELECT * FROM scattered LIMIT 300000) AS f';
my $bits = '(si::bit(64) || hashint8extended(id, 2)::bit(64))::bit(128)';
for my $query (
	'SELECT count(k) FROM (SELECT near_cluster(id, si, 14) OVER (ORDER BY id) AS k FROM scattered) AS c',
	"SELECT count(*) FROM $arrays, near_clusters(ids, sis, 14, 'connected')",
	"SELECT count(*) FROM $arrays, near_pairs(ids, sis, 18)",
	"SELECT count(k) FROM (SELECT near_cluster(id, $bits, 40) OVER (ORDER BY id) AS k FROM $few) AS c",
	"SELECT count(*) FROM (SELECT array_agg(id) AS ids, array_agg($bits) AS codes FROM $few) AS a, near_pairs(ids, codes, 40)")
{
	my ($out, $err) = ('', '');
	my $psql = IPC::Run::start([ 'psql', '-Xq', '-d', $node->connstr('postgres'), '-c', $query ], '>', \$out, '2>', \$err, patience(0));
	$psql->pump until $err =~ /NOTICE:.*\n/ || !$psql->pumpable;
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%scattered%' AND pid <> pg_backend_pid()");
	$psql->finish;
	like($err, qr/canceling statement due to user request/, "cancelled: $query");
	my @done = $err =~ /NOTICE:  \w+: (\d+) % of (?:1000000|300000) codes compared/g;
	ok(@done && $done[-1] < 75, "after it had said how far it was: @done %");
}

done_testing();
