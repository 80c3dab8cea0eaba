//! The destination of words: a buffer, from which shingles are made, or a consumer that hashes each word.

use super::ascii::Window;
use super::readable_word::{READABLE, ReadableWord};
use crate::features::Consumer;
use std::convert::Infallible;
use std::ops::Range;

/// Where words go as they are found.
pub(super) enum Output<'a, C> {
    /// They remain in the buffer.
    Buffer,
    /// They are words of prose, and are passed on at once.
    Consumer(&'a mut C),
}

/// Words remain in the buffer; there is no consumer.
pub(super) type ToBuffer = Output<'static, Infallible>;

impl Consumer<ReadableWord<'_>> for Infallible {
    fn take(&mut self, _: ReadableWord<'_>) {
        match *self {}
    }

    fn pause(&mut self) {
        match *self {}
    }
}

impl<C: for<'w> Consumer<ReadableWord<'w>>> Output<'_, C> {
    /// Takes the words of whole runs of a window.
    #[inline(always)]
    pub(super) fn take_window<const PROSE: bool>(
        &mut self,
        window: &Window<'_>,
        runs: Range<usize>,
        text: &mut Vec<u8>,
        starts: &mut Vec<usize>,
    ) {
        match self {
            Self::Buffer => window.add_words::<PROSE>(runs, text, starts),
            Self::Consumer(consumer) => {
                debug_assert!(PROSE, "only words of prose are passed on at once");
                window.take_words(runs, *consumer);
            }
        }
    }

    /// Called after words were added to the buffer.
    #[inline(always)]
    pub(super) fn take_buffered(&mut self, text: &mut Vec<u8>, starts: &mut Vec<usize>) {
        let Self::Consumer(consumer) = self else {
            return;
        };
        starts.push(text.len());
        text.extend_from_slice(&[0; READABLE]);
        for word in starts.windows(2) {
            let start = word[0];
            let after = word[1];
            let bytes = &text[start..];
            consumer.take(ReadableWord { bytes, length: after - 1 - start, set: 0, is_short: false });
        }
        text.clear();
        starts.clear();
    }
}
