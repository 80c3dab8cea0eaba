//! The planner's costs of a scan. How many leaves it reads is computed from the size of the index and the
//! radius, as the search itself computes it.

use super::code::layout_of;
use super::filter_selectivity::FilterSelectivity;
use super::scan_cursor::max_sorted;
use crate::estimate::condition::PathConditions;
use crate::estimate::path_cost::{CostedPath, OPERATORS_PER_PAGE, Work};
use crate::pg::code::CodeType;
use crate::pg::index_cost::{IndexCost, PathCost, PlannedSearch};
use crate::pg::open_index::with_planned_index;
use crate::pg::planned_index::PlannedIndex;
use crate::pg::settings::setting;
use crate::pg::storage::pages::{Pages, PagesState};
use hamming_index::Layout;
use hamming_index::key::Filter;
use hamming_index::page::LEAF_CAPACITY;
use hamming_index::radius_division::{CODES_PER_LEAF, SearchCosts};
use hamming_index::search_cost::{ExpectedWork, leaves_in, levels_above};

/// Fingerprints that are compared in the time of one operator. Comparing the 582 fingerprints of a page takes
/// some 0.15 µs. An operator takes some 0.016 µs: a sequential scan takes 0.08 µs for a row, at a cost of
/// five operators.
const COMPARISONS_PER_OPERATOR: f64 = 64.0;

/// The time to begin a search, in operators: 1 to 3 µs, measured with an index of one leaf.
const OPERATORS_PER_SEARCH: f64 = 100.0;

/// The time to return a row that may match, in operators: what PostgreSQL charges for a row that an index
/// finds.
const OPERATORS_PER_CANDIDATE: f64 = 2.0;

/// The cost of starting workers in addition to `parallel_setup_cost`, in multiples of it. It takes 5.5 ms,
/// and a new process has to find every page in PostgreSQL's table of buffers. A search among whole codes
/// takes 0.8 µs for each unit of its cost.
const FURTHER_SETUP: f64 = 9.0;

/// What a search costs.
pub(super) fn estimate(path: &CostedPath) -> IndexCost {
    let layout = layout(path.index());
    let conditions = PathConditions::of(path, 0);
    if !path.is_ordered_by_first() {
        return IndexCost::NEVER;
    }
    let tree_leaves = leaves_in(path.index().pages(), layout);
    let filter = FilterSelectivity::of(path);
    let mut path = path.clone();
    let mut costs = SearchCosts::new(layout, tree_leaves);
    if filter.is_complete {
        let leaves = tree_leaves * layout.leaves_per_band(layout.filter_tree()) * filter.selectivity;
        costs = costs.of_filter(Filter::NONE, leaves.max(1.0));
    } else if filter.selectivity < 1.0 {
        // Conditions that do not choose a part of the tree of further columns are checked for the rows found.
        path = path.finding_more(1.0 / filter.selectivity);
    }
    // The pages from the root of each tree to its first leaf.
    let descent = layout.bands() as f64 * levels_above(tree_leaves) * OPERATORS_PER_PAGE;
    let radius = conditions.radius.unwrap_or(layout.bits());
    if path.is_ordered() {
        let [first, all] = [path.wanted(), path.rows.max(1.0)].map(|wanted| {
            let expected = costs.nearest(wanted, radius, max_sorted(0));
            comparing(expected, descent + expected.fetched * OPERATORS_PER_CANDIDATE)
        });
        return path.estimate(first, all);
    }
    // The rows whose code is NULL are in leaves of their own.
    let of_nulls = (path.rows / LEAF_CAPACITY as f64).max(1.0);
    let expected = match conditions.is_null {
        true => ExpectedWork { leaves: of_nulls, ..ExpectedWork::default() },
        false => costs.expected(radius),
    };
    // If codes have several words, more rows than match are fetched from the table.
    let all = comparing(expected, expected.fetched * OPERATORS_PER_CANDIDATE);
    let mut estimate = path.estimate(Work::default(), all);
    let fetched = (expected.fetched / path.index().tuples().max(1.0)).min(1.0);
    estimate.selectivity = estimate.selectivity.max(fetched);
    estimate
}

/// Sets the cost of a parallel scan to that of one process. If the index has a tree of whole codes, the
/// processes divide it among themselves.
pub(crate) fn divide_cost(search: PlannedSearch<'_>) {
    let path = CostedPath::of(search);
    let is_divided = layout(search.index()).has_code_tree() && !PathConditions::of(&path, 0).is_null;
    if !is_divided || search.cost_of_index() == f64::MAX {
        return;
    }
    // PostgreSQL counts the leader as less than a process, since it also collects the workers' rows.
    let workers = f64::from(search.workers());
    let leader = if setting!(parallel_leader_participation) { (1.0 - 0.3 * workers).max(0.0) } else { 0.0 };
    let starting = FURTHER_SETUP * setting!(parallel_setup_cost);
    let part = 1.0 / (workers + leader);
    let PathCost { startup, total } = search.path_cost();
    search.set_path_cost(PathCost {
        startup: starting + startup * part,
        total: total + starting - search.cost_of_index() * (1.0 - part),
    });
}

/// The layout of the index that is searched.
fn layout(planned: PlannedIndex<'_>) -> Layout {
    if CodeType::of(planned.first_type()).is_none_or(CodeType::is_integer) {
        let has_filter = planned.key_columns() > 1;
        return if has_filter { Layout::FINGERPRINTS.with_filter() } else { Layout::FINGERPRINTS };
    }
    with_planned_index(planned, |index| layout_of(index, &Pages::of(index, &PagesState::of(index))))
}

/// The work of a search that reads leaves and compares codes, with further operators.
fn comparing(expected: ExpectedWork, further_operators: f64) -> Work {
    let leaves = expected.leaves + expected.codes * CODES_PER_LEAF;
    let compared = leaves * LEAF_CAPACITY as f64 / COMPARISONS_PER_OPERATOR;
    let operators = OPERATORS_PER_SEARCH + compared + further_operators;
    Work { pages: expected.leaves, in_order: expected.codes, operators }
}
