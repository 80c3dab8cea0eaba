# No error sends a backtrace to a client, whatever the environment of the server contains.

use strict;
use warnings;
use Test::More;
use SimhashTest;

my $node = PostgreSQL::Test::Cluster->new('backtraces');
$node->init(extra => [ '--encoding', 'UTF8', '--locale', 'C' ]);
for my $variables ({ RUST_BACKTRACE => 1 }, { RUST_BACKTRACE => 'full' },
	{ RUST_BACKTRACE => 0, RUST_LIB_BACKTRACE => 'full' })
{
	my $name = join ' ', map { "$_=$variables->{$_}" } sort keys %$variables;
	{
		local @ENV{ keys %$variables } = values %$variables;
		$node->start;
	}
	$node->safe_psql('postgres', 'CREATE EXTENSION IF NOT EXISTS simhash_pg');
	# A problem of ours, an error of PostgreSQL's own below us, and a cancel.
	for (
		[ "SELECT simhash('a', 'none')", qr/unknown fingerprint scheme/ ],
		[ "SELECT * FROM repeated_passages('SELECT 1/0, body FROM nowhere', 10)",
			qr/relation "nowhere" does not exist/ ],
		[ "SELECT '<1,2'::hamming_ball", qr/invalid input syntax/ ],
		[ "SET statement_timeout = 500; SELECT count(simhash(body || n, 'word:3')) "
			. "FROM generate_series(1, 1000000) AS n, (SELECT string_agg(md5(i::text), ' ') AS body "
			. "FROM generate_series(1, 20000) AS i) AS t", qr/canceling statement due to statement timeout/ ])
	{
		my ($statement, $message) = @$_;
		my (undef, undef, $err) = run_psql($node, 'postgres', "\\set VERBOSITY verbose\n$statement");
		like($err, $message, "$name: an error is told");
		unlike($err, qr/rustc|\.cargo|\bcore::|pgrx|\n\s+\d+:/, 'without a backtrace');
	}
	is($node->safe_psql('postgres',
		'CREATE TEMP TABLE t (v text); SELECT simhash(version()) IS NULL; '
		. 'COPY t FROM PROGRAM \'echo "$RUST_BACKTRACE$RUST_LIB_BACKTRACE"\'; SELECT v FROM t'),
		"f\n" . join('', map { $variables->{$_} // '' } qw(RUST_BACKTRACE RUST_LIB_BACKTRACE)),
			'the environment is as it was');
	$node->stop;
}

done_testing();
