//! What distances mean in a table: how far apart its fingerprints are, and up to which radius a search
//! finds related rows.
//!
//! A sample of the fingerprints is compared pair by pair. Nearly all of its pairs are unrelated, so this
//! shows how far apart unrelated rows are. Some fingerprints, the queries, are compared with all rows of the
//! table, which shows what a search finds. [`Calibration::next_to_judge`] names some of the pairs that they
//! find. If somebody compares the texts of these pairs, it is known how many of them are unrelated, and how
//! many a second look keeps; if not, any may be unrelated.
//!
//! Guarantee: as a rule too many unrelated rows are expected rather than too few; `unrelated.rs` says why.
//! Cost: a comparison for each pair of the sample, and for each row with each of at most [`MAX_QUERIES`]
//! queries; in a table of n rows 1 + ln n pairs to judge for each query and each of 21 distances, at most.
//! Memory: the codes of the sample, 12 bytes for each query, and 6 for each query and distance that is
//! counted.

mod advice;
mod queries;
mod unrelated;

use crate::BITS;
use crate::code::{CodeSlice, distance_of_words};
use limits::{Heartbeat, Limit, OutOfMemory, collect};
use multiversion::multiversion;
use queries::{JudgedShare, Queries};
use unrelated::{DistanceSpread, UnrelatedBounds};

pub use queries::{PairVerdict, QueryPair};

/// The size of the sample. A larger one takes minutes, and says no more.
pub const SAMPLE: Limit = Limit::new("sample", 2, 100_000);

/// Rows that are compared with all rows.
pub const MAX_QUERIES: usize = 1000;

/// Up to this distance, of fingerprints, the rows that queries find are counted, and in proportion of codes
/// of another length. Beyond it, where nobody searches, their number is taken from the sample's pairs.
const COUNTED: u64 = 20;

/// Rows between two heartbeats.
const STRIDE: u64 = 1 << 10;

