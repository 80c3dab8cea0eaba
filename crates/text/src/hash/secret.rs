//! The secret of the process, which nobody who stores a text can know.
//!
//! The hashes of features and windows are public, because fingerprints and sketches of all machines have to
//! agree. Whoever may store a text can therefore choose words whose hashes begin with the same bits. A table
//! that is addressed by such hashes fills from one end, and each search in it takes time that grows with the
//! text. So tables in memory, and whatever else only divides or orders hashes for the time of a call, use a
//! [`Place`] instead, which is computed from the hash and the secret. No result depends on the secret.
//!
//! Places are computed in two steps. First, a hash is multiplied by a secret odd number modulo 2^64, and the
//! upper half of the product is kept. Two different hashes then become equal for at most 2 of 2^32 numbers
//! (Dietzfelbinger and others, "A Reliable Randomized Algorithm for the Closest-Pair Problem", 1997). Then
//! each byte chooses a random number, and the place is the XOR of all of them, which is simple tabulation
//! (Zobrist, "A New Hashing Method with Application for Game Playing", 1970). Pătraşcu and Thorup ("The Power
//! of Simple Tabulation Hashing", Journal of the ACM 59, 2012) prove that linear probing then takes as many
//! probes as with truly random places, up to a constant factor, for any set of keys that was chosen without
//! knowledge of the random numbers. Multiplication alone has no such guarantee, because it keeps hashes that
//! have equal distances at equal distances.
//!
//! Windows of texts are hashed by a polynomial whose base is secret, unless the hash is part of a result. Two
//! different windows of s symbols then have the same value for at most s - 1 of 2^61 bases. If the base is
//! public, anyone can compute windows that have the same value, which no secret tells apart afterwards.
//!
//! Cost: 8 KB of memory. A place takes a multiplication, and four reads that a processor's first cache
//! answers.

use super::rolling::{MERSENNE_61, Mersenne61};
use std::array::from_fn;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// The number of bytes of a hash that the first step keeps.
const BYTES: usize = size_of::<u32>();
/// The number of values of a byte.
const VALUES: usize = 1 << u8::BITS;
/// Symbols are below this number (2^21), and so are the bases that are not used.
const SYMBOLS: u64 = 1 << 21;

/// Random numbers of this process.
#[derive(Debug)]
pub(crate) struct Secret {
    /// An odd factor.
    factor: u64,
    /// For each byte and each value of it, a random number.
    tables: [[u64; VALUES]; BYTES],
    base: u64,
    seed: u64,
}

impl Secret {
    /// The secret of this process, which the operating system chooses when it is first needed.
    pub(crate) fn of_process() -> &'static Self {
        static SECRET: OnceLock<Secret> = OnceLock::new();
        SECRET.get_or_init(|| Self::of(&RandomState::new()))
    }

    /// The numbers that a keyed hash function gives for 0, 1, 2 and so on.
    fn of(keyed: &impl BuildHasher) -> Self {
        let mut count = 0u64;
        let mut next = || {
            count += 1;
            keyed.hash_one(count)
        };
        let tables = from_fn(|_| from_fn(|_| next()));
        Self { factor: next() | 1, tables, base: SYMBOLS + next() % (MERSENNE_61 - SYMBOLS), seed: next() }
    }

    /// The place of a hash.
    #[inline]
    pub(crate) fn place(&self, hash: u64) -> Place {
        let bytes = ((hash.wrapping_mul(self.factor) >> u32::BITS) as u32).to_le_bytes();
        let numbers = bytes.iter().zip(&self.tables).map(|(&byte, table)| table[usize::from(byte)]);
        Place(numbers.fold(0, |place, number| place ^ number))
    }

    /// Polynomials with a secret base.
    pub(crate) fn polynomials(&self) -> Mersenne61 {
        Mersenne61(self.base)
    }

    /// A seed for hash functions that take one.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }
}

/// Where a hash belongs, in this process. Only a [`Secret`] makes places, so that no table can be addressed
/// by a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(u64);

impl Place {
    /// The slot in a table of this number of slots, a power of two above 1, which the highest bits choose.
    #[inline]
    pub(crate) fn slot(self, slots: usize) -> usize {
        debug_assert!(slots.is_power_of_two() && slots > 1, "{slots} slots");
        (self.0 >> (u64::BITS - slots.ilog2())) as usize
    }

    /// The upper half of the place, with zeros below it, from which [`of_upper_half`](Self::of_upper_half)
    /// makes a place with the same slot.
    #[inline]
    pub(crate) fn upper_half(self) -> u64 {
        self.0 & !u64::from(u32::MAX)
    }

    /// A place with the upper half of this number, for tables of at most 2^32 slots.
    #[inline]
    pub(crate) fn of_upper_half(number: u64) -> Self {
        Self(number)
    }

    /// Which of this number of equal parts the place belongs to. The lower half decides, which has no effect
    /// on the slot.
    #[inline]
    pub(crate) fn part(self, parts: usize) -> usize {
        debug_assert!(parts as u64 <= 1 << u32::BITS, "{parts} parts");
        ((u64::from(self.0 as u32) * parts as u64) >> u32::BITS) as usize
    }

    /// A number by which places are in random order.
    #[inline]
    pub(crate) fn order(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_process_has_another_secret() {
        let [a, b] = [Secret::of(&RandomState::new()), Secret::of(&RandomState::new())];
        assert_ne!(a.place(1), b.place(1));
        assert_ne!((a.base, a.seed), (b.base, b.seed));
        assert_eq!(Secret::of_process().place(1), Secret::of_process().place(1));
        assert!((SYMBOLS..MERSENNE_61).contains(&a.base));
    }

    /// Hashes that differ in one bit, in any one, belong to unrelated slots: of 64 × 64 pairs, no more than
    /// chance allows have the same of 64 slots.
    #[test]
    fn every_bit_of_a_hash_changes_its_slot() {
        let secret = Secret::of_process();
        let same = |hash: u64| {
            let slot = |hash| secret.place(hash).slot(64);
            (0..u64::BITS).filter(|bit| slot(hash) == slot(hash ^ 1 << bit)).count()
        };
        let hashes = (0..64u64).map(|number| super::super::mix(number + 1));
        let pairs: usize = hashes.map(same).sum();
        // 64 are expected. Pairs that share a bit depend on one another, so that the deviation is larger.
        assert!(pairs < 4 * 64, "{pairs} pairs");
    }

    #[test]
    fn parts_and_slots_are_independent() {
        let secret = Secret::of_process();
        let mut counts = [[0; 4]; 4];
        for number in 0..1 << 14 {
            let place = secret.place(number);
            counts[place.part(4)][place.slot(4)] += 1;
            assert_eq!(Place::of_upper_half(place.upper_half() | number).slot(1 << 20), place.slot(1 << 20));
        }
        // 1,024 are expected, and the deviation is 31.
        assert!(counts.iter().flatten().all(|count| (700..1400).contains(count)), "{counts:?}");
    }
}
