//! Trees of keys: the descent to a leaf.
//!
//! Each tree is a B-tree with all keys in its leaves. An inner node has a lower bound for each child, so a
//! descent reads one page for each level. The root has a fixed page: if it is full, its content moves to a
//! new child ([`crate::change`]).
//!
//! A descent locks the child before it unlocks the node, so the child cannot be split, merged or freed in
//! between. `README.md` ("Trees and locks") explains why that is safe, and how it differs from PostgreSQL's
//! nbtree.
//!
//! Cost: one page for each level.

use crate::key::{Filter, IndexKey, RowId, Tree};
use crate::layout::Layout;
use crate::page::{Page, PageNumber};
use crate::probe::Probe;
use crate::store::Store;
use std::ops::Deref;

/// The number of leaves that are read together if reading is slow.
pub(crate) const LEAVES_AHEAD: usize = 64;

/// An index: trees in a store.
#[derive(Clone, Copy)]
pub struct Index<'s, S> {
    pub(crate) store: &'s S,
    pub(crate) layout: Layout,
}

/// A tree, or some of its keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreePart {
    pub(crate) tree: Tree,
    /// Only keys with this filter; `None` means all keys.
    pub(crate) filter: Option<Filter>,
    /// Only keys whose bits are lower than this; `None` means all keys.
    pub(crate) below: Option<u64>,
}

impl TreePart {
    /// A whole tree.
    pub(crate) fn all(tree: Tree) -> Self {
        Self { tree, filter: None, below: None }
    }

    /// The rows with this filter.
    pub(crate) fn of_filter(layout: Layout, filter: Filter) -> Self {
        Self { tree: layout.filter_tree(), filter: Some(filter), below: None }
    }

    pub(crate) fn has(&self, key: IndexKey) -> bool {
        self.filter.is_none_or(|filter| filter == key.filter) && self.has_bits(key.bits)
    }

    fn has_bits(&self, bits: u64) -> bool {
        self.below.is_none_or(|below| bits < below)
    }

    /// The first key at or after `from` that is in both the part and the probe.
    pub(crate) fn next(&self, probe: &Probe, from: IndexKey) -> Option<IndexKey> {
        let from = match self.filter {
            Some(filter) if from.filter > filter => return None,
            Some(filter) if from.filter < filter => IndexKey { filter, ..IndexKey::FIRST },
            _ => from,
        };
        let bits = probe.next(from.bits).filter(|&bits| self.has_bits(bits))?;
        Some(if bits == from.bits { from } else { IndexKey { bits, row: RowId::FIRST, ..from } })
    }
}

/// A step from a node to one of its children, and the number of children after that one.
struct TreeStep {
    child: usize,
    after: usize,
}

impl<'s, S: Store> Index<'s, S> {
    /// The index in this store.
    pub fn new(store: &'s S, layout: Layout) -> Self {
        Self { store, layout }
    }

    /// The trees of the index, and their roots.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The page. Raises an error if it is damaged, belongs to another tree, or is at another level.
    pub(crate) fn checked<P: Deref<Target = Page>>(
        &self,
        page: P,
        page_number: PageNumber,
        tree: Tree,
        level: Option<u8>,
    ) -> P {
        if let Some(damage) = page.damage() {
            self.store.corrupted(page_number, damage);
        } else if page.tree() != tree {
            self.store.corrupted(page_number, "it belongs to another tree");
        } else if level.is_some_and(|level| page.level() != level) {
            self.store.corrupted(page_number, "it is at another level of its tree");
        } else if page.level() > 0 && page.is_empty() {
            self.store.corrupted(page_number, "it is an inner page without children");
        }
        page
    }

    /// Raises an error if a walk that began at `from` would continue at a key that is not behind it. Only
    /// damage puts keys out of order, and the walk would never end.
    pub(crate) fn check_ascends(&self, tree: Tree, from: IndexKey, next: IndexKey) {
        if next <= from {
            let root = self.layout.root(tree);
            self.store.corrupted(root, "keys above the leaves of its tree are out of order");
        }
    }

