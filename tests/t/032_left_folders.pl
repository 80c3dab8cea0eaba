# The folder of a run of tests that was killed, and the servers in it, are removed by the next run
# (tools/tests/folders.sh). Folders of processes that are still running remain, as well as those of the last set of
# tests that failed.

use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);
use SimhashTest;

my $place = PostgreSQL::Test::Utils::tempdir_short;
# Each run here is a net of its own, unless it is given one.
delete local $ENV{SIMHASH_PG_NET};
my $namespace = sh('readlink /proc/self/ns/pid | tr -cd 0-9');

# A run, and one that runs at the same time.
my $running = start_run();
my $killed = start_run();
is(next_run(), '', 'folders of runs that are running remain');
ok(-d $running->{folder} && -d $killed->{folder}, 'both are there');

my $server = start_server("$killed->{folder}/data");
end($killed);
is(next_run(), '', 'nothing is said about what is removed');
ok(!-e $killed->{folder} && !-e "$killed->{folder}.run", 'the folder of a run that was killed is removed');
ok(ended($server), 'its server is stopped');
ok(-d $running->{folder}, 'another one is not');
end($running);

# What a killed run has started may still be at work.
my $orphaned = start_run();
$server = start_server("$orphaned->{folder}/data");
my $worker = start($orphaned->{folder}, 'sleep', 600);
end($orphaned);
like(next_run(), qr/^not removed: \Q$orphaned->{folder}\E, where processes /,
	'a folder where processes are at work remains');
ok(-d $orphaned->{folder} && !ended($server), 'its server, too');
kill_and_wait($worker);
next_run();
ok(!-e $orphaned->{folder} && ended($server), 'both are removed when the processes have ended');

# The PID in a postmaster.pid belongs to a process that is no server of the folder: this one.
my $reused = start_run();
mkdir "$reused->{folder}/data";
append_to_file("$reused->{folder}/data/postmaster.pid", "$$\n");
end($reused);
next_run();
ok(!-e $reused->{folder}, 'the folder is removed, and the process is not ended');

# The process has the PID of one that has ended, and is of another namespace.
my ($later, $foreign) = map { made_by($_) } "$namespace:$$:1", "1:$$:1";
next_run();
ok(!-e $later, 'a process with the same PID that started later is another one');
ok(-e $foreign, 'a process of another namespace may be running');
my $current = sh(". tools/tests/folders.sh; process_name $$");
my $alone = made_by($current, "$namespace:1:1");
next_run();
ok(-e $alone, 'a run may go on when its net was killed');
my $unnamed = "$place/run.unnamed";
mkdir $unnamed;
next_run();
ok(-e $unnamed, 'a folder of which nobody says who made it remains');

# Failed runs of two sets of tests.
my ($first, $second, $third) = map { my $net = "$namespace:1:$_";
[ map { made_by("$namespace:$$:$_", $net) } 1, 2 ] } 1 .. 3;
keep($_) for @$first;
next_run();
is_deeply([ grep { -d } @$first ], $first, 'the folders of a net that has failed remain');
my $deleted = made_by("$namespace:$$:4");
keep($deleted);
rmdir $deleted;
next_run();
is_deeply([ grep { -d } @$first ], $first, 'if that of a later one was deleted');
ok(!-e $second->[0] && !-e $third->[1], 'those of others do not');
($second) = [ map { made_by("$namespace:$$:$_", "$namespace:1:2") } 1, 2 ];
keep($second->[0]);
next_run();
is_deeply([ map { -d $_ ? 1 : 0 } @$first, @$second ], [ 0, 0, 1, 0 ], 'until a later one has failed');
$first = [ map { made_by("$namespace:$$:$_", $current) } 1, 2 ];
keep($_) for @$first;
$third = [ made_by("$namespace:$$:1", "$namespace:1:3") ];
keep($_) for @$third;
next_run();
is_deeply([ map { -d $_ ? 1 : 0 } @$first, @$third ], [ 1, 1, 1 ], 'and as long as the net is running');
done_testing();

sub sh
{
	my ($script) = @_;
	chdir $ENV{DOCS} or die "cannot enter $ENV{DOCS}: $!";
	IPC::Run::run([ 'sh', '-euc', $script ], '>', \my $out, '2>', \my $err);
	die "$script: $err" if $?;
	chomp $out;
	return $out . $err;
}

# A process that has made a folder, as tools/tests/cluster.sh does.
sub start_run
{
	my $told = "$place/told";
	my $process = start($ENV{DOCS}, 'sh', '-euc',
		". tools/tests/folders.sh; make_folder $place/run. >$told.new; mv $told.new $told; exec sleep 600");
	usleep(10_000) until -e $told || ended($process);
	chomp(my $folder = slurp_file($told));
	unlink $told;
	return { process => $process, folder => $folder };
}

# The messages of the next run when it creates its folder, which is then removed.
sub next_run { return sh(". tools/tests/folders.sh; folder=\$(make_folder $place/run.); remove_folder \"\$folder\"") }

# A folder, and the name of the process that has made it.
sub made_by
{
	my ($process, $net) = @_;
	my $folder = sh("mktemp -d $place/run.XXXXXX");
	append_to_file("$folder.run", "$process\n" . ($net // $process) . "\n");
	return $folder;
}

sub keep { return sh(". tools/tests/folders.sh; keep_folder $_[0]") }

sub end { return kill_and_wait($_[0]{process}) }

sub start
{
	my ($folder, @command) = @_;
	my $pid = fork // die "cannot fork: $!";
	return $pid if $pid;
	chdir $folder or die "cannot enter $folder: $!";
	exec @command or die "cannot run @command: $!";
}

sub kill_and_wait
{
	my ($pid) = @_;
	kill 'KILL', $pid;
	waitpid $pid, 0;
	return;
}

# A server that is only known from the file postmaster.pid. It is no child of this process.
sub start_server
{
	my ($folder) = @_;
	system_or_bail('cp', '-RPp', $ENV{INITIAL_DATA}, $folder);
	system_or_bail('pg_ctl', '-D', $folder, '-l', "$folder/log", '-w', '-o',
		"-c listen_addresses='' -c unix_socket_directories='$place'", 'start');
	my ($pid) = slurp_file("$folder/postmaster.pid") =~ /^(\d+)/;
	return $pid;
}

# Process 1 may never wait for it.
sub ended
{
	my ($pid) = @_;
	open(my $file, '<', "/proc/$pid/stat") or return 1;
	return <$file> =~ /\) Z/;
}
