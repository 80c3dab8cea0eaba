//! Reads the rows of both children of a join, and the codes or sketches of these rows.

use super::batch::JoinBatch;
use super::file::in_memory;
use super::measure::{NearLimits, NearMeasure};
use super::side::JoinSide;
use crate::pg::executor::{columns, next_row, reset, value, virtual_row};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{self, SqlError};
use base::{OutOfMemory, push};
use pgrx::pg_sys::{self, Datum, ExprState, TupleTableSlot};

/// A condition by which rows are near.
pub(super) struct NearParts {
    pub(super) measure: NearMeasure,
    /// The code or the sketch of an outer row, and that of an inner row.
    pub(super) codes: [*mut ExprState; 2],
    /// The radius, or the least share.
    pub(super) limit: Option<*mut ExprState>,
}

/// What a reader is made of. All of it is the executor's, and is used only while the node is executed.
pub(super) struct ReaderParts {
    /// The outer child and the inner one.
    pub(super) children: [*mut pg_sys::PlanState; 2],
    /// The conditions by which rows are near: that which is searched for, then those that are looked at.
    pub(super) near: Vec<NearParts>,
    pub(super) context: *mut pg_sys::ExprContext,
    /// The columns of both sides.
    pub(super) row: *mut TupleTableSlot,
}

/// Reads rows.
pub(super) struct RowReader {
    parts: ReaderParts,
    /// The codes of a row that is read.
    codes: Vec<Datum>,
}

impl RowReader {
    /// # Safety
    /// The parts must be those of a node, and the reader used only while it is executed.
    pub(super) unsafe fn new(parts: ReaderParts) -> Self {
        Self { parts, codes: Vec::new() }
    }

    /// Evaluates the limits of all conditions.
    pub(super) fn limits(&self) -> Result<NearLimits, OutOfMemory> {
        let ReaderParts { context, near, .. } = &self.parts;
        // SAFETY: the node is executed.
        unsafe { reset(*context) };
        NearLimits::of(near.iter().map(|near| {
            // SAFETY: as above.
            (near.measure, near.limit.and_then(|limit| unsafe { value(limit, *context) }))
        }))
    }

    /// The next row of a child.
    pub(super) fn next(&self, side: usize) -> Option<*mut TupleTableSlot> {
        // SAFETY: the node is executed.
        unsafe { next_row(self.parts.children[side]) }
    }

    /// Reads rows of a child up to a limit of bytes. Returns whether there are no more.
    pub(super) fn read(
        &mut self,
        side: usize,
        batch: &mut JoinBatch,
        limit: usize,
        have_codes: bool,
    ) -> Result<bool, SqlError> {
        loop {
            let of_side = if side == 0 { &batch.outer } else { &batch.inner };
            if of_side.bytes() >= limit {
                return Ok(false);
            }
            check_for_interrupts();
            let Some(row) = self.next(side) else { return Ok(true) };
            self.push(row, side, batch, have_codes)?;
        }
    }

    /// Adds a row to a side, with its codes if they are wanted and none of them is NULL.
    pub(super) fn push(
        &mut self,
        row: *mut TupleTableSlot,
        side: usize,
        batch: &mut JoinBatch,
        have_codes: bool,
    ) -> Result<(), SqlError> {
        let context = self.parts.context;
        let first = if side == 0 { 0 } else { batch.outer.rows.width() };
        // SAFETY: the node is executed. A value that is stored elsewhere leaves a copy of its pointer in the
        // memory of the row, and a sketch itself.
        unsafe {
            reset(context);
            let (values, nulls) = columns(row);
            let row = (&*values, &*nulls);
            self.codes.clear();
            if have_codes {
                self.read_codes(side, row, first).map_err(report::problem)?;
            }
            let of_side: &mut JoinSide = if side == 0 { &mut batch.outer } else { &mut batch.inner };
            in_memory((*context).ecxt_per_tuple_memory, || of_side.push(row, &self.codes))
        }
    }

    /// Evaluates the codes of a row; none if one of them is NULL.
    ///
    /// # Safety
    /// The columns must be those of a row of this side, which begin there among those of both.
    unsafe fn read_codes(
        &mut self,
        side: usize,
        (values, nulls): (&[Datum], &[bool]),
        first: usize,
    ) -> Result<(), OutOfMemory> {
        let ReaderParts { context, row, near, .. } = &self.parts;
        // SAFETY: expressions refer to the columns of both sides; those of the other one are not read.
        unsafe {
            let (all_values, all_nulls) = virtual_row(*row);
            all_values[first..first + values.len()].copy_from_slice(values);
            all_nulls[first..first + values.len()].copy_from_slice(nulls);
            (**context).ecxt_scantuple = *row;
            for near in near {
                let Some(code) = value(near.codes[side], *context) else {
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
