//! What a search has found: rows that are sorted, and codes of several words, if these are wanted.

use crate::key::RowId;
use crate::query::{SearchCenter, SearchHit};
use crate::sorted::Sorted;
use base::{OutOfMemory, grow, push};
use std::cmp::Ordering;

/// Which of two results comes first: the nearer one; where that is equal, the one nearer to the others.
pub(crate) fn in_order(others: &[SearchCenter], a: &SearchHit, b: &SearchHit) -> Ordering {
    let nearer = |center| a.distance_from(center).cmp(&b.distance_from(center));
    let by_others = || others.iter().map(nearer).find(|order| order.is_ne());
    let by_row = || (a.word, a.row).cmp(&(b.word, b.row));
    a.distance.cmp(&b.distance).then_with(|| by_others().unwrap_or_else(by_row))
}

/// The results of the present pass, if they are sorted, and codes of several words, if these are wanted: of
/// these results, or of the last batch.
pub(crate) struct SearchResults {
    pub(crate) sorted: Sorted<SearchHit>,
    /// The words of a code; 0 if codes are not wanted.
    width: usize,
    words: Vec<u64>,
}

impl SearchResults {
    /// About so many are sorted at a time.
    pub(crate) fn new(max_rows: usize, width: usize) -> Self {
        Self { sorted: Sorted::new(max_rows), width, words: Vec::new() }
    }

    /// Forgets the codes of the last batch.
    pub(crate) fn begin_batch(&mut self) {
        if self.sorted.found().is_empty() {
            self.words.clear();
        }
    }

    pub(crate) fn code(&self, kept: u32) -> &[u64] {
        &self.words[kept as usize * self.width..][..self.width]
    }

    /// Where the next code will be kept, if codes are wanted.
    fn next(&self) -> Option<u32> {
        self.words.len().checked_div(self.width).map(|place| place as u32)
    }

    /// Keeps a code, if codes are wanted. Returns where it is.
    pub(crate) fn keep(&mut self, code: impl Iterator<Item = u64>) -> Result<Option<u32>, OutOfMemory> {
        let kept = self.next();
        if kept.is_some() {
            grow(&mut self.words, self.width)?;
            self.words.extend(code.take(self.width));
        }
        Ok(kept)
    }

    /// Adds a row: to those that are sorted if it has a distance, otherwise to the batch.
    pub(crate) fn add(
        &mut self,
        hits: &mut Vec<SearchHit>,
        (row, distance, is_seen_by_all): (RowId, Option<u32>, bool),
        code: impl Iterator<Item = u64>,
    ) -> Result<(), OutOfMemory> {
        let kept = self.next();
        let hit = SearchHit { row, distance, word: None, kept, is_seen_by_all };
        if distance.is_none() {
            self.keep(code)?;
            return push(hits, hit);
        }
        let before = self.sorted.found().len();
        if self.sorted.add(hit, |a, b| in_order(&[], a, b))? {
            self.keep(code)?;
            if kept.is_some() && self.sorted.found().len() <= before {
                self.forget_cut();
            }
        }
        Ok(())
    }

    /// Forgets the codes of results that have been cut off.
    fn forget_cut(&mut self) {
        let found = self.sorted.found();
        found.sort_unstable_by_key(|hit| hit.kept);
        for (place, kept) in found.iter_mut().filter_map(|hit| hit.kept.as_mut()).enumerate() {
            let from = *kept as usize * self.width;
            self.words.copy_within(from..from + self.width, place * self.width);
            *kept = place as u32;
        }
        self.words.truncate(found.len() * self.width);
    }
}
