//! The hook that PostgreSQL calls for further paths to join two relations.

use super::condition::NearCondition;
use super::kind::JoinKind;
use super::nested_loops;
use super::path::{Sides, propose};
use crate::pg::join_paths::PlannedJoin;
use crate::pg::node::Node;
use crate::pg::planner_hooks::{JoinHook, install_join_hook};
use crate::pg::settings::reserve_prefix;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting};

/// Whether near joins are proposed where PostgreSQL has another plan.
static ENABLE_NEAR_JOIN: GucSetting<bool> = GucSetting::<bool>::new(true);

/// Installs our hook and defines its configuration parameter. Called when the library is loaded. If a query
/// on distances loads it, no join of that query has been planned yet.
pub(crate) fn install_hook() {
    GucRegistry::define_bool_guc(
        c"simhash_pg.enable_near_join",
        c"Enables the planner's use of near join plans.",
        c"",
        &ENABLE_NEAR_JOIN,
        GucContext::Userset,
        GucFlags::EXPLAIN,
    );
    install_join_hook::<NearJoinPaths>();
    reserve_prefix(c"simhash_pg");
}

struct NearJoinPaths;

impl JoinHook for NearJoinPaths {
    fn on_join(planned: &PlannedJoin<'_>) {
        let Some(kind) = JoinKind::of(planned.type_()) else { return };
        // A full join by a distance may have no other plan.
        let is_enabled = ENABLE_NEAR_JOIN.get() || kind == JoinKind::Full;
        if !is_enabled && kind != JoinKind::Semi || planned.join().is_lateral() {
            return;
        }
        let Some(near) = NearCondition::find(planned, kind) else { return };
        if planned.join().returns_row_identity() {
            return;
        }
        NearCondition::estimate_rows(&near, planned);
        let is_other = |clause: &Node| near.iter().all(|near| !near.is_of(*clause) || !near.is_whole);
        let others = planned.conditions().iter().filter(is_other).collect();
        let sides = Sides { planned, kind, others, near };
        if is_enabled {
            propose(&sides);
            nested_loops::propose_of_unanalyzed(&sides);
        }
        nested_loops::propose_by_inner(&sides);
    }
}
