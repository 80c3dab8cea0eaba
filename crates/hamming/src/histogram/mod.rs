//! What distances mean in a table: how many rows a search finds within each radius, and how many of them are
//! duplicates.
//!
//! Some codes of the table, the queries, are compared with all rows. The texts of some pairs are compared
//! too.
//!
//! Guarantee: the number of rows is the mean over the queries. At each small distance, each query compares
//! its text with that of one row, which is a random one of the rows that it finds there; in the estimates,
//! the pair represents all of these rows. The upper limit is Wilson's ("Probable Inference, the Law of
//! Succession, and Statistical Inference", 1927) for the effective size of the sample (Kish, "Survey
//! Sampling", 1965). The suggested radius counts each query once, however many duplicates it has: a text that
//! is stored a hundred times adds a hundred rows, and not ten thousand pairs. The only model is that the
//! numbers of pairs by chance are log-concave, as if bits were random. Cost: a comparison of each row with
//! each query; for n rows that a query finds at a distance, 1 + ln n texts are compared. Memory: the queries,
//! and for each of them 8 bytes per small distance, at most 32 MB.

use crate::BITS;
use crate::code::CodeSlice;
use crate::hash::scattered;
use crate::queries::{CodeQueries, place_in_sample};
use base::{Limit, OutOfMemory, collect};
use std::iter::repeat_n;

/// The number of queries.
pub const SAMPLE: Limit = Limit::new("sample", 1, 10_000);

/// The largest small distance for 64 bits, and the most combinations of a query and a small distance that are
/// counted. With more, only the first of the queries are considered, whose order is random.
const FARTHEST: usize = 20;
const COUNTED: usize = 1 << 22;
/// Two texts are duplicates if they share at least this fraction of the weight of their features. Near texts
/// that share less than the second fraction are from a template.
const DUPLICATE: f32 = 0.65;
const TEMPLATE: f32 = 0.5;
/// The fraction of the duplicates that the suggested radius finds, if each query counts once.
const FOUND: f64 = 0.95;
/// A small distance for 64 bits.
const NEAR: usize = 6;
/// If queries find this many rows within it, there is a crowd. If more than MANY of at least ENOUGH compared
/// pairs share less than TEMPLATE, there are templates. A radius is suggested for at least ENOUGH queries
/// that find something.
const CROWD: f64 = 10.0;
const ENOUGH: usize = 20;
const MANY: f64 = 0.1;
/// So many bits farther away, random codes of 64 bits have some twenty times as many pairs.
const STEP: usize = 4;
/// The 95 % quantile of the normal distribution.
const Z: f64 = 1.645;

/// Statistics of one distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistanceLevel {
    /// The average number of other rows that a query finds within this distance.
    pub rows: f64,
    /// The number of pairs of a query and a row at exactly this distance.
    pub pairs: u64,
    /// How many of the rows are duplicates, if texts are compared.
    pub duplicates: Option<Duplicates>,
    /// Whether this is the smallest radius that finds nearly all duplicates, or what is near not by chance.
    pub to_search: bool,
}

/// The average number of duplicates among the rows within a distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duplicates {
    /// The estimate from the pairs that were compared.
    pub rows: f64,
    /// The upper limit, with a probability of 95 %.
    pub at_most: f64,
    /// The number of pairs within this distance whose texts were compared.
    pub compared: u64,
}

/// The rows that a query has found at one small distance.
#[derive(Clone, Copy, Debug, Default)]
struct RowsAtDistance {
    /// The number of these rows.
    count: u32,
    /// The share that the texts of the query and of a random one of these rows have in common.
    alike: f32,
}

impl RowsAtDistance {
    fn rows(&self) -> f64 {
        f64::from(self.count)
    }

    fn is_compared(&self) -> bool {
        self.count > 0
    }
}

/// Compares some codes with all rows of their table.
#[derive(Clone, Debug)]
pub struct DistanceHistogram {
    queries: CodeQueries,
    /// Whether a query has met an equal row. The first equal row counts as the query itself.
    has_met_itself: Vec<bool>,
    /// The number of pairs at each distance.
    pairs: Vec<u64>,
    /// For each query, what it has found at each small distance, starting at 0.
    near: Vec<RowsAtDistance>,
    has_texts: bool,
    /// A number for each query, from its code, so that the same rows give the same result in any order of
    /// the queries.
    seeds: Vec<u64>,
}

impl DistanceHistogram {
    /// Starts with random rows of the table. Their codes have this number of bits, and they may have texts.
    pub fn new(queries: CodeSlice<'_>, bits: u32, has_texts: bool) -> Result<Self, OutOfMemory> {
        let pairs = collect(repeat_n(0, bits as usize + 1), bits as usize + 1)?;
        let distances = of_bits(&pairs, FARTHEST) + 1;
        let counted = queries.len().min(COUNTED / distances) * distances;
        Ok(Self {
            has_met_itself: collect(repeat_n(false, queries.len()), queries.len())?,
            queries: CodeQueries::new(queries)?,
            pairs,
            near: collect(repeat_n(RowsAtDistance::default(), counted), counted)?,
            has_texts,
            seeds: collect(queries.iter().map(seed_of), queries.len())?,
        })
    }

