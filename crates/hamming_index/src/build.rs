//! Builds the trees of an index for a table that has rows.
//!
//! Each tree is written from its sorted keys, leaf by leaf. Rows that do not fit into memory are sorted in
//! runs, which are stored outside and merged when a tree is written. Cost: one sort of the rows for each
//! tree. Memory: [`BYTES_PER_WORD`] for each word of the rows in memory, and half as much again for further
//! columns and for whole codes.

use crate::key::{Filter, IndexKey, RowId, Tree, rotated};
use crate::layout::Layout;
use crate::page::{Page, PageNumber, capacity};
use base::{OutOfMemory, reserve};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Bytes of memory per word of a row.
pub const BYTES_PER_WORD: usize = size_of::<(u64, RowId)>();

/// The pages of a new index.
pub trait BuildTarget {
    /// Writes a page after the last one, and returns its number.
    fn append(&mut self, page: &Page) -> PageNumber;
    /// Overwrites the page with this number.
    fn put(&mut self, page_number: PageNumber, page: &Page);
}

/// Writes an empty index: the description of its codes, if the layout has one, and the roots.
pub fn create(target: &mut impl BuildTarget, layout: Layout) {
    if let Some(description) = layout.description() {
        target.append(&description);
    }
    for tree in layout.trees() {
        target.append(&Page::node(tree, 0));
    }
}

/// Writes a tree from its keys, which must be added in order. Its root must already have been created.
struct TreeWriter<'a, T> {
    target: &'a mut T,
    tree: Tree,
    root: PageNumber,
    /// The number of keys in a leaf.
    leaf_size: usize,
    /// How full pages are, in percent.
    fill: usize,
    children: Vec<(IndexKey, PageNumber)>,
    leaf: Box<Page>,
}

impl<'a, T: BuildTarget> TreeWriter<'a, T> {
    fn new(target: &'a mut T, layout: Layout, tree: Tree, fill: usize) -> Self {
        let leaf_size = (capacity(tree, 0) * fill / 100).max(1);
        let root = layout.root(tree);
        Self { target, tree, root, leaf_size, fill, children: Vec::new(), leaf: Page::node(tree, 0) }
    }

    /// Adds a key. In a tree of whole codes, `tail` has the words of the code after the first one.
    fn add(&mut self, key: IndexKey, tail: &[u64]) {
        if self.leaf.len() == self.leaf_size {
            self.append_leaf();
        }
        self.leaf.push(key, tail, &[]);
    }

    /// Writes the leaf as a new page, and adds it to the children with its lowest key.
    fn append_leaf(&mut self) {
        let low = if self.children.is_empty() { IndexKey::FIRST } else { self.leaf.key(0) };
        let leaf = std::mem::replace(&mut self.leaf, Page::node(self.tree, 0));
        self.children.push((low, self.target.append(&leaf)));
    }

    fn finish(mut self) {
        if self.children.is_empty() {
            return self.target.put(self.root, &self.leaf);
        }
        self.append_leaf();
        let Self { target, tree, root, fill, mut children, .. } = self;
        let mut level = 1;
        while children.len() > capacity(tree, level) {
            let nodes = children.chunks(capacity(tree, level) * fill / 100);
            children =
                nodes.map(|node| (node[0].0, target.append(&Page::inner(tree, level, node)))).collect();
            level += 1;
        }
        target.put(root, &Page::inner(tree, level, &children));
    }
}

/// A key, and the words of the code after the first one, which trees of whole codes store.
pub type KeyWithTail<'a> = (IndexKey, &'a [u64]);

/// A place to store sorted runs.
pub trait Runs {
    /// A sorted run of keys, which is read once from its beginning.
    type Run;
    /// Stores keys as a run. They come in order, and each has `tail` words in its tail.
    fn write(&mut self, tail: usize, entries: &mut dyn Iterator<Item = KeyWithTail<'_>>) -> Self::Run;
    /// Reads the next key of a run, and replaces `tail` by its tail; `None` at the end.
    fn read(&mut self, run: &mut Self::Run, tail: &mut Vec<u64>) -> Option<IndexKey>;
    /// Called often. Does not return if the user has cancelled.
    fn check_for_interrupts(&self);
}

/// Collects the rows of a table for a new index.
pub struct Builder<R: Runs> {
    layout: Layout,
    /// A sorter for each word, if words have trees.
    words: Vec<Sorter<R, (u64, RowId)>>,
    nulls: Sorter<R, (u64, RowId)>,
    /// A sorter of all rows by their further columns, if there are any.
    filter: Option<Sorter<R, PlacedKey>>,
    /// A sorter of whole codes, if there is a tree of them.
    codes: Option<Sorter<R, PlacedKey>>,
}

impl<R: Runs> Builder<R> {
    /// A builder for this layout, with about `capacity` words of rows in memory.
    pub fn new(layout: Layout, capacity: usize) -> Self {
        // Few tables have many rows without a code.
        let for_nulls = capacity / 8;
        let words = if layout.has_word_trees() { layout.words() } else { 0 };
        let tail = if layout.has_code_tree() { layout.words() - 1 } else { 0 };
        let with_tail = usize::from(layout.has_filter()) + usize::from(layout.has_code_tree());
        let halves = 2 * words + with_tail * (size_of::<PlacedKey>() / size_of::<u64>() + tail);
        let each = 2 * (capacity - for_nulls) / halves;
        let sorter = |tree| Sorter::new(tree..tree + 1, each, tail);
        Self {
            layout,
            words: (0..words).map(|word| Sorter::new(layout.trees_of(word), each, 0)).collect(),
            nulls: Sorter::new(layout.nulls()..layout.nulls() + 1, for_nulls, 0),
            filter: layout.has_filter().then(|| sorter(layout.filter_tree())),
            codes: layout.has_code_tree().then(|| sorter(layout.code_tree())),
        }
    }

