//! Counting the entries and pages of an index, and checking that it is sound.
//!
//! Cost: every page that the roots lead to is read once. Only if the bands of a word differ, each of their
//! entries is looked for in the other bands. Only if words differ in their rows, the rows of two words are
//! kept in memory.

use crate::key::{Key, RowId, Tree, rotated, rotated_back};
use crate::page::{Block, Page};
use crate::store::Store;
use crate::tree::{Index, Walk};
use limits::{OutOfMemory, reserve};
use std::collections::HashSet;
use std::ops::Range;

/// What a tree consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Entries, one for each row.
    pub entries: u64,
    /// Pages of level 0, which have the entries.
    pub leaves: u64,
    /// Pages above the leaves.
    pub inner: u64,
    /// Levels, that of the leaves included.
    pub height: u32,
    /// A sum over all rows and words, equal in all bands of a word.
    checksum: u64,
    /// A sum over all rows, equal in all words.
    rows: u64,
}

/// Differences between bands that are reported, at most: more of them tell nothing new.
const MAX_DIFFERENCES: usize = 1000;

/// Something wrong with an index, and the page where it was seen.
pub struct Damage {
    /// The number of the page.
    pub block: Block,
    /// What is wrong, for the user to read.
    pub text: String,
}

impl<'s, S: Store> Index<'s, S> {
    /// What each tree consists of. The numbers are not exact if others change the index meanwhile.
    pub fn totals(&self) -> Vec<Totals> {
        self.survey(&mut |_| {})
    }

    /// Reads every page that the roots lead to, and reports what is wrong. Nobody may change the index
    /// meanwhile.
    ///
    /// A vacuum that was stopped leaves trees that differ in dead rows. These are no damage, so differences
    /// in rows that `is_dead` accepts are not reported.
    pub fn verify(
        &self,
        is_dead: &mut dyn FnMut(RowId) -> bool,
        report: &mut dyn FnMut(Damage),
    ) -> Result<(), OutOfMemory> {
        let mut is_sound = true;
        let totals = self.survey(&mut |problem| {
            is_sound = false;
            report(problem);
        });
        // Only sound trees can be searched for entries.
        if !is_sound {
            return Ok(());
        }
        let mut left = MAX_DIFFERENCES;
        let (layout, first_tree) = (self.layout, self.layout.first_tree());
        for word in 0..layout.words() {
            let trees = layout.trees_of(word);
            let [first, others @ ..] = &totals[layout.place(trees.start)..layout.place(trees.end)] else {
                continue;
            };
            if others.iter().any(|band| (band.entries, band.checksum) != (first.entries, first.checksum)) {
                self.report_differences(trees, is_dead, &mut left, report);
            } else if (first.entries, first.rows) != (totals[0].entries, totals[0].rows) {
                let rows = [self.rows_of(first_tree, &totals[0])?, self.rows_of(trees.start, first)?];
                self.report_rows([first_tree, trees.start], &rows, is_dead, &mut left, report);
            }
        }
        Ok(())
    }

    /// Walks through all trees, and reports pages that are wrong.
    fn survey(&self, report: &mut dyn FnMut(Damage)) -> Vec<Totals> {
        let mut seen = HashSet::new();
        let mut trees = vec![Totals::default(); self.layout.bands() + 1];
        for (tree, totals) in self.layout.trees().zip(&mut trees) {
            let mut survey = Survey { index: self, tree, totals, seen: &mut seen, report };
            survey.visit(self.layout.root(tree), None, Key::FIRST, None);
        }
        trees
    }

    /// Looks for the entries of each of a word's bands in its other bands.
    fn report_differences(
        &self,
        trees: Range<Tree>,
        is_dead: &mut dyn FnMut(RowId) -> bool,
        left: &mut usize,
        report: &mut dyn FnMut(Damage),
    ) {
        for tree in trees.clone() {
            let mut from = Key::FIRST;
            while *left > 0 {
                self.store.check_for_interrupts();
                let mut entries = Vec::new();
                let walk = self.entries(tree, from, &mut |entry| entries.push(entry));
                for entry in entries {
                    let problems = self.missing_elsewhere(trees.clone(), tree, entry);
                    let mut problems = problems.take(*left).peekable();
                    if problems.peek().is_some() && !is_dead(entry.row) {
                        problems.for_each(|problem| {
                            *left -= 1;
                            report(problem);
                        });
                    }
                }
                match walk {
                    Walk::From(key) => from = key,
                    Walk::Done => break,
                }
            }
        }
    }

    /// The bands of a word that lack an entry of this one.
    fn missing_elsewhere(&self, trees: Range<Tree>, tree: Tree, entry: Key) -> impl Iterator<Item = Damage> {
        let word = rotated_back(entry.bits, tree);
        let others = trees.filter(move |&other| other != tree);
        let lacking =
            others.filter(move |&other| !self.has(other, Key { bits: rotated(word, other), row: entry.row }));
        lacking.map(move |other| {
            let row = self.layout.name_of(entry.row, Some(word));
            let [has, lacks] = [tree, other].map(|tree| self.layout.place(tree));
            let text = format!("{row} is in band {has}, not in band {lacks}");
            Damage { block: self.layout.root(other), text }
        })
    }

