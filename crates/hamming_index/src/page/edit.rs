//! Changes of pages, as the log has them: a whole page, or a few bytes here and there.

use super::{HEADER, KEY, LOWER, Page, ROW, TRAILER, UPPER};
use crate::key::IndexKey;

/// Bytes that a patch takes in the log, in addition to its new bytes.
const PATCH_HEADER: usize = 4;

/// A few neighbouring bytes of a page that change.
#[derive(Clone, Copy, Debug)]
pub struct Patch {
    /// The first byte that changes, counted from the beginning of the page.
    pub offset: u16,
    bytes: [u8; 8],
    length: u8,
}

impl Patch {
    /// Writes `new`, at most eight bytes, from the offset on.
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
    /// The whole page is replaced.
    Replace(Box<Page>),
    /// A few bytes here and there are replaced.
    Patch(Vec<Patch>),
}

impl Page {
    /// The edit that adds an entry to a leaf that is not full.
    ///
    /// `tail` has the words of its code after the first one, for a tree of whole codes; zeros are written in
    /// place of those that are missing.
    pub fn adding(&self, entry: IndexKey, tail: &[u64]) -> Edit {
        let (lower, upper) = (self.number(LOWER), self.number(UPPER) - self.rest());
        let bounds = Self::bounds(lower + self.key_size(), upper);
        let words = std::iter::once(entry.bits).chain(tail.iter().copied()).chain(std::iter::repeat(0));
        Edit::Patch(std::iter::once(bounds).chain(self.entry_at(lower, upper, entry, words)).collect())
    }

    /// Writes an entry of a leaf, whose words and rest lie at these offsets.
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

    /// The edit that keeps the entries of a leaf whose slots say that they stay. Gaps are filled with the
    /// last entries; where that takes more of the log than all entries that stay, the page is written again.
    pub fn keeping(&self, stays: &[bool]) -> Edit {
        let kept = stays.iter().filter(|&&stays| stays).count();
        let gaps = (0..kept).filter(|&slot| !stays[slot]);
        let last = (kept..self.len()).filter(|&slot| stays[slot]);
        let moves: Vec<(usize, usize)> = gaps.zip(last).collect();
        let (key, words) = (self.key_size(), self.key_size() / KEY);
        if moves.len() * (key + ROW + (words + 1) * PATCH_HEADER) > kept * (key + ROW) {
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

    /// Writes `lower` and `upper`, which are neighbours in the header.
    fn bounds(lower: usize, upper: usize) -> Patch {
        let mut bytes = [0; 4];
        bytes[..2].copy_from_slice(&(lower as u16).to_ne_bytes());
        bytes[2..].copy_from_slice(&(upper as u16).to_ne_bytes());
        Patch::new(LOWER, &bytes)
    }
}
