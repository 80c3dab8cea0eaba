//! Hashes all windows of a text, each from the previous one: Karp and Rabin's polynomials, for several
//! windows at a time.
//!
//! The value of a window w0 … w(s-1) is `w0·p^(s-1) + … + w(s-1)` modulo m. The next value is this value
//! times p, plus the new symbol, minus the old symbol times p^s. Each value has to wait for the previous one,
//! so the processor idles most of the time, unless several parts of a text are processed at once. Cost:
//! constant time per window, whatever its length.

use base::{OutOfMemory, collect};
use std::array::from_fn;
use std::iter;

/// The Mersenne prime 2^61 - 1. Reduction takes a shift and an addition.
pub(crate) const MERSENNE_61: u64 = (1 << 61) - 1;
/// The default base of the polynomials.
pub(crate) const PRIME: u64 = 1_425_089_352_415_399_837;

/// The number of parts of a piece that are processed at once.
const LANES: usize = 4;
/// The length of an inner loop, as a constant for the compiler.
const STEPS: usize = 64;
/// The least and the largest result of [`piece_for`].
const PIECES: [usize; 2] = [1 << 12, 1 << 17];

/// The number of windows to hash together if all windows of a text are wanted. Each lane begins with as many
/// steps as a window is long, so longer windows need larger pieces.
pub(crate) fn piece_for(window: usize) -> usize {
    (8 * LANES * window).clamp(PIECES[0], PIECES[1])
}

/// Arithmetic modulo m.
pub(crate) trait Arithmetic {
    /// value · p + addend, for a value below m. The addend is a symbol, to which a number below 2m may be
    /// added. A symbol has at most 21 bits, and may be above m.
    fn append(&self, value: u64, addend: u64) -> u64;

    /// The negative of a · b, below 2m.
    fn negative_product(&self, a: u64, b: u64) -> u64;
}

/// Arithmetic modulo 2^61 - 1, with the base p.
#[derive(Clone, Copy)]
pub(crate) struct Mersenne61(pub(crate) u64);

impl Arithmetic for Mersenne61 {
    /// 2^61 equals 1, so the upper bits are added to the lower 61.
    #[inline(always)]
    fn append(&self, value: u64, addend: u64) -> u64 {
        let product = u128::from(value) * u128::from(self.0);
        let sum = (product as u64 & MERSENNE_61) + (product >> 61) as u64 + addend;
        let folded = (sum & MERSENNE_61) + (sum >> 61);
        if folded >= MERSENNE_61 { folded - MERSENNE_61 } else { folded }
    }

    #[inline(always)]
    fn negative_product(&self, a: u64, b: u64) -> u64 {
        let product = u128::from(a) * u128::from(b);
        2 * MERSENNE_61 - (product as u64 & MERSENNE_61) - (product >> 61) as u64
    }
}

/// Arithmetic modulo any number. `append` must work as the trait says.
pub(crate) struct Modulo<F> {
    pub(crate) modulus: u64,
    pub(crate) append: F,
}

impl<F: Fn(u64, u64) -> u64> Arithmetic for Modulo<F> {
    #[inline(always)]
    fn append(&self, value: u64, addend: u64) -> u64 {
        (self.append)(value, addend)
    }

    fn negative_product(&self, a: u64, b: u64) -> u64 {
        let product = u128::from(a) * u128::from(b);
        (self.modulus - (product % u128::from(self.modulus)) as u64) % self.modulus
    }
}

/// Computes the values of windows of one length.
pub(crate) struct Rolling<A> {
    window: usize,
    arithmetic: A,
    /// p^s modulo m.
    top: u64,
    /// For each of the first symbols, the summand that removes it from a window.
    removals: [u64; 256],
}

