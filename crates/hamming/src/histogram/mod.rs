//! What distances mean in a table: how many rows a search finds within each radius, and how many of them are
//! duplicates.
//!
//! Some codes of the table, the queries, are compared with all rows. The texts of some pairs are compared
//! too.
//!
//! Guarantee: there is no model. The number of rows is the mean over the queries. The texts of a random
//! sample of pairs at each distance are compared. The upper limit is Wilson's ("Probable Inference, the Law
//! of Succession, and Statistical Inference", 1927) for the effective size of the sample (Kish, "Survey
//! Sampling", 1965). Cost: a comparison of each row with each query; of n pairs at a distance, the texts of
//! 1000 (1 + ln n / 1000) are compared. Memory: the queries, and with texts 4 kB per distance.

use crate::BITS;
use crate::code::CodeSlice;
use crate::queries::{CodeQueries, place_in_sample};
use base::{Limit, OutOfMemory, collect, reserve};
use std::iter::repeat_n;

/// The number of queries.
pub const SAMPLE: Limit = Limit::new("sample", 1, 10_000);

/// The most pairs at each distance whose texts are compared, and the largest such distance for 64 bits.
const COMPARED: usize = 1000;
const FARTHEST: u64 = 20;
/// Two texts are duplicates if they share at least this fraction of the weight of their features. Near texts
/// that share less than the second fraction are from a template.
const DUPLICATE: f32 = 0.65;
const TEMPLATE: f32 = 0.5;
/// The fraction of the duplicates that the suggested radius finds.
const FOUND: f64 = 0.95;
/// A small distance for 64 bits.
const NEAR: u64 = 6;
/// If queries find this many rows within it on average, there is a crowd. If more than MANY of at least
/// ENOUGH compared pairs share less than TEMPLATE, there are templates.
const CROWD: f64 = 10.0;
const ENOUGH: usize = 20;
const MANY: f64 = 0.1;
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
    /// Whether this is the smallest radius that finds nearly all duplicates.
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
        let rooms = if has_texts { (of_bits(bits, FARTHEST) + 1) * COMPARED } else { 0 };
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
        let mut levels = Vec::new();
        reserve(&mut levels, self.pairs.len())?;
        let (mut within, mut found, mut compared, mut squares) = (0.0, 0.0, 0, 0.0);
        for (distance, &pairs) in self.pairs.iter().enumerate() {
            within += pairs as f64;
            let duplicates = self.alike_at(distance).map(|alike| {
                if !alike.is_empty() {
                    let count = alike.len() as f64;
                    let duplicates = alike.iter().filter(|&&alike| alike >= DUPLICATE).count() as f64;
                    found += duplicates / count * pairs as f64;
                    compared += alike.len() as u64;
                    squares += (pairs as f64).powi(2) / count;
                }
                let share =
                    if compared == 0 { 0.0 } else { wilson(found / within, within * within / squares) };
                Duplicates { rows: found / queries, at_most: share * within / queries, compared }
            });
            levels.push(DistanceLevel { rows: within / queries, pairs, duplicates, to_search: false });
        }
        let enough = FOUND * found / queries;
        let finds = |level: &&mut DistanceLevel| level.duplicates.is_some_and(|found| found.rows >= enough);
        if let Some(level) = levels.iter_mut().find(finds).filter(|_| found > 0.0) {
            level.to_search = true;
        }
        Ok(levels)
    }

    /// Whether only even distances occur. Then an odd radius finds no more than the even one below it.
    pub fn is_even(&self) -> bool {
        let pairs_from = |first| self.pairs.iter().skip(first).step_by(2).sum::<u64>();
        pairs_from(1) == 0 && pairs_from(2) > self.pairs.len() as u64
    }

    /// Without texts: a small distance within which queries have many rows, and the average number of them.
    pub fn crowd(&self) -> Option<(usize, f64)> {
        let pairs = self.pairs[..=self.near()].iter().sum::<u64>();
        let rows = pairs as f64 / self.queries.count().max(1) as f64;
        (self.alike.is_empty() && rows >= CROWD).then_some((self.near(), rows))
    }

    /// A small distance within which many compared texts share less than half of their weight; the number of
    /// such pairs, and the number of compared pairs.
    pub fn templates(&self) -> Option<(usize, usize, usize)> {
        let alike = || (0..=self.near()).filter_map(|distance| self.alike_at(distance)).flatten();
        let (apart, pairs) = (alike().filter(|&&alike| alike < TEMPLATE).count(), alike().count());
        (pairs >= ENOUGH && apart as f64 > MANY * pairs as f64).then_some((self.near(), apart, pairs))
    }

    fn near(&self) -> usize {
        of_bits(self.pairs.len() as u32 - 1, NEAR)
    }

    /// The shares of the compared texts at a distance; `None` for larger distances.
    fn alike_at(&self, distance: usize) -> Option<&[f32]> {
        let alike = self.alike.chunks_exact(COMPARED).nth(distance)?;
        Some(&alike[..self.pairs[distance].min(COMPARED as u64) as usize])
    }
}

/// Converts a distance of 64 bits to the same fraction of this number of bits.
fn of_bits(bits: u32, distance: u64) -> usize {
    (u64::from(bits) * distance / u64::from(BITS)) as usize
}

/// Wilson's upper limit of a fraction that was measured in a sample of this size.
fn wilson(fraction: f64, count: f64) -> f64 {
    let spread = (fraction * (1.0 - fraction) / count + Z * Z / (4.0 * count * count)).sqrt();
    (fraction + Z * Z / (2.0 * count) + Z * spread) / (1.0 + Z * Z / count)
}

#[cfg(test)]
mod tests;
