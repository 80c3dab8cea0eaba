//! The cost of searching an index: the part that is the same for GiST and for the access method `hamming`.
//!
//! Postgres's general estimate takes the fraction of rows that are found for the fraction of pages that are
//! read. That is wrong for distances. So our estimates begin with the pages, and take only the rows from the
//! general one.

use crate::pg::expr::{Expr, Exprs};
use crate::pg::planner::{PlannedIndex, Planner};
use crate::pg::settings::setting;
use pgrx::pg_sys;

/// Operators in the time that it takes to find, pin and lock a page: as in Postgres's own indexes.
pub(crate) const OPERATORS_PER_PAGE: f64 = 50.0;

/// The work that a search has done at some moment.
#[derive(Clone, Copy, Default)]
pub(crate) struct Work {
    /// Pages that it has read, each as often as it was read. Inner pages are few, and are taken to be in
    /// memory, as Postgres does for its own indexes.
    pub(crate) pages: f64,
    /// Pages that it has read one after the other, as they lie in the file.
    pub(crate) in_order: f64,
    /// What it has computed, in operators that take the same time.
    pub(crate) operators: f64,
}

/// The search of an index that a path of the planner stands for.
#[derive(Clone)]
pub(crate) struct Search<'a> {
    pub(crate) planner: Planner<'a>,
    pub(crate) path: &'a pg_sys::IndexPath,
    pub(crate) index: PlannedIndex<'a>,
    /// Rows that it finds.
    pub(crate) rows: f64,
    /// Postgres's general estimate.
    pub(crate) general: pg_sys::GenericCosts,
    /// How often a join repeats it.
    loop_count: f64,
}

impl<'a> Search<'a> {
    /// # Safety
    /// The path must be one of the query.
    pub(crate) unsafe fn of(planner: Planner<'a>, path: *mut pg_sys::IndexPath, loop_count: f64) -> Self {
        // SAFETY: a path of the query.
        unsafe {
            let root = planner.pointer();
            let mut general = pg_sys::GenericCosts::default();
            pg_sys::genericcostestimate(root, path, loop_count, &raw mut general);
            general.num_sa_scans = general.num_sa_scans.max(1.0);
            // Postgres looks at the conditions of a relation, but not at the order of a path. A parallel
            // worker does not have the value of a parameter of LATERAL, and would read a string of bits at no
            // address.
            let order_bys = (*path).indexorderbys;
            (*path).path.parallel_safe &= pg_sys::is_parallel_safe(root, order_bys.cast());
            let path = &*path;
            let index = PlannedIndex::new(path.indexinfo);
            Self { planner, path, index, rows: general.numIndexTuples, general, loop_count }
        }
    }

    /// The conditions that the index is searched by, each with its key column, counted from 0.
    pub(crate) fn all_conditions(&self) -> impl Iterator<Item = (usize, &'a pg_sys::RestrictInfo)> {
        // SAFETY: the clauses of a path are a list, and each has a list of conditions.
        unsafe {
            let clauses = Exprs::<'a>::new(self.path.indexclauses).iter();
            clauses.filter_map(Expr::cast::<pg_sys::IndexClause>).flat_map(|clause| {
                let conditions = Exprs::<'a>::new(clause.indexquals).iter().filter_map(Expr::cast);
                conditions.map(|condition| (clause.indexcol as usize, condition))
            })
        }
    }

