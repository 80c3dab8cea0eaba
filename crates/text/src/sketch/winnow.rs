//! Winnowing: of every `span` consecutive windows of `length` bytes, the one with the least hash is kept.
//!
//! Schleimer, Wilkerson and Aiken, "Winnowing: Local Algorithms for Document Fingerprinting", SIGMOD 2003.
//! They call the two numbers w and k.
//!
//! Guarantee: two texts that share `length + span - 1` bytes share a value of their sketches, since both
//! choose the least of the same hashes there; and every shared value means at least `length` shared bytes.
//! About 2 in `span + 1` windows are kept.
//!
//! Cost: linear time. Memory: two hashes for each window of a span, and the hashes of one piece of text.

use super::SketchSample;
use crate::hash::GOLDEN_RATIO;
use crate::hash::minima::Minima;
use crate::hash::rolling::{Modulo, PRIME, Rolling, Windows, piece_for};
use base::{Heartbeat, Limit, Problem};

/// The number of bytes in a window.
pub const LENGTH: Limit = Limit::new("length", 1, 10_000);
/// The number of consecutive windows of which one is kept.
pub const SPAN: Limit = Limit::new("span", 1, 10_000);

/// The length in characters for [`WinnowParameters::for_excerpts`].
pub const MIN_LENGTH: Limit = Limit::new("min_length", 10, 10_000);

/// The modulus of the polynomials.
const MODULUS: u64 = 1 << 63;

/// The parameters of a sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WinnowParameters {
    /// The number of bytes in a window.
    length: usize,
    /// The number of consecutive windows of which one is kept.
    span: usize,
}

impl WinnowParameters {
    /// Of every `span` consecutive windows of `length` bytes, one is kept.
    pub fn new(length: usize, span: usize) -> Result<Self, Problem> {
        Ok(Self { length: LENGTH.of(length)?, span: SPAN.of(span)? })
    }

    /// Texts that share `min_length` characters share a value, since these characters have at least as many
    /// bytes.
    ///
    /// Windows are half as long as that. Longer windows would make larger sketches. Shorter windows would
    /// often occur in texts that only share a phrase.
    pub fn for_excerpts(min_length: usize) -> Result<Self, Problem> {
        let bytes: usize = MIN_LENGTH.of(min_length as u64)?;
        Self::new(bytes / 2, bytes - bytes / 2 + 1)
    }

    /// The sketch of a text, sorted and distinct. It is empty if the text is shorter than a window, and has
    /// one value if the text has fewer windows than a span.
    pub fn sketch(&self, text: &[u8], heartbeat: &mut dyn Heartbeat) -> Result<Vec<i64>, Problem> {
        let mut sample = SketchSample::new(heartbeat);
        let mut minima = Minima::new(self.span, u64::MAX)?;
        let append = |value: u64, addend: u64| value.wrapping_mul(PRIME).wrapping_add(addend) % MODULUS;
        let rolling = Rolling::new(self.length, Modulo { modulus: MODULUS, append });
        let mut windows = Windows::new(text, &rolling, piece_for(self.length))?;
        while windows.next().is_some() && !sample.has_failed() {
            sample.beat();
            minima.add(windows.hash_some(scatter), |_, hash| hash, |_, least| sample.push(least as i64));
        }
        if let Some(least) = minima.least_of_few() {
            sample.push(least as i64);
        }
        sample.into_values()
    }
}

/// Makes the order of the polynomials' values look random. The factor is odd, so no two become equal.
fn scatter(value: u64) -> u64 {
    value.wrapping_mul(GOLDEN_RATIO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn sketch(text: &str, length: usize, span: usize) -> Vec<i64> {
        WinnowParameters::new(length, span).unwrap().sketch(text.as_bytes(), &mut || ()).unwrap()
    }

    /// The least of every `span` windows, each hashed separately.
    fn naive_sketch(text: &str, length: usize, span: usize) -> Vec<i64> {
        let m = u128::from(MODULUS);
        let value = |window: &[u8]| {
            window.iter().fold(0, |value, &byte| (value * u128::from(PRIME) + u128::from(byte)) % m) as u64
        };
        let hashes: Vec<u64> = text.as_bytes().windows(length).map(|window| scatter(value(window))).collect();
        let least = |hashes: &[u64]| hashes.iter().min().map(|&least| least as i64);
        let minima: BTreeSet<i64> = match hashes.len() {
            few if few < span => least(&hashes).into_iter().collect(),
            _ => hashes.windows(span).filter_map(least).collect(),
        };
        minima.into_iter().collect()
    }

    #[test]
    fn wrong_parameters_are_named() {
        assert_eq!(WinnowParameters::new(0, 5).unwrap_err().message, "length 0 is out of range");
        assert_eq!(WinnowParameters::new(5, 10_001).unwrap_err().message, "span 10001 is out of range");
    }

    proptest! {
        #[test]
        fn sketches_equal_the_definition(
            text in prop_oneof!["[ab]{0,300}", "\\PC{0,60}", "[ -~]{0,900}", "[ -~]{4000,9000}"],
            length in 1usize..30,
            span in 1usize..40,
        ) {
            prop_assert_eq!(sketch(&text, length, span), naive_sketch(&text, length, span));
        }

        #[test]
        fn every_shared_excerpt_is_caught(
            a in "\\PC{0,80}",
            b in "\\PC{0,80}",
            shared in "[ab]{10,60}|[ -~]{10,60}|[é日😀a]{10,60}|\\PC{10,60}",
        ) {
            let parameters = WinnowParameters::for_excerpts(shared.chars().count()).unwrap();
            let sketch = |text: &str| -> BTreeSet<i64> {
                parameters.sketch(text.as_bytes(), &mut || ()).unwrap().into_iter().collect()
            };
            let one = sketch(&format!("{a}{shared}{b}"));
            let other = sketch(&format!("{b}{shared}{a}"));
            prop_assert!(!one.is_disjoint(&other));
            prop_assert!(!one.is_disjoint(&sketch(&shared)));
        }

        #[test]
        fn every_shared_run_is_caught(
            a in "[ -~]{0,200}",
            b in "[ -~]{0,200}",
            shared in "[ -~]{60}",
            length in 1usize..30,
            cut in 0usize..30,
        ) {
            let span = 61 - length;
            let shared = &shared[..length + span - 1];
            let cut = cut.min(a.len());
            let one: BTreeSet<i64> = sketch(&format!("{}{shared}{b}", &a[..cut]), length, span).into_iter().collect();
            let other: BTreeSet<i64> = sketch(&format!("{b}{shared}{a}"), length, span).into_iter().collect();
            prop_assert!(!one.is_disjoint(&other));
        }
    }
}
