//! The cost of an index search, as far as it is the same for GiST and for the access method `hamming`.
//!
//! PostgreSQL's general estimate assumes that the fraction of pages that are read is the fraction of rows
//! that are found. That is wrong for distances. So our estimates start from the pages that a search reads,
//! and use the general estimate only for the rows.

use crate::pg::node::{Node, Nodes};
use crate::pg::planner::{PlannedIndex, Planner};
use crate::pg::settings::setting;
use pgrx::pg_sys;

/// The time to find, pin and lock a page, in operators; the same number as for PostgreSQL's own indexes.
pub(crate) const OPERATORS_PER_PAGE: f64 = 50.0;

/// The work that a search has done up to some moment.
#[derive(Clone, Copy, Default)]
pub(crate) struct Work {
    /// Pages that were read in random order, counted once for each read. Inner pages are not counted: they
    /// are few, and assumed to be in memory, as for PostgreSQL's own indexes.
    pub(crate) pages: f64,
    /// Pages that were read in the order of the file.
    pub(crate) in_order: f64,
    /// Computations, in operators that take the same time.
    pub(crate) operators: f64,
}

/// An index path whose cost is estimated.
#[derive(Clone)]
pub(crate) struct CostedPath<'a> {
    pub(crate) planner: Planner<'a>,
    pub(crate) index_path: &'a pg_sys::IndexPath,
    pub(crate) index: PlannedIndex<'a>,
    /// The number of rows that the search finds.
    pub(crate) rows: f64,
    /// PostgreSQL's general estimate.
    pub(crate) general: pg_sys::GenericCosts,
    /// How often a join repeats the search.
    pub(crate) loop_count: f64,
}

impl<'a> CostedPath<'a> {
    /// # Safety
    /// The path must belong to the query.
    pub(crate) unsafe fn of(planner: Planner<'a>, path: *mut pg_sys::IndexPath, loop_count: f64) -> Self {
        // SAFETY: the path belongs to the query, as the caller promises.
        unsafe {
            let root = planner.pointer();
            share_selectivities(planner, &*path);
            let mut general = pg_sys::GenericCosts::default();
            pg_sys::genericcostestimate(root, path, loop_count, &raw mut general);
            general.num_sa_scans = general.num_sa_scans.max(1.0);
            // PostgreSQL checks the relation's conditions for parallel safety, but not the order of an index
            // path. A parallel worker does not get the value of a LATERAL parameter, and would read a string
            // of bits at address 0.
            let order_bys = (*path).indexorderbys;
            (*path).path.parallel_safe &= pg_sys::is_parallel_safe(root, order_bys.cast());
            let index_path = &*path;
            let index = PlannedIndex::new(index_path.indexinfo);
            Self { planner, index_path, index, rows: general.numIndexTuples, general, loop_count }
        }
    }

    pub(crate) fn clauses(&self) -> impl Iterator<Item = &'a pg_sys::IndexClause> {
        // SAFETY: a path has a list of clauses.
        unsafe { Nodes::<'a>::new(self.index_path.indexclauses) }.iter().filter_map(Node::cast)
    }

    /// The conditions that the index is searched by. Each comes with its key column, counted from 0.
    pub(crate) fn all_conditions(&self) -> impl Iterator<Item = (usize, &'a pg_sys::RestrictInfo)> {
        self.clauses().flat_map(|clause| {
            // SAFETY: a clause has a list of conditions.
            let conditions = unsafe { Nodes::<'a>::new(clause.indexquals) }.iter().filter_map(Node::cast);
            conditions.map(|condition| (clause.indexcol as usize, condition))
        })
    }

    /// The conditions on a key column, counted from 0.
    pub(crate) fn conditions(&self, column: usize) -> impl Iterator<Item = Node<'a>> {
        let of_column = self.all_conditions().filter(move |&(of, _)| of == column);
        // SAFETY: a condition has an expression.
        of_column.map(|(_, condition)| unsafe { Node::new(condition.clause) })
    }

    /// The same search with more rows: some conditions are only tested on the rows that the index finds.
    pub(crate) fn finding_more(mut self, factor: f64) -> Self {
        self.rows = (self.rows * factor).min(self.index.tuples.max(1.0));
        self.general.indexSelectivity = (self.general.indexSelectivity * factor).min(1.0);
        self
    }

    pub(crate) fn is_ordered(&self) -> bool {
        !self.index_path.indexorderbys.is_null()
    }

    /// Whether rows are not ordered, or only by the first column.
    pub(crate) fn is_ordered_by_first(&self) -> bool {
        // SAFETY: the path has a list of integers.
        unsafe {
            let columns = self.index_path.indexorderbycols.as_ref();
            columns
                .is_none_or(|list| (0..list.length).all(|n| (*list.elements.add(n as usize)).int_value == 0))
        }
    }

    /// The number of rows that have to be found until LIMIT is reached, including rows that fail conditions
    /// unknown to the index; 1 if LIMIT is unknown. The planner assumes that every row takes the same time,
    /// but the first rows of an ordered search take most of it. So the estimate puts the cost of these rows
    /// before the first row.
    pub(crate) fn wanted(&self) -> f64 {
        // SAFETY: the planner's struct lists all relations of the query before paths are made.
        unsafe {
            let root = &*self.planner.pointer();
            if root.limit_tuples <= 0.0 || pg_sys::bms_num_members(root.all_baserels) != 1 {
                return 1.0;
            }
            let all = self.rows.max(1.0);
            (root.limit_tuples * all / (*self.index.rel).rows.max(1.0)).clamp(1.0, all)
        }
    }

