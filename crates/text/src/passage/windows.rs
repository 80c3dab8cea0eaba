//! The windows of a text with their hashes: Karp and Rabin's polynomials over bytes or characters.

use crate::hash::rolling::{MERSENNE_61, PRIME, append_mersenne_61};

/// Windows that are hashed in one go.
const PIECE: usize = 1 << 10;
/// Parts of a piece that are rolled over at once, since each value waits for the one before.
const LANES: usize = 4;
/// Windows longer than this are rolled over in one lane: each other lane begins with as many steps.
const LONG: usize = PIECE / LANES;
/// Spreads the values of the windows' polynomials; odd.
const SCATTER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Windows that are looked up together.
const BATCH: usize = 64;

/// Passes on the positions and hashes of those windows that are wanted, a batch at a time. The first hash is that of
/// the window at `first`.
pub(super) fn each_batch(
    first: usize,
    hashes: &[u64],
    is_wanted: impl Fn(u64) -> bool,
    mut consumer: impl FnMut(&[(usize, u64)]),
) {
    // Bounded: a batch.
    let mut batch = Vec::with_capacity(BATCH);
    for (first, hashes) in (first..).step_by(BATCH).zip(hashes.chunks(BATCH)) {
        let windows = (first..).zip(hashes.iter().copied());
        batch.clear();
        batch.extend(windows.filter(|&(_, hash)| is_wanted(hash)));
        consumer(&batch);
    }
}

/// Goes through the windows of a text.
pub(super) struct Windows<'a, T> {
    text: &'a [T],
    window: usize,
    /// The base of the polynomials to the power of the window's length.
    top: u64,
    /// For the first symbols what [`removal`] returns.
    removals: [u64; 256],
    /// The position of the next window.
    next: usize,
    /// Its polynomial, unless windows were skipped.
    value: Option<u64>,
    hashes: Vec<u64>,
}

impl<'a, T: Copy + Into<u32>> Windows<'a, T> {
    pub(super) fn new(text: &'a [T], window: usize) -> Self {
        let top = (0..window).fold(1, |power, _| append(power, 0));
        let removals = std::array::from_fn(|symbol| removal(top, symbol as u32));
        Self { text, window, top, removals, next: 0, value: None, hashes: Vec::new() }
    }

    /// The position of the next window; `None` behind the last one.
    pub(super) fn next(&self) -> Option<usize> {
        (self.next + self.window <= self.text.len()).then_some(self.next)
    }

    /// Goes on to the window at this position.
    pub(super) fn skip_to(&mut self, position: usize) {
        self.next = position;
        self.value = None;
    }

    /// The hashes of the next windows, at least one. There must be a next window.
    pub(super) fn hash_some(&mut self) -> &[u64] {
        let left = self.text.len() + 1 - self.window - self.next;
        if self.window <= LONG && left >= PIECE / 2 {
            self.roll::<LANES>(left.min(PIECE) / LANES);
        } else {
            self.roll::<1>(left.min(PIECE));
        }
        &self.hashes
    }

    /// Hashes the next windows in some lanes.
    fn roll<const LANES: usize>(&mut self, of_lane: usize) {
        let from: [&[T]; LANES] = std::array::from_fn(|lane| &self.text[self.next + lane * of_lane..]);
        let mut values = from.map(|_| 0);
        let known = usize::from(self.value.is_some());
        values[0] = self.value.unwrap_or_default();
        let first_steps = if known < LANES { self.window } else { 0 };
        for at in 0..first_steps {
            for (value, from) in values.iter_mut().zip(from).skip(known) {
                *value = append(*value, symbol(from[at]));
            }
        }
        self.hashes.resize(LANES * of_lane, 0);
        let old = from.map(|from| &from[..of_lane]);
        // The last lane may have no symbol behind its last window.
        let new = from.map(|from| from[self.window..].get(..of_lane).unwrap_or(&from[self.window..]));
        let steps = new[LANES - 1].len();
        for at in 0..of_lane {
            for (lane, value) in values.iter_mut().enumerate() {
                self.hashes[lane * of_lane + at] = spread(*value);
                if at < steps {
                    let old: u32 = old[lane][at].into();
                    let removal = match self.removals.get(old as usize) {
                        Some(&removal) => removal,
                        None => removal(self.top, old),
                    };
                    *value = append(*value, symbol(new[lane][at]) + removal);
                }
            }
        }
        self.next += LANES * of_lane;
        self.value = values.last().copied();
    }
}

fn append(value: u64, addend: u64) -> u64 {
    append_mersenne_61(PRIME)(value, addend)
}

fn symbol<T: Into<u32>>(symbol: T) -> u64 {
    u64::from(symbol.into()) + 1
}

/// What to add to take a symbol out of a window: the negative of symbol times `top`.
fn removal<T: Into<u32>>(top: u64, old: T) -> u64 {
    let product = u128::from(symbol(old)) * u128::from(top);
    let folded = (product as u64 & MERSENNE_61) + (product >> 61) as u64;
    2 * MERSENNE_61 - folded
}

fn spread(value: u64) -> u64 {
    let product = value.wrapping_mul(SCATTER);
    product ^ product >> 32
}
