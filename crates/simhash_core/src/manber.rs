//! Manber's sketches: samples of the hashes of all windows of a text.
//!
//! Udi Manber, "Finding Similar Files in a Large File System", USENIX Winter 1994. A window is kept if its hash meets the
//! criteria, whatever the text around it, so that texts which share a passage share the sketch of that passage. The hash
//! is a polynomial over the symbols of the window, which follows from that of the window before in constant time
//! ([`crate::rolling`]); or Java's `String.hashCode`, with which the first Similarity Index was made; or XXH3, whose
//! values look random whatever the criteria, at a cost that grows with the window.

use crate::OutOfRange;
use crate::char_shingles;
use crate::rolling::{LANES, MERSENNE_61, PRIME, Rolling, append_mersenne_61};
use crate::sample::{Sample, SampleError};
use std::fmt;
use std::str::FromStr;
use xxhash_rust::xxh3::xxh3_64;

/// The longest window, in symbols.
pub const MAX_WINDOW: i64 = 1 << 16;
/// The most bits that can be asked to be zero.
pub const MAX_SAMPLE_BITS: i64 = 32;

/// Windows between two calls of the heartbeat.
const STRIDE: usize = 1 << 14;

/// What a window consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of UTF-8.
    Byte,
    /// Characters (code points).
    Character,
}

/// How a window is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// Manber's polynomial with the prime and the modulus given.
    Polynomial,
    /// `String.hashCode`: the polynomial over UTF-16 code units with p = 31, as a signed number of 32 bits.
    Java,
    /// XXH3 of the bytes of the window, 64 bits, as a signed number.
    Xxh3,
}

/// How a sketch is made. Only sketches made alike can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Symbols in a window.
    pub window: i64,
    /// The first criterion: as many lowest bits of the hash are zero.
    pub sample_bits: i64,
    /// The second criterion: the hash is divisible by this number.
    pub divisor: i64,
    /// The base of the polynomial.
    pub prime: i64,
    /// What the polynomial is reduced by.
    pub modulus: i64,
    /// The symbols, if the hash leaves a choice.
    pub unit: Unit,
    /// The hash.
    pub hash: Hash,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            window: 50,
            sample_bits: 8,
            divisor: 1,
            prime: PRIME as i64,
            modulus: MERSENNE_61 as i64,
            unit: Unit::Byte,
            hash: Hash::Polynomial,
        }
    }
}

/// Why no sketch can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManberError {
    /// A parameter is outside its range.
    OutOfRange(OutOfRange),
    /// A parameter's value is none of those that it can have.
    Unknown {
        /// The parameter's name.
        name: &'static str,
        /// The value given.
        value: String,
        /// What it can be.
        valid: &'static str,
    },
    /// The two share a factor, so that the beginning of a window would count less or not at all.
    NotCoprime {
        /// The base of the polynomial.
        prime: u64,
        /// What values are reduced by.
        modulus: u64,
    },
    /// The sample is too large.
    Sample(SampleError),
}

/// Both criteria, in the form that is checked fastest.
#[derive(Clone, Copy)]
struct Criteria {
    mask: u64,
    divisor: i64,
}

impl Criteria {
    #[inline]
    fn keep(self, hash: i64) -> bool {
        hash as u64 & self.mask == 0 && (self.divisor == 1 || hash % self.divisor == 0)
    }
}

impl Parameters {
    /// The sketch of a text: sorted, distinct; empty if the text is shorter than the window.
    ///
    /// `heartbeat` is called every few ten microseconds; it may unwind to stop the work.
    pub fn sketch(&self, text: &str, heartbeat: &mut dyn FnMut()) -> Result<Vec<i64>, ManberError> {
        self.check()?;
        let mut sampler = Sampler {
            criteria: Criteria { mask: (1 << self.sample_bits) - 1, divisor: self.divisor },
            sample: Sample::default(),
            taken: 0,
            heartbeat,
        };
        match self.hash {
            Hash::Xxh3 => self.hash_windows(text, &mut sampler),
            Hash::Java => self.roll_units(text, &mut sampler),
            Hash::Polynomial => self.roll_polynomial(text, &mut sampler),
        }
        sampler.sample.into_values().map_err(ManberError::Sample)
    }

    fn check(&self) -> Result<(), ManberError> {
        let check =
            |name, value, min, max| OutOfRange::check(name, value, min, max).map_err(ManberError::OutOfRange);
        check("window", self.window, 1, MAX_WINDOW)?;
        check("sample_bits", self.sample_bits, 0, MAX_SAMPLE_BITS)?;
        check("divisor", self.divisor, 1, i64::MAX)?;
        let prime = check("prime", self.prime, 2, i64::MAX)? as u64;
        let modulus = check("modulus", self.modulus, 2, i64::MAX)? as u64;
        if greatest_common_divisor(prime, modulus) != 1 {
            return Err(ManberError::NotCoprime { prime, modulus });
        }
        Ok(())
    }

