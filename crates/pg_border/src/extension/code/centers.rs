//! Indexes on balls, which are also indexes on the centers of the balls.

use crate::catalog::oids::ExtensionOids;
use crate::node::Node;
use crate::planned_index::PlannedIndex;
use crate::relation::Relation;
use pgrx::pg_sys::Oid;

/// What the trees of an index on balls contain.
struct Centers<'p> {
    key: Node<'p>,
    type_: Oid,
}

impl<'p> Centers<'p> {
    /// The centers, if the first key is a call of `hamming_ball` with a constant radius, and the operator
    /// family can search for codes in balls.
    fn of(index: PlannedIndex<'p>, ours: &ExtensionOids) -> Option<Self> {
        let call = index.first_expression()?.as_function()?;
        let oids = ours.codes().find(|oids| oids.ball == call.id && oids.ball_type == index.first_type())?;
        let [center, radius] = call.args()?;
        let is_searched = oids.codes.is_integer() && oids.ball_operator(index.families().next()?).is_some();
        // If the radius of a row is NULL, so is its ball, and the index lacks the center.
        (is_searched && radius.constant().is_some()).then_some(Self { key: center, type_: oids.codes.oid() })
    }
}

/// For each of these indexes that is on balls, such as the one of a constraint `EXCLUDE USING hamming
/// (hamming_ball(si, 12) WITH ~)`, adds an index on the centers of these balls to the relation. The trees
/// contain the centers, so a search for codes within any radius finds the same rows in the index on balls as
/// in one on `si`. Called by a [`RelationHook`](crate::relation_hook::RelationHook).
pub fn add_indexes_of_centers<'p>(
    relation: Relation<'p>,
    ours: &ExtensionOids,
    is_one: impl Fn(PlannedIndex<'p>) -> bool,
) {
    // The list grows in the loop.
    let indexes: Vec<_> = relation.indexes().collect(); // Bounded: the indexes of a table.
    for index in indexes.into_iter().filter(|index| is_one(*index)) {
        if let Some(Centers { key, type_ }) = Centers::of(index, ours) {
            // SAFETY: the index has the centers, and `hamming_ball_ops` supports their type. The planner
            // calls our hook, and waits until it returns.
            unsafe { index.add_with_first_key(key, type_) }
        }
    }
}
