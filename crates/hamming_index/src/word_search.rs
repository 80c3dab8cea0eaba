//! Searches one word of codes: finds all rows whose word is within a radius.
//!
//! Each band's tree is searched with its part of the radius ([`crate::probe`]). If several of these searches
//! find a word, only the first of them reports it. The word and the query show which search that is. So the
//! search keeps no list of reported rows, and can continue at any key.
//!
//! If the bands would read more leaves than one tree has, one tree is read from end to end instead. For
//! scattered words, this is known in advance. For others, it turns out during the search: if the first bands
//! read far more leaves than expected, the later ones will, too.
//!
//! If only rows with one filter are needed, their part of the tree of further columns is read instead. Bands
//! cannot apply the filter. A row that they find counts as a leaf, because its heap fetch may be wasted.
//!
//! Guarantee: every row within the radius, and with the filter, is reported exactly once; a row within the
//! radius with another filter at most once. Cost: [`crate::search_cost::pages_read`].

use crate::key::{BANDS, IndexKey, RowId, Tree, rotated, rotated_back};
use crate::probe::{Probe, first_tree, radius_of_band};
use crate::radius_division::SearchCosts;
use crate::search_cost::{limits, prefers_sequential};
use crate::store::Store;
use crate::tree::{Index, TreePart};
use crate::walk::Walk;
use hamming::kernel::near_words;

/// All words within a radius of a center.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordBall {
    /// The word in the middle.
    pub(crate) center: u64,
    /// The largest distance from the center, in bits; 64 takes in every word.
    pub(crate) radius: u32,
}

impl WordBall {
    fn contains(&self, word: u64) -> bool {
        (self.center ^ word).count_ones() <= self.radius
    }
}

/// A search in progress.
#[derive(Clone)]
pub(crate) struct WordSearch {
    /// The first tree of the word.
    first: Tree,
    /// The part that is read from end to end if the search abandons the bands.
    sequential: TreePart,
    ball: WordBall,
    /// Balls that a row must lie in as well.
    also: Vec<WordBall>,
    stage: WordStage,
    /// Leaves that the search has read so far, and rows that count as leaves.
    pub(crate) leaves_read: usize,
    /// For each band, the number of leaves read so far at which the search abandons the bands.
    limits: [f64; BANDS],
    /// The slots of the hits within a leaf.
    slots: Vec<u16>,
}

#[derive(Clone, Copy)]
enum WordStage {
    /// Reads a band's tree, from the key on.
    Band(Tree, IndexKey),
    /// Reads `sequential` from end to end, from the key on. The bands had reported all rows whose
    /// [`first_tree`] is before that of `reported`, and those of the same tree whose keys there are lower.
    Sequential {
        from: IndexKey,
        reported: (Tree, IndexKey),
    },
    Done,
}

impl WordSearch {
    /// Searches a word of codes for the rows that lie in `ball` and in all of the balls of `also`.
    pub(crate) fn new(costs: &SearchCosts, word: usize, ball: WordBall, also: Vec<WordBall>) -> Self {
        let layout = costs.layout();
        let leaves = costs.leaves;
        let first = layout.trees_of(word).start;
        let width = layout.width(word);
        let (sequential, sequential_leaves) = costs.instead_of_bands(word);
        let stage = if prefers_sequential(leaves, sequential_leaves, ball.radius, width) {
            WordStage::Sequential { from: IndexKey::FIRST, reported: (first, IndexKey::FIRST) }
        } else {
            WordStage::Band(first, IndexKey::FIRST)
        };
        Self {
            first,
            sequential,
            ball,
            also,
            stage,
            leaves_read: 0,
            limits: limits(leaves, sequential_leaves, ball.radius, width),
            slots: Vec::new(),
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        matches!(self.stage, WordStage::Done)
    }

    /// Reads some more leaves, and reports the words found, with their rows. `limit` is a smaller radius, if
    /// any.
    pub(crate) fn step<S: Store>(
        &mut self,
        index: &Index<'_, S>,
        limit: u32,
        report: &mut dyn FnMut(u64, RowId),
    ) {
        let Self { first, sequential, ball: WordBall { center, radius }, stage, .. } = *self;
        let limit = limit.min(radius);
        match stage {
            WordStage::Done => {}
            WordStage::Band(tree, from) => {
                let walk = Probe::of_band(center, tree, radius).map_or(Walk::Done, |probe| {
                    let mut report = |word, row| {
                        if first + first_tree(center, word, radius) == tree {
                            report(word, row);
                        }
                    };
                    self.walk(index, TreePart::all(tree), from, &probe, limit, &mut report)
                });
                self.stage = match walk {
                    Walk::From(key) if self.leaves_read as f64 > self.limits[usize::from(tree - first)] => {
                        WordStage::Sequential { from: IndexKey::FIRST, reported: (tree, key) }
                    }
                    Walk::From(key) => WordStage::Band(tree, key),
                    Walk::Done if is_searched(tree + 1 - first, radius) => {
                        WordStage::Band(tree + 1, IndexKey::FIRST)
                    }
                    Walk::Done => WordStage::Done,
                };
            }
            WordStage::Sequential { from, reported } => {
                let probe = Probe::within(center, sequential.tree, radius);
                let mut report = |word, row| {
                    let tree = first + first_tree(center, word, radius);
                    if (tree, IndexKey::new(rotated(word, tree), row)) >= reported {
                        report(word, row);
                    }
                };
                self.stage = match self.walk(index, sequential, from, &probe, limit, &mut report) {
                    Walk::From(from) => WordStage::Sequential { from, reported },
                    Walk::Done => WordStage::Done,
                };
            }
        }
    }

    fn walk<S: Store>(
        &mut self,
        index: &Index<'_, S>,
        part: TreePart,
        from: IndexKey,
        probe: &Probe,
        limit: u32,
        report: &mut dyn FnMut(u64, RowId),
    ) -> Walk {
        let query = rotated(self.ball.center, part.tree);
        // A band cannot apply a filter, so many rows in one leaf are a reason to abandon the bands.
        let limit_of_rows = match (self.sequential.filter, part.filter) {
            (Some(_), None) => Some(self.limits[usize::from(part.tree - self.first)]),
            _ => None,
        };
        index.walk(part, from, probe, &mut |leaf, ahead| {
            self.leaves_read += 1;
            self.slots.clear();
            near_words(leaf.bits(), query, limit, &move |word| ahead.load(word), &mut self.slots);
            for &slot in &self.slots {
                let entry = leaf.key(slot.into());
                let word = rotated_back(entry.bits, part.tree);
                // A leaf may also have entries before `from`, or entries that are not in the part.
                if entry >= from && part.has(entry) && self.also.iter().all(|ball| ball.contains(word)) {
                    self.leaves_read += usize::from(limit_of_rows.is_some());
                    report(word, entry.row);
                }
            }
            limit_of_rows.is_none_or(|limit| self.leaves_read as f64 <= limit)
        })
    }
}

/// Whether a search with this radius reads a band, counted from 0. No band has a larger part of the radius
/// than the bands before it.
fn is_searched(band: Tree, radius: u32) -> bool {
    usize::from(band) < BANDS && radius_of_band(radius, band).is_some()
}
