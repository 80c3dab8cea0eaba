//! The functions that PostgreSQL calls for a scan, for each access method.

use super::AccessMethod;
use super::scan::{KeptOfScan, ScanDescriptor, TidBitmap};
use super::shared::{HasEnded, SharedByProcesses};
use crate::memory::small_context;
use crate::open_index::OpenIndex;
use pgrx::PgMemoryContexts;
use pgrx::pg_sys::panic::pgrx_extern_c_guard as guard;
use pgrx::pg_sys::{self, Datum, IndexScanDesc, ScanKey};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;

/// A scan that has begun.
struct BegunScan<A: AccessMethod> {
    ours: A::Scan,
    kept: KeptOfScan,
}

/// # Safety
/// The scan must be one that [`begin`] has begun for this access method.
unsafe fn begun<'a, A: AccessMethod>(scan: IndexScanDesc) -> &'a mut BegunScan<A> {
    // SAFETY: `begin` has stored the pointer, as the caller promises. The executor calls one function of a
    // scan at a time.
    unsafe { &mut *(*scan).opaque.cast() }
}

pub(super) unsafe extern "C-unwind" fn begin<A: AccessMethod>(
    relation: pg_sys::Relation,
    keys: i32,
    order_bys: i32,
) -> IndexScanDesc {
    // SAFETY: PostgreSQL passes the open index, and keeps it open as long as the scan. The state is dropped
    // with its memory context: by `end`, or after an error with the query's memory context.
    let begin = || unsafe {
        let scan = pg_sys::RelationGetIndexScan(relation, keys, order_bys);
        (*scan).xs_itupdesc = (*relation).rd_att;
        let ours = A::begin_scan(OpenIndex::new(relation));
        // A statement may begin a scan for each of its rows.
        let memory = small_context(c"scan of an index");
        let kept = KeptOfScan {
            memory,
            has_ended: HasEnded::default(),
            slot: Cell::new(null_mut()),
            is_slot_used: Cell::new(false),
        };
        let state = BegunScan::<A> { ours, kept };
        (*scan).opaque = PgMemoryContexts::For(memory).leak_and_drop_on_delete(state).cast();
        if order_bys > 0 {
            let count = order_bys as usize;
            (*scan).xs_orderbyvals = allocate(memory, size_of::<Datum>() * count).cast();
            (*scan).xs_orderbynulls = allocate(memory, size_of::<bool>() * count).cast();
        }
        scan
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(begin) }
}

/// Zeroed memory in a memory context.
fn allocate(memory: pg_sys::MemoryContext, bytes: usize) -> *mut c_void {
    // SAFETY: the context is alive.
    unsafe { pg_sys::MemoryContextAllocZero(memory, bytes) }
}

pub(super) unsafe extern "C-unwind" fn rescan<A: AccessMethod>(
    scan: IndexScanDesc,
    keys: ScanKey,
    key_count: i32,
    order_bys: ScanKey,
    order_by_count: i32,
) {
    // SAFETY: PostgreSQL passes the scan, and as many keys as `begin` was told, or none to keep the old keys.
    let rescan = || unsafe {
        if !keys.is_null() && key_count > 0 {
            keys.copy_to((*scan).keyData, key_count as usize);
        }
        if !order_bys.is_null() && order_by_count > 0 {
            order_bys.copy_to((*scan).orderByData, order_by_count as usize);
        }
        let BegunScan { ours, kept } = begun::<A>(scan);
        A::search(ours, &ScanDescriptor::new(scan, kept));
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(rescan) }
}

pub(super) unsafe extern "C-unwind" fn next<A: AccessMethod>(
    scan: IndexScanDesc,
    _direction: pg_sys::ScanDirection::Type,
) -> bool {
    // SAFETY: PostgreSQL passes a scan that has begun.
    let next = || unsafe {
        let BegunScan { ours, kept } = begun::<A>(scan);
        A::next(ours, &ScanDescriptor::new(scan, kept))
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(next) }
}

pub(super) unsafe extern "C-unwind" fn fill<A: AccessMethod>(
    scan: IndexScanDesc,
    bitmap: *mut pg_sys::TIDBitmap,
) -> i64 {
    // SAFETY: PostgreSQL passes a scan that has begun, and a bitmap.
    let fill = || unsafe {
        let BegunScan { ours, kept } = begun::<A>(scan);
        A::fill(ours, &ScanDescriptor::new(scan, kept), TidBitmap::new(bitmap)) as i64
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(fill) }
}

pub(super) unsafe extern "C-unwind" fn end<A: AccessMethod>(scan: IndexScanDesc) {
    // SAFETY: PostgreSQL passes a scan that has begun, whose state nobody uses any more.
    let end = || unsafe {
        let kept = &begun::<A>(scan).kept;
        let slot = kept.slot.replace(null_mut());
        if !slot.is_null() {
            pg_sys::ExecDropSingleTupleTableSlot(slot);
        }
        pg_sys::MemoryContextDelete(kept.memory);
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(end) }
}

pub(super) unsafe extern "C-unwind" fn initialize_shared<A: AccessMethod>(target: *mut c_void) {
    // SAFETY: PostgreSQL reserves as much memory as `size_shared` returns, aligned for any type.
    unsafe { target.cast::<A::Shared>().write(A::Shared::default()) }
}

pub(super) unsafe extern "C-unwind" fn reset_shared<A: AccessMethod>(scan: IndexScanDesc) {
    // SAFETY: PostgreSQL passes a scan that has begun.
    let reset = || unsafe {
        let descriptor = ScanDescriptor::<A::Shared>::new(scan, &begun::<A>(scan).kept);
        if let Some(shared) = descriptor.shared() {
            shared.with(SharedByProcesses::reset);
        }
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(reset) }
}
