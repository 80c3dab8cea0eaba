//! What a search costs, and how it divides its radius among the words of codes.
//!
//! A code of one word is searched with the whole radius, and no row is fetched: its costs are those of
//! [`crate::cost`]. What follows is about codes of several words.
//!
//! Two codes that differ in at most r bits cannot differ in many bits of every word. Say that word i is
//! searched for all words that differ in fewer than n_i bits, its **reach**; with reach 0 it is not searched.
//! A code that is missed by every word differs in n_i bits or more of each, so in their sum or more. So
//! nothing within the radius is missed if the reaches add up to r + 1 (GPH: Qin and others 2018). Of these
//! divisions a cheap one is found by giving one bit at a time to the word where it costs least.
//!
//! Costs are those of scattered codes. A word that has turned out to cost more counts as that much dearer. So
//! a word that half of the table has alike is left out, and the others are searched farther instead.

use crate::cost::{self, ExpectedWork, FEW, LAST, entries_in, leaves_read, radius_of};
use crate::key::{BANDS, Filter, Tree};
use crate::layout::Layout;
use crate::sample::CodeSample;
use crate::sorted::pieces;
use crate::tree::TreePart;
use hamming::code::volumes;

mod planner_costs;

pub use planner_costs::PlannerCosts;

/// Rows that are fetched from the table in the time that it takes to read a leaf.
const ROWS_PER_LEAF: f64 = 1.0;
/// Rows that are fetched in that time where all are, in the order of the table.
const ROWS_IN_ORDER_PER_LEAF: f64 = 4.0;
/// Each pass of an ordered search costs about this multiple of the one before. So all passes together cost
/// little more than the last.
const MORE: f64 = 3.0;

/// A pass of an ordered search that costs this part of fetching all rows is no longer worth trying for rows
/// that may be near.
const LITTLE: f64 = 1.0 / 16.0;

/// A word may cost this multiple of what was expected before it is abandoned.
const ALLOWED_MULTIPLE: f64 = 4.0;
/// What a word may cost in any case, in leaves: less than it takes to search others.
const ALWAYS_ALLOWED: f64 = 64.0;

/// The cost at which a word is abandoned for which this one was expected, if others can be searched farther
/// for less.
pub(crate) fn allowed_cost(expected: f64) -> f64 {
    ALWAYS_ALLOWED.max(ALLOWED_MULTIPLE * expected)
}

/// The time that it takes to read a leaf of whole codes and compare them, in that of a leaf of a band.
pub const CODES_PER_LEAF: f64 = 1.5;

/// The time that it takes to read a tree from end to end, in that of a band's tree.
fn sequential_leaves(layout: Layout, tree: Tree) -> f64 {
    if layout.has_code_tree() { layout.leaves_per_band(tree) * CODES_PER_LEAF } else { 1.0 }
}

/// What it costs to search an index, if codes are scattered. The unit is the time that reading a leaf takes.
#[derive(Clone, Debug)]
pub struct SearchCosts {
    layout: Layout,
    leaves: f64,
    /// The further columns of the rows that are wanted; without it, all rows are.
    filter: Option<Filter>,
    /// Leaves of one tree that have all rows that are wanted.
    sequential: f64,
    /// How many rows these are.
    rows: f64,
    /// How many words of a code each word of the layout stands for.
    words: f64,
    /// For each number of bits that a word may have, from `least` on: the work for each reach. Empty if codes
    /// have one word.
    tables: Vec<Vec<ExpectedWork>>,
    /// Bits of the narrowest word.
    least: u32,
}

impl ExpectedWork {
    fn cost(self) -> f64 {
        self.leaves + self.codes * CODES_PER_LEAF + self.fetched / ROWS_PER_LEAF
    }
}

/// How far a word has been searched.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SearchedWord {
    pub(crate) reach: u32,
    /// What searching the word farther costs more than with scattered codes.
    pub(crate) extra_cost: f64,
}

/// A division of a radius among the words.
#[derive(Clone, Debug)]
pub(crate) struct Division {
    /// The reach of each word.
    pub(crate) reaches: Vec<u32>,
    /// Their sum.
    reached: u32,
    pub(crate) cost: f64,
}

