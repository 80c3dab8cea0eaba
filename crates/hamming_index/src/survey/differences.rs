//! Finds the rows and codes in which the trees of an index differ.
//!
//! Only the rows that may differ according to [`DifferingBuckets`] are compared.

use super::buckets::DifferingBuckets;
use super::{Damage, Differences, MAX_DIFFERENCES, Totals};
use crate::key::{BANDS, IndexKey, RowId, Tree, rotated, rotated_back};
use crate::store::Store;
use crate::tree::{Index, TreePart};
use crate::walk::Walk;
use base::{Collector, OutOfMemory, push, sort};
use std::ops::Range;

/// An entry of a leaf, with the words that the leaf has of its code.
struct LeafEntry {
    key: IndexKey,
    words: Vec<u64>,
}

impl<S: Store> Index<'_, S> {
    /// Compares the trees of a word with each other, and their rows with those of the first word.
    pub(super) fn verify_word(
        &self,
        word: usize,
        totals: &[Totals],
        differences: &mut Differences<'_>,
    ) -> Result<(), OutOfMemory> {
        let of = |tree: Tree| &totals[self.layout.place(tree)];
        let trees = self.layout.trees_of(word);
        let first_band = of(trees.start);
        let left = differences.left;
        if trees.clone().any(|tree| !of(tree).has_codes_of(first_band)) {
            self.compare_bands(trees.clone(), first_band.entries, differences)?;
        }
        // If bands were found to differ in rows, words are no longer compared.
        let first_tree = self.layout.first_tree();
        if differences.left == left && !first_band.has_rows_of(of(first_tree)) {
            let groups = [&[first_tree][..], &[trees.start]];
            let buckets = self.differing_buckets(&groups, |hashes| hashes.row, first_band.entries)?;
            self.compare_rows(groups, &buckets, differences)?;
        }
        Ok(())
    }

    /// Compares a tree of all rows with the trees that together have these rows, beginning with the first
    /// tree. Reports `text` if their codes differ.
    pub(super) fn verify_tree(
        &self,
        tree: Tree,
        others: &[Tree],
        text: &str,
        totals: &[Totals],
        differences: &mut Differences<'_>,
    ) -> Result<(), OutOfMemory> {
        let of = |trees: &[Tree]| {
            trees.iter().map(|&tree| totals[self.layout.place(tree)]).fold(Totals::default(), Totals::and)
        };
        let mut code_trees = self.trees_of_codes(tree);
        code_trees.extend(&others[1..]); // Bounded: the trees of an index.
        let all = of(&[tree]);
        if all.has_rows_of(&of(others)) && all.checksum == of(&code_trees).checksum {
            return Ok(());
        }
        let buckets = self.differing_buckets(&[&code_trees, &[tree]], |hashes| hashes.words, all.entries)?;
        let left = differences.left;
        self.compare_rows([others, &[tree]], &buckets, differences)?;
        // If rows were found to differ, codes are not compared.
        if differences.left == left && self.differs_in_codes(tree, &buckets, differences.may_differ) {
            (differences.report)(Damage { page_number: self.layout.root(tree), text: text.to_string() });
        }
        Ok(())
    }

    /// The trees that together have the words of the codes that are in a tree of all rows.
    fn trees_of_codes(&self, tree: Tree) -> Vec<Tree> {
        let layout = self.layout;
        if !layout.has_word_trees() {
            return vec![layout.code_tree()]; // Bounded: one tree.
        }
        let has_whole_codes = layout.has_code_tree();
        debug_assert!(has_whole_codes || tree == layout.filter_tree());
        let words = if has_whole_codes { layout.words() } else { 1 };
        (0..words).map(|word| layout.trees_of(word).start).collect() // Bounded: the words of a code.
    }

    /// Whether a tree of all rows has a code, of a row in these buckets, that is missing elsewhere: in the
    /// first tree of one of its words, or in the tree of whole codes.
    fn differs_in_codes(
        &self,
        tree: Tree,
        buckets: &DifferingBuckets,
        may_differ: &mut dyn FnMut(RowId) -> bool,
    ) -> bool {
        let mut differs = false;
        self.each_entry_in(buckets, tree, &mut |LeafEntry { key, words }| {
            let is_null = key.filter == key.filter.of_null_code();
            let is_missing = || !is_null && !self.has_words(key, &words);
            // If the row may not differ, its insert is complete. It may have been removed since.
            differs = is_missing() && !may_differ(key.row) && is_missing() && self.has(tree, key);
            !differs
        });
        differs
    }

    /// Whether the words of a code that a tree of all rows has are also in the first tree of each word, or in
    /// the tree of whole codes.
    fn has_words(&self, key: IndexKey, words: &[u64]) -> bool {
        let layout = self.layout;
        if !layout.has_word_trees() {
            return self.has_code(layout.code_tree(), IndexKey::new(key.bits, key.row), Some(words));
        }
        words.iter().enumerate().all(|(word, &bits)| {
            layout.keys_of(word, bits, key.row).take(1).all(|(tree, key)| self.has(tree, key))
        })
    }

    /// Reports rows in these buckets that only one of two groups of trees has.
    fn compare_rows(
        &self,
        groups: [&[Tree]; 2],
        buckets: &DifferingBuckets,
        differences: &mut Differences<'_>,
    ) -> Result<(), OutOfMemory> {
        let suspects = self.rows_of_one(groups, buckets, &mut |row| !(differences.may_differ)(row))?;
        // The insert of a row may have been incomplete when the trees were read, and may be complete now.
        if !suspects.is_empty() {
            let is_suspect = &mut |row| suspects.iter().any(|&(_, suspect)| suspect == row);
            let differing = self.rows_of_one(groups, buckets, is_suspect)?;
            for &(place, row) in differing.iter().take(differences.left) {
                let [has, lacks] = [groups[place], groups[1 - place]].map(|trees| trees[0]);
                (differences.report)(self.row_missing(row, None, has, lacks));
            }
            differences.left -= differing.len().min(differences.left);
        }
        Ok(())
    }

    /// Looks up entries of each of a word's bands in the other bands, and reports those that are missing.
    fn compare_bands(
        &self,
        trees: Range<Tree>,
        rows: u64,
        differences: &mut Differences<'_>,
    ) -> Result<(), OutOfMemory> {
        let bands: [Tree; BANDS] = std::array::from_fn(|band| trees.start + band as Tree);
        let groups = bands.each_ref().map(std::slice::from_ref);
        let buckets = self.differing_buckets(&groups, |hashes| hashes.words, rows)?;
        let Differences { may_differ, report, left } = differences;
        for tree in trees.clone() {
            self.each_entry_in(&buckets, tree, &mut |entry| {
                let missing = || self.missing_elsewhere(trees.clone(), tree, entry.key);
                if missing().next().is_none() || may_differ(entry.key.row) {
                    return true;
                }
                // The insert of the row is complete. The row may have been removed since.
                let problems: Vec<Damage> = missing().take(*left).collect();
                if self.has(tree, entry.key) {
                    *left -= problems.len();
                    problems.into_iter().for_each(&mut *report);
                }
                *left > 0
            });
        }
        Ok(())
    }

    /// Passes the entries of a tree that are in these buckets to `visit`, while no page is locked, until it
    /// returns false.
    fn each_entry_in(
        &self,
        buckets: &DifferingBuckets,
        tree: Tree,
        visit: &mut dyn FnMut(LeafEntry) -> bool,
    ) {
        let mut walk = if buckets.is_empty() { Walk::Done } else { Walk::From(IndexKey::FIRST) };
        while let Walk::From(from) = walk {
            self.store.check_for_interrupts();
            let mut entries = Vec::new(); // Bounded: the entries of some leaves.
            walk = self.entries(TreePart::all(tree), from, &mut |key, leaf, slot| {
                if buckets.has(key.row) {
                    entries.push(LeafEntry { key, words: leaf.words(slot).collect() });
                }
            });
            for entry in entries {
                self.store.check_for_interrupts();
                if !visit(entry) {
                    return;
                }
            }
        }
    }

    /// The bands of a word that lack an entry of this band.
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
        lacking.map(move |other| self.row_missing(entry.row, Some(word), tree, other))
    }

    /// The rows of these buckets that only one of two groups of trees has, if they are accepted. Each comes
    /// with the number of the group that has it, 0 or 1. There are no more rows than are reported.
    fn rows_of_one(
        &self,
        groups: [&[Tree]; 2],
        buckets: &DifferingBuckets,
        accepts: &mut dyn FnMut(RowId) -> bool,
    ) -> Result<Vec<(usize, RowId)>, OutOfMemory> {
        let mut differing = Vec::new();
        if buckets.is_empty() {
            return Ok(differing);
        }
        let rows = [self.rows_in(buckets, groups[0])?, self.rows_in(buckets, groups[1])?];
        for (place, others) in [(0, &rows[1]), (1, &rows[0])] {
            let lacking = rows[place].iter().filter(|row| others.binary_search(row).is_err());
            let accepted = lacking.filter(|&&row| accepts(row)).take(MAX_DIFFERENCES - differing.len());
            for &row in accepted {
                push(&mut differing, (place, row))?;
            }
        }
        Ok(differing)
    }

    /// A row, with a word of its code if that is known, that one tree has and the other lacks.
    fn row_missing(&self, row: RowId, word: Option<u64>, has: Tree, lacks: Tree) -> Damage {
        let row = self.layout.name_of(row, word);
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
        Damage { page_number: self.layout.root(lacks), text }
    }

    /// The rows of some trees that are in these buckets, in order.
    fn rows_in(&self, buckets: &DifferingBuckets, trees: &[Tree]) -> Result<Vec<RowId>, OutOfMemory> {
        let mut rows = Vec::new();
        let mut found = Collector::new(&mut rows);
        self.each_entry(trees, &mut |key, _, _| {
            if buckets.has(key.row) {
                found.add(key.row);
            }
        });
        found.finish()?;
        sort(&mut rows, &mut || self.store.check_for_interrupts(), |&row| row);
        Ok(rows)
    }
}
