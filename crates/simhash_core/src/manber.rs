//! Manber's sketches: samples of the hashes of all windows of a text.
//!
//! Udi Manber, "Finding Similar Files in a Large File System", USENIX Winter 1994. Every window of s
//! bytes w0 … w(s-1) has the value `w0·p^(s-1) + … + w(s-1)` modulo m. A window is kept if the lowest
//! bits of its value are zero, whatever the text around it, so that texts which share a passage share
//! the sketch of that passage. The value of the next window follows from that of the last in constant
//! time: the cost is one modular multiplication a byte.

use crate::OutOfRange;
use std::fmt;

/// The longest window, in bytes.
pub const MAX_WINDOW: i64 = 1 << 16;
/// The most bits that can be asked to be zero.
pub const MAX_SAMPLE_BITS: i64 = 32;
/// The values a sketch can have: more are useless to compare and too many for an array.
pub const MAX_VALUES: usize = 1 << 23;

/// The Mersenne prime 2^61 - 1: reduction takes a shift and an addition.
const MERSENNE_61: u64 = (1 << 61) - 1;

/// Windows between two calls of the heartbeat.
const STRIDE: usize = 1 << 14;

/// How a sketch is made. Only sketches made alike can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    window: usize,
    sample_bits: u32,
    prime: u64,
    modulus: u64,
}

/// Why no sketch can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManberError {
    /// A parameter is outside its range.
    OutOfRange(OutOfRange),
    /// The two share a factor, so that the beginning of a window would count less or not at all.
    NotCoprime {
        /// The base of the polynomial.
        prime: u64,
        /// What values are reduced by.
        modulus: u64,
    },
    /// The sample is larger than a sketch can be.
    TooManyValues,
    /// There is no memory for this many values.
    OutOfMemory(usize),
}

impl Parameters {
    /// Checks the parameters.
    pub fn new(window: i64, sample_bits: i64, prime: i64, modulus: i64) -> Result<Self, ManberError> {
        let check =
            |name, value, min, max| OutOfRange::check(name, value, min, max).map_err(ManberError::OutOfRange);
        let parameters = Self {
            window: check("window", window, 1, MAX_WINDOW)? as usize,
            sample_bits: check("sample_bits", sample_bits, 0, MAX_SAMPLE_BITS)? as u32,
            prime: check("prime", prime, 2, i64::MAX)? as u64,
            modulus: check("modulus", modulus, 2, i64::MAX)? as u64,
        };
        if greatest_common_divisor(parameters.prime, parameters.modulus) != 1 {
            let Self { prime, modulus, .. } = parameters;
            return Err(ManberError::NotCoprime { prime, modulus });
        }
        Ok(parameters)
    }

    /// The sketch of a text: sorted, distinct; empty if the text is shorter than the window.
    ///
    /// `heartbeat` is called every few ten microseconds; it may unwind to stop the work.
    pub fn sketch(&self, text: &[u8], heartbeat: &mut dyn FnMut()) -> Result<Vec<i64>, ManberError> {
        let mut sample = Sample::default();
        // Each arm compiles the loop with its own multiplication.
        match self.modulus {
            MERSENNE_61 => self.roll(text, multiply_mersenne_61, &mut sample, heartbeat),
            m if m.is_power_of_two() => {
                self.roll(text, |a, b| a.wrapping_mul(b) & (m - 1), &mut sample, heartbeat)
            }
            m if m <= 1 << 32 => self.roll(text, |a, b| a * b % m, &mut sample, heartbeat),
            m => {
                let multiply = |a, b| (u128::from(a) * u128::from(b) % u128::from(m)) as u64;
                self.roll(text, multiply, &mut sample, heartbeat)
            }
        }?;
        sample.into_values()
    }

    /// Computes the value of every window and samples it. `multiply` is that modulo `self.modulus`.
    fn roll(
        &self,
        text: &[u8],
        multiply: impl Fn(u64, u64) -> u64,
        sample: &mut Sample,
        heartbeat: &mut dyn FnMut(),
    ) -> Result<(), ManberError> {
        if text.len() < self.window {
            return Ok(());
        }
        let prime = self.prime % self.modulus;
        let append =
            |value, byte: u8| add(multiply(value, prime), u64::from(byte) % self.modulus, self.modulus);
        // What to add to take the oldest byte out again: the negative of byte · p^s.
        let top = (0..self.window).fold(1 % self.modulus, |power, _| multiply(power, prime));
        let removal: [u64; 256] = std::array::from_fn(|byte| {
            (self.modulus - multiply(byte as u64 % self.modulus, top)) % self.modulus
        });
        let mask = (1u64 << self.sample_bits) - 1;

        let (first, rest) = text.split_at(self.window);
        let mut value = first.iter().fold(0, |value, &byte| append(value, byte));
        sample.push_if(value & mask == 0, value)?;
        for (old, new) in text.chunks(STRIDE).zip(rest.chunks(STRIDE)) {
            heartbeat();
            for (&old, &new) in old.iter().zip(new) {
                value = add(append(value, new), removal[usize::from(old)], self.modulus);
                sample.push_if(value & mask == 0, value)?;
            }
        }
        Ok(())
    }
}

/// The sampled values, without letting repeated ones pile up.
struct Sample {
    values: Vec<u64>,
    /// Sort and deduplicate when this many are held.
    compact_at: usize,
}

impl Default for Sample {
    fn default() -> Self {
        Self { values: Vec::new(), compact_at: 1 << 16 }
    }
}

