//! Changes how the planner sees the indexes of a relation.

use super::expressions::Measured;
use super::rewrite::rewrite_and;
use crate::index::gin::gin_cost::install_sketch_cost;
use crate::index::gist::install_cost;
use crate::index::hamming::is_hamming;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::code::CodeType;
use crate::pg::code::centers::add_indexes_of_centers;
use crate::pg::node::Node;
use crate::pg::planned_index::PlannedIndex;
use crate::pg::planner::Planner;
use crate::pg::relation::Relation;
use pgrx::pg_sys;

/// Called once for each relation of a query, before the planner looks for paths.
pub(super) fn prepare<'p>(planner: Planner<'p>, relation: Relation<'p>, ours: &ExtensionOids) {
    add_indexes_of_centers(relation, ours, is_hamming);
    for index in relation.indexes() {
        rewrite_predicate(index, ours);
        install_cost(index);
        install_sketch_cost(index, &ours.sketches);
        if is_hamming(index) {
            describe(index, &distances_sorted_by(planner, relation, ours), planner);
        }
    }
}

/// Describes an index of type hamming for a query that sorts by these distances.
///
/// If there are none, the index must not be scanned without a condition on its first column. Otherwise a
/// query that needs no column, such as `count(*)` whose condition is the predicate of a partial index, would
/// get an index-only scan, and the index may have no whole codes to return. A query that sorts by the
/// distance of a column needs that column. A partial index that has whole codes may always be scanned without
/// a condition: otherwise the planner would check its predicate again in the table.
fn describe<'p>(index: PlannedIndex<'p>, distances: &[Node<'p>], planner: Planner<'p>) {
    let has_whole_codes = !index.predicate().is_empty() && index.returns_first_column();
    index.set_optional_key(!distances.is_empty() || has_whole_codes);
    let is_of_words = CodeType::of(index.first_type()).is_some_and(CodeType::is_integer);
    // For bit strings, the index returns lower bounds. The executor can sort by one only: it treats rows
    // whose first distance is NULL as equal, whatever the second one is.
    if distances.len() != 1 && !is_of_words {
        index.forbid_order_by();
    }
    // PostgreSQL checks that workers can compute the conditions, but not the ORDER BY. A search of
    // fingerprints takes less time than starting a worker.
    if is_of_words || !distances.iter().all(|it| planner.is_parallel_safe(*it)) {
        index.forbid_parallel();
    }
}

/// Rewrites the predicate of a partial index like the conditions of the query, so that the planner finds it
/// among them. The predicate is copied, since another extension's hook may have put it there.
fn rewrite_predicate(index: PlannedIndex<'_>, ours: &ExtensionOids) {
    if !index.predicate().is_empty() {
        index.set_predicate(rewrite_and(index.predicate().copy(), ours));
    }
}

/// The distances of columns of the relation that the query sorts by.
fn distances_sorted_by<'p>(
    planner: Planner<'p>,
    relation: Relation<'p>,
    ours: &ExtensionOids,
) -> Vec<Node<'p>> {
    let is_ours = |expr: &Node<'p>| is_distance(planner, *expr, relation.number(), ours);
    // Bounded: what a query sorts by.
    planner.query().sorted_expressions().filter(is_ours).collect()
}

/// Whether an expression of the query is a distance of something that the relation has.
fn is_distance<'p>(
    planner: Planner<'p>,
    expr: Node<'p>,
    relation: pg_sys::Index,
    ours: &ExtensionOids,
) -> bool {
    if let Some(inside) = expr.in_placeholder() {
        is_distance(planner, inside, relation, ours)
    } else if let Some(column) = expr.cast::<pg_sys::Var>() {
        let computed = planner.in_part(column, relation);
        computed.is_some_and(|expr| is_distance(planner, expr, relation, ours))
    } else {
        let is_one = Measured::of(expr, ours).is_some_and(|it| !it.is_similarity);
        is_one && mentions(planner, expr, relation)
    }
}

/// Whether an expression of the query contains a column of the relation.
fn mentions(planner: Planner, expr: Node, relation: pg_sys::Index) -> bool {
    expr.columns().any(|column| {
        i64::from(column.varno) == i64::from(relation)
            || planner.in_part(column, relation).is_some_and(|expr| mentions(planner, expr, relation))
    })
}