    /// Looks for the rows of each of two trees in the other one.
    fn report_rows(
        &self,
        [a, b]: [Tree; 2],
        [in_a, in_b]: &[Vec<RowId>; 2],
        is_dead: &mut dyn FnMut(RowId) -> bool,
        left: &mut usize,
        report: &mut dyn FnMut(Damage),
    ) {
        for (has, lacks, rows, others) in [(a, b, in_a, in_b), (b, a, in_b, in_a)] {
            for &row in rows.iter().filter(|row| others.binary_search(row).is_err()) {
                if *left > 0 && !is_dead(row) {
                    *left -= 1;
                    let row = self.layout.name_of(row, None);
                    let [has, without] = [has, lacks].map(|tree| self.layout.place(tree));
                    let text = format!("{row} is in band {has}, not in band {without}");
                    report(Damage { block: self.layout.root(lacks), text });
                }
            }
        }
    }

    /// The rows of a tree, in order.
    fn rows_of(&self, tree: Tree, totals: &Totals) -> Result<Vec<RowId>, OutOfMemory> {
        let (mut rows, mut walk) = (Vec::new(), Walk::From(Key::FIRST));
        reserve(&mut rows, totals.entries as usize)?;
        while let Walk::From(key) = walk {
            self.store.check_for_interrupts();
            walk = self.entries(tree, key, &mut |entry| rows.push(entry.row));
        }
        rows.sort_unstable();
        Ok(rows)
    }
}

/// A walk through all pages of one tree.
struct Survey<'a, 's, S> {
    index: &'a Index<'s, S>,
    tree: Tree,
    totals: &'a mut Totals,
    seen: &'a mut HashSet<Block>,
    report: &'a mut dyn FnMut(Damage),
}

impl<S: Store> Survey<'_, '_, S> {
    /// Visits a node and all below it, whose keys must lie from `low` on and before `end`.
    fn visit(&mut self, block: Block, level: Option<u8>, low: Key, end: Option<Key>) {
        let store = self.index.store;
        store.check_for_interrupts();
        if block >= store.pages() {
            return self.problem(block, "there is no such page, but another one leads to it");
        }
        if !self.seen.insert(block) {
            return self.problem(block, "two pages lead to it");
        }
        let page = Page::clone(&store.share(block));
        if let Some(damage) = page.damage() {
            return self.problem(block, damage);
        }
        if page.tree() != self.tree {
            return self.problem(block, "it belongs to another tree, or to none");
        }
        if level.is_some_and(|level| level != page.level()) {
            return self.problem(block, "it is at another level of its tree");
        }
        if page.keys().any(|key| key < low || end.is_some_and(|end| key >= end)) {
            self.problem(block, "it has keys that belong elsewhere");
        }
        self.totals.height = self.totals.height.max(u32::from(page.level()) + 1);
        if page.level() == 0 {
            self.visit_leaf(block, &page)
        } else {
            self.visit_inner(block, &page, low, end)
        }
    }

    fn visit_leaf(&mut self, block: Block, page: &Page) {
        let mut keys: Vec<Key> = page.keys().collect();
        keys.sort_unstable();
        if keys.windows(2).any(|pair| pair[0] == pair[1]) {
            self.problem(block, "it has a row twice");
        }
        if self.tree == self.index.layout.nulls() && keys.iter().any(|key| key.bits != 0) {
            self.problem(block, "it has fingerprints among the rows that have none");
        }
        self.totals.leaves += 1;
        self.totals.entries += keys.len() as u64;
        for key in keys {
            let sum = mix(rotated_back(key.bits, self.tree) ^ mix(key.row.number()));
            self.totals.checksum = self.totals.checksum.wrapping_add(sum);
            self.totals.rows = self.totals.rows.wrapping_add(mix(key.row.number()));
        }
    }

    fn visit_inner(&mut self, block: Block, page: &Page, low: Key, end: Option<Key>) {
        self.totals.inner += 1;
        let children = page.children();
        if children.is_empty() {
            return self.problem(block, "it is an inner page without children");
        }
        if children.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
            return self.problem(block, "its keys are out of order");
        }
        for (index, &(key, child)) in children.iter().enumerate() {
            let low = if index == 0 { low } else { key };
            let end = children.get(index + 1).map(|&(next, _)| next).or(end);
            self.visit(child, Some(page.level() - 1), low, end);
        }
    }

    fn problem(&mut self, block: Block, text: &str) {
        (self.report)(Damage { block, text: text.to_string() });
    }
}

/// Spreads a number over 64 bits (the finalizer of SplitMix64), so that sums tell sets apart.
fn mix(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
