//! Returns rows: pairs, outer rows with a partner, and rows without one.

use super::run::{NearJoin, NodeParts, Stage};
use super::side::JoinSide;
use crate::pg::executor::{holds, projected, reset, virtual_row};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{self, SqlError};
use pgrx::pg_sys::TupleTableSlot;

impl NearJoin {
    /// The next pair that the join returns.
    ///
    /// # Safety
    /// The node must be in execution.
    pub(super) unsafe fn next_of_pairs(&mut self) -> Result<Option<*mut TupleTableSlot>, SqlError> {
        let kind = self.parts.kind;
        while self.next_pair < self.pairs.len() {
            check_for_interrupts();
            let (code, other) = self.pairs[self.next_pair];
            self.next_pair += 1;
            let (outer, inner) = (self.outer.row(code), self.inner.row(other));
            let number = self.outer.number(outer);
            if kind.needs_one_partner() && self.outer_partners.contains(number) {
                continue;
            }
            // SAFETY: the node is in execution, as the caller promises.
            unsafe {
                self.put(Some(outer), Some(inner));
                if !holds(self.parts.conditions, self.parts.context) {
                    self.work.removed += 1;
                    continue;
                }
            }
            if kind.keeps_outer() || kind.needs_one_partner() {
                self.outer_partners.insert(number).map_err(report::problem)?;
            }
            if kind.keeps_inner() {
                self.inner_partners.insert(self.inner.number(inner)).map_err(report::problem)?;
            }
            if kind.returns_pairs() {
                // SAFETY: the node is in execution, and its row is that of the pair.
                let row = unsafe { self.filtered() };
                if row.is_some() {
                    return Ok(row);
                }
            }
        }
        match self.rest.is_empty() {
            true => self.stage = Stage::LoneOuter(0),
            false => self.find_pairs()?,
        }
        Ok(None)
    }

    /// The next outer row of the batch that has found its partner there.
    ///
    /// # Safety
    /// The node must be in execution.
    pub(super) unsafe fn next_with_partner(&mut self, first: u32) -> Option<*mut TupleTableSlot> {
        for code in first..self.outer.count as u32 {
            check_for_interrupts();
            let row = self.outer.row(code);
            if !self.outer_partners.contains(self.outer.number(row)) {
                continue;
            }
            // SAFETY: the node is in execution, as the caller promises.
            unsafe {
                self.put(Some(row), None);
                if let Some(result) = self.filtered() {
                    self.stage = Stage::WithPartner(code + 1);
                    return Some(result);
                }
            }
        }
        self.stage = Stage::Batch;
        None
    }

    /// The next outer row without a partner, filled up with NULLs.
    ///
    /// # Safety
    /// The node must be in execution.
    pub(super) unsafe fn next_lone_outer(&mut self, first: u32) -> Option<*mut TupleTableSlot> {
        for row in first..self.outer.rows.len() as u32 {
            check_for_interrupts();
            if self.outer_partners.contains(self.outer.number(row)) {
                continue;
            }
            // SAFETY: the node is in execution, as the caller promises.
            unsafe {
                self.put(Some(row), None);
                if let Some(result) = self.filtered() {
                    self.stage = Stage::LoneOuter(row + 1);
                    return Some(result);
                }
            }
        }
        self.stage = Stage::Batch;
        None
    }

    /// The next inner row without a partner, filled up with NULLs.
    ///
    /// # Safety
    /// The node must be in execution.
    pub(super) unsafe fn next_lone_inner(&mut self, first: u32) -> Option<*mut TupleTableSlot> {
        for row in first..self.inner.rows.len() as u32 {
            check_for_interrupts();
            if self.inner_partners.contains(self.inner.number(row)) {
                continue;
            }
            // SAFETY: the node is in execution, as the caller promises.
            unsafe {
                self.put(None, Some(row));
                if let Some(result) = self.filtered() {
                    self.stage = Stage::LoneInner(row + 1);
                    return Some(result);
                }
            }
        }
        self.stage = self.after_chunk();
        None
    }

    /// Makes the current row of these two, of which one may be missing.
    ///
    /// # Safety
    /// The node must be in execution.
    unsafe fn put(&self, outer: Option<u32>, inner: Option<u32>) {
        // SAFETY: the node is in execution, as the caller promises.
        unsafe { put(&self.parts, [&self.outer, &self.inner], [outer, inner]) };
    }

    /// What the node returns of the current row; None if it does not pass the conditions after the join.
    ///
    /// # Safety
    /// The node must be in execution, and have a current row.
    unsafe fn filtered(&mut self) -> Option<*mut TupleTableSlot> {
        // SAFETY: as the caller promises.
        unsafe {
            if holds(self.parts.filter, self.parts.context) {
                return Some(projected(self.parts.projection, self.parts.row));
            }
            self.work.filtered += 1;
            None
        }
    }
}

/// Makes the current row of an outer row and an inner one, of which one may be missing.
///
/// # Safety
/// The node must be in execution.
pub(super) unsafe fn put(
    parts: &NodeParts,
    [outer, inner]: [&JoinSide; 2],
    [outer_row, inner_row]: [Option<u32>; 2],
) {
    // SAFETY: the node is in execution, as the caller promises.
    unsafe {
        let context = parts.context;
        reset(context);
        (*context).ecxt_scantuple = parts.row;
        let (values, nulls) = virtual_row(parts.row);
        let (values, inner_values) = values.split_at_mut(outer.rows.width());
        let (nulls, inner_nulls) = nulls.split_at_mut(outer.rows.width());
        match outer_row {
            Some(row) => outer.rows.put(row, values, nulls),
            None => nulls.fill(true),
        }
        match inner_row {
            Some(row) => inner.rows.put(row, inner_values, inner_nulls),
            None => inner_nulls.fill(true),
        }
    }
}
