//! Counting the entries and pages of an index, and checking that it is sound.
//!
//! Cost: every page that the roots lead to is read once. Only if the bands of a word differ, each of their
//! entries is looked for in the other bands. Only if words differ in their rows, or further columns do from
//! the first word, the rows of two trees are kept in memory.
//!
//! Others may change the index meanwhile. What a page says of itself holds at any moment. That a page does
//! not fit the one that leads to it is reported only if it has not been changed since the check began. And a
//! row that a tree lacks is looked for again after its insert was seen to be complete.

use crate::key::{Filter, IndexKey, RowId, Tree, rotated_back};
use crate::page::{Page, PageNumber};
use crate::store::Store;
use crate::tree::Index;
use base::OutOfMemory;
use hamming::hash::scattered;
use std::collections::HashSet;

mod differences;

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
        if layout.has_code_tree() && layout.has_word_trees() {
            let (trees, text) = ([layout.code_tree()], "its codes are other ones than those of the words");
            self.verify_tree([&[first_tree], &trees], text, &totals, may_differ, &mut left, report)?;
        }
        if layout.has_filter() {
            let (trees, text) =
                ([layout.filter_tree()], "further columns have other fingerprints than band 0");
            let others = [first_tree, layout.nulls()];
            self.verify_tree([&others, &trees], text, &totals, may_differ, &mut left, report)?;
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
        let page = Page::clone(&store.read(page_number));
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
            // A code that is NULL has zeros for words, as many as the tree has.
            for word in page.words(slot).take(if is_null { 1 } else { usize::MAX }) {
                let word = rotated_back(word, self.tree);
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
