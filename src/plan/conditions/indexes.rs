//! Changes how the planner sees the indexes of a relation.

use super::expressions::Measured;
use super::rewrite::rewrite_and;
use crate::index::gin::gin_cost::install_sketch_cost;
use crate::index::gist::install_cost;
use crate::index::hamming::is_hamming;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::code::CodeType;
use crate::pg::node::{Node, Nodes};
use crate::pg::planner::{PlannedIndex, Planner, changed_indexes};
use pgrx::pg_sys;

/// Called once for each relation of a query, before the planner looks for paths.
pub(super) fn prepare<'p>(planner: Planner<'p>, relation: &'p pg_sys::RelOptInfo, ours: &'p ExtensionOids) {
    add_indexes_of_centers(relation, ours);
    // SAFETY: the planner and its other hooks do not read the indexes until this function returns.
    for index in unsafe { changed_indexes(relation) } {
        rewrite_predicate(index, ours);
        install_cost(index);
        install_sketch_cost(index, &ours.sketches);
        if is_hamming(index) {
            let distances = distances_sorted_by(planner, relation, ours);
            // SAFETY: the array has an element for each column.
            let returns_codes = unsafe { *index.canreturn };
            let may_lack_condition =
                !distances.is_empty() || !PlannedIndex(index).predicate().is_empty() && returns_codes;
            let is_of_words =
                CodeType::of(PlannedIndex(index).first_type()).is_some_and(CodeType::is_integer);
            let can_order = distances.len() == 1 || is_of_words;
            // PostgreSQL checks that workers can compute the conditions, but not the ORDER BY.
            let can_divide = !is_of_words && distances.iter().all(|it| planner.is_parallel_safe(*it));
            index.amoptionalkey = may_lack_condition;
            // For bit strings, the index returns lower bounds. The executor can sort by one only: it treats
            // rows whose first distance is NULL as equal, whatever the second one is.
            index.amcanorderbyop &= can_order;
            // A search of fingerprints takes less time than starting a worker.
            index.amcanparallel &= can_divide;
        }
    }
}

/// For each index on balls, such as the one of a constraint `EXCLUDE USING hamming (hamming_ball(si, 12) WITH
/// ~)`, adds an index on the centers of these balls to the relation. The trees contain the centers, so a
/// search for codes within any radius finds the same rows in the index on balls as in one on `si`.
fn add_indexes_of_centers<'p>(relation: &'p pg_sys::RelOptInfo, ours: &'p ExtensionOids) {
    let integers = || ours.codes().filter(|oids| oids.codes.is_integer());
    let center_of = |index: PlannedIndex<'p>| {
        let call = index.first_expression()?.as_function()?;
        let oids = integers().find(|oids| oids.ball == call.id && oids.ball_type == index.first_type())?;
        let [center, radius] = call.args()?;
        // If the radius of a row is NULL, so is its ball, and the index lacks the center.
        radius.value().map(|_| (center, oids.codes.oid()))
    };
    // The list grows in the loop.
    let indexes: Vec<_> = PlannedIndex::all(relation).collect(); // Bounded: the indexes of a table.
    for index in indexes.into_iter().filter(|index| is_hamming(index)) {
        if let Some((center, type_)) = center_of(index) {
            // SAFETY: the index has the centers, and `hamming_ball_ops` supports their type. The planner
            // calls our hook, and waits until it returns.
            unsafe { index.add_with_first_key(center, type_) }
        }
    }
}

/// Rewrites the predicate of a partial index like the conditions of the query, so that the planner finds it
/// among them. The predicate is copied, since another extension's hook may have put it there.
fn rewrite_predicate(index: &mut pg_sys::IndexOptInfo, ours: &ExtensionOids) {
    if !PlannedIndex(index).predicate().is_empty() {
        index.indpred = rewrite_and(PlannedIndex(index).predicate().copy(), ours).pointer();
    }
}

/// The distances of columns of the relation that the query sorts by.
///
/// If there are none, an index of type hamming must not be scanned without a condition on its first column.
/// Otherwise a query that needs no column, such as `count(*)` whose condition is the predicate of a partial
/// index, would get an index-only scan, and the index may have no whole codes to return. A query that sorts
/// by the distance of a column needs that column. A partial index that has whole codes may always be scanned
/// without a condition: otherwise the planner would check its predicate again in the table.
fn distances_sorted_by<'p>(
    planner: Planner<'p>,
    relation: &pg_sys::RelOptInfo,
    ours: &ExtensionOids,
) -> Vec<Node<'p>> {
    // SAFETY: the target list of a query has entries with expressions.
    unsafe {
        let sorted = |entry: Node| {
            let entry = &*entry.pointer().cast::<pg_sys::TargetEntry>();
            (entry.ressortgroupref != 0).then(|| Node::new(entry.expr))
        };
        let is_ours = |expr: &Node| is_distance(planner.info(), *expr, relation.relid, ours);
        // Bounded: what a query sorts by.
        Nodes::new(planner.query().targetList).iter().filter_map(sorted).filter(is_ours).collect()
    }
}

/// Whether an expression of the query is a distance of something that the relation has.
fn is_distance(
    root: &pg_sys::PlannerInfo,
    expr: Node,
    relation: pg_sys::Index,
    ours: &ExtensionOids,
) -> bool {
    if let Some(placeholder) = expr.cast::<pg_sys::PlaceHolderVar>() {
        // SAFETY: a PlaceHolderVar has an expression.
        is_distance(root, unsafe { Node::new(placeholder.phexpr) }, relation, ours)
    } else if let Some(column) = expr.cast::<pg_sys::Var>() {
        in_part(root, column, relation).is_some_and(|expr| is_distance(root, expr, relation, ours))
    } else {
        Measured::of(expr, ours).is_some_and(|it| !it.is_similarity) && mentions(root, expr, relation)
    }
}

/// Whether an expression of the query contains a column of the relation.
fn mentions(root: &pg_sys::PlannerInfo, expr: Node, relation: pg_sys::Index) -> bool {
    expr.columns().any(|column| {
        i64::from(column.varno) == i64::from(relation)
            || in_part(root, column, relation).is_some_and(|expr| mentions(root, expr, relation))
    })
}

/// The relation may be a partition, or an arm of a UNION ALL. Returns the expression by which it computes a
/// column of its parent.
///
/// PostgreSQL's own `adjust_appendrel_attrs` does not help here: since PostgreSQL 16 it raises an error if an
/// outer join can make the column NULL and the child computes it by an expression.
fn in_part<'p>(
    root: &'p pg_sys::PlannerInfo,
    column: &pg_sys::Var,
    relation: pg_sys::Index,
) -> Option<Node<'p>> {
    if root.append_rel_array.is_null() {
        return None;
    }
    let parts = root.append_rel_array;
    // SAFETY: the array has an entry for each relation of the query; the entry of a child names its parent.
    unsafe {
        let mut part = *parts.add(relation as usize);
        while let Some(info) = part.as_ref() {
            if i64::from(info.parent_relid) == i64::from(column.varno) {
                let place = usize::try_from(column.varattno - 1).ok()?;
                return Nodes::new(info.translated_vars).get(place);
            }
            part = *parts.add(info.parent_relid as usize);
        }
        None
    }
}
