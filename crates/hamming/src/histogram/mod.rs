//! What distances mean in a table: how far apart its codes are, how many rows a search finds within each
//! radius, and how many of these have texts alike.
//!
//! A sample of the codes is compared pair by pair. Some codes, the queries, are compared with all rows of the
//! table. [`DistanceHistogram::next_to_judge`] names some of the pairs that they find, for somebody to
//! compare their texts.
//!
//! Guarantee: nothing is modelled. Pairs are counted in the sample; rows are the mean of the queries, up to
//! 20 of 64 bits; the texts compared are a random sample of the pairs at each distance.
//! Cost: a comparison for each pair of the sample, and for each row with each of at most [`MAX_QUERIES`]
//! queries; of n pairs found at a distance, 1000 (1 + ln n / 1000) are to be judged.
//! Memory: the codes of the sample; 1 kB for each of these distances, if texts are compared.

mod queries;

use crate::BITS;
use crate::code::{CodeSlice, distance_of_words};
use limits::{Heartbeat, Limit, OutOfMemory, collect};
use multiversion::multiversion;
use queries::HistogramQueries;

pub use queries::QueryPair;

/// The size of the sample. A larger one takes minutes, and says no more.
pub const SAMPLE: Limit = Limit::new("sample", 2, 100_000);

/// Rows that are compared with all rows.
pub const MAX_QUERIES: usize = 1000;

/// Up to this distance, of fingerprints, the rows that queries find are counted, and in proportion of codes
/// of another length. Beyond it, where nobody searches, their number is taken from the sample's pairs.
const COUNTED: u64 = 20;

/// The part of the rows with texts alike that the radius to search with finds.
const FOUND: f64 = 0.95;

/// So many rows within [`NEAR`] bits of a row, of fingerprints, need a word of explanation.
const CROWD: f64 = 10.0;
const NEAR: u64 = 10;

/// Rows between two heartbeats.
const STRIDE: u64 = 1 << 10;

/// What is known of one distance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DistanceLevel {
    /// The distance in bits, from 0 to the number of bits of a code.
    pub distance: u32,
    /// Pairs of the sample that are exactly this far apart.
    pub pairs: u64,
    /// The number of other rows that a query finds within this distance, on average.
    pub rows: f64,
    /// How many of these rows have texts alike, where texts were compared.
    pub alike: Option<f64>,
    /// The number of pairs of texts within this distance that were compared.
    pub compared: Option<u64>,
    /// Whether this is the smallest radius that finds nearly all rows with texts alike.
    pub to_search: bool,
    /// What was seen at this distance.
    pub reason: Option<String>,
}

/// Compares a sample with all rows of the table that it is from.
#[derive(Clone, Debug)]
pub struct DistanceHistogram {
    bits: u32,
    sample: Vec<u64>,
    /// Words of a code.
    width: usize,
    queries: HistogramQueries,
    /// Rows of the table that have been added.
    rows: u64,
}

impl DistanceHistogram {
    /// Begins with a random sample of the rows, of which the first [`MAX_QUERIES`] are the queries. Codes
    /// have this number of bits.
    pub fn new(sample: CodeSlice<'_>, bits: u32) -> Result<Self, OutOfMemory> {
        let words = sample.words();
        Ok(Self {
            bits,
            sample: collect(words.iter().copied(), words.len())?,
            width: sample.width(),
            queries: HistogramQueries::new(sample, in_proportion(COUNTED, bits))?,
            rows: 0,
        })
    }

