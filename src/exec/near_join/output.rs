//! Returns rows: pairs, matched outer rows, and unmatched rows.
//!
//! A semi join also returns the columns of the inner row that it has found, as PostgreSQL's own semi joins
//! do. If the outer row was updated concurrently, EvalPlanQual rechecks its new version with that inner row,
//! which it identifies by the TID or the whole row among these columns.

use super::batch::JoinBatch;
use super::explain::{Count, JoinWork};
use super::rows::BatchRow;
use super::side::CodePlace;
use crate::pg::executor::{holds, projected, reset, virtual_row};
use crate::pg::interrupts::check_for_interrupts;
use crate::plan::near_join::{BySide, JoinKind, Side};
use base::{OutOfMemory, push};
use pgrx::pg_sys::{self, ExprState, TupleTableSlot};

/// The executor's objects that the output uses, only while the node is executed.
pub(super) struct OutputParts {
    pub(super) kind: JoinKind,
    /// The other conditions of the join, and the conditions that are tested after it.
    pub(super) conditions: *mut ExprState,
    pub(super) filter: *mut ExprState,
    pub(super) context: *mut pg_sys::ExprContext,
    /// Null if the current row is returned as it is.
    pub(super) projection: *mut pg_sys::ProjectionInfo,
    /// The current row: the columns of both sides, or those that the node returns if it computes nothing.
    pub(super) row: *mut TupleTableSlot,
}

impl OutputParts {
    /// Whether expressions are evaluated for the current row.
    fn compute(&self) -> bool {
        !(self.projection.is_null() && self.conditions.is_null() && self.filter.is_null())
    }
}

/// Returns rows.
pub(super) struct JoinOutput {
    parts: OutputParts,
    /// Outer rows of the batch that found their first match there, each with that inner row.
    matches: Vec<BySide<BatchRow>>,
    /// The next of these, or the next row of a side that may be unmatched.
    next: usize,
}

impl JoinOutput {
    /// # Safety
    /// The parts must belong to one node, and the output must only be used while the node is executed.
    pub(super) unsafe fn new(parts: OutputParts) -> Self {
        Self { parts, matches: Vec::new(), next: 0 }
    }

    pub(super) fn kind(&self) -> JoinKind {
        self.parts.kind
    }

    /// Forgets the rows of the last batch.
    pub(super) fn begin_batch(&mut self) {
        self.matches.clear();
        self.next = 0;
    }

    /// Takes a near pair, and returns its row if it satisfies all conditions.
    pub(super) fn pair(
        &mut self,
        batch: &JoinBatch,
        codes: BySide<CodePlace>,
        work: &mut JoinWork,
    ) -> Option<*mut TupleTableSlot> {
        let rows = BySide::of(|side| batch[side].row(codes[side]));
        if !self.joins(batch, rows, work) {
            return None;
        }
        for side in Side::BOTH {
            batch[side].note_match(rows[side]);
        }
        self.filtered(work)
    }

    /// Takes a near pair of an outer row that needs only one match. It is returned by
    /// [`next_match`](Self::next_match), after the batch has been searched.
    pub(super) fn first_match(
        &mut self,
        batch: &JoinBatch,
        codes: BySide<CodePlace>,
        work: &mut JoinWork,
    ) -> Result<(), OutOfMemory> {
        let rows = BySide::of(|side| batch[side].row(codes[side]));
        let is_match = self.parts.conditions.is_null() || self.joins(batch, rows, work);
        // An anti join returns no matched rows.
        if is_match && batch[Side::Outer].note_match(rows[Side::Outer]) && self.kind() != JoinKind::Anti {
            push(&mut self.matches, rows)?;
        }
        Ok(())
    }

    /// The next outer row that found its first match in this batch.
    pub(super) fn next_match(
        &mut self,
        batch: &JoinBatch,
        work: &mut JoinWork,
    ) -> Option<*mut TupleTableSlot> {
        let rows = *self.matches.get(self.next)?;
        self.next += 1;
        self.put(batch, rows.map(Some));
        // Only outer joins have conditions that are tested after the join.
        self.filtered(work)
    }

    /// The next unmatched row of a side in memory, if the join returns such rows. Columns of the other side
    /// are NULL.
    pub(super) fn next_unmatched(
        &mut self,
        side: Side,
        batch: &JoinBatch,
        work: &mut JoinWork,
    ) -> Option<*mut TupleTableSlot> {
        let count = if self.kind().fills(side) { batch[side].rows.len() } else { 0 };
        while self.next < count {
            check_for_interrupts();
            let row = BatchRow(self.next as u32);
            self.next += 1;
            if !batch[side].is_matched(row) {
                self.put(batch, BySide::of(|other| (other == side).then_some(row)));
                let row = self.filtered(work);
                if row.is_some() {
                    return row;
                }
            }
        }
        self.next = 0;
        None
    }

    /// Makes a pair the current row. Returns whether it satisfies the other conditions of the join.
    fn joins(&self, batch: &JoinBatch, rows: BySide<BatchRow>, work: &mut JoinWork) -> bool {
        check_for_interrupts();
        self.put(batch, rows.map(Some));
        // SAFETY: the node is being executed, and has a current row.
        let holds = unsafe { holds(self.parts.conditions, self.parts.context) };
        work[Count::Unjoined] += u64::from(!holds);
        holds
    }

    /// Makes an outer row and an inner row the current row. One of them may be missing.
    fn put(&self, batch: &JoinBatch, rows: BySide<Option<BatchRow>>) {
        // SAFETY: the node is being executed.
        unsafe {
            let OutputParts { context, row, .. } = self.parts;
            if self.parts.compute() {
                reset(context);
                (*context).ecxt_scantuple = row;
            }
            batch.put(rows, virtual_row(row));
        }
    }

    /// The node's result for the current row; `None` if the row fails the conditions after the join.
    fn filtered(&self, work: &mut JoinWork) -> Option<*mut TupleTableSlot> {
        // SAFETY: the node is being executed, and has a current row.
        unsafe {
            if holds(self.parts.filter, self.parts.context) {
                return Some(projected(self.parts.projection, self.parts.row));
            }
            work[Count::Filtered] += 1;
            None
        }
    }
}
