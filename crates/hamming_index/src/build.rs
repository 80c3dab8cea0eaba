//! Building the trees of a table that has rows already.
//!
//! Each tree is written from its sorted keys, leaf after leaf. What does not fit into memory is sorted in
//! runs that are kept elsewhere and merged when a tree is written.

use crate::key::{Key, RowId, rotated};
use crate::page::{Block, INNER_CAPACITY, LEAF_CAPACITY, Page};
use limits::{OutOfMemory, reserve};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Where a new index is written to.
pub trait Target {
    /// Writes a page after those that are there.
    fn append(&mut self, page: &Page) -> Block;
    /// Writes a page at its place.
    fn put(&mut self, block: Block, page: &Page);
}

/// The roots of an empty index: its first pages.
pub fn create(target: &mut impl Target) {
    for tree in 0..crate::key::TREES as u8 {
        target.append(&Page::node(tree, 0));
    }
}

/// Writes a tree whose root is there already. Pages are filled to this share, in percent.
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

fn append_leaf(target: &mut impl Target, tree: u8, children: &mut Vec<(Key, Block)>, leaf: &mut Vec<Key>) {
    let low = if children.is_empty() { Key::FIRST } else { leaf[0] };
    children.push((low, target.append(&Page::leaf(tree, leaf))));
    leaf.clear();
}

/// Where sorted runs are kept.
pub trait Runs {
    /// A run.
    type Run;
    /// Keeps keys, in order.
    fn write(&mut self, keys: &mut dyn Iterator<Item = Key>) -> Self::Run;
    /// The next key of a run.
    fn read(&mut self, run: &mut Self::Run) -> Option<Key>;
    /// Called often; does not return if the user has cancelled.
    fn check_for_interrupts(&self);
}

/// Sorts rows for some trees.
pub struct Sorter<R: Runs> {
    trees: Range<u8>,
    /// At most `capacity` of them.
    rows: Vec<(u64, RowId)>,
    capacity: usize,
    count: u64,
    /// Of each time that memory was full, a run for each tree.
    runs: Vec<Vec<R::Run>>,
}

impl<R: Runs> Sorter<R> {
    /// For these trees, with so many rows in memory.
    pub fn new(trees: Range<u8>, capacity: usize) -> Self {
        let runs = trees.clone().map(|_| Vec::new()).collect();
        Self { trees, rows: Vec::new(), capacity: capacity.max(1), count: 0, runs }
    }

    /// Rows so far.
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
            // Its memory is for reading the runs now.
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

/// Sorts, and looks for interrupts meanwhile: a gigabyte of rows takes seconds.
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
