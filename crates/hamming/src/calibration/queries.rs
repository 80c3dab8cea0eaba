//! Rows of a table that are compared with all others, as queries are.

use super::MAX_QUERIES;
use super::unrelated::UnrelatedBounds;
use crate::code::CodeSlice;
use crate::kernel::{GROUP, for_processors};
use limits::{OutOfMemory, collect, reserve};

/// Some rows, and what the other rows say of them.
#[derive(Clone, Debug)]
pub(super) struct Queries {
    pub(super) groups: Vec<QueryGroup>,
    pub(super) count: usize,
    /// Up to the largest distance that is counted, the rows at each distance from the queries, all queries
    /// together.
    pub(super) found: Vec<u64>,
    /// For each query the rows at each distance, its own row among them.
    rows: Vec<u32>,
    judged: Option<JudgedPairs>,
}

impl Queries {
    /// The first [`MAX_QUERIES`] of these codes, for which rows up to this distance are counted.
    pub(super) fn new(codes: CodeSlice<'_>, farthest_counted: u32) -> Result<Self, OutOfMemory> {
        let count = codes.len().min(MAX_QUERIES);
        let mut groups = Vec::new();
        reserve(&mut groups, count.div_ceil(GROUP))?;
        for first in (0..count).step_by(GROUP) {
            let codes_of_group = (first..count.min(first + GROUP)).map(|place| codes.get(place as u32));
            groups.push(QueryGroup::of(codes_of_group, codes.width(), farthest_counted)?);
        }
        let distances = farthest_counted as usize + 1;
        let found = collect((0..distances).map(|_| 0), distances)?;
        let cells = count * distances;
        Ok(Self { groups, count, found, rows: collect((0..cells).map(|_| 0), cells)?, judged: None })
    }

    /// From now on, names pairs of which somebody is to say whether they are related.
    pub(super) fn judge_pairs(&mut self) -> Result<(), OutOfMemory> {
        let mut wanted = Vec::new();
        reserve(&mut wanted, self.count)?;
        let verdicts = collect((0..self.rows.len()).map(|_| PairVerdict::default()), self.rows.len())?;
        self.judged = Some(JudgedPairs { verdicts, wanted, chance: 0 });
        Ok(())
    }

    /// The pair of the row compared last that is to be judged next.
    pub(super) fn next_to_judge(&mut self) -> Option<QueryPair> {
        self.judged.as_mut()?.wanted.pop()
    }

    pub(super) fn judge(&mut self, pair: QueryPair, verdict: PairVerdict) {
        let cell = self.cell(pair);
        if let Some(judged) = &mut self.judged {
            judged.verdicts[cell] = verdict;
        }
    }

    fn cell(&self, pair: QueryPair) -> usize {
        pair.query * self.found.len() + pair.distance as usize
    }

    pub(super) fn compare(&mut self, row: &[u64]) {
        if let Some(judged) = &mut self.judged {
            judged.wanted.clear();
        }
        let distances = self.found.len();
        for (group, first) in self.groups.iter_mut().zip((0..).step_by(GROUP)) {
            group.compare(row, &mut |query, distance| {
                let pair = QueryPair { query: first + query, distance };
                self.found[distance as usize] += 1;
                let rows = &mut self.rows[pair.query * distances + distance as usize];
                *rows = rows.saturating_add(1);
                if let Some(judged) = &mut self.judged {
                    judged.choose(pair, *rows);
                }
            });
        }
    }

    /// What was judged at this distance, if anything is. Each query has found itself, which does not count.
    pub(super) fn share(&self, distance: usize) -> Option<JudgedShare> {
        let judged = self.judged.as_ref()?;
        let own = u32::from(distance == 0);
        let cells = self.rows.iter().zip(&judged.verdicts).skip(distance).step_by(self.found.len());
        let add = |share: JudgedShare, (&rows, verdict): (&u32, &PairVerdict)| JudgedShare {
            rows: share.rows + f64::from(rows - own),
            unrelated: share.unrelated + if verdict.is_unrelated { f64::from(rows) } else { 0.0 },
            kept: share.kept + if verdict.is_kept { f64::from(rows - own) } else { 0.0 },
            judged: share.judged + 1.0,
        };
        Some(cells.filter(|(rows, _)| **rows > own).fold(JudgedShare::default(), add))
    }