/// What is known of one distance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Level {
    /// The distance in bits, from 0 to the number of bits of a code.
    pub distance: u32,
    /// Pairs of the sample that are exactly this far apart.
    pub pairs: u64,
    /// Queries whose nearest other row is exactly this far away.
    pub nearest: u64,
    /// The number of other rows that a query finds within this distance, on average.
    pub found: f64,
    /// The number of these rows that are unrelated, at most: measured if texts were compared. `None` in a
    /// table of fewer than two rows.
    pub unrelated: Option<f64>,
    /// The number of the rows found that a second look keeps, where texts were compared.
    pub kept: Option<f64>,
    /// Whether this is the radius to search with.
    pub to_search: bool,
    /// Whether this is the radius to delete with.
    pub to_delete: bool,
    /// Whether this is the radius within which a second look is worth while.
    pub to_check: bool,
    /// Why it is.
    pub reason: Option<String>,
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
    /// Begins with a random sample of the rows, of which the first [`MAX_QUERIES`] are the queries. Codes
    /// have this number of bits.
    pub fn new(sample: CodeSlice<'_>, bits: u32) -> Result<Self, OutOfMemory> {
        let words = sample.words();
        Ok(Self {
            bits,
            sample: collect(words.iter().copied(), words.len())?,
            width: sample.width(),
            queries: Queries::new(sample, farthest_counted(bits))?,
            rows: 0,
        })
    }

    /// Takes these codes as queries instead, and names pairs to judge. They must be as long as those of the
    /// sample.
    pub fn judge_pairs_of(&mut self, queries: CodeSlice<'_>) -> Result<(), OutOfMemory> {
        self.queries = Queries::new(queries, farthest_counted(self.bits))?;
        self.queries.judge_pairs()
    }

    /// Takes rows of the table. Each row must come once, the rows of the sample included. Where pairs are
    /// judged, rows come one by one.
    pub fn add(&mut self, rows: CodeSlice<'_>, heartbeat: &mut dyn Heartbeat) {
        for row in rows.iter() {
            if self.rows.is_multiple_of(STRIDE) {
                heartbeat.beat();
            }
            self.rows += 1;
            self.queries.compare(row);
        }
    }

    /// The pair of the row added last that is to be judged next.
    pub fn next_to_judge(&mut self) -> Option<QueryPair> {
        self.queries.next_to_judge()
    }

    /// Takes the judgement of a pair that was to be judged.
    pub fn judge(&mut self, pair: QueryPair, verdict: PairVerdict) {
        self.queries.judge(pair, verdict);
    }

    /// What the rows added so far say of each distance, from 0 on.
    pub fn levels(&self, heartbeat: &mut dyn Heartbeat) -> Result<Vec<Level>, OutOfMemory> {
        let pairs = self.pairs(heartbeat)?;
        let others = self.rows.saturating_sub(1) as f64;
        let all_pairs = pairs.iter().sum::<u64>().max(1) as f64;
        let unrelated = self.unrelated(&pairs, others / all_pairs)?;
        let mut levels = self.nearest_levels()?;
        let queries = self.queries.count as f64;
        let (mut found, mut pairs_within, mut unrelated_within, mut kept_within) = (0, 0, 0.0, 0.0);
        for (distance, level) in levels.iter_mut().enumerate() {
            found += self.queries.found.get(distance).copied().unwrap_or(0);
            pairs_within += pairs[distance];
            unrelated_within += unrelated[distance];
            level.distance = distance as u32;
            level.pairs = pairs[distance];
            level.found = if distance >= self.queries.found.len() {
                others * pairs_within as f64 / all_pairs
            } else {
                // Each query has found itself.
                (found as f64 - queries).max(0.0) / queries.max(1.0)
            };
            level.unrelated = (self.rows > 1).then(|| f64::min(unrelated_within, others));
            level.kept =
                self.queries.found.get(distance).and_then(|_| self.queries.share(distance)).map(|share| {
                    kept_within += share.kept / queries.max(1.0);
                    kept_within
                });
        }
        advice::give(&mut levels, &self.queries, self.rows)?;
        Ok(levels)
    }

    /// The unrelated rows at each distance, for each query.
    fn unrelated(&self, pairs: &[u64], rows_of_pair: f64) -> Result<Vec<f64>, OutOfMemory> {
        let of_query = 1.0 / self.queries.count.max(1) as f64;
        let bounds = (0..pairs.len()).map(|distance| {
            let Some(&found) = self.queries.found.get(distance) else {
                return UnrelatedBounds::of_rows(pairs[distance] as f64).times(rows_of_pair);
            };
            let own = if distance == 0 { self.queries.count as u64 } else { 0 };
            let by_codes = UnrelatedBounds::of_rows(found.saturating_sub(own) as f64);
            self.queries.share(distance).map_or(by_codes, JudgedShare::bounds).times(of_query)
        });
        DistanceSpread::of(pairs).unrelated(&collect(bounds, pairs.len())?)
    }

    /// A level for each distance, with the queries whose nearest other row is that far away.
    fn nearest_levels(&self) -> Result<Vec<Level>, OutOfMemory> {
        let distances = self.bits as usize + 1;
        let mut levels = collect((0..distances).map(|_| Level::default()), distances)?;
        for group in &self.queries.groups {
            for (&nearest, &equal) in group.nearest.iter().zip(&group.equal).take(group.count) {
                let nearest = if equal > 1 { 0 } else { nearest };
                if let Some(level) = levels.get_mut(nearest as usize) {
                    level.nearest += 1;
                }
            }
        }
        Ok(levels)
    }

    /// The number of the sample's pairs at each distance.
    fn pairs(&self, heartbeat: &mut dyn Heartbeat) -> Result<Vec<u64>, OutOfMemory> {
        let distances = self.bits as usize + 1;
        let mut pairs = collect((0..distances).map(|_| 0), distances)?;
        for (index, a) in self.sample.chunks_exact(self.width).enumerate() {
            if index % 64 == 0 {
                heartbeat.beat();
            }
            count_distances(&self.sample[(index + 1) * self.width..], a, &mut pairs);
        }
        Ok(pairs)
    }
}

/// The largest distance at which rows are counted, of codes of this number of bits.
fn farthest_counted(bits: u32) -> u32 {
    (u64::from(bits) * COUNTED / u64::from(BITS)) as u32
}