impl Division {
    /// The word to be searched next, the cheapest first, with its reach and its cost.
    pub(crate) fn next_word(
        &self,
        costs: &SearchCosts,
        searched: &[SearchedWord],
    ) -> Option<(usize, u32, f64)> {
        let words = self.reaches.iter().zip(searched).enumerate();
        let unsearched = words.filter(|(_, (reach, searched))| **reach > searched.reach);
        unsearched
            .map(|(word, (&reach, &searched))| (word, reach, costs.of_word(word, reach, searched)))
            .min_by(|a, b| a.2.total_cmp(&b.2))
    }

    /// The radius within which nothing is missed; -1 if it is nothing at all.
    fn radius(&self) -> i64 {
        i64::from(self.reached) - 1
    }
}

impl SearchCosts {
    /// Costs in an index each of whose trees has about this number of leaves.
    pub fn new(layout: Layout, leaves: f64) -> Self {
        Self::with_words(layout, leaves, 1.0)
    }

    /// Costs of codes that have `words` times as many words as the layout, all of them like its words.
    fn with_words(layout: Layout, leaves: f64, words: f64) -> Self {
        let widths = (0..layout.words()).map(|word| layout.width(word));
        let (least, most) = widths.fold((u64::BITS, 0), |(l, m), width| (width.min(l), width.max(m)));
        let rows = entries_in(leaves);
        let table = |width| {
            let work = |(radius, fraction)| ExpectedWork {
                leaves: leaves_read(leaves, radius, width) * words,
                fetched: rows * fraction * words,
                ..ExpectedWork::default()
            };
            std::iter::once(ExpectedWork::default()).chain((0..).zip(volumes(width)).map(work)).collect()
        };
        let tables = if layout.has_whole_codes() { Vec::new() } else { (least..=most).map(table).collect() };
        let sequential = leaves * sequential_leaves(layout, layout.tree_of_all());
        Self { layout, leaves, filter: None, sequential, rows, words, tables, least }
    }

    /// Costs of finding the rows with this filter alone, which about so many leaves have.
    #[must_use]
    pub fn of_filter(&self, filter: Filter, leaves: f64) -> Self {
        let sequential = if self.layout.has_code_tree() { leaves * CODES_PER_LEAF } else { leaves };
        let rows = entries_in(sequential / sequential_leaves(self.layout, self.layout.filter_tree()));
        Self { filter: Some(filter), sequential, rows, ..self.clone() }
    }

    /// The further columns of the rows that are wanted.
    pub(crate) fn filter(&self) -> Option<Filter> {
        self.filter
    }

    /// The part of a tree that has all rows that are wanted, if they have a code.
    pub(crate) fn all_rows(&self) -> TreePart {
        let all = TreePart::all(self.layout.tree_of_all());
        self.filter.map_or(all, |filter| TreePart::of_filter(self.layout, filter))
    }

    /// What is read in place of the bands of a word if that is less, and how many leaves it has.
    pub(crate) fn instead_of_bands(&self, word: usize) -> (TreePart, f64) {
        // Where codes have several words, the bands of one find few rows, and the part has but the first
        // word.
        match self.layout.has_whole_codes() {
            true => (self.all_rows(), self.sequential),
            false => (TreePart::all(self.layout.trees_of(word).start), self.leaves),
        }
    }

