//! Searching: ranges, nearest neighbours, and both together.
//!
//! A scan takes its matches from the index in batches and holds no page between two of them. So a row may be
//! vacuumed, and its place be taken by another, before the executor looks at it. For snapshots of the usual
//! kind (MVCC) that other row is too young to be seen; for others the row's value is checked again.
//! Index-only scans are not offered, since they would not look at the row at all.

use super::row::tid_of;
use super::validate::check_operator;
use crate::ball::HammingBall;
use crate::pg::catalog::strategy::{EQUAL, WITHIN_BALL};
use crate::pg::compat::count_scan;
use crate::pg::error;
use crate::pg::storage::pages::Pages;
use hamming_index::cost::leaves_in;
use hamming_index::store::Store;
use hamming_index::{Ball, Hit, Index, Query, Search};
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::{PgMemoryContexts, pg_guard, pg_sys};
use std::ffi::c_void;

/// Memory that a row of a sorted result takes at most. Up to twice the wanted number of rows is found before
/// the rest is cut off, each row in a buffer that has doubled, and once more as a hit.
pub(super) const BYTES_PER_SORTED: usize = 128;

/// What is kept of a scan between calls.
struct Scan {
    /// Holds this state, and is deleted with it.
    memory: pg_sys::MemoryContext,
    pages: Pages,
    /// The fingerprints from which rows are ordered by distance; None where the query says NULL.
    centers: Vec<Option<u64>>,
    /// None if no row can match.
    search: Option<Search>,
    tree_leaves: f64,
    /// Whether the operators of its keys are known to be ours. A scan that is begun again has the same
    /// operators.
    is_checked: bool,
    /// The matches of the last batch; from `next` on, they are not yet returned.
    hits: Vec<Hit>,
    next: usize,
}

impl Scan {
    /// Goes on to the next match.
    fn advance(&mut self) -> Option<Hit> {
        while self.next == self.hits.len() {
            self.hits.clear();
            self.next = 0;
            if !self.search.as_mut()?.next_batch(&Index::new(&self.pages), &mut self.hits) {
                return None;
            }
        }
        self.next += 1;
        self.hits.get(self.next - 1).copied()
    }
}

