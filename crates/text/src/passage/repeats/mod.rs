//! Text that occurs more than once in a corpus: in several of its documents, or several times in one.
//!
//! A *window* is `min_length` consecutive characters of a document. A window *came before* if an equal window
//! begins in an earlier document, or earlier in the same one; the two may overlap. Rows are found from left
//! to right. A row begins with the next window of a document that came before and is not inside the last row.
//! The row refers to the earliest place of that window, and is as long as the texts agree from there to the
//! right, at most up to the end of a document.
//!
//! There is one exception, for periodic text such as `aaaa…`. If the window also came less than `min_length`
//! characters before itself, and the texts agree longer at the nearest such place, then the row refers to
//! that place.
//!
//! Guarantee: the rows together cover exactly the characters of windows that came before. Every row is
//! compared on the text itself, so collisions of hashes have no effect.
//!
//! How it works:
//!
//! 1. `anchors.rs` gives every window an *anchor*, a place inside the window that depends only on its
//!    content. So equal windows have equal anchors. Consecutive windows usually have the same anchor.
//! 2. `classes.rs` sorts the anchors by their hashes, and compares the text around anchors with the same
//!    hash. It finds the earliest place of every window that came before, as *segments*: consecutive windows
//!    with consecutive places.
//! 3. `sweep.rs` goes through the segments from left to right, and makes the rows.
//!
//! Cost: time is proportional to the text, whatever is repeated and how often, plus `min_length` for each
//! row. If a piece shorter than `min_length` occurs in many different surroundings, its windows are sorted up
//! to log2(`min_length`) times. Many periodic runs that are hardly longer than `min_length` take time that
//! grows with `min_length`. Memory: the text; 16 bytes for each anchor, of which there are about 4 per
//! `min_length` characters; and 16 bytes for each segment, of which there are hardly more than anchors in the
//! repeated part of the text. Periodic runs that are hardly longer than `min_length` can have an anchor for
//! every character. For any text, memory stays below the caller's limit.

mod anchors;
mod budget;
mod characters;
mod classes;
mod packed;
mod sweep;
#[cfg(test)]
mod tests;

use base::{Heartbeat, Limit, Problem, ProblemKind};
use budget::MemoryBudget;
use packed::MAX_BYTES;
use std::ops::Range;

/// The length that rows must at least have, in characters.
pub const MIN_LENGTH: Limit = Limit::new("min_length", 1, 1 << 16);

/// Text that came before. Documents are numbered in the order in which they were added, from 0. Positions and
/// lengths are in characters, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// The document with the later occurrence.
    pub document: usize,
    /// The position of the later occurrence.
    pub position: usize,
    /// Its length.
    pub length: usize,
    /// The document with the earlier occurrence.
    pub first_document: usize,
    /// The position of the earlier occurrence.
    pub first_position: usize,
}

/// Documents in order.
pub struct Corpus {
    text: String,
    /// For each document, where it begins in the text.
    starts: Vec<usize>,
    min_length: usize,
    budget: MemoryBudget,
}

impl Corpus {
    /// An empty corpus. Everything that is stored and computed for it may use `max_memory` bytes.
    pub fn new(min_length: usize, max_memory: usize) -> Result<Self, Problem> {
        let min_length = MIN_LENGTH.of(min_length)?;
        Ok(Self {
            text: String::new(),
            starts: Vec::new(),
            min_length,
            budget: MemoryBudget::new(max_memory),
        })
    }

    /// Adds a document. `kept` is the number of bytes that the caller stores for it, which count as well.
    pub fn push(&mut self, document: &str, kept: usize) -> Result<(), Problem> {
        self.budget.take(kept)?;
        self.budget.push(&mut self.starts, self.text.len())?;
        self.budget.append(&mut self.text, document)?;
        if self.text.len() > MAX_BYTES {
            let message = format!("corpus has more than {MAX_BYTES} bytes");
            return Err(Problem::new(ProblemKind::TooLarge, message));
        }
        Ok(())
    }

    /// The number of bytes of all documents.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Passes on the repeats, in the order of the documents and of the positions in them.
    pub fn repeats(
        mut self,
        heartbeat: &mut dyn Heartbeat,
        consumer: &mut dyn FnMut(Repeat),
    ) -> Result<(), Problem> {
        let mut budget = std::mem::replace(&mut self.budget, MemoryBudget::new(0));
        let (anchors, periodic) = anchors::find(&self, &mut budget, heartbeat)?;
        let segments = classes::settle(&self, anchors, periodic, &mut budget, heartbeat)?;
        sweep::rows(&self, segments, &mut budget, heartbeat, consumer)
    }

    /// The number of characters of a gram, whose hash decides the anchor of a window.
    fn gram(&self) -> usize {
        self.min_length.div_ceil(2)
    }

    /// The number of grams in a window, one of which is its anchor.
    fn windows_of_anchor(&self) -> usize {
        self.min_length - self.gram() + 1
    }

    /// The number of the document with this byte.
    fn document_at(&self, byte: usize) -> usize {
        self.starts.partition_point(|&start| start <= byte) - 1
    }

    /// The range of bytes of a document.
    fn bounds(&self, document: usize) -> Range<usize> {
        self.starts[document]..self.starts.get(document + 1).copied().unwrap_or(self.text.len())
    }

    /// The range of bytes of the document with this byte.
    fn bounds_at(&self, byte: usize) -> Range<usize> {
        self.bounds(self.document_at(byte))
    }
}
