//! Manber's sketches: samples of the hashes of all windows of a text.
//!
//! Udi Manber, "Finding Similar Files in a Large File System", USENIX Winter 1994. A window is kept if its
//! hash meets the criteria. The hash is a polynomial over the symbols of the window, computed from that of
//! the previous window in constant time (`rolling.rs`); or Java's `String.hashCode`, which the first
//! Similarity Index used; or XXH3, whose values look random for any criteria, at a cost that grows with the
//! window.
//!
//! Guarantee: whether a window is kept does not depend on the text around it, so texts that share a passage
//! share its sketch. Cost: linear time; memory for the values that are kept.

use super::SketchSample;
use crate::features::chars;
use crate::hash::rolling::{Arithmetic, MERSENNE_61, Mersenne61, Modulo, Rolling, Windows, piece_for};
use crate::hash::xxh3_64;
use base::{Heartbeat, Limit, Problem, ProblemKind, greatest_common_divisor};

/// The number of symbols in a window.
pub const LENGTH: Limit = Limit::new("length", 1, 1 << 16);
/// The number of lowest bits that must be zero in a hash.
pub const SAMPLE_BITS: Limit = Limit::new("sample_bits", 0, 32);
/// The number that a hash must be divisible by.
pub const DIVISOR: Limit = Limit::new("divisor", 1, i64::MAX);
/// The base of the polynomial.
pub const BASE: Limit = Limit::new("prime", 2, i64::MAX);
/// The modulus of the polynomial.
pub const MODULUS: Limit = Limit::new("modulus", 2, i64::MAX);

/// The names of units.
pub const UNITS: [(&str, ManberUnit); 2] = [("byte", ManberUnit::Byte), ("character", ManberUnit::Character)];
/// The names of hash functions.
pub const HASHES: [(&str, ManberHash); 3] =
    [("polynomial", ManberHash::Polynomial), ("java", ManberHash::Java), ("xxh3", ManberHash::Xxh3)];

/// The number of windows between two heartbeats.
const STRIDE: usize = 1 << 14;

/// The unit of windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManberUnit {
    /// Bytes of UTF-8.
    Byte,
    /// Characters (code points).
    Character,
}

/// The hash function for windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManberHash {
    /// Manber's polynomial with these parameters.
    Polynomial,
    /// `String.hashCode`: the polynomial over UTF-16 code units with p = 31, as a signed number of 32 bits.
    Java,
    /// XXH3 of the bytes of the window, 64 bits, as a signed number.
    Xxh3,
}

/// The parameters of a sketch. Only sketches with the same parameters can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManberParameters {
    /// The number of symbols in a window.
    pub length: usize,
    /// The first criterion: this number of lowest bits of the hash are zero.
    pub sample_bits: u32,
    /// The second criterion: the hash is divisible by this number.
    pub divisor: i64,
    /// The base of the polynomial.
    pub prime: u64,
    /// The modulus of the polynomial.
    pub modulus: u64,
    /// The unit of windows; Java's hash always uses UTF-16 code units.
    pub unit: ManberUnit,
    /// The hash function for windows.
    pub hash: ManberHash,
}

/// Makes sketches, with parameters that were checked.
#[derive(Clone, Copy, Debug)]
pub struct ManberSketcher(ManberParameters);

impl ManberSketcher {
    /// Checks the parameters against their limits.
    pub fn new(parameters: ManberParameters) -> Result<Self, Problem> {
        let ManberParameters { length, sample_bits, divisor, prime, modulus, .. } = parameters;
        LENGTH.of::<usize>(length)?;
        SAMPLE_BITS.of::<u32>(sample_bits)?;
        DIVISOR.of::<i64>(divisor)?;
        BASE.of::<u64>(prime)?;
        MODULUS.of::<u64>(modulus)?;
        if greatest_common_divisor(prime, modulus) != 1 {
            let message = format!("prime {prime} and modulus {modulus} have a common factor");
            return Err(Problem::new(ProblemKind::InvalidValue, message)
                .with_detail("Bytes at the beginning of a window would have less influence, or none.")
                .with_hint("Choose a prime that has no common factor with the modulus."));
        }
        Ok(Self(parameters))
    }

    /// The sketch of a text, sorted and distinct; empty if the text is shorter than a window.
    pub fn sketch(&self, text: &str, heartbeat: &mut dyn Heartbeat) -> Result<Vec<i64>, Problem> {
        let ManberParameters { sample_bits, divisor, hash, .. } = self.0;
        let mask = (1 << sample_bits) - 1;
        let sample = SketchSample::new(heartbeat);
        let mut sampler = Sampler { mask, divisor, sample, taken: 0 };
        match hash {
            ManberHash::Xxh3 => self.hash_windows(text, &mut sampler),
            ManberHash::Java => self.roll_units(text, &mut sampler),
            ManberHash::Polynomial => self.roll_polynomial(text, &mut sampler)?,
        }
        let more_bits = "Increase sample_bits: each additional bit halves the size of the sketch.";
        sampler.sample.into_values().map_err(|problem| problem.with_hint(more_bits))
    }

