//! The functions that PostgreSQL calls for an index, for each access method, and the list of all of them.

use super::rows::{IndexRow, TableScan};
use super::vacuum::{DeadRowCheck, VacuumInfo};
use super::{AccessMethod, BuiltIndex, IndexPages, RemovedRows, scan_thunks};
use crate::catalog::operator_classes::OperatorClass;
use crate::compat::{give_routine, size_shared};
use crate::index_cost::cost_function;
use crate::open_index::OpenIndex;
use pgrx::PgMemoryContexts;
use pgrx::pg_sys::panic::pgrx_extern_c_guard as guard;
use pgrx::pg_sys::{self, Datum, Oid};
use std::ffi::{c_char, c_void};
use std::ptr::null_mut;

/// An access method without functions or properties.
// SAFETY: zero is a number, false, or no function.
const NOTHING: pg_sys::IndexAmRoutine = unsafe { std::mem::zeroed() };

/// The functions of an access method.
trait Routine: AccessMethod {
    const ROUTINE: &'static pg_sys::IndexAmRoutine = &pg_sys::IndexAmRoutine {
        type_: pg_sys::NodeTag::T_IndexAmRoutine,
        amstrategies: Self::PROPERTIES.strategies,
        amcanorderbyop: Self::PROPERTIES.can_order_by_operator,
        amcanmulticol: Self::PROPERTIES.can_multicolumn,
        amoptionalkey: Self::PROPERTIES.optional_key,
        amsearchnulls: Self::PROPERTIES.search_nulls,
        amusemaintenanceworkmem: Self::PROPERTIES.use_maintenance_work_mem,
        amparallelvacuumoptions: Self::PROPERTIES.parallel_vacuum,
        amcanparallel: Self::PROPERTIES.can_parallel,
        ambuild: Some(build::<Self>),
        ambuildempty: Some(build_empty::<Self>),
        ambuildphasename: Some(phase_name::<Self>),
        aminsert: Some(insert::<Self>),
        ambulkdelete: Some(bulk_delete::<Self>),
        amvacuumcleanup: Some(vacuum_cleanup::<Self>),
        amcanreturn: Some(can_return::<Self>),
        amcostestimate: Some(cost_function::<Self>),
        amoptions: Some(options::<Self>),
        amproperty: Some(property::<Self>),
        amvalidate: Some(validate::<Self>),
        ambeginscan: Some(scan_thunks::begin::<Self>),
        amrescan: Some(scan_thunks::rescan::<Self>),
        amgettuple: Some(scan_thunks::next::<Self>),
        amgetbitmap: Some(scan_thunks::fill::<Self>),
        amendscan: Some(scan_thunks::end::<Self>),
        amestimateparallelscan: Some(size_shared::<Self::Shared>),
        aminitparallelscan: Some(scan_thunks::initialize_shared::<Self>),
        amparallelrescan: Some(scan_thunks::reset_shared::<Self>),
        ..NOTHING
    };
}

impl<A: AccessMethod> Routine for A {}

/// What the handler of an access method returns: its functions and properties.
pub fn handler<A: AccessMethod>() -> Datum {
    give_routine(A::ROUTINE).into()
}

/// Whether a relation is an index with this access method.
///
/// # Safety
/// The relation must be open.
pub(crate) unsafe fn has_method<A: AccessMethod>(relation: pg_sys::Relation) -> bool {
    // SAFETY: the relation is open. Only an index has an access method for indexes.
    let routine = unsafe { (*relation).rd_indam.as_ref() };
    let its_build = routine.and_then(|routine| routine.ambuild);
    its_build.is_some_and(|its_build| its_build as *const () == build::<A> as *const ())
}

/// Never inlined, so that it has one address, by which an index is recognized.
#[inline(never)]
unsafe extern "C-unwind" fn build<A: AccessMethod>(
    table: pg_sys::Relation,
    index: pg_sys::Relation,
    info: *mut pg_sys::IndexInfo,
) -> *mut pg_sys::IndexBuildResult {
    // SAFETY: PostgreSQL passes both open and locked, so that nobody else changes or reads the index.
    let build = || unsafe {
        let rows = TableScan::new(table, index, info);
        let BuiltIndex { table_rows, index_rows } = A::build(OpenIndex::new(index), rows);
        let mut result = pgrx::PgBox::<pg_sys::IndexBuildResult>::alloc0();
        result.heap_tuples = table_rows;
        result.index_tuples = index_rows;
        result.into_pg()
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(build) }
}

unsafe extern "C-unwind" fn build_empty<A: AccessMethod>(index: pg_sys::Relation) {
    // SAFETY: PostgreSQL passes the open index.
    let build = || unsafe { A::build_empty(OpenIndex::new(index)) };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(build) }
}

unsafe extern "C-unwind" fn phase_name<A: AccessMethod>(phase: i64) -> *mut c_char {
    let name = || A::phase_name(phase).map_or(null_mut(), |name| name.as_ptr().cast_mut());
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(name) }
}

