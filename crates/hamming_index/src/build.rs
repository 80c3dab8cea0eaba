//! Building the trees for a table that has rows already.
//!
//! Each tree is written from its sorted keys, leaf after leaf. Rows that do not fit into memory are sorted
//! in runs, which are kept outside and merged when a tree is written. Cost: one sort of the rows for each
//! tree. Memory: 16 bytes for each word of a row that is kept at a time.

use crate::key::{IndexKey, RowId, Tree, rotated};
use crate::layout::Layout;
use crate::page::{INNER_CAPACITY, LEAF_CAPACITY, Page, PageNumber};
use limits::{OutOfMemory, reserve};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Where a new index is written to.
pub trait BuildTarget {
    /// Writes a page behind the last one, and returns its number.
    fn append(&mut self, page: &Page) -> PageNumber;
    /// Writes a page over the one of this number.
    fn put(&mut self, page_number: PageNumber, page: &Page);
}

/// Writes an empty index: its first pages, which are the roots and what the layout has before them.
pub fn create(target: &mut impl BuildTarget, layout: Layout) {
    if let Some(description) = layout.description() {
        target.append(&description);
    }
    for tree in layout.trees() {
        target.append(&Page::node(tree, 0));
    }
}

/// Writes a tree whose root, on this page, has been created. `fill` is the share of each page that is filled,
/// in percent.
fn write_tree(
    target: &mut impl BuildTarget,
    (tree, root): (Tree, PageNumber),
    fill: usize,
    keys: impl Iterator<Item = IndexKey>,
) {
    let leaf_size = LEAF_CAPACITY * fill / 100;
    let mut children = Vec::new();
    // Bounded: the keys of a page.
    let mut leaf = Vec::with_capacity(leaf_size);
    for key in keys {
        if leaf.len() == leaf_size {
            append_leaf(target, tree, &mut children, &mut leaf);
        }
        leaf.push(key);
    }
    if children.is_empty() {
        return target.put(root, &Page::leaf(tree, &leaf));
    }
    append_leaf(target, tree, &mut children, &mut leaf);
    let mut level = 1;
    while children.len() > INNER_CAPACITY {
        let nodes = children.chunks(INNER_CAPACITY * fill / 100);
        children = nodes.map(|node| (node[0].0, target.append(&Page::inner(tree, level, node)))).collect();
        level += 1;
    }
    target.put(root, &Page::inner(tree, level, &children));
}

/// Writes a leaf behind the last page, and adds it to the children with its lowest key.
fn append_leaf(
    target: &mut impl BuildTarget,
    tree: Tree,
    children: &mut Vec<(IndexKey, PageNumber)>,
    leaf: &mut Vec<IndexKey>,
) {
    let low = if children.is_empty() { IndexKey::FIRST } else { leaf[0] };
    children.push((low, target.append(&Page::leaf(tree, leaf))));
    leaf.clear();
}

/// Where sorted runs are kept.
pub trait Runs {
    /// A run of sorted keys, which is read once from its beginning.
    type Run;
    /// Keeps these keys, which come in order, as a run.
    fn write(&mut self, keys: &mut dyn Iterator<Item = IndexKey>) -> Self::Run;
    /// The next key of a run; `None` at its end.
    fn read(&mut self, run: &mut Self::Run) -> Option<IndexKey>;
    /// Called often; does not return if the user has cancelled.
    fn check_for_interrupts(&self);
}

/// The rows of a table, on their way into an index.
pub struct Builder<R: Runs> {
    layout: Layout,
    /// One for each word.
    words: Vec<Sorter<R>>,
    nulls: Sorter<R>,
}

impl<R: Runs> Builder<R> {
    /// For an index with this layout, with about `capacity` words of rows in memory.
    pub fn new(layout: Layout, capacity: usize) -> Self {
        // Few tables have many rows without a code.
        let for_nulls = capacity / 8;
        let for_word = (capacity - for_nulls) / layout.words();
        let words = (0..layout.words()).map(|word| Sorter::new(layout.trees_of(word), for_word)).collect();
        Self { layout, words, nulls: Sorter::new(layout.nulls()..layout.nulls() + 1, for_nulls) }
    }

    /// Changes the layout, before a row with a code was added. Those that were added have none.
    pub fn set_layout(&mut self, layout: Layout, capacity: usize) {
        let mut changed = Self::new(layout, capacity);
        std::mem::swap(&mut self.nulls, &mut changed.nulls);
        changed.nulls.trees = layout.nulls()..layout.nulls() + 1;
        *self = changed;
    }

    /// Adds a row with the words of its code, which may be NULL.
    pub fn add(&mut self, runs: &mut R, words: Option<&[u64]>, row: RowId) -> Result<(), OutOfMemory> {
        let Some(words) = words else { return self.nulls.add(runs, 0, row) };
        self.words.iter_mut().zip(words).try_for_each(|(sorter, &word)| sorter.add(runs, word, row))
    }

