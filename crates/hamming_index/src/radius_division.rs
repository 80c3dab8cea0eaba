//! Computes the cost of a search, and divides its radius among the words of codes.
//!
//! A code of one word is searched with the whole radius, and no row is fetched; [`crate::search_cost`]
//! computes this cost. The following is about codes of several words.
//!
//! Two codes that differ in at most r bits cannot differ in many bits of every word. Suppose that the search
//! finds the codes whose word i differs in fewer than n_i bits. We call n_i the **reach** of the word; a word
//! with reach 0 is not searched. A code that no word finds differs in at least n_i bits of each word i, so in
//! at least the sum of the reaches. If this sum is r + 1, no code within the radius is missed (GPH: Qin and
//! others 2018). A cheap division is found by giving one bit at a time to the word where it costs least.
//!
//! At first, costs assume scattered codes. If searching a word turns out to cost more, the difference is
//! added. So a word that is the same in half of the rows is left out, and the others are searched farther.

use crate::key::{Filter, Tree};
use crate::layout::Layout;
use crate::search_cost::{self, ExpectedWork, FEW, LAST, entries_in, leaves_read, radius_of};
use crate::sorted::pieces;
use crate::tree::TreePart;
use hamming::code::volumes;

/// Rows that are fetched from the table in the time of reading a leaf.
const ROWS_PER_LEAF: f64 = 1.0;
/// Rows that are fetched in this time if all are fetched, in the order of the table.
const ROWS_IN_ORDER_PER_LEAF: f64 = 4.0;
/// Each pass of an ordered search costs about this multiple of the one before. So all passes together cost
/// little more than the last one.
const MORE: f64 = 3.0;

/// If a pass of an ordered search would cost this fraction of fetching all rows, we no longer hope for near
/// rows.
const LITTLE: f64 = 1.0 / 16.0;
/// The nearest codes are expected to differ in at most one in so many bits, as copies of a picture do. A pass
/// looks for them if it costs less than this fraction of fetching all rows.
const NEAR_PART: u32 = 8;
const WORTH_NEAR: f64 = 1.0 / 4.0;

/// A word may cost this multiple of what was expected before it is abandoned.
const ALLOWED_MULTIPLE: f64 = 4.0;
/// What a word may cost in any case, in leaves: less than searching other words.
const ALWAYS_ALLOWED: f64 = 64.0;

/// The cost at which a word with this expected cost is abandoned, if others can be searched farther for less.
pub(crate) fn allowed_cost(expected: f64) -> f64 {
    ALWAYS_ALLOWED.max(ALLOWED_MULTIPLE * expected)
}

/// The time to read a leaf of whole codes and compare them, in leaves of a band.
pub const CODES_PER_LEAF: f64 = 1.5;

/// The time to read a tree from end to end, relative to a band's tree.
fn sequential_leaves(layout: Layout, tree: Tree) -> f64 {
    if layout.has_code_tree() { layout.leaves_per_band(tree) * CODES_PER_LEAF } else { 1.0 }
}

/// The costs of searching an index, if codes are scattered. The unit is the time of reading a leaf.
#[derive(Clone, Debug)]
pub struct SearchCosts {
    layout: Layout,
    pub(crate) leaves: f64,
    /// The filter of the wanted rows; `None` if all rows are wanted.
    pub(crate) filter: Option<Filter>,
    /// The number of leaves of one tree that have all wanted rows.
    sequential: f64,
    /// The number of wanted rows.
    rows: f64,
    /// For each width of a word, from `least` on: the work for each reach. Empty if codes have one word.
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
    /// The additional cost of searching the word farther, compared with scattered codes.
    pub(crate) extra_cost: f64,
}

/// A division of a radius among the words.
#[derive(Clone, Debug)]
pub(crate) struct RadiusDivision {
    /// The reach of each word.
    pub(crate) reaches: Vec<u32>,
    /// The sum of the reaches.
    reached: u32,
    pub(crate) cost: f64,
}

impl RadiusDivision {
    /// The cheapest word that is still to be searched, with its reach and its cost.
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

    /// The radius within which no code is missed; -1 if no word has a reach.
    fn radius(&self) -> i64 {
        i64::from(self.reached) - 1
    }
}

