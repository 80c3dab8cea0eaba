//! What distances mean in a table: how far apart its fingerprints are, and up to which radius a search
//! finds related rows.
//!
//! A sample of the fingerprints is compared pair by pair. Nearly all of its pairs are unrelated, so this
//! shows how far apart unrelated rows are. Some fingerprints of the sample, the queries, are compared with
//! all rows of the table, which shows what a search finds. The expected number of unrelated rows within a
//! radius is the number of rows times the share of unrelated pairs within it.
//!
//! The share of unrelated pairs is counted at the distances that have enough pairs. Equal pairs apart, the
//! number of pairs has a peak and falls off below it. The count is trusted down to the distance where pairs
//! become too few, or more again, which is the work of related pairs. From there down the share is taken to
//! fall as it did in the last steps before.
//!
//! Guarantee: as a rule too many unrelated rows are expected rather than too few. Distances of unrelated
//! fingerprints fall off ever faster (log-concave, as in a binomial distribution), and related pairs are
//! among the pairs that are counted. Cost: a comparison for each pair of the sample, and for each row with
//! each of at most [`MAX_QUERIES`] queries. Memory: twice that of the codes of the sample, and 12 bytes for
//! each query.

use crate::distance::BITS;
use crate::kernel::{GROUP, for_processors};
use crate::words::{Codes, distance};
use limits::{Heartbeat, Limit};
use multiversion::multiversion;
use std::ops::RangeInclusive;

/// The size of the sample. A larger one takes minutes, and says no more.
pub const SAMPLE: Limit = Limit::new("sample", 2, 100_000);

/// Fingerprints of the sample that are compared with all rows.
pub const MAX_QUERIES: usize = 1000;

/// Up to this distance, of fingerprints, the rows that queries find are counted, and in proportion of codes of
/// another length. Beyond it, where nobody searches, their number is taken from the sample's pairs.
const COUNTED: u64 = 20;

/// The number of pairs that is enough to tell the share of a distance is a thousandth of all pairs, but
/// lies within this range.
const ENOUGH_PAIRS: RangeInclusive<u64> = 50..=500;

/// A radius is recommended while the unrelated rows that a search is expected to find are at most this
/// share of the searches that find anything.
const UNRELATED_SHARE: f64 = 0.1;
/// Expected unrelated rows of a search that do not speak against a radius.
const UNRELATED_ROWS: f64 = 0.01;

/// The number of distances over which the fall of the shares is measured.
const STEPS: usize = 3;

/// Rows between two heartbeats.
const STRIDE: u64 = 1 << 10;

/// What is known of one distance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Level {
    /// The distance in bits, from 0 to the number of bits of a code.
    pub distance: u32,
    /// Pairs of the sample that are exactly this far apart.
    pub pairs: u64,
    /// Queries whose nearest other row is exactly this far away.
    pub nearest: u64,
    /// The number of other rows that a query finds within this distance, on average.
    pub found: f64,
    /// The number of these rows that are expected to be unrelated, if the sample is large enough to tell.
    pub unrelated: Option<f64>,
    /// Whether this is the radius to search with.
    pub recommended: bool,
}

/// Compares a sample with all rows of the table that it is from.
#[derive(Clone, Debug)]
pub struct Calibration {
    bits: u32,
    sample: Vec<u64>,
    /// Words of a code.
    width: usize,
    queries: Queries,
    /// Rows of the table that have been added.
    rows: u64,
}

impl Calibration {
    /// Begins with a random sample of the rows, of which the first [`MAX_QUERIES`] are the queries. Codes have
    /// this number of bits.
    pub fn new(sample: Codes<'_>, bits: u32) -> Self {
        let words = sample.iter().flatten().copied().collect();
        Self { bits, sample: words, width: sample.width(), queries: Queries::new(sample, bits), rows: 0 }
    }

    /// Takes rows of the table. Each row must come once, the rows of the sample included.
    pub fn add(&mut self, rows: Codes<'_>, heartbeat: &mut dyn Heartbeat) {
        for row in rows.iter() {
            if self.rows.is_multiple_of(STRIDE) {
                heartbeat.beat();
            }
            self.rows += 1;
            self.queries.groups.iter_mut().for_each(|group| group.compare(row, &mut self.queries.found));
        }
    }

