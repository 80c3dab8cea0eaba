//! The conditions on distances of a batch and a chunk: the first finds pairs, the others look at them.

use super::division::JoinDivision;
use super::run::NearJoin;
use super::side::JoinSide;
use crate::pg::code::list::CodeList;
use crate::pg::interrupts::check_for_interrupts;
use hamming::code::CodeSlice;
use hamming::near_pairs::{PairFinder, near_pairs_between, retain_within};
use std::ops::Range;

/// A condition on a distance: the codes of the batch, and those of the chunk.
pub(super) struct Look<'a> {
    codes: [CodeSlice<'a>; 2],
    radius: u32,
}

/// The conditions on distances.
pub(super) fn looks<'a>([outer, inner]: [&'a JoinSide; 2], radii: &[u32]) -> Vec<Look<'a>> {
    let codes = |side: &'a JoinSide| side.codes.iter().map(CodeList::codes);
    let codes = codes(outer).zip(codes(inner));
    // Bounded: as many as the query has conditions.
    codes.zip(radii).map(|((outer, inner), &radius)| Look { codes: [outer, inner], radius }).collect()
}

impl Look<'_> {
    /// Finds the pairs of some codes of the batch with the chunk. If both are parts of a division, those of
    /// its pass.
    pub(super) fn search<F: PairFinder>(
        &self,
        division: Option<&JoinDivision>,
        codes: Range<usize>,
        finder: &mut F,
    ) -> Result<(), F::Stop> {
        let [outer, inner] = [self.codes[0].range(codes), self.codes[1]];
        let heartbeat = &mut check_for_interrupts;
        match division.and_then(JoinDivision::pass) {
            Some((plan, pass)) => plan.near_pairs(pass, [outer, inner], heartbeat, finder),
            None => {
                let widest = NearJoin::widest_segment();
                near_pairs_between(outer, inner, self.radius, widest, heartbeat, finder)
            }
        }
    }

    /// Leaves the pairs that are within the radius. The first places are counted from this one on. Returns
    /// how many are not.
    pub(super) fn retain(&self, pairs: &mut Vec<(u32, u32)>, first: usize) -> usize {
        let before = pairs.len();
        let [outer, inner] = self.codes;
        retain_within(pairs, [outer.range(first..outer.len()), inner], self.radius);
        before - pairs.len()
    }
}
