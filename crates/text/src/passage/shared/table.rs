//! The table in which windows of the first text are found by their hash.

use limits::{OutOfMemory, reserve};

/// The first position of every window, by its hash: open addressing, at most half full.
pub(super) struct WindowTable {
    /// The upper half of the hash, and the position plus 1 below; 0 is empty. The length is a power of two.
    slots: Vec<u64>,
    members: usize,
}

impl WindowTable {
    pub(super) fn new(slots: usize) -> Result<Self, OutOfMemory> {
        let slots = slots.next_power_of_two().max(16);
        let mut table = Self { slots: Vec::new(), members: 0 };
        reserve(&mut table.slots, slots)?;
        table.slots.resize(slots, 0);
        Ok(table)
    }

    pub(super) fn clear(&mut self) {
        self.slots.fill(0);
        self.members = 0;
    }

    /// Reads the slots that a batch will look at. These reads do not wait for one another, as the searches
    /// in a table larger than the processor's caches would.
    pub(super) fn warm_up(&self, batch: &[(usize, u64)]) {
        std::hint::black_box(batch.iter().fold(0, |sum, &(_, hash)| sum ^ self.slots[self.slot(hash)]));
    }

    /// The slot where the search for a hash begins. The tag alone decides, so a larger table can be made
    /// without the hashes.
    fn slot(&self, hash: u64) -> usize {
        (tag(hash) >> (u64::BITS - self.slots.len().ilog2())) as usize
    }

    /// Adds the position of a window, unless an equal window is there already.
    pub(super) fn add(
        &mut self,
        hash: u64,
        position: usize,
        is_equal: impl Fn(usize) -> bool,
    ) -> Result<(), OutOfMemory> {
        if let Err(slot) = self.find(hash, is_equal) {
            self.slots[slot] = tag(hash) | (position as u64 + 1);
            self.members += 1;
            if 2 * self.members > self.slots.len() {
                self.grow()?;
            }
        }
        Ok(())
    }

    /// The position of the equal window, if there is one.
    pub(super) fn get(&self, hash: u64, is_equal: impl Fn(usize) -> bool) -> Option<usize> {
        self.find(hash, is_equal).ok()
    }

    /// The position of the equal window, or else the slot where it belongs.
    fn find(&self, hash: u64, is_equal: impl Fn(usize) -> bool) -> Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = self.slot(hash);
        loop {
            let entry = self.slots[slot];
            if entry == 0 {
                return Err(slot);
            }
            if tag(entry) == tag(hash) && is_equal((entry - tag(entry)) as usize - 1) {
                return Ok((entry - tag(entry)) as usize - 1);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Doubles the table, when a round has more windows than its share.
    fn grow(&mut self) -> Result<(), OutOfMemory> {
        let mut larger = Self::new(2 * self.slots.len())?;
        for &entry in self.slots.iter().filter(|&&entry| entry != 0) {
            if let Err(slot) = larger.find(entry, |_| false) {
                larger.slots[slot] = entry;
            }
        }
        self.slots = larger.slots;
        Ok(())
    }
}

/// The bits of a hash that the table keeps.
fn tag(hash: u64) -> u64 {
    hash & !u64::from(u32::MAX)
}
