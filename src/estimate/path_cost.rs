//! The cost of an index search, as far as it is the same for GiST and for the access method `hamming`.
//!
//! PostgreSQL's general estimate assumes that the fraction of pages that are read is the fraction of rows
//! that are found. That is wrong for distances. So our estimates start from the pages that a search reads,
//! and use the general estimate only for the rows.

use crate::pg::index_cost::{IndexCost, PlannedSearch};
use crate::pg::node::Node;
use crate::pg::planned_index::PlannedIndex;
use crate::pg::planner::Planner;
use crate::pg::restriction::Restriction;
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
    pub(crate) search: PlannedSearch<'a>,
    /// The number of rows that the search finds.
    pub(crate) rows: f64,
    /// PostgreSQL's general estimate.
    pub(crate) general: pg_sys::GenericCosts,
}

impl<'a> CostedPath<'a> {
    pub(crate) fn of(search: PlannedSearch<'a>) -> Self {
        search.share_selectivities();
        let mut general = search.general_estimate();
        general.num_sa_scans = general.num_sa_scans.max(1.0);
        search.check_parallel_safety();
        Self { search, rows: general.numIndexTuples, general }
    }

    pub(crate) fn planner(&self) -> Planner<'a> {
        self.search.planner()
    }

    pub(crate) fn index(&self) -> PlannedIndex<'a> {
        self.search.index()
    }

    /// The conditions that the index is searched by. Each comes with its key column, counted from 0.
    pub(crate) fn all_conditions(&self) -> impl Iterator<Item = (usize, Restriction<'a>)> {
        self.search
            .clauses()
            .flat_map(|clause| clause.conditions().map(move |condition| (clause.column(), condition)))
    }

    /// The conditions on a key column, counted from 0.
    pub(crate) fn conditions(&self, column: usize) -> impl Iterator<Item = Node<'a>> {
        let of_column = self.all_conditions().filter(move |&(of, _)| of == column);
        of_column.map(|(_, condition)| condition.expr())
    }

    /// The same search with more rows: some conditions are only tested on the rows that the index finds.
    pub(crate) fn finding_more(mut self, factor: f64) -> Self {
        self.rows = (self.rows * factor).min(self.index().tuples().max(1.0));
        self.general.indexSelectivity = (self.general.indexSelectivity * factor).min(1.0);
        self
    }

    pub(crate) fn is_ordered(&self) -> bool {
        !self.search.order_bys().is_empty()
    }

    /// Whether rows are not ordered, or only by the first column.
    pub(crate) fn is_ordered_by_first(&self) -> bool {
        self.search.order_by_columns().all(|column| column == 0)
    }

    /// The number of rows that have to be found until LIMIT is reached, including rows that fail conditions
    /// unknown to the index; 1 if LIMIT is unknown. The planner assumes that every row takes the same time,
    /// but the first rows of an ordered search take most of it. So the estimate puts the cost of these rows
    /// before the first row.
    pub(crate) fn wanted(&self) -> f64 {
        let Some(limit) = self.planner().limit_of_single_relation() else { return 1.0 };
        let all = self.rows.max(1.0);
        (limit * all / self.index().rows_of_table().max(1.0)).clamp(1.0, all)
    }

    /// The estimate for the planner, from the work until the first row and the total work. An array condition
    /// repeats both for each element.
    pub(crate) fn estimate(&self, first: Work, all: Work) -> IndexCost {
        let arrays = self.general.num_sa_scans;
        let operands = self.search.operands_cost();
        let startup = operands + self.cost(first);
        let found = self.rows * arrays * setting!(cpu_index_tuple_cost);
        IndexCost {
            startup,
            total: startup.max(operands + self.cost(all) * arrays + found),
            selectivity: self.general.indexSelectivity,
            pages: (all.pages + all.in_order) * arrays,
        }
    }

    /// The cost of one search. Later searches find pages in memory that earlier ones have read.
    fn cost(&self, work: Work) -> f64 {
        let searches = self.search.loop_count() * self.general.num_sa_scans;
        let fetched = self.pages_fetched(work.pages, searches);
        let in_order = self.pages_fetched(work.in_order, searches);
        let operators = (work.pages + work.in_order) * OPERATORS_PER_PAGE + work.operators;
        fetched * self.general.spc_random_page_cost
            + in_order * setting!(seq_page_cost)
            + operators * setting!(cpu_operator_cost)
    }

    /// How many pages each of several searches has to fetch, if each of them reads `pages`.
    fn pages_fetched(&self, pages: f64, searches: f64) -> f64 {
        let index = self.index();
        if searches <= 1.0 {
            return pages.min(index.pages().into());
        }
        self.planner().pages_fetched(index, (pages * searches).max(1.0)) / searches
    }
}