#[multiversion(targets("x86_64+popcnt"))]
fn count_distances(others: &[u64], code: &[u64], counts: &mut [u64]) {
    if let &[word] = code {
        others.iter().for_each(|other| counts[(other ^ word).count_ones() as usize] += 1);
        return;
    }
    for other in others.chunks_exact(code.len()) {
        counts[distance_of_words(other, code) as usize] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scattered(index: u64) -> u64 {
        xxhash_rust::xxh3::xxh3_64(&index.to_le_bytes())
    }

    fn sample_of(rows: &[u64], sample: usize) -> Vec<usize> {
        (0..rows.len()).step_by((rows.len() / sample) | 1).take(sample).collect()
    }

    fn calibrate(rows: &[u64], sample: usize) -> Vec<Level> {
        let sample: Vec<u64> = sample_of(rows, sample).into_iter().map(|row| rows[row]).collect();
        let mut calibration = Calibration::new(CodeSlice::fingerprints(&sample), BITS).unwrap();
        for rows in rows.chunks(777) {
            calibration.add(CodeSlice::fingerprints(rows), &mut || ());
        }
        calibration.levels(&mut || ()).unwrap()
    }

    /// A calibration where somebody says of two rows whether they are unrelated.
    fn calibrate_judged(
        rows: &[u64],
        sample: usize,
        is_unrelated: impl Fn(usize, usize) -> bool,
    ) -> Vec<Level> {
        let places = sample_of(rows, sample);
        let sample: Vec<u64> = places.iter().map(|&row| rows[row]).collect();
        let mut calibration = Calibration::new(CodeSlice::fingerprints(&sample), BITS).unwrap();
        calibration.judge_pairs_of(CodeSlice::fingerprints(&sample)).unwrap();
        for (row, code) in rows.iter().enumerate() {
            calibration.add(CodeSlice::fingerprints(std::slice::from_ref(code)), &mut || ());
            while let Some(pair) = calibration.next_to_judge() {
                let query = places[pair.query];
                assert_eq!((rows[query] ^ code).count_ones(), pair.distance);
                let is_unrelated = is_unrelated(query, row);
                calibration.judge(pair, PairVerdict { is_unrelated, is_kept: !is_unrelated });
            }
        }
        calibration.levels(&mut || ()).unwrap()
    }

    /// The radii to search and to delete with: there is one of each, and it has a reason.
    fn radii(levels: &[Level]) -> (u32, u32) {
        let one = |is_it: fn(&&Level) -> bool, name: &str| {
            let all: Vec<&Level> = levels.iter().filter(is_it).collect();
            assert!(
                all.len() == 1 && all[0].reason.as_ref().is_some_and(|reason| reason.contains(name)),
                "{all:?}"
            );
            all[0].distance
        };
        let radii = (one(|level| level.to_search, "search: "), one(|level| level.to_delete, "delete: "));
        assert!(radii.1 <= radii.0, "{radii:?}");
        let is_advised = |level: &Level| level.to_search || level.to_delete || level.to_check;
        assert!(levels.iter().all(|level| level.reason.is_none() || is_advised(level)));
        radii
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
        let right =
            |allowed| (0..64).rev().find(|&distance| 19_999.0 * binomial(distance) <= allowed).unwrap();
        let (search, delete) = radii(&levels);
        assert!((right(0.1) - 2..=right(0.1)).contains(&search), "{search} {}", right(0.1));
        assert!((right(1e-5) - 3..=right(1e-5)).contains(&delete), "{delete} {}", right(1e-5));
        assert_eq!(unrelated::scattered_radius(64, 19_999.0, 0.1), right(0.1));
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
        let (search, delete) = radii(&levels);
        assert!((10..=14).contains(&search) && (6..=search).contains(&delete), "{search} {delete}");
        assert!(levels[search as usize].found > 20.0, "{:?}", levels[search as usize]);
        assert!(levels[5].unrelated.unwrap() < 0.01, "copies do not count as unrelated: {:?}", levels[5]);
    }

    /// Of the rows, a half are of five families. Each family has a template, from which a bit differs with a
    /// chance of 1 in 2^`steps`. Of each 50 rows one has a near copy.
    fn templated(rows: u64, steps: u64) -> Vec<u64> {
        let changes = |i: u64| (0..steps).fold(u64::MAX, |changes, step| changes & scattered(i << 8 | step));
        let row = |i: u64| {
            if i.is_multiple_of(2) { scattered(i / 2 % 5) ^ changes(i) } else { scattered(i << 8 | 9) }
        };
        (0..rows).map(|i| if i % 50 == 49 { row(i - 1) ^ 1 << (i % 64) } else { row(i) }).collect()
    }

    fn is_copy(a: usize, b: usize) -> bool {
        a == b || a.max(b) % 50 == 49 && a.abs_diff(b) == 1
    }

    /// Two of a family differ in a bit with a chance of 3/8: they share a quarter of their features.
    #[test]
    fn of_templates_that_share_little_the_answer_is_cautious() {
        let rows = templated(20_000, 2);
        let places = sample_of(&rows, 1000);
        let truth = |radius: u32| {
            let near =
                |&(a, b): &(usize, usize)| (rows[a] ^ rows[b]).count_ones() <= radius && !is_copy(a, b);
            let pairs = places.iter().flat_map(|&a| (0..rows.len()).map(move |b| (a, b)));
            pairs.filter(near).count() as f64 / places.len() as f64
        };
        let by_codes = calibrate(&rows, 1000);
        let by_texts = calibrate_judged(&rows, 1000, |a, b| !is_copy(a, b));
        for levels in [&by_codes, &by_texts] {
            let (search, delete) = radii(levels);
            assert!(truth(search) <= 0.1 && truth(search + 3) > 0.1, "{search}");
            assert!(delete >= 2 && truth(delete + 1) == 0.0, "{delete}");
        }
        for radius in [8, 12, 16, 20] {
            let (truth, by_texts) = (truth(radius), by_texts[radius as usize].unrelated.unwrap());
            assert!(by_codes[radius as usize].unrelated.unwrap() >= truth);
            assert!(
                by_texts >= 0.9 * truth && by_texts <= 1.3 * truth + 0.05,
                "{radius}: {by_texts} {truth}"
            );
        }
    }

    /// Two of a family differ in 14 bits on average: they share half of their features. The codes tell that
    /// of the nearest of them; the texts of all.
    #[test]
    fn of_templates_that_share_much_the_texts_tell_more() {
        let rows = templated(20_000, 3);
        let family = |row: usize| {
            let original = if row % 50 == 49 { row - 1 } else { row };
            original.is_multiple_of(2).then_some(original / 2 % 5)
        };
        let is_family = |a: usize, b: usize| family(a).is_some() && family(a) == family(b);
        let (search, delete) = radii(&calibrate(&rows, 1000));
        let by_texts = calibrate_judged(&rows, 1000, |a, b| !is_family(a, b) && !is_copy(a, b));
        let (search_by_texts, delete_by_texts) = radii(&by_texts);
        assert!((6..=9).contains(&search) && (2..=6).contains(&delete), "{search} {delete}");
        assert!((search + 1..=14).contains(&search_by_texts), "{search_by_texts}");
        assert!((delete + 1..=11).contains(&delete_by_texts), "{delete_by_texts}");
    }

    /// Rows from a distance of 8 on are unrelated.
    #[test]
    fn what_is_judged_is_counted() {
        let rows: Vec<u64> = (0..3000).map(|i| scattered(i) >> 34).collect();
        let levels = calibrate_judged(&rows, 1000, |a, b| (rows[a] ^ rows[b]).count_ones() >= 8);
        assert!(
            levels[..8].iter().all(|level| level.unrelated.unwrap() < 0.05 + 0.1 * level.found),
            "{levels:?}"
        );
        for level in &levels[9..=20] {
            let unrelated = level.found - levels[7].found;
            assert!((level.unrelated.unwrap() / unrelated - 1.0).abs() < 0.1, "{level:?} {unrelated}");
        }
    }

    #[test]
    fn of_nothing_nothing_is_known() {
        for rows in [vec![], vec![7]] {
            let levels = calibrate(&rows, 10);
            assert_eq!(radii(&levels), (10, 3));
            assert!(levels.iter().all(|level| level.unrelated.is_none()
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
            let mut calibration = Calibration::new(CodeSlice::new(&cut, 3), BITS).unwrap();
            calibration.add(CodeSlice::new(&cut, 3), &mut || ());
            prop_assert_eq!(calibration.levels(&mut || ()).unwrap(), calibrate(&rows, rows.len().max(1)));
        }
    }
}