    /// Each arm compiles the loops with its own arithmetic.
    fn roll_polynomial(&self, text: &str, sampler: &mut Sampler<'_>) {
        let (modulus, prime) = (self.modulus as u64, self.prime as u64 % self.modulus as u64);
        match modulus {
            MERSENNE_61 => self.roll(text, append_mersenne_61(prime), sampler),
            m if m.is_power_of_two() => {
                let append = |a: u64, b: u64| a.wrapping_mul(prime).wrapping_add(b) & (m - 1);
                self.roll(text, append, sampler);
            }
            m if m <= 1 << 32 => self.roll(text, |a, b| (a * prime + b) % m, sampler),
            m => {
                let append =
                    |a, b| ((u128::from(a) * u128::from(prime) + u128::from(b)) % u128::from(m)) as u64;
                self.roll(text, append, sampler);
            }
        }
    }

    fn roll(&self, text: &str, append: impl Fn(u64, u64) -> u64, sampler: &mut Sampler<'_>) {
        let rolling = Rolling::new(self.window as usize, self.modulus as u64, append);
        if self.unit == Unit::Character && !text.is_ascii() {
            rolling.each(|| text.chars().map(u64::from), |value| sampler.take_timed(value as i64));
        } else {
            self.roll_bytes(text.as_bytes(), &rolling, sampler);
        }
    }

    /// Cuts the windows into as many parts as can be rolled over at once, and what is left over.
    fn roll_bytes<A>(&self, text: &[u8], rolling: &Rolling<A>, sampler: &mut Sampler<'_>)
    where
        A: Fn(u64, u64) -> u64,
    {
        let window = self.window as usize;
        let windows = (text.len() + 1).saturating_sub(window);
        let of_lane = windows / LANES;
        let mut lanes: [&[u8]; LANES] = std::array::from_fn(|lane| &text[(lane * of_lane).min(text.len())..]);
        if of_lane > 0 {
            let mut values = lanes.map(|lane| rolling.first(lane));
            values.iter().for_each(|&value| sampler.take(value as i64));
            let mut left = of_lane - 1;
            while left > 0 && !sampler.sample.has_failed() {
                let steps = left.min(STRIDE / LANES);
                let pieces = lanes.map(|lane| &lane[..steps + window]);
                rolling.roll(pieces, &mut values, |values| {
                    values.iter().for_each(|&value| sampler.take(value as i64));
                });
                lanes = lanes.map(|lane| &lane[steps..]);
                left -= steps;
                (sampler.heartbeat)();
            }
        }
        for rest in text[LANES * of_lane..].windows(window) {
            sampler.take(rolling.first(rest) as i64);
        }
    }

    /// The windows of UTF-16 code units that `String.hashCode` is made of.
    fn roll_units(&self, text: &str, sampler: &mut Sampler<'_>) {
        let append = |a: u64, b: u64| (a * 31 + b) & u64::from(u32::MAX);
        let rolling = Rolling::new(self.window as usize, 1 << 32, append);
        rolling.each(
            || text.encode_utf16().map(u64::from),
            |value| sampler.take_timed(i64::from(value as u32 as i32)),
        );
    }

    fn hash_windows(&self, text: &str, sampler: &mut Sampler<'_>) {
        let window = self.window as usize;
        let text_bytes = text.as_bytes();
        if self.unit == Unit::Byte || text.is_ascii() {
            text_bytes.windows(window).for_each(|window| sampler.take_timed(xxh3_64(window) as i64));
        } else {
            let ends = char_shingles::boundaries(text_bytes).skip(window);
            for (start, end) in char_shingles::boundaries(text_bytes).zip(ends) {
                sampler.take_timed(xxh3_64(&text_bytes[start..end]) as i64);
            }
        }
    }
}

/// Takes the hashes of windows, and keeps those that meet the criteria.
struct Sampler<'a> {
    criteria: Criteria,
    sample: Sample,
    taken: usize,
    heartbeat: &'a mut dyn FnMut(),
}

impl Sampler<'_> {
    #[inline]
    fn take(&mut self, hash: i64) {
        if self.criteria.keep(hash) {
            self.sample.push(hash);
        }
    }

    /// The same where nothing else keeps the time.
    fn take_timed(&mut self, hash: i64) {
        self.taken += 1;
        if self.taken.is_multiple_of(STRIDE) {
            (self.heartbeat)();
        }
        self.take(hash);
    }
}

impl FromStr for Unit {
    type Err = ManberError;

    fn from_str(name: &str) -> Result<Self, ManberError> {
        match name {
            "byte" => Ok(Self::Byte),
            "character" => Ok(Self::Character),
            _ => Err(unknown("unit", name, "byte, character")),
        }
    }
}

impl FromStr for Hash {
    type Err = ManberError;

    fn from_str(name: &str) -> Result<Self, ManberError> {
        match name {
            "polynomial" => Ok(Self::Polynomial),
            "java" => Ok(Self::Java),
            "xxh3" => Ok(Self::Xxh3),
            _ => Err(unknown("hash", name, "polynomial, java, xxh3")),
        }
    }
}

