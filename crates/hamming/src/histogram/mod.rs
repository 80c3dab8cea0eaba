//! What distances mean in a table: how many rows a search finds within each radius, and how many of them are
//! duplicates.
//!
//! Some codes of the table, the queries, are compared with all rows. The texts of some pairs are compared
//! too.
//!
//! Guarantee: the number of rows is the mean over the queries. The texts of a random sample of pairs at each
//! distance are compared. The upper limit is Wilson's ("Probable Inference, the Law of Succession, and
//! Statistical Inference", 1927) for the effective size of the sample (Kish, "Survey Sampling", 1965). The
//! only model is that the numbers of pairs by chance are log-concave, as if bits were random. Cost: a
//! comparison of each row with each query; of n pairs at a distance, the texts of 1000 (1 + ln n / 1000) are
//! compared. Memory: the queries, and with texts 4 kB per distance.

use crate::BITS;
use crate::code::CodeSlice;
use crate::queries::{CodeQueries, place_in_sample};
use base::{Limit, OutOfMemory, collect};
use std::iter::repeat_n;

/// The number of queries.
pub const SAMPLE: Limit = Limit::new("sample", 1, 10_000);

/// The most pairs at each distance whose texts are compared, and the largest such distance for 64 bits.
const COMPARED: usize = 1000;
const FARTHEST: usize = 20;
/// Two texts are duplicates if they share at least this fraction of the weight of their features. Near texts
/// that share less than the second fraction are from a template.
const DUPLICATE: f32 = 0.65;
const TEMPLATE: f32 = 0.5;
/// The fraction of the duplicates that the suggested radius finds.
const FOUND: f64 = 0.95;
/// A small distance for 64 bits.
const NEAR: usize = 6;
/// If queries find this many rows within it on average, there is a crowd. If more than MANY of at least
/// ENOUGH compared pairs share less than TEMPLATE, there are templates.
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

/// Compares some codes with all rows of their table.
#[derive(Clone, Debug)]
pub struct DistanceHistogram {
    queries: CodeQueries,
    /// Whether a query has met an equal row. The first equal row counts as the query itself.
    has_met_itself: Vec<bool>,
    /// The number of pairs at each distance.
    pairs: Vec<u64>,
    /// For a random sample of the pairs at each small distance, the share that their texts have in common.
    /// There is room for [`COMPARED`] pairs per distance, or none without texts.
    alike: Vec<f32>,
    chance: u64,
}

impl DistanceHistogram {
    /// Starts with random rows of the table. Their codes have this number of bits, and they may have texts.
    pub fn new(queries: CodeSlice<'_>, bits: u32, has_texts: bool) -> Result<Self, OutOfMemory> {
        let pairs = collect(repeat_n(0, bits as usize + 1), bits as usize + 1)?;
        let rooms = if has_texts { (of_bits(&pairs, FARTHEST) + 1) * COMPARED } else { 0 };
        Ok(Self {
            has_met_itself: collect(repeat_n(false, queries.len()), queries.len())?,
            queries: CodeQueries::new(queries)?,
            pairs,
            alike: collect(repeat_n(0.0, rooms), rooms)?,
            chance: 0,
        })
    }

    /// Adds a row of the table. Each row must be added once, including the queries. `alike` is called for
    /// some queries, and returns the share that the texts of the query and the row have in common.
    pub fn add<E>(&mut self, row: &[u64], mut alike: impl FnMut(usize) -> Result<f64, E>) -> Result<(), E> {
        let Self { queries, has_met_itself, pairs, alike: sample, chance } = self;
        queries.near(row, pairs.len() as u32 - 1, |query, distance| {
            if distance == 0 && !std::mem::replace(&mut has_met_itself[query], true) {
                return Ok(());
            }
            let distance = distance as usize;
            pairs[distance] += 1;
            if distance * COMPARED < sample.len()
                && let Some(place) = place_in_sample(chance, pairs[distance], COMPARED)
            {
                sample[distance * COMPARED + place] = alike(query)? as f32;
            }
            Ok(())
        })
    }

