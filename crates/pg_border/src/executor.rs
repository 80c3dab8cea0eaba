//! Parts of PostgreSQL's executor that are inline functions in C: next row of a node, condition, projection.

use super::compat::null_of_projection;
use pgrx::pg_sys::ffi::pg_guard_ffi_boundary as guarded;
use pgrx::pg_sys::{self, Datum, ExprContext, ExprState, PlanState, TupleTableSlot};

/// The next row of a node, with all columns; `None` at the end.
///
/// # Safety
/// The node must belong to a plan that is being executed.
pub unsafe fn next_row(node: *mut PlanState) -> Option<*mut TupleTableSlot> {
    // SAFETY: the node is being executed, as the caller promises.
    unsafe {
        if !(*node).chgParam.is_null() {
            pg_sys::ExecReScan(node);
        }
        let next = (*node).ExecProcNode?;
        let slot = guarded(|| next(node));
        if slot.is_null() || u32::from((*slot).tts_flags) & pg_sys::TTS_FLAG_EMPTY != 0 {
            return None;
        }
        read_columns(slot, (*(*slot).tts_tupleDescriptor).natts);
        Some(slot)
    }
}

/// Deforms the tuple in a slot, if that has not been done yet: sets the values of the first `count` columns.
///
/// # Safety
/// The slot must have a row with so many columns.
pub unsafe fn read_columns(slot: *mut TupleTableSlot, count: i32) {
    // SAFETY: the slot has a row with so many columns, as the caller promises.
    unsafe {
        if i32::from((*slot).tts_nvalid) < count {
            pg_sys::slot_getsomeattrs_int(slot, count);
        }
    }
}

/// All columns of a slot's row: values, and whether they are NULL.
///
/// # Safety
/// The slot must have a row whose columns were all read, and nobody else may use it meanwhile.
pub unsafe fn columns<'a>(slot: *mut TupleTableSlot) -> (&'a mut [Datum], &'a mut [bool]) {
    // SAFETY: a slot has arrays for all columns.
    unsafe {
        let columns = (*(*slot).tts_tupleDescriptor).natts as usize;
        (
            std::slice::from_raw_parts_mut((*slot).tts_values, columns),
            std::slice::from_raw_parts_mut((*slot).tts_isnull, columns),
        )
    }
}

/// The columns of a virtual slot, to be overwritten with a new row. If somebody has materialized the last
/// row, its memory is freed first.
///
/// # Safety
/// The slot must be virtual, and nobody else may use it meanwhile.
pub unsafe fn virtual_row<'a>(slot: *mut TupleTableSlot) -> (&'a mut [Datum], &'a mut [bool]) {
    // SAFETY: the slot is virtual, as the caller promises.
    unsafe {
        if u32::from((*slot).tts_flags) & pg_sys::TTS_FLAG_SHOULDFREE != 0 {
            clear(slot);
        }
        (*slot).tts_flags &= !(pg_sys::TTS_FLAG_EMPTY as u16);
        (*slot).tts_nvalid = (*(*slot).tts_tupleDescriptor).natts as i16;
        columns(slot)
    }
}

/// Empties a slot, which releases a pin on the page of its row.
///
/// # Safety
/// The slot must be alive.
pub unsafe fn clear(slot: *mut TupleTableSlot) {
    // SAFETY: every kind of slot has this function.
    unsafe {
        let clear = (*(*slot).tts_ops).clear;
        guarded(|| clear.into_iter().for_each(|clear| clear(slot)));
    }
}

/// Frees the memory that expressions have used for the last row.
///
/// # Safety
/// The context must be alive.
pub unsafe fn reset(context: *mut ExprContext) {
    // SAFETY: the context is alive, as the caller promises.
    unsafe {
        let memory = (*context).ecxt_per_tuple_memory;
        if !(*memory).isReset {
            pg_sys::MemoryContextReset(memory);
        }
    }
}

/// The value of an expression, in the memory of the current row; `None` if it is NULL.
///
/// # Safety
/// The expression must have been initialized for a node with this context, which must have the current row.
pub unsafe fn value(expression: *mut ExprState, context: *mut ExprContext) -> Option<Datum> {
    let mut is_null = false;
    // SAFETY: as the caller promises.
    let value = unsafe { evaluate(expression, context, &raw mut is_null) }?;
    (!is_null).then_some(value)
}

/// Evaluates an expression, and stores whether the value is NULL.
///
/// # Safety
/// As for [`value`].
unsafe fn evaluate(
    expression: *mut ExprState,
    context: *mut ExprContext,
    is_null: *mut bool,
) -> Option<Datum> {
    // SAFETY: as the caller promises. After an error PostgreSQL sets the current memory context itself.
    unsafe {
        let evaluate = (*expression).evalfunc?;
        let before = pg_sys::CurrentMemoryContext;
        pg_sys::CurrentMemoryContext = (*context).ecxt_per_tuple_memory;
        let value = guarded(|| evaluate(expression, context, is_null));
        pg_sys::CurrentMemoryContext = before;
        Some(value)
    }
}

/// Whether all conditions hold. A null pointer has none.
///
/// # Safety
/// As for [`value`].
pub unsafe fn holds(conditions: *mut ExprState, context: *mut ExprContext) -> bool {
    // SAFETY: as the caller promises.
    conditions.is_null() || unsafe { value(conditions, context) }.is_some_and(|datum| datum.value() != 0)
}

/// The row that a node returns: a projection of the current row, or the current row if there is none.
///
/// # Safety
/// The projection must be null, or made for the context that has the current row.
pub unsafe fn projected(
    projection: *mut pg_sys::ProjectionInfo,
    row: *mut TupleTableSlot,
) -> *mut TupleTableSlot {
    // SAFETY: as the caller promises.
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

/// Tables of functions for PostgreSQL, which never change.
pub struct Methods<T>(pub T);

// SAFETY: nobody writes to a table.
unsafe impl<T> Sync for Methods<T> {}
