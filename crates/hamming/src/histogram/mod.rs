//! What distances mean in a table: how many rows a search finds within each radius, and how many of these
//! are duplicates.
//!
//! Some codes of the table, the queries, are compared with all its rows. [`DistanceHistogram::next_to_judge`]
//! names some of the pairs, for somebody to say how alike their texts are.
//!
//! Guarantee: nothing is modelled. Rows are the mean of the queries; the texts compared are a random sample
//! of the pairs at each distance, and the upper limit is Wilson's ("Probable Inference, the Law of
//! Succession, and Statistical Inference", 1927) for as many pairs as the sample is worth (Kish, "Survey
//! Sampling", 1965). Cost: a comparison for each row with each query; of n pairs found at a distance,
//! 1000 (1 + ln n / 1000) are to be judged. Memory: the queries; 4 kB a distance, if texts are compared.

mod queries;

pub use queries::CodeQueries;

use crate::BITS;
use crate::code::CodeSlice;
use base::{Limit, OutOfMemory, collect, reserve};

/// The number of queries.
pub const SAMPLE: Limit = Limit::new("sample", 1, 10_000);

/// Pairs of texts that are compared at each distance, at most, and up to which distance of 64 bits.
const JUDGED: u64 = 1000;
const FARTHEST: u64 = 20;
/// Texts are duplicates that have this share of the weight of their features in common, and of a template if
/// they are near and have less than the other one.
const DUPLICATE: f32 = 0.65;
const TEMPLATE: f32 = 0.5;
/// The part of the duplicates that the radius to search with finds.
const FOUND: f64 = 0.95;
/// Small distances, of 64 bits, and how many rows within the last of them are a crowd.
const NEAR: u64 = 6;
const CROWD: f64 = 10.0;
/// The quantile of the normal distribution below which 95 % are.
const Z: f64 = 1.645;

/// What is known of one distance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DistanceLevel {
    /// The distance in bits, from 0 to the number of bits of a code.
    pub distance: u32,
    /// The number of other rows that a query finds within this distance, on average.
    pub rows: f64,
    /// Pairs of a query and a row that are exactly this far apart.
    pub pairs: u64,
    /// How many of these rows are duplicates.
    pub duplicates: Option<Duplicates>,
    /// Whether this is the smallest radius that finds nearly all duplicates.
    pub to_search: bool,
}

/// How many of the rows within a distance are duplicates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duplicates {
    /// As the pairs that were looked at have it.
    pub rows: f64,
    /// Their number is at most this, with a probability of 95 %.
    pub at_most: f64,
    /// Pairs of texts within this distance that were compared.
    pub compared: u64,
}

/// Compares some codes with all rows of their table.
#[derive(Clone, Debug)]
pub struct DistanceHistogram {
    queries: CodeQueries,
    /// Whether a query has met a row that equals it. The first of these counts as its own.
    has_met_itself: Vec<bool>,
    /// Pairs at each distance.
    pairs: Vec<u64>,
    judged: Option<JudgedPairs>,
}

impl DistanceHistogram {
    /// Begins with random rows of the table. Codes have this number of bits.
    pub fn new(queries: CodeSlice<'_>, bits: u32) -> Result<Self, OutOfMemory> {
        let distances = bits as usize + 1;
        Ok(Self {
            has_met_itself: collect((0..queries.len()).map(|_| false), queries.len())?,
            queries: CodeQueries::new(queries)?,
            pairs: collect((0..distances).map(|_| 0), distances)?,
            judged: None,
        })
    }

    /// From now on, names pairs of which somebody is to say how alike their texts are.
    pub fn judge_pairs(&mut self) -> Result<(), OutOfMemory> {
        let mut wanted = Vec::new();
        reserve(&mut wanted, self.queries.count())?;
        let slots = (self.within(FARTHEST) + 1) * JUDGED as usize;
        let alike = collect((0..slots).map(|_| 0.0), slots)?;
        self.judged = Some(JudgedPairs { alike, wanted, chance: 0 });
        Ok(())
    }

    /// Takes a row of the table. Each row must come once, the queries included.
    pub fn add(&mut self, row: &[u64]) {
        let Self { queries, has_met_itself, pairs, judged } = self;
        queries.near(row, pairs.len() as u32 - 1, &mut |query, distance| {
            if distance == 0 && !std::mem::replace(&mut has_met_itself[query], true) {
                return;
            }
            pairs[distance as usize] += 1;
            if let Some(judged) = judged {
                judged.choose(query, distance, pairs[distance as usize]);
            }
        });
    }

    /// The pair of a query and the row added last whose texts are to be compared next.
    pub fn next_to_judge(&mut self) -> Option<QueryPair> {
        self.judged.as_mut()?.wanted.pop()
    }

    /// Takes the share that the texts of a pair have in common.
    pub fn judge(&mut self, pair: QueryPair, alike: f64) {
        if let Some(judged) = &mut self.judged {
            judged.alike[pair.slot] = alike as f32;
        }
    }

