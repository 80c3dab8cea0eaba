//! The planner's hooks for further paths: of a relation, and of a join.
//!
//! A library has one implementation of each. It calls the hook of the library that was loaded before.

use super::custom_path::{CustomPath, CustomPathParts};
use super::index_cost::PlannedSearch;
use super::join_paths::PlannedJoin;
use super::path::Path;
use super::planner::Planner;
use super::proposals::Proposals;
use super::relation::Relation;
use pgrx::pg_sys::ffi::pg_guard_ffi_boundary as guarded;
use pgrx::pg_sys::panic::pgrx_extern_c_guard as guard;
use pgrx::pg_sys::{self, JoinType, PlannerInfo, RelOptInfo};
use std::cell::Cell;

/// Is called for each relation of a query, after the planner has made its paths.
pub trait PathsHook: 'static {
    /// Changes the paths, or adds some.
    fn on_paths(paths: &mut RelationPaths<'_>);
}

/// Is called for each pair of relations that can be joined, and for both orders of them.
pub trait JoinHook: 'static {
    /// Adds paths.
    fn on_join(join: &PlannedJoin<'_>);
}

thread_local! {
    /// The hooks that were installed before ours, by other libraries.
    static NEXT_ON_PATHS: Cell<pg_sys::set_rel_pathlist_hook_type> = const { Cell::new(None) };
    static NEXT_ON_JOIN: Cell<pg_sys::set_join_pathlist_hook_type> = const { Cell::new(None) };
    /// Whether ours are installed.
    static HAS_PATHS_HOOK: Cell<bool> = const { Cell::new(false) };
    static HAS_JOIN_HOOK: Cell<bool> = const { Cell::new(false) };
}

/// Installs the hook for the paths of relations. Called once, when the library is loaded.
pub fn install_paths_hook<T: PathsHook>() {
    assert!(!HAS_PATHS_HOOK.replace(true), "a library has one hook for paths");
    // SAFETY: a backend has one thread, and nothing else uses these variables while a library is loaded.
    unsafe {
        NEXT_ON_PATHS.set(pg_sys::set_rel_pathlist_hook);
        pg_sys::set_rel_pathlist_hook = Some(on_paths::<T>);
    }
}

/// Installs the hook for the paths of joins. Called once, when the library is loaded.
pub fn install_join_hook<T: JoinHook>() {
    assert!(!HAS_JOIN_HOOK.replace(true), "a library has one hook for joins");
    // SAFETY: a backend has one thread, and nothing else uses these variables while a library is loaded.
    unsafe {
        NEXT_ON_JOIN.set(pg_sys::set_join_pathlist_hook);
        pg_sys::set_join_pathlist_hook = Some(on_join::<T>);
    }
}

unsafe extern "C-unwind" fn on_paths<T: PathsHook>(
    root: *mut PlannerInfo,
    relation: *mut RelOptInfo,
    number: pg_sys::Index,
    entry: *mut pg_sys::RangeTblEntry,
) {
    // SAFETY: the planner passes a relation of the query, and changes nothing until we return. It builds
    // other paths on those of the relation afterwards.
    let on_paths = || unsafe {
        if let Some(next) = NEXT_ON_PATHS.get() {
            guarded(|| next(root, relation, number, entry));
        }
        let Some(planner) = Planner::new(&root) else { return };
        let relation = Relation::new(relation);
        let mut paths = RelationPaths { planner, relation, proposals: Proposals::new(relation) };
        T::on_paths(&mut paths);
        paths.proposals.give();
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(on_paths) }
}

unsafe extern "C-unwind" fn on_join<T: JoinHook>(
    root: *mut PlannerInfo,
    join: *mut RelOptInfo,
    outer: *mut RelOptInfo,
    inner: *mut RelOptInfo,
    type_: JoinType::Type,
    extra: *mut pg_sys::JoinPathExtraData,
) {
    // SAFETY: the planner passes relations of the query, and the conditions between them.
    let on_join = || unsafe {
        if let Some(next) = NEXT_ON_JOIN.get() {
            guarded(|| next(root, join, outer, inner, type_, extra));
        }
        let Some(planner) = Planner::new(&root) else { return };
        let relations = [join, outer, inner].map(|relation| Relation::new(relation));
        let join = PlannedJoin::new(planner, relations, type_, &*extra);
        T::on_join(&join);
        join.end();
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(on_join) }
}

/// The paths of a relation, on which no other paths have been built yet.
pub struct RelationPaths<'p> {
    planner: Planner<'p>,
    relation: Relation<'p>,
    proposals: Proposals<'p>,
}

impl<'p> RelationPaths<'p> {
    /// Whether the relation is a single table or materialized view, without children.
    pub fn is_single_table(&self) -> bool {
        self.relation.is_single_table(self.planner)
    }

    /// Takes the cheapest path that needs no values of other relations out of the planner's list, so that a
    /// node of ours can be built on it. From now on, the planner neither chooses nor frees it.
    pub fn take_cheapest(&mut self) -> Option<Path<'p>> {
        let path = self.relation.cheapest_proposed()?;
        self.relation.remove(path);
        Some(path)
    }

    /// Proposes a path of a node of ours to the planner. Its children must have been taken out of the list.
    pub fn propose_custom<T: CustomPath>(&self, parts: CustomPathParts<'_, 'p>) {
        let are_taken =
            parts.children.iter().all(|child| child.is_of(self.relation) && !self.relation.has(*child));
        assert!(are_taken, "the planner may free paths in its list");
        let is_partial = parts.workers > 0;
        if let Some(path) = parts.path::<T>(self.planner, self.relation) {
            self.proposals.add(path, is_partial);
        }
    }

    /// Changes the costs of some partial paths that scan an index, and lets the planner compare all partial
    /// paths of the relation again.
    pub fn change_partial_costs(
        &mut self,
        is_one: impl Fn(PlannedSearch<'_>) -> bool,
        mut change: impl FnMut(PlannedSearch<'_>),
    ) {
        // SAFETY: the planner calls the hook before it builds other paths on these, and `take_cheapest`
        // returns none of them.
        unsafe { self.relation.change_costs(self.planner, &is_one, &mut change) };
    }
}
