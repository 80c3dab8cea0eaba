//! Words that are hashed in place, without being copied.

use std::hint::select_unpredictable;

/// The number of bytes that are read together.
const CHUNK: usize = 8;
/// The most bytes of a short word.
pub(super) const SHORT_WORD: usize = 2 * CHUNK;
/// The number of bytes that may be read from the beginning of any word, and from its end.
pub(super) const READABLE: usize = 3 * CHUNK;

/// A word with at least [`READABLE`] readable bytes. Behind a longer word, one more chunk is readable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadableWord<'a> {
    /// The word, followed by other bytes.
    pub(super) bytes: &'a [u8],
    pub(super) length: usize,
    /// The bits that are set in each byte of the word.
    pub(super) set: u8,
    /// Whether the word is known to have at most [`SHORT_WORD`] bytes. The caller says so by a constant,
    /// since a branch on it for every word would be mispredicted.
    pub(super) is_short: bool,
}

impl<'a> ReadableWord<'a> {
    /// A word that is not part of a text; it is copied into the buffer.
    pub(crate) fn copied(word: &[u8], buffer: &'a mut Vec<u8>) -> Self {
        buffer.clear();
        buffer.extend_from_slice(word);
        buffer.extend_from_slice(&[0; READABLE]);
        Self { bytes: buffer, length: word.len(), set: 0, is_short: false }
    }

    /// Folds the bytes of the word in chunks of eight. A chunk is a number whose lowest byte comes first. The
    /// last chunk is padded with zeros.
    #[inline(always)]
    pub(crate) fn fold_chunks(self, fold: impl Fn(u64, u64) -> u64) -> u64 {
        if self.is_short {
            debug_assert!((1..=SHORT_WORD).contains(&self.length));
            return self.fold_first_chunks::<{ SHORT_WORD / CHUNK }>(fold);
        }
        match self.length {
            0 => 0,
            // An ideograph. Ideographs follow one another, so the branch is predicted.
            3 => self.fold_first_chunks::<1>(fold),
            1..=READABLE => self.fold_first_chunks::<{ READABLE / CHUNK }>(fold),
            _ => self.fold_all_chunks(fold),
        }
    }

    /// Folds N chunks of a word of 1 byte to N chunks. All N are folded, since branches on the length of
    /// words are often mispredicted.
    #[inline(always)]
    fn fold_first_chunks<const N: usize>(self, fold: impl Fn(u64, u64) -> u64) -> u64 {
        // The mask for a word begins as many bytes before the middle as the word has bytes.
        const MASKS: [u8; 64] = {
            let mut masks = [0; 64];
            let (ones, _) = masks.split_at_mut(32);
            let mut at = 0;
            while at < ones.len() {
                ones[at] = u8::MAX;
                at += 1;
            }
            masks
        };
        let (chunks, _) = self.bytes[..CHUNK * N].as_chunks();
        let (masks, _) = MASKS[self.length.wrapping_neg() % 32..][..CHUNK * N].as_chunks();
        let set = u64::from_le_bytes([self.set; CHUNK]);
        let chunk = |at: usize| (u64::from_le_bytes(chunks[at]) | set) & u64::from_le_bytes(masks[at]);
        (1..N).fold(fold(0, chunk(0)), |result, at| {
            select_unpredictable(self.length > CHUNK * at, fold(result, chunk(at)), result)
        })
    }

    /// Folds the chunks of a word of any length.
    fn fold_all_chunks(self, fold: impl Fn(u64, u64) -> u64) -> u64 {
        let set = u64::from_le_bytes([self.set; CHUNK]);
        let mut result = 0;
        let mut at = 0;
        while at < self.length {
            let chunk: [u8; CHUNK] = self.bytes[at..at + CHUNK].first_chunk().copied().unwrap_or_default();
            let bytes = (self.length - at).min(CHUNK);
            let mask = u64::MAX >> (u64::BITS as usize - 8 * bytes);
            result = fold(result, (u64::from_le_bytes(chunk) | set) & mask);
            at += CHUNK;
        }
        result
    }

    /// Whether the word is longer than three bytes, or begins with a character of three bytes.
    #[inline(always)]
    pub(crate) fn is_long(self) -> bool {
        // There are no branches, since they would be mispredicted. If bits are set, all characters are ASCII.
        (self.length > 3) | (self.set == 0) & (self.bytes[0] >= 0xe0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_every_length_are_folded_alike() {
        let bytes: Vec<u8> = (0x41..).take(100).collect();
        let fold = |folded: u64, chunk: u64| folded.rotate_left(9) ^ chunk;
        for (length, set) in (1..60).flat_map(|length| [(length, 0), (length, 0x20)]) {
            let word = ReadableWord { bytes: &bytes, length, set, is_short: false };
            let expected = bytes[..length].chunks(8).fold(0, |folded, chunk| {
                let number = chunk.iter().rev().fold(0, |number, byte| number << 8 | u64::from(byte | set));
                fold(folded, number)
            });
            assert_eq!(word.fold_chunks(fold), expected, "{length}");
            assert_eq!(word.fold_all_chunks(fold), expected, "{length}");
            if length <= SHORT_WORD {
                let short = ReadableWord { is_short: true, ..word };
                assert_eq!(short.fold_chunks(fold), expected, "{length}");
            }
        }
    }
}
