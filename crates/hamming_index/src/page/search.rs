//! Finds children and entries in a page.

use super::{HEADER, KEY, Page, TRAILER, words_in};
use crate::key::IndexKey;
use std::ops::Range;

/// How far from its likely slot a child is looked for first. Children of a new index whose codes are
/// scattered are within one slot of it.
const NEAR: usize = 4;

/// The slot in which a key is likely to be among so many in ascending order, if their bits are spread evenly
/// from `first` to `end`. `None` stands for the end of all keys.
#[inline]
pub(crate) fn likely_slot(first: IndexKey, end: Option<IndexKey>, keys: usize, key: IndexKey) -> usize {
    let end = end.map_or(u64::MAX, |end| end.bits);
    let place = key.bits.saturating_sub(first.bits) as f64 / end.saturating_sub(first.bits) as f64;
    // Not a number becomes 0.
    ((place * keys as f64) as usize).min(keys.saturating_sub(1))
}

impl Page {
    /// The slot of the child that may contain the key, in an inner node. The key in the slot after it, if
    /// any, is above the key, even if damage has put the keys out of order.
    pub fn child_of(&self, key: IndexKey) -> usize {
        self.child_between(0, self.len(), key)
    }

    /// Like [`child_of`](Self::child_of), but looks first around a slot that it is likely to be.
    pub(crate) fn child_near(&self, likely: usize, key: IndexKey) -> usize {
        debug_assert!(likely < self.len(), "the likely slot has a child");
        let low = likely.saturating_sub(NEAR);
        let high = (likely + NEAR).min(self.len());
        if low > 0 && self.is_above(low, key) {
            self.child_between(0, low, key)
        } else if high < self.len() && !self.is_above(high, key) {
            self.child_between(high, self.len(), key)
        } else {
            self.child_between(low, high, key)
        }
    }

    /// The slot of the child that may contain the key, from `low` on and below `high`.
    #[inline]
    fn child_between(&self, low: usize, high: usize, key: IndexKey) -> usize {
        debug_assert!(low == 0 || !self.is_above(low, key), "the key is under an earlier child");
        debug_assert!(high == self.len() || self.is_above(high, key), "the key is under a later child");
        let mut low = low + 1;
        let mut high = high.max(low);
        while low < high {
            let middle = low.midpoint(high);
            if self.is_above(middle, key) { high = middle } else { low = middle + 1 }
        }
        low - 1
    }

    /// Whether the key in this slot is above the key.
    #[inline]
    fn is_above(&self, slot: usize, key: IndexKey) -> bool {
        // Rows are in another part of the page, so they are only read if the bits are equal.
        let bits = u64::from_ne_bytes(self.bits()[slot]);
        match self.has_filters() {
            true => self.key(slot) > key,
            false => bits > key.bits || bits == key.bits && self.row(slot) > key.row,
        }
    }

    /// The bytes that [`child_near`](Self::child_near) reads if the child is where it is likely to be; none
    /// for a slot far after the last child.
    pub(crate) fn bytes_near(&self, likely: usize) -> [Range<usize>; 2] {
        let low = likely.saturating_sub(NEAR).min(self.len());
        let high = (likely + NEAR + 1).min(self.len());
        let keys = HEADER + low * KEY..HEADER + high * KEY;
        let rests = TRAILER - high * self.rest()..TRAILER - low * self.rest();
        [keys, rests]
    }

    /// The slot of an entry in a leaf, if the leaf has it.
    pub fn position(&self, entry: IndexKey) -> Option<usize> {
        let bits = entry.bits.to_ne_bytes();
        let words = words_in(self.tree(), self.level());
        let same = self.bits().iter().step_by(words).enumerate().filter(|(_, other)| **other == bits);
        same.map(|(slot, _)| slot).find(|&slot| self.key(slot) == entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::RowId;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_child_is_found_wherever_it_is_looked_for_first(
            mut keys in prop::collection::btree_set(prop_oneof![any::<u64>(), 0u64..100], 1..60),
            wanted in prop_oneof![any::<u64>(), 0u64..100],
            likely in any::<prop::sample::Index>(),
        ) {
            keys.insert(0);
            let children: Vec<_> = keys.iter().map(|&bits| (IndexKey::new(bits, RowId::FIRST), 1)).collect();
            let page = Page::inner(0, 1, &children);
            let key = IndexKey::new(wanted, RowId::FIRST);
            let expected = keys.iter().filter(|&&bits| bits <= wanted).count() - 1;
            prop_assert_eq!(page.child_of(key), expected);
            prop_assert_eq!(page.child_near(likely.index(children.len()), key), expected);
            let [keys, rests] = page.bytes_near(expected);
            prop_assert!(keys.contains(&(HEADER + expected * KEY)));
            prop_assert!(rests.contains(&page.rest_of(expected)));
        }

        #[test]
        fn a_likely_slot_is_one_of_the_keys(
            first in any::<u64>(),
            end in any::<u64>(),
            key in any::<u64>(),
            keys in 1usize..500,
        ) {
            let [first, end, key] = [first, end, key].map(IndexKey::before);
            prop_assert!(likely_slot(first, Some(end), keys, key) < keys);
            prop_assert!(likely_slot(first, None, keys, key) < keys);
        }
    }

    #[test]
    fn keys_that_are_spread_evenly_are_in_their_likely_slots() {
        let [first, end, other] = [1000, 5000, 7].map(IndexKey::before);
        for slot in 0..400 {
            let key = IndexKey::before(1000 + slot * 10 + 5);
            assert_eq!(likely_slot(first, Some(end), 400, key), slot as usize);
        }
        assert_eq!(likely_slot(other, Some(other), 400, other), 0);
    }
}
