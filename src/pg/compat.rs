//! What differs between PostgreSQL 15 and 19: the one place with `cfg(feature = "pg…")`.
//!
//! Each function hides one difference, and says what changed in which version. A condition names the versions
//! before a change, so that versions to come get the new code.

use hamming_index::page::Page;
use pgrx::pg_sys;
use std::ffi::{CStr, c_void};

mod outer_joins;
mod paths;

pub(crate) use outer_joins::name_outer_joins_of;
pub(crate) use paths::{add_disabled_nodes, disable, nested_loop, set_cost_function};

/// Pauses as VACUUM does, which may raise an error. Since 18, PostgreSQL is told whether this is ANALYZE.
pub(crate) fn vacuum_delay_point() {
    // SAFETY: an error unwinds through the caller.
    unsafe {
        #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
        pg_sys::vacuum_delay_point();
        #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
        pg_sys::vacuum_delay_point(false);
    }
}

/// Raises an error if the page may lack a row that the snapshot still sees: Postgres's TestForOldSnapshot. Up
/// to 16, `old_snapshot_threshold` allowed to remove such rows early; since 17, no row is removed early.
///
/// # Safety
/// The relation must be open, the page one of it and locked, and the snapshot one or null.
#[inline]
pub(crate) unsafe fn check_snapshot_age(
    snapshot: pg_sys::Snapshot,
    relation: pg_sys::Relation,
    page: *const Page,
) {
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    let _ = (snapshot, relation, page);
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    // SAFETY: as promised; a setting that does not change; a page begins with its header.
    unsafe {
        if pg_sys::old_snapshot_threshold < 0 || snapshot.is_null() {
            return;
        }
        let lsn = page_lsn(&(*page.cast::<pg_sys::PageHeaderData>()).pd_lsn);
        let is_mvcc = (*snapshot).snapshot_type == pg_sys::SnapshotType::SNAPSHOT_MVCC;
        if is_mvcc && (*snapshot).lsn != 0 && lsn > (*snapshot).lsn {
            pg_sys::TestForOldSnapshot_impl(snapshot, relation);
        }
    }
}

/// The subtransaction in which the relation first got a new file. Since 16, a file's number is a "file
/// locator".
pub(crate) fn new_file_transaction(relation: &pg_sys::RelationData) -> pg_sys::SubTransactionId {
    #[cfg(feature = "pg15")]
    return relation.rd_firstRelfilenodeSubid;
    #[cfg(not(feature = "pg15"))]
    return relation.rd_firstRelfilelocatorSubid;
}

/// Whether no row of a relation of the query may have NULL in the column. Since 17, the planner knows. Up to
/// 16, the catalog knows. The children of a table that is not partitioned may have NULLs where the table
/// itself may not.
pub(crate) fn is_declared_not_null(
    _root: &pg_sys::PlannerInfo,
    relation: &pg_sys::RelOptInfo,
    column: i16,
) -> bool {
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    // SAFETY: filled in by the planner.
    return unsafe { pg_sys::bms_is_member(column.into(), relation.notnullattnums) };
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    // SAFETY: the planner has an entry for each relation, and has locked each table.
    unsafe {
        let table = &**_root.simple_rte_array.add(relation.relid as usize);
        let is_one = !table.inh || table.relkind as u8 == pg_sys::RELKIND_PARTITIONED_TABLE;
        is_one
            && column > 0
            && pgrx::PgRelation::open(table.relid)
                .tuple_desc()
                .get(column as usize - 1)
                .is_some_and(|attribute| attribute.attnotnull)
    }
}

/// Looks functions and operators up in `pg_catalog` alone, until the caller ends the level of settings. Up to
/// 16, Postgres's own maintenance commands did not do so either.
pub(crate) fn restrict_search_path() {
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    // SAFETY: changes a setting.
    unsafe {
        pg_sys::RestrictSearchPath()
    };
}

/// What `pg_stat_user_indexes` says of an index, as this session counts it; None if nothing is counted.
/// Since 16, this field and those in it have other names.
///
/// # Safety
/// The index must be open.
unsafe fn counts<'a>(index: pg_sys::Relation) -> Option<&'a mut pg_sys::PgStat_TableCounts> {
    // SAFETY: open.
    unsafe {
        let index = &mut *index;
        if index.pgstat_info.is_null() && index.pgstat_enabled {
            pg_sys::pgstat_assoc_relation(index);
        }
        let statistics = index.pgstat_info.as_mut()?;
        #[cfg(feature = "pg15")]
        return Some(&mut statistics.t_counts);
        #[cfg(not(feature = "pg15"))]
        Some(&mut statistics.counts)
    }
}

