//! What differs between PostgreSQL 14 and 18: the one file with `cfg(feature = "pg…")`.
//!
//! Each function hides one difference, and says what changed in which version.

use hamming_index::page::Page;
use pgrx::pg_sys;

/// Pauses as VACUUM does. Since 18, it is told whether this is ANALYZE.
///
/// # Safety
/// Nothing may be held that an error would leave behind.
pub(crate) unsafe fn vacuum_delay_point() {
    // SAFETY: promised by the caller.
    #[cfg(not(feature = "pg18"))]
    unsafe {
        pg_sys::vacuum_delay_point()
    };
    // SAFETY: promised by the caller.
    #[cfg(feature = "pg18")]
    unsafe {
        pg_sys::vacuum_delay_point(false)
    };
}

/// Raises an error if the page may lack a row that the snapshot still sees: Postgres's TestForOldSnapshot. Up to 16,
/// `old_snapshot_threshold` allowed to remove such rows early.
///
/// # Safety
/// The relation must be open, the page one of it and locked, and the snapshot one or null.
#[inline]
#[cfg(any(feature = "pg14", feature = "pg15", feature = "pg16"))]
pub(crate) unsafe fn check_snapshot_age(
    snapshot: pg_sys::Snapshot,
    relation: pg_sys::Relation,
    page: *const Page,
) {
    // SAFETY: promised by the caller; a setting that does not change; a page begins with its header.
    unsafe {
        if pg_sys::old_snapshot_threshold < 0 || snapshot.is_null() {
            return;
        }
        let lsn = (*page.cast::<pg_sys::PageHeaderData>()).pd_lsn;
        let lsn = pg_sys::XLogRecPtr::from(lsn.xlogid) << 32 | pg_sys::XLogRecPtr::from(lsn.xrecoff);
        let is_mvcc = (*snapshot).snapshot_type == pg_sys::SnapshotType::SNAPSHOT_MVCC;
        if is_mvcc && (*snapshot).lsn != 0 && lsn > (*snapshot).lsn {
            pg_sys::TestForOldSnapshot_impl(snapshot, relation);
        }
    }
}

/// Since 17, no row is removed early.
#[inline]
#[cfg(not(any(feature = "pg14", feature = "pg15", feature = "pg16")))]
pub(crate) unsafe fn check_snapshot_age(_: pg_sys::Snapshot, _: pg_sys::Relation, _: *const Page) {}

/// The subtransaction in which the relation first got a new file. Since 16, a file's number is a "file locator".
pub(crate) fn new_file_transaction(relation: &pg_sys::RelationData) -> pg_sys::SubTransactionId {
    #[cfg(any(feature = "pg14", feature = "pg15"))]
    return relation.rd_firstRelfilenodeSubid;
    #[cfg(not(any(feature = "pg14", feature = "pg15")))]
    return relation.rd_firstRelfilelocatorSubid;
}
