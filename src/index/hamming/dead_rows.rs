//! Which rows VACUUM removes.
//!
//! PostgreSQL answers for one row at a time, up to version 16 by a binary search in a sorted list. The rows
//! of a leaf are in no order of the table, so each of these searches waits for memory several times, and
//! there is one for each row and tree. Here, all rows at neighbouring offsets of a page are asked for when
//! the first of them is needed: their searches visit the same parts of the list. The answers are kept.

use crate::pg::access_method::DeadRowCheck;
use crate::pg::settings::setting;
use base::grow;
use hamming_index::key::RowId;

/// How many rows are asked for at the same time. Bit 0 of a word says that its rows have been asked for.
const ROWS: u16 = 63;

/// The number of words for each page of a table of PostgreSQL's own kind, which has at most 291 rows.
const WORDS: usize = 5;

/// The rows that are dead, as far as they have been asked for.
pub(super) struct DeadRows<'a> {
    check: DeadRowCheck<'a>,
    words: Vec<u64>,
    /// The number of words for which half of `maintenance_work_mem` has room.
    most: usize,
}

impl<'a> DeadRows<'a> {
    pub(super) fn new(check: DeadRowCheck<'a>) -> Self {
        let most = setting!(maintenance_work_mem) as usize * 1024 / 2 / size_of::<u64>();
        Self { check, words: Vec::new(), most }
    }

    /// Whether a row is dead.
    pub(super) fn has(&mut self, row: RowId) -> bool {
        let (page, offset) = (row.page(), row.offset());
        let word = usize::from(offset.wrapping_sub(1) / ROWS);
        let place = page as usize * WORDS + word;
        if word >= WORDS || !self.has_room(place) {
            return self.check.are_dead(page, offset, 1) != 0;
        }
        let first = word as u16 * ROWS + 1;
        if self.words[place] == 0 {
            self.words[place] = self.check.are_dead(page, first, ROWS) << 1 | 1;
        }
        self.words[place] >> (offset - first + 1) & 1 != 0
    }

    /// Whether memory has room for the word at this place. If not, PostgreSQL is asked for each row.
    fn has_room(&mut self, place: usize) -> bool {
        let more = (place + 1).saturating_sub(self.words.len());
        if place < self.most && more > 0 && grow(&mut self.words, more).is_ok() {
            self.words.resize(place + 1, 0);
        }
        place < self.words.len()
    }
}