impl<A: Arithmetic> Rolling<A> {
    pub(crate) fn new(window: usize, arithmetic: A) -> Self {
        let top = iter::repeat_n(0, window).fold(1, |power, zero| arithmetic.append(power, zero));
        let removals = from_fn(|symbol| arithmetic.negative_product(symbol as u64, top));
        Self { window, arithmetic, top, removals }
    }

    /// The summand that removes a symbol from a window: the negative of symbol · p^s.
    #[inline(always)]
    fn removal(&self, symbol: u64) -> u64 {
        match self.removals.get(symbol as usize) {
            Some(&removal) => removal,
            None => self.arithmetic.negative_product(symbol, self.top),
        }
    }

    /// The value of the next window, which loses the symbol `old` and gets the symbol `new`.
    #[inline(always)]
    fn step(&self, value: u64, old: u64, new: u64) -> u64 {
        self.arithmetic.append(value, new + self.removal(old))
    }

    /// The values of the first windows of these texts. Each text must have a window.
    fn first<T: Copy + Into<u64>, const LANES: usize>(&self, texts: [&[T]; LANES]) -> [u64; LANES] {
        let mut values = [0; LANES];
        for at in 0..self.window {
            for (value, text) in values.iter_mut().zip(texts) {
                *value = self.arithmetic.append(*value, text[at].into());
            }
        }
        values
    }

    /// Computes the values of all further windows of texts of equal length. `values` are the values of their
    /// first windows. After each step, the finished value is written to the text's target.
    #[inline(always)]
    fn roll<T: Copy + Into<u64>, const LANES: usize>(
        &self,
        texts: [&[T]; LANES],
        mut values: [u64; LANES],
        targets: [&mut [u64]; LANES],
        finish: impl Fn(u64) -> u64,
    ) -> [u64; LANES] {
        let steps = texts[0].len() - self.window;
        // A loop over an array would be slower: its iterator checks for the end at each character.
        let mut step = |old: [u64; LANES], new: [u64; LANES]| {
            for lane in 0..LANES {
                values[lane] = self.step(values[lane], old[lane], new[lane]);
            }
            values
        };
        let old = texts.map(|text| text[..steps].as_chunks::<STEPS>());
        let new = texts.map(|text| text[self.window..].as_chunks::<STEPS>());
        let mut targets = targets.map(|target| target[..steps].as_chunks_mut::<STEPS>());
        for chunk in 0..steps / STEPS {
            let old = old.map(|(chunks, _)| &chunks[chunk]);
            let new = new.map(|(chunks, _)| &chunks[chunk]);
            let mut targets = targets.each_mut().map(|(chunks, _)| &mut chunks[chunk]);
            for at in 0..STEPS {
                let values = step(old.map(|chunk| chunk[at].into()), new.map(|chunk| chunk[at].into()));
                targets.iter_mut().zip(values).for_each(|(target, value)| target[at] = finish(value));
            }
        }
        for at in 0..steps % STEPS {
            let values = step(old.map(|(_, rest)| rest[at].into()), new.map(|(_, rest)| rest[at].into()));
            targets.iter_mut().zip(values).for_each(|((_, rest), value)| rest[at] = finish(value));
        }
        values
    }

    /// Passes on the values of all windows of a sequence of symbols. Each call of `symbols` begins at the
    /// first symbol.
    pub(crate) fn each<I: Iterator<Item = u64>>(
        &self,
        symbols: impl Fn() -> I,
        mut consumer: impl FnMut(u64),
    ) {
        let mut new = symbols();
        let mut value = 0;
        for _ in 0..self.window {
            let Some(symbol) = new.next() else { return };
            value = self.arithmetic.append(value, symbol);
        }
        consumer(value);
        for (old, new) in symbols().zip(new) {
            value = self.step(value, old, new);
            consumer(value);
        }
    }
}

/// Hashes the windows of a text, a piece at a time.
pub(crate) struct Windows<'a, T, A> {
    rolling: &'a Rolling<A>,
    text: &'a [T],
    /// The position of the next window.
    next: usize,
    /// The value of the last window, unless windows were skipped.
    value: Option<u64>,
    /// The hashes of the current piece.
    hashes: Vec<u64>,
}