    /// Hashes windows by the polynomial. Each arm compiles the loops with its own arithmetic.
    fn roll_polynomial(&self, text: &str, sampler: &mut Sampler<'_>) -> Result<(), Problem> {
        let modulus = self.0.modulus;
        let prime = self.0.prime % modulus;
        match modulus {
            MERSENNE_61 => self.roll(text, Mersenne61(prime), sampler),
            m if m.is_power_of_two() => {
                let append = |a: u64, b: u64| a.wrapping_mul(prime).wrapping_add(b) & (m - 1);
                self.roll(text, Modulo { modulus, append }, sampler)
            }
            m if m <= 1 << 32 => {
                let append = |a: u64, b: u64| (a * prime + b) % m;
                self.roll(text, Modulo { modulus, append }, sampler)
            }
            m => {
                let append =
                    |a, b| ((u128::from(a) * u128::from(prime) + u128::from(b)) % u128::from(m)) as u64;
                self.roll(text, Modulo { modulus, append }, sampler)
            }
        }
    }

    fn roll(
        &self,
        text: &str,
        arithmetic: impl Arithmetic,
        sampler: &mut Sampler<'_>,
    ) -> Result<(), Problem> {
        let rolling = Rolling::new(self.0.length, arithmetic);
        if self.0.unit == ManberUnit::Character && !text.is_ascii() {
            rolling.each(|| text.chars().map(u64::from), |value| sampler.take_timed(value as i64));
            return Ok(());
        }
        let mut windows = Windows::new(text.as_bytes(), &rolling, piece_for(self.0.length))?;
        while windows.next().is_some() && !sampler.sample.has_failed() {
            sampler.sample.beat();
            windows.hash_some(|value| value).iter().for_each(|&value| sampler.take(value as i64));
        }
        Ok(())
    }

    /// Hashes windows of UTF-16 code units by `String.hashCode`.
    fn roll_units(&self, text: &str, sampler: &mut Sampler<'_>) {
        let append = |a: u64, b: u64| (a * 31 + b) & u64::from(u32::MAX);
        let rolling = Rolling::new(self.0.length, Modulo { modulus: 1 << 32, append });
        rolling.each(
            || text.encode_utf16().map(u64::from),
            |value| sampler.take_timed(i64::from(value as u32 as i32)),
        );
    }

    /// Hashes each window by XXH3.
    fn hash_windows(&self, text: &str, sampler: &mut Sampler<'_>) {
        let length = self.0.length;
        let text_bytes = text.as_bytes();
        if self.0.unit == ManberUnit::Byte || text.is_ascii() {
            text_bytes.windows(length).for_each(|window| sampler.take_timed(xxh3_64(window) as i64));
        } else {
            let ends = chars::boundaries(text_bytes).skip(length);
            for (start, end) in chars::boundaries(text_bytes).zip(ends) {
                sampler.take_timed(xxh3_64(&text_bytes[start..end]) as i64);
            }
        }
    }
}

/// Takes the hashes of windows, and keeps those that meet the criteria.
struct Sampler<'a> {
    /// Both criteria, in the form that is tested fastest.
    mask: u64,
    divisor: i64,
    sample: SketchSample<'a>,
    taken: usize,
}

