//! Finds the least of every few consecutive keys, for winnowing.
//!
//! A row is a number of consecutive keys, and keys are divided into groups of that number. The least key of a
//! row is the lesser of two keys: the least key of the current group so far, and the least key of the end of
//! the last group. Cost: constant time for each key, whatever the length of a row; memory for two rows.

use base::{OutOfMemory, collect};
use std::iter::repeat_n;

/// Finds the least key of every row. If keys may be equal and the leftmost one is wanted, a key must end with
/// its number.
pub(crate) struct Minima<K> {
    /// Not less than any key.
    greatest: K,
    /// The keys of the current group.
    group: Vec<K>,
    filled: usize,
    /// The least key of the current group.
    least: K,
    /// For each key of the last group, the least key behind it in that group.
    least_behind: Vec<K>,
    /// The number of keys in earlier groups.
    before: usize,
    /// The key that was last passed on, if there was a row.
    last: K,
}

impl<K: Copy + Ord> Minima<K> {
    /// A finder for rows of this many keys, at least one. No key may be above `greatest`.
    pub(crate) fn new(row: usize, greatest: K) -> Result<Self, OutOfMemory> {
        Ok(Self {
            greatest,
            group: collect(repeat_n(greatest, row), row)?,
            filled: 0,
            least: greatest,
            least_behind: collect(repeat_n(greatest, row), row)?,
            before: 0,
            last: greatest,
        })
    }

    /// Forgets all keys.
    pub(crate) fn clear(&mut self) {
        self.filled = 0;
        self.least = self.greatest;
        self.before = 0;
    }

    /// The number of keys so far.
    pub(crate) fn keys(&self) -> usize {
        self.before + self.filled
    }

    /// The number of complete rows.
    pub(crate) fn rows(&self) -> usize {
        (self.keys() + 1).saturating_sub(self.group.len())
    }

    /// The least key, if there are keys but no complete row.
    pub(crate) fn least_of_few(&self) -> Option<K> {
        (self.keys() > 0 && self.rows() == 0).then_some(self.least)
    }

    /// Takes values. The key of a value is computed from its number and the value. Passes on the number of a
    /// row and its least key, unless the row before it has the same.
    #[inline]
    pub(crate) fn add(
        &mut self,
        values: &[u64],
        key: impl Fn(usize, u64) -> K,
        mut consumer: impl FnMut(usize, K),
    ) {
        let row = self.group.len();
        let mut rest = values;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(row - self.filled));
            let first = self.keys();
            let group = &mut self.group[self.filled..][..now.len()];
            for ((place, &value), number) in group.iter_mut().zip(now).zip(first..) {
                *place = key(number, value);
            }
            let mut least = self.least;
            if self.before == 0 {
                least = group.iter().copied().fold(least, K::min);
                if self.filled + now.len() == row {
                    self.last = least;
                    consumer(0, least);
                }
            } else {
                let mut last = self.last;
                for ((at, &key), &behind) in group.iter().enumerate().zip(&self.least_behind[self.filled..]) {
                    least = least.min(key);
                    let of_row = least.min(behind);
                    if of_row != last {
                        last = of_row;
                        consumer(first + at + 1 - row, of_row);
                    }
                }
                self.last = last;
            }
            self.least = least;
            self.filled += now.len();
            if self.filled == row {
                self.end_group();
            }
            rest = later;
        }
    }

    /// Ends a full group, which becomes the last group.
    fn end_group(&mut self) {
        let mut least = self.greatest;
        for (behind, &key) in self.least_behind.iter_mut().zip(&self.group).rev() {
            *behind = least;
            least = least.min(key);
        }
        self.before += self.group.len();
        self.filled = 0;
        self.least = self.greatest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn minima_are_those_of_all_rows(
            keys in prop::collection::vec(0u64..9, 0..60),
            row in 1usize..12,
            cut in 0usize..60,
        ) {
            let key = |number, value| (value, number);
            let numbered: Vec<(u64, usize)> = keys.iter().copied().zip(0..).collect();
            let least = numbered.windows(row).map(|keys| keys.iter().copied().min().unwrap()).enumerate();
            let mut expected: Vec<(usize, (u64, usize))> = least.collect();
            expected.dedup_by_key(|&mut (_, least)| least);
            let mut minima = Minima::new(row, (u64::MAX, usize::MAX)).unwrap();
            // Keys of an earlier text must not have any effect.
            minima.add(&keys, key, |_, _| ());
            minima.clear();
            let mut found = Vec::new();
            let (head, tail) = keys.split_at(cut.min(keys.len()));
            for keys in [head, tail] {
                minima.add(keys, key, |row, least| found.push((row, least)));
            }
            prop_assert_eq!(found, expected);
            prop_assert_eq!((minima.keys(), minima.rows()), (keys.len(), numbered.windows(row).len()));
            let few = numbered.iter().copied().min().filter(|_| keys.len() < row);
            prop_assert_eq!(minima.least_of_few(), few);
        }
    }
}