    /// Changes the layout. All rows that were added so far must be without a code.
    pub fn set_layout(&mut self, layout: Layout, capacity: usize) {
        let mut changed = Self::new(layout, capacity);
        std::mem::swap(&mut self.nulls, &mut changed.nulls);
        changed.nulls.trees = layout.nulls()..layout.nulls() + 1;
        if let (Some(old), Some(new)) = (self.filter.take(), &mut changed.filter) {
            new.take_keys_of(old);
        }
        *self = changed;
    }

    /// Adds a row: the words of its code, or `None` if it is NULL, and its filter, if the index has further
    /// columns.
    pub fn add(
        &mut self,
        runs: &mut R,
        words: Option<&[u64]>,
        filter: Option<Filter>,
        row: RowId,
    ) -> Result<(), OutOfMemory> {
        let tail = words.map_or(&[][..], |words| &words[1..]);
        if let (Some(sorter), Some(filter)) = (&mut self.filter, filter) {
            sorter.add_with_tail(runs, Layout::filter_key(words, filter, row), tail)?;
        }
        let Some(words) = words else { return self.nulls.add(runs, (0, row)) };
        if let Some(sorter) = &mut self.codes {
            sorter.add_with_tail(runs, IndexKey::new(words[0], row), tail)?;
        }
        self.words.iter_mut().zip(words).try_for_each(|(sorter, &word)| sorter.add(runs, (word, row)))
    }

    /// The number of rows with a code that were added.
    fn codes(&self) -> u64 {
        self.words.first().map(|sorter| sorter.count).or(self.codes.as_ref().map(|it| it.count)).unwrap_or(0)
    }

    /// The number of rows that were added.
    pub fn rows(&self) -> u64 {
        self.codes() + self.nulls.count
    }

    /// The number of keys of all trees together.
    pub fn keys(&self) -> u64 {
        let with_tail = [&self.filter, &self.codes].into_iter().flatten().map(|sorter| sorter.count);
        self.codes() * self.layout.word_trees() as u64 + self.nulls.count + with_tail.sum::<u64>()
    }

    /// Writes each tree from its sorted keys. `fill` is how full pages are, in percent. `progress` is called
    /// for each key.
    pub fn write(self, mut runs: R, target: &mut impl BuildTarget, fill: usize, progress: &mut dyn FnMut()) {
        // The memory of a word's rows is freed before the next word is sorted.
        for sorter in self.words.into_iter().chain([self.nulls]) {
            sorter.write(self.layout, &mut runs, target, fill, progress);
        }
        for sorter in [self.filter, self.codes].into_iter().flatten() {
            sorter.write(self.layout, &mut runs, target, fill, progress);
        }
    }
}

/// A row in memory, before it is sorted.
trait UnsortedRow: Copy {
    /// The key of the row in a tree.
    fn key(self, tree: Tree) -> IndexKey;
    /// The part of the key that decides the order.
    fn order(self, tree: Tree) -> impl Ord;
    /// The place of the row's tail among the tails in memory.
    fn place(self) -> usize;
}

/// One word of a row, which is sorted once for each of its bands.
impl UnsortedRow for (u64, RowId) {
    fn key(self, tree: Tree) -> IndexKey {
        IndexKey::new(rotated(self.0, tree), self.1)
    }

    fn order(self, tree: Tree) -> impl Ord {
        (rotated(self.0, tree), self.1)
    }

    fn place(self) -> usize {
        0
    }
}

/// A key of a tree that may have whole codes, and the place of its tail. If the code is NULL, it has no tail.
#[derive(Clone, Copy)]
struct PlacedKey {
    key: IndexKey,
    place: usize,
}

impl UnsortedRow for PlacedKey {
    fn key(self, _tree: Tree) -> IndexKey {
        self.key
    }

    fn order(self, _tree: Tree) -> impl Ord {
        self.key
    }

