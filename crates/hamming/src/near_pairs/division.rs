//! Near pairs of more codes than memory has room for: the codes are divided into parts by their bits.
//!
//! The segments of the plan for all codes are gone through, and each as often as its flips demand. A segment
//! in which `t` bits may differ is cut into `t + 1` groups of bits. Two codes that the segment finds agree in
//! one of these groups at least. So there is a **pass** for each group, which divides both sides by the bits
//! of the group: the pairs that the pass reports lie in one part. It sorts the rows of a part by the other
//! bits of the segment, so that all parts together are one table of buckets.
//!
//! Guarantee: every pair is reported exactly once, in the first pass that finds it.
//!
//! Cost: `radius + 1` passes through all codes. The comparisons are those of the plan without a division.

use super::plan::{BitSegment, JoinPlan, JoinSides, JoinSize, lowest};
use super::{CodeSlice, PairFinder, PairJoin};
use crate::buckets::{BitChoice, PlacedCodes};
use base::{Heartbeat, OutOfMemory, push};

/// How codes are divided into parts.
pub struct PairDivision {
    radius: u32,
    widest: u32,
    /// In the order of the passes.
    segments: Vec<BitSegment>,
    /// For each pass, how a code is put into a part.
    divisions: Vec<Divided>,
}

/// The bits by which a pass divides codes: they are folded to a few.
struct Divided {
    word: usize,
    group: BitChoice,
    /// The bits of a part's number.
    bits: u32,
}

impl PairDivision {
    /// How to divide so many codes, and so many others, into `1 << bits` parts or fewer. The samples are
    /// codes of both sides. In `varying`, a word has the bits in which not all codes of both sides are alike.
    ///
    /// Buckets of a part are by at most `widest` bits, which is at least 1.
    ///
    /// `None` if all codes would have to be compared with all.
    pub fn new(
        samples: [CodeSlice<'_>; 2],
        varying: &[u64],
        rows: [usize; 2],
        radius: u32,
        [bits, widest]: [u32; 2],
    ) -> Result<Option<Self>, OutOfMemory> {
        let [left, right] = samples.map(|codes| PlacedCodes { codes, places: None });
        let mut spread = JoinSides { left, right: Some(right) }.spread()?;
        spread.varying.copy_from_slice(varying);
        let size = JoinSize::of(rows[0], Some(rows[1]), widest + bits);
        let plan = JoinPlan::of_size(&size, &spread, radius);
        let mut division = Self { radius, widest, segments: Vec::new(), divisions: Vec::new() };
        for segment in &plan.segments {
            if segment.bits.mask == 0 {
                return Ok(None);
            }
            division.add_passes(segment, bits)?;
        }
        Ok(Some(division))
    }

    /// Adds a pass for each group of bits of a segment, which has more bits than flips.
    fn add_passes(&mut self, segment: &BitSegment, bits: u32) -> Result<(), OutOfMemory> {
        let groups = segment.threshold + 1;
        let (all, mut rest) = (segment.bits.mask.count_ones(), segment.bits.mask);
        let mut differing = Vec::new();
        for number in 0..groups {
            let group = lowest(rest, all / groups + u32::from(number < all % groups));
            rest &= !group;
            let bits = bits.min(group.count_ones());
            // The bits that are left out follow from the number of the part and the rest of the group.
            let sorted_by = BitChoice::of_mask(segment.bits.mask & !lowest(group, bits));
            let mut of_pass = Vec::new();
            differing.iter().try_for_each(|&earlier| push(&mut of_pass, earlier))?;
            let pass = BitSegment { bits: sorted_by, equal: group, differing: of_pass, ..segment.clone() };
            push(&mut self.segments, pass)?;
            let divided = Divided { word: segment.word, group: BitChoice::of_mask(group), bits };
            push(&mut self.divisions, divided)?;
            push(&mut differing, group)?;
        }
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

    /// The part that a code is in.
    #[inline]
    pub fn part(&self, pass: usize, code: &[u64]) -> usize {
        let Divided { word, group, bits } = &self.divisions[pass];
        // Pieces of so many bits, one upon the other: first the half of them, then the half of these.
        let folded = [16, 8, 4, 2, 1].iter().fold(group.of(code[*word]), |folded, pieces| {
            folded ^ folded.checked_shr(bits * pieces).unwrap_or_default()
        });
        if *bits == 0 { 0 } else { (folded & ((1 << bits) - 1)) as usize }
    }

    /// Finds the pairs of a pass between codes and others of one part, as
    /// [`near_pairs_between`](super::near_pairs_between) does.
    ///
    /// # Panics
    /// If there are more than `u32::MAX` codes on a side.
    pub fn near_pairs<F: PairFinder>(
        &self,
        pass: usize,
        [codes, others]: [CodeSlice<'_>; 2],
        heartbeat: &mut dyn Heartbeat,
        finder: &mut F,
    ) -> Result<(), F::Stop> {
        assert!(u32::try_from(codes.len().max(others.len())).is_ok(), "places have 32 bits");
        let [left, right] = [codes, others].map(|codes| PlacedCodes { codes, places: None });
        let mut join = PairJoin::new([codes, others], self.radius, heartbeat, finder);
        (join.sorted, join.widest) = (false, self.widest);
        for earlier in &self.segments[..pass] {
            push(&mut join.earlier, earlier.clone())?;
        }
        let mut plan = JoinPlan::default();
        push(&mut plan.segments, self.segments[pass].clone())?;
        join.run(&plan, &JoinSides { left, right: Some(right) })
    }
}
