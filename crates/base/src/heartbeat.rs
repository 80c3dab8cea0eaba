//! Heartbeats, by which long work can be watched and stopped.

use crate::{OutOfMemory, reserve};
use std::iter;

/// The number of comparisons between two heartbeats of a sort; they take some tenths of a millisecond.
const COMPARISONS: u32 = 1 << 14;

/// An algorithm calls this while it works.
///
/// Every algorithm of these crates promises to call it at least every few milliseconds, whatever the data,
/// and mostly more often. The only exceptions are loops at the speed of memory, such as clearing a table or
/// checking whether a text is ASCII: 100 MB take some 10 ms. A heartbeat may unwind to stop the work; the
/// result so far is then dropped.
pub trait Heartbeat {
    /// Called while work goes on.
    fn beat(&mut self);

    /// Called with the fraction of the work that was done, which never decreases.
    fn progress(&mut self, _done: f64) {
        self.beat();
    }
}

impl<F: FnMut()> Heartbeat for F {
    fn beat(&mut self) {
        self();
    }
}

/// Calls the heartbeat once in `stride` steps, which are numbered.
#[inline(always)]
pub fn beat_every(stride: usize, step: usize, heartbeat: &mut dyn Heartbeat) {
    if step.is_multiple_of(stride) {
        heartbeat.beat();
    }
}

/// Cuts a text into pieces of at most `bytes` bytes, at least 4, so that a heartbeat can be called for each.
pub fn pieces(text: &str, bytes: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    iter::from_fn(move || {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(bytes));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// How many elements are copied between two heartbeats.
const COPIED: usize = 1 << 18;

/// A vector with `count` copies of an element, made with heartbeats: the system takes longer to provide
/// memory than a loop to fill it.
pub fn filled<T: Copy>(
    element: T,
    count: usize,
    heartbeat: &mut dyn Heartbeat,
) -> Result<Vec<T>, OutOfMemory> {
    let mut vector = Vec::new();
    fill(&mut vector, element, count, heartbeat)?;
    Ok(vector)
}

/// Appends `count` copies of an element, with heartbeats.
pub fn fill<T: Copy>(
    vector: &mut Vec<T>,
    element: T,
    count: usize,
    heartbeat: &mut dyn Heartbeat,
) -> Result<(), OutOfMemory> {
    reserve(vector, count)?;
    let end = vector.len() + count;
    while vector.len() < end {
        heartbeat.beat();
        vector.resize(end.min(vector.len() + COPIED), element);
    }
    Ok(())
}

/// A copy of the elements, made with heartbeats.
pub fn copied<T: Copy>(elements: &[T], heartbeat: &mut dyn Heartbeat) -> Result<Vec<T>, OutOfMemory> {
    let mut vector = Vec::new();
    reserve(&mut vector, elements.len())?;
    for elements in elements.chunks(COPIED) {
        heartbeat.beat();
        vector.extend_from_slice(elements);
    }
    Ok(vector)
}

/// Sorts by a key, with heartbeats. The order of elements with equal keys is undefined.
pub fn sort<T, K: Ord>(elements: &mut [T], heartbeat: &mut dyn Heartbeat, key: impl Fn(&T) -> K) {
    let mut comparisons = 0;
    elements.sort_unstable_by(|a, b| {
        comparisons += 1;
        if comparisons == COMPARISONS {
            comparisons = 0;
            heartbeat.beat();
        }
        key(a).cmp(&key(b))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_has_a_pulse() {
        let count = if cfg!(miri) { 2_000 } else { 100_000 };
        let mut values: Vec<u64> =
            (0..count).map(|value: u64| value.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let mut expected = values.clone();
        expected.sort_unstable();
        let mut beats = 0;
        sort(&mut values, &mut || beats += 1, |&value| value);
        assert_eq!(values, expected);
        // A sort of n elements takes at least n - 1 comparisons.
        assert!(beats >= count as u32 / COMPARISONS, "{beats} heartbeats");
    }
}
