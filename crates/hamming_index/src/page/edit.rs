//! Changes of pages, as they are logged: a whole page, or a few bytes in several places.

use super::{HEADER, KEY, LOWER, Page, ROW, TRAILER, UPPER};
use crate::key::IndexKey;

/// The bytes of a patch in the WAL in addition to its new bytes.
const PATCH_HEADER: usize = 4;

/// A change of a few adjacent bytes of a page.
#[derive(Clone, Copy, Debug)]
pub struct Patch {
    /// The offset of the first byte that changes.
    pub offset: u16,
    bytes: [u8; 8],
    length: u8,
}

impl Patch {
    /// A patch that writes `new`, at most eight bytes, at this offset.
    pub fn new(offset: usize, new: &[u8]) -> Self {
        let mut bytes = [0; 8];
        bytes[..new.len()].copy_from_slice(new);
        Self { offset: offset as u16, bytes, length: new.len() as u8 }
    }

    /// The new bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// A change of a page.
pub enum Edit {
    /// Replaces the whole page.
    Replace(Box<Page>),
    /// Replaces a few bytes in several places.
    Patch(Vec<Patch>),
}

impl Page {
    /// The edit that adds an entry to a leaf that is not full.
    ///
    /// In a tree of whole codes, `tail` has the words of the code after the first one. Missing words are
    /// written as zeros.
    pub fn adding(&self, entry: IndexKey, tail: &[u64]) -> Edit {
        debug_assert!(self.level() == 0 && !self.is_full(), "a leaf has room for the entry");
        let lower = self.number(LOWER);
        let upper = self.number(UPPER) - self.rest();
        let bounds = Self::bounds(lower + self.key_size(), upper);
        let others = tail.iter().copied().chain(std::iter::repeat(0));
        let words = std::iter::once(entry.bits).chain(others);
        let mut patches = vec![bounds];
        patches.extend(self.entry_at(lower, upper, entry, words)); // Bounded: an entry.
        Edit::Patch(patches)
    }

    /// The edit that adds entries of another leaf, which must fit.
    pub(crate) fn adding_from(&self, other: &Self, slots: &[usize]) -> Edit {
        debug_assert!(self.len() + slots.len() <= self.capacity());
        let lower = self.number(LOWER);
        let upper = self.number(UPPER);
        let bounds = Self::bounds(lower + slots.len() * self.key_size(), upper - slots.len() * self.rest());
        let entry_at = |(place, &slot): (usize, &usize)| {
            let first = lower + place * self.key_size();
            let rest = upper - (place + 1) * self.rest();
            self.entry_at(first, rest, other.key(slot), other.words(slot))
        };
        let entries = slots.iter().enumerate().flat_map(entry_at);
        Edit::Patch(std::iter::once(bounds).chain(entries).collect())
    }

    /// The edit that changes the lowest key that a child of an inner node may contain.
    pub(crate) fn with_low_key(&self, slot: usize, low: IndexKey) -> Edit {
        debug_assert!(self.level() > 0 && slot > 0 && slot < self.len());
        debug_assert!(self.key(slot - 1) < low && (slot + 1 == self.len() || low < self.key(slot + 1)));
        let first = HEADER + slot * self.key_size();
        let words = std::iter::once(low.bits);
        Edit::Patch(self.entry_at(first, self.rest_of(slot), low, words).collect())
    }

    /// Writes an entry, with its words and its rest at these offsets. The child of an inner node stays.
    fn entry_at(
        &self,
        first: usize,
        rest: usize,
        entry: IndexKey,
        words: impl Iterator<Item = u64>,
    ) -> impl Iterator<Item = Patch> {
        let places = (first..first + self.key_size()).step_by(KEY);
        let words = places.zip(words).map(|(place, word)| Patch::new(place, &word.to_ne_bytes()));
        let filter = self.has_filters().then(|| Patch::new(rest + ROW, &entry.filter.to_bytes()));
        words.chain([Patch::new(rest, &entry.row.to_bytes())]).chain(filter)
    }

    /// The edit that keeps the entries whose slots are true in `stays`. Gaps are filled with the last
    /// entries. If that would log more bytes than all entries that stay, the whole page is replaced.
    pub fn keeping(&self, stays: &[bool]) -> Edit {
        debug_assert_eq!(stays.len(), self.len(), "each entry stays or goes");
        let kept = stays.iter().filter(|&&stays| stays).count();
        let gaps = (0..kept).filter(|&slot| !stays[slot]);
        let last = (kept..self.len()).filter(|&slot| stays[slot]);
        let moves: Vec<(usize, usize)> = gaps.zip(last).collect();
        let key = self.key_size();
        let words = self.key_size() / KEY;
        let logged_by_moves = moves.len() * (key + ROW + (words + 1) * PATCH_HEADER);
        let logged_by_page = kept * (key + ROW);
        if logged_by_moves > logged_by_page {
            let entries = (0..self.len()).filter(|&slot| stays[slot]).map(|slot| (self, slot));
            return Edit::Replace(Self::leaf_of(self.tree(), entries));
        }
        let bounds = Self::bounds(HEADER + kept * key, TRAILER - kept * self.rest());
        let entry_at = |(gap, slot)| {
            self.entry_at(HEADER + gap * key, self.rest_of(gap), self.key(slot), self.words(slot))
        };
        let entries = moves.into_iter().flat_map(entry_at);
        Edit::Patch(std::iter::once(bounds).chain(entries).collect())
    }

    /// Writes `lower` and `upper`, which are adjacent in the header.
    fn bounds(lower: usize, upper: usize) -> Patch {
        let mut bytes = [0; 4];
        bytes[..2].copy_from_slice(&(lower as u16).to_ne_bytes());
        bytes[2..].copy_from_slice(&(upper as u16).to_ne_bytes());
        Patch::new(LOWER, &bytes)
    }
}
