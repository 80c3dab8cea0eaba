//! Counting the entries and pages of an index, and checking that it is sound.
//!
//! Cost: every page that the roots lead to is read once. Only if the bands of a word differ, each of their
//! entries is looked for in the other bands. Only if words differ in their rows, or further columns do from
//! the first word, the rows of two trees are kept in memory.
//!
//! Others may change the index meanwhile. What a page says of itself holds at any moment. That a page does
//! not fit the one that leads to it is reported only if it has not been changed since the check began. And a
//! row that a tree lacks is looked for again after its insert was seen to be complete.

use crate::key::{BANDS, Filter, IndexKey, RowId, Tree, rotated, rotated_back};
use crate::page::{Page, PageNumber};
use crate::probe::Probe;
use crate::store::Store;
use crate::tree::{Index, TreePart, Walk};
use hamming::hash::scattered;
use limits::{Collector, OutOfMemory, push};
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
    pub page_number: PageNumber,
    /// What is wrong, for the user to read.
    pub text: String,
}

impl<'s, S: Store> Index<'s, S> {
    /// What each tree consists of. The numbers are not exact if others change the index meanwhile.
    pub fn totals(&self) -> Vec<Totals> {
        self.survey(&|_| false, &mut |_| {})
    }

    /// Reads every page that the roots lead to, and reports what is wrong. `is_changed` says whether others
    /// may have changed a page since the check began.
    ///
    /// A vacuum that was stopped leaves trees that differ in dead rows, and an insert that goes on has added
    /// its row to some trees only. These are no damage, so differences in rows that `may_differ` accepts are
    /// not reported.
    pub fn verify(
        &self,
        is_changed: &dyn Fn(&Page) -> bool,
        may_differ: &mut dyn FnMut(RowId) -> bool,
        report: &mut dyn FnMut(Damage),
    ) -> Result<(), OutOfMemory> {
        let mut is_sound = true;
        let totals = self.survey(is_changed, &mut |problem| {
            is_sound = false;
            report(problem);
        });
        // Only sound trees can be searched for entries.
        if !is_sound {
            return Ok(());
        }
        let mut left = MAX_DIFFERENCES;
        let (layout, first_tree) = (self.layout, self.layout.first_tree());
        for word in (0..layout.words()).take_while(|_| layout.has_word_trees()) {
            let trees = layout.trees_of(word);
            let [first, others @ ..] = &totals[layout.place(trees.start)..layout.place(trees.end)] else {
                continue;
            };
            if others.iter().any(|band| (band.entries, band.checksum) != (first.entries, first.checksum)) {
                self.report_differences(trees, may_differ, &mut left, report);
            } else if (first.entries, first.rows) != (totals[0].entries, totals[0].rows) {
                let trees = [&[first_tree][..], &[trees.start]];
                self.compare_rows(trees, may_differ, &mut left, report)?;
            }
        }
        self.verify_codes(&totals, may_differ, &mut left, report)?;
        self.verify_filters(&totals, may_differ, &mut left, report)
    }

    /// Compares the tree of whole codes with the words.
    fn verify_codes(
        &self,
        totals: &[Totals],
        may_differ: &mut dyn FnMut(RowId) -> bool,
        left: &mut usize,
        report: &mut dyn FnMut(Damage),
    ) -> Result<(), OutOfMemory> {
        let (layout, tree) = (self.layout, self.layout.code_tree());
        if !layout.has_code_tree() || !layout.has_word_trees() {
            return Ok(());
        }
        let (first, codes) = (totals[0], totals[layout.place(tree)]);
        if (first.entries, first.rows) != (codes.entries, codes.rows) {
            return self.compare_rows([&[layout.first_tree()], &[tree]], may_differ, left, report);
        }
        // The sums were taken at different times, while rows came and went.
        if self.sum_of_words(totals) != codes.checksum && self.differs_in_codes(tree, may_differ) {
            let text = "its codes are other ones than those of the words".to_string();
            report(Damage { page_number: layout.root(tree), text });
        }
        Ok(())
    }

    /// The sum over all rows and words, by the first tree of each word, or by whole codes.
    fn sum_of_words(&self, totals: &[Totals]) -> u64 {
        let layout = self.layout;
        if !layout.has_word_trees() {
            return totals[layout.place(layout.code_tree())].checksum;
        }
        let words = if layout.has_code_tree() { layout.words() } else { 1 };
        (0..words).fold(0, |sum, word| sum.wrapping_add(totals[word * BANDS].checksum))
    }

