//! Near pairs in parts: codes are put into blocks, and each block is searched by itself.
//!
//! The blocks of a code depend on this code alone, so several machines can compute them. There are two forms:
//!
//! - **Segments**: as many segments of bits as the radius and one more. Two near codes agree in at least one
//!   segment. A code is in one block of each segment, chosen by its bits there. A pair belongs to the first
//!   segment that finds it.
//! - **Triangle**: a hash divides the codes into groups. There is a block for every two groups, and one for
//!   each group with itself. A pair belongs to the block of its two groups.
//!
//! Guarantee: the blocks together find each near pair exactly once.
//!
//! Cost: a code is in `radius + 1` blocks of segments, and such a block has `1 / parts` of the codes. Or it
//! is in `parts` blocks of a triangle, and such a block has up to `2 / parts` of the codes. Segments are
//! taken if they need fewer copies for blocks of the same size, and if they are wide enough to tell codes
//! apart. Codes that agree in a segment are all in one block of it, however many they are. Memory: that of a
//! search among the codes of the block. A block of two groups also copies its codes.

use super::plan::{BitSegment, JoinPlan, JoinSides, MAX_SEGMENT_BITS, lowest};
use super::{PairFinder, PairJoin};
use crate::buckets::PlacedCodes;
use crate::code::{CodeCutter, CodeSlice};
use crate::hash::scattered;
use limits::{Heartbeat, Limit, OutOfMemory, reserve};

/// With fewer bits in a segment, its buckets are so full that a triangle costs less.
const MIN_SEGMENT_BITS: u32 = 13;

/// Places between two heartbeats.
const STRIDE: u32 = 1 << 16;

/// The number of parts.
pub const PARTS: Limit = Limit::new("parts", 1, 4096);

/// Which blocks a code is in.
pub struct PairPartition {
    radius: u32,
    parts: u32,
    form: PartitionForm,
}

enum PartitionForm {
    Segments(Vec<BitSegment>),
    Triangle,
}

impl PairPartition {
    /// The partition of codes that have this number of bits. The number of parts must be within [`PARTS`].
    pub fn new(bits: u32, radius: u32, parts: u32) -> Self {
        let pays = parts > 1 && radius < 2 * parts;
        let segments = if pays { segments(CodeCutter::new(bits), radius + 1) } else { None };
        Self { radius, parts, form: segments.map_or(PartitionForm::Triangle, PartitionForm::Segments) }
    }

    /// The number of blocks. They are numbered from 0.
    pub fn blocks(&self) -> u32 {
        match &self.form {
            PartitionForm::Segments(segments) => segments.len() as u32 * self.parts,
            PartitionForm::Triangle => block_of_groups(0, self.parts),
        }
    }

    /// The blocks that a code is in, in ascending order.
    pub fn blocks_of(&self, code: &[u64]) -> Vec<u32> {
        match &self.form {
            PartitionForm::Segments(segments) => {
                (0..).zip(segments).map(|(segment, bits)| self.block_in(segment, bits, code)).collect()
            }
            PartitionForm::Triangle => {
                let group = self.group(code);
                (0..self.parts).map(|other| block_of_groups(group.min(other), group.max(other))).collect()
            }
        }
    }

    /// Whether a code is in a block.
    pub fn contains(&self, block: u32, code: &[u64]) -> bool {
        match &self.form {
            PartitionForm::Segments(segments) => {
                let segment = block / self.parts;
                self.block_in(segment, &segments[segment as usize], code) == block
            }
            PartitionForm::Triangle => {
                let (low, high) = groups_of(block);
                [low, high].contains(&self.group(code))
            }
        }
    }

