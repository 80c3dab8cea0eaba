//! Hashes of all windows of a text, each from the last: Karp and Rabin's polynomials, several windows at a
//! time.
//!
//! The value of a window w0 … w(s-1) is `w0·p^(s-1) + … + w(s-1)` modulo m. The next value is the last one
//! times p, plus the new symbol, minus the old symbol times p^s. Each value waits for the last, so a
//! processor idles most of the time unless it rolls over several parts of a text at once. Cost: constant
//! for each window, whatever its length.

use std::iter;

/// The Mersenne prime 2^61 - 1: reduction takes a shift and an addition.
pub(crate) const MERSENNE_61: u64 = (1 << 61) - 1;
/// The base of the polynomials unless the user says otherwise.
pub(crate) const PRIME: u64 = 1_425_089_352_415_399_837;

/// Windows that roll at once, in different parts of a text.
pub(crate) const LANES: usize = 4;
/// Steps of an inner loop whose length the compiler knows.
const STEPS: usize = 64;

/// Rolls over the windows of a text. `append(value, addend)` is value · p + addend modulo m, for a value
/// below m and an addend below 2m.
pub(crate) struct Rolling<A: Fn(u64, u64) -> u64> {
    window: usize,
    modulus: u64,
    append: A,
    /// p^s modulo m.
    top: u64,
    /// For each byte what to add to take it out of a window.
    removal: [u64; 256],
}

impl<A: Fn(u64, u64) -> u64> Rolling<A> {
    pub(crate) fn new(window: usize, modulus: u64, append: A) -> Self {
        let one = 1 % modulus;
        let top = iter::repeat_n(0, window).fold(one, &append);
        let mut rolling = Self { window, modulus, append, top, removal: [0; 256] };
        rolling.removal = std::array::from_fn(|byte| rolling.removal_of(byte as u64));
        rolling
    }

    /// What to add to take a symbol out of a window: the negative of symbol · p^s.
    fn removal_of(&self, symbol: u64) -> u64 {
        let product = u128::from(symbol) * u128::from(self.top) % u128::from(self.modulus);
        (self.modulus - product as u64) % self.modulus
    }

    /// The value of the window that the text begins with; the text must have one.
    pub(crate) fn first(&self, text: &[u8]) -> u64 {
        text[..self.window].iter().fold(0, |value, &byte| (self.append)(value, u64::from(byte)))
    }

    /// Rolls on by one window in each of the texts, `values` being those of their first windows, until the
    /// shortest ends. `consumer` gets the values after each step.
    #[inline(always)]
    pub(crate) fn roll(
        &self,
        texts: [&[u8]; LANES],
        values: &mut [u64; LANES],
        mut consumer: impl FnMut(&[u64; LANES]),
    ) {
        let steps = texts.iter().map(|text| text.len()).min().unwrap_or(0).saturating_sub(self.window);
        let mut state = *values;
        let mut step = |old: [u8; LANES], new: [u8; LANES]| {
            for ((value, old), new) in state.iter_mut().zip(old).zip(new) {
                *value = (self.append)(*value, u64::from(new) + self.removal[usize::from(old)]);
            }
            consumer(&state);
        };
        let old = texts.map(|text| text[..steps].as_chunks::<STEPS>());
        let new = texts.map(|text| text[self.window..][..steps].as_chunks::<STEPS>());
        for block in 0..steps / STEPS {
            let (old, new) = (old.map(|(blocks, _)| &blocks[block]), new.map(|(blocks, _)| &blocks[block]));
            for at in 0..STEPS {
                step(old.map(|block| block[at]), new.map(|block| block[at]));
            }
        }
        for at in 0..steps % STEPS {
            step(old.map(|(_, rest)| rest[at]), new.map(|(_, rest)| rest[at]));
        }
        *values = state;
    }

    /// Passes on the values of all windows over any symbols, one after the other. Each call of `symbols`
    /// begins at the first symbol.
    pub(crate) fn each<I: Iterator<Item = u64>>(
        &self,
        symbols: impl Fn() -> I,
        mut consumer: impl FnMut(u64),
    ) {
        let mut new = symbols();
        let mut value = 0;
        for _ in 0..self.window {
            let Some(symbol) = new.next() else { return };
            value = (self.append)(value, symbol % self.modulus);
        }
        consumer(value);
        for (old, new) in symbols().zip(new) {
            value = (self.append)(value, new % self.modulus + self.removal_of(old));
            consumer(value);
        }
    }
}

/// value · p + addend modulo 2^61 - 1. There 2^61 equals 1, so the upper bits are added to the lower 61.
#[inline(always)]
pub(crate) fn append_mersenne_61(prime: u64) -> impl Fn(u64, u64) -> u64 {
    move |value, addend| {
        let product = u128::from(value) * u128::from(prime);
        let sum = (product as u64 & MERSENNE_61) + (product >> 61) as u64 + addend;
        let folded = (sum & MERSENNE_61) + (sum >> 61);
        if folded >= MERSENNE_61 { folded - MERSENNE_61 } else { folded }
    }
}