    /// What the rows added so far say of each distance, from 0 on.
    pub fn levels(&self) -> Result<Vec<DistanceLevel>, OutOfMemory> {
        let queries = self.queries.count().max(1) as f64;
        let mut levels = collect(self.pairs.iter().map(|_| DistanceLevel::default()), self.pairs.len())?;
        let (mut within, mut duplicates, mut compared, mut variance) = (0.0, 0.0, 0, 0.0);
        for (distance, (level, &pairs)) in levels.iter_mut().zip(&self.pairs).enumerate() {
            within += pairs as f64;
            (level.distance, level.pairs, level.rows) = (distance as u32, pairs, within / queries);
            let Some(alike) = self.judged.as_ref().and_then(|judged| judged.at(distance, pairs)) else {
                continue;
            };
            if !alike.is_empty() {
                let share = share_of(alike, |alike| alike >= DUPLICATE);
                duplicates += share * pairs as f64;
                compared += alike.len() as u64;
                variance += (pairs as f64).powi(2) / alike.len() as f64;
            }
            let most = wilson(duplicates / f64::max(within, 1.0), within * within / variance) * within;
            let at_most = if compared == 0 { 0.0 } else { most / queries };
            level.duplicates = Some(Duplicates { rows: duplicates / queries, at_most, compared });
        }
        let all = levels.iter().rev().find_map(|level| level.duplicates).map_or(0.0, |all| all.rows);
        let enough = |level: &&mut DistanceLevel| {
            all > 0.0 && level.duplicates.is_some_and(|duplicates| duplicates.rows >= FOUND * all)
        };
        if let Some(level) = levels.iter_mut().find(enough) {
            level.to_search = true;
        }
        Ok(levels)
    }

    /// Whether codes differ in even numbers of bits alone: then an odd radius finds no more than the even one
    /// below it.
    pub fn is_even(&self) -> bool {
        let pairs_from = |first| self.pairs.iter().skip(first).step_by(2).sum::<u64>();
        pairs_from(1) == 0 && pairs_from(2) > self.pairs.len() as u64
    }

    /// A small distance within which a row has many others, and how many.
    pub fn crowd(&self) -> Option<(usize, f64)> {
        let (distance, queries) = (self.within(NEAR), self.queries.count().max(1) as f64);
        let rows = self.pairs[..=distance].iter().sum::<u64>() as f64 / queries;
        (rows >= CROWD).then_some((distance, rows))
    }

    /// A small distance, the pairs within it whose texts were compared, and how many of them have less than
    /// half in common.
    pub fn templates(&self) -> Option<(usize, u64, u64)> {
        let (judged, distance) = (self.judged.as_ref()?, self.within(NEAR));
        let pairs = || (0..=distance).filter_map(|near| judged.at(near, self.pairs[near])).flatten();
        let apart = pairs().filter(|&&alike| alike < TEMPLATE).count();
        Some((distance, pairs().count() as u64, apart as u64))
    }

    /// What this distance of 64 bits is of these codes.
    fn within(&self, distance: u64) -> usize {
        ((self.pairs.len() as u64 - 1) * distance / u64::from(BITS)) as usize
    }
}

fn share_of(values: &[f32], counts: impl Fn(f32) -> bool) -> f64 {
    values.iter().filter(|&&value| counts(value)).count() as f64 / values.len() as f64
}

/// The upper limit of a share that was seen in so many.
fn wilson(share: f64, count: f64) -> f64 {
    let spread = (share * (1.0 - share) / count + Z * Z / (4.0 * count * count)).sqrt();
    (share + Z * Z / (2.0 * count) + Z * spread) / (1.0 + Z * Z / count)
}

/// A query and the row that was added last, whose texts are to be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryPair {
    /// Queries are counted from 0.
    pub query: usize,
    /// Where the answer is kept.
    slot: usize,
}

/// For each distance, a random sample of the pairs that the queries have found.
#[derive(Clone, Debug)]
struct JudgedPairs {
    /// [`JUDGED`] slots for each distance: the share in common.
    alike: Vec<f32>,
    /// Pairs of the last row that are to be judged.
    wanted: Vec<QueryPair>,
    chance: u64,
}

impl JudgedPairs {
    /// The n-th pair at a distance gets a slot with a chance of JUDGED in n, and replaces the pair there: so
    /// each pair has the same chance to stay (Vitter's algorithm R).
    fn choose(&mut self, query: usize, distance: u32, number: u64) {
        let first = distance as usize * JUDGED as usize;
        if first >= self.alike.len() {
            return;
        }
        let place = if number <= JUDGED { number - 1 } else { draw(&mut self.chance, number) };
        if place < JUDGED {
            self.wanted.push(QueryPair { query, slot: first + place as usize });
        }
    }

    /// What was said of the pairs at a distance, of which there are so many; nothing beyond the last one.
    fn at(&self, distance: usize, pairs: u64) -> Option<&[f32]> {
        let first = distance * JUDGED as usize;
        self.alike.get(first..first + pairs.min(JUDGED) as usize).filter(|_| first < self.alike.len())
    }
}

/// A number below `end`, by Weyl's sequence, mixed: evenly scattered, and the same in every call.
pub fn draw(chance: &mut u64, end: u64) -> u64 {
    *chance = chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*chance ^ *chance >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    ((u128::from(mixed) * u128::from(end)) >> 64) as u64
}

#[cfg(test)]
mod tests;
