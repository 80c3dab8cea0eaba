//! Makes rows from segments. A row begins at the next window that came before and is not inside the last row.

use super::budget::MemoryBudget;
use super::characters::{back, count, forward, is_boundary};
use super::packed::Segment;
use super::{Corpus, Repeat};
use crate::passage::agreement::common_prefix;
use base::{Heartbeat, Problem, beat_every, reserve};
use memchr::memmem::rfind;
use std::ops::Range;

/// The number of bytes per entry of a table of character counts.
const GROUP: usize = 1 << 10;
/// How many segments are processed between two heartbeats.
const BEAT: usize = 1 << 8;
/// How many bytes are compared between two heartbeats.
const STRIDE: usize = 1 << 20;

/// Passes on the rows of segments, which must be in order.
pub(super) fn rows(
    corpus: &Corpus,
    segments: Vec<Segment>,
    budget: &mut MemoryBudget,
    heartbeat: &mut dyn Heartbeat,
    consumer: &mut dyn FnMut(Repeat),
) -> Result<(), Problem> {
    let text = corpus.text.as_bytes();
    let counts = CharacterCounts::new(text, budget, heartbeat)?;
    let mut sweep = RepeatFinder { corpus, text, segments: &segments, heartbeat };
    let mut document = 0..0;
    // Windows before this one are inside the last row, or were already processed.
    let mut next = 0;
    for (number, &segment) in segments.iter().enumerate() {
        if number % BEAT == 0 {
            sweep.heartbeat.progress((2.0 + segment.windows().start as f64 / text.len() as f64) / 3.0);
        }
        let windows = segment.windows();
        if windows.start >= document.end {
            document = corpus.bounds_at(windows.start);
        }
        while next < windows.end {
            let start = next.max(windows.start);
            let (place, length) = sweep.row(start, segment, &document);
            consumer(counts.repeat(corpus, start, place, length));
            // The first window that does not end inside the row.
            next = back(text, start + length, corpus.min_length - 1);
        }
    }
    Ok(())
}

struct RepeatFinder<'a> {
    corpus: &'a Corpus,
    text: &'a [u8],
    segments: &'a [Segment],
    heartbeat: &'a mut dyn Heartbeat,
}

impl RepeatFinder<'_> {
    /// The place of the row that begins with this window of the segment, and the row's length in bytes.
    fn row(&mut self, window: usize, segment: Segment, document: &Range<usize>) -> (usize, usize) {
        let text = self.text;
        let end = forward(text, window, self.corpus.min_length);
        let earliest = self.earliest(window, segment);
        let length = self.agreement(earliest, window, end, document);
        // A place shortly before the window, in the same document.
        let from = back(text, window, self.corpus.min_length - 1).max(document.start);
        let until = back(text, end, 1);
        match rfind(&text[from..until], &text[window..end]).map(|at| from + at) {
            Some(near) if near != earliest => {
                let longer = self.agreement(near, window, end, document);
                if longer > length { (near, longer) } else { (earliest, length) }
            }
            _ => (earliest, length),
        }
    }

    /// The earliest place of a window of the segment.
    fn earliest(&self, window: usize, segment: Segment) -> usize {
        let windows = segment.windows();
        let Some(period) = segment.period() else { return segment.place() + (window - windows.start) };
        // The equal window of the periodic text's second anchor; see `anchors`.
        let window = windows.start - 2 * period + (window - windows.start) % period;
        let number = self.segments.partition_point(|segment| segment.windows().start <= window);
        match self.segments[..number].last() {
            Some(segment) if segment.windows().contains(&window) => {
                segment.place() + (window - segment.windows().start)
            }
            _ => window,
        }
    }

    /// The number of bytes, from the window on, that agree with the text at the place. The windows must be
    /// equal.
    fn agreement(&mut self, place: usize, window: usize, end: usize, document: &Range<usize>) -> usize {
        let others = self.corpus.bounds_at(place);
        let mut at = end;
        loop {
            let a = &self.text[place + (at - window)..others.end];
            let b = &self.text[at..document.end];
            let agreed = common_prefix(&a[..a.len().min(STRIDE)], &b[..b.len().min(STRIDE)]);
            at += agreed;
            if agreed < STRIDE {
                break;
            }
            self.heartbeat.beat();
        }
        while !is_boundary(self.text, at) {
            at -= 1;
        }
        at - window
    }
}

/// Converts positions in bytes to positions in characters.
struct CharacterCounts<'a> {
    text: &'a [u8],
    /// For each group of bytes, the number of characters before it.
    before: Vec<usize>,
}

impl<'a> CharacterCounts<'a> {
    fn new(
        text: &'a [u8],
        budget: &mut MemoryBudget,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Self, Problem> {
        let groups = text.len() / GROUP + 1;
        budget.take(groups * size_of::<usize>())?;
        let mut before = Vec::new();
        reserve(&mut before, groups)?;
        before.push(0);
        let mut characters = 0;
        for (number, group) in text.chunks_exact(GROUP).enumerate() {
            characters += count(group);
            before.push(characters);
            beat_every(GROUP, number, heartbeat);
        }
        Ok(Self { text, before })
    }

    /// The number of characters before this byte.
    fn of(&self, byte: usize) -> usize {
        let group = byte / GROUP;
        self.before[group] + count(&self.text[group * GROUP..byte])
    }

    fn repeat(&self, corpus: &Corpus, start: usize, place: usize, length: usize) -> Repeat {
        let document = corpus.document_at(start);
        let first_document = corpus.document_at(place);
        let position = |byte: usize, document: usize| self.of(byte) - self.of(corpus.starts[document]);
        Repeat {
            document,
            position: position(start, document),
            length: self.of(start + length) - self.of(start),
            first_document,
            first_position: position(place, first_document),
        }
    }
}
