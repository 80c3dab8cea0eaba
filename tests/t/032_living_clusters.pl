# Living clusters are those that near_cluster computes from scratch, after any history: many clients that insert, update,
# delete, truncate and copy, roll back and are killed, while others refresh. STORM_SECONDS is for how long (make soak: until
# there were a million operations), SEED repeats the data.

use strict;
use warnings;
use Test::More;
use IPC::Run;
use List::Util qw(max min sum);
use Time::HiRes qw(usleep);
use SimhashTest;
use PostgreSQL::Test::Utils;

# Of six kinds of clusters, for each. A storm is short, for one of two holds a transaction open, in which no row that is
# dead can be taken away.
my $seconds = ($ENV{STORM_SECONDS} // 12) / 6;
my $storm = min(5, 1 + int($seconds / 2));
my $storms = max(2, int($seconds / $storm));
my $seed = $ENV{SEED} // int(rand(2**31));
diag("seed $seed");
srand($seed);

my $node = start_node('living_clusters', allows_streaming => 'logical');
$node->append_conf('postgresql.conf', "max_connections = 30\nlog_lock_waits = on\nautovacuum_naptime = 1s");
$node->restart;
my @to = ('-h', $node->host, '-p', $node->port, 'postgres');

# Families of near codes, whose members are near to one or several others; some far ones, equal ones and NULLs.
$node->safe_psql('postgres', q{
	CREATE SEQUENCE ids;
	CREATE TABLE story (id integer PRIMARY KEY, rank integer, tenant integer, si bigint, bits bit(150), look bit(100));
	CREATE FUNCTION any_code() RETURNS bigint LANGUAGE sql VOLATILE AS $$
		SELECT CASE WHEN random() < 0.95 THEN hashint8extended(floor(random() * 40)::integer, 1)
			# (floor(random() * 16384)::bigint & floor(random() * 16384)::bigint) END $$;
	CREATE FUNCTION write_rows(count integer) RETURNS void LANGUAGE sql VOLATILE AS $$
		INSERT INTO story SELECT nextval('ids'), CASE WHEN random() < 0.9 THEN floor(random() * 50)::integer END,
			CASE WHEN random() < 0.9 THEN floor(random() * 3)::integer END, any_code(),
			(any_code()::bit(64) || any_code()::bit(64) || B'1111000011110000111100')::bit(150), (any_code() & 255)::bit(100)
		FROM generate_series(1, count) $$;
	-- Rows that nobody has locked, of a part of the table.
	CREATE FUNCTION free_rows(part integer, parts integer) RETURNS SETOF integer LANGUAGE sql VOLATILE AS $$
		SELECT id FROM story WHERE id % parts = part FOR UPDATE SKIP LOCKED $$;});

my %scripts = (
	insert => [ 10, 'SELECT write_rows(20);' ],
	insert_long => [ 2, "BEGIN; SELECT write_rows(20); SELECT pg_sleep(0.05); COMMIT;" ],
	update => [ 8, "\\set part random(0, 99)\nUPDATE story SET rank = floor(random() * 50)::integer, si = any_code(), tenant = 1 WHERE id IN (SELECT free_rows(:part, 100));" ],
	move => [ 2, "\\set part random(0, 99)\nUPDATE story SET id = nextval('ids') WHERE id IN (SELECT free_rows(:part, 100));" ],
	delete => [ 6, "\\set part random(0, 49)\nDELETE FROM story WHERE id IN (SELECT free_rows(:part, 50));" ],
	keepers => [ 3, "DELETE FROM story WHERE id IN (SELECT id FROM story WHERE id IN (SELECT cluster FROM story_clusters TABLESAMPLE BERNOULLI (1)) FOR UPDATE SKIP LOCKED);" ],
	rollback => [ 4, "\\set part random(0, 49)\nBEGIN; SELECT write_rows(10); DELETE FROM story WHERE id IN (SELECT free_rows(:part, 50)); ROLLBACK;" ],
	savepoint => [ 4, "BEGIN; SELECT write_rows(3); SAVEPOINT a; SELECT write_rows(10); ROLLBACK TO a; SELECT write_rows(2); RELEASE a; COMMIT;" ],
	# Whoever has written holds this up.
	truncate => [ 1, q{DO $$ BEGIN
		SET LOCAL lock_timeout = '10ms';
		TRUNCATE story;
		PERFORM write_rows(200);
	EXCEPTION WHEN lock_not_available THEN NULL; END $$;} ],
	refresh => [ 1, "SELECT near_clusters_refresh('story');" ],);
my @load;
for my $name (sort keys %scripts)
{
	my ($weight, $text) = @{ $scripts{$name} };
	my $file = $node->basedir . "/$name.pgbench";
	append_to_file($file, "$text\n");
	push @load, '-f', "$file\@$weight";
}

# Clusters as near_cluster computes them now, and those of the table that differ from them, or whose distance is wrong.
sub differing
{
	my (%of) = @_;
	my $partition = $of{within} ? "PARTITION BY $of{within}" : '';
	my $look = $of{look} ? ", look, $of{look}" : '';
	return $node->safe_psql('postgres', qq{
		SELECT count(*) FROM (
			SELECT id, near_cluster(id, $of{code}, $of{radius}$look, linkage => '$of{linkage}')
				OVER ($partition ORDER BY @{[ $of{first} ? "$of{first}, " : '' ]}id) AS cluster
			FROM story WHERE @{[ $of{filter} // 'true' ]}) AS n
			FULL JOIN story_clusters AS c USING (id) LEFT JOIN story_clusters AS k ON k.id = c.cluster
		WHERE n.cluster IS DISTINCT FROM c.cluster OR c.distance IS DISTINCT FROM coalesce(hamming(c.code, k.code), 0)});
}

# Killed before they can commit what they have written or refreshed, or anywhere in a refresh.
my $marked = "SET application_name = 'to be killed'";
my @doomed = (
	"BEGIN; SELECT write_rows(50); $marked; SELECT pg_sleep(60)",
	"BEGIN; SELECT write_rows(50); SELECT near_clusters_refresh('story'); $marked; SELECT pg_sleep(60)",
	'DO $$ BEGIN LOOP PERFORM write_rows(5); PERFORM near_clusters_refresh(\'story\'); COMMIT; ' . "$marked; END LOOP; END \$\$");

# Runs statements in a session that is killed when it has marked itself.
sub kill_while
{
	my ($statements) = @_;
	my ($out, $err) = ('', '');
	my $session = IPC::Run::start([ 'psql', '-Xq', '-d', $node->connstr('postgres'), '-c', $statements ], '>', \$out, '2>', \$err, patience(0));
	$node->poll_query_until('postgres', "SELECT count(pg_terminate_backend(pid)) > 0 FROM pg_stat_activity WHERE application_name = 'to be killed'");
	$session->finish;
}

my ($rows, $kills, %ran) = (0, 0);
for my $of (
	{ code => 'si', radius => 3, linkage => 'leader' },
	{ code => 'si', radius => 2, linkage => 'leader', first => 'rank DESC NULLS LAST', within => 'tenant', filter => 'rank IS DISTINCT FROM 3' },
	{ code => 'bits', radius => 4, linkage => 'leader', first => 'rank' },
	{ code => 'si', radius => 4, linkage => 'leader', first => 'rank DESC', look => 3 },
	{ code => 'si', radius => 1, linkage => 'connected', first => 'rank' },
	{ code => 'bits', radius => 2, linkage => 'connected', within => 'tenant', look => 4 })
{
	my $name = join ', ', map { "$_ $of->{$_}" } sort keys %$of;
	$node->safe_psql('postgres', 'DROP TABLE IF EXISTS story_clusters; TRUNCATE story; SELECT write_rows(500)');
	my @arguments = ("'story', 'id', '$of->{code}', $of->{radius}, '$of->{linkage}'");
	push @arguments, "first => ARRAY['$of->{first}']" if $of->{first};
	push @arguments, "within => '{$of->{within}}'" if $of->{within};
	push @arguments, "filter => '$of->{filter}'" if $of->{filter};
	push @arguments, "look => 'look', look_radius => $of->{look}" if $of->{look};
	$node->safe_psql('postgres', 'SELECT near_clusters_create(' . join(', ', @arguments) . ')');
	is(differing(%$of), 0, "$name: the first clusters are those of near_cluster");
	for my $pause (1 .. $storms)
	{
		# A transaction that is open while others refresh. With it, nobody can truncate.
		my $slow = session($node);
		ask($slow, 'BEGIN; SELECT write_rows(30);') if $pause % 2 == 0;
		my ($out, $err) = ('', '');
		my $load = IPC::Run::start([ 'pgbench', '-n', '-c', '8', '-j', '2', '-T', $storm, "--random-seed=$seed", @load, @to ],
			'>', \$out, '2>', \$err, patience($storm));
		my $until = time + $storm / 2;
		do { kill_while($_) for @doomed; $kills += @doomed } while time < $until;
		$node->safe_psql('postgres', "COPY story (id, si) FROM PROGRAM 'seq 10000001 10000050 | sed s/\$/\\\\t7/'") if $pause == 1;
		ok($load->finish, "$name: nothing failed in storm $pause") or diag($err);
		$node->safe_psql('postgres', "SELECT near_clusters_refresh('story')");
		is(differing(%$of), 0, "$name: after storm $pause, the clusters are those of near_cluster (seed $seed)");
		ask($slow, $pause % 2 == 0 ? 'COMMIT;' : 'SELECT write_rows(30);');
		$slow->quit;
		is($node->safe_psql('postgres', "SELECT near_clusters_refresh('story') > 0"), 't', 'what is committed later comes later');
		is(differing(%$of), 0, "$name: and so are they then");
		$rows += $node->safe_psql('postgres', 'SELECT count(*) FROM story');
		$ran{$1} += $2 while $out =~ /SQL script \d+: \S*\/(\w+)\.pgbench\n.*?- (\d+) transactions/sg;
	}
	is($node->safe_psql('postgres', 'SELECT count(*) FROM story_clusters_changes'), 0, 'no change is left');
}
cmp_ok($rows, '>', 1000, "$rows rows were compared");
my $refreshes = delete $ran{refresh};
diag(sum(values %ran) . " operations, $refreshes refreshes, $kills kills");

# The second refresh waits for the first.
my $first = session($node);
ask($first, "BEGIN; SELECT write_rows(5); SELECT near_clusters_refresh('story');");
my ($status, undef, $err) = $node->psql('postgres', "SET lock_timeout = '100ms'; SELECT near_clusters_refresh('story')");
like($err, qr/canceling statement due to lock timeout/, 'a second refresh waits');
is($node->safe_psql('postgres', 'SELECT count(*) > 0 FROM story_clusters'), 't', 'nobody else does');
ask($first, 'COMMIT;');
$first->quit;
is($node->safe_psql('postgres', "SELECT near_clusters_refresh('story')"), 0, 'and then has nothing to do');

# A dump has all of it.
$node->safe_psql('postgres', 'SELECT write_rows(100); DELETE FROM story WHERE id % 7 = 0');
my $dump = $node->basedir . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('postgres') ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', $dump ], 'restored');
my %of = (code => 'bits', radius => 2, linkage => 'connected', within => 'tenant', look => 4);
{
	my $changes = 'SELECT array_agg(id ORDER BY id) FROM story_clusters_changes';
	is($node->safe_psql('restored', $changes), $node->safe_psql('postgres', $changes), 'with the changes that were noted');
	my $digest = "SELECT near_clusters_refresh('story'); SELECT md5(array_agg(c ORDER BY id)::text) FROM story_clusters AS c";
	is($node->safe_psql('restored', $digest), $node->safe_psql('postgres', $digest), 'a refresh does the same there');
	is(differing(%of), 0, 'and the right thing');
	$node->safe_psql('restored', 'DROP TABLE story');
	is($node->safe_psql('restored', q{SELECT count(*) FROM pg_class WHERE relname LIKE 'story%'}), 0, 'and then, all goes with the table');
}

# Owners, writers and row security.
$node->safe_psql('postgres', q{
	CREATE ROLE alice; CREATE ROLE bob; CREATE SCHEMA alice AUTHORIZATION alice; GRANT USAGE ON SCHEMA alice TO bob;
	SET ROLE alice;
	CREATE TABLE alice.note (id uuid PRIMARY KEY, writer name DEFAULT current_user, si bigint);
	GRANT SELECT, INSERT, DELETE ON alice.note TO bob;
	INSERT INTO alice.note (id, si) SELECT md5(i::text)::uuid, i FROM generate_series(1, 10) AS i;
	SELECT near_clusters_create('alice.note', 'id', 'si', 2);
	ALTER TABLE alice.note ENABLE ROW LEVEL SECURITY;
	CREATE POLICY own ON alice.note USING (writer = current_user);
	SET ROLE bob;
	INSERT INTO alice.note (id, si) SELECT md5(i::text)::uuid, i FROM generate_series(11, 20) AS i;});
my @errors = map { ($node->psql('postgres', $_))[2] } "SET ROLE bob; SELECT near_clusters_refresh('alice.note')", 'SET ROLE bob; TABLE alice.note_clusters',
	"SET ROLE bob; SELECT near_cluster_of('alice.note', 5, key => NULL::uuid)";
like($errors[0], qr/must be owner of table note/, 'a writer who is not the owner cannot refresh');
like($errors[$_], qr/permission denied for table note_clusters/, 'nor see the clusters') for 1, 2;
my $clusters = q{SELECT count(*), count(DISTINCT cluster) FROM alice.note_clusters};
my $expected = q{SELECT count(*), count(DISTINCT k) FROM (SELECT near_cluster(id, si, 2) OVER (ORDER BY id) AS k FROM alice.note) AS c};
is($node->safe_psql('postgres', "SET ROLE alice; SELECT near_clusters_refresh('alice.note'); $clusters") =~ s/^\d+\n//r,
	$node->safe_psql('postgres', $expected), 'the owner can, and has all rows, although a policy hides some');
$node->safe_psql('postgres', q{SET ROLE bob; INSERT INTO alice.note (id, si) VALUES (md5('x')::uuid, -1)});
is($node->safe_psql('postgres', "SELECT near_clusters_refresh('alice.note'); $clusters") =~ s/^\d+\n//r,
	$node->safe_psql('postgres', $expected), 'a superuser can as well');
$node->safe_psql('postgres', 'ALTER TABLE alice.note FORCE ROW LEVEL SECURITY; INSERT INTO alice.note (id, si) VALUES (gen_random_uuid(), 8)');
like(($node->psql('postgres', "SELECT near_clusters_refresh('alice.note')"))[2], qr/would be affected by row-level security policy/,
	'policies that hold for the owner are an error');

# Logical replication fires the triggers of rows.
my $subscriber = start_node('living_subscriber');
for ($node, $subscriber)
{
	$_->safe_psql('postgres', 'CREATE TABLE copied (id integer PRIMARY KEY, si bigint)');
}
$subscriber->safe_psql('postgres', "SELECT near_clusters_create('copied', 'id', 'si', 3)");
$node->safe_psql('postgres', 'INSERT INTO copied SELECT i, i FROM generate_series(1, 100) AS i; CREATE PUBLICATION copied FOR TABLE copied');
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION copied CONNECTION '@{[$node->connstr]} dbname=postgres' PUBLICATION copied");
$subscriber->poll_query_until('postgres', 'SELECT count(*) = 100 FROM copied') or die 'rows are missing';
$node->safe_psql('postgres', 'UPDATE copied SET si = -1 WHERE id < 20; DELETE FROM copied WHERE id > 90');
$node->wait_for_catchup('copied');
$subscriber->safe_psql('postgres', "SELECT near_clusters_refresh('copied')");
is($subscriber->safe_psql('postgres', q{SELECT count(*), count(*) FILTER (WHERE c.cluster = n.cluster) FROM copied_clusters AS c
	FULL JOIN (SELECT id, near_cluster(id, si, 3) OVER (ORDER BY id) AS cluster FROM copied) AS n USING (id)}), '90|90', 'a subscriber has clusters of its own');
$node->safe_psql('postgres', 'TRUNCATE copied');
$node->wait_for_catchup('copied');
is($subscriber->safe_psql('postgres', q{SELECT near_clusters_refresh('copied'); SELECT count(*) FROM copied_clusters}) =~ s/^\d+\n//r, 0, 'and they go with TRUNCATE');

# A publication of all tables has those of clusters as well.
$node->safe_psql('postgres', 'CREATE PUBLICATION everything FOR ALL TABLES; SELECT write_rows(10)');
is($node->safe_psql('postgres', "SELECT near_clusters_refresh('story') > 0"), 't', 'a publication of all tables is no hindrance');
is(differing(%of), 0, 'and changes nothing');

unlike(slurp_file($node->logfile), qr/PANIC|panicked|terminated by signal|deadlock detected/, 'no crash, no deadlock');
done_testing();