impl Sampler<'_> {
    #[inline]
    fn take(&mut self, hash: i64) {
        if hash as u64 & self.mask == 0 && (self.divisor == 1 || hash % self.divisor == 0) {
            self.keep(hash);
        }
    }

    /// Not inlined: few hashes are usually kept, and the loop over windows stays small.
    #[cold]
    #[inline(never)]
    fn keep(&mut self, hash: i64) {
        self.sample.push(hash);
    }

    /// Like [`take`](Self::take), but also calls the heartbeat.
    fn take_timed(&mut self, hash: i64) {
        self.taken += 1;
        if self.taken.is_multiple_of(STRIDE) {
            self.sample.beat();
        }
        self.take(hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::rolling::PRIME;
    use base::choose;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The defaults of the SQL function.
    const DEFAULTS: ManberParameters = ManberParameters {
        length: 50,
        sample_bits: 8,
        divisor: 1,
        prime: PRIME,
        modulus: MERSENNE_61,
        unit: ManberUnit::Byte,
        hash: ManberHash::Polynomial,
    };

    fn parameters(length: usize, sample_bits: u32, prime: u64, modulus: u64) -> ManberParameters {
        ManberParameters { length, sample_bits, prime, modulus, ..DEFAULTS }
    }

    fn sketch(text: &str, parameters: ManberParameters) -> Vec<i64> {
        ManberSketcher::new(parameters).unwrap().sketch(text, &mut || ()).unwrap()
    }

    /// The definition, which hashes each window separately.
    fn naive_sketch(text: &str, parameters: ManberParameters) -> Vec<i64> {
        let ManberParameters { length, sample_bits, divisor, prime, modulus, unit, hash } = parameters;
        let symbols: Vec<u64> = match (hash, unit) {
            (ManberHash::Java, _) => text.encode_utf16().map(u64::from).collect(),
            (_, ManberUnit::Byte) => text.bytes().map(u64::from).collect(),
            (_, ManberUnit::Character) => text.chars().map(u64::from).collect(),
        };
        let polynomial = |window: &[u64], prime: u128, modulus: u128| {
            window.iter().fold(0, |value, &symbol| (value * prime + u128::from(symbol)) % modulus)
        };
        let utf8 = |window: &[u64]| match unit {
            ManberUnit::Byte => window.iter().map(|&byte| byte as u8).collect::<Vec<_>>(),
            ManberUnit::Character => {
                let chars = window.iter().map(|&c| char::from_u32(c as u32).unwrap());
                chars.collect::<String>().into_bytes()
            }
        };
        let value = |window: &[u64]| match hash {
            ManberHash::Polynomial => polynomial(window, prime.into(), modulus.into()) as i64,
            ManberHash::Java => polynomial(window, 31, 1 << 32) as u32 as i32 as i64,
            ManberHash::Xxh3 => xxh3_64(&utf8(window)) as i64,
        };
        let kept = symbols.windows(length).map(value);
        let kept = kept.filter(|value| value & ((1 << sample_bits) - 1) == 0 && value % divisor == 0);
        kept.collect::<BTreeSet<_>>().into_iter().collect()
    }

    #[test]
    fn hello_world() {
        let text = "Hello world";
        let mut all = [72431, 100517, 107247, 107261, 107782, 34552, 117914, 110313, 113002].to_vec();
        all.sort_unstable();
        assert_eq!(sketch(text, parameters(3, 0, 31, 1 << 20)), all);
        assert_eq!(sketch(text, parameters(3, 2, 31, 1 << 20)), [34552]);
        let mut all = [63001, 14141, 17735, 18427, 65286, 47110, 24152, 20813, 20802].to_vec();
        all.sort_unstable();
        assert_eq!(sketch(text, parameters(3, 0, 257, 65536)), all);
        assert_eq!(sketch(text, parameters(3, 2, 257, 65536)), [24152]);
    }

    #[test]
    fn javas_hash_code() {
        let java = |length| ManberParameters { length, sample_bits: 0, hash: ManberHash::Java, ..DEFAULTS };
        assert_eq!(sketch("abc", java(3)), [96354]);
        assert_eq!(sketch("Hello world", java(11)), [-832992604]);
        assert_eq!(sketch("Hello world", ManberParameters { divisor: 4, ..java(11) }), [-832992604]);
        assert_eq!(sketch("Hello world", ManberParameters { divisor: 25, ..java(11) }), []);
    }

    #[test]
    fn wrong_parameters_are_named() {
        for (parameters, message) in [
            (parameters(0, 8, 31, 1 << 20), "length 0 is out of range"),
            (parameters((1 << 16) + 1, 8, 31, 1 << 20), "length 65537 is out of range"),
            (parameters(50, 33, 31, 1 << 20), "sample_bits 33 is out of range"),
            (parameters(50, 8, 1, 1 << 20), "prime 1 is out of range"),
            (parameters(50, 8, 31, 1), "modulus 1 is out of range"),
            (ManberParameters { divisor: 0, ..DEFAULTS }, "divisor 0 is out of range"),
            (parameters(50, 8, 6, 9), "prime 6 and modulus 9 have a common factor"),
        ] {
            assert_eq!(ManberSketcher::new(parameters).unwrap_err().message, message);
        }
        assert_eq!(choose("unit", "bit", &UNITS).unwrap_err().message, "unknown unit \"bit\"");
        assert_eq!(choose("hash", "md5", &HASHES).unwrap_err().message, "unknown hash \"md5\"");
    }

    proptest! {
        #[test]
        fn sketches_equal_the_definition(
            text in prop_oneof!["\\PC{0,80}", "[ab]{0,200}", "[ -~]{200,900}"],
            length in 1usize..20,
            sample_bits in 0u32..4,
            divisor in prop_oneof![Just(1i64), 1i64..30],
            prime in prop::sample::select(vec![2u64, 31, 257, 1_000_003, PRIME]),
            modulus in prop_oneof![
                Just(MERSENNE_61),
                (1u32..63).prop_map(|bits| 1u64 << bits),
                2u64..1 << 32,
                2u64..1 << 40,
                1u64 << 62..1 << 63,
            ],
            unit in prop::sample::select(vec![ManberUnit::Byte, ManberUnit::Character]),
            hash in prop::sample::select(vec![ManberHash::Polynomial, ManberHash::Polynomial, ManberHash::Java, ManberHash::Xxh3]),
        ) {
            prop_assume!(greatest_common_divisor(prime, modulus) == 1);
            let parameters = ManberParameters { length, sample_bits, divisor, prime, modulus, unit, hash };
            prop_assert_eq!(sketch(&text, parameters), naive_sketch(&text, parameters));
        }
    }
}
