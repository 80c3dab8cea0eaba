//! Counts the entries and pages of an index, and checks it for damage.
//!
//! Cost: every page below a root is read once, and sums are taken over the entries of each tree. If trees
//! that should have the same entries have other sums, because of damage or because others change the index
//! meanwhile, each of their pages is read two or three times more, without the checks of the first time: once
//! to find the buckets of rows in which they differ ([`buckets`]), and then to compare the rows of these
//! buckets ([`differences`]). Entries are looked up in the other bands of a word, with one descent each. Rows
//! of two trees that are not bands of one word are kept in memory.
//!
//! Other processes may change the index meanwhile. Damage within a page is reported in any case. If a page
//! does not fit the page that points to it, that is reported only if the page has not been changed since the
//! check began. A row that a tree lacks is looked up again after its insert must be complete.

use crate::key::{Filter, IndexKey, RowId, Tree, rotated_back};
use crate::page::{Page, PageNumber};
use crate::store::Store;
use crate::tree::Index;
use base::OutOfMemory;
use hamming::hash::scattered;
use std::collections::HashSet;

mod buckets;
mod differences;

/// Counts of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The number of entries, one for each row.
    pub entries: u64,
    /// The number of leaves.
    pub leaves: u64,
    /// The number of pages above the leaves.
    pub inner: u64,
    /// The number of levels, including the leaves.
    pub height: u32,
    /// A sum over all rows and words, which is equal in all bands of a word.
    checksum: u64,
    /// A sum over all rows, which is equal for all words.
    rows: u64,
}

impl Totals {
    /// The totals of two trees together.
    fn and(self, other: Self) -> Self {
        Self {
            entries: self.entries + other.entries,
            leaves: self.leaves + other.leaves,
            inner: self.inner + other.inner,
            height: self.height.max(other.height),
            checksum: self.checksum.wrapping_add(other.checksum),
            rows: self.rows.wrapping_add(other.rows),
        }
    }

    /// Whether both seem to have the same rows.
    fn has_rows_of(&self, other: &Self) -> bool {
        self.entries == other.entries && self.rows == other.rows
    }

    /// Whether both seem to have the same rows with the same words.
    fn has_codes_of(&self, other: &Self) -> bool {
        self.entries == other.entries && self.checksum == other.checksum
    }
}

/// Hashes of an entry. Sums of hashes differ if the entries differ.
#[derive(Clone, Copy)]
struct EntryHashes {
    /// A hash of the row.
    row: u64,
    /// The sum of a hash for each word of the row's code that the leaf has. It is equal in all bands of a
    /// word.
    words: u64,
}

/// The hashes of the entry with this key, in this slot of a leaf.
#[inline]
fn hashes_of(key: IndexKey, leaf: &Page, slot: usize) -> EntryHashes {
    let row = scattered(key.row.number());
    let is_null = key.filter != Filter::NONE && key.filter == key.filter.of_null_code();
    // A code that is NULL is stored as zeros, as many words as the tree has.
    let words = leaf.words(slot).take(if is_null { 1 } else { usize::MAX });
    let tree = leaf.tree();
    let hashes = words.map(|word| scattered(rotated_back(word, tree) ^ row));
    EntryHashes { row, words: hashes.fold(0, u64::wrapping_add) }
}

/// The largest number of differences between bands that are reported; more would tell nothing new.
const MAX_DIFFERENCES: usize = 1000;

/// Where differences are reported.
struct Differences<'a> {
    /// Whether a row may be in some trees only.
    may_differ: &'a mut dyn FnMut(RowId) -> bool,
    report: &'a mut dyn FnMut(Damage),
    /// How many more are reported.
    left: usize,
}

/// Something damaged in an index, and the page where it was found.
pub struct Damage {
    /// The number of the page.
    pub page_number: PageNumber,
    /// A description for the user.
    pub text: String,
}

impl<'s, S: Store> Index<'s, S> {
    /// Reads every page below a root, and reports damage. `is_changed` says whether others may have changed a
    /// page since the check began.
    ///
    /// After a vacuum that stopped midway, trees differ in dead rows; during an insert, only some trees have
    /// its row. That is no damage, so differences in rows that `may_differ` accepts are not reported.
    pub fn verify(
        &self,
        is_changed: &dyn Fn(&Page) -> bool,
        may_differ: &mut dyn FnMut(RowId) -> bool,
        report: &mut dyn FnMut(Damage),
    ) -> Result<(), OutOfMemory> {
        let mut is_sound = true;
        let totals = self.totals(is_changed, &mut |problem| {
            is_sound = false;
            report(problem);
        });
        // Only trees without damage can be searched for entries.
        if !is_sound {
            return Ok(());
        }
        let differences = &mut Differences { may_differ, report, left: MAX_DIFFERENCES };
        let layout = self.layout;
        let first_tree = layout.first_tree();
        if layout.has_word_trees() {
            for word in 0..layout.words() {
                self.verify_word(word, &totals, differences)?;
            }
        }
        if layout.has_code_tree() && layout.has_word_trees() {
            let text = "its codes are other ones than those of the words";
            self.verify_tree(layout.code_tree(), &[first_tree], text, &totals, differences)?;
        }
        if layout.has_filter() {
            let text = "further columns have other fingerprints than band 0";
            let others = [first_tree, layout.nulls()];
            self.verify_tree(layout.filter_tree(), &others, text, &totals, differences)?;
        }
        Ok(())
    }

    /// The counts of each tree. They are not exact if others change the index meanwhile. Damaged pages are
    /// reported, and not counted.
    pub fn totals(&self, is_changed: &dyn Fn(&Page) -> bool, report: &mut dyn FnMut(Damage)) -> Vec<Totals> {
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
    /// Visits a node and all nodes below it. Their keys must be at least `low` and less than `end`.
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
        let mut low = low;
        let mut end = end;
        if let Some(problem) = self.misfit(&page, is_first_visit, level, low, end) {
            if (self.is_changed)(&page) {
                // It may have got the pages of a neighbour, to which the bounds that its parent had do not
                // apply.
                low = IndexKey::FIRST;
                end = None;
            } else {
                self.problem(page_number, problem);
            }
        }
        // The pages below would be meaningless.
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

    /// The reason why this page cannot be the one that another page points to.
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
            let hashes = hashes_of(page.key(slot), page, slot);
            self.totals.checksum = self.totals.checksum.wrapping_add(hashes.words);
            self.totals.rows = self.totals.rows.wrapping_add(hashes.row);
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
