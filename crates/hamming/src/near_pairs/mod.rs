//! Finds all pairs of codes within a radius, without comparing every code with every other.
//!
//! # The algorithm
//!
//! The bits are cut into segments. Two codes that differ in few bits cannot differ much in all segments:
//!
//! ```text
//!               segment 0   segment 1   segment 2   segment 3
//!   a           0110 1011   0001 1100   1110 0101   0010 1111
//!   b           0110 1011   0101 1100   1110 0101   0011 1110      3 bits differ
//!   differ in           0           1           0           2
//! ```
//!
//! At radius 3, four segments have at most three differing bits, so at least one of them is equal in both
//! codes. All pairs within the radius are found if, for each segment, rows are sorted into buckets by its
//! bits and each bucket is compared with itself. This is the algorithm of Manku, Jain and Das Sarma
//! ("Detecting near-duplicates for web crawling", 2007). For larger radii, equal segments become so short
//! that buckets are large. Norouzi, Punjani and Fleet (multi-index hashing, 2012) therefore let a segment
//! differ in some bits, which are called flips: with two segments at radius 3, one of the two differs in at
//! most one bit. A bucket is then compared with itself and with the buckets whose numbers differ by one flip.
//! Qin and others ("GPH: Similarity Search in Hamming Space", 2018) give each segment a threshold of its own:
//! segment i gets `t_i` flips, and the sum of all `t_i + 1` is `radius + 1`. If two codes differed in more
//! than `t_i` bits of every segment, they would differ in more than `radius` bits. All three search for
//! single codes; here, all codes are joined at once.
//!
//! # What is added
//!
//! Codes of several words are cut twice by the same rule: the radius is divided among the words, and the part
//! of a word among its segments. Rows are first compared by the word of the segment, and the whole codes only
//! if these words are within the word's part of the radius, which is rare. A sample of pairs shows words that
//! are nearly equal in many rows, as in perceptual hashes. They get a smaller part.
//!
//! The parities of the segments' bits are a further segment ([`parities`]). At large radii, it finds what the
//! other segments would need more flips for.
//!
//! Bits that are equal in all rows do not belong to a segment. Rows that differ almost only outside a segment
//! crowd together in few of its buckets. Two crowded buckets are joined by the same method, with segments of
//! the bits in which their rows differ.
//!
//! Rows may have several codes, all of which have to be near ([`CodeRadii`]). Because the segments of any
//! one of these codes find all pairs, each plan uses the code whose segments have the lowest cost for the
//! sample. A crowd of rows that are near by this code and apart by another is joined by the other one.
//!
//! # Guarantee and cost
//!
//! Guarantee: every pair is reported exactly once, by the first segment that can find it.
//!
//! Cost: the plan tries all numbers of segments for a word, and estimates their costs. 10 million scattered
//! fingerprints take some 10^9 comparisons at radius 3 and 10^10 at radius 6, of 5 * 10^13 pairs. The cost is
//! higher if the result is very large, or if rows are close together without being near. According to the
//! sample, no plan costs more than comparing all rows with all. Some dozens of rows are compared without a
//! plan.
//! Memory: 12 bytes per row and some 30 MB; crowded buckets take the same again, up to `MAX_DEPTH` times.

mod blocks;
mod compare;
mod pair_division;
mod parities;
mod plan;
mod plan_search;
mod portions;
mod radii;
mod segment_cost;
#[cfg(test)]
pub(crate) mod tests;

use crate::buckets::PlacedCodes;
use crate::code::CodeSlice;
use base::{Heartbeat, OutOfMemory};
pub use blocks::{PARTS, PairBlocks};
use compare::{GatheredRuns, JoinTables, SortedSides, compare, pieces, retain_near};
pub use pair_division::PairDivision;
pub use plan::JoinSides;
use plan::{BitSegment, JoinPlan};
pub use plan_search::cost_between;
pub use portions::PairSearch;
pub use radii::CodeRadii;
pub use segment_cost::MAX_SEGMENT_BITS;
use segment_cost::{JoinSize, cost_of_check};
use std::borrow::Cow;
use std::ops::Range;

