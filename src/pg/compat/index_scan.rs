//! How a scan of an index begins, which PostgreSQL 18 and 19 have changed.

use pgrx::pg_sys;

/// Begins a search of an index for a bitmap of rows, by one key. Since 18, it may be instrumented.
///
/// # Safety
/// The index must be open and locked, and the snapshot an active one.
pub(crate) unsafe fn begin_bitmap_scan(
    index: pg_sys::Relation,
    snapshot: pg_sys::Snapshot,
) -> pg_sys::IndexScanDesc {
    // SAFETY: as the caller promises.
    #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
    unsafe {
        pg_sys::index_beginscan_bitmap(index, snapshot, 1)
    }
    // SAFETY: as the caller promises.
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
    unsafe {
        pg_sys::index_beginscan_bitmap(index, snapshot, std::ptr::null_mut(), 1)
    }
}

/// Begins a scan of an index that has no keys. Since 18, it may be instrumented, and since 19 has flags.
///
/// # Safety
/// Both must be open and locked, the index one of the table, and the snapshot an active one.
pub(crate) unsafe fn begin_index_scan(
    table: pg_sys::Relation,
    index: pg_sys::Relation,
    snapshot: pg_sys::Snapshot,
) -> pg_sys::IndexScanDesc {
    // SAFETY: as the caller promises.
    #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
    unsafe {
        pg_sys::index_beginscan(table, index, snapshot, 0, 0)
    }
    // SAFETY: as the caller promises.
    #[cfg(feature = "pg18")]
    unsafe {
        pg_sys::index_beginscan(table, index, snapshot, std::ptr::null_mut(), 0, 0)
    }
    // SAFETY: as the caller promises.
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
    unsafe {
        pg_sys::index_beginscan(table, index, snapshot, std::ptr::null_mut(), 0, 0, 0)
    }
}
