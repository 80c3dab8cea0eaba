//! Removes entries, and lets the trees shrink.
//!
//! Each tree is walked through once, leaf by leaf, and the dead entries of a leaf are removed in one
//! commit. Small neighbors are merged. `README.md` ("VACUUM") explains why the trees may differ meanwhile,
//! why no entry is missed, and why a page is free at once. Cost: each leaf is read once, and changed if it
//! has dead entries.

use crate::key::{IndexKey, RowId, Tree};
use crate::page::{Edit, Page};
use crate::store::Store;
use crate::tree::Index;

/// The number of leaves that are visited while their parent stays locked.
const LEAVES_AT_A_TIME: usize = 16;
/// Neighbours are merged if they fill at most this percentage of a page together. It is less than 100, so
/// that the next insert does not split them again.
const MERGE_SHARE: usize = 60;

impl<S: Store> Index<'_, S> {
    /// Removes all dead rows, and merges small pages. Returns the number of rows that remain, and of rows
    /// that were removed.
    pub fn vacuum(&self, is_dead: &mut dyn FnMut(RowId) -> bool) -> (u64, u64) {
        let mut remaining = 0;
        let mut removed = 0;
        for tree in self.layout.trees() {
            let mut sweep = VacuumWalk {
                index: self,
                tree,
                is_dead: &mut *is_dead,
                remaining: 0,
                removed: 0,
                last: None,
                small: Vec::new(),
            };
            sweep.run();
            // Every band has the same rows.
            if tree == self.layout.first_tree() || tree == self.layout.nulls() {
                remaining += sweep.remaining;
                removed += sweep.removed;
            }
            self.tidy(tree);
        }
        (remaining, removed)
    }

    /// Calls `visit` once for every row, and returns the number of rows.
    pub fn rows(&self, visit: &mut dyn FnMut(RowId)) -> u64 {
        let mut rows = 0;
        self.each_entry(&[self.layout.first_tree(), self.layout.nulls()], &mut |key, _, _| {
            rows += 1;
            visit(key.row);
        });
        rows
    }

    /// Merges small neighbours above the leaves, and lowers the tree if it has become too high.
    fn tidy(&self, tree: Tree) {
        let mut level = 1;
        while self.tidy_level(tree, level) {
            level += 1;
        }
        while self.lower(tree) {}
    }

    /// Merges neighbours at one level. Returns whether the tree has a level above.
    fn tidy_level(&self, tree: Tree, level: u8) -> bool {
        let mut from = IndexKey::FIRST;
        loop {
            self.store.check_for_interrupts();
            match self.small_pair(tree, level, from) {
                None => return false,
                Some(SmallNeighbours::Found(key)) => {
                    self.merge(tree, level, key);
                    from = key;
                }
                Some(SmallNeighbours::NoneUntil(Some(key))) => from = key,
                Some(SmallNeighbours::NoneUntil(None)) => return true,
            }
        }
    }

    /// Searches for two small neighbours under one parent, from the key on. `None` if the level is the top of
    /// the tree.
    fn small_pair(&self, tree: Tree, level: u8, from: IndexKey) -> Option<SmallNeighbours> {
        let (node, end) = self.descend(tree, level + 1, from);
        if node.level() <= level {
            return None;
        }
        let first = node.child_of(from);
        let mut length = self.read_child(&node, first).len();
        for index in first + 1..node.len() {
            let key = node.key(index);
            self.check_ascends(tree, from, key);
            if index > first + LEAVES_AT_A_TIME {
                return Some(SmallNeighbours::NoneUntil(Some(node.key(index - 1))));
            }
            let child = self.read_child(&node, index);
            if is_small(length + child.len(), child.capacity()) {
                return Some(SmallNeighbours::Found(node.key(index - 1).max(from)));
            }
            length = child.len();
        }
        Some(SmallNeighbours::NoneUntil(end))
    }

    /// Merges the node that contains the key with its right neighbour, if they are still small.
    fn merge(&self, tree: Tree, level: u8, key: IndexKey) {
        let Some(mut parent) = self.lock_at(tree, level + 1, key) else { return };
        let index = parent.child_of(key);
        if index + 1 == parent.len() {
            return;
        }
        let mut left = self.lock_child(&parent, index);
        let mut right = self.lock_child(&parent, index + 1);
        if !is_small(left.len() + right.len(), left.capacity()) {
            return;
        }
        let mut children = parent.children();
        children.remove(index + 1);
        let joined = match level {
            0 => {
                let of_left = (0..left.len()).map(|slot| (&*left, slot));
                Page::leaf_of(tree, of_left.chain((0..right.len()).map(|slot| (&*right, slot))))
            }
            // Bounded: the children of two pages.
            _ => Page::inner(tree, level, &[left.children(), right.children()].concat()),
        };
        let above = Page::inner(tree, level + 1, &children);
        self.store.commit(&mut [
            (&mut parent, Edit::Replace(above)),
            (&mut left, Edit::Replace(joined)),
            (&mut right, Edit::Replace(Page::free())),
        ]);
        drop((parent, left));
        self.store.release(right);
    }

    /// Replaces a root that has only one child by this child. Returns whether it did.
    fn lower(&self, tree: Tree) -> bool {
        let mut root = self.lock_root(tree);
        if root.level() == 0 || root.len() > 1 {
            return false;
        }
        let mut child = self.lock_child(&root, 0);
        let moved = Box::new(Page::clone(&child));
        self.store
            .commit(&mut [(&mut root, Edit::Replace(moved)), (&mut child, Edit::Replace(Page::free()))]);
        drop(root);
        self.store.release(child);
        true
    }
}

