# The messages of `make` before it builds (tools/packages/prepare), and after a build that failed (explain-failure):
# none in a clean clone, and otherwise one line that says what to do. The Rust in these tests only prints its version.
# `sudo make install` copies what has been built, and compiles nothing.

use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;

my $clone = PostgreSQL::Test::Utils::tempdir;
my $bin = PostgreSQL::Test::Utils::tempdir;
system_or_bail('cp', '-R', "$ENV{DOCS}/tools", "$ENV{DOCS}/Cargo.toml", $clone);
my ($wanted) = slurp_file("$clone/Cargo.toml") =~ /^rust-version = "(.*)"/m or die 'no rust-version';
has_rust($wanted);
chdir $clone or die "cannot enter $clone: $!";
my $whole_path = $ENV{PATH};
local $ENV{PATH} = "$bin:$ENV{PATH}";
delete local $ENV{PG_CONFIG};

is(prepare(), 'exit 0: ', 'a clean clone');

system_or_bail('mkdir', '-p', 'target/release/deps');
is(prepare(), 'exit 0: ', 'after a build');
system_or_bail('mkdir', '-p', 'target/debug/deps');
is(prepare(), 'exit 0: ', 'after a build and the tests of the crates');
append_to_file('target/release/deps/of_root', '');
chmod 0444, 'target/release/deps/of_root';
like(prepare(),
	qr/^exit 1: target\/release\/deps\/of_root belongs to .* sudo chown -R \w+ target, and call make without sudo$/,
	'after sudo make');
unlink 'target/release/deps/of_root';

has_rust('1.63.0');
like(prepare(),
	qr/^exit 1: Rust 1\.63\.0 is too old, \Q$wanted\E or later is needed: rustup update, or sudo apt-get update/,
	'an old Rust');
has_rust('');
like(prepare(), qr/^exit 1: missing: Rust \Q$wanted\E or later .*Packages need none: docs\/installing\.md$/, 'no Rust');

# A machine on which nothing is installed, and whose packages have other names.
{
	local $ENV{PATH} = PostgreSQL::Test::Utils::tempdir;
	my %missing = (
		fuzz => 'gcc libc6-dev g\+\+',
		miri => 'gcc libc6-dev',
		postgresql => 'gcc libc6-dev make bison flex pkg-config (liblz4-dev )?libipc-run-perl curl ca-certificates '
			. 'bzip2 xz-utils( debian-archive-keyring)?',
		debian => 'debootstrap( debian-archive-keyring)?');
	like(outcome('tools/packages/prepare', $_), qr/^exit 1: missing \(by their Debian names\): $missing{$_}$/,
		"prepare $_")
	  for sort keys %missing;
	my $then = 'then, as far as is known, make install PG_CONFIG';
	my $libclang = 'LIBCLANG_PATH=/folder';
	my %elsewhere = (
		dnf => 'missing; as root: dnf install gcc glibc-devel gcc-c\+\+',
		zypper => 'missing; as root: zypper install gcc glibc-devel gcc-c\+\+',
		pacman => 'missing; as root: pacman -S gcc glibc',
		apk => 'missing; as root: apk add gcc musl-dev g\+\+',
		brew => 'missing: brew install');
	for my $manager (sort keys %elsewhere)
	{
		script_in($ENV{PATH}, $manager, 'exit 1');
		like(outcome('tools/packages/prepare', 'fuzz'), qr/^exit 1: $elsewhere{$manager}$/,
			"prepare fuzz where there is $manager");
		unlink "$ENV{PATH}/$manager";
	}
	builds_elsewhere($ENV{PATH});
}

my $home = PostgreSQL::Test::Utils::tempdir;
like(explain_failure($home), qr/^exit 1: missing: crates, and they cannot be downloaded; .* see docs\/installing\.md$/,
	'no network');
chmod 0555, $home;
like(explain_failure($home), qr/^exit 1: cargo keeps crates in \Q$home\E, and \w+ cannot write to \Q$home\E: /,
	'a cargo of somebody else');
chmod 0755, $home;
script("cargo", 'exit 0');
is(explain_failure($home), 'exit 1: ', 'the compiler has said why');

sudo_install();
done_testing();

# What the build needs there, and what make has to be told. Rust is there, and nothing that it calls.
sub builds_elsewhere
{
	my ($folder) = @_;
	script_in($folder, 'rustc', "echo 'rustc $wanted (of the test)'");
	script_in($folder, $_, 'exit 0') for 'cargo', 'rustfmt';
	for my $program (qw(cut find grep head sed sort tail))
	{
		my ($path) = grep { -x } map { "$_/$program" } split /:/, $whole_path;
		symlink $path, "$folder/$program" or die "cannot link $program: $!";
	}
	my $then = 'then, as far as is known, make install PG_CONFIG';
	my $libclang = 'LIBCLANG_PATH=/folder';
	my %elsewhere = (
		dnf =>
		  qr/dnf install gcc glibc-devel (clang-devel )?libicu-devel postgresql-server-devel; $then=pg_server_config$/,
		pacman =>
		  qr/pacman -S gcc glibc (clang )?icu postgresql; if libclang is elsewhere, name its folder: $libclang$/,
		apk => qr/apk add gcc musl-dev (clang-dev clang-libclang )?icu-dev postgresql-dev; if libclang/,
		brew =>
		  qr/brew install (llvm )?icu4c postgresql\@17; $then="\$\(brew --prefix postgresql\@17\)\/bin\/pg_config"/);
	for my $manager (sort keys %elsewhere)
	{
		script_in($folder, $manager, 'exit 1');
		like(outcome('tools/packages/prepare', 'build'), $elsewhere{$manager}, "prepare build where there is $manager");
		unlink "$folder/$manager";
	}
	script_in($folder, 'rustc', 'exit 127');
	like(outcome('tools/packages/prepare', 'build'), qr/sudo, which hides it\): https:\/\/rustup\.rs\. Packages/,
		'no Rust, and no apt-get');
}

