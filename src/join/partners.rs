//! Which outer rows have a partner, for joins that ask no more of them.

use super::look::Look;
use super::output::put;
use super::run::{JoinWork, NodeParts};
use super::side::{JoinSide, RowSet};
use crate::pg::executor::holds;
use crate::pg::interrupts::check_for_interrupts;
use hamming::near_pairs::PairFinder;
use limits::OutOfMemory;

/// Takes near pairs of a batch and a chunk, and notes the outer rows that have a partner. Of these, no
/// further pairs are wanted.
pub(super) struct OuterPartners<'a> {
    pub(super) parts: &'a NodeParts,
    /// The outer side and the inner one.
    pub(super) sides: [&'a JoinSide; 2],
    pub(super) partners: &'a mut RowSet,
    pub(super) looks: &'a [Look<'a>],
    pub(super) work: &'a mut JoinWork,
}

impl OuterPartners<'_> {
    #[inline]
    fn is_open(&self, code: u32) -> bool {
        let outer = self.sides[0];
        !self.partners.contains(outer.number(outer.row(code)))
    }
}

impl PairFinder for OuterPartners<'_> {
    type Stop = OutOfMemory;

    fn found(&mut self, code: u32, other: u32) -> Result<(), OutOfMemory> {
        if !self.is_open(code) {
            return Ok(());
        }
        self.work.matches += 1;
        let [outer, inner] = self.sides;
        let row = outer.row(code);
        if !self.parts.conditions.is_null() {
            check_for_interrupts();
            // SAFETY: the node is in execution, since it looks for pairs.
            unsafe {
                put(self.parts, self.sides, [Some(row), Some(inner.row(other))]);
                if !holds(self.parts.conditions, self.parts.context) {
                    self.work.removed += 1;
                    return Ok(());
                }
            }
        }
        self.partners.insert(outer.number(row))
    }

    fn wants(&mut self, these: &[u32], _those: &[u32]) -> bool {
        these.iter().any(|&code| self.is_open(code))
    }

    fn retain(&mut self, pairs: &mut Vec<(u32, u32)>) {
        pairs.retain(|&(code, _)| self.is_open(code));
        for look in self.looks {
            self.work.dismissed += look.retain(pairs, 0) as u64;
        }
    }

    fn compared(&mut self, comparisons: u64) {
        self.work.comparisons += comparisons;
    }
}
