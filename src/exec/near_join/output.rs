//! Returns rows: pairs, matched outer rows, and unmatched rows.
//!
//! A semi join also returns the columns of the inner row that it has found, as PostgreSQL's own semi joins
//! do. If the outer row was updated concurrently, EvalPlanQual rechecks its new version with that inner row,
//! which it identifies by the TID or the whole row among these columns.

use super::batch::JoinBatch;
use super::work::{Count, JoinWork};
use crate::exec::rows::CodePlace;
use crate::pg::exec_node::{CurrentRow, Qual, RowEvaluation};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::row_store::BatchRow;
use crate::plan::near_join::{BySide, JoinKind, Side};
use base::{OutOfMemory, push};

/// Returns rows: decides which row is returned next, and makes it the current row.
pub(super) struct JoinOutput {
    kind: JoinKind,
    /// The other conditions of the join.
    conditions: Qual,
    /// The conditions that are tested after the join.
    filter: Qual,
    /// Outer rows of the batch that found their first match there, each with that inner row.
    matches: Vec<BySide<BatchRow>>,
    /// The next of these, or the next row of a side that may be unmatched.
    next: usize,
}

/// What decides about the current row, and counts.
pub(super) struct RowTest<'a> {
    pub(super) batch: &'a JoinBatch,
    pub(super) evaluation: &'a mut RowEvaluation,
    pub(super) work: &'a mut JoinWork,
}

impl JoinOutput {
    pub(super) fn new(kind: JoinKind, conditions: Qual, filter: Qual) -> Self {
        Self { kind, conditions, filter, matches: Vec::new(), next: 0 }
    }

    pub(super) fn kind(&self) -> JoinKind {
        self.kind
    }

    /// Forgets the rows of the last batch.
    pub(super) fn begin_batch(&mut self) {
        self.matches.clear();
        self.next = 0;
    }

    /// Makes a near pair the current row. Returns whether it is returned, because it satisfies all
    /// conditions.
    pub(super) fn pair(&mut self, codes: BySide<CodePlace>, test: &mut RowTest<'_>) -> bool {
        let RowTest { batch, evaluation, work } = test;
        let rows = BySide::of(|side| batch[side].row(codes[side]));
        check_for_interrupts();
        let mut row = batch.show(rows.map(Some), evaluation);
        if !self.joins(&mut row, work) {
            return false;
        }
        for side in Side::BOTH {
            batch[side].note_match(rows[side]);
        }
        self.passes(&mut row, work)
    }

    /// Takes a near pair of an outer row that needs only one match. It is returned by
    /// [`next_match`](Self::next_match), after the batch has been searched.
    pub(super) fn first_match(
        &mut self,
        codes: BySide<CodePlace>,
        test: &mut RowTest<'_>,
    ) -> Result<(), OutOfMemory> {
        let RowTest { batch, evaluation, work } = test;
        let rows = BySide::of(|side| batch[side].row(codes[side]));
        check_for_interrupts();
        let is_match = evaluation.is_empty(self.conditions)
            || self.joins(&mut batch.show(rows.map(Some), evaluation), work);
        // An anti join returns no matched rows.
        if is_match && batch[Side::Outer].note_match(rows[Side::Outer]) && self.kind != JoinKind::Anti {
            push(&mut self.matches, rows)?;
        }
        Ok(())
    }

    /// Makes the next outer row that found its first match in this batch the current row, with that match.
    /// Returns whether there is one.
    pub(super) fn next_match(&mut self, test: &mut RowTest<'_>) -> bool {
        let Some(&rows) = self.matches.get(self.next) else { return false };
        self.next += 1;
        let mut row = test.batch.show(rows.map(Some), test.evaluation);
        // Only outer joins have conditions that are tested after the join.
        self.passes(&mut row, test.work)
    }

    /// Makes the next unmatched row of a side in memory the current row, if the join returns such rows.
    /// Columns of the other side are NULL. Returns whether there is one.
    pub(super) fn next_unmatched(&mut self, side: Side, test: &mut RowTest<'_>) -> bool {
        let RowTest { batch, evaluation, work } = test;
        let count = if self.kind.fills(side) { batch[side].rows.len() } else { 0 };
        while self.next < count {
            check_for_interrupts();
            let row = BatchRow(self.next as u32);
            self.next += 1;
            if !batch[side].is_matched(row) {
                let rows = BySide::of(|other| (other == side).then_some(row));
                if self.passes(&mut batch.show(rows, evaluation), work) {
                    return true;
                }
            }
        }
        self.next = 0;
        false
    }

    /// Whether a pair satisfies the other conditions of the join.
    fn joins(&self, row: &mut CurrentRow<'_>, work: &mut JoinWork) -> bool {
        let is_joined = row.satisfies(self.conditions);
        work[Count::Unjoined] += u64::from(!is_joined);
        is_joined
    }

    /// Whether a row satisfies the conditions after the join.
    fn passes(&self, row: &mut CurrentRow<'_>, work: &mut JoinWork) -> bool {
        let is_returned = row.satisfies(self.filter);
        work[Count::Filtered] += u64::from(!is_returned);
        is_returned
    }
}