    /// What the rows added so far say of each distance, from 0 on.
    pub fn levels(&self, heartbeat: &mut dyn Heartbeat) -> Vec<Level> {
        let pairs = self.pairs(heartbeat);
        let all_pairs: u64 = pairs.iter().sum();
        let unrelated = unrelated(&pairs);
        let queries = self.queries.count as f64;
        let others = self.rows.saturating_sub(1) as f64;
        let mut levels = self.nearest_levels();
        let mut recommended = None;
        let (mut found, mut pairs_within, mut unrelated_within, mut finding) = (0, 0, 0.0, 0);
        for (distance, level) in levels.iter_mut().enumerate() {
            found += self.queries.found.get(distance).copied().unwrap_or(0);
            pairs_within += pairs[distance];
            finding += level.nearest;
            level.distance = distance as u32;
            level.pairs = pairs[distance];
            level.found = if distance >= self.queries.found.len() {
                others * pairs_within as f64 / all_pairs.max(1) as f64
            } else {
                // Each query has found itself.
                (found as f64 - queries).max(0.0) / queries.max(1.0)
            };
            let Some(unrelated) = &unrelated else { continue };
            unrelated_within += unrelated[distance];
            let unrelated = others * f64::min(unrelated_within, 1.0);
            level.unrelated = Some(unrelated);
            let is_good = unrelated <= (UNRELATED_SHARE * finding as f64 / queries).max(UNRELATED_ROWS);
            if is_good && distance < self.queries.found.len() {
                recommended = Some(distance);
            }
        }
        if let Some(distance) = recommended {
            levels[distance].recommended = true;
        }
        levels
    }

    /// A level for each distance, with the queries whose nearest other row is that far away.
    fn nearest_levels(&self) -> Vec<Level> {
        let mut levels = vec![Level::default(); self.bits as usize + 1];
        for group in &self.queries.groups {
            for (&nearest, &equal) in group.nearest.iter().zip(&group.equal).take(group.count) {
                let nearest = if equal > 1 { 0 } else { nearest };
                if let Some(level) = levels.get_mut(nearest as usize) {
                    level.nearest += 1;
                }
            }
        }
        levels
    }

    /// The number of the sample's pairs at each distance.
    fn pairs(&self, heartbeat: &mut dyn Heartbeat) -> Vec<u64> {
        let mut pairs = vec![0; self.bits as usize + 1];
        for (index, a) in self.sample.chunks_exact(self.width).enumerate() {
            if index % 64 == 0 {
                heartbeat.beat();
            }
            count_distances(&self.sample[(index + 1) * self.width..], a, &mut pairs);
        }
        pairs
    }
}

#[multiversion(targets("x86_64+popcnt"))]
fn count_distances(others: &[u64], code: &[u64], counts: &mut [u64]) {
    if let &[word] = code {
        others.iter().for_each(|other| counts[(other ^ word).count_ones() as usize] += 1);
        return;
    }
    for other in others.chunks_exact(code.len()) {
        counts[distance(other, code) as usize] += 1;
    }
}

/// The queries, and what the rows say of them.
#[derive(Clone, Debug)]
struct Queries {
    groups: Vec<Group>,
    count: usize,
    /// Up to the largest distance that is counted, the rows at each distance from the queries, all queries
    /// together.
    found: Vec<u64>,
}

impl Queries {
    fn new(sample: Codes<'_>, bits: u32) -> Self {
        let count = sample.len().min(MAX_QUERIES);
        let farthest_counted = u64::from(bits) * COUNTED / u64::from(BITS);
        let groups = (0..count).step_by(GROUP).map(|first| {
            let codes = (first..count.min(first + GROUP)).map(|place| sample.get(place as u32));
            Group::of(codes, sample.width(), farthest_counted as u32)
        });
        Self { groups: groups.collect(), count, found: vec![0; farthest_counted as usize + 1] }
    }
}

/// Queries that are compared with a row together.
#[derive(Clone, Debug)]
struct Group {
    count: usize,
    /// The first word of each query, then the second of each, and so on.
    words: Vec<[u64; GROUP]>,
    /// For each query the distance of its nearest row, apart from equal ones.
    nearest: [u32; GROUP],
    /// For each query the number of rows that are equal to it, its own among them.
    equal: [u64; GROUP],
    /// A row this far from all queries of the group, or farther, is not looked at: it is too far to be counted,
    /// and each query has a nearer one.
    farthest: u64,
    farthest_counted: u32,
}