# Root is whoever `id` says, and cargo fails if it is called.
sub sudo_install
{
	my $place = PostgreSQL::Test::Utils::tempdir;
	my $bin_of_root = PostgreSQL::Test::Utils::tempdir;
	mkdir "$place/$_" for 'share', 'share/extension', 'lib';
	script_in($bin_of_root, 'id', '[ "$1" = -u ] && echo 0');
	script_in($bin_of_root, 'pg_config',
		qq{case \$1 in --version) echo "PostgreSQL 17.2 (of the test)" ;; --sharedir) echo $place/share ;;
		--pkglibdir) echo $place/lib ;; esac});
	script_in($bin_of_root, 'pg_lsclusters',
		q{printf '%s\n' '15 main 5432 down postgres' '17 main 5433 down postgres' '17 other 5434 online postgres'});
	script_in($bin_of_root, 'stat', 'echo 1000');
	local $ENV{PATH} = "$bin_of_root:$ENV{PATH}";
	local $ENV{SUDO_USER} = 'anna';
	delete local @ENV{qw(MAKELEVEL MAKEFLAGS DESTDIR)};
	system_or_bail('cp', '-R', map({ "$ENV{DOCS}/$_" } qw(Makefile Cargo.lock simhash_pg.control sql)), $clone);
	mkdir "$clone/$_" for 'src', 'crates';

	my $make = sub { return outcome('make', '--no-print-directory', @_) };
	my $without = qr/Run make install without sudo: it builds, and calls sudo itself to copy\. make: \*\*\*/;
	like($make->('install'),
		qr/^exit 2: sudo make install only copies the extension, and it has not been built\. $without/,
		'sudo: not built');

	rename "$bin_of_root/pg_config", "$bin_of_root/none";
	my $missing = $make->('install', "PG_CONFIG=$bin_of_root/pg_config");
	like($missing, qr/^exit 2: sudo make install only copies the extension, and PostgreSQL's \S+ is missing\. $without/,
		'sudo: no PostgreSQL');
	rename "$bin_of_root/none", "$bin_of_root/pg_config";

	append_to_file('target/release/libsimhash_pg.so', 'library');
	append_to_file("target/simhash_pg--$_", '') for slurp_file("$clone/Cargo.toml") =~ /^version = "(.*)"/m ? "$1.sql"
		: die 'no version';
	append_to_file('target/built-for', "16\n");
	like($make->('install'), qr/it was built for PostgreSQL 16, and pg_config belongs to 17\. $without/,
		'sudo: built for another PostgreSQL');

	unlink 'target/built-for';
	append_to_file('target/built-for', "17\n");
	append_to_file('src/lib.rs', '');
	utime time(), time() + 10, 'src/lib.rs';
	like($make->('install'), qr/src\/lib\.rs has changed since it was built\. $without/,
		'sudo: the sources have changed');
	utime time(), time() - 10, 'src/lib.rs';

	my $installed = $make->('install');
	like($installed, qr/^exit 0: installed simhash_pg \S+ for PostgreSQL 17\.2 \(of the test\); next/,
		'sudo: only copied');
	is(slurp_file("$place/lib/simhash_pg.so"), 'library', 'the library is the one that was built');
	like(slurp_file("$place/share/extension/simhash_pg.control"), qr/^default_version = '\d/m,
		'the control file has the version');
	SKIP: {
		skip 'systemd is running', 1 if -d '/run/systemd/system';
		like($installed, qr/the cluster 17\/main is not running; to start it: sudo pg_ctlcluster 17 main start$/,
			'how to start a cluster without systemd');
	}
	like($make->('lint'), qr/call make without sudo/, 'sudo make with another target');
}

sub prepare { return outcome('tools/packages/prepare', 'build') }

sub explain_failure
{
	local $ENV{CARGO_HOME} = shift;
	return outcome('tools/packages/explain-failure');
}

sub outcome
{
	my @command = @_;
	IPC::Run::run(\@command, '>', \my $out, '2>', \my $err);
	return 'exit ' . ($? >> 8) . ': ' . join ' ', split /\n/, $out . $err;
}

# Programs with the names of Rust's, found before the machine's own.
sub has_rust
{
	my ($version) = @_;
	script('rustc', $version ? "echo 'rustc $version (of the test)'" : 'exit 127');
	script('rustfmt', 'exit 0');
	script('cargo', 'exit 101');
}

sub script
{
	my ($name, $line) = @_;
	script_in($bin, $name, $line);
}

sub script_in
{
	my ($folder, $name, $line) = @_;
	unlink "$folder/$name";
	append_to_file("$folder/$name", "#!/bin/sh\n$line\n");
	chmod 0755, "$folder/$name";
}
