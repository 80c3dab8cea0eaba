//! Returns rows: pairs, outer rows with a partner, and rows without one.
//!
//! A semi join also returns the columns of the inner row that it has found, as PostgreSQL's own semi joins
//! do. If the outer row was updated concurrently, EvalPlanQual rechecks its new version with that inner row,
//! which it identifies by the TID or the whole row among these columns.

use super::batch::JoinBatch;
use super::explain::JoinWork;
use super::kind::JoinKind;
use super::partners::Partners;
use crate::pg::executor::{holds, projected, reset, virtual_row};
use crate::pg::interrupts::check_for_interrupts;
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

/// Rows that are returned only after a batch or a round has been searched.
#[derive(Clone, Copy)]
pub(super) enum LateRows {
    /// Outer rows of the batch that have found a partner there and need no other, each with its partner.
    WithPartner,
    /// Outer rows of the batch without a partner; inner columns are NULL.
    LoneOuter,
    /// Inner rows without a partner; outer columns are NULL.
    LoneInner,
}

/// Returns rows.
pub(super) struct JoinOutput {
    parts: OutputParts,
    partners: Partners,
    /// Outer rows of the batch that have found a partner there, each with that inner row.
    found: Vec<[u32; 2]>,
    /// The place of the next late row.
    next: usize,
    /// Pairs that do not satisfy the other conditions of the join.
    removed: u64,
    /// Rows that do not satisfy the conditions after the join.
    filtered: u64,
}

impl JoinOutput {
    /// # Safety
    /// The parts must belong to one node, and the output must only be used while the node is executed.
    pub(super) unsafe fn new(parts: OutputParts) -> Self {
        let partners = Partners::default();
        Self { parts, partners, found: Vec::new(), next: 0, removed: 0, filtered: 0 }
    }

    pub(super) fn kind(&self) -> JoinKind {
        self.parts.kind
    }

    pub(super) fn partners(&self) -> &Partners {
        &self.partners
    }

    pub(super) fn partners_mut(&mut self) -> &mut Partners {
        &mut self.partners
    }

    pub(super) fn restart(&mut self) {
        self.partners = Partners::default();
        self.begin_batch();
    }

    /// Forgets the rows of the last batch.
    pub(super) fn begin_batch(&mut self) {
        self.found.clear();
        self.next = 0;
    }

    pub(super) fn add_work(&self, work: &mut JoinWork) {
        (work.removed, work.filtered) = (self.removed, self.filtered);
    }

    /// Takes a near pair, and returns its row if it satisfies all conditions and the join returns pairs.
    pub(super) fn pair(
        &mut self,
        batch: &JoinBatch,
        (code, other): (u32, u32),
    ) -> Result<Option<*mut TupleTableSlot>, OutOfMemory> {
        let (outer, inner) = (batch.outer.row(code), batch.inner.row(other));
        if self.parts.kind.needs_one_partner() {
            self.take_partner(batch, outer, inner)?;
            return Ok(None);
        }
        let is_pair = self.take_pair(batch, outer, inner)?;
        Ok(if is_pair { self.filtered() } else { None })
    }

    /// Whether a further partner of this outer row is wanted.
    #[inline]
    pub(super) fn is_open(&self, batch: &JoinBatch, outer: u32) -> bool {
        !self.parts.kind.needs_one_partner() || !self.partners.outer.contains(batch.outer.number(outer))
    }

    /// Takes an outer row with its partner. The row is returned after the batch has been searched.
    pub(super) fn take_partner(
        &mut self,
        batch: &JoinBatch,
        outer: u32,
        inner: u32,
    ) -> Result<(), OutOfMemory> {
        if self.take_pair(batch, outer, inner)? && self.parts.kind.returns_pairs() {
            push(&mut self.found, [outer, inner])?;
        }
        Ok(())
    }

    /// Makes a near pair the current row, and notes the two as partners if they satisfy the other conditions
    /// of the join. Returns whether the join wants the pair, which may be the first of its outer row only.
    fn take_pair(&mut self, batch: &JoinBatch, outer: u32, inner: u32) -> Result<bool, OutOfMemory> {
        let kind = self.parts.kind;
        if !self.is_open(batch, outer) {
            return Ok(false);
        }
        if !kind.needs_one_partner() || !self.parts.conditions.is_null() {
            check_for_interrupts();
            self.put(batch, [Some(outer), Some(inner)]);
            // SAFETY: the node is being executed, and has a current row.
            if unsafe { !holds(self.parts.conditions, self.parts.context) } {
                self.removed += 1;
                return Ok(false);
            }
        }
        let [notes_outer, notes_inner] = kind.notes_partners();
        if notes_inner {
            self.partners.inner.insert(batch.inner.number(inner))?;
        }
        if notes_outer {
            let is_new = self.partners.outer.insert(batch.outer.number(outer))?;
            return Ok(is_new || !kind.needs_one_partner());
        }
        Ok(true)
    }

    /// The next of these rows. A row without a partner is returned only if the rows of its side have
    /// been compared with the whole other side.
    pub(super) fn next_late(
        &mut self,
        rows: LateRows,
        returns_lone: [bool; 2],
        batch: &JoinBatch,
    ) -> Option<*mut TupleTableSlot> {
        let kind = self.parts.kind;
        let count = match rows {
            LateRows::WithPartner => self.found.len(),
            LateRows::LoneOuter if kind.keeps_outer() && returns_lone[0] => batch.outer.rows.len(),
            LateRows::LoneInner if kind.keeps_inner() && returns_lone[1] => batch.inner.rows.len(),
            _ => 0,
        };
        while self.next < count {
            check_for_interrupts();
            let row = self.next as u32;
            self.next += 1;
            let (is_returned, of_sides) = match rows {
                LateRows::WithPartner => (true, self.found[row as usize].map(Some)),
                LateRows::LoneOuter => {
                    (!self.partners.outer.contains(batch.outer.number(row)), [Some(row), None])
                }
                LateRows::LoneInner => {
                    (!self.partners.inner.contains(batch.inner.number(row)), [None, Some(row)])
                }
            };
            if is_returned {
                self.put(batch, of_sides);
                let row = self.filtered();
                if row.is_some() {
                    return row;
                }
            }
        }
        self.next = 0;
        None
    }

    /// Makes an outer row and an inner row the current row. One of them may be missing.
    fn put(&self, batch: &JoinBatch, rows: [Option<u32>; 2]) {
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
    fn filtered(&mut self) -> Option<*mut TupleTableSlot> {
        // SAFETY: the node is being executed, and has a current row.
        unsafe {
            if holds(self.parts.filter, self.parts.context) {
                return Some(projected(self.parts.projection, self.parts.row));
            }
            self.filtered += 1;
            None
        }
    }
}
