# A damaged page causes an error that contains its block number, never a crash, and hamming_index_check finds the
# damage.

use strict;
use warnings;
use Test::More;
use SimhashTest;
use PostgreSQL::Test::Utils;

my $seed = $ENV{SEED} // int(rand(2**31));
diag("seed $seed");
srand($seed);
my $page = 8192;
my $trailer = $page - 8;

my $node = start_node('corruption');
# Checksums, the default since PostgreSQL 18, would find the damage first.
$node->append_conf('postgresql.conf', "autovacuum = off\nignore_checksum_failure = on");
$node->restart;
$node->safe_psql('postgres', q{
	CREATE TABLE document AS SELECT i AS id, CASE WHEN i % 100 > 0 THEN hashint8extended(i, 1) END AS si
		FROM generate_series(1, 20000) AS i;
	CREATE TABLE code AS SELECT id, (si::bit(64) || hashint4(id)::bit(16))::bit(80) AS si FROM document;});

# Each damages the file of another index: the place, and the bytes written there (or a number of random bits to flip).
my %damages = (
	'magic number' => [ 0, $trailer, 'xxxx', qr/block 0: it is not a page of an index of type hamming/ ],
	'format' => [ 0, $trailer + 4, "\x63", qr/block 0: it has another format/ ],
	'tree of a root' => [ 1, $trailer + 5, "\x03", qr/block 1: it belongs to another tree/ ],
	'a leaf as root' => [ 0, $trailer + 6, "\x00", qr/block 0: its number of entries is impossible/ ],
	'level' => [ 0, $trailer + 6, "\x05", qr/block \d+: it is at another level of its tree/ ],
	'zeroes' => [ 7, 0, "\0" x $page, qr/block 7: it is not a page/ ],
	'a child that is the root itself' => [ 0, $trailer - 4, pack('L', 0), qr/block 0: two pages lead to it/ ],
	'a child in another tree' => [ 0, $trailer - 4, pack('L', 60), qr/block 60: it belongs to another tree/ ],
	'unlogged: a child in another tree' => [ 0, $trailer - 4, pack('L', 60), qr/block 60: it belongs to another tree/ ],
	'a child that is not there' => [ 0, $trailer - 4, pack('L', 4_000_000), qr/block 4000000: there is no such page/ ],
	'number of entries' => [ 6, 12, pack('S', 24 + 8 * 3), qr/block 6: its number of entries is impossible/ ],
	'odd number of entries' => [ 6, 12, pack('S', 27), qr/block 6: its number of entries is impossible/ ],
	'header of the page' => [ 6, 16, pack('S', 8), qr/block 6/ ]);
# The same for strings of bits. Block 0 says how many bits there are, block 1 is the first root.
my %damages_of_codes = (
	'codes: magic number' => [ 0, $trailer, 'xxxx', qr/block 0: it does not say how many bits a code has/ ],
	'codes: format' => [ 0, $trailer + 4, "\x63", qr/block 0: it does not say how many bits a code has/ ],
	'codes: tree of the description' => [ 0, $trailer + 5, "\x08",
		qr/block 0: it does not say how many bits a code has/ ],
	'codes: no entry' => [ 0, 12, pack('S', 24), qr/block 0: it does not say how many bits a code has/ ],
	'codes: no bits' => [ 0, 24, pack('Q', 0), qr/block 0: it does not say how many bits a code has/ ],
	'codes: too many bits' => [ 0, 24, pack('Q', 8193), qr/block 0: it does not say how many bits a code has/ ],
	'codes: other bits' => [ 0, 24, pack('Q', 800), qr/block 0: it has not as many bits as the column/ ],
	'codes: tree of a root' => [ 2, $trailer + 5, "\x0b", qr/block 2: it belongs to another tree/ ],
	'codes: format of a tree' => [ 2, $trailer + 4, "\x63", qr/block 2: it has another format/ ],
	'codes: format of the trees of bigint' => [ 2, $trailer + 4, "\x01", qr/block 2: it has another format/ ],
	'codes: a child that is not there' => [ 1, $trailer - 4, pack('L', 4_000_000),
		qr/block 4000000: there is no such page/ ],
	'codes: zeroes' => [ 20, 0, "\0" x $page, qr/block 20: it is not a page/ ],
	# The number of the description says that the index has trees of words.
	'codes: words of an expression' => [ 0, $trailer + 5, "\xf8",
		qr/block 0: it has trees of words, although its codes are computed by an expression/ ]);
my %random = map { (($_ % 2 ? 'codes: ' : '') . "random bits $_" => [ undef, undef, 1 + int(rand(20)),
	undef ]) } 1 .. 30;
%damages = (%damages, %damages_of_codes);

my %index;
my $number = 0;
for my $damage (sort(keys %damages), sort(keys %random))
{
	$index{$damage} = 'damaged_' . ++$number;
	my $source = $damage =~ /^codes/ ? 'code' : 'document';
	my $unlogged = $damage =~ /^unlogged/ ? 'UNLOGGED' : '';
	my $key = $damage =~ /expression/ ? '((~si)::bit(80))' : 'si';
	$node->safe_psql('postgres',
		"CREATE $unlogged TABLE table_$number AS SELECT * FROM $source; "
		. "CREATE INDEX $index{$damage} ON table_$number USING hamming ($key)");
}
my %file = map { ($_ => $node->data_dir . '/' . $node->safe_psql('postgres',
	"SELECT pg_relation_filepath('$index{$_}')")) } keys %index;
# The file of one index is missing.
$node->safe_psql('postgres',
	'CREATE TABLE lost AS SELECT * FROM document; CREATE INDEX lost_si ON lost USING hamming (si)');