impl SearchCosts {
    /// The costs in an index whose trees have about `leaves` leaves each.
    pub fn new(layout: Layout, leaves: f64) -> Self {
        let widths = (0..layout.words()).map(|word| layout.width(word));
        let (least, most) = widths.fold((u64::BITS, 0), |(l, m), width| (width.min(l), width.max(m)));
        let rows = entries_in(leaves);
        let table = |width| {
            let work = |(radius, fraction)| ExpectedWork {
                leaves: leaves_read(leaves, radius, width),
                fetched: rows * fraction,
                ..ExpectedWork::default()
            };
            std::iter::once(ExpectedWork::default()).chain((0..).zip(volumes(width)).map(work)).collect()
        };
        let tables = if layout.is_one_word() { Vec::new() } else { (least..=most).map(table).collect() };
        let sequential = leaves * sequential_leaves(layout, layout.tree_of_all());
        Self { layout, leaves, filter: None, sequential, rows, tables, least }
    }

    /// The costs of finding only the rows with this filter, which are in about `leaves` leaves.
    #[must_use]
    pub fn of_filter(&self, filter: Filter, leaves: f64) -> Self {
        let sequential = if self.layout.has_code_tree() { leaves * CODES_PER_LEAF } else { leaves };
        let rows = entries_in(sequential / sequential_leaves(self.layout, self.layout.filter_tree()));
        Self { filter: Some(filter), sequential, rows, ..self.clone() }
    }

    /// The part of a tree that has all wanted rows with a code.
    pub(crate) fn all_rows(&self) -> TreePart {
        let all = TreePart::all(self.layout.tree_of_all());
        self.filter.map_or(all, |filter| TreePart::of_filter(self.layout, filter))
    }

    /// The part of a tree that is read instead of a word's bands if that costs less, and its number of
    /// leaves.
    pub(crate) fn instead_of_bands(&self, word: usize) -> (TreePart, f64) {
        // If codes have several words, the bands of a word find few rows, and `all_rows` is sorted by the
        // first word only.
        match self.layout.is_one_word() {
            true => (self.all_rows(), self.sequential),
            false => (TreePart::all(self.layout.trees_of(word).start), self.leaves),
        }
    }

    /// The layout of the index.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The cost of reading one tree from end to end, and of fetching all rows unless the tree has whole
    /// codes.
    fn of_all(&self) -> f64 {
        self.sequential + if self.layout.has_code_tree() { 0.0 } else { self.rows / ROWS_IN_ORDER_PER_LEAF }
    }

    /// The work of a search with this radius, if codes are scattered. (The search divides the radius again if
    /// a word costs more than allowed.)
    pub fn expected(&self, radius: u32) -> ExpectedWork {
        let radius = radius.min(self.layout.bits());
        if self.layout.is_one_word() {
            let leaves = leaves_read(self.leaves, radius, self.layout.bits()).min(self.sequential);
            return ExpectedWork { leaves, ..ExpectedWork::default() };
        }
        let Some(division) = self.divide(radius, &self.unsearched()) else { return self.everything() };
        let words = division.reaches.iter().enumerate().map(|(word, &reach)| self.scattered(word, reach));
        words.fold(ExpectedWork::default(), |sum, word| sum.plus(1.0, word))
    }

    /// The work of reading one tree from end to end, and of fetching all rows unless the tree has whole
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

    /// The work of finding the `wanted` nearest rows, or all rows within `farthest_asked` if these are
    /// fewer, if codes are scattered. Each pass finds its rows again, and the last pass is repeated for each
    /// piece of about `max_sorted` rows.
    pub fn nearest(&self, wanted: f64, farthest_asked: u32, max_sorted: usize) -> ExpectedWork {
        let farthest = radius_of(self.layout.bits(), wanted, self.rows).min(farthest_asked);
        let mut pass = self.layout.has_word_trees().then(|| self.first_radius().min(farthest));
        let mut all = ExpectedWork::default();
        loop {
            let work = pass.map_or(self.everything(), |radius| self.expected(radius));
            let is_last = pass.is_none_or(|radius| radius >= farthest);
            let times = if is_last { pieces(wanted.min(self.rows), max_sorted) } else { 1.0 };
            all = all.plus(times, work);
            if is_last {
                return all;
            }
            pass = pass.and_then(|radius| self.next_radius(radius, farthest_asked));
        }
    }

    /// The cheapest division that misses no code within the radius; `None` if fetching all rows is cheaper.
    pub(crate) fn divide(&self, radius: u32, searched: &[SearchedWord]) -> Option<RadiusDivision> {
        if !self.layout.has_word_trees() {
            return None;
        }
        self.grow(searched, |division| division.radius() >= radius.into())
    }

    /// The radius of the first pass of an ordered search, which reads one leaf of each tree.
    pub(crate) fn first_radius(&self) -> u32 {
        if self.layout.is_one_word() {
            return search_cost::first_radius(self.leaves, self.sequential, self.layout.bits());
        }
        self.layout.bands() as u32 - 1
    }

