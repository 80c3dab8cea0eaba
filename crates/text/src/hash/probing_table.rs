//! A hash table of numbers: open addressing with linear probing.

use base::{Heartbeat, OutOfMemory, fill};

/// How many slots are moved between two heartbeats.
const MOVED: usize = 1 << 16;

/// A table of entries other than 0. The caller keeps at most half of the slots full, and says where the
/// search for an entry begins.
#[derive(Debug, Default)]
pub(crate) struct ProbingTable {
    /// 0 is an empty slot. The number of slots is a power of two, or 0 before they are first cleared.
    slots: Vec<u64>,
    entries: usize,
}

impl ProbingTable {
    /// Removes all entries, and sets the number of slots, a power of two.
    pub(crate) fn clear(&mut self, slots: usize, heartbeat: &mut dyn Heartbeat) -> Result<(), OutOfMemory> {
        self.slots.clear();
        self.entries = 0;
        fill(&mut self.slots, 0, slots, heartbeat)
    }

    /// Frees the memory. The number of entries is still known.
    pub(crate) fn release(&mut self) {
        self.slots = Vec::new();
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn entries(&self) -> usize {
        self.entries
    }

    /// The entry in a slot, or 0.
    #[inline]
    pub(crate) fn entry(&self, slot: usize) -> u64 {
        self.slots[slot]
    }

    /// Whether at most half of the slots are full after adding `more` entries.
    pub(crate) fn has_room_for(&self, more: usize) -> bool {
        2 * (self.entries + more) <= self.slots.len()
    }

    /// The slot of a wanted entry, or the empty slot where it belongs. The search begins at the slot in the
    /// lower bits of `first`.
    #[inline]
    pub(crate) fn find(&self, first: usize, is_wanted: impl Fn(u64) -> bool) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = first & mask;
        while self.slots[slot] != 0 && !is_wanted(self.slots[slot]) {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Puts an entry into an empty slot that [`find`](Self::find) has returned.
    #[inline]
    pub(crate) fn put(&mut self, slot: usize, entry: u64) {
        self.slots[slot] = entry;
        self.entries += 1;
    }

    /// Doubles the number of slots. `first` says where the search for an entry begins in a larger table.
    pub(crate) fn grow(
        &mut self,
        first: impl Fn(u64, usize) -> usize,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<(), OutOfMemory> {
        let mut larger = Self::default();
        larger.clear(2 * self.slots.len(), heartbeat)?;
        for slots in self.slots.chunks(MOVED) {
            heartbeat.beat();
            for &entry in slots.iter().filter(|&&entry| entry != 0) {
                let slot = larger.find(first(entry, larger.slots.len()), |_| false);
                larger.put(slot, entry);
            }
        }
        *self = larger;
        Ok(())
    }
}