    /// The layout of the index.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    pub(crate) fn leaves(&self) -> f64 {
        self.leaves
    }

    /// The cost of reading one tree from end to end, and fetching every row from the table, if the tree does
    /// not have whole codes.
    fn of_all(&self) -> f64 {
        self.sequential + if self.layout.has_code_tree() { 0.0 } else { self.rows / ROWS_IN_ORDER_PER_LEAF }
    }

    /// The work of a search with this radius, if codes are scattered but for what the sample shows.
    ///
    /// The search itself knows no sample. It divides the radius again where a word costs more than is
    /// allowed.
    pub fn expected(&self, radius: u32, sample: &CodeSample) -> ExpectedWork {
        if self.layout.has_whole_codes() {
            return self.expected_of_whole_codes(radius, sample);
        }
        if !self.layout.has_word_trees() {
            return self.everything();
        }
        let cost = |word, reach| {
            let [cost, sampled] =
                [self.scattered(word, reach), self.sampled(word, reach, sample)].map(ExpectedWork::cost);
            if sampled > allowed_cost(cost) { sampled } else { cost }
        };
        let unsearched = vec![0; self.layout.words()]; // Bounded: the words of a code.
        let Some(Division { reaches, .. }) = self.grow(unsearched, cost, |it| it.radius() >= radius.into())
        else {
            return self.everything();
        };
        let words = reaches.iter().enumerate().map(|(word, &reach)| self.sampled(word, reach, sample));
        let sum = words.fold(ExpectedWork::default(), |sum, word| sum.plus(1.0, word));
        // A row that several words find is fetched once.
        let scattered = reaches.iter().enumerate().map(|(word, &reach)| self.scattered(word, reach).fetched);
        let once = scattered.sum::<f64>() + entries_in(self.leaves) * sample.found(&reaches);
        ExpectedWork { fetched: sum.fetched.min(once), ..sum }
    }

    /// The work of a search where the index has whole codes. Each of the trees has the rows that the sample
    /// shows together, and no search reads more than two and a half trees: see [`cost::limits`].
    fn expected_of_whole_codes(&self, radius: u32, sample: &CodeSample) -> ExpectedWork {
        let radius = radius.min(self.layout.bits());
        let scattered = leaves_read(self.leaves, radius, self.layout.bits()).min(self.sequential);
        let fraction = sample.found_by(0, radius + 1);
        let leaves = if scattered < self.sequential {
            scattered.max((BANDS as f64 * fraction * self.leaves).min(2.5 * self.sequential))
        } else {
            scattered
        };
        ExpectedWork { leaves, ..ExpectedWork::default() }
    }

    /// The work of reading one tree from end to end, and fetching every row, if the tree does not have whole
    /// codes.
    fn everything(&self) -> ExpectedWork {
        match self.layout.has_code_tree() {
            true => ExpectedWork { codes: self.sequential / CODES_PER_LEAF, ..ExpectedWork::default() },
            false => ExpectedWork { leaves: self.sequential, fetched: self.rows, ..ExpectedWork::default() },
        }
    }

    /// The work of searching a word, if codes are scattered.
    fn scattered(&self, word: usize, reach: u32) -> ExpectedWork {
        let never = ExpectedWork { leaves: f64::INFINITY, ..ExpectedWork::default() };
        let table = &self.tables[(self.layout.width(word) - self.least) as usize];
        table.get(reach as usize).copied().unwrap_or(never)
    }

    /// The work of searching a word if codes are scattered but for what the sample shows. Each of a word's
    /// trees has the rows that the sample shows together.
    fn sampled(&self, word: usize, reach: u32, sample: &CodeSample) -> ExpectedWork {
        let scattered = self.scattered(word, reach);
        let fraction = sample.found_by(word, reach);
        ExpectedWork {
            leaves: scattered.leaves.max(self.leaves * fraction * BANDS as f64 * self.words),
            fetched: scattered.fetched.max(entries_in(self.leaves) * fraction * self.words),
            ..scattered
        }
    }

    /// The work of finding the `wanted` nearest rows, or all rows within `farthest` if these are fewer, if
    /// codes are scattered but for what the sample shows. Each pass fetches its rows again, and the last one
    /// is repeated for each piece of about `max_sorted` rows.
    pub fn nearest(
        &self,
        wanted: f64,
        farthest_asked: u32,
        max_sorted: usize,
        sample: &CodeSample,
    ) -> ExpectedWork {
        let (rows, bits) = (self.rows, self.layout.bits());
        if self.layout.has_whole_codes() {
            return cost::nearest(
                (self.leaves, self.sequential),
                bits,
                rows,
                wanted,
                farthest_asked,
                max_sorted,
            );
        }
        if !self.layout.has_word_trees() {
            return ExpectedWork::default().plus(pieces(wanted.min(rows), max_sorted), self.everything());
        }
        let farthest = radius_of(bits, wanted, rows).min(farthest_asked);
        let (mut pass, mut all) = (Some(self.first_radius().min(farthest)), ExpectedWork::default());
        loop {
            let work = pass.map_or(self.everything(), |radius| self.expected(radius, sample));
            let is_last = pass.is_none_or(|radius| radius >= farthest);
            let times = if is_last { pieces(wanted.min(rows), max_sorted) } else { 1.0 };
            all = all.plus(times, work);
            if is_last {
                return all;
            }
            pass = pass.and_then(|radius| self.next_radius(radius, farthest_asked));
        }
    }

    /// The cheapest division that misses nothing within the radius; `None` if fetching all rows is cheaper.
    pub(crate) fn divide(&self, radius: u32, searched: &[SearchedWord]) -> Option<Division> {
        if !self.layout.has_word_trees() {
            return None;
        }
        self.grow_searched(searched, |division| division.radius() >= radius.into())
    }

    /// The radius of the first pass of an ordered search: it reads one leaf of each tree.
    pub(crate) fn first_radius(&self) -> u32 {
        if self.layout.has_whole_codes() {
            return cost::first_radius(self.leaves, self.sequential, self.layout.bits());
        }
        self.layout.bands() as u32 - 1
    }

    /// The radius of the pass after the one with this radius, at most `farthest`; `None` if that pass fetches
    /// all rows.
    ///
    /// Most queries either have something near, or nothing nearer than scattered rows. So the radius grows
    /// until a pass would cost a good part of fetching all rows, and then to where scattered rows begin. The
    /// pass that would be the last but one is left out if the last one costs at most [`LAST`] times as much.
    pub(crate) fn next_radius(&self, radius: u32, farthest: u32) -> Option<u32> {
        if self.layout.has_whole_codes() {
            return Some(cost::next_radius(
                self.leaves,
                self.sequential,
                radius,
                farthest,
                self.layout.bits(),
            ));
        }
        let enough = MORE * self.divide(radius, &self.unsearched())?.cost;
        let next = self.grow_searched(&self.unsearched(), |division| {
            division.radius() > radius.into() && division.cost >= enough
        })?;
        if self.divide(farthest, &self.unsearched()).is_some_and(|last| last.cost <= LAST * next.cost) {
            return Some(farthest);
        }
        let radius = next.radius() as u32;
        if next.cost < LITTLE * self.of_all() {
            return Some(radius);
        }
        let scattered = radius_of(self.layout.bits(), FEW, self.rows).max(radius);
        self.divide(scattered, &self.unsearched()).map(|_| scattered.min(farthest))
    }

    pub(crate) fn unsearched(&self) -> Vec<SearchedWord> {
        // Bounded: the words of a code.
        vec![SearchedWord::default(); self.layout.words()]
    }

    fn grow_searched(
        &self,
        searched: &[SearchedWord],
        is_enough: impl Fn(&Division) -> bool,
    ) -> Option<Division> {
        let reaches = searched.iter().map(|word| word.reach).collect();
        self.grow(reaches, |word, reach| self.of_word(word, reach, searched[word]), is_enough)
    }

    /// Gives one bit after the other to the word where it costs least, until it is enough.
    fn grow(
        &self,
        reaches: Vec<u32>,
        cost: impl Fn(usize, u32) -> f64,
        is_enough: impl Fn(&Division) -> bool,
    ) -> Option<Division> {
        let more = |word, reach| cost(word, reach + 1) - cost(word, reach);
        // What the next bit costs in each word. It changes in the word alone that has got a bit.
        let mut next: Vec<f64> = reaches.iter().enumerate().map(|(word, &reach)| more(word, reach)).collect();
        let reached = reaches.iter().sum();
        let mut division = Division { reaches, reached, cost: 0.0 };
        while !is_enough(&division) {
            let (word, &cheapest) = next.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1))?;
            division.cost += cheapest;
            if division.cost >= self.of_all() {
                return None;
            }
            division.reaches[word] += 1;
            division.reached += 1;
            next[word] = more(word, division.reaches[word]);
        }
        Some(division)
    }

    /// The cost of searching a word that has been searched before.
    pub(crate) fn of_word(&self, word: usize, reach: u32, searched: SearchedWord) -> f64 {
        if reach <= searched.reach {
            return 0.0;
        }
        self.scattered(word, reach).cost() + searched.extra_cost
    }
}
