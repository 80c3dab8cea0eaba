//! What a search has found: rows that are sorted, and codes of several words, if these are wanted.

use crate::key::RowId;
use crate::query::{SearchCenter, SearchHit};
use crate::sorted::Sorted;
use base::{OutOfMemory, grow, push};
use std::cmp::Ordering;

/// A result of an ordered search.
#[derive(Clone, Copy)]
pub(crate) struct SortedHit {
    pub(crate) distance: u32,
    /// Its code if that is one word, otherwise 0.
    pub(crate) word: u64,
    pub(crate) row: RowId,
    pub(crate) is_seen_by_all: bool,
    /// Where its code is kept.
    pub(crate) kept: Option<usize>,
}

impl SortedHit {
    pub(crate) fn hit(self, has_word: bool) -> SearchHit {
        let Self { distance, word, row, is_seen_by_all, kept } = self;
        SearchHit { row, distance: Some(distance), word: has_word.then_some(word), kept, is_seen_by_all }
    }

    /// Which of two results comes first: the nearer one; where that is equal, the one nearer to the others.
    pub(crate) fn in_order(others: &[SearchCenter], a: &Self, b: &Self) -> Ordering {
        let by_others = || {
            let distance = |hit: &Self, center: &SearchCenter| (hit.word ^ center.first_word()).count_ones();
            let nearer = |center| distance(a, center).cmp(&distance(b, center));
            others.iter().map(nearer).find(|order| order.is_ne())
        };
        let by_row = || (a.word, a.row).cmp(&(b.word, b.row));
        a.distance.cmp(&b.distance).then_with(|| by_others().unwrap_or_else(by_row))
    }
}

/// The results of the present pass, if they are sorted, and codes of several words, if these are wanted: of
/// these results, or of the last batch.
pub(crate) struct SearchResults {
    pub(crate) sorted: Sorted<SortedHit>,
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

    pub(crate) fn code(&self, place: usize) -> &[u64] {
        &self.words[place..place + self.width]
    }

    /// Keeps a code, if codes are wanted. Returns where it is.
    pub(crate) fn keep(&mut self, code: impl Iterator<Item = u64>) -> Result<Option<usize>, OutOfMemory> {
        if self.width == 0 {
            return Ok(None);
        }
        let place = self.words.len();
        grow(&mut self.words, self.width)?;
        self.words.extend(code.take(self.width));
        Ok(Some(place))
    }

    /// Adds a row: to those that are sorted if it has a distance, otherwise to the batch.
    pub(crate) fn add(
        &mut self,
        hits: &mut Vec<SearchHit>,
        (row, distance, is_seen_by_all): (RowId, Option<u32>, bool),
        code: impl Iterator<Item = u64>,
    ) -> Result<(), OutOfMemory> {
        let Some(distance) = distance else {
            let kept = self.keep(code)?;
            return push(hits, SearchHit { kept, is_seen_by_all, ..SearchHit::unordered(row) });
        };
        let kept = (self.width > 0).then_some(self.words.len());
        let hit = SortedHit { distance, word: 0, row, is_seen_by_all, kept };
        if self.sorted.add(hit, |a, b| SortedHit::in_order(&[], a, b))? {
            self.keep(code)?;
            // Results that were cut off have left their codes.
            if self.words.len() > (3 * self.sorted.found().len() + 1000) * self.width {
                self.forget_cut();
            }
        }
        Ok(())
    }

    /// Forgets all codes but those of the results.
    fn forget_cut(&mut self) {
        let found = self.sorted.found();
        found.sort_unstable_by_key(|hit| hit.kept);
        let mut end = 0;
        for place in found.iter_mut().filter_map(|hit| hit.kept.as_mut()) {
            self.words.copy_within(*place..*place + self.width, end);
            *place = end;
            end += self.width;
        }
        self.words.truncate(end);
    }
}
