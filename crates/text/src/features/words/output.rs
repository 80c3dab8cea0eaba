//! Where words go: into a buffer, in which shingles are made of them, or one by one to a consumer that hashes each.

use super::ascii::Window;
use std::ops::Range;

/// What is done with words as they are found.
pub(super) trait Output<const PROSE: bool> {
    /// Takes the words of whole runs of a window.
    fn take_window(
        &mut self,
        window: &Window<'_>,
        runs: Range<usize>,
        text: &mut Vec<u8>,
        starts: &mut Vec<usize>,
    );

    /// Called when words have been added to the buffer.
    fn take_buffered(&mut self, text: &mut Vec<u8>, starts: &mut Vec<usize>);
}

/// Leaves the words in the buffer.
pub(super) struct Keeping;

impl<const PROSE: bool> Output<PROSE> for Keeping {
    #[inline(always)]
    fn take_window(
        &mut self,
        window: &Window<'_>,
        runs: Range<usize>,
        text: &mut Vec<u8>,
        starts: &mut Vec<usize>,
    ) {
        window.add_words::<PROSE>(runs, text, starts);
    }

    #[inline(always)]
    fn take_buffered(&mut self, _: &mut Vec<u8>, _: &mut Vec<usize>) {}
}

/// A consumer of single words.
pub(crate) trait TakeWord {
    /// Takes a word.
    fn take(&mut self, word: ReadableWord<'_>);

    /// Called while text without words is passed over, so that the heartbeat is called.
    fn pause(&mut self);
}

/// Passes every word of prose on at once.
pub(super) struct Passing<'a, T>(pub(super) &'a mut T);

impl<T: TakeWord> Output<true> for Passing<'_, T> {
    #[inline(always)]
    fn take_window(&mut self, window: &Window<'_>, runs: Range<usize>, _: &mut Vec<u8>, _: &mut Vec<usize>) {
        window.take_words(runs, self.0);
    }

    #[inline(always)]
    fn take_buffered(&mut self, text: &mut Vec<u8>, starts: &mut Vec<usize>) {
        starts.push(text.len());
        text.extend_from_slice(&[0; CHUNK]);
        for word in starts.windows(2) {
            let (start, after) = (word[0], word[1]);
            self.0.take(ReadableWord { bytes: &text[start..], length: after - 1 - start, set: 0 });
        }
        text.clear();
        starts.clear();
    }
}

/// Bytes that are read together.
pub(super) const CHUNK: usize = 8;

/// A word with at least eight readable bytes from the beginning of each of its chunks of eight.
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
        buffer.extend_from_slice(&[0; CHUNK]);
        Self { bytes: buffer, length: word.len(), set: 0 }
    }

    /// The word's bytes in chunks of eight, as numbers of which the first byte is the lowest. Zeros follow the word.
    #[inline(always)]
    pub(crate) fn fold_chunks(self, mut fold: impl FnMut(u64, u64) -> u64) -> u64 {
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

    pub(crate) fn len(self) -> usize {
        self.length
    }

    #[inline(always)]
    pub(crate) fn first_byte(self) -> u8 {
        self.bytes[0]
    }
}
