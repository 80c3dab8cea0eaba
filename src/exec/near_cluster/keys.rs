//! The keys of keepers, which the rows of their clusters get.
//!
//! The keepers of rows are known as numbers. In the order of rows, the keys that several rows have get
//! **places**. If memory has no room for all of these keys, a **load** of them is read at a time, and written
//! to a file for each row that has one of them. Each row then finds its key by reading on in the file of the
//! load to which its place belongs. So each key is written once for itself, and once for each row that has
//! it, whatever the number of loads.

use crate::exec::rows::{MatchedSet, RecordFormat, RecordNumber, RowFile};
use crate::pg::error::temporary_file;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use crate::pg::row_store::{BatchRow, RowStore};
use crate::pg::value::Value;
use crate::plan::near_join::memory;
use base::{OutOfMemory, push};

/// Used instead of a place for a row that no other row has as its keeper, and that keeps itself.
const ALONE: u32 = u32::MAX;

/// The keys of all rows, in a file.
pub(super) struct KeyFile {
    file: RowFile,
    format: RecordFormat,
    bytes: usize,
}

impl KeyFile {
    /// No keys, for those of a store.
    pub(super) fn create(keys: &RowStore) -> Result<Self, SqlError> {
        Ok(Self { file: RowFile::create()?, format: RecordFormat::of_columns(keys.fixed_words()), bytes: 0 })
    }

    /// Adds the key of the next row.
    pub(super) fn push(&mut self, key: &[u64]) -> Result<(), SqlError> {
        self.bytes += size_of_val(key);
        self.file.write_row(self.format, RecordNumber(0), &[], key)
    }

    /// The keys of these keepers for all rows. `keys` is an empty store for them.
    pub(super) fn of_keepers(mut self, keepers: Vec<u32>, keys: RowStore) -> Result<RowKeepers, SqlError> {
        let mut places = keepers;
        number_keys(&mut places)?;
        // Few loads, because the files of all loads are read at the same time.
        let room = memory::of_load().max(self.bytes / memory::files());
        let mut loads =
            KeyLoads { format: self.format, keys, room, first: 0, first_row: 0, files: Vec::new() };
        let mut row = 0;
        self.file.read_from(0)?;
        while self.file.read_block(self.format, |record| {
            check_for_interrupts();
            // The first row of a place is the keeper.
            if places.get(row) == Some(&loads.end()) {
                loads.push(row, record.columns, &places)?;
            }
            row += 1;
            Ok(())
        })? {}
        loads.finish(places)
    }
}

/// Replaces the number of each row's keeper by the place of its key, or [`ALONE`].
fn number_keys(keepers: &mut [u32]) -> Result<(), OutOfMemory> {
    let mut have_others = MatchedSet::default();
    have_others.make_room(keepers.len() as u64)?;
    for (row, &keeper) in (0..).zip(&*keepers) {
        check_for_interrupts();
        if keeper != row {
            have_others.insert(RecordNumber(keeper.into()));
        }
    }
    let mut next = 0;
    for row in 0..keepers.len() {
        check_for_interrupts();
        let keeper = keepers[row] as usize;
        debug_assert!(keeper <= row, "a keeper comes before its cluster");
        keepers[row] = if keeper != row {
            keepers[keeper]
        } else if have_others.contains(RecordNumber(row as u64)) {
            next += 1;
            next - 1
        } else {
            ALONE
        };
    }
    Ok(())
}

/// Keys that are being read in the order of their places.
struct KeyLoads {
    format: RecordFormat,
    /// The keys of the current load, the first of them, and the row that it belongs to.
    keys: RowStore,
    first: u32,
    first_row: usize,
    /// Bytes of memory for a load.
    room: usize,
    /// The loads that have been written.
    files: Vec<KeysOfLoad>,
}

impl KeyLoads {
    /// The place behind the last key that was read.
    fn end(&self) -> u32 {
        self.first + self.keys.len() as u32
    }

    /// Adds the next key.
    fn push(&mut self, row: usize, key: &[u64], places: &[u32]) -> Result<(), SqlError> {
        if self.keys.bytes() >= self.room {
            self.write(places)?;
        }
        if self.keys.is_empty() {
            self.first_row = row;
        }
        self.keys.push_words(key)
    }

    /// Writes the keys of the load for all rows that have one of them.
    fn write(&mut self, places: &[u32]) -> Result<(), SqlError> {
        let mut file = RowFile::create()?;
        let of_load = self.first..self.end();
        for place in &places[self.first_row..] {
            check_for_interrupts();
            if of_load.contains(place) {
                let key = self.keys.words_of(BatchRow(place - of_load.start));
                file.write_row(self.format, RecordNumber(0), &[], key)?;
            }
        }
        file.read_from(0)?;
        let keys = self.keys.of_same_columns();
        push(&mut self.files, KeysOfLoad { end: of_load.end, format: self.format, file, keys, next: 0 })?;
        self.first = of_load.end;
        self.keys.clear();
        Ok(())
    }

    /// The keys for the rows with these places.
    fn finish(mut self, places: Vec<u32>) -> Result<RowKeepers, SqlError> {
        if self.files.is_empty() {
            return Ok(RowKeepers::in_memory(self.keys, places));
        }
        self.write(&places)?;
        Ok(RowKeepers { places, next: 0, keys: KeeperKeys::InFiles(self.files) })
    }
}

/// The keys of a load, for each row that has one of them.
struct KeysOfLoad {
    /// The place behind the last key.
    end: u32,
    format: RecordFormat,
    file: RowFile,
    /// Keys that were read from the file, and the next of them.
    keys: RowStore,
    next: u32,
}

impl KeysOfLoad {
    fn next_key(&mut self) -> Result<Option<Value<'_>>, SqlError> {
        if self.next as usize == self.keys.len() {
            self.keys.clear();
            self.next = 0;
            while self.keys.is_empty() {
                check_for_interrupts();
                if !self.file.read_block(self.format, |record| self.keys.push_words(record.columns))? {
                    return Err(temporary_file());
                }
            }
        }
        self.next += 1;
        Ok(self.keys.value(BatchRow(self.next - 1)))
    }
}

/// Where the keys of keepers are.
enum KeeperKeys {
    InMemory(RowStore),
    InFiles(Vec<KeysOfLoad>),
}

/// The keys of the keepers of a window's rows, in order.
pub(crate) struct RowKeepers {
    /// For each row the place of its keeper's key, or [`ALONE`].
    places: Vec<u32>,
    /// The next row.
    next: usize,
    keys: KeeperKeys,
}

/// The key of the keeper of a row.
pub(crate) enum KeeperKey<'a> {
    /// The row keeps itself and no other row, so that its key was not kept.
    Own,
    Kept(Option<Value<'a>>),
}

impl RowKeepers {
    /// For each row in memory, `places` has the place of its keeper's key.
    pub(super) fn in_memory(keys: RowStore, places: Vec<u32>) -> Self {
        Self { places, next: 0, keys: KeeperKeys::InMemory(keys) }
    }

    /// The key of the keeper of the next row, which stays valid until the next call.
    pub(crate) fn next_key(&mut self) -> Result<KeeperKey<'_>, SqlError> {
        let place = self.places.get(self.next).copied().unwrap_or(ALONE);
        self.next += 1;
        if place == ALONE {
            return Ok(KeeperKey::Own);
        }
        Ok(KeeperKey::Kept(match &mut self.keys {
            KeeperKeys::InMemory(keys) => keys.value(BatchRow(place)),
            KeeperKeys::InFiles(loads) => {
                let load = loads.partition_point(|load| load.end <= place);
                loads[load].next_key()?
            }
        }))
    }
}
