//! Finds the rows and codes in which the trees of an index differ.

use super::{Damage, Differences, MAX_DIFFERENCES, Totals};
use crate::key::{BANDS, IndexKey, RowId, Tree, rotated, rotated_back};
use crate::probe::Probe;
use crate::store::Store;
use crate::tree::{Index, TreePart, Walk};
use base::{Collector, OutOfMemory, push};
use std::ops::Range;

impl<S: Store> Index<'_, S> {
    /// Compares a tree of all rows, the second one, with the trees that together have these rows, beginning
    /// with the first tree. Reports `text` if their codes differ.
    pub(super) fn verify_tree(
        &self,
        trees: [&[Tree]; 2],
        text: &str,
        totals: &[Totals],
        differences: &mut Differences<'_>,
    ) -> Result<(), OutOfMemory> {
        let of = |tree: Tree| &totals[self.layout.place(tree)];
        let (others, tree) = (trees[0], trees[1][0]);
        let fits = |part: fn(&Totals) -> u64| {
            others.iter().map(|&tree| part(of(tree))).fold(0, u64::wrapping_add) == part(of(tree))
        };
        if !fits(|tree| tree.entries) || !fits(|tree| tree.rows) {
            return self.compare_rows(trees, differences);
        }
        // The sums were taken at different times, while rows were inserted and removed.
        let further = others[1..].iter().map(|&tree| of(tree).checksum);
        let checksum = further.fold(self.sum_of_words(totals), u64::wrapping_add);
        if checksum != of(tree).checksum && self.differs_in_codes(tree, differences.may_differ) {
            (differences.report)(Damage { page_number: self.layout.root(tree), text: text.to_string() });
        }
        Ok(())
    }

    /// The sum over all rows and words, from the first tree of each word or from whole codes.
    fn sum_of_words(&self, totals: &[Totals]) -> u64 {
        let layout = self.layout;
        if !layout.has_word_trees() {
            return totals[layout.place(layout.code_tree())].checksum;
        }
        let words = if layout.has_code_tree() { layout.words() } else { 1 };
        (0..words).fold(0, |sum, word| sum.wrapping_add(totals[word * BANDS].checksum))
    }

    /// Whether a tree of all rows has a code that is missing elsewhere: in the first tree of one of its
    /// words, or in the tree of whole codes.
    fn differs_in_codes(&self, tree: Tree, may_differ: &mut dyn FnMut(RowId) -> bool) -> bool {
        let layout = self.layout;
        let mut walk = Walk::From(IndexKey::FIRST);
        while let Walk::From(key) = walk {
            self.store.check_for_interrupts();
            let mut entries: Vec<(IndexKey, Vec<u64>)> = Vec::new(); // Bounded: the entries of some leaves.
            walk = self.walk(TreePart::all(tree), key, &Probe::ALL, &mut |leaf| {
                let slots = (0..leaf.len()).filter(|&slot| leaf.key(slot) >= key);
                entries.extend(slots.map(|slot| (leaf.key(slot), leaf.words(slot).collect::<Vec<_>>())));
                true
            });
            let has_word = |entry: &IndexKey, word: usize, bits: u64| {
                layout.keys_of(word, bits, entry.row).take(1).all(|(tree, key)| self.has(tree, key))
            };
            let has = |entry: &IndexKey, words: &[u64]| match layout.has_word_trees() {
                true => words.iter().enumerate().all(|(word, &bits)| has_word(entry, word, bits)),
                false => self.has_code(layout.code_tree(), IndexKey::new(entry.bits, entry.row), Some(words)),
            };
            let lacks = |(entry, words): &(IndexKey, Vec<u64>)| {
                entry.filter != entry.filter.of_null_code() && !has(entry, words)
            };
            if entries.iter().any(|entry| lacks(entry) && !may_differ(entry.0.row)) {
                return true;
            }
        }
        false
    }

    /// Reports rows that only one of two groups of trees has.
    pub(super) fn compare_rows(
        &self,
        trees: [&[Tree]; 2],
        differences: &mut Differences<'_>,
    ) -> Result<(), OutOfMemory> {
        let suspects = self.rows_of_one(trees, &mut |row| !(differences.may_differ)(row))?;
        // The insert of a row may have been incomplete when the trees were read, and may be complete now.
        if !suspects.is_empty() {
            let differing =
                self.rows_of_one(trees, &mut |row| suspects.iter().any(|&(_, other)| other == row))?;
            for &(place, row) in differing.iter().take(differences.left) {
                let [has, lacks] = [trees[place], trees[1 - place]].map(|trees| trees[0]);
                (differences.report)(self.row_missing(row, None, has, lacks));
            }
            differences.left -= differing.len().min(differences.left);
        }
        Ok(())
    }

    /// Looks up the entries of each of a word's bands in the other bands.
    pub(super) fn report_differences(&self, trees: Range<Tree>, differences: &mut Differences<'_>) {
        let Differences { may_differ, report, left } = differences;
        for tree in trees.clone() {
            let mut from = IndexKey::FIRST;
            while *left > 0 {
                self.store.check_for_interrupts();
                let mut entries = Vec::new();
                let walk = self.entries(TreePart::all(tree), from, &mut |entry, _, _| {
                    entries.push(entry);
                });
                for entry in entries {
                    let missing = || self.missing_elsewhere(trees.clone(), tree, entry);
                    if missing().next().is_none() || may_differ(entry.row) {
                        continue;
                    }
                    // The insert of the row is complete. The row may have been removed since.
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

    /// The rows that only one of two groups of trees has, if they are accepted. Each comes with the number of
    /// the group that has it, 0 or 1. There are no more rows than are reported.
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

    /// The rows of some trees, in order.
    fn rows_of(&self, trees: &[Tree]) -> Result<Vec<RowId>, OutOfMemory> {
        let mut rows = Vec::new();
        let mut found = Collector::new(&mut rows);
        self.each_row(trees, &mut |row| found.add(row));
        found.finish()?;
        rows.sort_unstable();
        Ok(rows)
    }
}
