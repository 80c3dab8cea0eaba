//! The windows of a text with their hashes: Karp and Rabin's polynomials over bytes or characters.

use crate::hash::rolling::{MERSENNE_61, PRIME, append_mersenne_61};
use limits::Heartbeat;

/// Windows that are looked up together.
const BATCH: usize = 64;
/// Windows between two heartbeats.
const STRIDE: usize = 1 << 14;
/// Spreads the values of the windows' polynomials; odd.
const SCATTER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Passes on the position and the hash of every window whose hash is wanted, a batch at a time.
pub(super) fn each_batch<T: Copy + Into<u32>>(
    text: &[T],
    window: usize,
    is_wanted: impl Fn(u64) -> bool,
    heartbeat: &mut dyn Heartbeat,
    mut consumer: impl FnMut(&[(usize, u64)]),
) {
    let mut batch = Vec::with_capacity(BATCH);
    each_window(text, window, heartbeat, |at, hash| {
        if is_wanted(hash) {
            batch.push((at, hash));
            if batch.len() == BATCH {
                consumer(&batch);
                batch.clear();
            }
        }
    });
    consumer(&batch);
}

/// Passes on the position and the hash of every window.
fn each_window<T: Copy + Into<u32>>(
    text: &[T],
    window: usize,
    heartbeat: &mut dyn Heartbeat,
    mut consumer: impl FnMut(usize, u64),
) {
    let symbol = |symbol: T| u64::from(symbol.into()) + 1;
    let append = append_mersenne_61(PRIME);
    let top = (0..window).fold(1, |power, _| append(power, 0));
    // The negative of symbol · top.
    let removal = |old: T| {
        let product = u128::from(symbol(old)) * u128::from(top);
        let folded = (product as u64 & MERSENNE_61) + (product >> 61) as u64;
        2 * MERSENNE_61 - folded
    };
    let (first, rest) = text.split_at(window);
    let mut value = first.iter().fold(0, |value: u64, &new| append(value, symbol(new)));
    let spread = |value: u64| {
        let product = value.wrapping_mul(SCATTER);
        product ^ product >> 32
    };
    consumer(0, spread(value));
    for (stride, (old, new)) in text.chunks(STRIDE).zip(rest.chunks(STRIDE)).enumerate() {
        heartbeat.beat();
        for (at, (&old, &new)) in (stride * STRIDE + 1..).zip(old.iter().zip(new)) {
            value = append(value, symbol(new) + removal(old));
            consumer(at, spread(value));
        }
    }
}
