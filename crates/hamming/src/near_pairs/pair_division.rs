//! Near pairs of codes that memory has no room for: codes are divided into parts by some of their bits.
//!
//! Each segment of the plan is processed in several passes. A segment in which `t` bits may differ is cut
//! into `t + 1` groups of bits. Two codes that the segment finds agree in at least one of these groups. So
//! there is a **pass** for each group, which divides both sides by the bits of the group: the two codes of
//! each pair that the pass reports are in the same part. The rows of a part are sorted into buckets by the
//! other bits of the segment.
//!
//! If the bits are parities, the two codes do not agree in one of the groups, but differ in it as the center
//! says. There is a bit in which they then differ. Before a part is chosen, all bits of the code that has
//! this bit are changed as the center says, after which the codes agree.
//!
//! Guarantee: every pair is reported exactly once, in the first pass that finds it.
//!
//! Cost: `radius + 1` passes through all codes. There are as many comparisons as without a division.

use super::plan::{BitSegment, JoinPlan, JoinSides, groups_of, lowest};
use super::segment_cost::{JoinSize, MAX_SEGMENT_BITS};
use super::{CodeRadii, CodeSlice, PairSearch};
use crate::buckets::BitChoice;
use base::{OutOfMemory, collect, push};

/// Divides codes into parts.
pub struct PairDivision {
    radii: CodeRadii,
    widest: u32,
    /// One segment for each pass.
    segments: Vec<BitSegment>,
    /// For each pass, the bits that choose a code's part.
    divisions: Vec<PassDivision>,
}

/// The bits by which a pass divides codes. They are folded to fewer bits.
struct PassDivision {
    group: BitChoice,
    /// A further bit, in which the two codes of each pair differ; 0 if they agree in all bits, as they do
    /// unless the bits are parities. If a code has it, its bits are changed to those of the other code.
    turn: u64,
    /// The number of bits of a part's number.
    bits: u32,
    /// The first shift by which bits are folded: `bits`, doubled while it is below the number of the group's
    /// bits.
    shift: u32,
}

impl PairDivision {
    /// Plans a division of `rows` codes on the two sides into up to `1 << bits` parts. The samples have codes
    /// of both sides. For each word, `varying` has the bits in which not all codes of both sides are equal.
    ///
    /// Buckets of a part are chosen by about `widest` bits at most, which must be at least 1.
    ///
    /// `None` if all codes would have to be compared with all.
    pub fn new(
        samples: [CodeSlice<'_>; 2],
        varying: &[u64],
        rows: [usize; 2],
        radii: impl Into<CodeRadii>,
        [bits, widest]: [u32; 2],
    ) -> Result<Option<Self>, OutOfMemory> {
        let mut differences = JoinSides::between(samples).differences()?;
        differences.varying.copy_from_slice(varying);
        // The bits by which codes are divided need no buckets.
        let widest_of_plan = (widest + bits).min(MAX_SEGMENT_BITS);
        let of_rows = JoinSize::of(rows[0], Some(rows[1]), widest_of_plan);
        let size = JoinSize { divided: bits, ..of_rows };
        let radii = radii.into();
        let plan = JoinPlan::of_size(&size, &differences, &radii)?;
        Self::of_plan(&plan, radii, [bits, widest])
    }

    /// Divides codes by the segments of a plan.
    pub(super) fn of_plan(
        plan: &JoinPlan,
        radii: CodeRadii,
        [bits, widest]: [u32; 2],
    ) -> Result<Option<Self>, OutOfMemory> {
        let mut division = Self { radii, widest, segments: Vec::new(), divisions: Vec::new() };
        for segment in &plan.segments {
            if segment.bits.mask == 0 {
                return Ok(None);
            }
            division.add_passes(segment, bits)?;
        }
        Ok(Some(division))
    }

    /// Adds a pass for each group of bits of a segment. The segment must have more bits than flips.
    fn add_passes(&mut self, segment: &BitSegment, bits: u32) -> Result<(), OutOfMemory> {
        let mut differing = Vec::new();
        for group in groups_of(segment.bits.mask, segment.threshold + 1) {
            let turn = lowest(group & segment.center, 1);
            let folded = group & !turn;
            let bits = bits.min(folded.count_ones());
            // Bits that are not sorted by follow from the number of the part and the other bits of the group.
            let sorted_by = BitChoice::of_mask(segment.bits.mask & !lowest(folded, bits));
            let mut of_pass = Vec::new();
            differing.iter().try_for_each(|&earlier| push(&mut of_pass, earlier))?;
            let pass = BitSegment { bits: sorted_by, equal: group, differing: of_pass, ..segment.clone() };
            push(&mut self.segments, pass)?;
            let mut shift = bits;
            while shift > 0 && 2 * shift < folded.count_ones() {
                shift *= 2;
            }
            let divided = PassDivision { group: BitChoice::of_mask(folded), turn, bits, shift };
            push(&mut self.divisions, divided)?;
            push(&mut differing, group)?;
        }
        debug_assert_eq!(
            differing.iter().fold(0, |all, group| all ^ group),
            segment.bits.mask,
            "each bit of a segment is in one of its groups"
        );
        debug_assert!(differing.iter().all(|&group| group != 0), "a group divides codes");
        debug_assert!(
            segment.alone.iter().all(|set| differing.iter().any(|group| group & set == 0)),
            "two codes agree in a group"
        );
        Ok(())
    }

    /// The number of passes.
    pub fn passes(&self) -> usize {
        self.segments.len()
    }

    /// The number of parts in a pass.
    pub fn parts(&self, pass: usize) -> usize {
        1 << self.divisions[pass].bits
    }

    /// The part of a code.
    #[inline]
    pub fn part(&self, pass: usize, code: &[u64]) -> usize {
        let &PassDivision { ref group, turn, bits, mut shift } = &self.divisions[pass];
        let segment = &self.segments[pass];
        let word = segment.word_of(|word| code[word]);
        let turned = if word & turn == 0 { word } else { word ^ segment.center };
        // Folds the bits by XOR to `bits` bits: first in half, then the half in half, and so on.
        let mut folded = group.of(turned);
        while shift >= bits.max(1) {
            folded ^= folded >> shift;
            shift /= 2;
        }
        (folded & ((1 << bits) - 1)) as usize
    }

    /// A search for the near pairs between the codes of one part in a pass.
    pub fn search(&self, pass: usize) -> Result<PairSearch, OutOfMemory> {
        let copies = |segments: &[BitSegment]| collect(segments.iter().cloned(), segments.len());
        let plan = JoinPlan { segments: copies(&self.segments[pass..=pass])? };
        Ok(PairSearch::new(plan, copies(&self.segments[..pass])?, self.radii.clone(), self.widest))
    }
}