    /// Compares the tree of further columns with the first tree and the tree of NULLs.
    fn verify_filters(
        &self,
        totals: &[Totals],
        may_differ: &mut dyn FnMut(RowId) -> bool,
        left: &mut usize,
        report: &mut dyn FnMut(Damage),
    ) -> Result<(), OutOfMemory> {
        let layout = self.layout;
        if !layout.has_filter() {
            return Ok(());
        }
        let tree = layout.filter_tree();
        let of = |tree| totals[layout.place(tree)];
        let (first, nulls, filters) = (of(layout.first_tree()), of(layout.nulls()), of(tree));
        let sum = |part: fn(&Totals) -> u64| part(&first).wrapping_add(part(&nulls)) == part(&filters);
        if !sum(|tree| tree.entries) || !sum(|tree| tree.rows) {
            let trees = [&[layout.first_tree(), layout.nulls()][..], &[tree]];
            return self.compare_rows(trees, may_differ, left, report);
        }
        // The sums were taken at different times, while rows came and went.
        let checksum = self.sum_of_words(totals).wrapping_add(nulls.checksum);
        if checksum != filters.checksum && self.differs_in_codes(tree, may_differ) {
            let text = "further columns have other fingerprints than band 0".to_string();
            report(Damage { page_number: layout.root(tree), text });
        }
        Ok(())
    }

    /// Whether a tree of all rows has a code that others lack: the first tree of each of its words, or the
    /// tree of whole codes.
    fn differs_in_codes(&self, tree: Tree, may_differ: &mut dyn FnMut(RowId) -> bool) -> bool {
        let layout = self.layout;
        let mut walk = Walk::From(IndexKey::FIRST);
        while let Walk::From(key) = walk {
            self.store.check_for_interrupts();
            // Bounded: the entries of some leaves.
            let mut entries: Vec<(IndexKey, Vec<u64>)> = Vec::new();
            walk = self.walk(TreePart::all(tree), key, &Probe::ALL, &mut |leaf| {
                let slots = (0..leaf.len()).filter(|&slot| leaf.key(slot) >= key);
                entries.extend(slots.map(|slot| (leaf.key(slot), words_in(leaf, slot))));
                true
            });
            let lacks = |(entry, words): &(IndexKey, Vec<u64>)| {
                let has_words = |(word, &bits): (usize, &u64)| {
                    layout.keys_of(word, bits, entry.row).take(1).all(|(tree, key)| self.has(tree, key))
                };
                entry.filter != entry.filter.of_null_code()
                    && !if layout.has_word_trees() {
                        words.iter().enumerate().all(has_words)
                    } else {
                        self.has_code(layout.code_tree(), IndexKey::new(entry.bits, entry.row), Some(words))
                    }
            };
            if entries.iter().any(|entry| lacks(entry) && !may_differ(entry.0.row)) {
                return true;
            }
        }
        false
    }

    /// Reports rows that one of two groups of trees has and the other one lacks.
    fn compare_rows(
        &self,
        trees: [&[Tree]; 2],
        may_differ: &mut dyn FnMut(RowId) -> bool,
        left: &mut usize,
        report: &mut dyn FnMut(Damage),
    ) -> Result<(), OutOfMemory> {
        let suspects = self.rows_of_one(trees, &mut |row| !may_differ(row))?;
        // An insert that is complete by now may not have been when the trees were read.
        if !suspects.is_empty() {
            let differing =
                self.rows_of_one(trees, &mut |row| suspects.iter().any(|&(_, other)| other == row))?;
            self.report_rows(trees, &differing, left, report);
        }
        Ok(())
    }

    /// Walks through all trees, and reports pages that are wrong.
    fn survey(&self, is_changed: &dyn Fn(&Page) -> bool, report: &mut dyn FnMut(Damage)) -> Vec<Totals> {
        let mut seen = HashSet::new();
        // Bounded: the trees of an index.
        let mut trees = vec![Totals::default(); self.layout.trees().count()];
        for (tree, totals) in self.layout.trees().zip(&mut trees) {
            let mut survey = Survey { index: self, tree, totals, seen: &mut seen, is_changed, report };
            survey.visit(self.layout.root(tree), None, IndexKey::FIRST, None);
        }
        trees
    }

