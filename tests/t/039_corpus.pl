# The commands of docs/corpus.md keep each text once, even if the server is killed while a file is loaded or while pages
# are compared, or if a file cannot be read. After the same commands were executed again, the tables are the same as
# without these events, and the keys are the numbers of the lines.

use strict;
use warnings;
use Test::More;
use SimhashTest;
use IO::Handle;
use Time::HiRes qw(usleep);
use PostgreSQL::Test::Utils;

my $node = start_node('corpus');
my $dir = PostgreSQL::Test::Utils::tempdir;
$ENV{PGHOST} = $node->host;
$ENV{PGPORT} = $node->port;

my ($script) = block('sql', qr/PROCEDURE decide/);
my ($shell) = block('sh', qr/^load\(\)/m);
my ($back) = block('sh', qr/^awk/m);
my ($load) = $shell =~ /^(load\(\).*?^\}\n)/ms;
write_file('corpus.sql', $script);
my %lines = write_corpus();

# Every line of the page runs for which there is a tool, and the tables are the ones that the texts were made for.
my $commands = $shell =~ s/\Q$load//r =~ s/\\\n *//gr =~ s/^#.*\n//mgr;
my @commands = grep { is_possible($_) } split /\n/, $commands;
cmp_ok(scalar @commands, '>=', 5, 'most of the commands can run here');
is(bash("set -e\n$load" . join "\n", @commands), '', 'the commands of the page');
my $loaded = join ',', map { /^.*load (\d)/ ? $1 : () } @commands;
my $truth = join '', map { expected($_) } split /,/, $loaded;
my $whole = decided();
is($whole, $truth, 'each text is kept once');
is(bash($back), '', 'back to the file');
my %is_duplicate = $whole =~ /^1(\d{9})\|(?!1\1$)(\d+)$/mg;
is(slurp_file("$dir/clean-1.jsonl"), join('', map { $lines{1}[$_] } grep { !$is_duplicate{ sprintf '%09d',
	$_ + 1 } } 0 .. $#{ $lines{1} }), 'the first file without its duplicates');
isnt(scalar(keys %is_duplicate), 0, 'which had some');

# A file of which one line is no JSON. The keys go on with the numbers of lines when it has been mended.
my @mended = map { text_line("later $_") } 1 .. 40;
write_file('corpus-6.jsonl', join '', @mended[ 0 .. 29 ], "{\n", @mended[ 31 .. 39 ]);
like(bash("${load}load 6 <corpus-6.jsonl"), qr/invalid input syntax for type json.*COPY page, line 31/s,
	'the line that is no JSON is named');
write_file('corpus-6.jsonl', join '', @mended);
is(bash("${load}load 6 <corpus-6.jsonl"), '', 'the mended file');
is(query("SELECT min(id), max(id), count(*) FROM page WHERE id > 6000000000"), '6000000001|6000000040|40',
	'its keys are its lines');
write_file('corpus-7.jsonl', qq({"words": "no text"}\n));
like(bash("${load}load 7 <corpus-7.jsonl"), qr/null value in column "body".*COPY page, line 1/s,
	'another key is refused');

# Again from the beginning. The server is killed while the first file is loaded ...
bash('dropdb corpus');
bash(join "\n", grep { /createdb|corpus\.sql/ } @commands);
my $half = join '', @{ $lines{1} }[ 0 .. $#{ $lines{1} } / 2 ];
crash_during("${load}load 1", $half, q{SELECT pid FROM pg_stat_progress_copy WHERE tuples_processed > 10});
is(query('SELECT count(*) FROM page'), '0', 'a file is loaded completely or not at all');

# ... and while decide() waits for a lock, at the place where it writes what it has decided.
my @loads = grep { !/createdb|corpus\.sql|decide/ } @commands;
my $decide = "psql corpus -c 'CALL decide()'";
is(bash($load . join "\n", @loads), '', 'all files');
my $out = '';
my $err = '';
my $lock = IPC::Run::start([ 'psql', 'corpus', '-c',
	'BEGIN; LOCK TABLE duplicate IN SHARE MODE; SELECT pg_sleep(600)' ], '>', \$out, '2>', \$err);
$node->poll_query_until('corpus',
	q{SELECT count(*) > 0 FROM pg_locks WHERE relation = 'duplicate'::regclass AND mode = 'ShareLock' AND granted});
crash_during($decide, '', q{SELECT pid FROM pg_locks WHERE relation = 'duplicate'::regclass AND NOT granted});
$lock->finish;
is(query('SELECT (SELECT count(*) FROM kept), (SELECT count(*) FROM duplicate)'), '0|0',
	'all pages are decided about, or none');
my $errors = bash($load . join "\n", @loads, $decide);
is(scalar(() = $errors =~ /duplicate key value violates unique constraint "page_pkey"/g), scalar @loads,
	'what is loaded is refused');
is(decided(), $whole, 'the same texts are kept as without a crash');

# A table that is not logged is empty after a crash, and nothing is decided without its texts.
bash(q{psql corpus -c 'ALTER TABLE page SET UNLOGGED'});
$node->kill9;
start_again($node);
like(bash($decide), qr/some texts in "kept" are missing from "page"/, 'texts are missing');
is(bash($load . join "\n", @loads, $decide), '', 'the files are loaded again');
is(decided(), $whole, 'and nothing has changed');

# The block of the page that has this language and something in it.
sub block
{
	my ($language, $content) = @_;
	my @found = grep { /$content/ } slurp_file("$ENV{DOCS}/docs/corpus.md") =~ /^```$language\n(.*?)^```$/msg;
	is(scalar @found, 1, "one block of $language has $content");
	return $found[0];
}

sub write_file
{
	my ($name, $content) = @_;
	open my $file, '>:raw', "$dir/$name" or die "cannot write $name: $!";
	print $file $content;
	close $file;
}

# A text of forty words that no other seed has.
sub words
{
	my ($seed) = @_;
	my $number = 0;
	$number = ($number * 31 + ord) % 2**31 for split //, $seed;
	srand($number);
	rand for 1 .. 10;
	return join ' ', "of $seed", map { join '', map { chr(97 + rand 26) } 1 .. 6 } 1 .. 38;
}

sub text_line
{
	my ($seed, %options) = @_;
	my $key = $options{key} // 'text';
	my $text = $options{version} ? words($seed) =~ s/ \w+$//r : words($seed);
	$text =~ s/ /$options{blank}/ if $options{blank};
	return qq({"$key": "$text"}\n);
}

# Five files. Every fifth line of a file is a version of an earlier one, and every seventh a copy.
sub write_corpus
{
	my %lines;
	for my $file (1 .. 5)
	{
		my $key = $file == 4 ? 'content' : 'text';
		for my $line (1 .. 300)
		{
			push @{ $lines{$file} }, text_line(seed_of($file, $line), key => $key, version => $line % 5 == 0,
				blank => $line % 11 == 0 ? '\u0000 ' : '');
		}
	}
	write_file("corpus-$_.jsonl", join '', @{ $lines{$_} }) for 1, 2, 4;
	system('gzip', "$dir/corpus-2.jsonl") == 0 or die 'gzip failed';
	write_file('corpus-3.jsonl', "\xef\xbb\xbf" . join '', @{ $lines{3} });
	return %lines;
}

# The first line of a text. Versions and copies are those of a line before, which may be in the file before.
sub seed_of
{
	my ($file, $line) = @_;
	return "$file/$line" if $line % 5 && $line % 7 || $line < 8;
	my $origin = $line - 4;
	$origin-- until $origin % 5 && $origin % 7 || $origin < 8;
	return $file > 1 && $line % 3 == 0 ? $file - 1 . "/$origin" : "$file/$origin";
}

# The rows that decided() returns for a file.
sub expected
{
	my ($file) = @_;
	return join '', map {
		my ($from, $line) = seed_of($file, $_) =~ m{(\d)/(\d+)};
		sprintf "%d%09d|%d%09d\n", $file, $_, $from, $line;
	} 1 .. 300;
}

# Each text, and the one that is kept of it.
sub decided
{
	return query('SELECT id, id FROM kept UNION ALL SELECT id, keeper FROM duplicate ORDER BY 1') . "\n";
}

sub query
{
	my ($sql) = @_;
	return $node->safe_psql('corpus', $sql);
}

# Whether this machine has the program of a command, and the file was made.
sub is_possible
{
	my ($command) = @_;
	return 0 if $command =~ /duckdb/;
	my ($program) = $command =~ /^(\w+)/;
	return $program eq 'load' || system("command -v $program >/dev/null") == 0;
}

# Runs commands, and returns their errors and warnings.
sub bash
{
	my ($commands) = @_;
	my $out = '';
	my $err = '';
	IPC::Run::run([ 'bash', '-c', "cd '$dir'\n$commands" ], '<', '/dev/null', '>', \$out, '2>', \$err);
	return $err =~ s/^(?:psql:\S+ )?NOTICE:.*\n(?:HINT:.*\n)?//mgr;
}

# Begins a command, kills the server when the query returns its process, and starts it again.
sub crash_during
{
	my ($command, $input, $query) = @_;
	my $out = '';
	my $err = '';
	# Its input stays open until the crash.
	my $running = IPC::Run::start([ 'bash', '-c', "cd '$dir'\n$command" ], '<pipe', \*INPUT, '>', \$out, '2>', \$err);
	print INPUT $input;
	INPUT->flush;
	$node->poll_query_until('corpus', "SELECT EXISTS ($query)") or die "no process: $query";
	my $process = query($query);
	$node->kill9;
	# A process ends when it notices that it waits in vain.
	my $end = time + SECONDS_OF_PATIENCE;
	usleep(10_000) while is_running($process) && time < $end;
	close INPUT;
	$running->finish;
	like($err, qr/server closed the connection|connection to server was lost/, 'the command met the crash');
	start_again($node);
}

# Whether a process has not ended yet.
sub is_running
{
	my ($process) = @_;
	open(my $file, '<', "/proc/$process/stat") or return 0;
	return <$file> !~ /^\d+ \(.*\) Z/;
}

done_testing();
