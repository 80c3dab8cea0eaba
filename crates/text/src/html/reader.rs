//! Reads a document in portions, with heartbeats between them.

use base::Heartbeat;
use html5gum::Reader;
use std::cell::RefCell;
use std::convert::Infallible;

/// The heartbeat, which the reader and the extractor share.
pub(super) type Beat<'a, 'b> = RefCell<&'a mut (dyn Heartbeat + 'b)>;

/// The most bytes that are read at once.
pub(super) const CHUNK: usize = 1 << 14;
/// The number of bytes that are compared at once.
const GROUP: usize = 16;
/// The number of reads between two heartbeats.
const STRIDE: usize = 1 << 12;

/// A document that calls the heartbeat while it is read.
pub(super) struct Paced<'a, 'b, 'c> {
    document: &'a str,
    rest: &'a [u8],
    reads: usize,
    beat: &'a Beat<'b, 'c>,
}

impl<'a, 'b, 'c> Paced<'a, 'b, 'c> {
    pub(super) fn new(document: &'a str, beat: &'a Beat<'b, 'c>) -> Self {
        Self { document, rest: document.as_bytes(), reads: 0, beat }
    }

    fn count(&mut self) {
        self.reads += 1;
        if self.reads.is_multiple_of(STRIDE) {
            self.beat.borrow_mut().beat();
        }
    }
}

impl Reader for Paced<'_, '_, '_> {
    type Error = Infallible;

    fn read_byte(&mut self) -> Result<Option<u8>, Infallible> {
        self.count();
        Ok(self.rest.split_off_first().copied())
    }

    fn try_read_string(&mut self, text: &[u8], case_sensitive: bool) -> Result<bool, Infallible> {
        self.count();
        let is_next = self
            .rest
            .get(..text.len())
            .is_some_and(|next| if case_sensitive { next == text } else { next.eq_ignore_ascii_case(text) });
        if is_next {
            self.rest = &self.rest[text.len()..];
        }
        Ok(is_next)
    }

    /// Returns the bytes before the next needle, or the needle itself if it is next.
    fn read_until<'b>(
        &'b mut self,
        needle: &[u8],
        _: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, Infallible> {
        self.count();
        if self.rest.is_empty() {
            return Ok(None);
        }
        // The portion ends with a whole character, so that the next one does not begin inside a character.
        let read = self.document.len() - self.rest.len();
        let end = self.document.floor_char_boundary(read + CHUNK);
        let chunk = &self.rest[..end - read];
        let found = find(chunk, needle);
        let (read, rest) = self.rest.split_at(found.unwrap_or(chunk.len()).max(1));
        self.rest = rest;
        Ok(Some(read))
    }
}

/// The place of the first byte that is a needle.
fn find(bytes: &[u8], needles: &[u8]) -> Option<usize> {
    let (groups, rest) = bytes.as_chunks::<GROUP>();
    let in_group = |(number, group)| find_in_group(group, needles).map(|at| number * GROUP + at);
    groups.iter().enumerate().find_map(in_group).or_else(|| {
        let found = rest.iter().position(|byte| needles.contains(byte));
        found.map(|at| groups.len() * GROUP + at)
    })
}

/// Compares all bytes of a group with a needle at once.
fn find_in_group(group: &[u8; GROUP], needles: &[u8]) -> Option<usize> {
    let mut hits = [0; GROUP];
    for needle in needles {
        hits.iter_mut().zip(group).for_each(|(hit, byte)| *hit |= u8::from(byte == needle));
    }
    let hits = u128::from_le_bytes(hits);
    (hits != 0).then(|| (hits.trailing_zeros() / u8::BITS) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_the_first_needle(bytes in "[a-h]{0,70}", needles in "[g-z]{1,13}") {
            let bytes = bytes.as_bytes();
            let needles = needles.as_bytes();
            prop_assert_eq!(find(bytes, needles), bytes.iter().position(|byte| needles.contains(byte)));
        }
    }
}
