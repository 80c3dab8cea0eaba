//! Scans of an index: for rows within a radius, nearest rows, or both.
//!
//! A scan reads the index in batches, and holds no pin on its pages between two of them. Therefore, the
//! condition is rechecked unless the snapshot is an MVCC snapshot: `crates/hamming_index/README.md`
//! ("VACUUM") explains why. [`super::index_only`] returns a row without reading the table.

use super::code::layout_in_use;
use super::filter::{FilterColumns, is_known};
use super::index_only::{datum_of, set_row};
use super::row::tid_of;
use super::scan_cursor::ScanCursor;
use super::validate::check_operator;
use crate::pg::compat::count_scan;
use crate::pg::error;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::memory::small_context;
use crate::pg::open_index::OpenIndex;
use crate::pg::report::UnwrapOrReport;
use crate::pg::scan_memory::{ScanLife, ScanStretches};
use crate::pg::storage::pages::Pages;
use crate::pg::table_rows::TableRows;
use base::grow;
use hamming_index::radius_division::SearchCosts;
use hamming_index::search_cost::leaves_in;
use hamming_index::store::Store;
use hamming_index::{Layout, SearchHit, SharedStretches, StretchAccess};
use pgrx::{PgMemoryContexts, pg_guard, pg_sys};
use std::ffi::c_void;

/// The state of a scan between calls.
struct ScanState {
    /// The memory context of this state, which is deleted with it.
    memory: pg_sys::MemoryContext,
    /// Dropped with this state, before the memory that a parallel scan shares is detached.
    life: ScanLife,
    pages: Pages,
    costs: SearchCosts,
    filters: FilterColumns,
    /// `None` if no row can match.
    cursor: Option<ScanCursor>,
    /// Reads rows of the table; `None` until it is needed.
    rows: Option<TableRows>,
    /// Whether the operators of the scan keys have been checked. They do not change in a rescan.
    is_checked: bool,
    /// The number of rows of the last batch that have been returned.
    next: usize,
}

impl ScanState {
    /// Goes on to the next row, and returns its number in the batch.
    fn advance(&mut self) -> Option<usize> {
        let cursor = self.cursor.as_mut()?;
        while self.next == cursor.hits.len() {
            self.next = 0;
            let is_more = cursor.next_batch(&self.pages, self.costs.layout(), self.rows.as_ref());
            self.pages.visibility.release();
            if !is_more {
                return None;
            }
        }
        self.next += 1;
        Some(self.next - 1)
    }

    /// Whether the snapshot of an index-only scan sees a row of the batch.
    ///
    /// # Safety
    /// The scan must be the one with this state.
    unsafe fn is_seen(&mut self, scan: pg_sys::IndexScanDesc, number: usize) -> bool {
        let Some(cursor) = &self.cursor else { return false };
        let SearchHit { row, is_seen_by_all, .. } = cursor.hits[number];
        if is_seen_by_all {
            return true;
        }
        // The snapshot may see none of many rows.
        check_for_interrupts();
        // SAFETY: an index-only scan returns rows, and keeps this state until it ends.
        unsafe { self.look_at_rows(scan).is_seen(tid_of(row)) }
    }

    /// The rows of the table.
    ///
    /// # Safety
    /// The scan must return rows, and be the one with this state.
    unsafe fn look_at_rows(&mut self, scan: pg_sys::IndexScanDesc) -> &TableRows {
        // SAFETY: the scan returns rows, as the caller promises, and keeps this state until it ends.
        self.rows.get_or_insert_with(|| unsafe {
            let keys = slice((*scan).keyData, (*scan).numberOfKeys);
            let reads_code = (*scan).numberOfOrderBys > 0 || keys.iter().any(|key| key.sk_attno == 1);
            let column = OpenIndex::new((*scan).indexRelation).column_number().filter(|_| reads_code);
            let code = column.map(|number| number as usize - 1);
            PgMemoryContexts::For(self.memory).switch_to(|_| TableRows::of(scan, code))
        })
    }
}

