//! Sorts the values of sketches, most of which are spread evenly over their range.

use limits::Heartbeat;

/// Values that are sorted without a heartbeat, which takes a tenth of a millisecond; fewer than 2^16.
const PIECE: usize = 1 << 14;
/// Values that are compared rather than put into buckets.
const FEW: usize = 64;
/// Values that are moved between two heartbeats.
const STRIDE: usize = 1 << 16;

/// Sorts the values. Many values are divided at the middle of their range, again and again: as a range has
/// at most 64 bits, time is linear whatever the values.
pub(super) fn sort_values(values: &mut [i64], heartbeat: &mut dyn Heartbeat) {
    heartbeat.beat();
    if values.len() <= FEW {
        return values.sort_unstable();
    }
    let Range { least, width } = Range::of(values);
    if values.len() <= PIECE {
        return sort_by_buckets(values, least, width);
    }
    if width > 0 {
        let (lower, upper) = divide(values, least.wrapping_add((width >> 1) as i64), heartbeat);
        sort_values(lower, heartbeat);
        sort_values(upper, heartbeat);
    }
}

/// Where values lie.
struct Range {
    least: i64,
    /// The difference of the greatest value and the least.
    width: u64,
}

impl Range {
    fn of(values: &[i64]) -> Self {
        let ends =
            values.iter().fold((i64::MAX, i64::MIN), |ends, &value| (ends.0.min(value), ends.1.max(value)));
        Self { least: ends.0, width: ends.1.wrapping_sub(ends.0) as u64 }
    }
}

/// Moves the values that are at most `middle` before the others.
fn divide<'a>(
    values: &'a mut [i64],
    middle: i64,
    heartbeat: &mut dyn Heartbeat,
) -> (&'a mut [i64], &'a mut [i64]) {
    let mut lower = 0;
    for start in (0..values.len()).step_by(STRIDE) {
        heartbeat.beat();
        for at in start..values.len().min(start + STRIDE) {
            // A swap without a branch, which would be mispredicted every other time.
            let is_lower = values[at] <= middle;
            values.swap(at, lower);
            lower += usize::from(is_lower);
        }
    }
    values.split_at_mut(lower)
}

/// Puts the values into half as many buckets, each a part of the range, and sorts every bucket.
fn sort_by_buckets(values: &mut [i64], least: i64, width: u64) {
    let bits = (values.len() / 2).ilog2();
    let shift = (u64::BITS - width.leading_zeros()).saturating_sub(bits);
    let bucket = |value: i64| (value.wrapping_sub(least) as u64 >> shift) as usize;
    let mut places = vec![0u16; 1 << bits];
    values.iter().for_each(|&value| places[bucket(value)] += 1);
    let mut sum = 0;
    for place in &mut places {
        (*place, sum) = (sum, sum + *place);
    }
    // Each bucket holds the place of its next value: first its beginning, in the end its end.
    for &value in &values.to_vec() {
        let place = &mut places[bucket(value)];
        values[usize::from(*place)] = value;
        *place += 1;
    }
    let mut start = 0;
    for end in places.into_iter().map(usize::from) {
        if end - start > 1 {
            values[start..end].sort_unstable();
        }
        start = end;
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
        // Most values are in the lowest part of the range, however often this is halved.
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
