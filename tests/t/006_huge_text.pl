# Texts near the limit of 1 GB: function calls can be canceled midway, and need bounded memory.
#
# The test does not use a clock to decide whether a cancellation took effect soon enough, because everything can be late
# on a busy machine. Instead, it uses a sequence, which a cancellation does not reset. The sequence advances immediately
# before and after the call, and only the call itself checks for interrupts in between. If the sequence has advanced
# once when the statement is canceled, the call was interrupted midway. If it has advanced twice, the call had been
# completed. Because calls take different times on different machines, the time of the cancellation is adjusted until it
# falls into the call. This is impossible if the call does not check for interrupts, as md5 shows.

use strict;
use warnings;
use Test::More;
use SimhashTest;

# The text, its conversion, and the server itself.
use constant NEEDED_GB => 6;
open my $meminfo, '<', '/proc/meminfo' or plan skip_all => 'reads /proc';
my ($available) = map { /^MemAvailable:\s+(\d+) kB/ ? $1 / 1024**2 : () } <$meminfo>;
plan skip_all => 'needs ' . NEEDED_GB . ' GB of memory' if $available < NEEDED_GB;

my $node = start_node('huge');
$node->safe_psql('postgres', "CREATE DATABASE latin1 TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'");
$node->safe_psql('latin1', 'CREATE EXTENSION simhash_pg');
# A block of 1 MB without repetitions; the text consists of a thousand copies.
$node->safe_psql($_, q{
	CREATE TABLE part AS SELECT string_agg(md5(i::text), ' ') AS block FROM generate_series(1, 32000) AS i;
	CREATE SEQUENCE progress}) for 'postgres', 'latin1';
$node->safe_psql('postgres', "ALTER DATABASE postgres SET maintenance_work_mem = '2GB'");
my $huge = '(SELECT repeat(block, 1000) AS body FROM part OFFSET 0) AS huge';

# Whether a call is given up halfway when the statement is cancelled after a time that fits: first after that of the
# last call.
my $milliseconds = 1000;
sub is_cancelled_halfway
{
	my ($database, $call, $attempts) = @_;
	for (1 .. $attempts)
	{
		$node->safe_psql($database, 'ALTER SEQUENCE progress RESTART');
		my (undef, undef, $err) = run_psql($node, $database,
			"SET statement_timeout = $milliseconds; SELECT nextval('progress'), $call, nextval('progress') "
				. "FROM $huge LIMIT 1", '-o', '/dev/null');
		my ($advanced) = $node->safe_psql($database,
			'SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM progress');
		return 1 if $advanced == 1 && $err =~ /canceling statement due to statement timeout/;
		diag($err) if $err !~ /canceling statement/ && $advanced < 2;
		$milliseconds = int($milliseconds * ($advanced ? 0.7 : 1.5));
	}
	return 0;
}

ok(!is_cancelled_halfway('postgres', 'md5(body)', 4),
	'md5, which does not look at interrupts, is not cancelled halfway');
for (
	[ 'postgres', "simhash(body, 'char:8')" ],
	[ 'postgres', "simhash(body, 'word:3')" ],
	[ 'postgres', 'simhash(body)' ],
	[ 'postgres', "simhash(body, 'doc1')" ],
	[ 'postgres', 'manber_sketch(body, 50, 8, 31, 9223372036854775783)' ],
	[ 'postgres', "simhash(body, 'commoncrawl')" ],
	[ 'postgres', "winnow_sketch(body)" ],
	[ 'postgres', "heintze_sketch(body)" ],
	[ 'postgres', "minhash(body)" ],
	[ 'postgres', "minhash_bits(body, 256)" ],
	[ 'postgres', "passage_sketch(body, 2000)" ],
	[ 'postgres', "manber_sketch(body, hash => 'java')" ],
	# Documents of 256 MB and passages of texts of 100 MB.
	[ 'postgres', "extract_text(left(body, 250000000))" ],
	[ 'postgres', "extract_text(repeat(left(body, 0) || '<p>&amp;', 30000000))" ],
	[ 'postgres', "shared_passages(left(body, 100000000), substr(body, 17, 100000000))" ],
	[ 'postgres', "passage_headline(left(body, 100000000), substr(body, 17, 100000000))" ],
	[ 'postgres', "recursive_shingles(left(body, 100000000))" ],
	# Corpora of 300 MB: the same documents again and again, the parts of one, and periodic text.
	[ 'postgres',
		"(SELECT count(*) FROM repeated_passages('SELECT 1::bigint, block FROM part, generate_series(1, 300)'))" ],
	[ 'postgres', "(SELECT count(*) FROM repeated_passages('SELECT 1::bigint, repeat(block, 300) FROM part'))" ],
	[ 'postgres', "(SELECT count(*) FROM repeated_passages('SELECT 1::bigint, repeat(''a'', 300000000)'))" ],
	# Texts without any passage to find.
	[ 'postgres', "simhash(repeat(chr(8212), length(body) / 12))" ],
	[ 'postgres', "simhash(repeat('me\@example.org ', length(body) / 16))" ],
	[ 'latin1', "simhash(body, 'char:32')" ])
{
	my ($database, $call) = @$_;
	ok(is_cancelled_halfway($database, $call, 12), "$database: $call of 1 GB is cancelled halfway");
}

# The session continues, and a text may have more distinct features than fit into memory at once.
my $distinct = "(SELECT string_agg(md5(i::text), '') FROM generate_series(1, 1000000) AS i)";
my ($code, $out, $err) = run_psql($node, 'postgres', qq{
	\\set ON_ERROR_STOP off
	SELECT CASE WHEN pg_cancel_backend(pg_backend_pid()) THEN simhash(body, 'char:8') END FROM $huge;
	\\set ON_ERROR_STOP on
	SELECT simhash($distinct, 'char:8') IS NOT NULL AS answered, simhash('still here') IS NOT NULL AS alive;
}, '-At');
is($out, "t|t\n", '32 MB of distinct features after a cancel in the same session') or diag($err);
like($err, qr/canceling statement due to user request/, 'which was one');

# A sketch with all hashes of a long text is refused before it is computed.
($code, $out, $err) = run_psql($node, 'postgres', "SELECT manber_sketch($distinct, 50, 0)");
like($err, qr/sketch has more than 8388608 values/, 'a sketch has a limit');
like($err, qr/HINT:  Increase sample_bits/, 'and says what to do');

($code, $out, $err) = run_psql($node, 'postgres', "SELECT extract_text(body) FROM $huge");
like($err, qr/document of 1\d{9} bytes is longer than 268435456/, 'HTML has a limit');

# Waits for the session, whose lines `make coverage` counts at its end.
$node->stop;
done_testing();
