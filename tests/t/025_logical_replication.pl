# Logical replication: the subscriber has its own indexes, computes generated columns by its own definition, and calls
# the trigger only if it is enabled ALWAYS.

use strict;
use warnings;
use Test::More;
use SimhashTest;

my ($publisher, $subscriber) = map { start_node($_, allows_streaming => 'logical') } 'publisher', 'subscriber';
my %scheme = ($publisher => 'doc2', $subscriber => 'word:2');
for my $node ($publisher, $subscriber)
{
	my $scheme = $scheme{$node};
	$node->safe_psql('postgres', qq{
		CREATE TABLE generated (id integer PRIMARY KEY, body text, si bigint GENERATED ALWAYS
			AS (simhash(body, '$scheme')) STORED);
		CREATE TABLE filled (id integer PRIMARY KEY, body text, si bigint);
		CREATE TRIGGER fingerprint BEFORE INSERT OR UPDATE ON filled
			FOR EACH ROW EXECUTE FUNCTION simhash_trigger('si', 'body', 'scheme=$scheme');
		CREATE INDEX generated_si ON generated USING hamming (si);
		CREATE INDEX filled_si ON filled USING hamming (si);});
}
$publisher->safe_psql('postgres', 'CREATE PUBLICATION documents FOR TABLE generated, filled');
my $connection = $publisher->connstr . ' dbname=postgres';
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION documents CONNECTION '$connection' PUBLICATION documents");
$subscriber->wait_for_subscription_sync($publisher, 'documents') if $subscriber->can('wait_for_subscription_sync');

# The rows of a part, and how many of them have their fingerprint by each scheme on the subscriber.
sub replicated
{
	my ($part) = @_;
	for my $table ('generated', 'filled')
	{
		$publisher->safe_psql('postgres', "INSERT INTO $table (id, body)
			SELECT $part * 1000 + i, 'one of the texts, the number ' || i FROM generate_series(1, 1000) AS i");
	}
	$publisher->poll_query_until('postgres', 'SELECT count(*) > 0 FROM pg_stat_replication') or die 'no subscriber';
	$publisher->wait_for_catchup('documents');
	$subscriber->poll_query_until('postgres', "SELECT count(*) = 2000 FROM (SELECT id FROM generated UNION ALL SELECT id
		FROM filled) AS r
		WHERE (id - 1) / 1000 = $part") or die 'rows are missing';
	return join ' ', map {
		$subscriber->safe_psql('postgres', "SELECT count(*) FILTER (WHERE si = simhash(body, 'doc2')) || '/' ||
			count(*) FILTER (WHERE si = simhash(body, 'word:2')) FROM $_ WHERE (id - 1) / 1000 = $part")
	} 'generated', 'filled';
}

is(replicated(1), '0/1000 1000/0', 'generated columns are computed here, and the column of a trigger arrives');
$subscriber->safe_psql('postgres', 'ALTER TABLE filled ENABLE ALWAYS TRIGGER fingerprint');
is(replicated(2), '0/1000 0/1000', 'a trigger that is enabled ALWAYS computes it here');

$publisher->safe_psql('postgres',
	q{UPDATE filled SET body = 'another text' WHERE id = 1007; DELETE FROM generated WHERE id % 2 = 0});
$publisher->wait_for_catchup('documents');
is($subscriber->safe_psql('postgres', q{SELECT si = simhash('another text', 'word:2') FROM filled WHERE id = 1007}),
	't', 'changes too');
for my $table ('generated', 'filled')
{
	my ($by_index, $by_scan) = map {
		$subscriber->safe_psql('postgres', "SET $_ = off; SET enable_bitmapscan = off;
			SELECT array_agg(id ORDER BY id) FROM $table
			WHERE hamming(si, (SELECT si FROM $table WHERE id = 1007)) <= 12")
	} 'enable_seqscan', 'enable_indexscan';
	is($by_index, $by_scan, "$table: the subscriber's index finds them");
	is($subscriber->safe_psql('postgres', "SELECT count(*) FROM hamming_index_check('${table}_si', true)"), '0',
		'and is sound');
}

# A code of rare pairs of words is computed by a function, whose definition has its weights.
my $weighed = 'CREATE TABLE weighed (id integer PRIMARY KEY, body text, rare bit(256) GENERATED ALWAYS '
	. 'AS (rare(body)) STORED)';
$publisher->safe_psql('postgres', "SELECT create_rare_code('rare', 'generated', 'body'); $weighed;
	INSERT INTO weighed SELECT id, 'ever ' || body || ' of them' FROM filled;
		ALTER PUBLICATION documents ADD TABLE weighed;");
my (undef, undef, $missing) = run_psql($subscriber, 'postgres', $weighed);
like($missing, qr/function rare\(text\) does not exist/, 'without the function the table is not created');
$subscriber->safe_psql('postgres', $publisher->safe_psql('postgres',
	q{SELECT pg_get_functiondef('rare(text)'::regprocedure)}));
$subscriber->safe_psql('postgres', "$weighed; ALTER SUBSCRIPTION documents REFRESH PUBLICATION");
$subscriber->poll_query_until('postgres', q{SELECT every(srsubstate = 'r') FROM pg_subscription_rel})
	or die 'tables are not synchronized';
$publisher->safe_psql('postgres',
	q{INSERT INTO weighed VALUES (1, 'one of the new texts, the number 1'),
	(2, 'one of the texts, the number 7 of them')});
$publisher->wait_for_catchup('documents');
my $codes = q{SELECT count(*) || ' ' || count(DISTINCT rare) || ' ' || md5(string_agg(id || ' ' || rare, ','
	ORDER BY id)) FROM weighed};
my $published = $publisher->safe_psql('postgres', $codes);
cmp_ok((split / /, $published)[1], '>', 500, 'there are codes to compare');
is($subscriber->safe_psql('postgres', $codes), $published,
	'with the same weights, the subscriber computes the same codes');
done_testing();
