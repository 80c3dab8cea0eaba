//! The set of the matched rows of a side.

use super::record::RecordNumber;
use base::{OutOfMemory, grow};
use std::cell::Cell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// A set of rows: of this process, or shared by all processes of a parallel plan. Rows are added while their
/// codes are being compared, so the set has room for a row before it is added.
pub(crate) enum MatchedSet {
    Own(Vec<Cell<u64>>),
    Shared(*const [AtomicU64]),
}

impl Default for MatchedSet {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

impl MatchedSet {
    /// # Safety
    /// The words must live as long as the set is used, and have a bit for each row.
    pub(super) unsafe fn shared(words: *const [AtomicU64]) -> Self {
        Self::Shared(words)
    }

    /// Makes room for the first rows.
    #[inline]
    pub(super) fn make_room(&mut self, rows: u64) -> Result<(), OutOfMemory> {
        if let Self::Own(words) = self {
            let needed = rows.div_ceil(64) as usize;
            if needed > words.len() {
                let more = needed - words.len();
                grow(words, more)?;
                words.resize(needed, Cell::new(0));
            }
        }
        Ok(())
    }

    /// Removes all rows, but keeps the room for them.
    pub(super) fn clear(&mut self) {
        if let Self::Own(words) = self {
            words.fill(Cell::new(0));
        }
    }

    #[inline]
    pub(crate) fn contains(&self, RecordNumber(row): RecordNumber) -> bool {
        let (word, bit) = ((row / 64) as usize, 1 << (row % 64));
        let word = match self {
            Self::Own(words) => words[word].get(),
            // SAFETY: the words are alive, as the caller of `shared` promises.
            Self::Shared(words) => unsafe { (&**words)[word].load(Relaxed) },
        };
        word & bit != 0
    }

    /// Adds a row. Returns whether it is new.
    pub(super) fn insert(&self, RecordNumber(row): RecordNumber) -> bool {
        let (word, bit) = ((row / 64) as usize, 1 << (row % 64));
        let before = match self {
            Self::Own(words) => words[word].replace(words[word].get() | bit),
            // SAFETY: as above.
            Self::Shared(words) => unsafe { (&**words)[word].fetch_or(bit, Relaxed) },
        };
        before & bit == 0
    }
}
