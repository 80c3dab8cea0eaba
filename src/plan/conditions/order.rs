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
use crate::pg::node::Node;
use crate::pg::planner::Planner;
use crate::pg::query_tree::SortKey;
use crate::pg::relation::Relation;
use pgrx::pg_sys;

/// Called once for each relation of a query, after the conditions of the query were rewritten. Returns
/// whether a sort key was replaced.
pub(super) fn rewrite_order<'p>(planner: Planner<'p>, relation: Relation<'p>, ours: &ExtensionOids) -> bool {
    let mut is_changed = false;
    for key in planner.sort_keys() {
        if let Some(distance) = sorted_distance(planner, relation, &key, ours) {
            key.sort_by_integer(distance);
            is_changed = true;
        }
    }
    is_changed
}

/// The distance that gives the same order as the sort key, if it is another expression of a distance.
fn sorted_distance<'p>(
    planner: Planner<'p>,
    relation: Relation<'p>,
    key: &SortKey<'p>,
    ours: &ExtensionOids,
) -> Option<Node<'p>> {
    let sorted = key.expr();
    // A distance itself needs no replacement.
    if Measured::of(sorted, ours).is_some_and(|measured| !measured.is_similarity) {
        return None;
    }
    let line = Line::read(sorted, ours).filter(Line::is_strict)?;
    let pair = line.measured.pair;
    let strategy = FAMILIES.into_iter().map(|family| strategy_in(key.operator(), family)).max();
    let rising =
        if line.is_rising() { pg_sys::BTLessStrategyNumber } else { pg_sys::BTGreaterStrategyNumber };
    let never_null = |side| planner.is_never_null(relation, side);
    let is_same_order = strategy == Some(rising as i32)
        && (!line.measured.is_similarity || has_one_length(pair))
        && !sorted.is_volatile()
        && !relation.indexes().any(|index| index.expressions().contains(sorted))
        && (!key.are_nulls_first() || [pair.a, pair.b].into_iter().all(never_null));
    is_same_order.then(|| pair.distance())
}

/// Whether all rows have strings of one length. Otherwise a greater distance may be a greater similarity.
fn has_one_length(pair: CodePair<'_>) -> bool {
    pair.bits().is_some() || [pair.a, pair.b].iter().any(|side| !side.has_columns())
}