/// How many comparisons are made between two heartbeats.
const STRIDE: usize = 1 << 20;

/// Two buckets are crowded if comparing them costs more than this, in comparisons of words, where a quarter
/// of the pairs have near words. Smaller ones are compared in less time than is needed to plan their join.
const CROWD: f64 = (1 << 20) as f64;

/// What it takes to copy a whole code and to see how it differs from others, in comparisons of words. Few
/// rows are compared with many in less time than that.
const COPY_COST: f64 = 32.0;

/// How deep crowded buckets may be nested.
const MAX_DEPTH: usize = 4;

/// Receives near pairs, and may declare for which rows further pairs are not needed.
pub trait PairSink {
    /// How many rows of a side are compared between two calls of `wants`. A sink that needs few pairs of each
    /// row should return a small number.
    const AT_A_TIME: usize = STRIDE.isqrt();

    /// Why the sink ends the search.
    type Stop: From<OutOfMemory>;

    /// Takes the places of two near codes. An error ends the search.
    fn found(&mut self, a: u32, b: u32) -> Result<(), Self::Stop>;

    /// Whether a pair of a row of `these` and a row of `those` is needed. It is called only before a large
    /// number of comparisons.
    fn wants(&mut self, _these: &[u32], _those: &[u32], _heartbeat: &mut dyn Heartbeat) -> bool {
        true
    }

    /// Removes the pairs that are not needed. `found` is then called for each of the others.
    fn retain(&mut self, _pairs: &mut Vec<(u32, u32)>, _heartbeat: &mut dyn Heartbeat) {}

    /// Takes the number of comparisons since the last call.
    fn compared(&mut self, _comparisons: u64) {}
}

impl<Stop: From<OutOfMemory>, F: FnMut(u32, u32) -> Result<(), Stop>> PairSink for F {
    type Stop = Stop;

    fn found(&mut self, a: u32, b: u32) -> Result<(), Stop> {
        self(a, b)
    }
}

/// Why a search ends early whose pairs are limited.
#[derive(Debug)]
pub(crate) enum PairStop<Stop = OutOfMemory> {
    /// There are more pairs.
    Full,
    OfSink(Stop),
}

impl<Stop: From<OutOfMemory>> From<OutOfMemory> for PairStop<Stop> {
    fn from(refusal: OutOfMemory) -> Self {
        Self::OfSink(refusal.into())
    }
}

/// Finds all pairs of codes that are within the radii, in no particular order. A pair is the places `a < b`
/// of the two codes.
///
/// The heartbeat gets the fraction of the work that was done. While the sink works, only the sink calls it.
///
/// # Panics
/// If there are more than `u32::MAX` codes.
pub fn near_pairs<F: PairSink>(
    codes: CodeSlice<'_>,
    radii: impl Into<CodeRadii>,
    heartbeat: &mut dyn Heartbeat,
    sink: &mut F,
) -> Result<(), F::Stop> {
    let radii = radii.into();
    let sides = JoinSides::among(codes);
    let plan = sides.plan(&radii, MAX_SEGMENT_BITS)?;
    PairSearch::new(plan, Vec::new(), radii, MAX_SEGMENT_BITS).all(sides, heartbeat, sink)
}

/// Which place of a pair comes first.
#[derive(PartialEq)]
enum PairOrder {
    Smaller,
    /// The place on the left, or on the right.
    Left,
    Right,
}

/// A search for near pairs.
struct PairJoin<'a, F> {
    /// The codes to which places on the left and on the right refer.
    inputs: [CodeSlice<'a>; 2],
    radii: &'a CodeRadii,
    heartbeat: &'a mut dyn Heartbeat,
    sink: &'a mut F,
    /// The number of bits of the widest segment.
    widest: u32,
    order: PairOrder,
    /// Segments whose pairs have been reported.
    earlier: Vec<BitSegment>,
    /// The segments of the crowds that contain the current rows.
    crowds: Vec<BitSegment>,
    /// The fraction of the work that was done, from 0 to 1.
    fraction: f64,
    gathered: GatheredRuns,
    hits: Vec<(u32, u32)>,
}

