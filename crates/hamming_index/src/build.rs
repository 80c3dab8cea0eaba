//! Building the trees for a table that has rows already.
//!
//! Each tree is written from its sorted keys, leaf after leaf. Rows that do not fit into memory are sorted
//! in runs, which are kept outside and merged when a tree is written. Cost: one sort of the rows for each
//! tree. Memory: [`BYTES_PER_WORD`] for each word of a row that is kept at a time, and half as much again for
//! its further columns.

use crate::key::{Filter, IndexKey, RowId, Tree, rotated};
use crate::layout::Layout;
use crate::page::{FILTER_TREE, Page, PageNumber, capacity};
use limits::{OutOfMemory, reserve};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Memory that a word of a row takes.
pub const BYTES_PER_WORD: usize = size_of::<(u64, RowId)>();

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
    let leaf_size = capacity(tree, 0) * fill / 100;
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
    while children.len() > capacity(tree, level) {
        let nodes = children.chunks(capacity(tree, level) * fill / 100);
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
    words: Vec<Sorter<R, (u64, RowId)>>,
    nulls: Sorter<R, (u64, RowId)>,
    /// All rows by their further columns, if there are any.
    filter: Option<Sorter<R, IndexKey>>,
}

impl<R: Runs> Builder<R> {
    /// For an index with this layout, with about `capacity` words of rows in memory.
    pub fn new(layout: Layout, capacity: usize) -> Self {
        // Few tables have many rows without a code.
        let for_nulls = capacity / 8;
        let halves = 2 * layout.words() + if layout.has_filter() { 3 } else { 0 };
        let each = 2 * (capacity - for_nulls) / halves;
        let words = (0..layout.words()).map(|word| Sorter::new(layout.trees_of(word), each)).collect();
        let nulls = Sorter::new(layout.nulls()..layout.nulls() + 1, for_nulls);
        let filter = layout.has_filter().then(|| Sorter::new(FILTER_TREE..FILTER_TREE + 1, each));
        Self { layout, words, nulls, filter }
    }

    /// Changes the layout, before a row with a code was added. Those that were added have none.
    pub fn set_layout(&mut self, layout: Layout, capacity: usize) {
        let mut changed = Self::new(layout, capacity);
        std::mem::swap(&mut self.nulls, &mut changed.nulls);
        std::mem::swap(&mut self.filter, &mut changed.filter);
        changed.nulls.trees = layout.nulls()..layout.nulls() + 1;
        *self = changed;
    }

    /// Adds a row with the words of its code, which may be NULL, and with its filter, if the index has
    /// further columns.
    pub fn add(
        &mut self,
        runs: &mut R,
        words: Option<&[u64]>,
        filter: Option<Filter>,
        row: RowId,
    ) -> Result<(), OutOfMemory> {
        if let (Some(sorter), Some(filter)) = (&mut self.filter, filter) {
            sorter.add(runs, Layout::filter_key(words, filter, row))?;
        }
        let Some(words) = words else { return self.nulls.add(runs, (0, row)) };
        self.words.iter_mut().zip(words).try_for_each(|(sorter, &word)| sorter.add(runs, (word, row)))
    }

    /// The number of rows that have been added.
    pub fn rows(&self) -> u64 {
        self.words[0].count + self.nulls.count
    }

    /// The number of keys that all trees will have.
    pub fn keys(&self) -> u64 {
        let filters = self.filter.as_ref().map_or(0, |filter| filter.count);
        self.words[0].count * self.layout.bands() as u64 + self.nulls.count + filters
    }

    /// Writes each tree from its sorted keys. `fill` is the share of each page that is filled, in percent;
    /// `progress` is called for each key.
    pub fn write(self, mut runs: R, target: &mut impl BuildTarget, fill: usize, progress: &mut dyn FnMut()) {
        // The memory of a word is given back before the next one is sorted.
        for sorter in self.words.into_iter().chain([self.nulls]) {
            sorter.write(self.layout, &mut runs, target, fill, progress);
        }
        if let Some(sorter) = self.filter {
            sorter.write(self.layout, &mut runs, target, fill, progress);
        }
    }
}

/// A row as it is kept in memory, to be sorted.
trait UnsortedRow: Copy {
    /// Its key in a tree.
    fn key(self, tree: Tree) -> IndexKey;
    /// A part of its key that decides the order.
    fn order(self, tree: Tree) -> impl Ord;
}

/// A word, which is sorted for each of its bands.
impl UnsortedRow for (u64, RowId) {
    fn key(self, tree: Tree) -> IndexKey {
        IndexKey::new(rotated(self.0, tree), self.1)
    }

    fn order(self, tree: Tree) -> impl Ord {
        (rotated(self.0, tree), self.1)
    }
}

/// A key of the tree of further columns.
impl UnsortedRow for IndexKey {
    fn key(self, _tree: Tree) -> IndexKey {
        self
    }

    fn order(self, _tree: Tree) -> impl Ord {
        self
    }
}

/// Sorts rows for some trees.
struct Sorter<R: Runs, U> {
    trees: Range<Tree>,
    /// The rows in memory, at most `capacity` of them.
    rows: Vec<U>,
    capacity: usize,
    count: u64,
    /// For each tree its runs, one for each time that memory was full.
    runs: Vec<Vec<R::Run>>,
}

impl<R: Runs, U: UnsortedRow> Sorter<R, U> {
    /// Sorts for these trees, with at most `capacity` rows in memory.
    fn new(trees: Range<Tree>, capacity: usize) -> Self {
        let runs = trees.clone().map(|_| Vec::new()).collect();
        Self { trees, rows: Vec::new(), capacity: capacity.max(1), count: 0, runs }
    }

    /// Adds a row.
    fn add(&mut self, store: &mut R, row: U) -> Result<(), OutOfMemory> {
        if self.rows.len() == self.capacity {
            self.spill(store);
        }
        if self.rows.len() == self.rows.capacity() {
            let more = self.rows.len().max(1024).min(self.capacity - self.rows.len());
            reserve(&mut self.rows, more)?;
        }
        self.rows.push(row);
        self.count += 1;
        Ok(())
    }

    /// Writes each of the trees.
    fn write(
        mut self,
        layout: Layout,
        runs: &mut R,
        target: &mut impl BuildTarget,
        fill: usize,
        progress: &mut dyn FnMut(),
    ) {
        for tree in self.trees.clone() {
            self.sorted(runs, tree, |keys| {
                write_tree(target, (tree, layout.root(tree)), fill, keys.inspect(|_| progress()));
            });
        }
    }

    /// Keeps the rows in memory as a run for each tree.
    fn spill(&mut self, store: &mut R) {
        for tree in self.trees.clone() {
            sort(&mut self.rows, tree, store);
            let mut keys = self.rows.iter().map(|row| row.key(tree));
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
        write(&mut self.rows.iter().map(|row| row.key(tree)));
    }
}

/// Sorts rows by their keys, and looks for interrupts meanwhile: a gigabyte of rows takes seconds.
fn sort<U: UnsortedRow>(rows: &mut [U], tree: Tree, store: &impl Runs) {
    limits::sort(rows, &mut || store.check_for_interrupts(), |row| row.order(tree));
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