impl Group {
    fn of<'a>(codes: impl ExactSizeIterator<Item = &'a [u64]>, width: usize, farthest_counted: u32) -> Self {
        let count = codes.len();
        let mut words = vec![[0; GROUP]; width];
        for (query, code) in codes.enumerate() {
            words.iter_mut().zip(code).for_each(|(words, &word)| words[query] = word);
        }
        let nearest = [u32::MAX; GROUP];
        Self { count, words, nearest, equal: [0; GROUP], farthest: u64::MAX, farthest_counted }
    }

    fn compare(&mut self, row: &[u64], found: &mut [u64]) {
        let Some(distances) = distances_within(&self.words, row, self.farthest) else { return };
        let distances = distances.iter().enumerate().take(self.count);
        for (query, &distance) in distances.filter(|(_, distance)| **distance < self.farthest) {
            let distance = distance as u32;
            if distance == 0 {
                self.equal[query] += 1;
            } else {
                self.nearest[query] = distance.min(self.nearest[query]);
            }
            if distance <= self.farthest_counted {
                found[distance as usize] += 1;
            }
        }
        let nearest = self.nearest[..self.count].iter().copied().max().unwrap_or(0);
        self.farthest = nearest.max(self.farthest_counted + 1).into();
    }
}

for_processors! {
    /// The distances of a row from a group of queries, if one of them is below `farthest`, which is rare.
    fn distances_within(queries: &[[u64; GROUP]], row: &[u64], farthest: u64) -> Option<[u64; GROUP]> {
        let distance = |query: u64, word: u64| u64::from((query ^ word).count_ones());
        if let ([queries], &[word]) = (queries, row) {
            let is_near = queries.iter().fold(false, |any, &query| any | (distance(query, word) < farthest));
            return is_near.then(|| queries.map(|query| distance(query, word)));
        }
        let mut distances = [0; GROUP];
        for (queries, &word) in queries.iter().zip(row) {
            distances.iter_mut().zip(queries).for_each(|(sum, &query)| *sum += distance(query, word));
        }
        distances.iter().fold(false, |any, &distance| any | (distance < farthest)).then_some(distances)
    }
}