impl<'a, F: PairSink> PairJoin<'a, F> {
    /// A search with segments of at most `widest` bits.
    fn new(
        inputs: [CodeSlice<'a>; 2],
        radii: &'a CodeRadii,
        widest: u32,
        order: PairOrder,
        heartbeat: &'a mut dyn Heartbeat,
        sink: &'a mut F,
    ) -> Self {
        let most = inputs[0].len().max(inputs[1].len());
        assert!(u32::try_from(most).is_ok(), "places have 32 bits");
        Self {
            inputs,
            radii,
            heartbeat,
            sink,
            widest,
            order,
            earlier: Vec::new(),
            crowds: Vec::new(),
            fraction: 0.0,
            gathered: GatheredRuns::default(),
            hits: Vec::new(),
        }
    }

    /// Finds the pairs of the two sides, segment by segment.
    fn run(&mut self, plan: &JoinPlan, sides: &JoinSides) -> Result<(), F::Stop> {
        let reported = self.earlier.len();
        let mut sorted = SortedSides::default();
        for (number, segment) in plan.segments.iter().enumerate() {
            sorted.fill(sides, segment, self.heartbeat)?;
            let tables = sorted.tables(segment, self.inputs);
            let buckets = segment.bits.buckets();
            for bucket in 0..buckets {
                let rows = tables.left.range(bucket);
                if rows.is_empty() {
                    continue;
                }
                if self.crowds.is_empty() {
                    let of_segment = f64::from(bucket) / f64::from(buckets);
                    self.fraction = (number as f64 + of_segment) / plan.segments.len() as f64;
                }
                self.bucket(&tables, bucket, rows, &sorted.flips)?;
            }
            self.earlier.push(segment.clone());
        }
        self.earlier.truncate(reported);
        Ok(())
    }

    /// Compares rows of a bucket with the buckets that differ by the flips: with all small ones at once, in
    /// at most [`STRIDE`] comparisons, and with each large one separately.
    fn bucket(
        &mut self,
        tables: &JoinTables,
        bucket: u32,
        rows: Range<usize>,
        flips: &[u32],
    ) -> Result<(), F::Stop> {
        self.heartbeat.progress(self.fraction);
        let most = (STRIDE / flips.len()).min(F::AT_A_TIME.pow(2));
        let is_large = |others: usize| rows.len().saturating_mul(others) > most;
        let is_flip_large = |flip: &u32| is_large(tables.right.range(bucket ^ flip).len());
        let are_small = |a: &u32, b: &u32| !is_flip_large(a) && !is_flip_large(b);
        let all_are_small = !is_large(tables.right.largest);
        for flips in flips.chunk_by(|a, b| all_are_small || are_small(a, b)) {
            if all_are_small || !is_flip_large(&flips[0]) {
                let others = 0..tables.right.values.len();
                self.part(tables, bucket, flips, [rows.clone(), others])?;
            } else if !tables.is_mirrored(bucket, flips[0]) && !self.crowd(tables, bucket, &rows, flips[0])? {
                self.squares(tables, bucket, &rows, flips)?;
            }
        }
        Ok(())
    }

    /// Joins two crowded buckets by their own segments, if that costs less than comparing them. Returns
    /// whether nothing is left to compare.
    fn crowd(
        &mut self,
        tables: &JoinTables,
        bucket: u32,
        rows: &Range<usize>,
        flip: u32,
    ) -> Result<bool, F::Stop> {
        let rows = rows.clone();
        let others = tables.right.range(bucket ^ flip);
        let is_one = tables.is_diagonal(flip);
        let size = JoinSize::of(rows.len(), (!is_one).then_some(others.len()), self.widest);
        let width = self.inputs[0].width();
        let copied = rows.len() + if is_one { 0 } else { others.len() };
        let least = CROWD + COPY_COST * copied as f64;
        if size.pairs * (1.0 + cost_of_check(width) / 4.0) < least || self.crowds.len() == MAX_DEPTH {
            return Ok(false);
        }
        let [left, right] = [&tables.left.places[rows.clone()], &tables.right.places[others.clone()]];
        if !self.wants(left, right) {
            return Ok(true);
        }
        let of_left = tables.left.codes(rows, self.inputs[0], self.heartbeat)?;
        let of_right = match is_one {
            true => Cow::default(),
            false => tables.right.codes(others, self.inputs[1], self.heartbeat)?,
        };
        let placed =
            |codes, places| PlacedCodes { codes: CodeSlice::new(codes, width), places: Some(places) };
        let sides =
            JoinSides { left: placed(&of_left, left), right: (!is_one).then(|| placed(&of_right, right)) };
        let differences = sides.differences()?;
        if self.earlier.iter().any(|segment| segment.finds_all(&differences.varying)) {
            return Ok(true);
        }
        let plan = JoinPlan::of_size(&size, &differences, self.radii)?;
        if plan.cost(&size, &differences) > tables.segment.cost_of_all(&size, &differences) / 2.0 {
            return Ok(false);
        }
        self.crowds.push(tables.segment.clone());
        self.run(&plan, &sides)?;
        self.crowds.pop();
        Ok(true)
    }

    /// Compares two buckets piece by piece, and skips pieces of which the sink needs no pairs. A piece of the
    /// left starts with the right piece that was compared last: if the sink has found what it needs there, it
    /// may do so again.
    fn squares(
        &mut self,
        tables: &JoinTables,
        bucket: u32,
        rows: &Range<usize>,
        flip: &[u32],
    ) -> Result<(), F::Stop> {
        let others = pieces(tables.right.range(bucket ^ flip[0]), F::AT_A_TIME);
        let mut last = 0;
        for rows in pieces(rows.clone(), F::AT_A_TIME) {
            let order = others.clone().enumerate();
            for (number, others) in order.clone().skip(last).chain(order.take(last)) {
                self.heartbeat.progress(self.fraction);
                let is_below = tables.is_diagonal(flip[0]) && others.end <= rows.start;
                let these = &tables.left.places[rows.clone()];
                let those = &tables.right.places[others.clone()];
                if !is_below && self.wants(these, those) {
                    last = number;
                    self.part(tables, bucket, flip, [rows.clone(), others])?;
                }
            }
        }
        Ok(())
    }

    /// Whether the sink needs pairs of these rows on the left and on the right.
    fn wants(&mut self, left: &[u32], right: &[u32]) -> bool {
        let [these, those] = if self.order == PairOrder::Right { [right, left] } else { [left, right] };
        self.sink.wants(these, those, self.heartbeat)
    }

    /// Executes a set of comparisons, and reports the pairs that no earlier segment has found.
    fn part(
        &mut self,
        tables: &JoinTables,
        bucket: u32,
        flips: &[u32],
        rows: [Range<usize>; 2],
    ) -> Result<(), F::Stop> {
        let comparisons = compare(tables, bucket, flips, rows, &mut self.gathered, &mut self.hits)?;
        self.sink.compared(comparisons);
        let earlier = [&self.earlier[..], &self.crowds];
        retain_near(tables, self.radii, earlier, &mut self.hits, self.heartbeat);
        for hit in &mut self.hits {
            let a = tables.left.places[hit.0 as usize];
            let b = tables.right.places[hit.1 as usize];
            *hit = match self.order {
                PairOrder::Smaller => (a.min(b), a.max(b)),
                PairOrder::Left => (a, b),
                PairOrder::Right => (b, a),
            };
        }
        self.sink.retain(&mut self.hits, self.heartbeat);
        self.hits.drain(..).try_for_each(|(a, b)| self.sink.found(a, b))
    }
}