    /// The radius of the pass after the one with this radius, at most `farthest`; `None` if that pass fetches
    /// all rows.
    ///
    /// Most queries have either some near rows, or none that are nearer than scattered rows. So the radius
    /// grows until a pass would cost a good part of fetching all rows; the next radius is that of the nearest
    /// scattered rows. The last pass but one is left out if the last one costs at most [`LAST`] times as
    /// much.
    pub(crate) fn next_radius(&self, radius: u32, farthest: u32) -> Option<u32> {
        if self.layout.is_one_word() {
            return Some(search_cost::next_radius(
                self.leaves,
                self.sequential,
                radius,
                farthest,
                self.layout.bits(),
            ));
        }
        let enough = MORE * self.divide(radius, &self.unsearched())?.cost;
        let next = self.grow(&self.unsearched(), |division| {
            division.radius() > radius.into() && division.cost >= enough
        })?;
        if self.divide(farthest, &self.unsearched()).is_some_and(|last| last.cost <= LAST * next.cost) {
            return Some(farthest);
        }
        let near = self.layout.bits() / NEAR_PART;
        let next_radius = next.radius() as u32;
        if next.cost < LITTLE * self.of_all() {
            return Some(next_radius);
        }
        let is_worth = |near: RadiusDivision| near.cost < WORTH_NEAR * self.of_all();
        if radius < near && self.divide(near, &self.unsearched()).is_some_and(is_worth) {
            return Some(near.min(farthest));
        }
        let scattered = radius_of(self.layout.bits(), FEW, self.rows).max(next_radius);
        self.divide(scattered, &self.unsearched()).map(|_| scattered.min(farthest))
    }

    pub(crate) fn unsearched(&self) -> Vec<SearchedWord> {
        // Bounded: the words of a code.
        vec![SearchedWord::default(); self.layout.words()]
    }

    /// Gives one bit after the other to the word where it costs least, until `is_enough` returns true.
    fn grow(
        &self,
        searched: &[SearchedWord],
        is_enough: impl Fn(&RadiusDivision) -> bool,
    ) -> Option<RadiusDivision> {
        let reaches: Vec<u32> = searched.iter().map(|word| word.reach).collect();
        let cost = |word, reach| self.of_word(word, reach, searched[word]);
        let more = |word, reach| cost(word, reach + 1) - cost(word, reach);
        // The cost of the next bit in each word. Only the cost of the word that gets a bit changes.
        let mut next: Vec<f64> = reaches.iter().enumerate().map(|(word, &reach)| more(word, reach)).collect();
        let reached = reaches.iter().sum();
        let mut division = RadiusDivision { reaches, reached, cost: 0.0 };
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
        debug_assert_eq!(
            division.reached,
            division.reaches.iter().sum::<u32>(),
            "the radius is divided among the words"
        );
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise codes at about the distance of the radius would be read twice.
    #[test]
    fn the_nearest_within_a_radius_cost_little_more_than_all_within_it() {
        for (bits, radius, leaves) in
            [(128, 12, 2_000.0), (256, 31, 2_000.0), (256, 31, 20_000.0), (576, 60, 2_000.0)]
        {
            let costs = SearchCosts::new(Layout::of_codes(bits), leaves);
            let [nearest, all] = [costs.nearest(1.0, radius, 1000), costs.expected(radius)];
            assert!(nearest.cost() < 1.25 * all.cost(), "{bits} bits: {nearest:?}, {all:?}");
        }
    }

    #[test]
    fn the_nearest_cost_more_the_more_are_wanted() {
        let costs = SearchCosts::new(Layout::FINGERPRINTS, 1818.0);
        let leaves = |wanted, farthest| costs.nearest(wanted, farthest, 32_768).leaves;
        let wanted = [1.0, 10.0, 100.0, 1000.0, 1e4, 1e5, 1e6, f64::INFINITY];
        assert!(wanted.map(|wanted| leaves(wanted, 64)).is_sorted());
        // The ten nearest were measured to take 1455 pages, including pages above the leaves.
        let ten = leaves(10.0, 64);
        assert!((1455.0 / 1.6..1455.0 * 1.6).contains(&ten), "{ten}");
        // All rows are collected in 29 pieces, the first of which are small.
        assert!((29.0..33.0).contains(&(leaves(f64::INFINITY, 64) / 1818.0)));
        assert_eq!(SearchCosts::new(Layout::FINGERPRINTS, 1.0).nearest(1.0, 64, 0).leaves, 1.0);
    }
}