    /// Adds a row of the table. Each row must be added once, including the queries. `alike` is called for
    /// some queries, and returns the share that the texts of the query and the row have in common.
    pub fn add<E>(&mut self, row: &[u64], mut alike: impl FnMut(usize) -> Result<f64, E>) -> Result<(), E> {
        let distances = self.distances();
        let Self { queries, has_met_itself, pairs, near, has_texts, seeds } = self;
        queries.near(row, pairs.len() as u32 - 1, |query, distance| {
            if distance == 0 && !std::mem::replace(&mut has_met_itself[query], true) {
                return Ok(());
            }
            let distance = distance as usize;
            pairs[distance] += 1;
            if distance >= distances {
                return Ok(());
            }
            let Some(near) = near.get_mut(query * distances + distance) else { return Ok(()) };
            near.count = near.count.saturating_add(1);
            let number = u64::from(near.count);
            let mut chance = seeds[query] ^ (distance as u64) << 32 ^ number;
            if *has_texts && place_in_sample(&mut chance, number, 1).is_some() {
                near.alike = alike(query)? as f32;
            }
            Ok(())
        })
    }

    /// The statistics of each distance, starting at 0, from the rows added so far.
    pub fn levels(&self) -> Result<Vec<DistanceLevel>, OutOfMemory> {
        let queries = self.queries.count().max(1) as f64;
        let mut within = 0;
        let level = |&pairs: &u64| {
            within += pairs;
            DistanceLevel { rows: within as f64 / queries, pairs, duplicates: None, to_search: false }
        };
        let mut levels = collect(self.pairs.iter().map(level), self.pairs.len())?;
        if self.has_texts {
            self.estimate_duplicates(&mut levels);
        }
        if let Some(radius) = self.radius_to_search()? {
            levels[radius].to_search = true;
        }
        Ok(levels)
    }

    /// Estimates how many of the rows within each small distance are duplicates, from the texts compared.
    fn estimate_duplicates(&self, levels: &mut [DistanceLevel]) {
        let queries = (self.near.len() / self.distances()).max(1) as f64;
        let mut compared = 0;
        // Sums over the pairs that were compared, of what each of them represents.
        let mut rows = 0.0f64;
        let mut duplicates = 0.0;
        let mut squares = 0.0f64;
        for (distance, level) in levels.iter_mut().enumerate().take(self.distances()) {
            for near in self.at(distance).filter(|near| near.is_compared()) {
                compared += 1;
                rows += near.rows();
                squares += near.rows().powi(2);
                duplicates += self.duplicates_in(near);
            }
            let share = wilson(duplicates / rows.max(1.0), rows.max(1.0).powi(2) / squares.max(1.0));
            level.duplicates =
                Some(Duplicates { rows: duplicates / queries, at_most: share * rows / queries, compared });
        }
    }

    /// The smallest radius with which queries find nearly all of their duplicates, or without texts nearly
    /// all that is near not by chance. Each query counts once. Equal codes are found with any radius, so they
    /// count only if few queries find anything else.
    fn radius_to_search(&self) -> Result<Option<usize>, OutOfMemory> {
        let farthest = if self.has_texts { Some(self.distances() - 1) } else { self.not_by_chance()? };
        let Some(farthest) = farthest else { return Ok(None) };
        let mut found = self.found_once(farthest)?;
        let is_enough = |found: &[f64]| found.iter().sum::<f64>() >= ENOUGH as f64;
        if is_enough(&found[1..]) {
            found[0] = 0.0;
        } else if !self.has_texts && !is_enough(&found) {
            return Ok(None);
        }
        let all: f64 = found.iter().sum();
        let mut within = 0.0;
        let finds_enough = |at: &f64| {
            within += at;
            all > 0.0 && within >= FOUND * all
        };
        Ok(found.iter().position(finds_enough))
    }

    /// For each distance up to the farthest one, the number of queries whose duplicates it contains. A query
    /// with duplicates at several distances counts as a fraction for each.
    fn found_once(&self, farthest: usize) -> Result<Vec<f64>, OutOfMemory> {
        debug_assert!(farthest < self.distances());
        let share = |distance| {
            let rows: f64 = self.at(distance).map(RowsAtDistance::rows).sum();
            self.at(distance).map(|near| self.duplicates_in(near)).sum::<f64>() / rows.max(1.0)
        };
        let shares = collect((0..=farthest).map(share), farthest + 1)?;
        let mut found = collect(repeat_n(0.0, farthest + 1), farthest + 1)?;
        for near in self.near.chunks_exact(self.distances()) {
            // The expected number, because a single pair says little about a crowd of rows.
            let duplicates: f64 = near.iter().zip(&shares).map(|(near, share)| near.rows() * share).sum();
            for (found, near) in found.iter_mut().zip(near) {
                *found += self.duplicates_in(near) / duplicates.max(1.0);
            }
        }
        Ok(found)
    }

