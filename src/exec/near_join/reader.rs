//! Reads rows from both children of a join, and evaluates their codes.

use super::batch::{JoinBatch, MOST_ROWS};
use crate::pg::code::CodeValue;
use crate::pg::exec_node::{ExecutingNode, Integer, RowEvaluation};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use crate::plan::near_join::{BySide, Side, memory};
use base::{OutOfMemory, push};

/// How much is read at a time.
#[derive(Clone, Copy)]
pub(super) struct ReadLimit {
    pub(super) rows: usize,
    pub(super) bytes: usize,
}

impl ReadLimit {
    /// For the inner side of a join, and for rows that are written to files.
    pub(super) fn of_inner() -> Self {
        Self { rows: MOST_ROWS, bytes: memory::of_inner() }
    }
}

/// Reads rows.
pub(super) struct RowReader {
    /// The radius of each condition: first the one that finds pairs, then those that test them.
    radii: Vec<Integer>,
    /// Whether a child has no more rows. It must not be asked for another row then: a scan would start again.
    pub(super) ended: BySide<bool>,
    /// Whether rows get codes. If not, no rows are near.
    pub(super) gives_codes: bool,
}

impl RowReader {
    pub(super) fn new(radii: Vec<Integer>) -> Self {
        Self { radii, ended: BySide::default(), gives_codes: false }
    }

    /// Evaluates the radii of all conditions. None if one of them is NULL or negative, which matches no rows.
    pub(super) fn radii(&self, evaluation: &mut RowEvaluation) -> Result<Vec<u32>, OutOfMemory> {
        evaluation.reset();
        let mut radii = Vec::new();
        for &radius in &self.radii {
            match evaluation.integer(radius).map(u32::try_from) {
                Some(Ok(radius)) => push(&mut radii, radius)?,
                _ => return Ok(Vec::new()),
            }
        }
        Ok(radii)
    }

    /// Reads rows of a side up to a number of rows and of bytes. A row gets its codes if they are wanted and
    /// none of them is NULL.
    pub(super) fn read(
        &mut self,
        node: &mut ExecutingNode,
        side: Side,
        batch: &mut JoinBatch,
        limit: ReadLimit,
    ) -> Result<(), SqlError> {
        let to = &mut batch[side];
        while !self.ended[side] && to.rows.len() < limit.rows && to.bytes() < limit.bytes {
            check_for_interrupts();
            let Some((row, evaluation)) = node.next_row(side as usize) else {
                self.ended[side] = true;
                break;
            };
            evaluation.reset();
            let values = if self.gives_codes { evaluation.values(side as usize, row) } else { &[] };
            let Some(codes) = CodeValue::all(values) else { unreachable!("the expressions return codes") };
            to.push(row, codes)?;
            to.make_room()?;
        }
        Ok(())
    }
}