    /// The number of rows that have been added.
    pub fn rows(&self) -> u64 {
        self.words[0].count + self.nulls.count
    }

    /// The number of keys that all trees will have.
    pub fn keys(&self) -> u64 {
        self.words[0].count * self.layout.bands() as u64 + self.nulls.count
    }

    /// Writes each tree from its sorted keys. `fill` is the share of each page that is filled, in percent;
    /// `progress` is called for each key.
    pub fn write(self, mut runs: R, target: &mut impl BuildTarget, fill: usize, progress: &mut dyn FnMut()) {
        // The memory of a word is given back before the next one is sorted.
        for mut sorter in self.words.into_iter().chain([self.nulls]) {
            for tree in sorter.trees.clone() {
                sorter.sorted(&mut runs, tree, |keys| {
                    let root = self.layout.root(tree);
                    write_tree(target, (tree, root), fill, keys.inspect(|_| progress()));
                });
            }
        }
    }
}

/// Sorts rows for some trees.
struct Sorter<R: Runs> {
    trees: Range<Tree>,
    /// The rows in memory, at most `capacity` of them.
    rows: Vec<(u64, RowId)>,
    capacity: usize,
    count: u64,
    /// For each tree its runs, one for each time that memory was full.
    runs: Vec<Vec<R::Run>>,
}

impl<R: Runs> Sorter<R> {
    /// Sorts for these trees, with at most `capacity` rows in memory.
    fn new(trees: Range<Tree>, capacity: usize) -> Self {
        let runs = trees.clone().map(|_| Vec::new()).collect();
        Self { trees, rows: Vec::new(), capacity: capacity.max(1), count: 0, runs }
    }

    /// Adds a row.
    fn add(&mut self, store: &mut R, word: u64, row: RowId) -> Result<(), OutOfMemory> {
        if self.rows.len() == self.capacity {
            self.spill(store);
        }
        if self.rows.len() == self.rows.capacity() {
            let more = self.rows.len().max(1024).min(self.capacity - self.rows.len());
            reserve(&mut self.rows, more)?;
        }
        self.rows.push((word, row));
        self.count += 1;
        Ok(())
    }

    /// Keeps the rows in memory as a run for each tree.
    fn spill(&mut self, store: &mut R) {
        for tree in self.trees.clone() {
            sort(&mut self.rows, tree, store);
            let mut keys = self.rows.iter().map(|&row| key(row, tree));
            self.runs[usize::from(tree - self.trees.start)].push(store.write(&mut keys));
        }
        self.rows.clear();
    }

    /// Passes the keys of one of the trees in order.
    fn sorted(&mut self, store: &mut R, tree: Tree, write: impl FnOnce(&mut dyn Iterator<Item = IndexKey>)) {
        if self.count > self.rows.len() as u64 {
            if !self.rows.is_empty() {
                self.spill(store);
            }
            // The memory is needed to read the runs.
            self.rows = Vec::new();
            let runs = std::mem::take(&mut self.runs[usize::from(tree - self.trees.start)]);
            return write(&mut Merge::new(store, runs));
        }
        sort(&mut self.rows, tree, store);
        write(&mut self.rows.iter().map(|&row| key(row, tree)));
    }
}

fn key((word, row): (u64, RowId), tree: Tree) -> IndexKey {
    IndexKey { bits: rotated(word, tree), row }
}

/// Sorts rows by their keys, and looks for interrupts meanwhile: a gigabyte of rows takes seconds.
fn sort(rows: &mut [(u64, RowId)], tree: Tree, store: &impl Runs) {
    limits::sort(rows, &mut || store.check_for_interrupts(), |&row| key(row, tree));
}

/// Several sorted runs as one.
struct Merge<'a, R: Runs> {
    store: &'a mut R,
    runs: Vec<R::Run>,
    heads: BinaryHeap<Reverse<(IndexKey, usize)>>,
}

impl<'a, R: Runs> Merge<'a, R> {
    fn new(store: &'a mut R, mut runs: Vec<R::Run>) -> Self {
        let heads = runs.iter_mut().enumerate();
        let heads = heads.filter_map(|(index, run)| Some(Reverse((store.read(run)?, index)))).collect();
        Self { store, runs, heads }
    }
}

impl<R: Runs> Iterator for Merge<'_, R> {
    type Item = IndexKey;

    fn next(&mut self) -> Option<IndexKey> {
        let mut head = self.heads.peek_mut()?;
        let Reverse((key, index)) = *head;
        match self.store.read(&mut self.runs[index]) {
            Some(next) => *head = Reverse((next, index)),
            None => drop(std::collections::binary_heap::PeekMut::pop(head)),
        }
        Some(key)
    }
}
