//! The sets of rows that have a partner.

use base::{OutOfMemory, grow};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// A set of row numbers: of this process, or shared by all processes of a parallel plan.
pub(super) enum RowSet {
    Own(Vec<u64>),
    Shared(&'static [AtomicU64]),
}

impl Default for RowSet {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

impl RowSet {
    /// # Safety
    /// The words must live as long as the set is used, and have a bit for each row.
    pub(super) unsafe fn shared(words: &[AtomicU64]) -> Self {
        // SAFETY: the words live long enough, as the caller promises.
        Self::Shared(unsafe { std::mem::transmute::<&[AtomicU64], &'static [AtomicU64]>(words) })
    }

    #[inline]
    pub(super) fn contains(&self, row: u64) -> bool {
        let (word, bit) = ((row / 64) as usize, 1 << (row % 64));
        match self {
            Self::Own(words) => words.get(word).is_some_and(|word| word & bit != 0),
            Self::Shared(words) => words[word].load(Relaxed) & bit != 0,
        }
    }

    /// Adds a row. Returns whether it is new.
    pub(super) fn insert(&mut self, row: u64) -> Result<bool, OutOfMemory> {
        let (word, bit) = ((row / 64) as usize, 1 << (row % 64));
        let before = match self {
            Self::Shared(words) => words[word].fetch_or(bit, Relaxed),
            Self::Own(words) => {
                if word >= words.len() {
                    let more = word + 1 - words.len();
                    grow(words, more)?;
                    words.resize(word + 1, 0);
                }
                let before = words[word];
                words[word] |= bit;
                before
            }
        };
        Ok(before & bit == 0)
    }
}

/// The rows that have a partner, by their numbers among all rows of their side.
#[derive(Default)]
pub(super) struct Partners {
    pub(super) outer: RowSet,
    pub(super) inner: RowSet,
}
