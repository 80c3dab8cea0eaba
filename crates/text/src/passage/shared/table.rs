//! A table that finds windows of the first text by their place.

use crate::hash::probing_table::ProbingTable;
use crate::hash::secret::{Place, Secret};
use base::{Heartbeat, OutOfMemory};

/// The number of windows that are looked up together.
const BATCH: usize = 64;

/// The first position of every window, by its place.
pub(super) struct WindowTable {
    /// An entry is the upper half of the place, and below it the position plus 1.
    table: ProbingTable,
}

/// A window of a text.
#[derive(Clone, Copy)]
pub(super) struct PlacedWindow {
    pub(super) position: usize,
    pub(super) place: Place,
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
    pub(super) fn warm_up(&self, batch: &[PlacedWindow]) {
        let entry = |place| self.table.first_entry(place);
        std::hint::black_box(batch.iter().fold(0, |sum, window| sum ^ entry(window.place)));
    }

    /// Adds the position of a window, unless the table has an equal window.
    pub(super) fn add(
        &mut self,
        window: PlacedWindow,
        is_equal: impl Fn(usize) -> bool,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<(), OutOfMemory> {
        let slot = self.find(window.place, is_equal, heartbeat);
        if self.table.entry(slot) != 0 {
            return Ok(());
        }
        debug_assert!(u32::try_from(window.position + 1).is_ok(), "a position has 32 bits");
        self.table.put(slot, window.place.upper_half() | (window.position as u64 + 1));
        // A round may have more windows than expected.
        if self.table.has_room_for(0) { Ok(()) } else { self.table.grow(Place::of_upper_half, heartbeat) }
    }

    /// The position of an equal window, if there is one.
    pub(super) fn get(
        &mut self,
        place: Place,
        is_equal: impl Fn(usize) -> bool,
        heartbeat: &mut dyn Heartbeat,
    ) -> Option<usize> {
        let slot = self.find(place, is_equal, heartbeat);
        let entry = self.table.entry(slot);
        (entry != 0).then(|| position(entry))
    }

    /// The slot of an equal window, or the empty slot where the window belongs.
    fn find(
        &mut self,
        place: Place,
        is_equal: impl Fn(usize) -> bool,
        heartbeat: &mut dyn Heartbeat,
    ) -> usize {
        let has_place = |entry: u64| entry & !u64::from(u32::MAX) == place.upper_half();
        self.table.find(place, |entry| has_place(entry) && is_equal(position(entry)), heartbeat)
    }
}

/// Passes on the wanted windows, a batch at a time. The first value belongs to the window at `first`.
pub(super) fn each_batch(
    first: usize,
    values: &[u64],
    secret: &Secret,
    is_wanted: impl Fn(Place) -> bool,
    mut consumer: impl FnMut(&[PlacedWindow]),
) {
    let mut batch = Vec::with_capacity(BATCH); // Bounded: a batch.
    for (first, values) in (first..).step_by(BATCH).zip(values.chunks(BATCH)) {
        let windows = (first..).zip(values);
        let windows = windows.map(|(position, &value)| PlacedWindow { position, place: secret.place(value) });
        batch.clear();
        batch.extend(windows.filter(|window| is_wanted(window.place)));
        consumer(&batch);
    }
}

/// The position of an entry's window.
fn position(entry: u64) -> usize {
    entry as u32 as usize - 1
}
