//! Differences between PostgreSQL 15 and 19. Only this file and its folder have `cfg(feature = "pg…")`.
//!
//! Each function hides one difference, and its comment says what changed in which version. Conditions name
//! the versions before a change, so that later versions get the new code.

use super::node_structs::elements;
use hamming_index::page::Page;
use pgrx::pg_sys;
use std::ffi::{CStr, c_void};

mod outer_joins;
mod paths;
mod relation_hook;

pub(crate) use outer_joins::name_outer_joins_of;
pub(crate) use paths::{add_disabled_nodes, disable, nested_loop, set_conditions, set_cost_function};
pub(crate) use relation_hook::{CalledHook, NextHook, relation_hook, relation_hook_function};

/// Pauses as VACUUM does. Since 18, PostgreSQL is told whether this is ANALYZE.
pub fn vacuum_delay_point() {
    // SAFETY: if the call raises an error, the error unwinds through the caller.
    unsafe {
        #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
        pg_sys::vacuum_delay_point();
        #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
        pg_sys::vacuum_delay_point(false);
    }
}

/// The wait event of a process that waits until the others have written their rows of a near join to files.
/// Up to 16, extensions have no events of their own, and this is that of a parallel hash join.
pub fn near_join_wait_event() -> u32 {
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    return pg_sys::WaitEventIPC::WAIT_EVENT_HASH_BUILD_HASH_OUTER;
    // SAFETY: PostgreSQL keeps a copy of the name, once for all processes.
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    unsafe {
        pg_sys::WaitEventExtensionNew(c"NearJoinPartition".as_ptr())
    }
}

/// Raises an error if a row that the snapshot sees may be missing on the page: PostgreSQL's
/// TestForOldSnapshot. Up to 16, VACUUM may remove such rows early (`old_snapshot_threshold`). Since 17, it
/// never does.
///
/// # Safety
/// The relation must be open, the page must belong to it and be locked; the snapshot may be null.
#[inline]
pub unsafe fn check_snapshot_age(snapshot: pg_sys::Snapshot, relation: pg_sys::Relation, page: *const Page) {
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    let _ = (snapshot, relation, page);
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    // SAFETY: as the caller promises; the setting stays while the server runs; pages begin with a header.
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

/// The subtransaction in which the relation got its first new file. Since 16, the field has another name.
pub fn new_file_transaction(relation: &pg_sys::RelationData) -> pg_sys::SubTransactionId {
    #[cfg(feature = "pg15")]
    return relation.rd_firstRelfilenodeSubid;
    #[cfg(not(feature = "pg15"))]
    return relation.rd_firstRelfilelocatorSubid;
}

/// Whether no row of the relation can have NULL in the column. Since 17, the planner does this. Up to 16,
/// the catalog is asked, and a table with children must be partitioned: otherwise the children may have NULLs
/// in a column that is NOT NULL in the table.
pub(crate) fn is_declared_not_null(
    _root: &pg_sys::PlannerInfo,
    relation: &pg_sys::RelOptInfo,
    column: i16,
) -> bool {
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    // SAFETY: the planner has set the field.
    return unsafe { pg_sys::bms_is_member(column.into(), relation.notnullattnums) };
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    // SAFETY: the planner has an entry for each relation, and has locked each table of the query.
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

/// The different aggregates that a query computes. Since 16, PostgreSQL lists equal ones together.
pub(crate) fn aggregates(root: &pg_sys::PlannerInfo) -> impl Iterator<Item = *mut pg_sys::Aggref> {
    // SAFETY: the planner has listed the aggregates of the query.
    unsafe {
        elements(root.agginfos).iter().map(|info| {
            let info = info.cast::<pg_sys::AggInfo>();
            #[cfg(feature = "pg15")]
            return (*info).representative_aggref;
            #[cfg(not(feature = "pg15"))]
            (*(*(*info).aggrefs).elements).ptr_value.cast()
        })
    }
}

/// Looks functions and operators up only in `pg_catalog`, until the caller ends the nest level of settings.
/// Up to 16, PostgreSQL's own maintenance commands do not do that either.
pub fn restrict_search_path() {
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    // SAFETY: the function changes a setting.
    unsafe {
        pg_sys::RestrictSearchPath()
    };
}

/// The statistics of an index that `pg_stat_user_indexes` shows, as this session counts them; `None` if
/// nothing is counted. Since 16, this field and the fields in it have other names.
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

/// Returns how much memory the processes of a scan share. Since 17 and 18, there are further arguments.
pub extern "C-unwind" fn size_shared<T>(
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))] _index: pg_sys::Relation,
    #[cfg(not(any(feature = "pg15", feature = "pg16")))] _keys: i32,
    #[cfg(not(any(feature = "pg15", feature = "pg16")))] _order_bys: i32,
) -> pg_sys::Size {
    size_of::<T>()
}