    pub(crate) fn read_root(&self, tree: Tree) -> S::Shared<'s> {
        let root = self.layout.root(tree);
        self.checked(self.store.read(root), root, tree, None)
    }

    pub(crate) fn read_child(&self, parent: &Page, index: usize) -> S::Shared<'s> {
        let child = parent.child(index);
        self.checked(self.store.read(child), child, parent.tree(), Some(parent.level() - 1))
    }

    pub(crate) fn read_leaf(&self, tree: Tree, page_number: PageNumber) -> S::Shared<'s> {
        self.checked(self.store.read(page_number), page_number, tree, Some(0))
    }

    pub(crate) fn lock_child(&self, parent: &Page, index: usize) -> S::Exclusive<'s> {
        let child = parent.child(index);
        self.checked(self.store.lock(child), child, parent.tree(), Some(parent.level() - 1))
    }

    pub(crate) fn lock_root(&self, tree: Tree) -> S::Exclusive<'s> {
        let root = self.layout.root(tree);
        self.checked(self.store.lock(root), root, tree, None)
    }

    /// Locks the node at this level that covers the key; `None` if the tree is not that high.
    pub(crate) fn lock_at(&self, tree: Tree, level: u8, key: IndexKey) -> Option<S::Exclusive<'s>> {
        loop {
            let (parent, _) = self.descend(tree, level + 1, key);
            if parent.level() < level {
                return None;
            } else if parent.level() > level {
                return Some(self.lock_child(&parent, parent.child_of(key)));
            }
            // The wanted node is the root.
            drop(parent);
            let root = self.lock_root(tree);
            if root.level() == level {
                return Some(root);
            }
        }
    }

    /// Locks the leaf that covers the key.
    pub(crate) fn lock_leaf(&self, tree: Tree, key: IndexKey) -> S::Exclusive<'s> {
        loop {
            // No tree is lower than its leaves.
            if let Some(leaf) = self.lock_at(tree, 0, key) {
                return leaf;
            }
        }
    }

    /// Whether the tree has the entry.
    pub fn has(&self, tree: Tree, entry: IndexKey) -> bool {
        self.descend(tree, 0, entry).0.position(entry).is_some()
    }

    /// Whether the tree has the entry, with this code if its leaves have whole codes.
    pub fn has_code(&self, tree: Tree, entry: IndexKey, words: Option<&[u64]>) -> bool {
        let leaf = self.descend(tree, 0, entry).0;
        let others = words.map_or(&[][..], |words| &words[1..]).iter().copied().chain(std::iter::repeat(0));
        leaf.position(entry).is_some_and(|slot| leaf.words(slot).skip(1).zip(others).all(|(a, b)| a == b))
    }

    /// Goes down to the node at this level that covers the key, or to the root if the tree is not that high.
    /// Also returns the first key after those that the node covers.
    pub(crate) fn descend(&self, tree: Tree, level: u8, key: IndexKey) -> (S::Shared<'s>, Option<IndexKey>) {
        let mut node = self.read_root(tree);
        let mut end = None;
        while node.level() > level {
            let index = node.child_of(key);
            end = after_child(&node, index).or(end);
            node = self.read_child(&node, index);
        }
        (node, end)
    }

    /// The estimated number of leaves with rows that have this filter.
    pub fn leaves_of(&self, filter: Filter) -> f64 {
        let first = self.way_to(self.layout.filter_tree(), IndexKey { filter, ..IndexKey::FIRST });
        let last_key = IndexKey { filter, bits: u64::MAX, row: RowId::LAST };
        let last = self.way_to(self.layout.filter_tree(), last_key);
        let Some(parting) = first.iter().zip(&last).position(|(a, b)| a.child != b.child) else { return 1.0 };
        // We assume that a child next to a path has as many leaves as the child on the path.
        let leaves_under = |way: &[TreeStep], place: usize| -> f64 {
            way[place + 1..].iter().map(|step| (step.child + 1 + step.after) as f64).product()
        };
        let between = last[parting].child.saturating_sub(first[parting].child + 1);
        // Below the node where the paths part: all children after the first path, and all before the last.
        let after = first.iter().enumerate().skip(parting + 1);
        let after = after.map(|(place, step)| step.after as f64 * leaves_under(&first, place));
        let before = last.iter().enumerate().skip(parting + 1);
        let before = before.map(|(place, step)| step.child as f64 * leaves_under(&last, place));
        2.0 + between as f64 * leaves_under(&first, parting) + after.sum::<f64>() + before.sum::<f64>()
    }

    /// The path from the root to the leaf that covers the key.
    fn way_to(&self, tree: Tree, key: IndexKey) -> Vec<TreeStep> {
        let mut node = self.read_root(tree);
        let mut way = Vec::new();
        while node.level() > 0 {
            let child = node.child_of(key);
            way.push(TreeStep { child, after: node.len() - 1 - child }); // Bounded: the levels of a tree.
            node = self.read_child(&node, child);
        }
        way
    }

    /// Prefetches the leaves under a node that a walk will read, at most [`LEAVES_AHEAD`]. After each leaf,
    /// `next` returns the next key.
    pub(crate) fn prefetch(&self, node: &Page, from: IndexKey, next: &dyn Fn(IndexKey) -> Option<IndexKey>) {
        let mut from = Some(from);
        for _ in 0..LEAVES_AHEAD {
            let Some(key) = from else { return };
            let index = node.child_of(key);
            self.store.prefetch(node.child(index));
            from = after_child(node, index).and_then(next);
        }
    }
}

/// The lowest key that the next child covers.
pub(crate) fn after_child(node: &Page, index: usize) -> Option<IndexKey> {
    (index + 1 < node.len()).then(|| node.key(index + 1))
}
