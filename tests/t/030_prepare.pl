# The messages of `make` before it builds (tools/packages/prepare), and after a build that failed (explain-failure):
# none in a clean clone, and otherwise one line that says what to do. The Rust in these tests only prints its version.

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
local $ENV{PATH} = "$bin:$ENV{PATH}";
delete local $ENV{PG_CONFIG};
# With it, an older Rust is allowed.
delete local $ENV{CARGOFLAGS};

is(prepare(), 'exit 0: ', 'a clean clone');

system_or_bail('mkdir', '-p', 'target/release/deps');
is(prepare(), 'exit 0: ', 'after a build');
system_or_bail('mkdir', '-p', 'target/debug/deps');
is(prepare(), 'exit 0: ', 'after a build and the tests of the crates');
append_to_file('target/release/deps/of_root', '');
chmod 0444, 'target/release/deps/of_root';
like(prepare(), qr/^exit 1: target\/release\/deps\/of_root belongs to .* sudo chown -R \w+ target, and call make without sudo$/,
	'after sudo make');
unlink 'target/release/deps/of_root';

has_rust('1.63.0');
like(prepare(), qr/^exit 1: Rust 1\.63\.0 is too old, \Q$wanted\E or later is needed: rustup update, or sudo apt-get update/, 'an old Rust');
has_rust('');
like(prepare(), qr/^exit 1: missing: Rust \Q$wanted\E or later .*Packages need none: docs\/installing\.md$/, 'no Rust');

# A machine on which nothing is installed, and whose packages have other names.
{
	local $ENV{PATH} = PostgreSQL::Test::Utils::tempdir;
	my %missing = (
		fuzz => 'gcc libc6-dev g\+\+',
		miri => 'gcc libc6-dev',
		postgresql => 'gcc libc6-dev make bison flex pkg-config (liblz4-dev )?libipc-run-perl curl ca-certificates bzip2 xz-utils( debian-archive-keyring)?',
		debian => 'debootstrap( debian-archive-keyring)?');
	like(outcome('tools/packages/prepare', $_), qr/^exit 1: missing \(by their Debian names\): $missing{$_}$/, "prepare $_")
	  for sort keys %missing;
}

my $home = PostgreSQL::Test::Utils::tempdir;
like(explain_failure($home), qr/^exit 1: missing: crates, and they cannot be downloaded; .* see docs\/installing\.md$/, 'no network');
chmod 0555, $home;
like(explain_failure($home), qr/^exit 1: cargo keeps crates in \Q$home\E, and \w+ cannot write to \Q$home\E: /, 'a cargo of somebody else');
chmod 0755, $home;
script("cargo", 'exit 0');
is(explain_failure($home), 'exit 1: ', 'the compiler has said why');
done_testing();

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
	unlink "$bin/$name";
	append_to_file("$bin/$name", "#!/bin/sh\n$line\n");
	chmod 0755, "$bin/$name";
}