/// Says how much memory the processes of a scan share. Since 17 and 18, PostgreSQL says more of the scan.
pub(crate) unsafe extern "C-unwind" fn size_shared<T>(
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))] _index: pg_sys::Relation,
    #[cfg(not(any(feature = "pg15", feature = "pg16")))] _keys: i32,
    #[cfg(not(any(feature = "pg15", feature = "pg16")))] _order_bys: i32,
) -> pg_sys::Size {
    size_of::<T>()
}

/// That memory; null if there is one process. Since 18, PostgreSQL has memory of its own there as well.
///
/// # Safety
/// The scan must have begun.
pub(crate) unsafe fn shared_by_scan(scan: &pg_sys::IndexScanDescData) -> *mut c_void {
    // SAFETY: null, or the memory that Postgres describes.
    unsafe {
        let Some(shared) = scan.parallel_scan.as_mut() else { return std::ptr::null_mut() };
        #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
        let offset = shared.ps_offset;
        #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
        let offset = shared.ps_offset_am;
        (&raw mut *shared).cast::<u8>().add(offset).cast()
    }
}

/// Counts a scan as `idx_scan`. Since 18, EXPLAIN shows the number of searches.
///
/// # Safety
/// The scan must have begun, and its index be open.
pub(crate) unsafe fn count_scan(scan: &mut pg_sys::IndexScanDescData) {
    // SAFETY: as promised.
    unsafe {
        if let Some(counts) = counts(scan.indexRelation) {
            #[cfg(feature = "pg15")]
            let scans = &mut counts.t_numscans;
            #[cfg(not(feature = "pg15"))]
            let scans = &mut counts.numscans;
            *scans += 1;
        }
        #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
        if let Some(instrument) = scan.instrument.as_mut() {
            instrument.nsearches += 1;
        }
    }
}

/// Counts a row that a scan has fetched from the table as `idx_tup_fetch`.
///
/// # Safety
/// The index must be open.
pub(crate) unsafe fn count_fetch(index: pg_sys::Relation) {
    // SAFETY: open.
    if let Some(counts) = unsafe { counts(index) } {
        #[cfg(feature = "pg15")]
        let fetched = &mut counts.t_tuples_fetched;
        #[cfg(not(feature = "pg15"))]
        let fetched = &mut counts.tuples_fetched;
        *fetched += 1;
    }
}

/// Pins a page of an index if it is in this buffer, and counts that for `pg_statio_user_indexes`, which
/// Postgres leaves to us.
///
/// # Safety
/// The index must be open.
#[inline]
pub(crate) unsafe fn read_recent_buffer(
    index: pg_sys::Relation,
    block: pg_sys::BlockNumber,
    buffer: pg_sys::Buffer,
) -> bool {
    // SAFETY: open.
    unsafe {
        #[cfg(feature = "pg15")]
        let file = (*index).rd_node;
        #[cfg(not(feature = "pg15"))]
        let file = (*index).rd_locator;
        if !pg_sys::ReadRecentBuffer(file, pg_sys::ForkNumber::MAIN_FORKNUM, block, buffer) {
            return false;
        }
        if let Some(counts) = counts(index) {
            #[cfg(feature = "pg15")]
            let (fetched, hit) = (&mut counts.t_blocks_fetched, &mut counts.t_blocks_hit);
            #[cfg(not(feature = "pg15"))]
            let (fetched, hit) = (&mut counts.blocks_fetched, &mut counts.blocks_hit);
            *fetched += 1;
            *hit += 1;
        }
        true
    }
}

/// Locks a page in a buffer. Since 19, PostgreSQL's own function is inline, and so not in its library.
///
/// # Safety
/// The buffer must be pinned by us.
#[inline]
pub(crate) unsafe fn lock_buffer(buffer: pg_sys::Buffer, lock: u32) {
    // SAFETY: pinned.
    unsafe {
        #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))]
        pg_sys::LockBuffer(buffer, lock as i32);
        #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
        pg_sys::LockBufferInternal(buffer, lock);
    }
}

/// The position in the log that a page's header says: the higher half first, whatever the order of bytes. Up
/// to 18, the header has two numbers for that, since 19 one.
pub(crate) fn page_lsn(written: &pg_sys::PageXLogRecPtr) -> pg_sys::XLogRecPtr {
    // SAFETY: eight bytes, which are two numbers.
    let [high, low]: [u32; 2] = unsafe { std::mem::transmute_copy(written) };
    u64::from(high) << 32 | u64::from(low)
}

