//! The results of a search: sorted rows, and codes of several words, if they are wanted.

use crate::query::{SearchCenter, SearchHit};
use crate::sorted::Sorted;
use base::{OutOfMemory, grow, push};
use std::cmp::Ordering;

/// The order of two results: by distance, then by the distances from the other centers, then by row.
pub(crate) fn in_order(others: &[SearchCenter], a: &SearchHit, b: &SearchHit) -> Ordering {
    let nearer = |center| a.distance_from(center).cmp(&b.distance_from(center));
    let by_others = || others.iter().map(nearer).find(|order| order.is_ne());
    let by_row = || (a.word, a.row).cmp(&(b.word, b.row));
    a.distance.cmp(&b.distance).then_with(|| by_others().unwrap_or_else(by_row))
}

/// The results of the current pass, if they are sorted; and codes of several words, if they are wanted: of
/// these results, or of the last batch.
pub(crate) struct SearchResults {
    pub(crate) sorted: Sorted<SearchHit>,
    /// The number of words of a code; 0 if codes are not wanted.
    width: usize,
    words: Vec<u64>,
}

impl SearchResults {
    /// About `max_rows` results are sorted at a time.
    pub(crate) fn new(max_rows: usize, width: usize) -> Self {
        Self { sorted: Sorted::new(max_rows), width, words: Vec::new() }
    }

    /// Drops the codes of the last batch.
    pub(crate) fn begin_batch(&mut self) {
        if self.sorted.found.is_empty() {
            self.words.clear();
        }
    }

    /// The distance beyond which there is no room for results.
    pub(crate) fn farthest(&self) -> Option<u32> {
        self.sorted.last?.distance
    }

    pub(crate) fn code(&self, kept: u32) -> &[u64] {
        &self.words[kept as usize * self.width..][..self.width]
    }

    /// The place where the next code will be stored, if codes are wanted.
    fn next(&self) -> Option<u32> {
        self.words.len().checked_div(self.width).map(|place| place as u32)
    }

    /// Stores a code, if codes are wanted. Returns its place.
    pub(crate) fn keep(&mut self, code: impl Iterator<Item = u64>) -> Result<Option<u32>, OutOfMemory> {
        let kept = self.next();
        if kept.is_some() {
            grow(&mut self.words, self.width)?;
            self.words.extend(code.take(self.width));
        }
        Ok(kept)
    }

    /// Adds a row, and its code, if codes are wanted. The row is sorted if it has a distance; otherwise it is
    /// added to the batch.
    pub(crate) fn add(
        &mut self,
        hits: &mut Vec<SearchHit>,
        hit: SearchHit,
        code: impl Iterator<Item = u64>,
    ) -> Result<(), OutOfMemory> {
        let kept = self.next();
        let hit = SearchHit { kept, ..hit };
        if hit.distance.is_none() {
            self.keep(code)?;
            return push(hits, hit);
        }
        let before = self.sorted.found.len();
        if self.sorted.add(hit, |a, b| in_order(&[], a, b))? {
            self.keep(code)?;
            if kept.is_some() && self.sorted.found.len() <= before {
                self.forget_cut();
            }
        }
        Ok(())
    }

    /// Drops the codes of results that were cut off.
    fn forget_cut(&mut self) {
        let found = &mut self.sorted.found;
        found.sort_unstable_by_key(|hit| hit.kept);
        for (place, kept) in found.iter_mut().filter_map(|hit| hit.kept.as_mut()).enumerate() {
            let from = *kept as usize * self.width;
            self.words.copy_within(from..from + self.width, place * self.width);
            *kept = place as u32;
        }
        self.words.truncate(found.len() * self.width);
    }
}
