//! Which codes are near: a radius for each code of a row.

use crate::code::distance_of_words;
use std::ops::Range;

/// The radii within which codes are near.
///
/// A row may have several codes, whose words follow each other as if they were one code. Two rows are near if
/// each of their codes is within its radius.
#[derive(Clone, Debug)]
pub struct CodeRadii {
    /// The words of each code, and its radius. The last code ends with the last word.
    codes: Vec<CodeRadius>,
}

/// The radius of one of the codes of a row.
#[derive(Clone, Debug)]
pub(super) struct CodeRadius {
    /// The words of the code, among all words of the row.
    pub(super) words: Range<usize>,
    /// The radius within which this code is near.
    pub(super) radius: u32,
}

impl CodeRadius {
    /// Whether this code of two rows is near.
    #[inline(always)]
    pub(super) fn is_near(&self, [a, b]: [&[u64]; 2]) -> bool {
        distance_of_words(&a[self.words.clone()], &b[self.words.clone()]) <= self.radius
    }
}

/// The radius of rows with one code.
impl From<u32> for CodeRadii {
    fn from(radius: u32) -> Self {
        Self { codes: vec![CodeRadius { words: 0..usize::MAX, radius }] } // Bounded: one code.
    }
}

impl CodeRadii {
    /// Adds a further code, which begins at this word.
    #[must_use]
    pub fn and(mut self, first: usize, radius: u32) -> Self {
        if let Some(last) = self.codes.last_mut() {
            last.words.end = first;
        }
        self.codes.push(CodeRadius { words: first..usize::MAX, radius });
        self
    }

    /// The words of each code, and its radius, if a row has `width` words.
    pub(super) fn codes(&self, width: usize) -> impl Iterator<Item = CodeRadius> + '_ {
        self.codes.iter().map(move |code| CodeRadius {
            words: code.words.start..code.words.end.min(width),
            radius: code.radius,
        })
    }

    /// The number of the code that has this word.
    pub(super) fn code_of(&self, word: usize) -> usize {
        self.codes.partition_point(|code| code.words.end <= word)
    }

    /// The radius of the first code.
    pub(super) fn of_first(&self) -> u32 {
        self.codes[0].radius
    }

    /// Whether the codes of two rows are near.
    #[inline(always)]
    pub(super) fn are_near(&self, [a, b]: [&[u64]; 2]) -> bool {
        self.codes(a.len()).all(|code| code.is_near([a, b]))
    }
}