    /// The statistics of each distance, starting at 0, from the rows added so far.
    pub fn levels(&self) -> Result<Vec<DistanceLevel>, OutOfMemory> {
        let queries = self.queries.count().max(1) as f64;
        let (mut within, mut found, mut compared, mut squares) = (0.0, 0.0, 0, 0.0);
        let level = |(distance, &pairs): (usize, &u64)| {
            within += pairs as f64;
            let duplicates = self.alike_at(distance).map(|alike| {
                let count = alike.len().max(1) as f64;
                let duplicates = alike.iter().filter(|&&alike| alike >= DUPLICATE).count() as f64;
                found += duplicates / count * pairs as f64;
                compared += alike.len() as u64;
                squares += (pairs as f64).powi(2) / count;
                let share = wilson(found / within.max(1.0), within.max(1.0).powi(2) / squares.max(1.0));
                Duplicates { rows: found / queries, at_most: share * within / queries, compared }
            });
            DistanceLevel { rows: within / queries, pairs, duplicates, to_search: false }
        };
        let mut levels = collect(self.pairs.iter().enumerate().map(level), self.pairs.len())?;
        let all = if self.alike.is_empty() { self.not_by_chance() } else { found / queries };
        let rows = |level: &DistanceLevel| level.duplicates.map_or(level.rows, |found| found.rows);
        if let Some(level) = levels.iter_mut().find(|level| all > 0.0 && rows(level) >= FOUND * all) {
            level.to_search = true;
        }
        Ok(levels)
    }

    /// Without texts: the average number of rows that a query finds up to the largest small distance at which
    /// at most half of the pairs come by chance, and within which there is no crowd; 0 if there are few.
    fn not_by_chance(&self) -> f64 {
        // An even step, because all distances may be even.
        let step = of_bits(&self.pairs, STEP) & !1;
        let pairs = |distance: usize| self.pairs[distance].max(1) as f64;
        let by_chance = |at| pairs(at + step).powi(2) / pairs(at + 2 * step);
        let is_near = |&at: &usize| self.rows(at) < CROWD && pairs(at) > 2.0 * by_chance(at);
        let rows = (0..=of_bits(&self.pairs, FARTHEST)).rev().find(is_near).map_or(0.0, |far| self.rows(far));
        if rows * self.queries.count() as f64 >= ENOUGH as f64 { rows } else { 0.0 }
    }

    /// Whether only even distances occur. Then an odd radius finds no more than the even one below it.
    pub fn is_even(&self) -> bool {
        let pairs_from = |first| self.pairs.iter().skip(first).step_by(2).sum::<u64>();
        pairs_from(1) == 0 && pairs_from(2) > self.pairs.len() as u64
    }

    /// Without texts: a small distance within which queries have many rows, and the average number of them.
    pub fn crowd(&self) -> Option<(usize, f64)> {
        let near = of_bits(&self.pairs, NEAR);
        (self.alike.is_empty() && self.rows(near) >= CROWD).then(|| (near, self.rows(near)))
    }

    /// A small distance within which many compared texts share less than half of their weight; the number of
    /// such pairs, and the number of compared pairs.
    pub fn templates(&self) -> Option<(usize, usize, usize)> {
        let near = of_bits(&self.pairs, NEAR);
        let alike = || (0..=near).filter_map(|distance| self.alike_at(distance)).flatten();
        let (apart, pairs) = (alike().filter(|&&alike| alike < TEMPLATE).count(), alike().count());
        (pairs >= ENOUGH && apart as f64 > MANY * pairs as f64).then_some((near, apart, pairs))
    }

    /// The average number of other rows that a query finds within a distance.
    fn rows(&self, distance: usize) -> f64 {
        self.pairs[..=distance].iter().sum::<u64>() as f64 / self.queries.count().max(1) as f64
    }

    /// The shares of the compared texts at a distance; `None` for larger distances.
    fn alike_at(&self, distance: usize) -> Option<&[f32]> {
        let alike = self.alike.chunks_exact(COMPARED).nth(distance)?;
        Some(&alike[..self.pairs[distance].min(COMPARED as u64) as usize])
    }
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
