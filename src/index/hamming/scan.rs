//! Scans of an index: for rows within a radius, nearest rows, or both.
//!
//! A scan reads the index in batches, and holds no pin on its pages between two of them. Therefore, the
//! condition is rechecked unless the snapshot is an MVCC snapshot: `crates/hamming_index/README.md`
//! ("VACUUM") explains why. [`super::index_only`] returns a row without reading the table.

use super::code::layout_in_use;
use super::filter::{FilterColumns, is_known};
use super::index_only::with_code;
use super::scan_cursor::ScanCursor;
use super::validate::check_operator;
use crate::pg::access_method::{ScanDescriptor, ScanKey, TidBitmap};
use crate::pg::error;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::open_index::OpenIndex;
use crate::pg::report::UnwrapOrReport;
use crate::pg::storage::pages::{Pages, PagesState};
use crate::pg::storage::row_address::tid_of;
use base::grow;
use hamming_index::radius_division::SearchCosts;
use hamming_index::search_cost::leaves_in;
use hamming_index::store::Store;
use hamming_index::{Layout, SearchHit, SharedStretches};
use pgrx::pg_sys::ItemPointerData;

/// A scan for the duration of a call.
type Descriptor<'a> = ScanDescriptor<'a, SharedStretches>;

/// The state of a scan between calls.
pub(super) struct ScanState {
    pages: PagesState,
    costs: SearchCosts,
    filters: FilterColumns,
    /// `None` if no row can match.
    cursor: Option<ScanCursor>,
    /// Whether the operators of the scan keys have been checked. They do not change in a rescan.
    is_checked: bool,
    /// The number of rows of the last batch that have been returned.
    next: usize,
}

impl ScanState {
    pub(super) fn begin(index: OpenIndex<'_>) -> Self {
        let state = PagesState::of(index);
        let pages = Pages::of(index, &state);
        let layout = layout_in_use(index, &pages);
        let costs = SearchCosts::new(layout, leaves_in(pages.pages(), layout));
        drop(pages);
        let filters = FilterColumns::of(index);
        Self { pages: state, costs, filters, cursor: None, is_checked: false, next: 0 }
    }

    /// Begins the search for the scan keys, at first or again.
    pub(super) fn search(&mut self, scan: &Descriptor<'_>) {
        self.next = 0;
        if !self.is_checked {
            scan.keys().chain(scan.order_bys()).for_each(|key| check_key(scan.index(), key));
            self.is_checked = true;
        }
        let pages = Pages::for_scan(scan, &self.pages);
        self.cursor = ScanCursor::begin(&pages, &self.costs, &self.filters, scan);
    }

    /// Gives the descriptor the next row. Returns false after the last one.
    pub(super) fn next(&mut self, scan: &Descriptor<'_>) -> bool {
        if self.next == 0 && self.cursor.as_ref().is_none_or(|cursor| cursor.hits.is_empty()) {
            scan.count();
        }
        let mut next = self.advance(scan);
        while scan.wants_values() && next.is_some_and(|number| !self.is_seen(scan, number)) {
            next = self.advance(scan);
        }
        let Some(number) = next else { return false };
        let Some(cursor) = &self.cursor else { return false };
        let is_rechecked = cursor.needs_recheck() || !scan.has_mvcc_snapshot();
        scan.give_row(tid_of(cursor.hits[number].row), is_rechecked);
        give_distances(scan, cursor, number);
        let layout = self.costs.layout();
        debug_assert!(
            has_codes(layout) || !scan.wants_values(),
            "a scan cannot return codes that the index lacks"
        );
        check_distance(scan, layout, cursor, number);
        if scan.wants_values() {
            match cursor.code(number) {
                Some(words) => with_code(layout, words, |code| scan.give_code(Some(code))),
                None => scan.give_code(None),
            }
        }
        true
    }

    /// Goes on to the next row, and returns its number in the batch.
    fn advance(&mut self, scan: &Descriptor<'_>) -> Option<usize> {
        let cursor = self.cursor.as_mut()?;
        while self.next == cursor.hits.len() {
            self.next = 0;
            let layout = self.costs.layout();
            let looks_at_rows = !layout.is_one_word() && layout.has_word_trees();
            let rows = looks_at_rows.then(|| scan.table_rows());
            let pages = Pages::for_scan(scan, &self.pages);
            if !cursor.next_batch(&pages, layout, rows.as_ref()) {
                return None;
            }
        }
        self.next += 1;
        Some(self.next - 1)
    }

    /// Whether the snapshot of an index-only scan sees a row of the batch.
    fn is_seen(&self, scan: &Descriptor<'_>, number: usize) -> bool {
        let Some(cursor) = &self.cursor else { return false };
        let SearchHit { row, is_seen_by_all, .. } = cursor.hits[number];
        if is_seen_by_all {
            return true;
        }
        // The snapshot may see none of many rows.
        check_for_interrupts();
        scan.table_rows().is_seen(tid_of(row))
    }

    /// Adds all rows to a bitmap. Returns their number.
    pub(super) fn fill(&mut self, scan: &Descriptor<'_>, mut bitmap: TidBitmap<'_>) -> u64 {
        scan.count();
        let Some(cursor) = &mut self.cursor else { return 0 };
        let pages = Pages::for_scan(scan, &self.pages);
        let mut count = 0;
        let mut tids: Vec<ItemPointerData> = Vec::new();
        while cursor.next_batch(&pages, self.costs.layout(), None) {
            tids.clear();
            grow(&mut tids, cursor.hits.len()).unwrap_or_report();
            tids.extend(cursor.hits.iter().map(|hit| tid_of(hit.row)));
            bitmap.add(&mut tids, cursor.needs_recheck());
            count += tids.len() as u64;
        }
        count
    }
}

/// Raises an error if a scan key has an operator that the index does not support.
fn check_key(index: OpenIndex<'_>, key: ScanKey<'_>) {
    if key.column() == 0 {
        check_operator(key, index.class_type(0));
    } else if key.is_order_by() || !is_known(index, key) {
        Err(error::unknown_strategy(key.strategy())).unwrap_or_report()
    }
}

/// Whether the index has the codes of its rows.
fn has_codes(layout: Layout) -> bool {
    layout.is_one_word() || layout.has_code_tree()
}

/// Gives the executor the distances of a row.
///
/// They are exact, and rows are in their order. The executor must not sort: it treats rows whose first
/// distance is NULL as equal, whatever the second one is.
fn give_distances(scan: &Descriptor<'_>, cursor: &ScanCursor, number: usize) {
    for place in 0..scan.count_of_order_bys() {
        let distance = cursor.distance(number, place);
        scan.give_distance(place, distance.map(|distance| distance as i32));
    }
}

/// If the query has a bit string of another length than the index, the distance has to be computed, which
/// raises an error. If the index has codes, that is done here: the executor cannot do so in an index-only
/// scan, and in another scan, it would compute the expression of the code, even for rows that row-level
/// security hides from the role.
fn check_distance(scan: &Descriptor<'_>, layout: Layout, cursor: &ScanCursor, number: usize) {
    let is_ordered = scan.count_of_order_bys() > 0;
    if !is_ordered || cursor.is_exact || cursor.distance(number, 0).is_some() {
        return;
    }
    if !has_codes(layout) {
        scan.recheck_order();
    } else if let Some(words) = cursor.code(number) {
        with_code(layout, words, |code| scan.compare(code));
    }
}
