//! What PostgreSQL's executor has as inline functions of C: the next row of a node, a condition, a
//! projection.

use super::compat::null_of_projection;
use pgrx::pg_sys::ffi::pg_guard_ffi_boundary as guarded;
use pgrx::pg_sys::{self, Datum, ExprContext, ExprState, PlanState, TupleTableSlot};

/// The next row of a node, with all of its columns; None at the end.
///
/// # Safety
/// The node must be one of the plan that is executed.
pub(crate) unsafe fn next_row(node: *mut PlanState) -> Option<*mut TupleTableSlot> {
    // SAFETY: such a node.
    unsafe {
        if !(*node).chgParam.is_null() {
            pg_sys::ExecReScan(node);
        }
        let next = (*node).ExecProcNode?;
        let slot = guarded(|| next(node));
        if slot.is_null() || u32::from((*slot).tts_flags) & pg_sys::TTS_FLAG_EMPTY != 0 {
            return None;
        }
        read_all(slot);
        Some(slot)
    }
}

/// Takes all columns out of the row of a slot.
///
/// # Safety
/// The slot must have a row.
pub(crate) unsafe fn read_all(slot: *mut TupleTableSlot) {
    // SAFETY: as promised.
    unsafe {
        let columns = (*(*slot).tts_tupleDescriptor).natts;
        if i32::from((*slot).tts_nvalid) < columns {
            pg_sys::slot_getsomeattrs_int(slot, columns);
        }
    }
}

/// The columns of a row that has been taken apart: values, and which of them are NULL.
///
/// # Safety
/// The slot must have such a row, and nobody else use it meanwhile.
pub(crate) unsafe fn columns<'a>(slot: *mut TupleTableSlot) -> (&'a mut [Datum], &'a mut [bool]) {
    // SAFETY: a slot has room for all columns.
    unsafe {
        let columns = (*(*slot).tts_tupleDescriptor).natts as usize;
        (
            std::slice::from_raw_parts_mut((*slot).tts_values, columns),
            std::slice::from_raw_parts_mut((*slot).tts_isnull, columns),
        )
    }
}

/// The columns of a virtual slot, whose row has been replaced. The slot takes memory of its own when
/// somebody keeps its row; that is released first.
///
/// # Safety
/// The slot must be virtual, and nobody else uses it meanwhile.
pub(crate) unsafe fn virtual_row<'a>(slot: *mut TupleTableSlot) -> (&'a mut [Datum], &'a mut [bool]) {
    // SAFETY: a virtual slot, as promised.
    unsafe {
        if u32::from((*slot).tts_flags) & pg_sys::TTS_FLAG_SHOULDFREE != 0 {
            let clear = (*(*slot).tts_ops).clear;
            guarded(|| clear.into_iter().for_each(|clear| clear(slot)));
        }
        (*slot).tts_flags &= !(pg_sys::TTS_FLAG_EMPTY as u16);
        (*slot).tts_nvalid = (*(*slot).tts_tupleDescriptor).natts as i16;
        columns(slot)
    }
}

/// Forgets what was computed for the last row.
///
/// # Safety
/// The context must be alive.
pub(crate) unsafe fn reset(context: *mut ExprContext) {
    // SAFETY: as promised.
    unsafe {
        let memory = (*context).ecxt_per_tuple_memory;
        if !(*memory).isReset {
            pg_sys::MemoryContextReset(memory);
        }
    }
}

/// The value of an expression in memory that is reset with each row; None if it is NULL.
///
/// # Safety
/// The expression must have been made for the context, which has the row that it is about.
pub(crate) unsafe fn value(expression: *mut ExprState, context: *mut ExprContext) -> Option<Datum> {
    let mut is_null = false;
    // SAFETY: as promised.
    let value = unsafe { evaluate(expression, context, &raw mut is_null) }?;
    (!is_null).then_some(value)
}

/// Evaluates an expression, and says where it is told to whether the value is NULL.
///
/// # Safety
/// As for [`value`].
unsafe fn evaluate(
    expression: *mut ExprState,
    context: *mut ExprContext,
    is_null: *mut bool,
) -> Option<Datum> {
    // SAFETY: made so. After an error PostgreSQL chooses the current memory itself.
    unsafe {
        let evaluate = (*expression).evalfunc?;
        let before = pg_sys::CurrentMemoryContext;
        pg_sys::CurrentMemoryContext = (*context).ecxt_per_tuple_memory;
        let value = guarded(|| evaluate(expression, context, is_null));
        pg_sys::CurrentMemoryContext = before;
        Some(value)
    }
}

/// Whether all conditions hold; without any, they do.
///
/// # Safety
/// As for [`value`].
pub(crate) unsafe fn holds(conditions: *mut ExprState, context: *mut ExprContext) -> bool {
    // SAFETY: as promised.
    conditions.is_null() || unsafe { value(conditions, context) }.is_some_and(|datum| datum.value() != 0)
}

/// The row that a node returns: what it computes of the current one, or this one itself.
///
/// # Safety
/// The projection must be null or made for the context, which has the current row.
pub(crate) unsafe fn projected(
    projection: *mut pg_sys::ProjectionInfo,
    row: *mut TupleTableSlot,
) -> *mut TupleTableSlot {
    // SAFETY: as promised.
    unsafe {
        if projection.is_null() {
            return row;
        }
        let state = &raw mut (*projection).pi_state;
        let result = (*state).resultslot;
        virtual_row(result);
        let mut is_null = false;
        evaluate(state, (*projection).pi_exprContext, null_of_projection(&mut is_null));
        result
    }
}

/// Tables of functions that PostgreSQL is given, which never change.
pub(crate) struct Methods<T>(pub(crate) T);

// SAFETY: a backend has one thread, and nobody writes to these.
unsafe impl<T> Sync for Methods<T> {}