impl<'a, T: Copy + Into<u64>, A: Arithmetic> Windows<'a, T, A> {
    /// The windows of the text, `piece` at a time.
    pub(crate) fn new(text: &'a [T], rolling: &'a Rolling<A>, piece: usize) -> Result<Self, OutOfMemory> {
        let hashes = collect(iter::repeat_n(0, piece), piece)?;
        Ok(Self { rolling, text, next: 0, value: None, hashes })
    }

    /// The position of the next window; `None` after the last one.
    pub(crate) fn next(&self) -> Option<usize> {
        (self.next + self.rolling.window <= self.text.len()).then_some(self.next)
    }

    /// Continues with the window at this position.
    pub(crate) fn skip_to(&mut self, position: usize) {
        self.next = position;
        self.value = None;
    }

    /// The finished values of the next windows, at least one. There must be a next window.
    pub(crate) fn hash_some(&mut self, finish: impl Fn(u64) -> u64) -> &[u64] {
        let window = self.rolling.window;
        let piece = self.hashes.len();
        let left = self.text.len() + 1 - window - self.next;
        // Each lane begins with as many steps as a window is long.
        if LANES * window <= piece && left >= LANES.max(piece / 2) {
            self.hash_in_lanes::<LANES>(left.min(piece) / LANES, finish)
        } else {
            self.hash_in_lanes::<1>(left.min(piece), finish)
        }
    }

    fn hash_in_lanes<const LANES: usize>(&mut self, of_lane: usize, finish: impl Fn(u64) -> u64) -> &[u64] {
        let Self { rolling, text, next, .. } = *self;
        let window = rolling.window;
        let lanes: [&[T]; LANES] = from_fn(|lane| &text[next + lane * of_lane..][..of_lane + window - 1]);
        let mut values = if LANES > 1 || self.value.is_none() { rolling.first(lanes) } else { [0; LANES] };
        if let Some(before) = self.value {
            values[0] = rolling.step(before, text[next - 1].into(), text[next + window - 1].into());
        }
        let mut targets = self.hashes.chunks_exact_mut(of_lane);
        let targets: [&mut [u64]; LANES] = from_fn(|lane| {
            let target = targets.next().unwrap_or_default();
            target[0] = finish(values[lane]);
            &mut target[1..]
        });
        values = rolling.roll(lanes, values, targets, finish);
        self.next += LANES * of_lane;
        self.value = values.last().copied();
        &self.hashes[..LANES * of_lane]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn windows_have_the_values_of_their_polynomials(
            text in prop_oneof!["[ab]{0,40}", "[a-zéя日😀]{0,300}"],
            window in 1usize..20,
            piece in 1usize..120,
            skipped in 0usize..30,
        ) {
            let text: Vec<char> = text.chars().collect();
            let value = |window: &[char]| {
                let append = |value: u128, symbol: &char| {
                    (value * u128::from(PRIME) + u128::from(u32::from(*symbol))) % u128::from(MERSENNE_61)
                };
                window.iter().fold(0, append) as u64
            };
            let expected: Vec<u64> = text.windows(window).map(value).collect();
            let rolling = Rolling::new(window, Mersenne61(PRIME));
            let mut windows = Windows::new(&text, &rolling, piece).unwrap();
            let mut found = Vec::new();
            while windows.next().is_some() {
                found.extend_from_slice(windows.hash_some(|value| value));
            }
            prop_assert_eq!(&found, &expected);
            windows.skip_to(skipped);
            let rest = windows.next().map_or(&[][..], |_| windows.hash_some(|value| value));
            prop_assert!(expected.get(skipped..).unwrap_or_default().starts_with(rest));
            prop_assert_eq!(rest.is_empty(), expected.len() <= skipped);
        }
    }
}
