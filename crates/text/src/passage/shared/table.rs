//! The table in which windows of the first text are found by their hash.

use crate::hash::probing_table::ProbingTable;
use base::OutOfMemory;

/// Windows that are looked up together.
const BATCH: usize = 64;

/// The first position of every window, by its hash.
pub(super) struct WindowTable {
    /// An entry is the upper half of the hash, and the position plus 1 below.
    table: ProbingTable,
}

impl WindowTable {
    pub(super) fn new(slots: usize) -> Result<Self, OutOfMemory> {
        let mut table = ProbingTable::default();
        table.clear(slots.next_power_of_two().max(16))?;
        Ok(Self { table })
    }

    pub(super) fn clear(&mut self) -> Result<(), OutOfMemory> {
        self.table.clear(self.table.slots())
    }

    /// Reads the slots that a batch will look at. These reads do not wait for one another, as the searches
    /// in a table larger than the processor's caches would.
    pub(super) fn warm_up(&self, batch: &[(usize, u64)]) {
        let entry = |hash| self.table.entry(first_slot(hash, self.table.slots()));
        std::hint::black_box(batch.iter().fold(0, |sum, &(_, hash)| sum ^ entry(hash)));
    }

    /// Adds the position of a window, unless an equal window is there already.
    pub(super) fn add(
        &mut self,
        hash: u64,
        position: usize,
        is_equal: impl Fn(usize) -> bool,
    ) -> Result<(), OutOfMemory> {
        let slot = self.find(hash, is_equal);
        if self.table.entry(slot) != 0 {
            return Ok(());
        }
        self.table.put(slot, tag(hash) | (position as u64 + 1));
        // A round may have more windows than its share.
        if self.table.has_room_for(0) { Ok(()) } else { self.table.grow(first_slot) }
    }

    /// The position of the equal window, if there is one.
    pub(super) fn get(&self, hash: u64, is_equal: impl Fn(usize) -> bool) -> Option<usize> {
        let entry = self.table.entry(self.find(hash, is_equal));
        (entry != 0).then(|| position(entry))
    }

    /// The slot of the equal window, or else the empty one where it belongs.
    fn find(&self, hash: u64, is_equal: impl Fn(usize) -> bool) -> usize {
        let is_wanted = |entry| tag(entry) == tag(hash) && is_equal(position(entry));
        self.table.find(first_slot(hash, self.table.slots()), is_wanted)
    }
}

/// Passes on the positions and hashes of those windows that are wanted, a batch at a time. The first hash is
/// that of the window at `first`.
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

/// Where the search for a hash begins. The tag alone decides, so a larger table can be made without the
/// hashes.
fn first_slot(hash: u64, slots: usize) -> usize {
    (tag(hash) >> (u64::BITS - slots.ilog2())) as usize
}

/// The bits of a hash that the table keeps.
fn tag(hash: u64) -> u64 {
    hash & !u64::from(u32::MAX)
}

/// The position of the window that an entry stands for.
fn position(entry: u64) -> usize {
    (entry - tag(entry)) as usize - 1
}
