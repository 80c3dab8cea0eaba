//! MinHash signatures: the fraction of equal values estimates the similarity of two texts.
//!
//! Broder, "On the resemblance and containment of documents", 1997. [`bins`] makes signatures, and
//! [`signature`] uses them.

mod bins;
mod copier;
mod keys;
mod signature;

pub use bins::BINS;
pub use signature::{bits, similarity};

use crate::features::{Scheme, Shingler};
use base::{Heartbeat, Limit, Problem, collect, grow};
use copier::Copier;
use keys::{NO_KEY, value};

/// The most values of a signature.
const MAX_VALUES: i64 = 4096;
/// The number of bits of a text, one for each value.
pub const BITS: Limit = Limit::new("bits", 1, MAX_VALUES);
/// The number of values of a signature that a user passes.
const LENGTH: Limit = Limit::new("length of signature", 0, MAX_VALUES);

/// Makes signatures, and reuses its memory for the next text.
#[derive(Debug, Default)]
pub struct MinHasher {
    shingler: Shingler,
    copier: Copier,
    /// The least key and the number of each bin, or [`NO_KEY`].
    least: Vec<u64>,
}

impl MinHasher {
    /// Calls `lower` for empty bins and the features of a text, batch by batch. `None` if all stay empty.
    fn collect(
        &mut self,
        text: &str,
        bins: usize,
        scheme: Scheme,
        heartbeat: &mut dyn Heartbeat,
        mut lower: impl FnMut(&mut Copier, &mut [u64], &[u64]),
    ) -> Result<Option<Vec<i32>>, Problem> {
        let bins = BINS.of(bins)?;
        let Self { shingler, copier, least } = self;
        least.clear();
        grow(least, bins)?;
        least.resize(bins, NO_KEY); // Bounded: memory was reserved.
        shingler.hash_features(text, scheme, &mut |features| {
            heartbeat.beat();
            lower(copier, least, features);
        })?;
        let any = least.iter().any(|&key| key != NO_KEY);
        let values = collect(least.iter().map(|&least| value(least)), bins)?;
        Ok(any.then_some(values))
    }
}

#[cfg(test)]
mod tests {
    use super::MinHasher;
    use crate::features::Scheme;

    pub(super) fn bins(text: &str, bins: usize, scheme: &str) -> Option<Vec<i32>> {
        MinHasher::default().bins(text, bins, scheme.parse().unwrap(), &mut || ()).unwrap()
    }

    /// A text of the words with these numbers.
    pub(super) fn text(words: impl Iterator<Item = usize>) -> String {
        words.map(|word| format!("w{word} ")).collect()
    }

    /// A text leaves nothing behind for the next one, whether that has as many bins, more or fewer.
    #[test]
    fn memory_is_reused() {
        let mut hasher = MinHasher::default();
        let long = text(0..100);
        for (text, number) in [(&*long, 64), ("one two", 64), ("", 64), (&*long, 256), ("one", 16)] {
            let signature = hasher.bins(text, number, Scheme::DOC2, &mut || ()).unwrap();
            assert_eq!(signature, bins(text, number, "doc2"), "{number} bins");
        }
    }

    /// Tests 200 pairs of texts with this number of words, of which a known number is shared. The mean error
    /// of the estimates must be near 0, and its spread at most that of this number of independent values.
    pub(super) fn assert_unbiased<S>(
        words: usize,
        shared: usize,
        values: usize,
        sketch: impl Fn(&str) -> S,
        estimate: impl Fn(&S, &S) -> f64,
    ) {
        let resemblance = shared as f64 / (2 * words - shared) as f64;
        let errors: Vec<f64> = (0..200)
            .map(|pair| {
                let first = pair * 10_000;
                let a = sketch(&text(first..first + words));
                let b = sketch(&text(first + words - shared..first + 2 * words - shared));
                estimate(&a, &b) - resemblance
            })
            .collect();
        let mean = errors.iter().sum::<f64>() / 200.0;
        let variance = errors.iter().map(|error| error * error).sum::<f64>() / 200.0;
        let expected = resemblance * (1.0 - resemblance) / values as f64;
        // Five standard errors of a mean of 200. The variance of a variance is about its square / 100.
        assert!(mean.abs() < 5.0 * (expected / 200.0).sqrt(), "{words}, {shared}: mean error {mean}");
        assert!(variance / expected < 1.5, "{words}, {shared}: {variance} instead of {expected}");
    }
}
