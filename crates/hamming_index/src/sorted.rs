//! The first results of an ordered search, as many as memory has room for.
//!
//! A search adds its results in any order, and possibly in several passes. Each pass keeps the first of those
//! that have not been taken yet.

use base::{OutOfMemory, push, reserve};
use std::cmp::Ordering;

/// The size of the first piece of results: most queries want few. If nothing is near, several pieces are
/// collected before the last result is known, and each result takes the time of many comparisons. Among
/// 10,000 codes of 256 bits, finding the five nearest took half as long as with a thousand.
pub(crate) const FIRST_PIECE: usize = 256;
/// Each further piece is larger than the last one by this factor.
pub(crate) const MORE_IN_PIECE: usize = 8;

/// The number of pieces in which this number of results is collected.
pub(crate) fn pieces(results: f64, max_piece: usize) -> f64 {
    let largest = max_piece.max(1) as f64;
    let mut piece = largest.min(FIRST_PIECE as f64);
    let mut left = results;
    let mut pieces = 1.0;
    while left > piece && piece < largest {
        left -= piece;
        pieces += 1.0;
        piece = largest.min(piece * MORE_IN_PIECE as f64);
    }
    pieces + (left / piece - 1.0).ceil().max(0.0)
}

/// The results of one pass of a search. All calls must compare results in the same way.
pub(crate) struct Sorted<T> {
    /// The results that are kept so far, in any order.
    pub(crate) found: Vec<T>,
    /// The last result that was taken. It and all results before it are not wanted again.
    taken: Option<T>,
    /// Results after this one do not fit, and the current pass does not want them.
    pub(crate) last: Option<T>,
    /// A pass that finds more than twice this number of results keeps only this number.
    piece: usize,
    max_piece: usize,
}

impl<T: Copy> Sorted<T> {
    /// Results are collected in pieces, which grow to about this number.
    pub(crate) fn new(max_piece: usize) -> Self {
        let max_piece = max_piece.max(1);
        Self { found: Vec::new(), taken: None, last: None, piece: FIRST_PIECE.min(max_piece), max_piece }
    }

    /// Adds a result, which may have been taken before. Returns whether it was kept.
    pub(crate) fn add(
        &mut self,
        result: T,
        compare: impl Fn(&T, &T) -> Ordering,
    ) -> Result<bool, OutOfMemory> {
        let is_old = self.taken.is_some_and(|taken| compare(&result, &taken).is_le());
        if is_old || self.last.is_some_and(|last| compare(&result, &last).is_gt()) {
            return Ok(false);
        }
        push(&mut self.found, result)?;
        if self.found.len() > 2 * self.piece {
            self.last = Some(*self.found.select_nth_unstable_by(self.piece - 1, compare).1);
            self.found.truncate(self.piece);
        }
        Ok(true)
    }

    /// Drops the results of the current pass.
    pub(crate) fn forget(&mut self) {
        self.found.clear();
        self.last = None;
    }

    /// Appends the results of a pass to `hits`, in order. Returns whether there were more than fitted.
    pub(crate) fn take(
        &mut self,
        compare: impl Fn(&T, &T) -> Ordering,
        hits: &mut Vec<T>,
    ) -> Result<bool, OutOfMemory> {
        reserve(hits, self.found.len())?;
        self.found.sort_unstable_by(compare);
        self.taken = self.found.last().copied().or(self.taken);
        hits.append(&mut self.found);
        let is_cut = self.last.take().is_some();
        if is_cut {
            self.piece = (self.piece * MORE_IN_PIECE).min(self.max_piece);
        }
        Ok(is_cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_collected_in_pieces() {
        for (results, max_piece, expected) in [
            (0.0, 0, 1.0),
            (5.0, 1, 5.0),
            (256.0, 2304, 1.0),
            (257.0, 2304, 2.0),
            (2305.0, 2304, 3.0),
            (6913.0, 2304, 5.0),
        ] {
            assert_eq!(pieces(results, max_piece), expected, "{results} by {max_piece}");
        }
    }
}
