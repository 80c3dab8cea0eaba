//! Winnowing: of every w consecutive windows of k bytes, the one with the least hash is kept.
//!
//! Schleimer, Wilkerson and Aiken, "Winnowing: Local Algorithms for Document Fingerprinting", SIGMOD 2003.
//!
//! Guarantee: two texts that share k + w - 1 bytes share a value of their sketches, for both choose the
//! least of the same w hashes there; and no shared value stands for fewer than k bytes. About 2 in w + 1
//! windows are kept.
//!
//! Cost: linear time, since hashes are taken in blocks of w. The least of w hashes in a row is the lesser
//! of two: the least so far of the current block, and the least of the rest of the block before. Memory:
//! two hashes for each of w windows, and those of one piece of text.

use super::SketchSample;
use crate::hash::rolling::{LANES, PRIME, Rolling};
use limits::{Heartbeat, Limit, OutOfMemory, Problem, collect};
use std::iter::repeat_n;

/// Bytes in a window.
pub const K: Limit = Limit::new("length", 1, 10_000);
/// Windows in a row of which one is kept.
pub const W: Limit = Limit::new("span", 1, 10_000);

/// Characters that [`WinnowParameters::for_excerpts`] takes.
pub const MIN_LENGTH: Limit = Limit::new("min_length", 10, 10_000);

/// Hashes that are made in one go, in each lane.
const OF_LANE: usize = 1 << 10;
/// The modulus of the polynomials.
const MODULUS: u64 = 1 << 63;
/// Makes the order of the polynomials' values look random; odd, so that no two become one.
const SCATTER: u64 = 0x9e37_79b9_7f4a_7c15;

/// How a sketch is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WinnowParameters {
    /// Bytes in a window.
    k: usize,
    /// Windows of which one is kept.
    w: usize,
}

impl WinnowParameters {
    /// Of every w windows of k bytes one is kept.
    pub fn new(k: usize, w: usize) -> Result<Self, Problem> {
        Ok(Self { k: K.of(k)?, w: W.of(w)? })
    }

    /// Texts that share `min_length` characters share a value, for these characters have at least as many bytes.
    ///
    /// Windows are half as long as that. Longer ones would make larger sketches. Shorter ones would often stand in texts
    /// that have nothing but a phrase in common.
    pub fn for_excerpts(min_length: usize) -> Result<Self, Problem> {
        let bytes: usize = MIN_LENGTH.of(min_length as u64)?;
        Self::new(bytes / 2, bytes - bytes / 2 + 1)
    }

    /// The sketch of a text: sorted, distinct; empty if the text is shorter than k, and of one value if it
    /// has fewer than w windows.
    pub fn sketch(&self, text: &[u8], heartbeat: &mut dyn Heartbeat) -> Result<Vec<i64>, Problem> {
        let mut sample = SketchSample::new(heartbeat);
        let mut minima = Minima::new(self.w)?;
        let windows = (text.len() + 1).saturating_sub(self.k);
        let append = |value: u64, addend: u64| value.wrapping_mul(PRIME).wrapping_add(addend) % MODULUS;
        let rolling = Rolling::new(self.k, MODULUS, append);
        // A piece begins with k steps, so longer windows are taken in longer pieces.
        let of_lane = OF_LANE.max(8 * self.k);
        let mut hashes = collect(repeat_n(0, LANES * of_lane), LANES * of_lane)?;
        for start in (0..windows).step_by(hashes.len()) {
            sample.beat();
            let count = hashes.len().min(windows - start);
            hash_windows(&rolling, &text[start..start + count + self.k - 1], self.k, &mut hashes[..count]);
            minima.add(&hashes[..count], &mut |least| sample.push(least as i64));
            if sample.has_failed() {
                break;
            }
        }
        if windows < self.w
            && let Some(least) = minima.least_of_all()
        {
            sample.push(least as i64);
        }
        sample.into_values()
    }
}

/// The hashes of all windows of a piece, in their order.
fn hash_windows<A: Fn(u64, u64) -> u64>(rolling: &Rolling<A>, piece: &[u8], k: usize, hashes: &mut [u64]) {
    let of_lane = hashes.len() / LANES;
    if of_lane > 0 {
        let lanes = std::array::from_fn(|lane| &piece[lane * of_lane..][..of_lane + k - 1]);
        let mut values = lanes.map(|lane| rolling.first(lane));
        let mut at = 0;
        let mut put = |values: &[u64; LANES]| {
            for (lane, value) in values.iter().enumerate() {
                hashes[lane * of_lane + at] = value.wrapping_mul(SCATTER);
            }
            at += 1;
        };
        put(&values);
        rolling.roll(lanes, &mut values, put);
    }
    for at in LANES * of_lane..hashes.len() {
        hashes[at] = rolling.first(&piece[at..]).wrapping_mul(SCATTER);
    }
}

