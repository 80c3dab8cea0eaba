# Other extensions set the planner hook as well, before or after this one, and not all of them call the previous hook.
# Queries with distances still use their indexes, and the hooks of the others are still called, once for each relation.

use strict;
use warnings;
use Test::More;
use SimhashTest;

# Libraries in C, each with a hook that counts its calls: one that calls the hook before it, one that does not, and
# one that calls it and puts itself in place again at each query, as ours does.
my $source = <<'C';
#include "postgres.h"
#include "fmgr.h"
#include "optimizer/paths.h"
#include "optimizer/plancat.h"
#include "optimizer/planner.h"
#include "utils/guc.h"
PG_MODULE_MAGIC;
void _PG_init(void);
static planner_hook_type planner_before;
static int calls, joins, paths;
static set_join_pathlist_hook_type join_before;
static set_rel_pathlist_hook_type paths_before;
#if PG_VERSION_NUM >= 190000
#include "optimizer/pathnode.h"
#define HOOK build_simple_rel_hook
#define IS_TABLE (entry->rtekind == RTE_RELATION)
#define RELATION_PARAMETERS PlannerInfo *root, RelOptInfo *relation, RangeTblEntry *entry
#define RELATION_ARGUMENTS root, relation, entry
#define PLAN_PARAMETERS Query *query, const char *text, int options, ParamListInfo params, ExplainState *explain
#define PLAN_ARGUMENTS query, text, options, params, explain
static build_simple_rel_hook_type before;
#else
#define HOOK get_relation_info_hook
#define IS_TABLE true
#define RELATION_PARAMETERS PlannerInfo *root, Oid table, bool parent, RelOptInfo *relation
#define RELATION_ARGUMENTS root, table, parent, relation
#define PLAN_PARAMETERS Query *query, const char *text, int options, ParamListInfo params
#define PLAN_ARGUMENTS query, text, options, params
static get_relation_info_hook_type before;
#endif
static void on_relation(RELATION_PARAMETERS)
{
	calls += IS_TABLE;
	if (CHAINS && before)
		before(RELATION_ARGUMENTS);
}
static void install(void)
{
	if (HOOK != on_relation)
	{
		before = HOOK;
		HOOK = on_relation;
	}
}
static void on_join(PlannerInfo *root, RelOptInfo *join, RelOptInfo *outer, RelOptInfo *inner, JoinType type,
	JoinPathExtraData *extra)
{
	joins++;
	if (CHAINS && join_before)
		join_before(root, join, outer, inner, type, extra);
}
static void on_paths(PlannerInfo *root, RelOptInfo *relation, Index number, RangeTblEntry *entry)
{
	paths++;
	if (CHAINS && paths_before)
		paths_before(root, relation, number, entry);
}
static PlannedStmt *plan(PLAN_PARAMETERS)
{
	install();
	return planner_before ? planner_before(PLAN_ARGUMENTS) : standard_planner(PLAN_ARGUMENTS);
}
void _PG_init(void)
{
	join_before = set_join_pathlist_hook;
	set_join_pathlist_hook = on_join;
	paths_before = set_rel_pathlist_hook;
	set_rel_pathlist_hook = on_paths;
	DefineCustomIntVariable(NAME ".joins", "calls of the hook for joins", NULL, &joins, 0, 0, 1000000, PGC_USERSET, 0,
		NULL, NULL, NULL);
	DefineCustomIntVariable(NAME ".paths", "calls of the hook for paths", NULL, &paths, 0, 0, 1000000, PGC_USERSET, 0,
		NULL, NULL, NULL);
	DefineCustomIntVariable(NAME ".calls", "calls of the hook", NULL, &calls, 0, 0, 1000000, PGC_USERSET, 0, NULL, NULL,
		NULL);
	install();
	if (INSISTS)
	{
		planner_before = planner_hook;
		planner_hook = plan;
	}
}
C
my $node = start_node('planner_hooks');
my $folder = $node->basedir;
chomp(my $headers = `pg_config --includedir-server`);
my %kinds = (polite => 'CHAINS=1 INSISTS=0', rude => 'CHAINS=0 INSISTS=0', insistent => 'CHAINS=1 INSISTS=1');
for my $kind (sort keys %kinds)
{
	open my $file, '>', "$folder/$kind.c" or die $!;
	print $file $source;
	close $file;
	system('cc', '-shared', '-fPIC', '-O1', "-I$headers", qq(-DNAME="$kind"), (map { "-D$_" } split / /, $kinds{$kind}),
		'-o', "$folder/$kind.so", "$folder/$kind.c") == 0 or die "cannot compile $kind.c";
}

$node->safe_psql('postgres', q{
	CREATE TABLE document (id integer PRIMARY KEY, si bigint);
	INSERT INTO document SELECT i, hashint8extended(i, 1) FROM generate_series(1, 20000) AS i;
	CREATE INDEX ON document USING hamming (si);
	VACUUM ANALYZE document;});

# The results of joins with our library alone.
my $right;

