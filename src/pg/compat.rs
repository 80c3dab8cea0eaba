//! What differs between PostgreSQL 15 and 19: the one place with `cfg(feature = "pg…")`.
//!
//! Each function hides one difference, and says what changed in which version. A condition names the versions
//! before a change, so that versions to come get the new code.

use hamming_index::page::Page;
use pgrx::pg_sys;
use std::ffi::CStr;

mod outer_joins;
mod paths;

pub(crate) use outer_joins::name_outer_joins_of;
pub(crate) use paths::{add_disabled_nodes, disable, nested_loop, set_cost_function};

/// Pauses as VACUUM does. Since 18, it is told whether this is ANALYZE.
///
/// # Safety
/// Nothing may be held that an error would leave behind.
pub(crate) unsafe fn vacuum_delay_point() {
    // SAFETY: nothing is held that an error would leave behind, as the caller promises.
    #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
    unsafe {
        pg_sys::vacuum_delay_point()
    };
    // SAFETY: nothing is held that an error would leave behind, as the caller promises.
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
    unsafe {
        pg_sys::vacuum_delay_point(false)
    };
}

/// Raises an error if the page may lack a row that the snapshot still sees: Postgres's TestForOldSnapshot. Up
/// to 16, `old_snapshot_threshold` allowed to remove such rows early.
///
/// # Safety
/// The relation must be open, the page one of it and locked, and the snapshot one or null.
#[inline]
#[cfg(any(feature = "pg15", feature = "pg16"))]
pub(crate) unsafe fn check_snapshot_age(
    snapshot: pg_sys::Snapshot,
    relation: pg_sys::Relation,
    page: *const Page,
) {
    // SAFETY: the relation is open, the page one of it and locked, and the snapshot one or null, as the
    // caller promises; a setting that does not change; a page begins with its header.
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

/// Since 17, no row is removed early.
///
/// # Safety
/// The snapshot, the relation and the page must be those of a scan.
#[inline]
#[cfg(not(any(feature = "pg15", feature = "pg16")))]
pub(crate) unsafe fn check_snapshot_age(_: pg_sys::Snapshot, _: pg_sys::Relation, _: *const Page) {}

/// The subtransaction in which the relation first got a new file. Since 16, a file's number is a "file
/// locator".
pub(crate) fn new_file_transaction(relation: &pg_sys::RelationData) -> pg_sys::SubTransactionId {
    #[cfg(feature = "pg15")]
    return relation.rd_firstRelfilenodeSubid;
    #[cfg(not(feature = "pg15"))]
    return relation.rd_firstRelfilelocatorSubid;
}

/// Whether no row of a relation of the query may have NULL in the column. Since 17, the planner knows.
///
/// # Safety
/// The relation must be one of the query.
#[cfg(not(any(feature = "pg15", feature = "pg16")))]
pub(crate) unsafe fn is_declared_not_null(
    _: &pg_sys::PlannerInfo,
    relation: &pg_sys::RelOptInfo,
    column: i16,
) -> bool {
    // SAFETY: filled in by the planner.
    unsafe { pg_sys::bms_is_member(column.into(), relation.notnullattnums) }
}

/// Whether no row of a relation of the query may have NULL in the column. Up to 16, the catalog knows. The
/// children of a table that is not partitioned may have NULLs where the table itself may not.
///
/// # Safety
/// The relation must be one of the query.
#[cfg(any(feature = "pg15", feature = "pg16"))]
pub(crate) unsafe fn is_declared_not_null(
    root: &pg_sys::PlannerInfo,
    relation: &pg_sys::RelOptInfo,
    column: i16,
) -> bool {
    // SAFETY: the planner has an entry for each relation, and has locked each table.
    unsafe {
        let table = &**root.simple_rte_array.add(relation.relid as usize);
        let is_one = !table.inh || table.relkind as u8 == pg_sys::RELKIND_PARTITIONED_TABLE;
        is_one
            && column > 0
            && pgrx::PgRelation::open(table.relid)
                .tuple_desc()
                .get(column as usize - 1)
                .is_some_and(|attribute| attribute.attnotnull)
    }
}

/// Looks functions and operators up in `pg_catalog` alone, until the settings are restored. Up to 16,
/// Postgres's own maintenance commands did not do so either.
///
/// # Safety
/// There must be a level of settings that will be ended.
pub(crate) unsafe fn restrict_search_path() {
    // SAFETY: there is a level of settings that will be ended, as the caller promises.
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    unsafe {
        pg_sys::RestrictSearchPath()
    };
}

/// What `pg_stat_user_indexes` says of an index, as this session counts it; None if nothing is counted.
/// Since 16, the field has another name.
///
/// # Safety
/// The index must be open.
unsafe fn counts<'a>(index: pg_sys::Relation) -> Option<&'a mut pg_sys::PgStat_TableCounts> {
    // SAFETY: the index is open, as the caller promises.
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

/// Counts a scan as `idx_scan`. Since 16, the field has another name. Since 18, EXPLAIN shows the number of
/// searches.
///
/// # Safety
/// The scan must have begun, and its index be open.
pub(crate) unsafe fn count_scan(scan: &mut pg_sys::IndexScanDescData) {
    // SAFETY: the scan has begun, and its index is open, as the caller promises.
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

/// Counts a row that a scan has fetched from the table as `idx_tup_fetch`. Since 16, the field has another
/// name.
///
/// # Safety
/// The index must be open.
pub(crate) unsafe fn count_fetch(index: pg_sys::Relation) {
    // SAFETY: the index is open, as the caller promises.
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
    // SAFETY: the index is open, as the caller promises.
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
    // SAFETY: the buffer is pinned by us, as the caller promises.
    #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))]
    unsafe {
        pg_sys::LockBuffer(buffer, lock as i32)
    };
    // SAFETY: the buffer is pinned by us, as the caller promises.
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
    unsafe {
        pg_sys::LockBufferInternal(buffer, lock)
    };
}

/// The position in the log that a page's header says: the higher half first, whatever the order of bytes.
/// Since 19, the header has both halves in one number.
pub(crate) fn page_lsn(written: &pg_sys::PageXLogRecPtr) -> pg_sys::XLogRecPtr {
    #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))]
    let lsn = pg_sys::XLogRecPtr::from(written.xlogid) << 32 | pg_sys::XLogRecPtr::from(written.xrecoff);
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
    let lsn = swap_halves(written.lsn);
    lsn
}

/// A position in the log as a page's header has it.
pub(crate) fn written_lsn(lsn: pg_sys::XLogRecPtr) -> pg_sys::PageXLogRecPtr {
    #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))]
    let written = pg_sys::PageXLogRecPtr { xlogid: (lsn >> 32) as u32, xrecoff: lsn as u32 };
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
    let written = pg_sys::PageXLogRecPtr { lsn: swap_halves(lsn) };
    written
}

/// The number whose higher half comes first in memory, or the number that was written so.
#[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
fn swap_halves(lsn: pg_sys::XLogRecPtr) -> pg_sys::XLogRecPtr {
    if cfg!(target_endian = "little") { lsn.rotate_left(32) } else { lsn }
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
    pub(crate) pass_on: &'a dyn Fn(RelationHook),
}

/// Defines a hook for relations: `relation_hook_function!(fn NAME(call) { … })`. The body sees a
/// [`RelationCall`]. Since 19, PostgreSQL passes other arguments.
#[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))]
macro_rules! relation_hook_function {
    ($(#[$doc:meta])* fn $name:ident($call:ident) $body:block) => {
        $(#[$doc])*
        #[pgrx::pg_guard]
        unsafe extern "C-unwind" fn $name(
            root: *mut pgrx::pg_sys::PlannerInfo,
            table: pgrx::pg_sys::Oid,
            is_parent: bool,
            relation: *mut pgrx::pg_sys::RelOptInfo,
        ) {
            let pass_on = |hook: $crate::pg::compat::RelationHook| {
                if let Some(hook) = hook {
                    // SAFETY: another's hook gets what PostgreSQL passed to ours.
                    unsafe {
                        pgrx::pg_sys::ffi::pg_guard_ffi_boundary(|| hook(root, table, is_parent, relation));
                    }
                }
            };
            let $call =
                $crate::pg::compat::RelationCall { root, relation, is_table: true, pass_on: &pass_on };
            $body
        }
    };
}
#[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
macro_rules! relation_hook_function {
    ($(#[$doc:meta])* fn $name:ident($call:ident) $body:block) => {
        $(#[$doc])*
        #[pgrx::pg_guard]
        unsafe extern "C-unwind" fn $name(
            root: *mut pgrx::pg_sys::PlannerInfo,
            relation: *mut pgrx::pg_sys::RelOptInfo,
            entry: *mut pgrx::pg_sys::RangeTblEntry,
        ) {
            let pass_on = |hook: $crate::pg::compat::RelationHook| {
                if let Some(hook) = hook {
                    // SAFETY: another's hook gets what PostgreSQL passed to ours.
                    unsafe {
                        pgrx::pg_sys::ffi::pg_guard_ffi_boundary(|| hook(root, relation, entry));
                    }
                }
            };
            // SAFETY: the entry of the relation, which the planner does not change until we return.
            let entry = unsafe { &*entry };
            let is_table = entry.rtekind == pgrx::pg_sys::RTEKind::RTE_RELATION;
            let $call = $crate::pg::compat::RelationCall { root, relation, is_table, pass_on: &pass_on };
            $body
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