/// A walk through a tree that removes dead entries.
struct VacuumWalk<'a, 's, S> {
    index: &'a Index<'s, S>,
    tree: Tree,
    is_dead: &'a mut dyn FnMut(RowId) -> bool,
    remaining: u64,
    removed: u64,
    /// The lowest key of the last leaf, and the leaf's number of entries.
    last: Option<(IndexKey, usize)>,
    /// Leaves that may be merged with their right neighbour, by their lowest keys.
    small: Vec<IndexKey>,
}

impl<S: Store> VacuumWalk<'_, '_, S> {
    /// Removes the dead entries of all leaves, and merges small leaves on the way.
    fn run(&mut self) {
        let mut from = Some(IndexKey::FIRST);
        while let Some(key) = from {
            from = self.some_leaves(key);
            for small in std::mem::take(&mut self.small) {
                self.index.merge(self.tree, 0, small);
            }
            self.index.store.check_for_interrupts();
        }
    }

    /// Cleans some leaves under one parent, from the key on. Returns where the next leaf begins.
    fn some_leaves(&mut self, from: IndexKey) -> Option<IndexKey> {
        let store = self.index.store;
        let (parent, end) = self.index.descend(self.tree, 1, from);
        if parent.level() == 0 {
            drop(parent);
            return self.clean_root(from);
        }
        if store.begin_leaves() {
            self.index.prefetch(&parent, from, &Some);
        }
        let first = parent.child_of(from);
        let next = parent.len().min(first + LEAVES_AT_A_TIME);
        for index in first..next {
            let low = if index == first { from } else { parent.key(index) };
            let child = parent.child(index);
            let mut leaf = self.index.checked(store.lock_in_passing(child), child, self.tree, Some(0));
            self.clean(&mut leaf, low);
            let entries = leaf.len();
            if let Some((key, before)) = self.last.replace((low, entries))
                && is_small(before + entries, leaf.capacity())
            {
                self.small.push(key);
            }
        }
        if next == parent.len() {
            return end;
        }
        self.index.check_ascends(self.tree, from, parent.key(next));
        Some(parent.key(next))
    }

    /// Cleans a tree that consists of one leaf. If it has grown meanwhile, the walk starts again.
    fn clean_root(&mut self, from: IndexKey) -> Option<IndexKey> {
        let mut root = self.index.lock_root(self.tree);
        if root.level() > 0 {
            return Some(from);
        }
        self.clean(&mut root, from);
        None
    }

    /// Removes the dead entries of a leaf. Entries below the key were counted before.
    fn clean(&mut self, leaf: &mut S::Exclusive<'_>, from: IndexKey) {
        let stays: Vec<bool> = leaf.keys().map(|entry| !(self.is_dead)(entry.row)).collect();
        self.remaining +=
            leaf.keys().zip(&stays).filter(|&(entry, &stays)| stays && entry >= from).count() as u64;
        let dead = stays.iter().filter(|&&stays| !stays).count();
        if dead > 0 {
            self.removed += dead as u64;
            let edit = leaf.keeping(&stays);
            self.index.store.commit(&mut [(leaf, edit)]);
        }
    }
}

/// The result of a search for small neighbours.
enum SmallNeighbours {
    /// The first neighbour contains this key.
    Found(IndexKey),
    /// There is no pair before this key, from which the search goes on; `None` at the end of the level.
    NoneUntil(Option<IndexKey>),
}

/// Whether two neighbours that have this number of entries together are small enough to be merged.
fn is_small(entries: usize, capacity: usize) -> bool {
    entries * 100 <= capacity * MERGE_SHARE
}
