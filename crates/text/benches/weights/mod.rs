//! Weights of the texts that a benchmark reads.

use text::features::Scheme;
use text::sketch::rarity::{self, COUNTS_BYTES, FeatureCounter};

/// Weights of pairs of words, from all texts.
pub(crate) fn weights_of(texts: &[&str]) -> Vec<u8> {
    let scheme: Scheme = "word:2".parse().unwrap();
    let mut counter = FeatureCounter::default();
    let mut counts = vec![0; COUNTS_BYTES];
    for text in texts {
        counter.count(&mut counts, text, scheme, &mut || ()).unwrap();
    }
    rarity::weights(&counts).unwrap().unwrap()
}
