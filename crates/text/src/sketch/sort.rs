//! Sorts the values of sketches, most of which are evenly distributed over their range.

use base::{Heartbeat, OutOfMemory, collect};
use std::iter::repeat_n;

/// The number of values that are sorted without a heartbeat, in a tenth of a millisecond; fewer than 2^16.
const PIECE: usize = 1 << 14;
/// Up to this number of values, they are compared instead of put into buckets.
const FEW: usize = 64;
/// The number of values of a bucket that are sorted by insertion.
const OF_BUCKET: usize = 8;
/// The number of parts that many values are divided into; a power of two.
const PARTS: usize = 64;
/// How many values are moved between two heartbeats.
const STRIDE: usize = 1 << 16;

/// Sorts the values. Many values are divided into equal parts of their range, repeatedly. Since a range has
/// at most 64 bits, time is linear for any values.
pub(super) fn sort_values(values: &mut [i64], heartbeat: &mut dyn Heartbeat) {
    heartbeat.beat();
    if values.len() <= FEW {
        return values.sort_unstable();
    }
    if values.len() <= PIECE {
        // If memory for buckets is refused, sorting takes longer.
        return sort_by_buckets(values).unwrap_or_else(|_| values.sort_unstable());
    }
    let buckets = SortBuckets::of(values, PARTS);
    // Otherwise all values are equal.
    if buckets.width > 0 {
        let mut rest = values;
        for count in divide(rest, &buckets, heartbeat) {
            let (part, after) = rest.split_at_mut(count);
            sort_values(part, heartbeat);
            rest = after;
        }
    }
}

/// Drops values that equal the value before, from the place `first` on.
pub(super) fn drop_repeated(values: &mut Vec<i64>, first: usize) {
    let mut kept = first;
    for at in first..values.len() {
        if kept == first || values[at] != values[kept - 1] {
            values[kept] = values[at];
            kept += 1;
        }
    }
    values.truncate(kept);
}

/// Equal parts of the range of some values.
struct SortBuckets {
    least: i64,
    /// The difference between the greatest and the least value.
    width: u64,
    shift: u32,
}

impl SortBuckets {
    /// At most `count` parts, which must be a power of two.
    fn of(values: &[i64], count: usize) -> Self {
        let ends =
            values.iter().fold((i64::MAX, i64::MIN), |ends, &value| (ends.0.min(value), ends.1.max(value)));
        let width = ends.1.wrapping_sub(ends.0) as u64;
        let shift = (u64::BITS - width.leading_zeros()).saturating_sub(count.ilog2());
        Self { least: ends.0, width, shift }
    }

    fn number(&self, value: i64) -> usize {
        (value.wrapping_sub(self.least) as u64 >> self.shift) as usize
    }
}

/// Moves each value to its part. Returns the number of values of each part.
fn divide(values: &mut [i64], buckets: &SortBuckets, heartbeat: &mut dyn Heartbeat) -> [usize; PARTS] {
    let part_of = |value| buckets.number(value) % PARTS;
    let mut counts = [0; PARTS];
    for values in values.chunks(STRIDE) {
        heartbeat.beat();
        values.iter().for_each(|&value| counts[part_of(value)] += 1);
    }
    let mut sum = 0;
    let ends = counts.map(|count| (sum += count, sum).1);
    let mut next: [usize; PARTS] = std::array::from_fn(|part| ends[part] - counts[part]);
    let mut moved = 0;
    while next != ends {
        for part in 0..PARTS {
            // Every value is exchanged with the one at the next place of its part. These moves do not wait
            // for each other, as they would if one value after the other were followed to its place.
            for at in next[part]..ends[part] {
                let place = &mut next[part_of(values[at])];
                values.swap(at, *place);
                *place += 1;
                moved += 1;
                if moved % STRIDE == 0 {
                    heartbeat.beat();
                }
            }
        }
    }
    counts
}

/// Puts the values into at least as many buckets as there are values. Then most values are at their place,
/// and insertion sorts the few values of each bucket.
fn sort_by_buckets(values: &mut [i64]) -> Result<(), OutOfMemory> {
    let count = values.len().next_power_of_two();
    let buckets = SortBuckets::of(values, count);
    let unsorted = collect(values.iter().copied(), values.len())?;
    let mut places = collect(repeat_n(0u16, count), count)?;
    values.iter().for_each(|&value| places[buckets.number(value)] += 1);
    let mut sum = 0;
    for place in &mut places {
        (*place, sum) = (sum, sum + *place);
    }
    // Each entry is the place of the bucket's next value: first its beginning, and at the end its end.
    for &value in &unsorted {
        let place = &mut places[buckets.number(value)];
        values[usize::from(*place)] = value;
        *place += 1;
    }
    let mut start = 0;
    for end in places.into_iter().map(usize::from) {
        if end - start > OF_BUCKET {
            values[start..end].sort_unstable();
        }
        start = end;
    }
    exchange_neighbours(values);
    sort_by_insertion(values);
    Ok(())
}

/// Sorts pairs of neighbours, without branches, which would be mispredicted.
fn exchange_neighbours(values: &mut [i64]) {
    for at in 1..values.len() {
        let a = values[at - 1];
        let b = values[at];
        values[at - 1] = a.min(b);
        values[at] = a.max(b);
    }
}

/// Sorts values that are nearly sorted.
fn sort_by_insertion(values: &mut [i64]) {
    for at in 1..values.len() {
        let value = values[at];
        let mut place = at;
        while place > 0 && values[place - 1] > value {
            values[place] = values[place - 1];
            place -= 1;
        }
        values[place] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(mut values: Vec<i64>) -> u32 {
        let mut expected = values.clone();
        expected.sort_unstable();
        let mut beats = 0;
        sort_values(&mut values, &mut || beats += 1);
        assert!(values == expected);
        beats
    }

    /// Numbers that look random.
    fn random(count: usize) -> impl Iterator<Item = u64> {
        (0..count as u64).map(|number| xxhash_rust::xxh3::xxh3_64(&number.to_le_bytes()))
    }

    #[test]
    fn many_values_are_sorted_and_time_passes() {
        let count = 5 * PIECE;
        let pieces = 5;
        assert!(check(random(count).map(|value| value as i64).collect()) >= pieces);
        assert!(check((0..count as i64).rev().collect()) >= pieces);
        assert!(check(vec![-7; count]) > 0);
        // Most values are in the lowest part of the range, even if it is halved repeatedly.
        let skewed = random(count).map(|value| (value >> (value % 64)) as i64 ^ i64::MIN);
        assert!(check(skewed.collect()) >= pieces);
        assert!(
            check(random(count).map(|value| [i64::MIN, -1, 0, i64::MAX][value as usize % 4]).collect()) > 0
        );
    }

    proptest! {
        #[test]
        fn values_are_sorted(
            values in prop::collection::vec(any::<i64>(), 0..500),
            shift in 0u32..64,
            few in 1i64..40,
        ) {
            check(values.iter().map(|value| value >> shift).collect());
            check(values.iter().map(|value| value % few).collect());
            check(values);
        }
    }
}