/// # Safety
/// The scan must be one that [`ambeginscan`] has begun.
unsafe fn state<'a>(scan: pg_sys::IndexScanDesc) -> &'a mut ScanState {
    // SAFETY: `ambeginscan` has stored a state there, as the caller promises. It lives until `amendscan`.
    unsafe { &mut *(*scan).opaque.cast() }
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn ambeginscan(
    relation: pg_sys::Relation,
    keys: i32,
    order_bys: i32,
) -> pg_sys::IndexScanDesc {
    // SAFETY: PostgreSQL passes the open index, and keeps it open as long as the scan. The state is dropped
    // with its memory context: by `amendscan`, or after an error with the query's memory context.
    unsafe {
        let scan = pg_sys::RelationGetIndexScan(relation, keys, order_bys);
        (*scan).xs_itupdesc = (*relation).rd_att;
        let (index, pages) = (OpenIndex::new(relation), Pages::of(relation));
        let layout = layout_in_use(index, &pages);
        let costs = SearchCosts::new(layout, leaves_in(pages.pages(), layout));
        // A statement may begin a scan for each of its rows.
        let memory = small_context(c"scan of an index of type hamming");
        let filters = PgMemoryContexts::For(memory).switch_to(|_| FilterColumns::of(index));
        let state = ScanState {
            memory,
            life: ScanLife::default(),
            pages,
            costs,
            filters,
            cursor: None,
            rows: None,
            is_checked: false,
            next: 0,
        };
        (*scan).opaque = PgMemoryContexts::For(memory).leak_and_drop_on_delete(state).cast();
        if order_bys > 0 {
            let count = order_bys as usize;
            (*scan).xs_orderbyvals = allocate(memory, size_of::<pg_sys::Datum>() * count).cast();
            (*scan).xs_orderbynulls = allocate(memory, size_of::<bool>() * count).cast();
        }
        scan
    }
}

/// Zeroed memory in a memory context.
fn allocate(memory: pg_sys::MemoryContext, bytes: usize) -> *mut c_void {
    // SAFETY: the context is alive.
    unsafe { pg_sys::MemoryContextAllocZero(memory, bytes) }
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn amrescan(
    scan: pg_sys::IndexScanDesc,
    keys: pg_sys::ScanKey,
    key_count: i32,
    order_bys: pg_sys::ScanKey,
    order_by_count: i32,
) {
    // SAFETY: PostgreSQL passes the scan, and as many keys as `ambeginscan` was told, or none to keep the old
    // keys.
    unsafe {
        if !keys.is_null() && key_count > 0 {
            keys.copy_to((*scan).keyData, key_count as usize);
        }
        if !order_bys.is_null() && order_by_count > 0 {
            order_bys.copy_to((*scan).orderByData, order_by_count as usize);
        }
        let state = state(scan);
        state.next = 0;
        let descriptor = &*scan;
        let keys = slice(descriptor.keyData, descriptor.numberOfKeys);
        let order_bys = slice(descriptor.orderByData, descriptor.numberOfOrderBys);
        if !state.is_checked {
            let index = OpenIndex::new(descriptor.indexRelation);
            keys.iter().chain(order_bys).for_each(|key| check_key(index, key));
            state.is_checked = true;
        }
        if descriptor.xs_want_itup {
            state.pages.visibility.set_table(descriptor.heapRelation);
        }
        let together = ScanStretches::of(descriptor, &state.life);
        state.cursor = {
            let (costs, filters) = (&state.costs, &state.filters);
            let gives_codes = descriptor.xs_want_itup;
            ScanCursor::begin(&state.pages, costs, filters, keys, order_bys, gives_codes, together)
        };
    }
}

/// Raises an error if a scan key has an operator that the index does not support.
fn check_key(index: OpenIndex<'_>, key: &pg_sys::ScanKeyData) {
    if key.sk_attno == 1 {
        check_operator(key, index.class_type(0));
    } else if key.sk_flags as u32 & pg_sys::SK_ORDER_BY != 0 || !is_known(index, key) {
        Err(error::unknown_strategy(key.sk_strategy as i16)).unwrap_or_report()
    }
}

/// The scan keys as a slice.
///
/// # Safety
/// `keys` must point to `count` keys, unless `count` is 0.
unsafe fn slice<'a>(keys: pg_sys::ScanKey, count: i32) -> &'a [pg_sys::ScanKeyData] {
    if count == 0 {
        return &[];
    }
    // SAFETY: there are `count` keys, as the caller promises.
    unsafe { std::slice::from_raw_parts(keys, count as usize) }
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn amgettuple(
    scan: pg_sys::IndexScanDesc,
    _direction: pg_sys::ScanDirection::Type,
) -> bool {
    // SAFETY: PostgreSQL passes the scan. Rows of the table are read through this pointer as well, so there
    // is no reference to the descriptor until a row has been found.
    unsafe {
        let state = state(scan);
        if state.next == 0 && state.cursor.as_ref().is_none_or(|cursor| cursor.hits.is_empty()) {
            count_scan(&mut *scan);
        }
        state.pages.read_as_of((*scan).xs_snapshot);
        let layout = state.costs.layout();
        if !layout.is_one_word() && layout.has_word_trees() {
            state.look_at_rows(scan);
        }
        let mut next = state.advance();
        while (*scan).xs_want_itup && next.is_some_and(|number| !state.is_seen(scan, number)) {
            next = state.advance();
        }
        let (Some(number), Some(cursor)) = (next, &state.cursor) else { return false };
        let descriptor = &mut *scan;
        descriptor.xs_heaptid = tid_of(cursor.hits[number].row);
        descriptor.xs_recheck = cursor.needs_recheck() || !is_mvcc(descriptor.xs_snapshot);
        set_distances(descriptor, cursor, number);
        let has_codes = layout.is_one_word() || layout.has_code_tree();
        debug_assert!(
            has_codes || !descriptor.xs_want_itup,
            "a scan cannot return codes that the index lacks"
        );
        if has_codes {
            check_distance(descriptor, layout, cursor.code(number));
        }
        if descriptor.xs_want_itup {
            set_row(descriptor, state.memory, layout, cursor.code(number));
        }
        true
    }
}

/// Sets the distances for the executor.
///
/// They are exact, and rows are in their order. The executor must not sort: it treats rows whose first
/// distance is NULL as equal, whatever the second one is. If the query has a bit string of another length
/// than the index, the distance has to be computed, which raises an error.
///
/// # Safety
/// The scan must be one that [`ambeginscan`] has begun.
unsafe fn set_distances(scan: &mut pg_sys::IndexScanDescData, cursor: &ScanCursor, number: usize) {
    for place in 0..scan.numberOfOrderBys as usize {
        let distance = cursor.distance(number, place);
        // SAFETY: the scan has a value and a flag for each distance.
        unsafe {
            *scan.xs_orderbyvals.add(place) = pg_sys::Datum::from(distance.unwrap_or(0) as i32);
            *scan.xs_orderbynulls.add(place) = distance.is_none();
        }
    }
    let is_unknown = scan.numberOfOrderBys > 0 && cursor.distance(number, 0).is_none();
    scan.xs_recheckorderby = is_unknown && !cursor.is_exact;
}

/// Raises the error of computing a distance in place of the executor. The executor cannot do so in an
/// index-only scan. In another scan, it would compute the expression of the code, even for rows that
/// row-level security hides from the role.
///
/// # Safety
/// The scan must be one that [`ambeginscan`] has begun, and must have found the row with the code.
unsafe fn check_distance(scan: &mut pg_sys::IndexScanDescData, layout: Layout, code: Option<&[u64]>) {
    if !scan.xs_recheckorderby {
        return;
    }
    scan.xs_recheckorderby = false;
    if let Some(code) = code {
        // SAFETY: the scan is ordered by the distance from a code that is not NULL.
        unsafe {
            let order_by = &mut *scan.orderByData;
            let (function, collation) = (&raw mut order_by.sk_func, order_by.sk_collation);
            pg_sys::FunctionCall2Coll(function, collation, datum_of(layout, code), order_by.sk_argument);
        }
    }
}

/// Whether a snapshot is an MVCC snapshot.
///
/// # Safety
/// The pointer must be null or point to a snapshot.
unsafe fn is_mvcc(snapshot: pg_sys::Snapshot) -> bool {
    use pg_sys::SnapshotType::{SNAPSHOT_HISTORIC_MVCC, SNAPSHOT_MVCC};
    // SAFETY: null or a snapshot, as the caller promises.
    let kind = unsafe { snapshot.as_ref() }.map(|snapshot| snapshot.snapshot_type);
    kind.is_some_and(|kind| kind == SNAPSHOT_MVCC || kind == SNAPSHOT_HISTORIC_MVCC)
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn amgetbitmap(
    scan: pg_sys::IndexScanDesc,
    bitmap: *mut pg_sys::TIDBitmap,
) -> i64 {
    // SAFETY: PostgreSQL passes the scan and a bitmap.
    unsafe {
        count_scan(&mut *scan);
        let state = state(scan);
        state.pages.read_as_of((*scan).xs_snapshot);
        let Some(cursor) = &mut state.cursor else { return 0 };
        let mut count = 0;
        let mut tids: Vec<pg_sys::ItemPointerData> = Vec::new();
        while cursor.next_batch(&state.pages, state.costs.layout(), None) {
            tids.clear();
            grow(&mut tids, cursor.hits.len()).unwrap_or_report();
            tids.extend(cursor.hits.iter().map(|hit| tid_of(hit.row)));
            pg_sys::tbm_add_tuples(bitmap, tids.as_mut_ptr(), tids.len() as i32, cursor.needs_recheck());
            count += tids.len() as i64;
        }
        count
    }
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn amendscan(scan: pg_sys::IndexScanDesc) {
    // SAFETY: PostgreSQL passes the scan, whose state nobody uses any more.
    unsafe {
        let state = state(scan);
        if let Some(rows) = state.rows.take() {
            rows.release();
        }
        pg_sys::MemoryContextDelete(state.memory);
    }
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn aminitparallelscan(target: *mut c_void) {
    // SAFETY: PostgreSQL reserves as much memory as `size_shared` returns, aligned for any type.
    unsafe { target.cast::<SharedStretches>().write(SharedStretches::default()) }
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn amparallelrescan(scan: pg_sys::IndexScanDesc) {
    // SAFETY: PostgreSQL passes a scan that has begun, and that has a state.
    let stretches = unsafe { ScanStretches::of(&*scan, &state(scan).life) };
    stretches.into_iter().for_each(|stretches| stretches.with(SharedStretches::reset));
}
