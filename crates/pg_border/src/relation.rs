//! A relation of the query that is being planned: a table, a join, or another item of FROM.

use super::index_cost::PlannedSearch;
use super::node::{Node, Nodes};
use super::path::Path;
use super::planned_index::PlannedIndex;
use super::planner::Planner;
use super::restriction::Restriction;
use pgrx::pg_sys::{self, RelOptInfo};
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};

/// The number of pages that PostgreSQL assumes for a table that was never analyzed, in case it is about to
/// grow.
const ASSUMED_PAGES: u32 = 10;

/// A relation of the query.
#[derive(Clone, Copy, PartialEq)]
pub struct Relation<'p>(NonNull<RelOptInfo>, PhantomData<&'p RelOptInfo>);

impl<'p> Relation<'p> {
    /// # Safety
    /// The pointer must be to a relation of the query that is being planned.
    pub(super) unsafe fn new(place: *mut RelOptInfo) -> Self {
        // SAFETY: the pointer is not null, as the caller promises.
        Self(unsafe { NonNull::new_unchecked(place) }, PhantomData)
    }

    pub(super) fn pointer(self) -> *mut RelOptInfo {
        self.0.as_ptr()
    }

    /// The planner's struct, for the duration of a statement: nothing changes it meanwhile.
    pub(super) fn info(&self) -> &RelOptInfo {
        // SAFETY: the relation belongs to the query, and the reference does not leave the border.
        unsafe { self.0.as_ref() }
    }

    /// The relation's number in the query; 0 for a join.
    pub fn number(self) -> pg_sys::Index {
        self.info().relid
    }

    /// The estimated number of rows that fulfill the relation's conditions.
    pub fn rows(self) -> f64 {
        self.info().rows
    }

    /// Whether the relation is a table, or something else that is stored under a name.
    pub fn is_table(self) -> bool {
        self.info().rtekind == pg_sys::RTEKind::RTE_RELATION
    }

    /// Whether the query itself names the relation: it is neither a join nor a part of another relation.
    pub fn is_base(self) -> bool {
        self.info().reloptkind == pg_sys::RelOptKind::RELOPT_BASEREL
    }

    /// Whether the planner considers parallel plans for the relation.
    pub fn considers_parallel(self) -> bool {
        self.info().consider_parallel
    }

    /// Whether the relation refers to others by LATERAL.
    pub fn is_lateral(self) -> bool {
        !self.info().lateral_relids.is_null()
    }

    /// Whether the planner has a path for the relation.
    pub fn has_paths(self) -> bool {
        !self.info().pathlist.is_null()
    }

    /// The cost of computing the expressions that the relation returns.
    pub fn cost_of_columns(self) -> pg_sys::QualCost {
        // SAFETY: a relation has a target.
        unsafe { (*self.info().reltarget).cost }
    }