    /// The conditions on a key column, counted from 0.
    pub(crate) fn conditions(&self, column: usize) -> impl Iterator<Item = Expr<'a>> {
        let of_column = self.all_conditions().filter(move |&(of, _)| of == column);
        // SAFETY: a condition has an expression.
        of_column.map(|(_, condition)| unsafe { Expr::new(condition.clause) })
    }

    /// The expressions that rows are ordered by.
    pub(crate) fn order(&self) -> Exprs<'a> {
        // SAFETY: a list of expressions of the path.
        unsafe { Exprs::new(self.path.indexorderbys) }
    }

    /// This search, if it finds a multiple of the rows because some conditions are checked on the rows that
    /// it finds.
    pub(crate) fn finding_more(mut self, factor: f64) -> Self {
        self.rows = (self.rows * factor).min(self.index.tuples.max(1.0));
        self.general.indexSelectivity = (self.general.indexSelectivity * factor).min(1.0);
        self
    }

    pub(crate) fn is_ordered(&self) -> bool {
        !self.path.indexorderbys.is_null()
    }

    /// Whether rows are ordered by nothing, or by the first column alone.
    pub(crate) fn is_ordered_by_first(&self) -> bool {
        // SAFETY: a list of integers of the path.
        unsafe {
            let columns = self.path.indexorderbycols.as_ref();
            columns
                .is_none_or(|list| (0..list.length).all(|n| (*list.elements.add(n as usize)).int_value == 0))
        }
    }

    /// Rows that have to be found until LIMIT is reached, with those that fail conditions of which the index
    /// knows nothing: one row, where that cannot be told. The planner expects each row to take the same
    /// time, but the first rows of an ordered search take most. So the estimate says
    /// that this cost comes before the first row.
    pub(crate) fn wanted(&self) -> f64 {
        // SAFETY: the planner's own; it has listed the relations of the query before it looks for paths.
        unsafe {
            let root = &*self.planner.pointer();
            if root.limit_tuples <= 0.0 || pg_sys::bms_num_members(root.all_baserels) != 1 {
                return 1.0;
            }
            let all = self.rows.max(1.0);
            (root.limit_tuples * all / (*self.index.rel).rows.max(1.0)).clamp(1.0, all)
        }
    }

    /// The answer to the planner, from the work until the first row is found and all work. Both are done for
    /// each element of an array that is searched for.
    pub(crate) fn estimate(&self, first: Work, all: Work) -> Estimate {
        let arrays = self.general.num_sa_scans;
        // SAFETY: settings, and lists of conditions of the path.
        unsafe {
            let root = self.planner.pointer();
            let conditions = pg_sys::get_quals_from_indexclauses(self.path.indexclauses);
            let operands = pg_sys::index_other_operands_eval_cost(root, conditions)
                + pg_sys::index_other_operands_eval_cost(root, self.path.indexorderbys);
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

    /// What one search costs. Later searches find pages that earlier ones have read.
    fn cost(&self, work: Work) -> f64 {
        let searches = self.loop_count * self.general.num_sa_scans;
        let fetched = pages_fetched(self.planner, self.index, work.pages, searches);
        let in_order = pages_fetched(self.planner, self.index, work.in_order, searches);
        let operators = (work.pages + work.in_order) * OPERATORS_PER_PAGE + work.operators;
        let (page_cost, operator_cost) = (setting!(seq_page_cost), setting!(cpu_operator_cost));
        fetched * self.general.spc_random_page_cost + in_order * page_cost + operators * operator_cost
    }
}

/// How many pages one of several searches has to fetch, each of which looks at `pages`.
pub(crate) fn pages_fetched(planner: Planner, index: PlannedIndex, pages: f64, searches: f64) -> f64 {
    if searches <= 1.0 {
        return pages.min(index.pages.into());
    }
    let all = (pages * searches).max(1.0);
    // SAFETY: an index of the query; the planner knows how large its tables are.
    let fetched =
        unsafe { pg_sys::index_pages_fetched(all, index.pages, index.pages.into(), planner.pointer()) };
    fetched / searches
}

/// The answer to the planner, in its own units.
pub(crate) struct Estimate {
    pub(crate) startup: f64,
    pub(crate) total: f64,
    pub(crate) selectivity: f64,
    pub(crate) pages: f64,
}

impl Estimate {
    /// For a path that cannot be taken. The table can always be scanned instead.
    pub(crate) const NEVER: Self = Self { startup: f64::MAX, total: f64::MAX, selectivity: 1.0, pages: 0.0 };

    pub(crate) fn is_never(&self) -> bool {
        self.startup == f64::MAX
    }
}

/// Defines what the planner calls: `cost_function!(name, estimate)`, where `estimate` takes a [`Search`].
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
            // SAFETY: the planner passes a path of the query, and places for the answers.
            unsafe {
                let Some(planner) = $crate::pg::planner::Planner::new(root) else { return };
                let estimate = $estimate(&$crate::estimate::cost::Search::of(planner, path, loop_count));
                if estimate.is_never() {
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
