//! The destination of words: a buffer, from which shingles are made, or a consumer that hashes each word.

use super::ascii::Window;
use super::readable_word::{READABLE, ReadableWord, TakeWord};
use std::ops::Range;

/// Takes words as they are found.
pub(super) trait WordOutput<const PROSE: bool> {
    /// Takes the words of whole runs of a window.
    fn take_window(
        &mut self,
        window: &Window<'_>,
        runs: Range<usize>,
        text: &mut Vec<u8>,
        starts: &mut Vec<usize>,
    );

    /// Called after words were added to the buffer.
    fn take_buffered(&mut self, text: &mut Vec<u8>, starts: &mut Vec<usize>);
}

/// Leaves the words in the buffer.
pub(super) struct WordsToBuffer;

impl<const PROSE: bool> WordOutput<PROSE> for WordsToBuffer {
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

/// Passes every word of prose to a consumer at once.
pub(super) struct WordsToConsumer<'a, T>(pub(super) &'a mut T);

impl<T: TakeWord> WordOutput<true> for WordsToConsumer<'_, T> {
    #[inline(always)]
    fn take_window(&mut self, window: &Window<'_>, runs: Range<usize>, _: &mut Vec<u8>, _: &mut Vec<usize>) {
        window.take_words(runs, self.0);
    }

    #[inline(always)]
    fn take_buffered(&mut self, text: &mut Vec<u8>, starts: &mut Vec<usize>) {
        starts.push(text.len());
        text.extend_from_slice(&[0; READABLE]);
        for word in starts.windows(2) {
            let start = word[0];
            let after = word[1];
            self.0.take(ReadableWord { bytes: &text[start..], length: after - 1 - start, set: 0 });
        }
        text.clear();
        starts.clear();
    }
}
