//! Cuts many codes of one length into words, faster than bit by bit.

use crate::code::CodeCutter;
use base::{OutOfMemory, collect};

/// The numbers that four bits may have, and how often 64 bits have four.
const VALUES: usize = 16;
const QUARTERS: usize = 16;

/// The most words of a code for which there is a table.
const MOST_WORDS: usize = 16;

/// For the first 64 bits of a code, four at a time, the words that they become.
///
/// [`CodeCutter`] moves a code's bit at place `p` to `p * t` modulo the number of bits, for some `t`. So the
/// next 64 bits become the same words, rotated by `64 * t` bits, which are whole words if the code consists
/// of whole words.
pub struct CutTable {
    width: usize,
    words: Vec<u64>,
    /// By how many words the words of each 64 bits are rotated.
    rotations: Vec<usize>,
}

impl CutTable {
    /// The number of words of a table; `None` if there is none for codes of this length.
    pub fn size(cutter: CodeCutter) -> Option<usize> {
        let width = cutter.width();
        let has_table = (2..=MOST_WORDS).contains(&width) && width.is_power_of_two();
        (has_table && cutter.bits().is_multiple_of(u64::BITS)).then_some(QUARTERS * VALUES * width)
    }

    /// The table for codes for which there is a size.
    pub fn new(cutter: CodeCutter, size: usize) -> Result<Self, OutOfMemory> {
        let width = cutter.width();
        let bits = u64::BITS as usize;
        let zeros = |count| collect((0..count).map(|_| 0), count);
        let mut rotations = collect((0..width).map(|_| 0), width)?;
        let mut words: Vec<u64> = zeros(size)?;
        for (to, from) in cutter.places().take(width * bits).enumerate() {
            if from % bits == 0 {
                rotations[from / bits] = to / bits;
            }
            if from < bits {
                for value in (0..VALUES).filter(|value| value & (8 >> (from % 4)) != 0) {
                    words[(from / 4 * VALUES + value) * width + to / bits] |= 1 << (bits - 1 - to % bits);
                }
            }
        }
        Ok(Self { width, words, rotations })
    }

    /// Cuts a code, given as bytes. `words` are the code's words, and must be 0.
    pub fn cut(&self, code: &[u8], words: &mut [u64]) {
        match self.width {
            2 => self.cut_into::<2>(code, words),
            4 => self.cut_into::<4>(code, words),
            8 => self.cut_into::<8>(code, words),
            _ => self.cut_into::<MOST_WORDS>(code, words),
        }
    }

    fn cut_into<const WIDTH: usize>(&self, code: &[u8], words: &mut [u64]) {
        let (entries, _) = self.words.as_chunks::<WIDTH>();
        let (bits, _) = code.as_chunks::<8>();
        for (&bits, &rotation) in bits.iter().zip(&self.rotations) {
            let mut bits = u64::from_be_bytes(bits);
            let mut sum = [0; WIDTH];
            for entries in entries.chunks_exact(VALUES) {
                bits = bits.rotate_left(4);
                let entry = &entries[bits as usize % VALUES];
                (0..WIDTH).for_each(|word| sum[word] |= entry[word]);
            }
            add_rotated(words, &sum, rotation);
        }
    }
}

#[inline(always)]
fn add_rotated(words: &mut [u64], bits: &[u64], rotation: usize) {
    let (first, last) = words.split_at_mut(rotation);
    let add = |(word, bits): (&mut u64, &u64)| *word |= bits;
    let (to_last, to_first) = bits.split_at(last.len());
    last.iter_mut().zip(to_last).for_each(add);
    first.iter_mut().zip(to_first).for_each(add);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cuts_as_the_cutter_does(code in prop::collection::vec(any::<u8>(), 130), words in 0u32..8, more in 0usize..3) {
            let length = (1 << words) + more;
            let code = &code[..length];
            let cutter = CodeCutter::new(u8::BITS * length as u32);
            let Some(size) = CutTable::size(cutter) else {
                prop_assert!(![16, 32, 64, 128].contains(&length));
                return Ok(());
            };
            let mut words = vec![0; cutter.width()];
            CutTable::new(cutter, size).unwrap().cut(code, &mut words);
            prop_assert_eq!(words, cutter.words_of(code).collect::<Vec<_>>());
        }
    }
}
