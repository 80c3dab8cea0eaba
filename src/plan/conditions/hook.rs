//! Our hook that the planner calls for each relation of a query (`crate::pg::compat::relation_hook`). It
//! rewrites the query, and changes the descriptions of the relation's indexes.

use super::indexes::prepare;
use super::lists::{add_condition, change_conditions, change_conditions_of};
use super::order::rewrite_order;
use super::rewrite::{rewrite_and, rewritten};
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::compat::{RelationHook, relation_hook, relation_hook_function};
use crate::pg::planner::Planner;
use pgrx::pg_sys;
use std::cell::{Cell, RefCell};
use std::ptr::null_mut;

thread_local! {
    /// The hooks that we found each time we installed ours.
    static FOUND: RefCell<Vec<RelationHook>> = const { RefCell::new(Vec::new()) };
    /// The calls of our hook that are in progress.
    static IN_PROGRESS: Cell<Calls> = const { Cell::new(Calls { root: null_mut(), depth: 0 }) };
}

/// Installs our hook, if it is not in place. Called when the library is loaded, and again whenever a query on
/// distances is simplified: libraries that were loaded later may have replaced our hook, and not all of them
/// call the hook that they found (Citus does not).
pub(crate) fn install_hook() {
    // SAFETY: a backend has one thread, and nobody else reads the hook while a library is loaded or a query
    // is simplified.
    unsafe {
        let found = relation_hook;
        if is_same(found, Some(on_relation)) || IN_PROGRESS.get().depth > 0 {
            return;
        }
        // A library that installs its hook again, as we do, is in the list already.
        FOUND.with_borrow_mut(|all| match all.last() {
            Some(&last) if is_same(last, found) => {}
            _ => all.push(found),
        });
        relation_hook = Some(on_relation);
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

/// Exists while the next hook runs, and is dropped even if that hook raises an error.
struct CallingNext {
    before: Calls,
}

impl CallingNext {
    fn of(root: *mut pg_sys::PlannerInfo) -> Self {
        let before = IN_PROGRESS.get();
        let depth = if before.root == root { before.depth } else { 0 };
        IN_PROGRESS.set(Calls { root, depth: depth + 1 });
        Self { before }
    }

    /// The next hook. The first call goes on to the hook that we found last, the second to the one before it.
    fn hook(&self) -> RelationHook {
        FOUND.with_borrow(|all| all.iter().rev().nth(IN_PROGRESS.get().depth - 1).copied().flatten())
    }
}

impl Drop for CallingNext {
    fn drop(&mut self) {
        IN_PROGRESS.set(self.before);
    }
}

relation_hook_function!(on_relation, prepare_relation);

/// Calls the next hook, and then does our part.
fn prepare_relation(
    root: *mut pg_sys::PlannerInfo,
    relation: *mut pg_sys::RelOptInfo,
    call: impl Fn(RelationHook),
) {
    let next = CallingNext::of(root);
    call(next.hook());
    drop(next);
    // SAFETY: the planner passes the query and one of its relations, and uses neither until we return.
    let (planner, relation) = unsafe { (Planner::new(&root), &*relation) };
    // Since 19, the hook is also called for items of FROM that are not tables.
    if relation.rtekind != pg_sys::RTEKind::RTE_RELATION || IN_PROGRESS.get().root == root {
        return;
    }
    let Some((planner, ours)) = planner.zip(ExtensionOids::known()) else { return };
    if relation.reloptkind == pg_sys::RelOptKind::RELOPT_BASEREL {
        if is_first_table(planner.info(), relation) {
            let filter = planner.filter_of_aggregates().filter(|filter| !filter.is_volatile());
            if let Some(condition) = filter.and_then(|filter| rewritten(filter.copy(), &ours)) {
                add_condition(planner.query(), condition);
            }
            change_conditions(planner.query(), &mut |list| rewrite_and(list, &ours));
        }
        rewrite_order(planner, relation, &ours);
    } else if let Some(united) = planner.union_of(relation) {
        change_conditions_of(united, &mut |list| rewrite_and(list, &ours));
        if rewrite_order(planner, united, &ours) {
            planner.read_sort_keys();
        }
    }
    prepare(planner, relation, &ours);
}

/// Whether this is the first table of the query. With it, the conditions of all tables are rewritten.
fn is_first_table(root: &pg_sys::PlannerInfo, table: &pg_sys::RelOptInfo) -> bool {
    let is_table = |relation: &pg_sys::RelOptInfo| {
        relation.reloptkind == pg_sys::RelOptKind::RELOPT_BASEREL
            && relation.rtekind == pg_sys::RTEKind::RTE_RELATION
    };
    (0..root.simple_rel_array_size as usize).all(|place| {
        // SAFETY: the array has an element for each relation of the query, which is null until the relation
        // is built.
        let other = unsafe { (*root.simple_rel_array.add(place)).as_ref() };
        !other.is_some_and(|other| !std::ptr::eq(other, table) && is_table(other))
    })
}