/// The shared memory, or null if the scan is not parallel. Since 18, PostgreSQL stores data there as well.
///
/// # Safety
/// The scan must have begun.
pub unsafe fn shared_by_scan(scan: &pg_sys::IndexScanDescData) -> *mut c_void {
    // SAFETY: the pointer is null, or the offset is that of our part of the memory.
    unsafe {
        let Some(shared) = scan.parallel_scan.as_mut() else { return std::ptr::null_mut() };
        #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
        let offset = shared.ps_offset;
        #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
        let offset = shared.ps_offset_am;
        (&raw mut *shared).cast::<u8>().add(offset).cast()
    }
}

/// Counts a scan in `idx_scan`. Since 18, also counts it among the searches that EXPLAIN shows.
///
/// # Safety
/// The scan must have begun, and its index must be open.
pub unsafe fn count_scan(scan: &mut pg_sys::IndexScanDescData) {
    // SAFETY: the index is open, as the caller promises.
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
pub unsafe fn count_fetch(index: pg_sys::Relation) {
    // SAFETY: the index is open, as the caller promises.
    if let Some(counts) = unsafe { counts(index) } {
        #[cfg(feature = "pg15")]
        let fetched = &mut counts.t_tuples_fetched;
        #[cfg(not(feature = "pg15"))]
        let fetched = &mut counts.tuples_fetched;
        *fetched += 1;
    }
}

/// Pins a block of an index if this buffer has it. Counts that for `pg_statio_user_indexes`, since PostgreSQL
/// does not.
///
/// # Safety
/// The index must be open.
#[inline]
pub unsafe fn read_recent_buffer(
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
            {
                counts.t_blocks_fetched += 1;
                counts.t_blocks_hit += 1;
            }
            #[cfg(not(feature = "pg15"))]
            {
                counts.blocks_fetched += 1;
                counts.blocks_hit += 1;
            }
        }
        true
    }
}

/// Locks a page in a buffer. Since 19, LockBuffer is an inline function, which a library cannot call.
///
/// # Safety
/// This process must have pinned the buffer.
#[inline]
pub unsafe fn lock_buffer(buffer: pg_sys::Buffer, lock: u32) {
    // SAFETY: the buffer is pinned, as the caller promises.
    unsafe {
        #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))]
        pg_sys::LockBuffer(buffer, lock as i32);
        #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
        pg_sys::LockBufferInternal(buffer, lock);
    }
}

/// The position in the WAL that a page's header contains: the higher half comes first in any byte order. Up
/// to 18, the header has two numbers for it, since 19 one.
pub fn page_lsn(written: &pg_sys::PageXLogRecPtr) -> pg_sys::XLogRecPtr {
    // SAFETY: the type has eight bytes, which are read as two numbers.
    let [high, low]: [u32; 2] = unsafe { std::mem::transmute_copy(written) };
    u64::from(high) << 32 | u64::from(low)
}

/// A position in the WAL as a page's header contains it.
pub fn written_lsn(lsn: pg_sys::XLogRecPtr) -> pg_sys::PageXLogRecPtr {
    // SAFETY: the type has eight bytes, which are written as two numbers.
    unsafe { std::mem::transmute_copy(&[(lsn >> 32) as u32, lsn as u32]) }
}

/// Returns the description of an access method to PostgreSQL. Since 19, PostgreSQL keeps the pointer. Up to
/// 18, it frees the memory.
pub fn give_routine(routine: &'static pg_sys::IndexAmRoutine) -> *const pg_sys::IndexAmRoutine {
    #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))]
    // SAFETY: palloc returns enough memory for the copy, which then belongs to PostgreSQL.
    let given = unsafe {
        let copy = pg_sys::palloc(size_of::<pg_sys::IndexAmRoutine>()).cast();
        std::ptr::copy_nonoverlapping(routine, copy, 1);
        copy
    };
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
    let given = routine;
    given
}

/// Describes a storage parameter of an index. Since 18, a description has one more field.
#[allow(clippy::needless_update, reason = "up to PostgreSQL 17 all fields are named here")]
pub fn index_option(
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

/// Where a projection writes whether its value is NULL. Since 18, it must get a null pointer.
pub fn null_of_projection(_is_null: &mut bool) -> *mut bool {
    #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
    return _is_null;
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
    return std::ptr::null_mut();
}
