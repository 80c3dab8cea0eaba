//! The secret of the process, which nobody who stores a text can know.
//!
//! The hashes of features and windows are public, because fingerprints and sketches of all machines have to
//! agree. Whoever may store a text can therefore choose words whose hashes begin with the same bits. A table
//! that is addressed by such hashes fills from one end, and each search in it takes time that grows with the
//! text. So tables in memory, and whatever else only divides or orders hashes for the duration of a call, use
//! a [`Place`] instead, which is computed from the hash and the secret. No result depends on the secret.
//!
//! A place is the upper half of `a · hash + b` modulo 2^128, where a and b are secret. Then the places of
//! any two different hashes are independent and uniform (Dietzfelbinger, "Universal Hashing and k-Wise
//! Independent Random Variables via Integer Arithmetic without Primes", 1996). For hashes that were chosen
//! without knowledge of the secret, it follows that linear probing fills a table with n entries in O(n log
//! n) expected probes (Pătraşcu and Thorup, "On the k-Independence Required by Linear Probing and Minwise
//! Independence", 2016), and usually in as many as with random places. Simple tabulation, which is proven
//! to take O(n) probes, was tried as well: for short texts, its tables compete with those of the features
//! for the processor's first cache, which then misses 40 % more reads.
//!
//! Windows of texts are hashed by a polynomial whose base is secret, unless the hash is part of a result. Two
//! different windows of s symbols then have the same value for at most s - 1 of 2^61 bases. If the base is
//! public, anyone can compute windows that have the same value, which no secret tells apart afterwards.
//!
//! Cost: two multiplications for each place.

use super::rolling::{MERSENNE_61, Mersenne61};
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// Symbols are below this number (2^21), and so are the bases that are not used.
const SYMBOLS: u64 = 1 << 21;

/// Random numbers of this process.
#[derive(Debug)]
pub(crate) struct Secret {
    factor: u128,
    summand: u128,
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
        let mut next_wide = || u128::from(next()) << u64::BITS | u128::from(next());
        let factor = next_wide();
        let summand = next_wide();
        Self { factor, summand, base: SYMBOLS + next() % (MERSENNE_61 - SYMBOLS), seed: next() }
    }

    /// The place of a hash.
    #[inline]
    pub(crate) fn place(&self, hash: u64) -> Place {
        let sum = self.factor.wrapping_mul(hash.into()).wrapping_add(self.summand);
        Place((sum >> u64::BITS) as u64)
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

    /// By chance, two places have the same of 64 slots for one of 64 secrets.
    #[test]
    fn no_bit_of_a_hash_is_ignored() {
        let secrets = [(); 32].map(|()| Secret::of(&RandomState::new()));
        for bit in 0..u64::BITS {
            let hash = super::super::mix(bit.into());
            let has_same_slot =
                |secret: &&Secret| secret.place(hash).slot(64) == secret.place(hash ^ 1 << bit).slot(64);
            let same = secrets.iter().filter(has_same_slot).count();
            assert!(same < 16, "{same} of 32 secrets ignore bit {bit}");
        }
    }

    #[test]
    fn parts_and_slots_are_independent() {
        let secret = Secret::of_process();
        let mut counts = [[0; 4]; 4];
        for number in 0..1 << 14 {
            let place = secret.place(super::super::mix(number));
            counts[place.part(4)][place.slot(4)] += 1;
            assert_eq!(Place::of_upper_half(place.upper_half() | number).slot(1 << 20), place.slot(1 << 20));
        }
        // 1,024 are expected, and the deviation is 31.
        assert!(counts.iter().flatten().all(|count| (700..1400).contains(count)), "{counts:?}");
    }
}