    fn place(self) -> usize {
        self.place
    }
}

/// Sorts rows for one or several trees.
struct Sorter<R: Runs, U> {
    trees: Range<Tree>,
    /// The rows in memory; at most `capacity`.
    rows: Vec<U>,
    /// The words of the codes after the first one: `tail` words for each code.
    tails: Vec<u64>,
    tail: usize,
    /// The tail that is written for a code that is NULL.
    no_tail: Vec<u64>,
    capacity: usize,
    count: u64,
    /// For each tree its runs; there is one for each time that memory was full.
    runs: Vec<Vec<R::Run>>,
}

impl<R: Runs> Sorter<R, PlacedKey> {
    /// Adds a row. `tail` has the words of its code after the first one, and is empty if the code is NULL.
    fn add_with_tail(&mut self, store: &mut R, key: IndexKey, tail: &[u64]) -> Result<(), OutOfMemory> {
        if self.rows.len() == self.capacity {
            self.spill(store);
        }
        let place = self.tails.len();
        if tail.len() < self.tail {
            return self.add(store, PlacedKey { key, place: usize::MAX });
        }
        if self.tails.capacity() < place + self.tail {
            let left = (self.capacity - self.rows.len()) * self.tail;
            reserve(&mut self.tails, place.max(1024 * self.tail).min(left))?;
        }
        self.tails.extend_from_slice(&tail[..self.tail]);
        self.add(store, PlacedKey { key, place })
    }

    /// Takes rows without codes from another sorter. Their runs may have longer or shorter tails, all zeros.
    fn take_keys_of(&mut self, other: Self) {
        self.rows = other.rows;
        self.count = other.count;
        self.runs = other.runs;
        self.capacity = self.capacity.max(self.rows.len());
    }
}

impl<R: Runs, U: UnsortedRow> Sorter<R, U> {
    /// A sorter for these trees, with at most `capacity` rows in memory, and `tail` words in each tail.
    fn new(trees: Range<Tree>, capacity: usize, tail: usize) -> Self {
        let runs = trees.clone().map(|_| Vec::new()).collect();
        let capacity = capacity.max(1);
        let no_tail = vec![0; tail]; // Bounded: a code.
        Self { trees, rows: Vec::new(), tails: Vec::new(), tail, no_tail, capacity, count: 0, runs }
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

    /// Writes all trees of this sorter.
    fn write(
        mut self,
        layout: Layout,
        runs: &mut R,
        target: &mut impl BuildTarget,
        fill: usize,
        progress: &mut dyn FnMut(),
    ) {
        for tree in self.trees.clone() {
            let mut writer = TreeWriter::new(target, layout, tree, fill);
            self.sorted(runs, tree, &mut |key, tail| {
                progress();
                writer.add(key, tail);
            });
            writer.finish();
        }
    }

    /// Sorts the rows in memory for a tree. Checks for interrupts meanwhile, since a gigabyte of rows takes
    /// seconds.
    fn sort(&mut self, store: &mut R, tree: Tree) {
        base::sort(&mut self.rows, &mut || store.check_for_interrupts(), |row| row.order(tree));
    }

    /// The keys of the rows in memory, which must be sorted.
    fn entries(&self, tree: Tree) -> impl Iterator<Item = KeyWithTail<'_>> {
        let tail =
            |place: usize| self.tails.get(place..).map_or(&self.no_tail[..], |tails| &tails[..self.tail]);
        self.rows.iter().map(move |row| (row.key(tree), tail(row.place())))
    }

    /// Stores the rows in memory as a run for each tree.
    fn spill(&mut self, store: &mut R) {
        for tree in self.trees.clone() {
            self.sort(store, tree);
            let run = store.write(self.tail, &mut self.entries(tree));
            self.runs[usize::from(tree - self.trees.start)].push(run);
        }
        self.rows.clear();
        self.tails.clear();
    }

    /// Calls `add` for each key of a tree, in order.
    fn sorted(&mut self, store: &mut R, tree: Tree, add: &mut dyn FnMut(IndexKey, &[u64])) {
        if self.count > self.rows.len() as u64 {
            if !self.rows.is_empty() {
                self.spill(store);
            }
            // Frees the memory, which is needed to read the runs.
            self.rows = Vec::new();
            self.tails = Vec::new();
            let runs = std::mem::take(&mut self.runs[usize::from(tree - self.trees.start)]);
            return merge(store, runs, add);
        }
        self.sort(store, tree);
        self.entries(tree).for_each(|(key, tail)| add(key, tail));
    }
}

/// Merges sorted runs: calls `add` for each key, in order.
fn merge<R: Runs>(store: &mut R, mut runs: Vec<R::Run>, add: &mut dyn FnMut(IndexKey, &[u64])) {
    let mut tails = vec![Vec::new(); runs.len()]; // Bounded: a code for each run.
    let firsts = runs.iter_mut().zip(&mut tails).enumerate();
    let firsts = firsts.filter_map(|(place, (run, tail))| Some(Reverse((store.read(run, tail)?, place))));
    let mut heads: BinaryHeap<_> = firsts.collect();
    while let Some(mut head) = heads.peek_mut() {
        let Reverse((key, place)) = *head;
        add(key, &tails[place]);
        match store.read(&mut runs[place], &mut tails[place]) {
            Some(next) => *head = Reverse((next, place)),
            None => drop(std::collections::binary_heap::PeekMut::pop(head)),
        }
    }
}
