//! Reads rows from both children of a join, and evaluates their codes.

use super::batch::JoinBatch;
use super::side::JoinSide;
use crate::pg::executor::{columns, next_row, reset, value, virtual_row};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::memory::in_memory;
use crate::pg::report::SqlError;
use crate::plan::near_join::{BySide, Side};
use base::{OutOfMemory, push};
use pgrx::pg_sys::{self, Datum, ExprState, TupleTableSlot};

/// The executor's expressions for one condition by which rows are near.
pub(super) struct RunningCondition {
    /// The code of an outer row, and the one of an inner row.
    pub(super) codes: BySide<*mut ExprState>,
    pub(super) radius: *mut ExprState,
}

/// Reads rows. The executor's objects are used only while the node is executed.
pub(super) struct RowReader {
    children: BySide<*mut pg_sys::PlanState>,
    /// The conditions by which rows are near: first the one that finds pairs, then those that test them.
    near: Vec<RunningCondition>,
    context: *mut pg_sys::ExprContext,
    /// The columns of both sides.
    row: *mut TupleTableSlot,
    /// Whether a child has no more rows. It must not be asked for another row then: a scan would start again.
    pub(super) ended: BySide<bool>,
    /// Whether rows get codes. If not, no rows are near.
    pub(super) gives_codes: bool,
    /// The codes of the row that is being read.
    codes: Vec<Datum>,
}

impl RowReader {
    /// # Safety
    /// All must belong to one node, and the reader must only be used while the node is executed.
    pub(super) unsafe fn new(
        children: BySide<*mut pg_sys::PlanState>,
        near: Vec<RunningCondition>,
        context: *mut pg_sys::ExprContext,
        row: *mut TupleTableSlot,
    ) -> Self {
        let (ended, codes) = (BySide::default(), Vec::new());
        Self { children, near, context, row, ended, gives_codes: false, codes }
    }

    /// Evaluates the radii of all conditions. None if one of them is NULL or negative, which matches no rows.
    pub(super) fn radii(&self) -> Result<Vec<u32>, OutOfMemory> {
        // SAFETY: the node is being executed.
        unsafe { reset(self.context) };
        let mut radii = Vec::new();
        for near in &self.near {
            // SAFETY: as above.
            let radius = unsafe { value(near.radius, self.context) };
            match radius.and_then(|radius| u32::try_from(radius.value() as i32).ok()) {
                Some(radius) => push(&mut radii, radius)?,
                None => return Ok(Vec::new()),
            }
        }
        Ok(radii)
    }

    /// Reads rows of a side up to a number of rows and of bytes.
    pub(super) fn read(
        &mut self,
        side: Side,
        batch: &mut JoinBatch,
        (rows, bytes): (usize, usize),
    ) -> Result<(), SqlError> {
        let to = &mut batch[side];
        while !self.ended[side] && to.rows.len() < rows && to.bytes() < bytes {
            check_for_interrupts();
            // SAFETY: the node is being executed.
            match unsafe { next_row(self.children[side]) } {
                Some(row) => self.push(row, side, to)?,
                None => self.ended[side] = true,
            }
        }
        Ok(())
    }

    /// Adds a row to a side. The row gets its codes if they are wanted and none of them is NULL.
    fn push(&mut self, row: *mut TupleTableSlot, side: Side, to: &mut JoinSide) -> Result<(), SqlError> {
        let context = self.context;
        // SAFETY: the node is being executed. A toasted value leaves a copy of its TOAST pointer in the
        // memory of the row.
        unsafe {
            reset(context);
            let (values, nulls) = columns(row);
            let row = (&*values, &*nulls);
            self.codes.clear();
            if self.gives_codes {
                self.read_codes(side, row)?;
            }
            in_memory((*context).ecxt_per_tuple_memory, || to.push(row, &self.codes))?;
        }
        Ok(to.make_room()?)
    }

    /// Evaluates the codes of a row. It has no codes if one of them is NULL.
    ///
    /// # Safety
    /// The columns must be those of a row of this side.
    unsafe fn read_codes(
        &mut self,
        side: Side,
        (values, nulls): (&[Datum], &[bool]),
    ) -> Result<(), OutOfMemory> {
        // SAFETY: the expressions refer to columns of both sides, but read only those of this side.
        unsafe {
            let (all_values, all_nulls) = virtual_row(self.row);
            let first = if side == Side::Outer { 0 } else { all_values.len() - values.len() };
            all_values[first..first + values.len()].copy_from_slice(values);
            all_nulls[first..first + values.len()].copy_from_slice(nulls);
            (*self.context).ecxt_scantuple = self.row;
            for near in &self.near {
                let Some(code) = value(near.codes[side], self.context) else {
                    self.codes.clear();
                    break;
                };
                push(&mut self.codes, code)?;
            }
            // Columns that are not kept are NULL from now on.
            all_nulls[first..first + values.len()].fill(true);
        }
        Ok(())
    }
}