/// A position in the log as a page's header has it.
pub(crate) fn written_lsn(lsn: pg_sys::XLogRecPtr) -> pg_sys::PageXLogRecPtr {
    // SAFETY: eight bytes, which are two numbers.
    unsafe { std::mem::transmute_copy(&[(lsn >> 32) as u32, lsn as u32]) }
}

/// Gives PostgreSQL what it knows of an access method. Since 19, it keeps the pointer. Up to 18, it frees
/// what it got.
pub(crate) fn give_routine(routine: &'static pg_sys::IndexAmRoutine) -> *const pg_sys::IndexAmRoutine {
    #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))]
    // SAFETY: as much memory as the copy takes, which the caller of the handler owns.
    let given = unsafe {
        let copy = pg_sys::palloc(size_of::<pg_sys::IndexAmRoutine>()).cast();
        std::ptr::copy_nonoverlapping(routine, copy, 1);
        copy
    };
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
    let given = routine;
    given
}

/// The hook that the planner calls for each relation of a query. Since 19, it is another one.
#[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))]
pub(crate) type RelationHook = pg_sys::get_relation_info_hook_type;
/// The hook that the planner calls for each relation of a query, and for whatever else is in FROM.
#[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
pub(crate) type RelationHook = pg_sys::build_simple_rel_hook_type;

/// Where PostgreSQL looks for the hook.
pub(crate) fn relation_hook() -> *mut RelationHook {
    #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))]
    let hook = &raw mut pg_sys::get_relation_info_hook;
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
    let hook = &raw mut pg_sys::build_simple_rel_hook;
    hook
}

/// A call of the hook for something in FROM.
pub(crate) struct RelationCall<'a> {
    pub(crate) root: *mut pg_sys::PlannerInfo,
    pub(crate) relation: *mut pg_sys::RelOptInfo,
    /// Since 19, the hook is called for what is no table, too.
    pub(crate) is_table: bool,
    /// Calls another's hook with the same arguments.
    pub(crate) call_next: &'a dyn Fn(RelationHook),
}

/// Defines a hook for relations, which calls a function of ours with a [`RelationCall`]. Since 19, PostgreSQL
/// passes other arguments.
macro_rules! relation_hook_function {
    ($name:ident, $ours:path) => {
        #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))]
        #[pgrx::pg_guard]
        unsafe extern "C-unwind" fn $name(
            root: *mut pgrx::pg_sys::PlannerInfo,
            table: pgrx::pg_sys::Oid,
            is_parent: bool,
            relation: *mut pgrx::pg_sys::RelOptInfo,
        ) {
            use pgrx::pg_sys::ffi::pg_guard_ffi_boundary as guarded;
            let call_next = |hook: $crate::pg::compat::RelationHook| {
                // SAFETY: another's hook gets what PostgreSQL passed to ours.
                hook.map(|hook| unsafe { guarded(|| hook(root, table, is_parent, relation)) });
            };
            $ours($crate::pg::compat::RelationCall { root, relation, is_table: true, call_next: &call_next });
        }

        #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
        #[pgrx::pg_guard]
        unsafe extern "C-unwind" fn $name(
            root: *mut pgrx::pg_sys::PlannerInfo,
            relation: *mut pgrx::pg_sys::RelOptInfo,
            entry: *mut pgrx::pg_sys::RangeTblEntry,
        ) {
            use pgrx::pg_sys::ffi::pg_guard_ffi_boundary as guarded;
            let call_next = |hook: $crate::pg::compat::RelationHook| {
                // SAFETY: another's hook gets what PostgreSQL passed to ours.
                hook.map(|hook| unsafe { guarded(|| hook(root, relation, entry)) });
            };
            // SAFETY: the entry of the relation, which the planner does not change until we return.
            let is_table = unsafe { (*entry).rtekind } == pgrx::pg_sys::RTEKind::RTE_RELATION;
            $ours($crate::pg::compat::RelationCall { root, relation, is_table, call_next: &call_next });
        }
    };
}
pub(crate) use relation_hook_function;

/// Describes an option of an index. Since 18, a description has one field more.
#[allow(clippy::needless_update, reason = "up to PostgreSQL 17 all fields are named here")]
pub(crate) fn index_option(
    name: &'static CStr,
    type_: pg_sys::relopt_type::Type,
    offset: usize,
) -> pg_sys::relopt_parse_elt {
    pg_sys::relopt_parse_elt {
        optname: name.as_ptr(),
        opttype: type_,
        offset: offset as i32,
        ..Default::default()
    }
}

/// Where a projection says that its value is NULL. Since 18 it has none, and may not say so.
pub(crate) fn null_of_projection(_is_null: &mut bool) -> *mut bool {
    #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
    return _is_null;
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
    return std::ptr::null_mut();
}
