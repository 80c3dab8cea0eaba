//! The set of the matched rows of a side.

use super::record::RecordNumber;
use base::{OutOfMemory, grow};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// A set of rows: of this process, or shared by all processes of a parallel plan. Rows are added while their
/// codes are being compared, so the set has room for a row before it is added.
pub(crate) enum MatchedSet {
    Own(Vec<AtomicU64>),
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
                words.resize_with(needed, AtomicU64::default);
            }
        }
        Ok(())
    }

    /// Removes all rows, but keeps the room for them.
    pub(super) fn clear(&mut self) {
        if let Self::Own(words) = self {
            words.iter_mut().for_each(|word| *word.get_mut() = 0);
        }
    }

    /// The word and the bit of a row.
    #[inline]
    fn place(&self, RecordNumber(row): RecordNumber) -> (&AtomicU64, u64) {
        let words = match self {
            Self::Own(words) => &words[..],
            // SAFETY: the words are alive, as the caller of `shared` promises.
            Self::Shared(words) => unsafe { &**words },
        };
        (&words[(row / 64) as usize], 1 << (row % 64))
    }

    #[inline]
    pub(crate) fn contains(&self, row: RecordNumber) -> bool {
        let (word, bit) = self.place(row);
        word.load(Relaxed) & bit != 0
    }

    /// Adds a row. Returns whether it is new.
    pub(super) fn insert(&self, row: RecordNumber) -> bool {
        let (word, bit) = self.place(row);
        word.load(Relaxed) & bit == 0 && word.fetch_or(bit, Relaxed) & bit == 0
    }
}
