//! The set of the matched rows of a side.

use super::record::RecordNumber;
use crate::pg::exec_node::SharedWords;
use base::{OutOfMemory, grow};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// A set of rows: of this process, or shared by all processes of a parallel plan. Rows are added while their
/// codes are being compared, so the set has room for a row before it is added.
pub(crate) enum MatchedSet {
    Own(Vec<AtomicU64>),
    Shared(SharedWords),
}

impl Default for MatchedSet {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

impl MatchedSet {
    /// Makes room for the first rows.
    #[inline]
    pub(crate) fn make_room(&mut self, rows: u64) -> Result<(), OutOfMemory> {
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
    pub(crate) fn clear(&mut self) {
        if let Self::Own(words) = self {
            words.iter_mut().for_each(|word| *word.get_mut() = 0);
        }
    }

    #[inline]
    pub(crate) fn contains(&self, RecordNumber(row): RecordNumber) -> bool {
        let place = (row / 64) as usize;
        let word = match self {
            Self::Own(words) => words[place].load(Relaxed),
            Self::Shared(words) => words.load(place),
        };
        word & bit_of(row) != 0
    }

    /// Adds a row. Returns whether it is new.
    pub(crate) fn insert(&self, number: RecordNumber) -> bool {
        let RecordNumber(row) = number;
        if self.contains(number) {
            return false;
        }
        let place = (row / 64) as usize;
        let before = match self {
            Self::Own(words) => words[place].fetch_or(bit_of(row), Relaxed),
            Self::Shared(words) => words.set_bits(place, bit_of(row)),
        };
        before & bit_of(row) == 0
    }
}

/// The bit of a row in its word.
fn bit_of(row: u64) -> u64 {
    1 << (row % 64)
}