    /// Like [`near_pairs`](super::near_pairs()), for the pairs that belong to a block. All codes must be in
    /// it.
    ///
    /// # Panics
    /// If there are more than `u32::MAX` codes.
    pub fn near_pairs<F: PairFinder>(
        &self,
        block: u32,
        codes: CodeSlice<'_>,
        heartbeat: &mut dyn Heartbeat,
        finder: &mut F,
    ) -> Result<(), F::Stop> {
        assert!(u32::try_from(codes.len()).is_ok(), "places have 32 bits");
        if let PartitionForm::Triangle = self.form {
            let (low, high) = groups_of(block);
            if low != high {
                return self.pairs_of_groups(low, codes, heartbeat, finder);
            }
        }
        let sides = JoinSides { left: PlacedCodes { codes, places: None }, right: None };
        let mut join = PairJoin::new([codes, codes], self.radius, heartbeat, finder);
        let plan = match &self.form {
            PartitionForm::Segments(segments) => {
                let segment = (block / self.parts) as usize;
                // Bounded: a segment for each bit that may differ.
                join.earlier = segments[..segment].to_vec();
                JoinPlan { segments: vec![segments[segment].clone()] }
            }
            PartitionForm::Triangle => sides.plan(self.radius, MAX_SEGMENT_BITS)?,
        };
        join.run(&plan, &sides)
    }

    /// Pairs of a code of the lower group with one of the other group.
    fn pairs_of_groups<F: PairFinder>(
        &self,
        low: u32,
        codes: CodeSlice<'_>,
        heartbeat: &mut dyn Heartbeat,
        finder: &mut F,
    ) -> Result<(), F::Stop> {
        let [of_low, of_high] = self.places(low, codes, heartbeat)?;
        let left = codes.gather(of_low.iter().copied(), of_low.len())?;
        let right = codes.gather(of_high.iter().copied(), of_high.len())?;
        let placed = |codes_of, places| PlacedCodes {
            codes: CodeSlice::new(codes_of, codes.width()),
            places: Some(places),
        };
        let sides = JoinSides { left: placed(&left, &of_low), right: Some(placed(&right, &of_high)) };
        let plan = sides.plan(self.radius, MAX_SEGMENT_BITS)?;
        PairJoin::new([codes, codes], self.radius, heartbeat, finder).run(&plan, &sides)
    }

    /// The places of the codes of a group, and those of the other codes.
    fn places(
        &self,
        group: u32,
        codes: CodeSlice<'_>,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<[Vec<u32>; 2], OutOfMemory> {
        let mut places = [Vec::new(), Vec::new()];
        reserve(&mut places[0], codes.len())?;
        reserve(&mut places[1], codes.len())?;
        for (place, code) in (0..).zip(codes.iter()) {
            if place % STRIDE == 0 {
                heartbeat.beat();
            }
            places[usize::from(self.group(code) != group)].push(place);
        }
        Ok(places)
    }

    /// The block of a segment that a code is in.
    fn block_in(&self, segment: u32, bits: &BitSegment, code: &[u64]) -> u32 {
        segment * self.parts + self.part(u64::from(bits.bits.of(code[bits.word])))
    }

    /// The group of a code in a triangle.
    fn group(&self, code: &[u64]) -> u32 {
        self.part(code.iter().fold(0, |hash, word| scattered(hash ^ word)))
    }

    fn part(&self, number: u64) -> u32 {
        (scattered(number) % u64::from(self.parts)) as u32
    }
}

/// Segments of bits, none of which may differ. The words share them out: if a word has `n` of the segments,
/// and two codes differ in fewer than `n` bits of the word, they agree in one of these segments. Two near
/// codes cannot differ more in every word. `None` if segments have too few bits.
fn segments(cutter: CodeCutter, count: u32) -> Option<Vec<BitSegment>> {
    let words = cutter.width() as u32;
    let mut segments = Vec::new();
    for word in 0..words.min(count) {
        let of_word = count / words + u32::from(word < count % words);
        let bits = cutter.bits_of(word as usize);
        if bits / of_word < MIN_SEGMENT_BITS {
            return None;
        }
        // Bits that would make a segment too wide are in none.
        let cut = of_word.max(bits.div_ceil(MAX_SEGMENT_BITS));
        segments.extend(JoinPlan::of_segments(word as usize, cut, lowest(u64::MAX, bits), of_word)?.segments);
    }
    Some(segments)
}

/// The block of two groups, of which the first is not greater.
fn block_of_groups(low: u32, high: u32) -> u32 {
    high * (high + 1) / 2 + low
}

/// The two groups of a block.
fn groups_of(block: u32) -> (u32, u32) {
    let high = ((8 * u64::from(block) + 1).isqrt() as u32 - 1) / 2;
    (block - block_of_groups(0, high), high)
}