/// The result says whether the row is unique. PostgreSQL ignores it, since the index cannot be unique.
unsafe extern "C-unwind" fn insert<A: AccessMethod>(
    index: pg_sys::Relation,
    values: *mut Datum,
    nulls: *mut bool,
    tid: pg_sys::ItemPointer,
    _table: pg_sys::Relation,
    _unique: pg_sys::IndexUniqueCheck::Type,
    _unchanged: bool,
    info: *mut pg_sys::IndexInfo,
) -> bool {
    // SAFETY: PostgreSQL passes the open index, its values, and the row. What is kept in `ii_AmCache` for the
    // next row of the same statement is dropped at the end of the statement.
    let insert = || unsafe {
        let kept = &raw mut (*info).ii_AmCache;
        if (*kept).is_null() {
            let inserts = A::begin_inserts(OpenIndex::new(index));
            *kept = PgMemoryContexts::For((*info).ii_Context).leak_and_drop_on_delete(inserts).cast();
        }
        A::insert(&mut *(*kept).cast(), IndexRow::new(index, *tid, values, nulls));
        false
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(insert) }
}

unsafe extern "C-unwind" fn bulk_delete<A: AccessMethod>(
    info: *mut pg_sys::IndexVacuumInfo,
    stats: *mut pg_sys::IndexBulkDeleteResult,
    is_dead: pg_sys::IndexBulkDeleteCallback,
    state: *mut c_void,
) -> *mut pg_sys::IndexBulkDeleteResult {
    // SAFETY: PostgreSQL passes the open index, and a callback that says which rows are dead.
    let delete = || unsafe {
        // The first call of a vacuum makes the counts, which are zeros.
        let size = size_of::<pg_sys::IndexBulkDeleteResult>();
        let result = if stats.is_null() { pg_sys::palloc0(size).cast() } else { stats };
        let vacuum = VacuumInfo::new(&*info);
        let check = DeadRowCheck::new(is_dead, state);
        // CREATE INDEX CONCURRENTLY reports progress, unlike VACUUM. It passes each row to the callback, and
        // removes none.
        let RemovedRows { remaining, removed } = match (*info).report_progress {
            true => RemovedRows { remaining: A::visit_rows(vacuum, check), removed: 0 },
            false => A::remove_dead_rows(vacuum, check),
        };
        (*result).num_index_tuples = remaining as f64;
        (*result).tuples_removed += removed as f64;
        result
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(delete) }
}

unsafe extern "C-unwind" fn vacuum_cleanup<A: AccessMethod>(
    info: *mut pg_sys::IndexVacuumInfo,
    stats: *mut pg_sys::IndexBulkDeleteResult,
) -> *mut pg_sys::IndexBulkDeleteResult {
    // SAFETY: PostgreSQL passes the open index.
    let clean_up = || unsafe {
        // Without dead rows, no page has become free, unless a process was ended while it added one.
        if (*info).analyze_only || stats.is_null() {
            return stats;
        }
        let IndexPages { all, free } = A::clean_up(VacuumInfo::new(&*info));
        pg_sys::IndexFreeSpaceMapVacuum((*info).index);
        (*stats).num_pages = all;
        (*stats).pages_free = free;
        stats
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(clean_up) }
}

unsafe extern "C-unwind" fn can_return<A: AccessMethod>(index: pg_sys::Relation, column: i32) -> bool {
    // SAFETY: PostgreSQL passes the open index, and the number of a column, counted from 1.
    let can_return = || unsafe { column == 1 && A::can_return(OpenIndex::new(index), 0) };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(can_return) }
}

unsafe extern "C-unwind" fn options<A: AccessMethod>(list: Datum, validate: bool) -> *mut pg_sys::bytea {
    // SAFETY: PostgreSQL passes a list of parameters, or null.
    let parse = || unsafe { A::OPTIONS.parsed(list, validate) };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(parse) }
}

/// Answers `pg_index_column_has_property` where only the access method can.
unsafe extern "C-unwind" fn property<A: AccessMethod>(
    index: Oid,
    column: i32,
    property: pg_sys::IndexAMProperty::Type,
    _name: *const c_char,
    result: *mut bool,
    _is_null: *mut bool,
) -> bool {
    let is_known = column > 0 && property == pg_sys::IndexAMProperty::AMPROP_DISTANCE_ORDERABLE;
    // SAFETY: PostgreSQL passes an index of this access method, and a pointer for the result.
    let answer = || unsafe {
        if is_known {
            let class = pg_sys::get_index_column_opclass(index, column);
            let type_ = pg_sys::get_opclass_input_type(class);
            *result = A::can_order_by_distance(column as usize - 1, type_);
        }
        is_known
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(answer) }
}

unsafe extern "C-unwind" fn validate<A: AccessMethod>(class: Oid) -> bool {
    let validate = || OperatorClass::of(class).is_some_and(|class| A::is_valid(&class));
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(validate) }
}