/// # Safety
/// The scan must be one that [`ambeginscan`] has begun.
unsafe fn state<'a>(scan: pg_sys::IndexScanDesc) -> &'a mut Scan {
    // SAFETY: promised by the caller; it lives as long as the memory that the scan was begun in.
    unsafe { &mut *(*scan).opaque.cast() }
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn ambeginscan(
    index: pg_sys::Relation,
    keys: i32,
    order_bys: i32,
) -> pg_sys::IndexScanDesc {
    // SAFETY: Postgres passes the open index and keeps it open as long as the scan. What we keep is dropped
    // with its memory: by amendscan, or after an error with the memory of the query.
    unsafe {
        let scan = pg_sys::RelationGetIndexScan(index, keys, order_bys);
        let pages = Pages::of(index);
        let tree_leaves = leaves_in(pages.pages());
        let memory = scan_memory();
        let (centers, hits) = (Vec::new(), Vec::new());
        let state =
            Scan { memory, pages, centers, search: None, tree_leaves, is_checked: false, hits, next: 0 };
        (*scan).opaque = PgMemoryContexts::For(memory).leak_and_drop_on_delete(state).cast();
        if order_bys > 0 {
            let count = order_bys as usize;
            (*scan).xs_orderbyvals = allocate(memory, size_of::<pg_sys::Datum>() * count).cast();
            (*scan).xs_orderbynulls = allocate(memory, size_of::<bool>() * count).cast();
        }
        scan
    }
}

/// Memory of one scan: a statement may begin one for each of its rows.
fn scan_memory() -> pg_sys::MemoryContext {
    let (least, first, most) = (
        pg_sys::ALLOCSET_SMALL_MINSIZE as usize,
        pg_sys::ALLOCSET_SMALL_INITSIZE as usize,
        pg_sys::ALLOCSET_SMALL_MAXSIZE as usize,
    );
    // SAFETY: makes a child of the current one.
    unsafe {
        let parent = pg_sys::CurrentMemoryContext;
        pg_sys::AllocSetContextCreateInternal(
            parent,
            c"scan of an index of type hamming".as_ptr(),
            least,
            first,
            most,
        )
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
    // SAFETY: Postgres passes the scan, and the number of keys that it was begun with, or none to keep the
    // old keys.
    unsafe {
        let descriptor = &mut *scan;
        if !keys.is_null() && key_count > 0 {
            keys.copy_to(descriptor.keyData, key_count as usize);
        }
        if !order_bys.is_null() && order_by_count > 0 {
            order_bys.copy_to(descriptor.orderByData, order_by_count as usize);
        }
        let state = state(scan);
        state.hits.clear();
        state.next = 0;
        let keys = slice(descriptor.keyData, descriptor.numberOfKeys);
        let order_bys = slice(descriptor.orderByData, descriptor.numberOfOrderBys);
        if !state.is_checked {
            keys.iter().chain(order_bys).for_each(check_operator);
            state.is_checked = true;
        }
        let max_sorted = pg_sys::work_mem as usize * 1024 / BYTES_PER_SORTED;
        state.centers = order_bys.iter().map(center).collect();
        state.search =
            query(keys, &state.centers).map(|query| Search::new(query, state.tree_leaves, max_sorted));
    }
}

/// The keys of a scan.
///
/// # Safety
/// There must be `count` keys.
unsafe fn slice<'a>(keys: pg_sys::ScanKey, count: i32) -> &'a [pg_sys::ScanKeyData] {
    if count == 0 {
        return &[];
    }
    // SAFETY: promised by the caller.
    unsafe { std::slice::from_raw_parts(keys, count as usize) }
}

/// The query that the keys ask, or None if no row can match.
///
/// # Safety
/// Arguments must be of the types that the operator class says.
unsafe fn query(keys: &[pg_sys::ScanKeyData], centers: &[Option<u64>]) -> Option<Query> {
    // All rows are equally far from NULL.
    let nearest_to = centers.iter().flatten().copied().collect();
    let mut query = Query { values: true, nulls: true, nearest_to, ..Query::default() };
    for key in keys {
        let flags = key.sk_flags as u32;
        if flags & pg_sys::SK_SEARCHNULL != 0 {
            query.values = false;
        } else if flags & pg_sys::SK_SEARCHNOTNULL != 0 {
            query.nulls = false;
        } else if flags & pg_sys::SK_ISNULL != 0 {
            return None;
        } else {
            // SAFETY: promised by the caller.
            query.balls.push(unsafe { ball(key) }?);
        }
    }
    Some(query)
}

/// The fingerprint from which a distance is asked.
fn center(order_by: &pg_sys::ScanKeyData) -> Option<u64> {
    let is_null = order_by.sk_flags as u32 & pg_sys::SK_ISNULL != 0;
    (!is_null).then(|| order_by.sk_argument.value() as u64)
}

/// The ball that a key asks for, or None if the ball is empty.
///
/// # Safety
/// The argument must be of the type that the operator class says.
unsafe fn ball(key: &pg_sys::ScanKeyData) -> Option<Ball> {
    match key.sk_strategy as i16 {
        WITHIN_BALL => {
            // SAFETY: promised by the caller.
            let ball: HammingBall = unsafe { key.sk_argument.cast_mut_ptr::<HammingBall>().read() };
            let radius = u32::try_from(ball.radius).ok()?.min(u64::BITS);
            Some(Ball { center: ball.center as u64, radius })
        }
        EQUAL => Some(Ball { center: key.sk_argument.value() as u64, radius: 0 }),
        other => Err(error::unknown_strategy(other)).unwrap_or_report(),
    }
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn amgettuple(
    scan: pg_sys::IndexScanDesc,
    _direction: pg_sys::ScanDirection::Type,
) -> bool {
    // SAFETY: Postgres passes the scan.
    unsafe {
        let state = state(scan);
        let descriptor = &mut *scan;
        if state.next == 0 && state.hits.is_empty() {
            count_scan(descriptor);
        }
        state.pages.read_as_of(descriptor.xs_snapshot);
        let Some(hit) = state.advance() else { return false };
        descriptor.xs_heaptid = tid_of(hit.row);
        descriptor.xs_recheck = !is_mvcc(descriptor.xs_snapshot);
        set_distances(descriptor, hit, &state.centers);
        true
    }
}

/// Tells the executor the distances. They are exact, and rows come in the order of all of them: the executor
/// must not sort anything, for it takes rows whose first distances are NULL for equal, whatever the second
/// ones are.
///
/// # Safety
/// The scan must be one that [`ambeginscan`] has begun, with one distance for each center.
unsafe fn set_distances(scan: &mut pg_sys::IndexScanDescData, hit: Hit, centers: &[Option<u64>]) {
    for (index, &center) in centers.iter().enumerate() {
        let distance = center.zip(hit.fingerprint).map(|(a, b)| (a ^ b).count_ones());
        // SAFETY: the scan has a value and a flag for each distance.
        unsafe {
            *scan.xs_orderbyvals.add(index) = pg_sys::Datum::from(distance.unwrap_or(0) as i32);
            *scan.xs_orderbynulls.add(index) = distance.is_none();
        }
    }
    scan.xs_recheckorderby = false;
}

/// Whether the snapshot sees rows as of one moment.
///
/// # Safety
/// There must be a snapshot, or none.
unsafe fn is_mvcc(snapshot: pg_sys::Snapshot) -> bool {
    use pg_sys::SnapshotType::{SNAPSHOT_HISTORIC_MVCC, SNAPSHOT_MVCC};
    // SAFETY: promised by the caller.
    let kind = unsafe { snapshot.as_ref() }.map(|snapshot| snapshot.snapshot_type);
    kind.is_some_and(|kind| kind == SNAPSHOT_MVCC || kind == SNAPSHOT_HISTORIC_MVCC)
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn amgetbitmap(
    scan: pg_sys::IndexScanDesc,
    bitmap: *mut pg_sys::TIDBitmap,
) -> i64 {
    // SAFETY: Postgres passes the scan, and a bitmap to fill.
    unsafe {
        count_scan(&mut *scan);
        let state = state(scan);
        state.pages.read_as_of((*scan).xs_snapshot);
        let Some(search) = &mut state.search else { return 0 };
        let mut count = 0;
        let mut tids: Vec<pg_sys::ItemPointerData> = Vec::new();
        while search.next_batch(&Index::new(&state.pages), &mut state.hits) {
            tids.clear();
            tids.extend(state.hits.drain(..).map(|hit| tid_of(hit.row)));
            pg_sys::tbm_add_tuples(bitmap, tids.as_mut_ptr(), tids.len() as i32, false);
            count += tids.len() as i64;
        }
        count
    }
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn amendscan(scan: pg_sys::IndexScanDesc) {
    // SAFETY: Postgres passes the scan, and does not look at our state of it any more.
    unsafe { pg_sys::MemoryContextDelete(state(scan).memory) };
}
