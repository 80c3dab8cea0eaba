//! Finds children and entries in a page.

use super::{HEADER, KEY, Page, words_in};
use crate::key::IndexKey;
use std::ops::Range;

impl Page {
    /// The slot of the child that may contain the key, in an inner node.
    pub fn child_of(&self, key: IndexKey) -> usize {
        self.child_between(0, self.len(), key)
    }

    /// The slot of the child that may contain the key, if the low keys of this child and of the next one are
    /// not above the key. It is searched in steps that double, because it is often not far.
    pub(crate) fn child_after(&self, slot: usize, key: IndexKey) -> usize {
        debug_assert!(!self.is_above(slot + 1, key), "the key is under an earlier child");
        let children = self.len();
        let mut low = slot + 1;
        let mut step = 1;
        while low + step < children && !self.is_above(low + step, key) {
            low += step;
            step *= 2;
        }
        self.child_between(low, children.min(low + step), key)
    }

    /// The slot of the child that may contain the key, from `low` on and below `high`.
    #[inline]
    fn child_between(&self, low: usize, high: usize, key: IndexKey) -> usize {
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

    /// The bytes that [`child_of`](Self::child_of) may read first in a page with as many children.
    pub(crate) fn first_searched(&self) -> impl Iterator<Item = Range<usize>> {
        let children = self.len();
        (1..8).map(move |part| {
            let slot = part * children / 8;
            HEADER + slot * KEY..HEADER + (slot + 1) * KEY
        })
    }

    /// The slot of an entry in a leaf, if the leaf has it.
    pub fn position(&self, entry: IndexKey) -> Option<usize> {
        let bits = entry.bits.to_ne_bytes();
        let words = words_in(self.tree(), self.level());
        let same = self.bits().iter().step_by(words).enumerate().filter(|(_, other)| **other == bits);
        same.map(|(slot, _)| slot).find(|&slot| self.key(slot) == entry)
    }
}