# The libraries in the order in which they are loaded. The last one is called first.
for my $order ('simhash_pg', 'simhash_pg,rude', 'rude,simhash_pg', 'simhash_pg,polite', 'polite,simhash_pg',
	'simhash_pg,insistent', 'insistent,simhash_pg', 'polite,simhash_pg,insistent', 'polite,simhash_pg,rude',
	'rude,simhash_pg,polite')
{
	my @loads = map { 'LOAD ' . ($_ eq 'simhash_pg' ? "'simhash_pg'" : "'$folder/$_.so'") } split /,/, $order;
	# The queries are planned one after the other, each for several relations, which detects a hook that is lost, is
	# called twice, or calls itself endlessly.
	my $queries = join ";\n", @loads,
	  ('EXPLAIN (COSTS OFF) SELECT id FROM document WHERE hamming(si, 42) <= 3') x 3,
	  'EXPLAIN (COSTS OFF) SELECT b.id FROM document AS a JOIN document AS b ON a.si <~> b.si <= 3 WHERE a.id = 1',
	  'EXPLAIN (COSTS OFF) SELECT id FROM document ORDER BY hamming(si, 42) LIMIT 3';
	my ($status, $plans, $err) = run_psql($node, 'postgres', $queries);
	is($status, 0, "$order: queries are planned") or diag($err);
	my $found = () = $plans =~ /Index Cond: \(si <@ |Order By: \(si <~> /g;
	is($found, 5, "$order: all by the index") or diag($plans);

	# So do near joins, unless a hook that was loaded later does not call ours.
	my $is_hidden = $order =~ /simhash_pg.*rude/;
	my $join = 'SELECT count(*) FROM document AS a JOIN document AS b ON hamming(a.si, b.si) <= 3';
	(undef, $plans) = run_psql($node, 'postgres', join ";\n", @loads, ("EXPLAIN (COSTS OFF) $join") x 2);
	my $near = () = $plans =~ /Near Join/g;
	is($near, $is_hidden ? 0 : 2, "$order: near joins") or diag($plans);

	# So do joins without a table. If a hook that was loaded later hides ours, another plan finds the same rows.
	my $few = 'SELECT count(*) FROM (SELECT * FROM document WHERE id <= 200) AS a '
		. 'JOIN (SELECT * FROM document WHERE id > 150) AS b ON hamming(a.si, b.si) <= 20';
	my $arrays = 'WITH a AS MATERIALIZED (SELECT * FROM document WHERE id <= 400), b AS MATERIALIZED (SELECT * '
		. 'FROM document WHERE id % 40 = 0) SELECT count(*) FROM a JOIN b ON hamming(a.si, b.si) <= 20';
	my $tableless = 'SELECT count(*) FROM generate_series(1, 500::bigint) AS a (si) '
		. 'JOIN generate_series(300, 900::bigint) AS b (si) ON hamming(a.si, b.si) <= 2';
	my $exists = 'SELECT count(*) FROM document AS a WHERE NOT EXISTS (SELECT FROM document AS b '
		. 'WHERE a.id > b.id AND hamming(a.si, b.si) <= 9)';
	(undef, $plans) = run_psql($node, 'postgres', join ";\n", @loads, 'SET enable_nestloop = off',
		("EXPLAIN (COSTS OFF) $tableless") x 2);
	$near = () = $plans =~ /Near Join/g;
	is($near, $is_hidden ? 0 : 2, "$order: near joins without a table") or diag($plans);
	($status, my $counts, $err) = run_psql($node, 'postgres', join ";\n", @loads, $few, $arrays, $tableless, $exists);
	is($status, 0, "$order: joins are executed") or diag($err);
	$right //= $counts;
	is($counts, $right, "$order: with the same result");

	# A rude hook hides those that were loaded before it.
	my @others = grep { $_ ne 'simhash_pg' } split /,/, $order;
	shift @others while grep { $_ eq 'rude' } @others[ 1 .. $#others ];
	for my $kind (@others)
	{
		(undef, my $calls, $err) = run_psql($node, 'postgres', join(";\n", @loads,
				'SELECT id FROM document WHERE hamming(si, 42) <= 3',
				"SET $kind.calls = 0",
				'SELECT b.id FROM document AS a JOIN document AS b ON a.si <~> b.si <= 3 WHERE a.id = 1')
					. ";\n\\t\n\\a\nSHOW $kind.calls;\n");
		my ($last) = $calls =~ /(\d+)\s*\z/;
		is($last, 2, "$order: $kind is called once for each relation") or diag($calls . $err);
		(undef, $calls) = run_psql($node, 'postgres', join(";\n", @loads, "EXPLAIN (COSTS OFF) $join",
			"SET $kind.joins = 0", "SET $kind.paths = 0", "EXPLAIN (COSTS OFF) $join")
			. ";\n\\t\n\\a\nSHOW $kind.joins;\nSHOW $kind.paths;\n");
		is_deeply([ $calls =~ /(\d+)\s+(\d+)\s*\z/ ], [ 2, 2 ],
			"$order: $kind is called for each order of the join, and for the paths of each table") or diag($calls);
	}
}

done_testing();
