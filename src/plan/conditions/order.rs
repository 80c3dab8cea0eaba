//! Replaces a sort by falling similarity, or by what is computed with a distance, with a sort by rising
//! distance, which an index can serve.
//!
//! `hamming_similarity(a, b) DESC` and `a <~> b` give the same order with the same ties, and so does any
//! [`Line`], such as `64 - hamming(a, b) DESC`. NULLs are an exception: DESC puts them first, and an index
//! returns them last. So the key is replaced if the query says NULLS LAST, or if the codes are NULL in no
//! row or in all. The query then looks as if the parser had read an ORDER BY with `a <~> b`. The planner
//! reads the sort keys after our hook has run for the tables of a query, but before it runs for those of a
//! UNION ALL, in which case the sort keys are read once more.

use super::comparison::FAMILIES;
use super::expressions::{CodePair, Measured};
use super::line::Line;
use crate::pg::catalog::families::strategy_in;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::compat::is_declared_not_null;
use crate::pg::join_tree::Facts;
use crate::pg::node::{Node, Nodes};
use crate::pg::node_structs::elements;
use crate::pg::planner::{PlannedIndex, Planner};
use pgrx::pg_sys;

/// Called once for each relation of a query, after the conditions of the query were rewritten. Returns
/// whether a sort key was replaced.
pub(super) fn rewrite_order<'p>(
    planner: Planner<'p>,
    relation: &'p pg_sys::RelOptInfo,
    ours: &ExtensionOids,
) -> bool {
    let query = planner.query();
    if !sorts_rows(query) || planner.info().processed_tlist != query.targetList {
        return false;
    }
    let mut is_changed = false;
    // SAFETY: sort keys refer to entries of the query's target list, which the planner still uses.
    unsafe {
        for clause in elements(query.sortClause) {
            let key = &*clause.cast::<pg_sys::SortGroupClause>();
            let entry = pg_sys::get_sortgroupclause_tle((&raw const *key).cast_mut(), query.targetList);
            let sorted = Node::new((*entry).expr);
            // A distance itself needs no replacement.
            if Measured::of(sorted, ours).is_some_and(|measured| !measured.is_similarity) {
                continue;
            }
            let Some(line) = Line::read(sorted, ours).filter(Line::is_strict) else { continue };
            let pair = line.measured.pair;
            let strategy = FAMILIES.into_iter().map(|family| strategy_in(key.sortop, family)).max();
            let rising =
                if line.is_rising() { pg_sys::BTLessStrategyNumber } else { pg_sys::BTGreaterStrategyNumber };
            let never_null = |side| is_never_null(planner, relation, side);
            if strategy == Some(rising as i32)
                && (!line.measured.is_similarity || has_one_length(pair))
                && !sorted.is_volatile()
                && !PlannedIndex::all(relation).any(|index| Nodes::new(index.indexprs).contains(sorted))
                && (!key.nulls_first || [pair.a, pair.b].into_iter().all(never_null))
            {
                *clause = sort_by(planner, pair.distance(), &mut *entry).cast();
                is_changed = true;
            }
        }
    }
    is_changed
}

/// Whether the sort keys only order the rows that the query returns.
fn sorts_rows(query: &pg_sys::Query) -> bool {
    query.commandType == pg_sys::CmdType::CMD_SELECT
        && !query.hasAggs
        && !query.hasWindowFuncs
        && !query.hasTargetSRFs
        && query.distinctClause.is_null()
        && query.groupClause.is_null()
        && query.groupingSets.is_null()
        && query.setOperations.is_null()
}

/// Whether all rows have strings of one length. Otherwise a greater distance may be a greater similarity.
fn has_one_length(pair: CodePair<'_>) -> bool {
    pair.bits().is_some() || [pair.a, pair.b].iter().any(|side| !side.has_columns())
}

/// A sort key for the distance. The distance replaces the sorted value in the target list if the query does
/// not return that value; otherwise it gets a new entry.
fn sort_by(
    planner: Planner,
    distance: Node,
    entry: &mut pg_sys::TargetEntry,
) -> *mut pg_sys::SortGroupClause {
    let entries = planner.query().targetList;
    // SAFETY: a query has a target list. Appending to a list that is not empty does not move the list.
    unsafe {
        let entry = if entry.resjunk {
            entry.expr = distance.pointer().cast();
            entry
        } else {
            let last =
                elements(entries).iter().map(|&entry| (*entry.cast::<pg_sys::TargetEntry>()).ressortgroupref);
            let (last, number) = (last.max().unwrap_or(0), elements(entries).len() as i16 + 1);
            let none = std::ptr::null_mut();
            let new = pg_sys::makeTargetEntry(distance.pointer().cast(), number, none, true);
            (*new).ressortgroupref = last + 1;
            pg_sys::lappend(entries, new.cast());
            &mut *new
        };
        let key = planner.make::<pg_sys::SortGroupClause>();
        key.tleSortGroupRef = entry.ressortgroupref;
        key.eqop = pg_sys::Int4EqualOperator.into();
        key.sortop = pg_sys::Int4LessOperator.into();
        key.hashable = true;
        key
    }
}

/// Whether the expression is NULL in no row, or in all rows.
fn is_never_null(planner: Planner, relation: &pg_sys::RelOptInfo, expr: Node) -> bool {
    if !expr.has_columns() {
        return true;
    }
    let facts = Facts::of(planner.query());
    let declared = expr.cast::<pg_sys::Var>().is_some_and(|column| {
        let relid = column.varno as pg_sys::Index;
        relid == relation.relid
            && relation.rtekind == pg_sys::RTEKind::RTE_RELATION
            && facts.relations.contains(&relid)
            && is_declared_not_null(planner.info(), relation, column.varattno)
    });
    let not_null = expr.null_test(pg_sys::NullTestType::IS_NOT_NULL);
    declared || Nodes::of(&[not_null]).follows_from(facts.conditions)
}
