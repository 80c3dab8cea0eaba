# What the TAP tests share.
package SimhashTest;

use strict;
use warnings;
use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(start_node run_psql);

# A running cluster with the extension in database postgres.
sub start_node
{
	my ($name, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init(extra => [ '--encoding', 'UTF8', '--locale', 'C' ], %options);
	$node->append_conf('postgresql.conf', 'fsync = off');
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION simhash_pg');
	return $node;
}

# Runs statements as a person would see them: aligned output, stopped by the first error.
# Returns the exit code, the output and the errors.
sub run_psql
{
	my ($node, $database, $sql, @options) = @_;
	my @command = ('psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($database), @options, '-f', '-');
	my ($out, $err) = ('', '');
	IPC::Run::run(\@command, '<', \$sql, '>', \$out, '2>', \$err);
	return ($? >> 8, $out, $err);
}

1;