    /// Takes these codes as queries instead, and names pairs to judge. They must be as long as those of the
    /// sample.
    pub fn judge_pairs_of(&mut self, queries: CodeSlice<'_>) -> Result<(), OutOfMemory> {
        self.queries = HistogramQueries::new(queries, in_proportion(COUNTED, self.bits))?;
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

    /// The pair of the row added last whose texts are to be compared next.
    pub fn next_to_judge(&mut self) -> Option<QueryPair> {
        self.queries.next_to_judge()
    }

    /// Takes the judgement of a pair that was to be judged.
    pub fn judge(&mut self, pair: QueryPair, is_alike: bool) {
        self.queries.judge(pair, is_alike);
    }

    /// What the rows added so far say of each distance, from 0 on.
    pub fn levels(&self, heartbeat: &mut dyn Heartbeat) -> Result<Vec<DistanceLevel>, OutOfMemory> {
        let pairs = self.pairs(heartbeat)?;
        let all_pairs = pairs.iter().sum::<u64>().max(1) as f64;
        let others = self.rows.saturating_sub(1) as f64;
        let queries = self.queries.count.max(1) as f64;
        let mut levels = collect(pairs.iter().map(|_| DistanceLevel::default()), pairs.len())?;
        let (mut rows, mut found, mut pairs_within, mut alike_within, mut compared_within) =
            (0.0, 0, 0, 0.0, 0);
        for (distance, (level, &pairs)) in levels.iter_mut().zip(&pairs).enumerate() {
            level.distance = distance as u32;
            level.pairs = pairs;
            pairs_within += pairs;
            // The sample may have fewer than the queries have found already.
            rows = f64::max(rows, others * pairs_within as f64 / all_pairs);
            if let Some(found_here) = self.queries.found.get(distance) {
                found += found_here;
                rows = found as f64 / queries;
                if let Some((alike, compared)) = self.queries.alike(distance) {
                    (alike_within, compared_within) = (alike_within + alike, compared_within + compared);
                    (level.alike, level.compared) = (Some(alike_within / queries), Some(compared_within));
                }
            }
            level.rows = rows;
        }
        mark_radius(&mut levels);
        name_what_is_odd(&mut levels);
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

/// Marks the radius to search with, where texts were compared and some are alike.
fn mark_radius(levels: &mut [DistanceLevel]) {
    let Some(most) = levels.iter().rev().find_map(|level| level.alike).filter(|&most| most > 0.0) else {
        return;
    };
    let found = levels.iter_mut().find(|level| level.alike >= Some(FOUND * most));
    if let Some(level) = found {
        level.to_search = true;
        level.reason = Some(format!("finds {} % of the rows with texts alike", 100.0 * FOUND));
    }
}

/// Says which distances there are none of, and whether rows crowd.
fn name_what_is_odd(levels: &mut [DistanceLevel]) {
    let pairs_at = |odd: usize| levels.iter().skip(odd).step_by(2).map(|level| level.pairs).sum::<u64>();
    let (even, odd) = (pairs_at(0), pairs_at(1));
    let near = in_proportion(NEAR, levels.len() as u32 - 1) as usize;
    if odd == 0 && even > levels[0].pairs + levels.len() as u64 {
        add_reason(&mut levels[1], format!("all {even} distances of the sample are even"));
    }
    if let Some(level) = levels.iter_mut().take(near + 1).find(|level| level.rows >= CROWD) {
        let (rows, distance) = (level.rows.round(), level.distance);
        let why = match level.alike.map(f64::round) {
            None => ": versions, siblings of a template, or pictures without detail".to_owned(),
            Some(alike) if 2.0 * alike < rows => format!(", but only {alike} with texts alike"),
            Some(alike) => format!(", {alike} with texts alike: versions, or siblings of a template"),
        };
        add_reason(level, format!("{rows} rows are within distance {distance} of a row{why}"));
    }
}

fn add_reason(level: &mut DistanceLevel, reason: String) {
    level.reason = Some(level.reason.take().map(|first| format!("{first}; {reason}")).unwrap_or(reason));
}

/// What this distance of fingerprints is for codes of so many bits.
fn in_proportion(distance: u64, bits: u32) -> u32 {
    (u64::from(bits) * distance / u64::from(BITS)) as u32
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
mod tests;
