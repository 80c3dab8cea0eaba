//! How a search of codes divides its radius among the words.
//!
//! Two codes that differ in at most r bits cannot differ in many bits of every word. Say that word i is
//! searched for all words that differ in fewer than n_i bits, its **reach**; with reach 0 it is not searched.
//! A code that is missed by every word differs in n_i bits or more of each, so in their sum or more. So
//! nothing within the radius is missed if the reaches add up to r + 1 (GPH: Qin and others 2018). Of these
//! divisions a cheap one is found by giving one bit at a time to the word where it costs least.
//!
//! Costs are those of scattered codes. A word that has turned out to cost more bears a surcharge. So a word
//! that half of the table shares is left out, and the others are searched farther instead.

use crate::cost::{entries_in, leaves_read_by_word, radius_of_codes};
use crate::layout::Layout;
use hamming::codes::volumes;

/// Rows that are fetched from the table in the time that it takes to read a leaf.
const ROWS_PER_LEAF: f64 = 1.0;
/// The same where all rows are fetched, in the order of the table.
const ROWS_IN_ORDER_PER_LEAF: f64 = 4.0;
/// Each pass of an ordered search costs about this multiple of the one before. So all passes together cost
/// little more than the last.
const MORE: f64 = 3.0;

/// What it costs to search the words of codes, if codes are scattered. The unit is the time that reading a
/// leaf takes.
#[derive(Clone, Debug)]
pub struct Costs {
    layout: Layout,
    leaves: f64,
    /// For each number of bits that a word may have, from `least` on: the cost of each reach.
    tables: Vec<Vec<f64>>,
    /// Bits of the narrowest word.
    least: u32,
}

/// The work of a search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expected {
    /// Leaves that it reads.
    pub leaves: f64,
    /// Rows that it fetches from the table.
    pub rows: f64,
}

/// How far a word has been searched.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Searched {
    pub(crate) reach: u32,
    /// What searching the word farther costs beside the cost of scattered codes.
    pub(crate) surcharge: f64,
}

/// A division of a radius among the words.
#[derive(Clone, Debug)]
pub(crate) struct Division {
    /// The reach of each word.
    pub(crate) reaches: Vec<u32>,
    pub(crate) cost: f64,
}

impl Division {
    /// The word to be searched next, the cheapest first, with its reach and its cost.
    pub(crate) fn next_word(&self, costs: &Costs, searched: &[Searched]) -> Option<(usize, u32, f64)> {
        let words = self.reaches.iter().zip(searched).enumerate();
        let unsearched = words.filter(|(_, (reach, searched))| **reach > searched.reach);
        unsearched
            .map(|(word, (&reach, &searched))| (word, reach, costs.of_word(word, reach, searched)))
            .min_by(|a, b| a.2.total_cmp(&b.2))
    }

    /// The radius within which nothing is missed; -1 if it is nothing at all.
    fn radius(&self) -> i64 {
        i64::from(self.reaches.iter().sum::<u32>()) - 1
    }
}

impl Costs {
    /// Costs in an index each of whose trees has about this number of leaves.
    pub fn new(layout: Layout, leaves: f64) -> Self {
        let widths = (0..layout.words()).map(|word| layout.width(word));
        let (least, most) = widths.fold((u64::BITS, 0), |(l, m), width| (width.min(l), width.max(m)));
        let rows = entries_in(leaves);
        let table = |width| {
            let cost =
                |(radius, share)| leaves_read_by_word(leaves, radius, width) + rows * share / ROWS_PER_LEAF;
            std::iter::once(0.0).chain((0..).zip(volumes(width)).map(cost)).collect()
        };
        Self { layout, leaves, tables: (least..=most).map(table).collect(), least }
    }

