//! A table that finds windows of the first text by their hash.

use crate::hash::probing_table::ProbingTable;
use base::{Heartbeat, OutOfMemory};

/// The number of windows that are looked up together.
const BATCH: usize = 64;

/// The first position of every window, by its hash.
pub(super) struct WindowTable {
    /// An entry is the upper half of the hash, and below it the position plus 1.
    table: ProbingTable,
}

impl WindowTable {
    pub(super) fn new(slots: usize, heartbeat: &mut dyn Heartbeat) -> Result<Self, OutOfMemory> {
        let mut table = ProbingTable::default();
        table.clear(slots.next_power_of_two().max(16), heartbeat)?;
        Ok(Self { table })
    }

    pub(super) fn clear(&mut self, heartbeat: &mut dyn Heartbeat) -> Result<(), OutOfMemory> {
        self.table.clear(self.table.slots(), heartbeat)
    }

    /// Reads the slots for a batch. These reads do not wait for each other, as the searches in a table larger
    /// than the processor's caches would.
    pub(super) fn warm_up(&self, batch: &[(usize, u64)]) {
        let entry = |hash| self.table.entry(first_slot(hash, self.table.slots()));
        std::hint::black_box(batch.iter().fold(0, |sum, &(_, hash)| sum ^ entry(hash)));
    }

    /// Adds the position of a window, unless the table has an equal window.
    pub(super) fn add(
        &mut self,
        hash: u64,
        position: usize,
        is_equal: impl Fn(usize) -> bool,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<(), OutOfMemory> {
        let slot = self.find(hash, is_equal);
        if self.table.entry(slot) != 0 {
            return Ok(());
        }
        self.table.put(slot, tag(hash) | (position as u64 + 1));
        // A round may have more windows than expected.
        if self.table.has_room_for(0) { Ok(()) } else { self.table.grow(first_slot, heartbeat) }
    }

    /// The position of an equal window, if there is one.
    pub(super) fn get(&self, hash: u64, is_equal: impl Fn(usize) -> bool) -> Option<usize> {
        let entry = self.table.entry(self.find(hash, is_equal));
        (entry != 0).then(|| position(entry))
    }

    /// The slot of an equal window, or the empty slot where the window belongs.
    fn find(&self, hash: u64, is_equal: impl Fn(usize) -> bool) -> usize {
        let is_wanted = |entry| tag(entry) == tag(hash) && is_equal(position(entry));
        self.table.find(first_slot(hash, self.table.slots()), is_wanted)
    }
}

/// Passes on the positions and hashes of the wanted windows, a batch at a time. The first hash belongs to the
/// window at `first`.
pub(super) fn each_batch(
    first: usize,
    hashes: &[u64],
    is_wanted: impl Fn(u64) -> bool,
    mut consumer: impl FnMut(&[(usize, u64)]),
) {
    let mut batch = Vec::with_capacity(BATCH); // Bounded: a batch.
    for (first, hashes) in (first..).step_by(BATCH).zip(hashes.chunks(BATCH)) {
        let windows = (first..).zip(hashes.iter().copied());
        batch.clear();
        batch.extend(windows.filter(|&(_, hash)| is_wanted(hash)));
        consumer(&batch);
    }
}

/// The slot where the search for a hash begins. It only depends on the tag, so the table can grow without the
/// hashes.
fn first_slot(hash: u64, slots: usize) -> usize {
    (tag(hash) >> (u64::BITS - slots.ilog2())) as usize
}

/// The bits of a hash that the table keeps.
fn tag(hash: u64) -> u64 {
    hash & !u64::from(u32::MAX)
}

/// The position of an entry's window.
fn position(entry: u64) -> usize {
    (entry - tag(entry)) as usize - 1
}
