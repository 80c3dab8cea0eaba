//! Words that are hashed where they are found, without being written.

use std::hint::select_unpredictable;

/// A consumer of single words.
pub(crate) trait TakeWord {
    /// Takes a word.
    fn take(&mut self, word: ReadableWord<'_>);

    /// Takes a word of at most [`SHORT_WORD`] bytes. This is the fastest way where most words are shorter.
    fn take_short(&mut self, word: ReadableWord<'_>);

    /// Called while text without words is passed over, so that the heartbeat is called.
    fn pause(&mut self);
}

/// Bytes that are read together.
const CHUNK: usize = 8;
/// Bytes of a short word, at most.
pub(super) const SHORT_WORD: usize = 2 * CHUNK;
/// Bytes that may be read from the beginning of any word, and from its end.
pub(super) const READABLE: usize = 3 * CHUNK;

/// A word with at least [`READABLE`] readable bytes, and a chunk of them behind a longer word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadableWord<'a> {
    /// The word, and bytes behind it.
    pub(super) bytes: &'a [u8],
    pub(super) length: usize,
    /// Bits to be set in each byte of the word.
    pub(super) set: u8,
}

impl<'a> ReadableWord<'a> {
    /// A word that is not in a text; it is copied into the buffer.
    pub(crate) fn copied(word: &[u8], buffer: &'a mut Vec<u8>) -> Self {
        buffer.clear();
        buffer.extend_from_slice(word);
        buffer.extend_from_slice(&[0; READABLE]);
        Self { bytes: buffer, length: word.len(), set: 0 }
    }

    /// Folds the word's bytes in chunks of eight: numbers of which the first byte is the lowest. Zeros follow
    /// the word.
    #[inline(always)]
    pub(crate) fn fold_chunks(self, fold: impl Fn(u64, u64) -> u64) -> u64 {
        match self.length {
            0 => 0,
            // An ideograph. They come in a row, so that the branch is predicted.
            3 => self.fold_first_chunks::<1>(fold),
            1..=READABLE => self.fold_first_chunks::<{ READABLE / CHUNK }>(fold),
            _ => self.fold_all_chunks(fold),
        }
    }

    /// Folds the chunks of a word of at most [`SHORT_WORD`] bytes.
    #[inline(always)]
    pub(crate) fn fold_short(self, fold: impl Fn(u64, u64) -> u64) -> u64 {
        self.fold_first_chunks::<{ SHORT_WORD / CHUNK }>(fold)
    }

    /// Folds the chunks of a word of 1 byte to N chunks. All N are folded, as branches on the length of words
    /// are mispredicted.
    #[inline(always)]
    fn fold_first_chunks<const N: usize>(self, fold: impl Fn(u64, u64) -> u64) -> u64 {
        // A mask for a word's bytes begins as many bytes before the middle as the word is long.
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
        let (mut result, mut at) = (0, 0);
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
        // No branches, as they are mispredicted. Where bits are to be set, all characters are of ASCII.
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
            let word = ReadableWord { bytes: &bytes, length, set };
            let expected = bytes[..length].chunks(8).fold(0, |folded, chunk| {
                let number = chunk.iter().rev().fold(0, |number, byte| number << 8 | u64::from(byte | set));
                fold(folded, number)
            });
            assert_eq!(word.fold_chunks(fold), expected, "{length}");
            assert_eq!(word.fold_all_chunks(fold), expected, "{length}");
            if length <= SHORT_WORD {
                assert_eq!(word.fold_short(fold), expected, "{length}");
            }
        }
    }
}
