//! Makes a node of a plan from the path of a near join.

use super::kind::JoinKind;
use super::stored::{StoredExpressions, StoredJoin};
use crate::pg::custom_path::{ChosenPath, CustomPath, JoinTests, PlannedNode};
use crate::pg::restriction::Restriction;
use std::ffi::CStr;

/// The numbers of a path are those of [`StoredJoin`]. Its conditions are the ones that the node serves, as
/// calls, and the other conditions of the join.
pub(super) struct NearJoinPath;

impl CustomPath for NearJoinPath {
    const NAME: &'static CStr = c"Near Join";

    fn plan<'p>(chosen: &ChosenPath<'p>) -> PlannedNode<'p> {
        let numbers = chosen.numbers();
        let StoredJoin { kind, .. } = StoredJoin::of(&numbers);
        let others = chosen.conditions(1);
        let JoinTests { of_join, after } = match kind {
            JoinKind::Inner | JoinKind::Semi => chosen.tests(others),
            _ => chosen.tests_of_outer_join(others),
        };
        let near = chosen.conditions(0).restrictions().map(Restriction::expr).collect();
        let stored = StoredExpressions { near, conditions: of_join, filter: after };
        PlannedNode { name: kind.name(), numbers, expressions: stored.lists() }
    }
}
