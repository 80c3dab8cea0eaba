//! Divides whole codes among several processes that search them together.
//!
//! Codes are divided by their first words into stretches, each about as large as the leaves under one node. A
//! process that has searched a stretch takes the next one. An ordered search may read codes several times;
//! then each process reads again the stretches that it has taken. A stretch is a range of words, so pages may
//! be split or freed meanwhile. Codes with the same first word are never divided.

use crate::key::{IndexKey, RowId};
use crate::store::Store;
use crate::tree::{Index, TreePart};
use base::{OutOfMemory, push};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The beginning of the next stretch after all codes have been taken.
const NONE_LEFT: u64 = u64::MAX;

/// The first word whose codes no process has taken yet. All processes see the memory that contains it.
#[derive(Debug, Default)]
pub struct SharedStretches(AtomicU64);

/// Access to the stretches that several processes share. The memory may be detached when the search has
/// ended, so it is borrowed only for the duration of a call.
pub trait StretchAccess {
    /// Calls `use_` with the stretches.
    fn with<R>(&self, use_: impl FnOnce(&SharedStretches) -> R) -> R;
}

impl StretchAccess for &SharedStretches {
    fn with<R>(&self, use_: impl FnOnce(&SharedStretches) -> R) -> R {
        use_(self)
    }
}

impl SharedStretches {
    /// Gives back all codes, while no process takes any.
    pub fn reset(&self) {
        self.0.store(0, Relaxed);
    }

    /// Takes all codes at once. Returns whether nobody has taken any before.
    pub(crate) fn take_all(&self) -> bool {
        self.0.compare_exchange(0, NONE_LEFT, Relaxed, Relaxed).is_ok()
    }

    fn take<S: Store>(&self, index: &Index<'_, S>, part: TreePart) -> Option<Stretch> {
        let mut from = self.0.load(Relaxed);
        while from != NONE_LEFT {
            let end = end_under_node(index, part, from);
            match self.0.compare_exchange(from, end, Relaxed, Relaxed) {
                Ok(_) => return Some(Stretch { from, end }),
                Err(now) => from = now,
            }
        }
        None
    }
}

/// Codes whose first words are in a range.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: u64,
    /// The first word above the stretch; [`NONE_LEFT`] if the stretch is the last one.
    end: u64,
}

/// The least key of a part of a tree with this word.
fn first_key(part: TreePart, word: u64) -> IndexKey {
    IndexKey { filter: part.filter.unwrap_or_default(), bits: word, row: RowId::FIRST }
}

/// The first word above the node that has the first key of a word; [`NONE_LEFT`] if no code of the part is
/// above.
fn end_under_node<S: Store>(index: &Index<'_, S>, part: TreePart, word: u64) -> u64 {
    let end = index.descend(part.tree, 1, first_key(part, word)).1.filter(|&end| part.has(end));
    end.and_then(|end| end.bits.checked_add(1)).unwrap_or(NONE_LEFT)
}

/// The stretches that a process has taken.
#[derive(Debug)]
pub(crate) struct TakenStretches<A> {
    all: A,
    taken: Vec<Stretch>,
    /// How many of these stretches the current pass has begun.
    begun: usize,
}

impl<A: StretchAccess> TakenStretches<A> {
    pub(crate) fn new(all: A) -> Self {
        Self { all, taken: Vec::new(), begun: 0 }
    }

    /// Begins a new pass, at the first stretch that was taken.
    pub(crate) fn start_again(&mut self) {
        self.begun = 0;
    }

    /// Whether the last stretch of all is among those taken.
    pub(crate) fn has_last(&self) -> bool {
        self.taken.last().is_some_and(|stretch| stretch.end == NONE_LEFT)
    }

    /// The codes of a part of a tree below the end of the current stretch; none before the first stretch.
    pub(crate) fn within(&self, part: TreePart) -> TreePart {
        let end = self.begun.checked_sub(1).map_or(0, |place| self.taken[place].end);
        TreePart { below: (end != NONE_LEFT).then_some(end), ..part }
    }

    /// Goes on to the next stretch, and returns its first key. Returns `None` if no codes are left.
    pub(crate) fn next<S: Store>(
        &mut self,
        index: &Index<'_, S>,
        part: TreePart,
    ) -> Result<Option<IndexKey>, OutOfMemory> {
        if self.begun == self.taken.len() {
            let Some(stretch) = self.all.with(|all| all.take(index, part)) else { return Ok(None) };
            push(&mut self.taken, stretch)?;
        }
        self.begun += 1;
        Ok(Some(first_key(part, self.taken[self.begun - 1].from)))
    }
}
