//! A hash table of numbers: open addressing with linear probing.
//!
//! Source: Knuth, "Notes on Open Addressing", 1963. Entries are found by their [`Place`], so that nobody who
//! chooses the entries can fill the table from one end. Cost: if at most half of the slots are full, a search
//! takes a few probes, whatever the entries are; see [`Secret`](super::secret::Secret). The heartbeat counts
//! probes.

use super::secret::Place;
use base::{Heartbeat, OutOfMemory, fill};

/// How many slots are examined between two heartbeats. A single search may examine more.
const PROBES: usize = 1 << 16;

#[cfg(test)]
thread_local! {
    /// The number of slots that this thread has examined, so that tests measure work, not time.
    pub(crate) static PROBED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// A table of entries other than 0. The caller keeps at most half of the slots full.
#[derive(Debug, Default)]
pub(crate) struct ProbingTable {
    /// 0 is an empty slot. The number of slots is a power of two, or 0 before they are first cleared.
    slots: Vec<u64>,
    entries: usize,
    /// The number of slots that were examined since the last heartbeat.
    probes: usize,
}

impl ProbingTable {
    /// Removes all entries, and sets the number of slots, a power of two above 1.
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

    /// The entry in the slot where the search for a place begins, or 0.
    #[inline]
    pub(crate) fn first_entry(&self, place: Place) -> u64 {
        self.slots[place.slot(self.slots.len())]
    }

    /// Whether at most half of the slots are full after adding `more` entries.
    pub(crate) fn has_room_for(&self, more: usize) -> bool {
        2 * (self.entries + more) <= self.slots.len()
    }

    /// The slot of a wanted entry with this place, or the empty slot where it belongs.
    #[inline]
    pub(crate) fn find(
        &mut self,
        place: Place,
        is_wanted: impl Fn(u64) -> bool,
        heartbeat: &mut dyn Heartbeat,
    ) -> usize {
        debug_assert!(self.entries < self.slots.len(), "a search ends at an empty slot");
        let mask = self.slots.len() - 1;
        let first = place.slot(self.slots.len());
        let mut slot = first;
        while self.slots[slot] != 0 && !is_wanted(self.slots[slot]) {
            slot = (slot + 1) & mask;
        }
        let probes = (slot.wrapping_sub(first) & mask) + 1;
        #[cfg(test)]
        PROBED.set(PROBED.get() + probes);
        self.probes += probes;
        if self.probes >= PROBES {
            self.probes = 0;
            heartbeat.beat();
        }
        slot
    }

    /// Puts an entry into an empty slot that [`find`](Self::find) has returned.
    #[inline]
    pub(crate) fn put(&mut self, slot: usize, entry: u64) {
        debug_assert!(self.slots[slot] == 0 && entry != 0, "slot {slot}, entry {entry}");
        self.slots[slot] = entry;
        self.entries += 1;
    }

    /// Doubles the number of slots. `place` is the place of an entry.
    pub(crate) fn grow(
        &mut self,
        place: impl Fn(u64) -> Place,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<(), OutOfMemory> {
        let mut larger = Self::default();
        larger.clear(2 * self.slots.len(), heartbeat)?;
        for slots in self.slots.chunks(PROBES) {
            heartbeat.beat();
            for &entry in slots.iter().filter(|&&entry| entry != 0) {
                let slot = larger.find(place(entry), |_| false, heartbeat);
                larger.put(slot, entry);
            }
        }
        *self = larger;
        Ok(())
    }
}