    /// The estimate for the planner, from the work until the first row and the total work. An array condition
    /// repeats both for each element.
    pub(crate) fn estimate(&self, first: Work, all: Work) -> Estimate {
        let arrays = self.general.num_sa_scans;
        // SAFETY: the conditions belong to the path.
        unsafe {
            let root = self.planner.pointer();
            let conditions = pg_sys::get_quals_from_indexclauses(self.index_path.indexclauses);
            let operands = pg_sys::index_other_operands_eval_cost(root, conditions)
                + pg_sys::index_other_operands_eval_cost(root, self.index_path.indexorderbys);
            let startup = operands + self.cost(first);
            let found = self.rows * arrays * pg_sys::cpu_index_tuple_cost;
            Estimate {
                startup,
                total: startup.max(operands + self.cost(all) * arrays + found),
                selectivity: self.general.indexSelectivity,
                pages: (all.pages + all.in_order) * arrays,
            }
        }
    }

    /// The cost of one search. Later searches find pages in memory that earlier ones have read.
    fn cost(&self, work: Work) -> f64 {
        let searches = self.loop_count * self.general.num_sa_scans;
        let fetched = pages_fetched(self.planner, self.index, work.pages, searches);
        let in_order = pages_fetched(self.planner, self.index, work.in_order, searches);
        let operators = (work.pages + work.in_order) * OPERATORS_PER_PAGE + work.operators;
        let (page_cost, operator_cost) = (setting!(seq_page_cost), setting!(cpu_operator_cost));
        fetched * self.general.spc_random_page_cost + in_order * page_cost + operators * operator_cost
    }
}

/// Gives each condition of an index search the selectivity of the condition of the query from which it was
/// made.
///
/// PostgreSQL estimates a condition once, and keeps the selectivity in its RestrictInfo. However, for an OR
/// below an AND, it makes a path of each alternative together with the conditions of all ANDs above it, and
/// each time makes new index conditions of all of them. With n nested ANDs and ORs, that would be n² / 2
/// estimates, each of which compares a code with the values that ANALYZE has kept.
fn share_selectivities(planner: Planner, path: &pg_sys::IndexPath) {
    // SAFETY: a path has a list of clauses, each of which has a condition and the index conditions made from
    // it. They belong to the query, and no references to them exist.
    unsafe {
        for clause in Nodes::new(path.indexclauses).iter().filter_map(Node::cast::<pg_sys::IndexClause>) {
            let conditions = Nodes::new(clause.indexquals);
            let (Some(condition), 1) = (conditions.iter().next(), conditions.len()) else { continue };
            let condition = condition.pointer().cast::<pg_sys::RestrictInfo>();
            let is_of_one_relation = pg_sys::bms_num_members((*clause.rinfo).clause_relids) == 1;
            // If the index condition is lossy, it selects more rows.
            if condition == clause.rinfo || clause.lossy || !is_of_one_relation {
                continue;
            }
            let inner = pg_sys::JoinType::JOIN_INNER;
            let no_join = std::ptr::null_mut();
            (*condition).norm_selec =
                pg_sys::clause_selectivity(planner.pointer(), clause.rinfo.cast(), 0, inner, no_join);
        }
    }
}

/// How many pages each of several searches has to fetch, if each of them reads `pages`.
fn pages_fetched(planner: Planner, index: PlannedIndex, pages: f64, searches: f64) -> f64 {
    if searches <= 1.0 {
        return pages.min(index.pages.into());
    }
    let all = (pages * searches).max(1.0);
    // SAFETY: the index belongs to the query, and the planner has the sizes of its tables.
    let fetched =
        unsafe { pg_sys::index_pages_fetched(all, index.pages, index.pages.into(), planner.pointer()) };
    fetched / searches
}

/// The estimate for the planner, in its own units.
pub(crate) struct Estimate {
    pub(crate) startup: f64,
    pub(crate) total: f64,
    pub(crate) selectivity: f64,
    pub(crate) pages: f64,
}

impl Estimate {
    /// For a path that must not be taken. A sequential scan is always possible instead.
    pub(crate) const NEVER: Self = Self { startup: f64::MAX, total: f64::MAX, selectivity: 1.0, pages: 0.0 };
}

/// Defines a cost function for the planner: `cost_function!(name, estimate)`. `estimate` takes a
/// [`CostedPath`].
macro_rules! cost_function {
    ($visibility:vis $name:ident, $estimate:ident) => {
        #[pgrx::pg_guard]
        #[allow(clippy::too_many_arguments, reason = "Postgres says what it is called with")]
        $visibility unsafe extern "C-unwind" fn $name(
            root: *mut pgrx::pg_sys::PlannerInfo,
            path: *mut pgrx::pg_sys::IndexPath,
            loop_count: f64,
            startup: *mut pgrx::pg_sys::Cost,
            total: *mut pgrx::pg_sys::Cost,
            selectivity: *mut pgrx::pg_sys::Selectivity,
            correlation: *mut f64,
            pages: *mut f64,
        ) {
            // SAFETY: the planner passes a path of the query, and pointers for the results.
            unsafe {
                let Some(planner) = $crate::pg::planner::Planner::new(&root) else { return };
                let estimate = $estimate(&$crate::estimate::path_cost::CostedPath::of(planner, path, loop_count));
                if estimate.startup == $crate::estimate::path_cost::Estimate::NEVER.startup {
                    $crate::pg::compat::disable(&mut (*path).path);
                }
                *startup = estimate.startup;
                *total = estimate.total;
                *selectivity = estimate.selectivity;
                *correlation = 0.0;
                *pages = estimate.pages;
            }
        }
    };
}
pub(crate) use cost_function;