    /// Without texts: the largest small distance at which at most half of the pairs come by chance, and
    /// within which there is no crowd.
    fn not_by_chance(&self) -> Result<Option<usize>, OutOfMemory> {
        // An even step, because all distances may be even.
        let step = of_bits(&self.pairs, STEP) & !1;
        let pairs = |distance: usize| self.pairs[distance].max(1) as f64;
        let by_chance = |at| pairs(at + step).powi(2) / pairs(at + 2 * step);
        let crowded = self.crowded()?;
        let is_near = |&at: &usize| !crowded[at] && pairs(at) > 2.0 * by_chance(at);
        Ok((0..self.distances()).rev().find(is_near))
    }

    /// For each small distance, whether half of the queries that find a row within it find a crowd.
    fn crowded(&self) -> Result<Vec<bool>, OutOfMemory> {
        let distances = self.distances();
        let mut finding = collect(repeat_n(0u32, distances), distances)?;
        let mut finding_crowds = collect(repeat_n(0u32, distances), distances)?;
        for near in self.near.chunks_exact(distances) {
            let mut within = 0.0;
            for (distance, near) in near.iter().enumerate() {
                within += near.rows();
                finding[distance] += u32::from(within > 0.0);
                finding_crowds[distance] += u32::from(within >= CROWD);
            }
        }
        let is_crowded = |(&finding, &crowds): (&u32, &u32)| finding > 0 && 2 * crowds >= finding;
        collect(finding.iter().zip(&finding_crowds).map(is_crowded), distances)
    }

    /// How many of the rows are duplicates, as the pair says that was compared; without texts all of them.
    fn duplicates_in(&self, near: &RowsAtDistance) -> f64 {
        if !self.has_texts || near.alike >= DUPLICATE { near.rows() } else { 0.0 }
    }

    /// Whether only even distances occur. Then an odd radius finds no more than the even one below it.
    pub fn is_even(&self) -> bool {
        let pairs_from = |first| self.pairs.iter().skip(first).step_by(2).sum::<u64>();
        pairs_from(1) == 0 && pairs_from(2) > self.pairs.len() as u64
    }

    /// Without texts: a small distance within which queries have many rows, and the average number of them.
    pub fn crowd(&self) -> Option<(usize, f64)> {
        let near = of_bits(&self.pairs, NEAR);
        (!self.has_texts && self.rows(near) >= CROWD).then(|| (near, self.rows(near)))
    }

    /// A small distance within which many compared texts share less than half of their weight; the number of
    /// such pairs, and the number of compared pairs.
    pub fn templates(&self) -> Option<(usize, usize, usize)> {
        if !self.has_texts {
            return None;
        }
        let near = of_bits(&self.pairs, NEAR);
        let compared = || (0..=near).flat_map(|distance| self.at(distance)).filter(|near| near.is_compared());
        let pairs = compared().count();
        let apart = compared().filter(|near| near.alike < TEMPLATE).count();
        (pairs >= ENOUGH && apart as f64 > MANY * pairs as f64).then_some((near, apart, pairs))
    }

    /// The average number of other rows that a query finds within a distance.
    fn rows(&self, distance: usize) -> f64 {
        self.pairs[..=distance].iter().sum::<u64>() as f64 / self.queries.count().max(1) as f64
    }

    /// What each query has found at a small distance.
    fn at(&self, distance: usize) -> impl Iterator<Item = &RowsAtDistance> {
        self.near.iter().skip(distance).step_by(self.distances())
    }

    /// The number of small distances, including 0.
    fn distances(&self) -> usize {
        of_bits(&self.pairs, FARTHEST) + 1
    }
}

fn seed_of(code: &[u64]) -> u64 {
    // Without the highest bit, so that it can be incremented.
    code.iter().fold(0, |hash, word| scattered(hash ^ word)) >> 1
}

/// Converts a distance of 64 bits to the same fraction of the bits of the codes that have these pairs.
fn of_bits(pairs: &[u64], distance: usize) -> usize {
    (pairs.len() - 1) * distance / BITS as usize
}

/// Wilson's upper limit of a fraction that was measured in a sample of this size.
fn wilson(fraction: f64, count: f64) -> f64 {
    let spread = (fraction * (1.0 - fraction) / count + Z * Z / (4.0 * count * count)).sqrt();
    (fraction + Z * Z / (2.0 * count) + Z * spread) / (1.0 + Z * Z / count)
}

#[cfg(test)]
mod tests;
