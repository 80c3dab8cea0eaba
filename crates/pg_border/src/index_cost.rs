//! Searches of an index that the planner considers, and the function that estimates their costs.

use super::compat::{disable, set_cost_function};
use super::node::{Node, Nodes};
use super::path::Path;
use super::planned_index::PlannedIndex;
use super::planner::Planner;
use super::restriction::Restriction;
use pgrx::pg_sys::panic::pgrx_extern_c_guard as guard;
use pgrx::pg_sys::{self, Cost, GenericCosts};
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};

/// What an index estimates for the planner, in the planner's own units.
#[derive(Clone, Copy)]
pub struct IndexCost {
    /// The cost until the first row.
    pub startup: f64,
    /// The cost of the whole scan.
    pub total: f64,
    /// The fraction of the table's rows that the scan returns.
    pub selectivity: f64,
    /// The pages of the index that it reads.
    pub pages: f64,
}

impl IndexCost {
    /// For a path that must not be taken. A sequential scan is always possible instead.
    pub const NEVER: Self = Self { startup: f64::MAX, total: f64::MAX, selectivity: 1.0, pages: 0.0 };
}

/// The cost of scanning an index.
pub trait IndexCostFunction: 'static {
    /// What this search costs.
    fn cost(search: PlannedSearch<'_>) -> IndexCost;
}

/// The function of an access method that the planner calls for a cost. It is never inlined, so that it has
/// one address.
///
/// # Safety
/// Only the planner may call it, with a path of the query.
#[allow(clippy::too_many_arguments, reason = "PostgreSQL determines the arguments")]
#[inline(never)]
pub unsafe extern "C-unwind" fn cost_function<T: IndexCostFunction>(
    root: *mut pg_sys::PlannerInfo,
    path: *mut pg_sys::IndexPath,
    loop_count: f64,
    startup: *mut Cost,
    total: *mut Cost,
    selectivity: *mut pg_sys::Selectivity,
    correlation: *mut f64,
    pages: *mut f64,
) {
    // SAFETY: the planner passes a path of the query, and pointers for the results.
    let estimate = || unsafe {
        let Some(planner) = Planner::new(&root) else { return };
        let cost = T::cost(PlannedSearch::new(planner, path, loop_count));
        if cost.startup == IndexCost::NEVER.startup {
            disable(&mut (*path).path);
        }
        *startup = cost.startup;
        *total = cost.total;
        *selectivity = cost.selectivity;
        *correlation = 0.0;
        *pages = cost.pages;
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(estimate) }
}

/// The costs of a path.
#[derive(Clone, Copy)]
pub struct PathCost {
    /// The cost until the first row.
    pub startup: f64,
    /// The cost of the whole path.
    pub total: f64,
}

/// A search of an index that the planner considers: a path that scans an index.
#[derive(Clone, Copy)]
pub struct PlannedSearch<'p> {
    planner: Planner<'p>,
    path: NonNull<pg_sys::IndexPath>,
    loop_count: f64,
    life: PhantomData<&'p pg_sys::IndexPath>,
}

impl<'p> PlannedSearch<'p> {
    /// # Safety
    /// The path must belong to the query.
    pub(super) unsafe fn new(planner: Planner<'p>, path: *mut pg_sys::IndexPath, loop_count: f64) -> Self {
        // SAFETY: the pointer is not null, as the caller promises.
        let path = unsafe { NonNull::new_unchecked(path) };
        Self { planner, path, loop_count, life: PhantomData }
    }

    /// How often a join repeats the search.
    pub fn loop_count(self) -> f64 {
        self.loop_count
    }

    pub(super) fn pointer(self) -> *mut pg_sys::IndexPath {
        self.path.as_ptr()
    }

    /// The planner's struct, for the duration of a statement: nothing changes it meanwhile.
    fn info(&self) -> &pg_sys::IndexPath {
        // SAFETY: the path belongs to the query, and the reference does not leave this file.
        unsafe { self.path.as_ref() }
    }