/// The share of all pairs that are unrelated and at each distance, estimated as the module tells; `None` if
/// there are too few pairs to tell.
fn unrelated(pairs: &[u64]) -> Option<Vec<f64>> {
    let all = pairs.iter().sum::<u64>();
    let enough = (all / 1000).clamp(*ENOUGH_PAIRS.start(), *ENOUGH_PAIRS.end());
    // Distance 0 may have more pairs than any other, and these are related.
    let peak =
        (1..pairs.len()).max_by_key(|&distance| pairs[distance]).filter(|&peak| pairs[peak] >= enough)?;
    let mut shares: Vec<f64> = pairs.iter().map(|&pairs| pairs as f64 / all as f64).collect();
    // A count that only chance makes larger than the one above stays within three standard deviations of
    // it.
    let becomes_more = |distance: usize| {
        pairs[distance] as f64 > pairs[distance + 1] as f64 + 3.0 * (pairs[distance] as f64).sqrt()
    };
    let uncounted =
        (0..peak).rev().find(|&distance| distance == 0 || pairs[distance] < enough || becomes_more(distance));
    if let Some(uncounted) = uncounted {
        let last = uncounted + 1;
        let above = (last + STEPS).min(peak);
        let step =
            if above > last { (shares[above] / shares[last]).powf(1.0 / (above - last) as f64) } else { 1.0 };
        for distance in (0..=uncounted).rev() {
            shares[distance] = shares[distance + 1] / step.max(1.0);
        }
    }
    Some(shares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scattered(index: u64) -> u64 {
        xxhash_rust::xxh3::xxh3_64(&index.to_le_bytes())
    }

    fn calibrate(rows: &[u64], sample: usize) -> Vec<Level> {
        let sample: Vec<u64> = rows.iter().copied().step_by((rows.len() / sample) | 1).take(sample).collect();
        let mut calibration = Calibration::new(Codes::fingerprints(&sample), BITS);
        for rows in rows.chunks(777) {
            calibration.add(Codes::fingerprints(rows), &mut || ());
        }
        calibration.levels(&mut || ())
    }

    /// The chance that two scattered fingerprints are within a distance.
    fn binomial(distance: u32) -> f64 {
        let ways = |k: u32| (0..k).map(|i| f64::from(64 - i) / f64::from(i + 1)).product::<f64>();
        (0..=distance).map(ways).sum::<f64>() / 2f64.powi(64)
    }

    #[test]
    fn of_scattered_rows_all_are_unrelated() {
        let rows: Vec<u64> = (0..20_000).map(scattered).collect();
        let levels = calibrate(&rows, 3000);
        for (distance, level) in levels.iter().enumerate() {
            assert_eq!(level.distance as usize, distance);
            let expected = 19_999.0 * binomial(level.distance);
            let unrelated = level.unrelated.unwrap();
            assert!(unrelated >= 0.8 * expected, "{level:?} {expected}");
            if expected > 20.0 {
                assert!((level.found / expected - 1.0).abs() < 0.2, "{level:?} {expected}");
                assert!((unrelated / expected - 1.0).abs() < 0.2, "{level:?} {expected}");
            }
        }
        let recommended: Vec<u32> =
            levels.iter().filter(|level| level.recommended).map(|level| level.distance).collect();
        let right = (0..64).rev().find(|&distance| 19_999.0 * binomial(distance) <= UNRELATED_ROWS).unwrap();
        assert!(
            recommended.len() == 1 && (right - 2..=right).contains(&recommended[0]),
            "{recommended:?} {right}"
        );
    }

    /// Half of the rows have copies that differ in up to five bits.
    #[test]
    fn copies_are_told_from_unrelated_rows() {
        let change =
            |index: u64| (0..index % 6).fold(0u64, |change, i| change | 1 << (scattered(index * 8 + i) % 64));
        let rows: Vec<u64> = (0..30_000)
            .map(|i| if i % 3 == 0 { scattered(i) } else { scattered(i % 250) ^ change(i) })
            .collect();
        let levels = calibrate(&rows, 3000);
        let recommended = levels.iter().find(|level| level.recommended).unwrap();
        assert!((9..=16).contains(&recommended.distance), "{recommended:?}");
        assert!(recommended.found > 20.0, "{recommended:?}");
        assert!(levels[5].unrelated.unwrap() < 0.01, "copies do not count as unrelated: {:?}", levels[5]);
        let unrelated_at_20 = 14_999.0 * binomial(20);
        assert!(
            (0.5..3.0).contains(&(levels[20].unrelated.unwrap() / unrelated_at_20)),
            "{:?} {unrelated_at_20}",
            levels[20]
        );
    }

    #[test]
    fn of_nothing_nothing_is_known() {
        for rows in [vec![], vec![7]] {
            let levels = calibrate(&rows, 10);
            assert!(levels.iter().all(|level| !level.recommended
                && level.pairs == 0
                && level.nearest == 0
                && level.found == 0.0));
        }
    }

    proptest! {
        #[test]
        fn counts_are_those_of_plain_loops(
            values in prop::collection::vec((any::<u64>(), 0u32..4), 2..200),
            few in 0u32..60,
        ) {
            let row = |&(value, copies): &(u64, u32)| if copies == 0 { 5 } else { value >> few };
            let rows: Vec<u64> = values.iter().map(row).collect();
            let levels = calibrate(&rows, rows.len());
            let distance = &|a: usize, b: usize| (rows[a] ^ rows[b]).count_ones();
            for level in &levels {
                let all = || 0..rows.len();
                let pairs = all().flat_map(|a| (0..a).map(move |b| (a, b)));
                let pairs = pairs.filter(|&(a, b)| distance(a, b) == level.distance).count();
                prop_assert_eq!(level.pairs, pairs as u64);
                let to_others = |a: usize| all().filter(move |&b| b != a).map(move |b| distance(a, b));
                let nearest = all().filter(|&a| to_others(a).min() == Some(level.distance)).count();
                prop_assert_eq!(level.nearest, nearest as u64);
                let found = |a: usize| to_others(a).filter(|&distance| distance <= level.distance).count();
                let mean = all().map(found).sum::<usize>() as f64 / rows.len() as f64;
                prop_assert!((level.found - mean).abs() < 1e-9, "{:?} {}", level, mean);
                let possible = 0.0..=(rows.len() - 1) as f64;
                prop_assert!(level.unrelated.is_none_or(|unrelated| possible.contains(&unrelated)));
            }
        }

        /// A code of several words that has the bits of a fingerprint gives the same counts.
        #[test]
        fn counts_do_not_depend_on_the_words(values in prop::collection::vec(any::<u64>(), 0..300), few in 0u32..60) {
            let rows: Vec<u64> = values.iter().map(|value| value >> few).collect();
            let cut: Vec<u64> = rows.iter().flat_map(|row| [row & 0xff, row >> 8 & 0xffff, row >> 24]).collect();
            let mut calibration = Calibration::new(Codes::new(&cut, 3), BITS);
            calibration.add(Codes::new(&cut, 3), &mut || ());
            prop_assert_eq!(calibration.levels(&mut || ()), calibrate(&rows, rows.len().max(1)));
        }
    }
}