    /// The layout of the index.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    pub(crate) fn leaves(&self) -> f64 {
        self.leaves
    }

    /// The cost of reading one tree from end to end, and fetching every row from the table.
    fn of_all(&self) -> f64 {
        self.leaves + entries_in(self.leaves) / ROWS_IN_ORDER_PER_LEAF
    }

    /// The work of a search with this radius, if codes are scattered.
    pub fn expected(&self, radius: u32) -> Expected {
        let Some(division) = self.divide(radius, &self.unsearched()) else {
            return Expected { leaves: self.leaves, rows: entries_in(self.leaves) };
        };
        let words = division.reaches.iter().enumerate().filter(|&(_, &reach)| reach > 0);
        let leaves =
            words.map(|(word, reach)| leaves_read_by_word(self.leaves, reach - 1, self.layout.width(word)));
        let leaves = leaves.sum::<f64>();
        Expected { leaves, rows: (division.cost - leaves).max(0.0) * ROWS_PER_LEAF }
    }

    /// The work of finding the `wanted` nearest rows, or all rows within `farthest` if these are fewer, if codes
    /// are scattered.
    pub fn nearest(&self, wanted: f64, farthest_asked: u32) -> Expected {
        let rows = entries_in(self.leaves);
        let farthest = radius_of_codes(self.layout.bits(), wanted, rows).min(farthest_asked);
        let mut radius = self.first_radius().min(farthest);
        let mut all = Expected::default();
        loop {
            let Expected { leaves, rows: fetched } = self.expected(radius);
            // Rows that an earlier pass has found are not fetched again.
            all = Expected { leaves: all.leaves + leaves, rows: all.rows.max(fetched) };
            if radius >= farthest {
                return all;
            }
            let Some(next) = self.next_radius(radius) else {
                return Expected { leaves: all.leaves + self.leaves, rows };
            };
            radius = next.min(farthest_asked);
        }
    }

    /// The cheapest division that misses nothing within the radius; `None` if fetching all rows is cheaper.
    pub(crate) fn divide(&self, radius: u32, searched: &[Searched]) -> Option<Division> {
        self.grow(searched, |division| division.radius() >= radius.into())
    }

    /// The radius of the first pass of an ordered search: it reads one leaf of each tree.
    pub(crate) fn first_radius(&self) -> u32 {
        self.layout.bands() as u32 - 1
    }

    /// The radius of the pass after the one with this radius; `None` if that pass fetches all rows.
    pub(crate) fn next_radius(&self, radius: u32) -> Option<u32> {
        let enough = MORE * self.divide(radius, &self.unsearched())?.cost;
        let division = self.grow(&self.unsearched(), |division| {
            division.radius() > radius.into() && division.cost >= enough
        });
        division.map(|division| division.radius() as u32)
    }

    pub(crate) fn unsearched(&self) -> Vec<Searched> {
        vec![Searched::default(); self.layout.words()]
    }

    /// Gives one bit after the other to the word where it costs least, until it is enough.
    fn grow(&self, searched: &[Searched], is_enough: impl Fn(&Division) -> bool) -> Option<Division> {
        let mut division = Division { reaches: searched.iter().map(|word| word.reach).collect(), cost: 0.0 };
        while !is_enough(&division) {
            let more = |word: usize| {
                let reach = division.reaches[word];
                self.of_word(word, reach + 1, searched[word]) - self.of_word(word, reach, searched[word])
            };
            let words = 0..searched.len();
            let (word, more) = words.map(|word| (word, more(word))).min_by(|a, b| a.1.total_cmp(&b.1))?;
            division.cost += more;
            if division.cost >= self.of_all() {
                return None;
            }
            division.reaches[word] += 1;
        }
        Some(division)
    }

    /// The cost of searching a word that has been searched before.
    pub(crate) fn of_word(&self, word: usize, reach: u32, searched: Searched) -> f64 {
        if reach <= searched.reach {
            return 0.0;
        }
        let table = &self.tables[(self.layout.width(word) - self.least) as usize];
        table.get(reach as usize).map_or(f64::INFINITY, |cost| cost + searched.surcharge)
    }
}