    /// The planner's state for the query.
    pub fn planner(self) -> Planner<'p> {
        self.planner
    }

    /// The index.
    pub fn index(self) -> PlannedIndex<'p> {
        // SAFETY: a path has an index of the query.
        unsafe { PlannedIndex::new(self.info().indexinfo) }
    }

    /// Whether the scan reads the index only, and no rows of the table.
    pub fn is_index_only(self) -> bool {
        self.info().path.pathtype == pg_sys::NodeTag::T_IndexOnlyScan
    }

    /// The conditions of the query that the index answers.
    pub fn clauses(self) -> impl Iterator<Item = IndexClause<'p>> {
        self.clause_list().iter().filter(|node| node.is::<pg_sys::IndexClause>()).map(IndexClause)
    }

    fn clause_list(self) -> Nodes<'p> {
        // SAFETY: a path has a list of clauses.
        unsafe { Nodes::new(self.info().indexclauses) }
    }

    /// The expressions that the scan orders rows by.
    pub fn order_bys(self) -> Nodes<'p> {
        // SAFETY: a path has a list of expressions.
        unsafe { Nodes::new(self.info().indexorderbys) }
    }

    /// For each expression that the scan orders rows by, the number of its column, counted from 0.
    pub fn order_by_columns(self) -> impl Iterator<Item = usize> {
        // SAFETY: the path has a list of integers, or null.
        let length = unsafe { self.info().indexorderbycols.as_ref() }.map_or(0, |list| list.length as usize);
        // SAFETY: the list has so many cells with integers.
        (0..length).map(move |place| unsafe {
            (*(*self.info().indexorderbycols).elements.add(place)).int_value as usize
        })
    }

    /// PostgreSQL's general estimate of an index scan.
    pub fn general_estimate(self) -> GenericCosts {
        let mut general = GenericCosts::default();
        // SAFETY: the path belongs to the query, and the function fills in the struct.
        unsafe {
            let root = self.planner.pointer();
            pg_sys::genericcostestimate(root, self.pointer(), self.loop_count, &raw mut general);
        }
        general
    }

    /// The cost of the general estimate for the operands of conditions and of the order, which are computed
    /// once.
    pub fn operands_cost(self) -> f64 {
        // SAFETY: the conditions belong to the path.
        unsafe {
            let root = self.planner.pointer();
            let conditions = pg_sys::get_quals_from_indexclauses(self.clause_list().pointer());
            pg_sys::index_other_operands_eval_cost(root, conditions)
                + pg_sys::index_other_operands_eval_cost(root, self.order_bys().pointer())
        }
    }

    /// Lets workers execute the path only if they can compute what it orders by. PostgreSQL checks the
    /// relation's conditions, but not the order of an index path. A parallel worker does not get the value of
    /// a LATERAL parameter, and would read a bit string at address 0.
    pub fn check_parallel_safety(self) {
        // SAFETY: the expressions belong to the path, to which no reference exists.
        unsafe {
            let is_safe = pg_sys::is_parallel_safe(self.planner.pointer(), self.order_bys().pointer().cast());
            (*self.pointer()).path.parallel_safe &= is_safe;
        }
    }

    /// Gives each condition of an index search the selectivity of the condition of the query from which it
    /// was made.
    ///
    /// PostgreSQL estimates a condition once, and keeps the selectivity in its RestrictInfo. However, for an
    /// OR below an AND, it makes a path of each alternative together with the conditions of all ANDs above
    /// it, and each time makes new index conditions of all of them. With n nested ANDs and ORs, that would be
    /// n² / 2 estimates, each of which may be expensive.
    pub fn share_selectivities(self) {
        for clause in self.clauses() {
            let mut conditions = clause.conditions();
            let Some(condition) = conditions.next().filter(|_| conditions.next().is_none()) else { continue };
            let source = clause.source();
            // If the index condition is lossy, it selects more rows.
            if condition == source || clause.is_lossy() || !source.is_of_one_relation() {
                continue;
            }
            let selectivity = self.planner.restriction_selectivity(source);
            // SAFETY: the condition belongs to the query, and no references to it exist.
            unsafe { (*condition.pointer()).norm_selec = selectivity };
        }
    }

    /// The conditions of the query that the index answers, and what its predicate adds to them.
    pub fn conditions_with_predicate(self) -> Nodes<'p> {
        let sources: Nodes = self.clauses().map(|clause| clause.source().node()).collect();
        // SAFETY: the conditions belong to the query, and the index is that of the path.
        unsafe { Nodes::new(pg_sys::add_predicate_to_index_quals(self.info().indexinfo, sources.pointer())) }
    }

    /// The same path with other clauses, on the same index.
    pub(super) fn with_clauses(self, clauses: Nodes<'p>) -> pg_sys::IndexPath {
        // SAFETY: the path belongs to the query, and is copied.
        let mut path = unsafe { *self.pointer() };
        path.indexclauses = clauses.pointer();
        path
    }

    /// GIN's own estimate of this path with these clauses.
    pub fn cost_of_gin(self, clauses: Nodes<'p>) -> IndexCost {
        let mut asked = self.with_clauses(clauses);
        let mut startup = 0.0;
        let mut total = 0.0;
        let mut selectivity = 0.0;
        let mut correlation = 0.0;
        let mut pages = 0.0;
        // SAFETY: the path belongs to the query, and the pointers are for the results.
        unsafe {
            pg_sys::ffi::pg_guard_ffi_boundary(|| {
                gincostestimate(
                    self.planner.pointer(),
                    &raw mut asked,
                    self.loop_count,
                    &raw mut startup,
                    &raw mut total,
                    &raw mut selectivity,
                    &raw mut correlation,
                    &raw mut pages,
                );
            });
        }
        IndexCost { startup, total, selectivity, pages }
    }

    /// How many workers the path has.
    pub fn workers(self) -> i32 {
        self.info().path.parallel_workers
    }

    /// The cost of the index in the total cost.
    pub fn cost_of_index(self) -> f64 {
        self.info().indextotalcost
    }

    /// The cost of the path.
    pub fn path_cost(self) -> PathCost {
        PathCost { startup: self.info().path.startup_cost, total: self.info().path.total_cost }
    }

    /// Changes the cost of the path.
    pub fn set_path_cost(self, cost: PathCost) {
        // SAFETY: the path belongs to the query, and no reference to it exists.
        unsafe {
            (*self.pointer()).path.startup_cost = cost.startup;
            (*self.pointer()).path.total_cost = cost.total;
        }
    }
}