fn unknown(name: &'static str, value: &str, valid: &'static str) -> ManberError {
    ManberError::Unknown { name, value: value.chars().take(100).collect(), valid }
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
            Self::Unknown { name, value, .. } => write!(f, "unknown {name} \"{value}\""),
            Self::NotCoprime { prime, modulus } => {
                write!(f, "prime {prime} and modulus {modulus} have a common factor")
            }
            Self::Sample(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ManberError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn parameters(window: i64, sample_bits: i64, prime: i64, modulus: i64) -> Parameters {
        Parameters { window, sample_bits, prime, modulus, ..Parameters::default() }
    }

    fn sketch(text: &str, parameters: Parameters) -> Vec<i64> {
        parameters.sketch(text, &mut || ()).unwrap()
    }

    /// Each window by itself, as the definitions say.
    fn naive_sketch(text: &str, parameters: Parameters) -> Vec<i64> {
        let Parameters { window, sample_bits, divisor, prime, modulus, unit, hash } = parameters;
        let symbols: Vec<u64> = match (hash, unit) {
            (Hash::Java, _) => text.encode_utf16().map(u64::from).collect(),
            (_, Unit::Byte) => text.bytes().map(u64::from).collect(),
            (_, Unit::Character) => text.chars().map(u64::from).collect(),
        };
        let polynomial = |window: &[u64], prime: u128, modulus: u128| {
            window.iter().fold(0, |value, &symbol| (value * prime + u128::from(symbol)) % modulus)
        };
        let utf8 = |window: &[u64]| match unit {
            Unit::Byte => window.iter().map(|&byte| byte as u8).collect::<Vec<_>>(),
            Unit::Character => {
                let chars = window.iter().map(|&c| char::from_u32(c as u32).unwrap());
                chars.collect::<String>().into_bytes()
            }
        };
        let value = |window: &[u64]| match hash {
            Hash::Polynomial => polynomial(window, prime as u128, modulus as u128) as i64,
            Hash::Java => polynomial(window, 31, 1 << 32) as u32 as i32 as i64,
            Hash::Xxh3 => xxh3_64(&utf8(window)) as i64,
        };
        let kept = symbols.windows(window as usize).map(value);
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
        let java = |window| Parameters { window, sample_bits: 0, hash: Hash::Java, ..Parameters::default() };
        assert_eq!(sketch("abc", java(3)), [96354]);
        assert_eq!(sketch("Hello world", java(11)), [-832992604]);
        assert_eq!(sketch("Hello world", Parameters { divisor: 4, ..java(11) }), [-832992604]);
        assert_eq!(sketch("Hello world", Parameters { divisor: 25, ..java(11) }), []);
    }

    #[test]
    fn wrong_parameters_are_named() {
        for (parameters, name) in [
            (parameters(0, 8, 31, 1 << 20), "window"),
            (parameters(MAX_WINDOW + 1, 8, 31, 1 << 20), "window"),
            (parameters(50, -1, 31, 1 << 20), "sample_bits"),
            (parameters(50, 33, 31, 1 << 20), "sample_bits"),
            (parameters(50, 8, 1, 1 << 20), "prime"),
            (parameters(50, 8, 31, 1), "modulus"),
            (Parameters { divisor: 0, ..Parameters::default() }, "divisor"),
        ] {
            let error = parameters.sketch("", &mut || ()).unwrap_err();
            assert!(matches!(&error, ManberError::OutOfRange(e) if e.name == name), "{error}");
        }
        let error = parameters(50, 8, 6, 9).sketch("", &mut || ()).unwrap_err();
        assert_eq!(error, ManberError::NotCoprime { prime: 6, modulus: 9 });
        assert!(matches!("bit".parse::<Unit>(), Err(ManberError::Unknown { name: "unit", .. })));
        assert!(matches!("md5".parse::<Hash>(), Err(ManberError::Unknown { name: "hash", .. })));
    }

    proptest! {
        #[test]
        fn sketches_equal_the_definition(
            text in prop_oneof!["\\PC{0,80}", "[ab]{0,200}", "[ -~]{200,900}"],
            window in 1i64..20,
            sample_bits in 0i64..4,
            divisor in prop_oneof![Just(1i64), 1i64..30],
            prime in prop::sample::select(vec![2i64, 31, 257, 1_000_003, PRIME as i64]),
            modulus in prop_oneof![
                Just(MERSENNE_61 as i64),
                (1u32..63).prop_map(|bits| 1i64 << bits),
                2i64..1 << 40,
                1i64 << 62..i64::MAX,
            ],
            unit in prop::sample::select(vec![Unit::Byte, Unit::Character]),
            hash in prop::sample::select(vec![Hash::Polynomial, Hash::Polynomial, Hash::Java, Hash::Xxh3]),
        ) {
            prop_assume!(greatest_common_divisor(prime as u64, modulus as u64) == 1);
            let parameters = Parameters { window, sample_bits, divisor, prime, modulus, unit, hash };
            prop_assert_eq!(sketch(&text, parameters), naive_sketch(&text, parameters));
        }
    }
}