    /// Looks for the entries of each of a word's bands in its other bands.
    fn report_differences(
        &self,
        trees: Range<Tree>,
        may_differ: &mut dyn FnMut(RowId) -> bool,
        left: &mut usize,
        report: &mut dyn FnMut(Damage),
    ) {
        for tree in trees.clone() {
            let mut from = IndexKey::FIRST;
            while *left > 0 {
                self.store.check_for_interrupts();
                let mut entries = Vec::new();
                let walk = self.entries(TreePart::all(tree), from, &mut |entry| {
                    entries.push(entry);
                });
                for entry in entries {
                    let missing = || self.missing_elsewhere(trees.clone(), tree, entry);
                    if missing().next().is_none() || may_differ(entry.row) {
                        continue;
                    }
                    // Whoever inserted the row is done. It may have been removed since.
                    let problems: Vec<Damage> = missing().take(*left).collect();
                    if self.has(tree, entry) {
                        *left -= problems.len();
                        problems.into_iter().for_each(&mut *report);
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
    fn missing_elsewhere(
        &self,
        trees: Range<Tree>,
        tree: Tree,
        entry: IndexKey,
    ) -> impl Iterator<Item = Damage> {
        let word = rotated_back(entry.bits, tree);
        let others = trees.filter(move |&other| other != tree);
        let lacking =
            others.filter(move |&other| !self.has(other, IndexKey::new(rotated(word, other), entry.row)));
        lacking.map(move |other| {
            let row = self.layout.name_of(entry.row, Some(word));
            let [has, lacks] = [tree, other].map(|tree| self.layout.place(tree));
            let text = format!("{row} is in band {has}, not in band {lacks}");
            Damage { page_number: self.layout.root(other), text }
        })
    }

    /// The rows that one of two groups of trees has and the other one lacks, if they are accepted: with the
    /// place of the group that has them, 0 or 1. No more than are reported.
    fn rows_of_one(
        &self,
        trees: [&[Tree]; 2],
        accepts: &mut dyn FnMut(RowId) -> bool,
    ) -> Result<Vec<(usize, RowId)>, OutOfMemory> {
        let rows = [self.rows_of(trees[0])?, self.rows_of(trees[1])?];
        let mut differing = Vec::new();
        for (place, others) in [(0, &rows[1]), (1, &rows[0])] {
            let lacking = rows[place].iter().filter(|row| others.binary_search(row).is_err());
            let accepted = lacking.filter(|&&row| accepts(row)).take(MAX_DIFFERENCES - differing.len());
            for &row in accepted {
                push(&mut differing, (place, row))?;
            }
        }
        Ok(differing)
    }

    /// Reports rows that one of two groups of trees lacks.
    fn report_rows(
        &self,
        trees: [&[Tree]; 2],
        differing: &[(usize, RowId)],
        left: &mut usize,
        report: &mut dyn FnMut(Damage),
    ) {
        for &(place, row) in differing.iter().take(*left) {
            let row = self.layout.name_of(row, None);
            let (has, lacks) = (trees[place][0], trees[1 - place][0]);
            let [filters, codes] = [self.layout.filter_tree(), self.layout.code_tree()];
            let text = match (has, lacks) {
                (_, tree) if tree == filters => format!("{row} is missing among further columns"),
                (tree, _) if tree == filters => format!("{row} is among further columns alone"),
                (_, tree) if tree == codes => format!("{row} is missing among whole codes"),
                (tree, _) if tree == codes => format!("{row} is among whole codes alone"),
                _ => {
                    let [has, lacks] = [has, lacks].map(|tree| self.layout.place(tree));
                    format!("{row} is in band {has}, not in band {lacks}")
                }
            };
            report(Damage { page_number: self.layout.root(lacks), text });
        }
        *left -= differing.len().min(*left);
    }

    /// The rows of some trees, in order.
    fn rows_of(&self, trees: &[Tree]) -> Result<Vec<RowId>, OutOfMemory> {
        let mut rows = Vec::new();
        for &tree in trees {
            let mut walk = Walk::From(IndexKey::FIRST);
            while let Walk::From(key) = walk {
                self.store.check_for_interrupts();
                let mut found = Collector::new(&mut rows);
                let add = &mut |entry: IndexKey| found.add(entry.row);
                walk = self.entries(TreePart::all(tree), key, add);
                found.finish()?;
            }
        }
        rows.sort_unstable();
        Ok(rows)
    }
}

/// The words of the entry in a slot of a leaf: one, if the leaf has no whole codes.
fn words_in(leaf: &Page, slot: usize) -> Vec<u64> {
    std::iter::once(leaf.key(slot).bits).chain(leaf.tail(slot)).collect()
}

/// A walk through all pages of one tree.
struct Survey<'a, 's, S> {
    index: &'a Index<'s, S>,
    tree: Tree,
    totals: &'a mut Totals,
    seen: &'a mut HashSet<PageNumber>,
    is_changed: &'a dyn Fn(&Page) -> bool,
    report: &'a mut dyn FnMut(Damage),
}

impl<S: Store> Survey<'_, '_, S> {
    /// Visits a node and all below it, whose keys must lie from `low` on and before `end`.
    fn visit(&mut self, page_number: PageNumber, level: Option<u8>, low: IndexKey, end: Option<IndexKey>) {
        let store = self.index.store;
        store.check_for_interrupts();
        if page_number >= store.pages() {
            return self.problem(page_number, "there is no such page, but another one leads to it");
        }
        let page = Page::clone(&store.share(page_number));
        let is_first_visit = self.seen.insert(page_number);
        if let Some(damage) = page.damage().filter(|_| is_first_visit) {
            return self.problem(page_number, damage);
        }
        if let Some(problem) = self.misfit(&page, is_first_visit, level, low, end)
            && !(self.is_changed)(&page)
        {
            self.problem(page_number, problem);
        }
        // There is no sense in what lies below.
        if page.tree() != self.tree || !is_first_visit || level.is_some_and(|level| level != page.level()) {
            return;
        }
        self.totals.height = self.totals.height.max(u32::from(page.level()) + 1);
        if page.level() == 0 {
            self.visit_leaf(page_number, &page)
        } else {
            self.visit_inner(page_number, &page, low, end)
        }
    }

    /// Why a page cannot be the one that another page leads to.
    fn misfit(
        &self,
        page: &Page,
        is_first_visit: bool,
        level: Option<u8>,
        low: IndexKey,
        end: Option<IndexKey>,
    ) -> Option<&'static str> {
        if !is_first_visit {
            return Some("two pages lead to it");
        }
        if page.tree() != self.tree {
            return Some("it belongs to another tree, or to none");
        }
        if level.is_some_and(|level| level != page.level()) {
            return Some("it is at another level of its tree");
        }
        let is_elsewhere = page.keys().any(|key| key < low || end.is_some_and(|end| key >= end));
        is_elsewhere.then_some("it has keys that belong elsewhere")
    }

    fn visit_leaf(&mut self, page_number: PageNumber, page: &Page) {
        for slot in 0..page.len() {
            // Sums of scattered numbers differ where sets do.
            let key = page.key(slot);
            let row = scattered(key.row.number());
            let is_null = key.filter != Filter::NONE && key.filter == key.filter.of_null_code();
            let tail = page.tail(slot).take_while(|_| !is_null);
            for word in std::iter::once(rotated_back(key.bits, self.tree)).chain(tail) {
                self.totals.checksum = self.totals.checksum.wrapping_add(scattered(word ^ row));
            }
            self.totals.rows = self.totals.rows.wrapping_add(row);
        }
        let mut keys: Vec<IndexKey> = page.keys().collect();
        keys.sort_unstable();
        if keys.windows(2).any(|pair| pair[0] == pair[1]) {
            self.problem(page_number, "it has a row twice");
        }
        if self.tree == self.index.layout.nulls() && keys.iter().any(|key| key.bits != 0) {
            self.problem(page_number, "it has fingerprints among the rows that have none");
        }
        self.totals.leaves += 1;
        self.totals.entries += keys.len() as u64;
    }

    fn visit_inner(&mut self, page_number: PageNumber, page: &Page, low: IndexKey, end: Option<IndexKey>) {
        self.totals.inner += 1;
        let children = page.children();
        if children.is_empty() {
            return self.problem(page_number, "it is an inner page without children");
        }
        if children.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
            return self.problem(page_number, "its keys are out of order");
        }
        for (index, &(key, child)) in children.iter().enumerate() {
            let low = if index == 0 { low } else { key };
            let end = children.get(index + 1).map(|&(next, _)| next).or(end);
            self.visit(child, Some(page.level() - 1), low, end);
        }
    }

    fn problem(&mut self, page_number: PageNumber, text: &str) {
        (self.report)(Damage { page_number, text: text.to_string() });
    }
}