unsafe extern "C-unwind" {
    /// PostgreSQL's cost function for GIN, which pgrx leaves out.
    fn gincostestimate(
        root: *mut pg_sys::PlannerInfo,
        path: *mut pg_sys::IndexPath,
        loop_count: f64,
        startup: *mut Cost,
        total: *mut Cost,
        selectivity: *mut pg_sys::Selectivity,
        correlation: *mut f64,
        pages: *mut f64,
    );
}

/// A condition of the query that an index answers.
#[derive(Clone, Copy)]
pub struct IndexClause<'p>(Node<'p>);

impl<'p> IndexClause<'p> {
    fn info(&self) -> &pg_sys::IndexClause {
        // SAFETY: the tag was checked, and the reference does not leave this file.
        unsafe { &*self.0.pointer().cast::<pg_sys::IndexClause>() }
    }

    /// The clause as a node, for a list of clauses.
    pub fn node(self) -> Node<'p> {
        self.0
    }

    /// The key column, counted from 0.
    pub fn column(self) -> usize {
        self.info().indexcol as usize
    }

    /// The condition of the query.
    pub fn source(self) -> Restriction<'p> {
        // SAFETY: a clause was made from a condition of the query.
        unsafe { Restriction::new(self.info().rinfo) }
    }

    /// The conditions that the index is searched by.
    pub fn conditions(self) -> impl Iterator<Item = Restriction<'p>> {
        // SAFETY: a clause has a list of conditions.
        unsafe { Nodes::new(self.info().indexquals) }.restrictions()
    }

    /// Whether rows that the index finds may not fulfill the condition.
    pub fn is_lossy(self) -> bool {
        self.info().lossy
    }
}

impl<'p> Planner<'p> {
    /// The selectivity of a condition on one relation, which PostgreSQL keeps with the condition.
    fn restriction_selectivity(self, condition: Restriction<'p>) -> f64 {
        let inner = pg_sys::JoinType::JOIN_INNER;
        let no_join = null_mut();
        // SAFETY: the condition belongs to the query.
        unsafe { pg_sys::clause_selectivity(self.pointer(), condition.pointer().cast(), 0, inner, no_join) }
    }

    /// How many pages PostgreSQL expects to be read from the disk if so many are read of an index at random.
    pub fn pages_fetched(self, index: PlannedIndex<'p>, pages: f64) -> f64 {
        // SAFETY: the index belongs to the query, and the planner has the sizes of its tables.
        unsafe { pg_sys::index_pages_fetched(pages, index.pages(), index.pages().into(), self.pointer()) }
    }
}

impl PlannedIndex<'_> {
    /// Makes the planner call this estimate for the cost of a scan. It is not called for an index of a
    /// partitioned table.
    pub fn set_cost<T: IndexCostFunction>(self) {
        // SAFETY: the index belongs to the query, and no reference to it exists.
        set_cost_function(unsafe { &mut *self.pointer() }, Some(cost_function::<T>));
    }

    /// Whether the planner calls this estimate for the cost of a scan.
    pub fn has_cost<T: IndexCostFunction>(self) -> bool {
        let expected = cost_function::<T> as *const ();
        // SAFETY: the index belongs to the query.
        let estimate = unsafe { (*self.pointer()).amcostestimate };
        estimate.is_some_and(|estimate| estimate as *const () == expected)
    }
}

impl<'p> Path<'p> {
    /// The path as one that scans an index, if it is one.
    pub(super) fn as_search(self, planner: Planner<'p>) -> Option<PlannedSearch<'p>> {
        let is_one = self.node().is::<pg_sys::IndexPath>();
        // SAFETY: the tag was checked.
        is_one.then(|| unsafe { PlannedSearch::new(planner, self.pointer().cast(), 1.0) })
    }
}
