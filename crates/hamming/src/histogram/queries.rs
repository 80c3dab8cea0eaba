//! Rows of a table that are compared with all others, as queries are.

use super::MAX_QUERIES;
use crate::code::CodeSlice;
use crate::kernel::{GROUP, for_processors};
use limits::{OutOfMemory, collect, reserve};

/// Pairs of texts that are compared at each distance, at most.
pub(super) const JUDGED: u64 = 1000;

/// Some rows, and how many other rows are at each distance from them.
#[derive(Clone, Debug)]
pub(super) struct HistogramQueries {
    groups: Vec<QueryGroup>,
    pub(super) count: u64,
    /// The other rows at each distance from the queries, all queries together.
    pub(super) found: Vec<u64>,
    /// Whether a query has met a row that equals it. The first of these counts as its own.
    has_met_itself: Vec<bool>,
    judged: Option<JudgedPairs>,
}

impl HistogramQueries {
    /// The first [`MAX_QUERIES`] of these codes, for which rows up to this distance are counted.
    pub(super) fn new(codes: CodeSlice<'_>, farthest: u32) -> Result<Self, OutOfMemory> {
        let count = codes.len().min(MAX_QUERIES);
        let mut groups = Vec::new();
        reserve(&mut groups, count.div_ceil(GROUP))?;
        for first in (0..count).step_by(GROUP) {
            let codes_of_group = (first..count.min(first + GROUP)).map(|place| codes.get(place as u32));
            groups.push(QueryGroup::of(codes_of_group, codes.width())?);
        }
        let distances = farthest as usize + 1;
        let found = collect((0..distances).map(|_| 0), distances)?;
        let has_met_itself = collect((0..count).map(|_| false), count)?;
        Ok(Self { groups, count: count as u64, found, has_met_itself, judged: None })
    }

    /// From now on, names pairs of which somebody is to say whether their texts are alike.
    pub(super) fn judge_pairs(&mut self) -> Result<(), OutOfMemory> {
        let mut wanted = Vec::new();
        reserve(&mut wanted, self.count as usize)?;
        let slots = self.found.len() * JUDGED as usize;
        let is_alike = collect((0..slots).map(|_| false), slots)?;
        self.judged = Some(JudgedPairs { is_alike, wanted, chance: 0 });
        Ok(())
    }

    /// The pair of the row compared last that is to be judged next.
    pub(super) fn next_to_judge(&mut self) -> Option<QueryPair> {
        self.judged.as_mut()?.wanted.pop()
    }

    pub(super) fn judge(&mut self, pair: QueryPair, is_alike: bool) {
        if let Some(judged) = &mut self.judged {
            judged.is_alike[pair.slot] = is_alike;
        }
    }

    pub(super) fn compare(&mut self, row: &[u64]) {
        if let Some(judged) = &mut self.judged {
            judged.wanted.clear();
        }
        let beyond = self.found.len() as u64;
        for (group, first) in self.groups.iter().zip((0..).step_by(GROUP)) {
            let Some(distances) = distances_below(&group.words, row, beyond) else { continue };
            let distances = distances.iter().enumerate().take(group.count);
            for (query, &distance) in distances.filter(|(_, distance)| **distance < beyond) {
                let query = first + query;
                if distance == 0 && !std::mem::replace(&mut self.has_met_itself[query], true) {
                    continue;
                }
                self.found[distance as usize] += 1;
                if let Some(judged) = &mut self.judged {
                    judged.choose(query, distance, self.found[distance as usize]);
                }
            }
        }
    }

    /// Of the rows at this distance, so many have texts alike; and so many pairs were compared to tell.
    /// Nothing if no texts are compared.
    pub(super) fn alike(&self, distance: usize) -> Option<(f64, u64)> {
        let found = self.found[distance];
        let compared = found.min(JUDGED);
        let slots =
            self.judged.as_ref()?.is_alike[distance * JUDGED as usize..].iter().take(compared as usize);
        let alike = slots.filter(|is_alike| **is_alike).count() as f64;
        Some((alike * found as f64 / compared.max(1) as f64, compared))
    }
}

/// A query and the row that was added last, whose texts are to be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryPair {
    /// Queries are counted from 0.
    pub query: usize,
    /// How many bits the two differ in.
    pub distance: u32,
    /// Where the answer is kept.
    slot: usize,
}

/// For each distance, a random sample of the pairs that the queries have found.
#[derive(Clone, Debug)]
struct JudgedPairs {
    /// [`JUDGED`] slots for each distance.
    is_alike: Vec<bool>,
    /// Pairs of the last row that are to be judged.
    wanted: Vec<QueryPair>,
    chance: u64,
}

impl JudgedPairs {
    /// The n-th pair at a distance gets a slot with a chance of JUDGED in n, and replaces the pair there: so
    /// each pair has the same chance to stay (Vitter's algorithm R).
    fn choose(&mut self, query: usize, distance: u64, number: u64) {
        // Numbers of Weyl's sequence, mixed: evenly scattered, and the same in every call.
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.chance ^ self.chance >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let drawn = ((u128::from(mixed) * u128::from(number)) >> 64) as u64;
        let place = if number <= JUDGED { number - 1 } else { drawn };
        if place < JUDGED {
            let slot = (distance * JUDGED + place) as usize;
            self.wanted.push(QueryPair { query, distance: distance as u32, slot });
        }
    }
}

/// Queries that are compared with a row together.
#[derive(Clone, Debug)]
struct QueryGroup {
    count: usize,
    /// The first word of each query, then the second of each, and so on.
    words: Vec<[u64; GROUP]>,
}

impl QueryGroup {
    fn of<'a>(codes: impl ExactSizeIterator<Item = &'a [u64]>, width: usize) -> Result<Self, OutOfMemory> {
        let count = codes.len();
        let mut words = collect((0..width).map(|_| [0; GROUP]), width)?;
        for (query, code) in codes.enumerate() {
            words.iter_mut().zip(code).for_each(|(words, &word)| words[query] = word);
        }
        Ok(Self { count, words })
    }
}

for_processors! {
    /// The distances of a row from a group of queries, if one of them is below `beyond`, which is rare.
    fn distances_below(queries: &[[u64; GROUP]], row: &[u64], beyond: u64) -> Option<[u64; GROUP]> {
        let distance = |query: u64, word: u64| u64::from((query ^ word).count_ones());
        if let ([queries], &[word]) = (queries, row) {
            let is_near = queries.iter().fold(false, |any, &query| any | (distance(query, word) < beyond));
            return is_near.then(|| queries.map(|query| distance(query, word)));
        }
        let mut distances = [0; GROUP];
        for (queries, &word) in queries.iter().zip(row) {
            distances.iter_mut().zip(queries).for_each(|(sum, &query)| *sum += distance(query, word));
        }
        distances.iter().fold(false, |any, &distance| any | (distance < beyond)).then_some(distances)
    }
}
