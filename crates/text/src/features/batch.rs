//! Passes feature hashes on in batches, so that loops over a batch are tight. The heartbeat is called between
//! two batches.

use super::Consumer;
use crate::hash::rabin::{self, UNITS};
use crate::hash::xxh3_64;

/// The largest number of hashes that are passed on together.
pub(crate) const BATCH: usize = 512;

/// Collects hashes and passes every full batch to its consumer.
pub(crate) struct Batch<'a> {
    hashes: [u64; BATCH],
    len: usize,
    consumer: &'a mut dyn FnMut(&[u64]),
}

impl<'a> Batch<'a> {
    pub(crate) fn new(consumer: &'a mut dyn FnMut(&[u64])) -> Self {
        Self { hashes: [0; BATCH], len: 0, consumer }
    }

    #[inline]
    pub(crate) fn push(&mut self, hash: u64) {
        if self.len == BATCH {
            self.flush();
        }
        self.hashes[self.len] = hash;
        self.len += 1;
    }

    /// Pushes up to a batch of hashes, in a loop that does not check for room at each hash.
    #[inline]
    pub(crate) fn extend(&mut self, hashes: impl ExactSizeIterator<Item = u64>) {
        debug_assert!(hashes.len() <= BATCH, "more than a batch of hashes");
        if self.len + hashes.len() > BATCH {
            self.flush();
        }
        let free = &mut self.hashes[self.len..];
        self.len += hashes.len();
        for (entry, hash) in free.iter_mut().zip(hashes) {
            *entry = hash;
        }
    }

    /// Passes on the hashes that were collected.
    #[cold]
    #[inline(never)]
    pub(crate) fn flush(&mut self) {
        (self.consumer)(&self.hashes[..self.len]);
        self.len = 0;
    }
}

/// Hashes every feature as most schemes do.
impl<'f> Consumer<&'f [u8]> for Batch<'_> {
    #[inline(always)]
    fn take(&mut self, feature: &'f [u8]) {
        self.push(xxh3_64(feature));
    }

    #[inline]
    fn take_all(&mut self, features: impl ExactSizeIterator<Item = &'f [u8]>) {
        #[expect(clippy::redundant_closure, reason = "a closure is compiled into every caller's loop")]
        self.extend(features.map(|feature| xxh3_64(feature)));
    }

    fn pause(&mut self) {
        self.flush();
    }
}

impl Consumer<[u16; UNITS]> for Batch<'_> {
    #[inline]
    fn take(&mut self, units: [u16; UNITS]) {
        self.push(rabin::hash(units));
    }

    fn pause(&mut self) {
        self.flush();
    }
}

impl Consumer<u64> for Batch<'_> {
    #[inline(always)]
    fn take(&mut self, hash: u64) {
        self.push(hash);
    }

    fn pause(&mut self) {
        self.flush();
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::features::{Scheme, Shingler};
    use proptest::prelude::*;

    /// All hashes that the function puts into batches, none of which may be too large.
    pub(in crate::features) fn hashes_of(function: impl FnOnce(&mut Batch<'_>)) -> Vec<u64> {
        let mut hashes = Vec::new();
        let mut consumer = |batch: &[u64]| {
            assert!(batch.len() <= BATCH);
            hashes.extend_from_slice(batch);
        };
        let mut batch = Batch::new(&mut consumer);
        function(&mut batch);
        batch.flush();
        hashes
    }

    pub(in crate::features) fn feature_hashes(text: &str, scheme: Scheme) -> Vec<u64> {
        let mut all = Vec::new();
        Shingler::default().hash_features(text, scheme, &mut |hashes| all.extend_from_slice(hashes)).unwrap();
        all
    }

    /// Texts of up to some thousand characters: parts in ASCII, in one script, or with any characters.
    pub(in crate::features) fn any_text() -> impl Strategy<Value = String> {
        let stretch = prop_oneof![
            3 => "[ -~]{0,600}",
            1 => "[ -~à-ÿ]{0,200}",
            1 => "[ а-яё]{0,200}",
            1 => "[一-龥]{0,200}",
            1 => "[\u{1f300}-\u{1f64f}]{0,9}",
            2 => any::<String>(),
        ];
        prop::collection::vec(stretch, 0..7).prop_map(|stretches| stretches.concat())
    }
}