my $lost = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('lost_si')");
$node->stop;
unlink $lost or die "$lost: $!";
for my $damage (keys %file)
{
	open(my $file, '+<:raw', $file{$damage}) or die "$file{$damage}: $!";
	my $pages = (-s $file{$damage}) / $page;
	my ($block, $offset, $what) = @{ $damages{$damage} // $random{$damage} };
	if (defined $block)
	{
		seek($file, $block * $page + $offset, 0);
		print $file $what;
	}
	else
	{
		for (1 .. $what)
		{
			# Half of them in structures: headers, trailers and roots.
			my $block = int(rand() < 0.5 ? rand(6) : rand($pages));
			my $offset = (int(rand(24)), $trailer + int(rand(8)), int(rand($page)), int(rand($page)))[ rand 4 ];
			seek($file, $block * $page + $offset, 0);
			read($file, my $byte, 1);
			seek($file, $block * $page + $offset, 0);
			print $file chr(ord($byte) ^ 1 << int(rand(8)));
		}
	}
	close $file;
}
$node->start;

# The view has a row for each index, and says what is wrong with it. PostgreSQL's own error of an impossible header is a
# problem as well.
my %problem = map { split /=/, $_, 2 } split /\n/, $node->safe_psql('postgres',
	"SELECT index || '=' || coalesce(problem, '') FROM hamming_indexes");
like(delete $problem{lost_si}, qr/could not open file/, 'the index without a file is one of hamming_indexes');
is(scalar(keys %problem), scalar(keys %index), 'which has all other indexes');
for my $damage (sort keys %damages)
{
	# If changes are not logged, a misplaced page may be one that is being moved. The check locks the index against
	# changes, so that it can tell.
	next if $damage =~ /^unlogged/;
	my $told = $damage =~ /header/ ? qr/invalid page in block 6/ : $damages{$damage}[3];
	like($problem{ $index{$damage} }, $told, "$damage: told by hamming_indexes");
	is($node->safe_psql('postgres',
		"SELECT rows IS NULL AND reindex AND problem IS NOT NULL FROM hamming_indexes "
		. "WHERE index = '$index{$damage}'::regclass"), 't', 'and that REINDEX is due');
}

my $by_index = "SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off; "
	. "SET statement_timeout = '" . SECONDS_OF_PATIENCE . "s'; \\set VERBOSITY verbose\n";
for my $damage (sort keys %index)
{
	my ($table) = $index{$damage} =~ s/damaged/table/r;
	my ($source, $type) = $damage =~ /^codes/ ? ('code', 'bit(80)') : ('document', 'bigint');
	my @statements = (
		"SELECT count(*) FROM $table WHERE hamming(si, 42::$type) <= 80",
		"SELECT count(*) FROM (SELECT FROM $table ORDER BY hamming(si, 42::$type)) AS n",
		"SELECT count(*) FROM $table AS a JOIN $table AS b ON hamming(a.si, b.si) <= 3 WHERE a.id < 1000",
		"SELECT count(*) FROM $table WHERE si IS NULL",
		"INSERT INTO $table SELECT id, si # 1::$type FROM $source LIMIT 3000",
		"DELETE FROM $table WHERE id % 3 = 0",
		"VACUUM $table",
		"INSERT INTO $table SELECT id, si # 2::$type FROM $source LIMIT 3000");
	# One session must survive all errors, so that its last statement is executed.
	my (undef, $out, $err) = run_psql($node, 'postgres', "$by_index\\set ON_ERROR_STOP off\n"
		. join('', map { "$_;\n" } @statements) . "\\echo alive");
	like($out, qr/alive/, "$damage: the session goes on");
	my @errors = grep { /ERROR/ } split /^(?=psql:)/m, $err;
	# A row's place in the table may be damaged too. Then PostgreSQL says that the table has no such block, with the
	# code of whatever error of a file came last, or XX000.
	my $of_damage = defined $damages{$damage} ? qr/ERROR:  XX00[12]:/
		: qr/ERROR:  (XX00[12]:|58P01:|.*previous segment is only)/;
	my @others = grep { !/$of_damage/ } @errors;
	is("@others", '', "$damage: no error but of damage");
	if (my $expected = ($damages{$damage} // [])->[3])
	{
		like("@errors", $expected, "$damage: told by queries");
		my ($code, $problems, $err) = run_psql($node, 'postgres',
			"SELECT block || ': ' || problem FROM hamming_index_check('$index{$damage}')");
		# Postgres itself refuses to read a page whose header is impossible. Nothing can be read if it is not known how
		# many bits codes have, or which trees there are.
		my $told = $damage =~ /header/ ? qr/invalid page in block 6/ : "$expected" =~ /\bbits\b|expression/ ? $expected
			: qr/^ *\d+: /m;
		like("$problems$err", $told, "$damage: told by the check");
	}
	# REINDEX repairs the index.
	$node->safe_psql('postgres', "REINDEX INDEX $index{$damage}");
	is($node->safe_psql('postgres', "SELECT * FROM hamming_index_check('$index{$damage}', true)"), '',
		"$damage: mended by REINDEX");
	is($node->safe_psql('postgres', "SELECT problem FROM hamming_indexes WHERE index = '$index{$damage}'::regclass"),
		'', 'and the view has no problem');
}
$node->safe_psql('postgres', 'REINDEX INDEX lost_si');
is($node->safe_psql('postgres', "SELECT problem FROM hamming_indexes WHERE index = 'lost_si'::regclass"), '',
	'REINDEX makes a new file');
unlike(slurp_file($node->logfile), qr/PANIC|panicked|terminated by signal/, 'no crash');

done_testing();
