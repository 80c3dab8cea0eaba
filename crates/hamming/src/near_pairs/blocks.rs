//! Near pairs on several machines: codes are put into blocks, and each block is searched separately.
//!
//! A code's blocks depend only on the code, so each machine can compute them. There are two forms:
//!
//! - **Segments**: the bits are cut into one more segment than the radius. A code is in one block of each
//!   segment, chosen by the code's bits there. Two near codes agree in at least one segment.
//! - **Triangle**: a hash divides the codes into groups. There is a block for every two groups, and one for
//!   each group. A code is in all blocks of its group.
//!
//! Guarantee: two near codes share at least one block. They share several if they agree in several segments,
//! or are in the same group.
//!
//! Cost: with segments, a code is in `radius + 1` blocks, and a block has `1 / parts` of the codes. With a
//! triangle, it is in `parts` blocks, and a block has up to `2 / parts` of the codes. Segments are used if
//! they need fewer copies for blocks of the same size, and if they have enough bits to separate codes. All
//! codes that agree in a segment are in the same block of it, however many they are.

use super::plan::{BitSegment, JoinPlan, lowest};
use super::segment_cost::MAX_SEGMENT_BITS;
use crate::code::CodeCutter;
use crate::hash::scattered;
use base::{Limit, OutOfMemory, collect};

/// With fewer bits per segment, blocks are so full that a triangle costs less.
const MIN_SEGMENT_BITS: u32 = 13;

/// The number of parts.
pub const PARTS: Limit = Limit::new("parts", 1, 4096);

/// Computes the blocks of codes.
pub struct PairBlocks {
    parts: u32,
    form: BlockForm,
}

enum BlockForm {
    Segments(Vec<BitSegment>),
    Triangle,
}

impl PairBlocks {
    /// The blocks for codes with this number of bits. The number of parts must be within [`PARTS`].
    pub fn new(bits: u32, radius: u32, parts: u32) -> Self {
        let pays = parts > 1 && radius < 2 * parts;
        let segments = if pays { segments(CodeCutter::new(bits), radius + 1) } else { None };
        Self { parts, form: segments.map_or(BlockForm::Triangle, BlockForm::Segments) }
    }

    /// The blocks of a code, in ascending order.
    pub fn blocks_of(&self, code: &[u64]) -> Result<Vec<u32>, OutOfMemory> {
        match &self.form {
            BlockForm::Segments(segments) => {
                let blocks = (0..).zip(segments).map(|(segment, bits)| self.block_in(segment, bits, code));
                collect(blocks, segments.len())
            }
            BlockForm::Triangle => {
                let group = self.group(code);
                let block = |other: u32| group.max(other) * (group.max(other) + 1) / 2 + group.min(other);
                collect((0..self.parts).map(block), self.parts as usize)
            }
        }
    }

    /// The block of a code in a segment.
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

/// Segments of bits that must be equal. They are distributed over the words: if a word has `n` segments, and
/// two codes differ in fewer than `n` bits of the word, they agree in one of these segments. Two near codes
/// cannot differ in more bits of every word. `None` if segments would have too few bits.
fn segments(cutter: CodeCutter, count: u32) -> Option<Vec<BitSegment>> {
    let words = cutter.width() as u32;
    let mut segments = Vec::new();
    for word in 0..words.min(count) {
        let of_word = count / words + u32::from(word < count % words);
        let bits = cutter.bits_of(word as usize);
        if bits / of_word < MIN_SEGMENT_BITS {
            return None;
        }
        // If a segment would be too wide, some bits belong to no segment.
        let cut = of_word.max(bits.div_ceil(MAX_SEGMENT_BITS));
        segments.extend(JoinPlan::of_segments(word as usize, cut, lowest(u64::MAX, bits), of_word).segments);
    }
    Some(segments)
}