/// Finds the least of the last w hashes, for each new hash.
struct Minima {
    /// The hashes of the block that is not full yet.
    block: Vec<u64>,
    filled: usize,
    /// The least of them.
    least: u64,
    /// For each hash of the block before, the least hash behind it in that block.
    least_behind: Vec<u64>,
    has_block_before: bool,
    /// The hash that was passed on last.
    passed_on: Option<u64>,
}

impl Minima {
    fn new(w: usize) -> Result<Self, OutOfMemory> {
        Ok(Self {
            block: collect(repeat_n(0, w), w)?,
            filled: 0,
            least: u64::MAX,
            least_behind: collect(repeat_n(u64::MAX, w), w)?,
            has_block_before: false,
            passed_on: None,
        })
    }

    /// Passes on the least hash of every w, but not again while it stays the same.
    fn add(&mut self, hashes: &[u64], consumer: &mut impl FnMut(u64)) {
        let w = self.block.len();
        let mut rest = hashes;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(w - self.filled));
            let end = self.filled + now.len();
            self.block[self.filled..end].copy_from_slice(now);
            if self.has_block_before {
                self.pass_on(now, consumer);
            } else {
                self.least = now.iter().copied().fold(self.least, u64::min);
                if end == w {
                    self.passed_on = Some(self.least);
                    consumer(self.least);
                }
            }
            self.filled = end;
            if end == w {
                self.turn_block();
            }
            rest = later;
        }
    }

    /// Passes on the least hashes of the windows that end with these hashes. Such a window begins in the
    /// block before, behind the position of its last hash.
    fn pass_on(&mut self, now: &[u64], consumer: &mut impl FnMut(u64)) {
        let mut passed_on = self.passed_on.unwrap_or(u64::MAX);
        for (&hash, &behind) in now.iter().zip(&self.least_behind[self.filled..]) {
            self.least = self.least.min(hash);
            let least = self.least.min(behind);
            if least != passed_on {
                passed_on = least;
                consumer(least);
            }
        }
        self.passed_on = Some(passed_on);
    }

    /// The least hash before a whole window was seen.
    fn least_of_all(&self) -> Option<u64> {
        (self.filled > 0).then_some(self.least)
    }

    /// The block is full: it becomes the one before.
    fn turn_block(&mut self) {
        let mut least = u64::MAX;
        for (behind, &hash) in self.least_behind.iter_mut().zip(&self.block).rev() {
            *behind = least;
            least = least.min(hash);
        }
        (self.filled, self.least, self.has_block_before) = (0, u64::MAX, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn sketch(text: &str, k: usize, w: usize) -> Vec<i64> {
        WinnowParameters::new(k, w).unwrap().sketch(text.as_bytes(), &mut || ()).unwrap()
    }

    /// The least of every w windows, each hashed by itself.
    fn naive_sketch(text: &str, k: usize, w: usize) -> Vec<i64> {
        let m = u128::from(MODULUS);
        let value = |window: &[u8]| {
            window.iter().fold(0, |value, &byte| (value * u128::from(PRIME) + u128::from(byte)) % m) as u64
        };
        let hashes: Vec<u64> =
            text.as_bytes().windows(k).map(|window| value(window).wrapping_mul(SCATTER)).collect();
        let least = |hashes: &[u64]| hashes.iter().min().map(|&least| least as i64);
        let minima: BTreeSet<i64> = match hashes.len() {
            few if few < w => least(&hashes).into_iter().collect(),
            _ => hashes.windows(w).filter_map(least).collect(),
        };
        minima.into_iter().collect()
    }

    #[test]
    fn wrong_parameters_are_named() {
        assert_eq!(WinnowParameters::new(0, 5).unwrap_err().message, "k 0 is out of range");
        assert_eq!(WinnowParameters::new(5, 10_001).unwrap_err().message, "w 10001 is out of range");
    }

    proptest! {
        #[test]
        fn sketches_equal_the_definition(
            text in prop_oneof!["[ab]{0,300}", "\\PC{0,60}", "[ -~]{0,900}", "[ -~]{4000,9000}"],
            k in 1usize..30,
            w in 1usize..40,
        ) {
            prop_assert_eq!(sketch(&text, k, w), naive_sketch(&text, k, w));
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
            let (one, other) = (sketch(&format!("{a}{shared}{b}")), sketch(&format!("{b}{shared}{a}")));
            prop_assert!(!one.is_disjoint(&other));
            prop_assert!(!one.is_disjoint(&sketch(&shared)));
        }

        #[test]
        fn every_shared_run_is_caught(
            a in "[ -~]{0,200}",
            b in "[ -~]{0,200}",
            shared in "[ -~]{60}",
            k in 1usize..30,
            cut in 0usize..30,
        ) {
            let (k, w) = (k, 61 - k);
            let shared = &shared[..k + w - 1];
            let cut = cut.min(a.len());
            let one: BTreeSet<i64> = sketch(&format!("{}{shared}{b}", &a[..cut]), k, w).into_iter().collect();
            let other: BTreeSet<i64> = sketch(&format!("{b}{shared}{a}"), k, w).into_iter().collect();
            prop_assert!(!one.is_disjoint(&other));
        }
    }
}