    /// For each distance that is counted, the share that one row has of those that a query finds within it:
    /// the mean of the queries that find something.
    pub(super) fn weights(&self) -> Result<Vec<f64>, OutOfMemory> {
        let mut weights = collect(self.found.iter().map(|_| 0.0), self.found.len())?;
        let mut finding = collect(self.found.iter().map(|_| 0.0), self.found.len())?;
        for rows in self.rows.chunks_exact(self.found.len()) {
            let mut within = -1.0;
            for (distance, &rows) in rows.iter().enumerate() {
                within += f64::from(rows);
                if within > 0.0 {
                    weights[distance] += 1.0 / within;
                    finding[distance] += 1.0;
                }
            }
        }
        weights.iter_mut().zip(finding).for_each(|(weight, finding)| *weight /= f64::max(finding, 1.0));
        Ok(weights)
    }
}

/// A query and the row that was added last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryPair {
    /// Queries are counted from 0.
    pub query: usize,
    /// How many bits the two differ in.
    pub distance: u32,
}

/// What the texts of a pair say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairVerdict {
    /// They have nothing to do with each other.
    pub is_unrelated: bool,
    /// A second look at them finds that they are versions of one text.
    pub is_kept: bool,
}

/// For each query and each distance, what one of the rows, chosen at random, was judged to be.
#[derive(Clone, Debug)]
struct JudgedPairs {
    verdicts: Vec<PairVerdict>,
    /// Pairs of the last row that are to be judged.
    wanted: Vec<QueryPair>,
    chance: u64,
}

/// What was judged at one distance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct JudgedShare {
    /// Rows at this distance, all queries together.
    pub(super) rows: f64,
    /// Rows that are unrelated, estimated from the judged ones.
    pub(super) unrelated: f64,
    /// Rows that a second look keeps, estimated in the same way.
    pub(super) kept: f64,
    /// Pairs that have been judged.
    pub(super) judged: f64,
}

impl JudgedShare {
    pub(super) fn bounds(self) -> UnrelatedBounds {
        UnrelatedBounds::of_judged(self.rows, self.unrelated, self.judged)
    }
}

impl JudgedPairs {
    /// The pair of the n-th row is judged with a chance of 1 in n, and replaces the one before: so each row
    /// has the same chance to be the one that stays.
    fn choose(&mut self, pair: QueryPair, rows: u32) {
        // Numbers of Weyl's sequence, mixed: evenly scattered, and the same in every call.
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.chance ^ self.chance >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        if ((mixed >> 32) * u64::from(rows)) >> 32 == 0 {
            self.wanted.push(pair);
        }
    }
}

/// Queries that are compared with a row together.
#[derive(Clone, Debug)]
pub(super) struct QueryGroup {
    pub(super) count: usize,
    /// The first word of each query, then the second of each, and so on.
    words: Vec<[u64; GROUP]>,
    /// For each query the distance of its nearest row, apart from equal ones.
    pub(super) nearest: [u32; GROUP],
    /// For each query the number of rows that are equal to it, its own among them.
    pub(super) equal: [u64; GROUP],
    /// A row this far from all queries of the group, or farther, is not looked at: it is too far to be
    /// counted, and each query has a nearer one.
    farthest: u64,
    farthest_counted: u32,
}

impl QueryGroup {
    fn of<'a>(
        codes: impl ExactSizeIterator<Item = &'a [u64]>,
        width: usize,
        farthest_counted: u32,
    ) -> Result<Self, OutOfMemory> {
        let count = codes.len();
        let mut words = collect((0..width).map(|_| [0; GROUP]), width)?;
        for (query, code) in codes.enumerate() {
            words.iter_mut().zip(code).for_each(|(words, &word)| words[query] = word);
        }
        let nearest = [u32::MAX; GROUP];
        Ok(Self { count, words, nearest, equal: [0; GROUP], farthest: u64::MAX, farthest_counted })
    }

    /// Calls `found` with each query that is near enough to the row to be counted, and their distance.
    fn compare(&mut self, row: &[u64], found: &mut impl FnMut(usize, u32)) {
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
                found(query, distance);
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
