//! The hook that the planner calls for each relation of a query, before it looks for paths.
//!
//! Other libraries may install theirs later, and not all of them call the hook that they found (Citus does
//! not). Therefore, ours can be installed again at any time, and may be in the chain of hooks more than once:
//! suppose that we install our hook, Citus installs its own, which calls ours, and we install ours again.
//! Then PostgreSQL calls our hook, which calls the hook of Citus, which calls ours.

use super::compat::{CalledHook, NextHook, relation_hook, relation_hook_function};
use super::planner::Planner;
use super::relation::Relation;
use pgrx::pg_sys::{PlannerInfo, RelOptInfo};
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::ptr::null_mut;

/// Is called for each relation of a query, after the query was simplified and before the planner makes paths.
pub trait RelationHook: 'static {
    /// Changes how the planner sees the query and the relation.
    fn on_relation(planner: Planner<'_>, relation: Relation<'_>);
}

thread_local! {
    /// The hooks that we found each time we installed ours.
    static FOUND: RefCell<Vec<NextHook>> = const { RefCell::new(Vec::new()) };
    /// The calls of our hook that are in progress.
    static IN_PROGRESS: Cell<Calls> = const { Cell::new(Calls { root: null_mut(), depth: 0 }) };
}

/// Installs our hook, if it is not in place. A library has one.
pub fn install_relation_hook<T: RelationHook>() {
    // SAFETY: a backend has one thread, and nobody else reads the hook while a library is loaded or a query
    // is simplified.
    unsafe {
        let found = relation_hook;
        let ours: NextHook = Some(relation_hook_function::<Ours<T>>);
        if is_same(found, ours) || IN_PROGRESS.get().depth > 0 {
            return;
        }
        // A library that installs its hook again, as we do, is in the list already.
        FOUND.with_borrow_mut(|all| match all.last() {
            Some(&last) if is_same(last, found) => {}
            _ => all.push(found),
        });
        relation_hook = ours;
    }
}

fn is_same(a: NextHook, b: NextHook) -> bool {
    a.map(|hook| hook as usize) == b.map(|hook| hook as usize)
}

/// How often our hook is on the stack for a query.
#[derive(Clone, Copy)]
struct Calls {
    root: *mut PlannerInfo,
    depth: usize,
}

/// Exists while the next hook runs, and is dropped even if that hook raises an error.
struct CallingNext {
    before: Calls,
}

impl CallingNext {
    fn of(root: *mut PlannerInfo) -> Self {
        let before = IN_PROGRESS.get();
        let depth = if before.root == root { before.depth } else { 0 };
        IN_PROGRESS.set(Calls { root, depth: depth + 1 });
        Self { before }
    }

    /// The next hook. The first call goes on to the hook that we found last, the second to the one before it.
    fn hook(&self) -> NextHook {
        FOUND.with_borrow(|all| all.iter().rev().nth(IN_PROGRESS.get().depth - 1).copied().flatten())
    }
}

impl Drop for CallingNext {
    fn drop(&mut self) {
        IN_PROGRESS.set(self.before);
    }
}

/// Calls the next hook, and then does our part, unless our hook is called by itself.
struct Ours<T>(PhantomData<T>);

impl<T: RelationHook> CalledHook for Ours<T> {
    unsafe fn called(root: *mut PlannerInfo, relation: *mut RelOptInfo, call: impl Fn(NextHook)) {
        let next = CallingNext::of(root);
        call(next.hook());
        drop(next);
        if IN_PROGRESS.get().root == root {
            return;
        }
        // SAFETY: as the caller promises.
        if let Some(planner) = unsafe { Planner::new(&root) } {
            // SAFETY: as the caller promises.
            T::on_relation(planner, unsafe { Relation::new(relation) });
        }
    }
}
