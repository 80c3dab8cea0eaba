//! Building the trees for a table that has rows already.
//!
//! Each tree is written from its sorted keys, leaf after leaf. Rows that do not fit into memory are sorted
//! in runs, which are kept outside and merged when a tree is written. Cost: one sort of the rows for each
//! tree. Memory: 16 bytes for each row that is kept at a time.

use crate::key::{Key, RowId, rotated};
use crate::page::{Block, INNER_CAPACITY, LEAF_CAPACITY, Page};
use limits::{OutOfMemory, reserve};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Where a new index is written to.
pub trait Target {
    /// Writes a page behind the last one, and returns its number.
    fn append(&mut self, page: &Page) -> Block;
    /// Writes a page over the one of this number.
    fn put(&mut self, block: Block, page: &Page);
}

/// Writes the roots of an empty index, which are its first pages.
pub fn create(target: &mut impl Target) {
    for tree in 0..crate::key::TREES as u8 {
        target.append(&Page::node(tree, 0));
    }
}

/// Writes a tree whose root has been created. `fill` is the share of each page that is filled, in percent.
pub fn write_tree(target: &mut impl Target, tree: u8, fill: usize, keys: impl Iterator<Item = Key>) {
    let leaf_size = LEAF_CAPACITY * fill / 100;
    let mut children = Vec::new();
    let mut leaf = Vec::with_capacity(leaf_size);
    for key in keys {
        if leaf.len() == leaf_size {
            append_leaf(target, tree, &mut children, &mut leaf);
        }
        leaf.push(key);
    }
    if children.is_empty() {
        return target.put(tree.into(), &Page::leaf(tree, &leaf));
    }
    append_leaf(target, tree, &mut children, &mut leaf);
    let mut level = 1;
    while children.len() > INNER_CAPACITY {
        let nodes = children.chunks(INNER_CAPACITY * fill / 100);
        children = nodes.map(|node| (node[0].0, target.append(&Page::inner(tree, level, node)))).collect();
        level += 1;
    }
    target.put(tree.into(), &Page::inner(tree, level, &children));
}

/// Writes a leaf behind the last page, and adds it to the children with its lowest key.
fn append_leaf(target: &mut impl Target, tree: u8, children: &mut Vec<(Key, Block)>, leaf: &mut Vec<Key>) {
    let low = if children.is_empty() { Key::FIRST } else { leaf[0] };
    children.push((low, target.append(&Page::leaf(tree, leaf))));
    leaf.clear();
}

/// Where sorted runs are kept.
pub trait Runs {
    /// A run of sorted keys, which is read once from its beginning.
    type Run;
    /// Keeps these keys, which come in order, as a run.
    fn write(&mut self, keys: &mut dyn Iterator<Item = Key>) -> Self::Run;
    /// The next key of a run; `None` at its end.
    fn read(&mut self, run: &mut Self::Run) -> Option<Key>;
    /// Called often; does not return if the user has cancelled.
    fn check_for_interrupts(&self);
}

/// Sorts rows for some trees.
pub struct Sorter<R: Runs> {
    trees: Range<u8>,
    /// The rows in memory, at most `capacity` of them.
    rows: Vec<(u64, RowId)>,
    capacity: usize,
    count: u64,
    /// For each tree its runs, one for each time that memory was full.
    runs: Vec<Vec<R::Run>>,
}

impl<R: Runs> Sorter<R> {
    /// Sorts for these trees, with at most `capacity` rows in memory.
    pub fn new(trees: Range<u8>, capacity: usize) -> Self {
        let runs = trees.clone().map(|_| Vec::new()).collect();
        Self { trees, rows: Vec::new(), capacity: capacity.max(1), count: 0, runs }
    }

    /// The number of rows that have been added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds a row.
    pub fn add(&mut self, store: &mut R, fingerprint: u64, row: RowId) -> Result<(), OutOfMemory> {
        if self.rows.len() == self.capacity {
            self.spill(store);
        }
        if self.rows.len() == self.rows.capacity() {
            let more = self.rows.len().max(1024).min(self.capacity - self.rows.len());
            reserve(&mut self.rows, more)?;
        }
        self.rows.push((fingerprint, row));
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
    pub fn sorted(&mut self, store: &mut R, tree: u8, write: impl FnOnce(&mut dyn Iterator<Item = Key>)) {
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

fn key((fingerprint, row): (u64, RowId), tree: u8) -> Key {
    Key { bits: rotated(fingerprint, tree), row }
}

/// Sorts rows by their keys, and looks for interrupts meanwhile: a gigabyte of rows takes seconds.
fn sort(rows: &mut [(u64, RowId)], tree: u8, store: &impl Runs) {
    limits::sort(rows, &mut || store.check_for_interrupts(), |&row| key(row, tree));
}

/// Several sorted runs as one.
struct Merge<'a, R: Runs> {
    store: &'a mut R,
    runs: Vec<R::Run>,
    heads: BinaryHeap<Reverse<(Key, usize)>>,
}

impl<'a, R: Runs> Merge<'a, R> {
    fn new(store: &'a mut R, mut runs: Vec<R::Run>) -> Self {
        let heads = runs.iter_mut().enumerate();
        let heads = heads.filter_map(|(index, run)| Some(Reverse((store.read(run)?, index)))).collect();
        Self { store, runs, heads }
    }
}

impl<R: Runs> Iterator for Merge<'_, R> {
    type Item = Key;

    fn next(&mut self) -> Option<Key> {
        let mut head = self.heads.peek_mut()?;
        let Reverse((key, index)) = *head;
        match self.store.read(&mut self.runs[index]) {
            Some(next) => *head = Reverse((next, index)),
            None => drop(std::collections::binary_heap::PeekMut::pop(head)),
        }
        Some(key)
    }
}