impl Sample {
    #[inline]
    fn push_if(&mut self, wanted: bool, value: u64) -> Result<(), ManberError> {
        if wanted { self.push(value) } else { Ok(()) }
    }

    fn push(&mut self, value: u64) -> Result<(), ManberError> {
        if self.values.len() == self.compact_at {
            self.compact()?;
            self.compact_at = self.compact_at.max(2 * self.values.len());
        }
        self.values.try_reserve(1).map_err(|_| ManberError::OutOfMemory(self.values.len()))?;
        self.values.push(value);
        Ok(())
    }

    fn compact(&mut self) -> Result<(), ManberError> {
        self.values.sort_unstable();
        self.values.dedup();
        if self.values.len() > MAX_VALUES { Err(ManberError::TooManyValues) } else { Ok(()) }
    }

    fn into_values(mut self) -> Result<Vec<i64>, ManberError> {
        self.compact()?;
        // The modulus fits an i64, so every value does.
        Ok(self.values.into_iter().map(|value| value as i64).collect())
    }
}

/// The sum of two numbers below the modulus, which is below 2^63.
#[inline]
fn add(a: u64, b: u64, modulus: u64) -> u64 {
    let sum = a + b;
    if sum >= modulus { sum - modulus } else { sum }
}

/// The product modulo 2^61 - 1, fully reduced: 2^61 is 1 there, so the high part is added to the low.
#[inline]
fn multiply_mersenne_61(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    add(product as u64 & MERSENNE_61, (product >> 61) as u64, MERSENNE_61)
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl fmt::Display for ManberError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange(out_of_range) => out_of_range.fmt(f),
            Self::NotCoprime { prime, modulus } => {
                write!(f, "prime {prime} and modulus {modulus} have a common factor")
            }
            Self::TooManyValues => write!(f, "sketch has more than {MAX_VALUES} values"),
            Self::OutOfMemory(values) => write!(f, "no memory for more than {values} values"),
        }
    }
}

impl std::error::Error for ManberError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn sketch(text: &[u8], window: i64, bits: i64, prime: i64, modulus: i64) -> Vec<i64> {
        Parameters::new(window, bits, prime, modulus).unwrap().sketch(text, &mut || ()).unwrap()
    }

    /// The polynomial of each window by itself, as the definition says.
    fn naive_sketch(text: &[u8], window: usize, bits: u32, prime: u64, modulus: u64) -> Vec<i64> {
        let m = u128::from(modulus);
        let value = |window: &[u8]| {
            window.iter().fold(0, |value, &byte| (value * u128::from(prime) + u128::from(byte)) % m)
        };
        let kept = text.windows(window).map(value).filter(|value| value % (1 << bits) == 0);
        kept.map(|value| value as i64).collect::<BTreeSet<_>>().into_iter().collect()
    }

    #[test]
    fn hello_world() {
        let text = b"Hello world";
        let mut all = [72431, 100517, 107247, 107261, 107782, 34552, 117914, 110313, 113002].to_vec();
        all.sort_unstable();
        assert_eq!(sketch(text, 3, 0, 31, 1 << 20), all);
        assert_eq!(sketch(text, 3, 2, 31, 1 << 20), [34552]);
        let mut all = [63001, 14141, 17735, 18427, 65286, 47110, 24152, 20813, 20802].to_vec();
        all.sort_unstable();
        assert_eq!(sketch(text, 3, 0, 257, 65536), all);
        assert_eq!(sketch(text, 3, 2, 257, 65536), [24152]);
    }

    #[test]
    fn javas_hash_code_is_the_whole_string_as_window() {
        assert_eq!(sketch(b"abc", 3, 0, 31, 1 << 32), [96354]);
        let hello = sketch(b"Hello world", 11, 0, 31, 1 << 32)[0];
        assert_eq!(hello as u32 as i32, -832992604);
    }

    #[test]
    fn wrong_parameters_are_named() {
        for (window, bits, prime, modulus, name) in [
            (0, 8, 31, 1 << 20, "window"),
            (MAX_WINDOW + 1, 8, 31, 1 << 20, "window"),
            (50, -1, 31, 1 << 20, "sample_bits"),
            (50, 33, 31, 1 << 20, "sample_bits"),
            (50, 8, 1, 1 << 20, "prime"),
            (50, 8, 31, 1, "modulus"),
        ] {
            let error = Parameters::new(window, bits, prime, modulus).unwrap_err();
            assert!(matches!(&error, ManberError::OutOfRange(e) if e.name == name), "{error}");
        }
        let error = Parameters::new(50, 8, 6, 9).unwrap_err();
        assert_eq!(error, ManberError::NotCoprime { prime: 6, modulus: 9 });
    }

    proptest! {
        #[test]
        fn rolling_equals_the_definition(
            text in prop_oneof!["\\PC{0,80}", "[ab]{0,200}"],
            window in 1usize..20,
            bits in 0u32..4,
            prime in prop::sample::select(vec![2u64, 31, 257, 1_000_003, 1425089352415399837]),
            modulus in prop_oneof![
                Just(MERSENNE_61),
                (1u32..63).prop_map(|bits| 1u64 << bits),
                2u64..1 << 40,
                1u64 << 62..1 << 63,
            ],
        ) {
            prop_assume!(greatest_common_divisor(prime, modulus) == 1);
            let rolled = sketch(text.as_bytes(), window as i64, bits.into(), prime as i64, modulus as i64);
            prop_assert_eq!(rolled, naive_sketch(text.as_bytes(), window, bits, prime, modulus));
        }
    }
}
