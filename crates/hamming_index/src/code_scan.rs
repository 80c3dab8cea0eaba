//! Reads a tree of whole codes from end to end, and compares each code with a center.
//!
//! Codes are sorted by their first words. So a leaf is skipped if all of its first words differ from the
//! center's in more bits than the radius allows. Cost: each of the other leaves is read once.

use crate::key::{IndexKey, RowId};
use crate::probe::Probe;
use crate::store::Store;
use crate::tree::{Index, TreePart};
use crate::walk::Walk;
use hamming::kernel::near_codes;

/// Reads some more leaves, from the key on, and reports the words, the distance and the row of each code
/// within the radius. `report` returns the radius from then on, the same or a smaller one.
pub(crate) fn scan_codes<S: Store>(
    index: &Index<'_, S>,
    part: TreePart,
    from: IndexKey,
    center: &[u64],
    radius: u32,
    report: &mut dyn FnMut(&[u64], u32, RowId) -> u32,
) -> Walk {
    let first = center.first().copied().unwrap_or_default();
    let mut near = Vec::new();
    let mut words = Vec::new();
    let mut limit = radius;
    index.walk(part, from, &Probe::within(first, part.tree, radius), &mut |leaf, ahead| {
        near.clear();
        near_codes(leaf.bits(), center, limit, &move |word| ahead.load(word), &mut near);
        for &(slot, distance) in &near {
            if distance > limit {
                continue;
            }
            let entry = leaf.key(slot.into());
            // The first leaf may begin with entries that were compared before.
            if entry >= from && part.has(entry) {
                words.clear();
                words.extend(leaf.words(slot.into())); // Bounded: the words of a code.
                limit = report(&words, distance, entry.row);
            }
        }
        true
    })
}
