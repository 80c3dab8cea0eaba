//! The hook of the planner, called for each relation of a query. It calls the parts that rewrite the query,
//! and the part that describes the relation's indexes.

use super::indexes::prepare;
use super::lists::change_conditions;
use super::order::rewrite_order;
use super::rewrite::rewrite_and;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::compat::{RelationCall, RelationHook, relation_hook, relation_hook_function};
use crate::pg::planner::Planner;
use pgrx::pg_sys;
use std::ptr::null_mut;

/// The hooks that we found in place when we put ours there, each time.
static mut FOUND: Vec<RelationHook> = Vec::new();
/// The call of our hook that is in progress.
static mut IN_PROGRESS: Calls = Calls { root: null_mut(), depth: 0 };

/// Puts our hook in place, if it is not. Called when the library is loaded, and again whenever a query on
/// distances is simplified: libraries loaded later may have replaced our hook, and not all of them call the
/// one before theirs (Citus does not).
pub(crate) fn install_hook() {
    // SAFETY: a backend has one thread; nobody else looks at these while a library is loaded or a query
    // simplified.
    unsafe {
        let found = *relation_hook();
        if is_same(found, Some(on_relation)) || IN_PROGRESS.depth > 0 {
            return;
        }
        let all = &raw mut FOUND;
        // A library that puts its hook back, as we do, is known already.
        if !(*all).last().is_some_and(|&last| is_same(last, found)) {
            (*all).push(found);
        }
        *relation_hook() = Some(on_relation);
    }
}

fn is_same(a: RelationHook, b: RelationHook) -> bool {
    a.map(|hook| hook as usize) == b.map(|hook| hook as usize)
}

/// How often our hook is on the stack for a query: once, or more often if it is in the chain of hooks more
/// than once. Suppose that we install our hook, Citus installs its own, which calls ours, and we install ours
/// again. Then PostgreSQL calls our hook, which calls the hook of Citus, which calls ours.
#[derive(Clone, Copy)]
struct Calls {
    root: *mut pg_sys::PlannerInfo,
    depth: usize,
}

/// While the hook that comes next runs. Ends also if that raises an error.
struct CallingNext {
    before: Calls,
}

impl CallingNext {
    fn of(root: *mut pg_sys::PlannerInfo) -> Self {
        // SAFETY: a backend has one thread.
        unsafe {
            let before = IN_PROGRESS;
            let depth = if before.root == root { before.depth } else { 0 };
            IN_PROGRESS = Calls { root, depth: depth + 1 };
            Self { before }
        }
    }

    /// The first call goes on to the hook that we found last, the second call to the one found before that.
    fn hook(&self) -> RelationHook {
        // SAFETY: a backend has one thread; the list does not change while a call is in progress.
        unsafe {
            let all = &raw const FOUND;
            (*all).iter().rev().nth(IN_PROGRESS.depth - 1).copied().flatten()
        }
    }
}

impl Drop for CallingNext {
    fn drop(&mut self) {
        // SAFETY: a backend has one thread.
        unsafe { IN_PROGRESS = self.before }
    }
}

relation_hook_function!(on_relation, prepare_relation);

/// Calls the hook that comes next, and then does our part.
fn prepare_relation(call: RelationCall<'_>) {
    let next = CallingNext::of(call.root);
    (call.call_next)(next.hook());
    drop(next);
    // SAFETY: a backend has one thread.
    if !call.is_table || unsafe { IN_PROGRESS.root } == call.root {
        return;
    }
    // SAFETY: the planner passes the query and one of its relations; it does nothing else with either until
    // we return.
    let (planner, relation) = unsafe { (Planner::new(call.root), &*call.relation) };
    let Some((planner, ours)) = planner.zip(ExtensionOids::known()) else { return };
    // Partitions have the conditions of their parent, which were rewritten with it.
    if relation.reloptkind == pg_sys::RelOptKind::RELOPT_BASEREL {
        if is_first_table(planner.info(), relation) {
            change_conditions(planner.query(), &mut |list| rewrite_and(list, &ours));
        }
        rewrite_order(planner, relation, &ours);
    }
    prepare(planner, relation, &ours);
}

/// Whether no other table of the query has been here. With the first one, the conditions of all are
/// rewritten.
fn is_first_table(root: &pg_sys::PlannerInfo, table: &pg_sys::RelOptInfo) -> bool {
    let is_table = |relation: &pg_sys::RelOptInfo| {
        relation.reloptkind == pg_sys::RelOptKind::RELOPT_BASEREL
            && relation.rtekind == pg_sys::RTEKind::RTE_RELATION
    };
    (0..root.simple_rel_array_size as usize).all(|place| {
        // SAFETY: the array has a place for each relation of the query, which is null until it is known.
        let other = unsafe { (*root.simple_rel_array.add(place)).as_ref() };
        !other.is_some_and(|other| !std::ptr::eq(other, table) && is_table(other))
    })
}
