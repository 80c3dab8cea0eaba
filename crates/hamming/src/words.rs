//! Codes cut into words of 64 bits, for algorithms that compare many codes of one length.

use limits::{OutOfMemory, reserve};

/// Codes of one number of words, one behind the other. A fingerprint is a code of one word.
#[derive(Clone, Copy, Debug)]
pub struct Codes<'a> {
    words: &'a [u64],
    width: usize,
}

impl<'a> Codes<'a> {
    /// Codes of `width` words.
    ///
    /// # Panics
    /// If the last code is not complete.
    pub fn new(words: &'a [u64], width: usize) -> Self {
        assert!(words.len().is_multiple_of(width), "each code has {width} words");
        Self { words, width }
    }

    /// Codes of one word.
    pub fn fingerprints(values: &'a [u64]) -> Self {
        Self { words: values, width: 1 }
    }

    /// The number of codes.
    pub fn len(self) -> usize {
        self.words.len() / self.width
    }

    /// Whether there are no codes.
    pub fn is_empty(self) -> bool {
        self.words.is_empty()
    }

    /// The number of words of a code.
    pub fn width(self) -> usize {
        self.width
    }

    /// The words of a code.
    #[inline]
    pub fn get(self, place: u32) -> &'a [u64] {
        let first = place as usize * self.width;
        &self.words[first..first + self.width]
    }

    /// All codes, in order.
    #[inline]
    pub fn iter(self) -> std::slice::ChunksExact<'a, u64> {
        self.words.chunks_exact(self.width)
    }

    /// The words of all codes, one behind the other.
    pub fn words(self) -> &'a [u64] {
        self.words
    }

    /// The words of the codes at these places, of which there are `count`.
    pub fn gather(self, places: impl Iterator<Item = u32>, count: usize) -> Result<Vec<u64>, OutOfMemory> {
        let mut words = Vec::new();
        reserve(&mut words, count.saturating_mul(self.width))?;
        places.for_each(|place| words.extend_from_slice(self.get(place)));
        Ok(words)
    }
}

/// The number of bits in which two codes differ.
#[inline(always)]
pub fn distance(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// Cuts strings of bits into words. The distance of two codes is that of their strings.
#[derive(Clone, Copy, Debug)]
pub struct Cutter {
    bits: u32,
    stride: u32,
}

impl Cutter {
    /// Cuts strings of this number of bits.
    pub fn new(bits: u32) -> Self {
        Self { bits, stride: stride(bits) }
    }

    /// Bits of a string.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// Words of a code. A string without bits has one word, which is 0.
    pub fn width(self) -> usize {
        self.bits.div_ceil(u64::BITS).max(1) as usize
    }

    /// Bits of a word, which are its lowest.
    pub fn bits_of(self, word: usize) -> u32 {
        let before = |word: usize| (word as u64 * u64::from(self.bits) / self.width() as u64) as u32;
        before(word + 1) - before(word)
    }

    /// The words of a string, whose first bit is the highest of its first byte. All words have nearly the same
    /// number of bits, and the bits of each come from all over the string.
    pub fn words_of(self, string: &[u8]) -> impl Iterator<Item = u64> {
        let bit = |place: u32| u64::from(string[place as usize / 8] >> (7 - place % 8) & 1);
        let mut place = 0;
        (0..self.width()).map(move |word| {
            (0..self.bits_of(word)).fold(0, |bits, _| {
                let more = bits << 1 | bit(place);
                place += self.stride;
                place -= if place >= self.bits { self.bits } else { 0 };
                more
            })
        })
    }
}

/// The places between two neighbouring bits of a word: near the golden section of a code, so that the bits of
/// a part of a word come from all over the code; and without a common divisor, so that every bit has its turn.
///
/// Neighbouring bits of an image's hash often agree, as those of a white margin do. With 2,471 drawings and
/// dHash of 256 bits, words of neighbouring bits were near by chance 15 to 45 times as often as with this.
pub fn stride(bits: u32) -> u32 {
    let have_no_divisor = |stride: u32| {
        let (mut a, mut b) = (bits, stride);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a == 1
    };
    let golden = (u64::from(bits) * 618 / 1000) as u32;
    (golden..bits).find(|&stride| have_no_divisor(stride)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes;
    use proptest::prelude::*;

    #[test]
    fn the_shortest_and_a_long_one() {
        assert_eq!(Cutter::new(0).words_of(&[]).collect::<Vec<u64>>(), [0]);
        assert_eq!(Cutter::new(1).words_of(&[0x80]).collect::<Vec<u64>>(), [1]);
        let long = Cutter::new(10_000_000);
        assert_eq!(long.words_of(&vec![0xff; 1_250_000]).map(u64::count_ones).sum::<u32>(), 10_000_000);
    }

    proptest! {
        #[test]
        fn distances_are_those_of_the_strings(
            (bits, a, b) in (0u32..700).prop_flat_map(|bits| {
                let string = || prop::collection::vec(any::<u8>(), bits.div_ceil(8) as usize);
                (Just(bits), string(), string())
            }),
        ) {
            let cutter = Cutter::new(bits);
            let cleared = |mut string: Vec<u8>| {
                let unused = 8 * string.len() as u32 - bits;
                string.last_mut().into_iter().for_each(|last| *last = *last >> unused << unused);
                string
            };
            let (a, b) = (cleared(a), cleared(b));
            let words = |string: &[u8]| cutter.words_of(string).collect::<Vec<u64>>();
            prop_assert_eq!(words(&a).len(), cutter.width());
            prop_assert_eq!(distance(&words(&a), &words(&b)), codes::distance(&a, &b));
            let ones = words(&cleared(vec![0xff; bits.div_ceil(8) as usize]));
            let widths: Vec<u32> = ones.iter().map(|word| word.count_ones()).collect();
            prop_assert!(widths.iter().all(|width| width.abs_diff(widths[0]) <= 1));
        }
    }
}