    /// The expressions that the relation returns.
    pub fn columns(self) -> Nodes<'p> {
        // SAFETY: the target is a list of expressions.
        unsafe { Nodes::new((*self.info().reltarget).exprs) }
    }

    /// Whether a join returns the row identity columns of an inherited or partitioned table, which UPDATE
    /// needs. PostgreSQL describes them by columns without a table. In a custom node, they make EXPLAIN
    /// VERBOSE fail and a server with assertions crash.
    pub fn returns_row_identity(self) -> bool {
        let columns = self.columns().node();
        columns.is_some_and(|columns| columns.columns().any(|column| column.varno == pg_sys::ROWID_VAR))
    }

    /// All indexes of the relation.
    pub fn indexes(self) -> impl Iterator<Item = PlannedIndex<'p>> {
        // SAFETY: the list has the relation's indexes.
        let indexes = unsafe { Nodes::new(self.info().indexlist) };
        // SAFETY: each is an index of the query.
        indexes.iter().map(|index| unsafe { PlannedIndex::new(index.pointer().cast()) })
    }

    /// Calls `change` for the expression of each condition on the relation, and stores its result there. The
    /// planner must not have made paths of the conditions yet, which is so in a [`RelationHook`].
    ///
    /// [`RelationHook`]: super::relation_hook::RelationHook
    pub fn change_conditions(self, change: &mut dyn FnMut(Nodes<'p>) -> Nodes<'p>) {
        // SAFETY: a relation has a list of conditions.
        for condition in unsafe { Nodes::new(self.info().baserestrictinfo) }.restrictions() {
            condition.change(change);
        }
    }

    /// The relation's paths, or its partial paths, whose rows are divided among the processes of a plan.
    fn paths(self, are_partial: bool) -> impl Iterator<Item = Path<'p>> {
        let list = if are_partial { self.info().partial_pathlist } else { self.info().pathlist };
        // SAFETY: each field is a list of paths.
        let paths = unsafe { Nodes::new(list) };
        // SAFETY: the lists have paths, and the struct of every kind of path begins with a `Path`.
        paths.iter().map(|path| unsafe { Path::new(path.pointer().cast()) })
    }

    /// The parameterized paths that only need values of `other`.
    pub fn paths_parameterized_by(self, other: Relation<'p>) -> impl Iterator<Item = Path<'p>> {
        self.paths(false).filter(move |path| path.is_parameterized_by(other))
    }

    /// The cheapest path, or the cheapest partial path, unless it is parameterized.
    pub fn cheapest(self, is_partial: bool) -> Option<Path<'p>> {
        let path = match is_partial {
            true => self.paths(true).next(),
            // SAFETY: the field is a path or null.
            false => unsafe { Path::at(self.info().cheapest_total_path) },
        };
        path.filter(|path| !path.is_parameterized())
    }

    /// The cheapest path among those that were proposed so far, unless it is parameterized. The planner sets
    /// [`cheapest`](Self::cheapest) when all paths have been proposed.
    pub(super) fn cheapest_proposed(self) -> Option<Path<'p>> {
        let paths = self.paths(false).filter(|path| !path.is_parameterized());
        paths.min_by(|a, b| a.total_cost().total_cmp(&b.total_cost()))
    }

    /// Whether a path is in the planner's list.
    pub(super) fn has(self, path: Path<'p>) -> bool {
        self.paths(false).any(|other| other.pointer() == path.pointer())
    }

    /// Removes a path from the planner's list.
    pub(super) fn remove(self, path: Path<'p>) {
        // SAFETY: the list has paths of the relation, and no reference to the relation exists.
        unsafe {
            let paths = self.info().pathlist;
            (*self.pointer()).pathlist = pg_sys::list_delete_ptr(paths, path.pointer().cast());
        }
    }

    /// The cheapest path that each process of a parallel plan can execute as a whole.
    pub fn cheapest_parallel_safe(self) -> Option<Path<'p>> {
        // SAFETY: the list has paths. PostgreSQL returns one without parameters, or null.
        unsafe { Path::at(pg_sys::get_cheapest_parallel_safe_total_inner(self.info().pathlist)) }
    }

    /// Changes the costs of some partial paths that scan an index, and lets the planner compare all partial
    /// paths again, whereby it frees some of them.
    ///
    /// # Safety
    /// No other path may have been built on these paths yet, and nobody may use one of them afterwards.
    pub(super) unsafe fn change_costs(
        self,
        planner: Planner<'p>,
        is_one: &dyn Fn(PlannedSearch<'_>) -> bool,
        change: &mut dyn FnMut(PlannedSearch<'_>),
    ) {
        let scan = |path: &Path<'p>| path.as_search(planner).filter(|path| is_one(*path));
        // Bounded: the paths of a relation.
        let paths: Vec<Path> = self.paths(true).collect();
        if !paths.iter().any(|path| scan(path).is_some()) {
            return;
        }
        // SAFETY: the relation belongs to the query, and no reference to it exists.
        unsafe { (*self.pointer()).partial_pathlist = null_mut() };
        for path in paths {
            if let Some(path) = scan(&path) {
                change(path);
            }
            // SAFETY: the path belongs to this relation.
            unsafe { pg_sys::add_partial_path(self.pointer(), path.pointer()) };
        }
    }

    /// The relation's entry in the range table; `None` for a join.
    fn entry(self, planner: Planner<'p>) -> Option<&'p pg_sys::RangeTblEntry> {
        // SAFETY: a base relation has an entry in the range table.
        self.is_base().then(|| unsafe { &**planner.info().simple_rte_array.add(self.number() as usize) })
    }

    /// Whether the relation is a single table or materialized view, without children.
    pub fn is_single_table(self, planner: Planner<'p>) -> bool {
        self.entry(planner).is_some_and(|entry| !entry.inh && has_pages(entry))
    }

    /// The pages of a table that was never analyzed as a fraction of the pages that PostgreSQL assumes for
    /// it; `None` if it does not assume any.
    pub fn part_of_assumed_pages(self, planner: Planner<'p>) -> Option<f64> {
        let entry = self.entry(planner)?;
        if self.info().pages != ASSUMED_PAGES || !has_pages(entry) {
            return None;
        }
        // SAFETY: the planner holds a lock on each table of the query.
        unsafe {
            let relation = pg_sys::table_open(entry.relid, pg_sys::NoLock as i32);
            let is_analyzed = (*(*relation).rd_rel).reltuples >= 0.0;
            let fork = pg_sys::ForkNumber::MAIN_FORKNUM;
            let pages = pg_sys::RelationGetNumberOfBlocksInFork(relation, fork);
            pg_sys::table_close(relation, pg_sys::NoLock as i32);
            (!is_analyzed).then(|| f64::from(pages) / f64::from(ASSUMED_PAGES))
        }
    }
}

impl<'p> Restriction<'p> {
    /// Whether the condition is tested after an outer join, as conditions of WHERE are.
    pub fn is_pushed_down(self, join: Relation) -> bool {
        // SAFETY: the sets belong to the condition and the join.
        unsafe {
            (*self.pointer()).is_pushed_down
                || !pg_sys::bms_is_subset((*self.pointer()).required_relids, (*join.pointer()).relids)
        }
    }

    /// Calls `change` for the expression, and stores its result there.
    fn change(self, change: &mut dyn FnMut(Nodes<'p>) -> Nodes<'p>) {
        if let Some(condition) = Node::all_of(change(Nodes::of(&[self.expr()]))) {
            // SAFETY: the condition belongs to the query, and no reference to it exists.
            unsafe { (*self.pointer()).clause = condition.pointer().cast() };
        }
    }
}

impl<'p> Path<'p> {
    /// Whether the path needs values of this relation only.
    pub(super) fn is_parameterized_by(self, other: Relation<'p>) -> bool {
        // SAFETY: the field is null or describes the parameters; both arguments are sets of relations.
        unsafe {
            let asked = self.info().param_info.as_ref();
            asked.is_some_and(|asked| pg_sys::bms_is_subset(asked.ppi_req_outer, other.info().relids))
        }
    }

    pub(super) fn is_of(self, relation: Relation<'p>) -> bool {
        self.info().parent == relation.pointer()
    }
}

impl<'p> Planner<'p> {
    /// The UNION ALL that a table is an arm of.
    pub fn union_of(self, table: Relation<'p>) -> Option<Relation<'p>> {
        let root = self.info();
        // SAFETY: if there is an array, it has an entry for each relation of the query, which is null unless
        // the relation is part of another one. The other one was built before its parts.
        unsafe {
            let parts = NonNull::new(root.append_rel_array)?;
            let part = (*parts.as_ptr().add(table.number() as usize)).as_ref()?;
            let whole = NonNull::new(*root.simple_rel_array.add(part.parent_relid as usize))?;
            let is_union = whole.as_ref().rtekind == pg_sys::RTEKind::RTE_SUBQUERY;
            is_union.then(|| Relation::new(whole.as_ptr()))
        }
    }

    /// Whether this is the only table of the query for which the planner has built a relation so far.
    pub fn is_first_table(self, table: Relation<'p>) -> bool {
        let root = self.info();
        (0..root.simple_rel_array_size as usize).all(|place| {
            // SAFETY: the array has an element for each relation of the query, which is null until the
            // relation is built.
            let other = unsafe { *root.simple_rel_array.add(place) };
            // SAFETY: it is a relation of the query.
            let other = NonNull::new(other).map(|other| unsafe { Relation::new(other.as_ptr()) });
            other.is_none_or(|other| other == table || !other.is_base() || !other.is_table())
        })
    }

    /// Whether an expression contains columns, and all of them are of this relation, which may be a join.
    pub fn is_of(self, expr: Node, relation: Relation) -> bool {
        // SAFETY: the expression and the relation belong to the query.
        unsafe {
            let mentioned = pg_sys::pull_varnos(self.pointer(), expr.pointer());
            !mentioned.is_null() && pg_sys::bms_is_subset(mentioned, relation.info().relids)
        }
    }
}

/// Whether an entry is a table or a materialized view; a foreign table has no pages.
fn has_pages(entry: &pg_sys::RangeTblEntry) -> bool {
    let kind = entry.relkind as u8;
    entry.rtekind == pg_sys::RTEKind::RTE_RELATION
        && (kind == pg_sys::RELKIND_RELATION || kind == pg_sys::RELKIND_MATVIEW)
}
