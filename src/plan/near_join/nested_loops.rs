//! Nested loops of PostgreSQL's own nodes that search an index for each of a few rows, which PostgreSQL does
//! not propose itself or takes for too expensive. They stay because the plans without them take more than
//! twice as long (`make bench ONLY=choice`): 2.7 times for ten rows of a table that was never analyzed, as
//! autovacuum does not analyze tables of fewer than fifty rows, and 10 ms instead of less than one for EXISTS
//! with ten inner rows, each against 100,000 rows.

use super::kind::{JoinKind, Side};
use super::path::Sides;
use crate::pg::node::Node;
use crate::pg::path::{NewPath, Path};
use crate::pg::settings::setting;
use pgrx::pg_sys;

/// Proposes loops in which each row of a small outer table that was never analyzed searches an index of the
/// inner side. PostgreSQL assumes that such a table has ten pages, in case it is about to grow: it expects
/// hundreds of rows instead of ten, and so many searches that reading the whole index seems faster. So the
/// loop is proposed once more, with its cost for the pages that the table has.
pub(super) fn propose_of_unanalyzed(sides: &Sides) {
    let planned = sides.planned;
    let Some(part) = planned.outer().part_of_assumed_pages(planned.planner()) else { return };
    let Some(outer) = planned.outer().cheapest(false) else { return };
    if sides.kind.fills(Side::Inner) || !setting!(enable_nestloop) {
        return;
    }
    for inner in planned.inner().paths_parameterized_by(planned.outer()) {
        let mut path = planned.nested_loop([outer, inner]);
        scale(&mut path, outer, part);
        planned.propose(path);
    }
}

/// Reduces the cost of a loop to the cost for a fraction of its outer rows.
fn scale(path: &mut NewPath, outer: Path, part: f64) {
    let of_all = path.path().total_cost();
    path.set_total_cost(outer.total_cost() + part * (of_all - outer.total_cost()));
}

/// Proposes, for a semi join with few inner rows, a nested loop with exchanged sides: each inner row searches
/// an index of the outer table. The loop finds an outer row once for each match, so PostgreSQL's
/// HashAggregate keeps each outer row once, by its ctid.
pub(super) fn propose_by_inner(sides: &Sides) {
    let planned = sides.planned;
    let planner = planned.planner();
    let Some(inner) = planned.inner().cheapest(false) else { return };
    // All pairs of an outer row have the same outer columns, and PostgreSQL may recheck the outer row with
    // any of its inner rows. Other expressions may differ between them.
    let has_columns = planned.join().columns().iter().all(Node::is::<pg_sys::Var>);
    if sides.kind != JoinKind::Semi || !has_columns || !planned.outer().is_single_table(planner) {
        return;
    }
    for path in planned.outer().paths_parameterized_by(planned.inner()) {
        let Some(asked) = path.with_ctid(planner, inner.rows().max(1.0)) else { continue };
        let asked = asked.path();
        let mut pairs = planned.nested_loop_of_pairs([inner, asked]);
        let part = planned.inner().part_of_assumed_pages(planner).unwrap_or(1.0);
        pairs.set_rows(part * inner.rows() * asked.rows());
        scale(&mut pairs, inner, part);
        planned.propose(planned.one_for_each_row(pairs));
    }
}
