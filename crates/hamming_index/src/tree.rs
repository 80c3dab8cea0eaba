//! Trees of keys: the descent to a leaf, and the walk through a range of leaves.
//!
//! Each tree is a B-tree with all keys in its leaves. An inner node has a lower bound for each child, so a
//! descent reads one page for each level. The root has a fixed page: if it is full, its content moves to a
//! new child ([`crate::change`]).
//!
//! A descent locks the child before it unlocks the node, so the child cannot be split, merged or freed in
//! between. A walk releases all locks after some leaves, and then continues at a key, wherever the leaf of
//! that key is by then. `README.md` ("Trees and locks", "Scans between pages") explains why that is safe, and
//! how it differs from PostgreSQL's nbtree.
//!
//! A walk calls a [`Probe`] for the next key that can match at or after the last leaf's end, and skips the
//! leaves before it. Cost: one page for each level, and for a range one page for each leaf.

use crate::key::{Filter, IndexKey, RowId, Tree};
use crate::layout::Layout;
use crate::page::{Page, PageNumber};
use crate::probe::Probe;
use crate::store::Store;
use std::ops::Deref;

/// The number of leaves that are read while the nodes above them stay locked. Meanwhile, splits below these
/// nodes wait, and no query can be cancelled. Finding each node above again costs about as much as reading a
/// leaf.
pub(crate) const LEAVES_AT_A_TIME: usize = 16;
/// The same if the leaves have whole codes, or if reading is slow and they are prefetched together. Only a
/// search of words has to learn often which rows are still wanted.
const LEAVES_AHEAD: usize = 64;

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
    fn next(&self, probe: &Probe, from: IndexKey) -> Option<IndexKey> {
        let from = match self.filter {
            Some(filter) if from.filter > filter => return None,
            Some(filter) if from.filter < filter => IndexKey { filter, ..IndexKey::FIRST },
            _ => from,
        };
        let bits = probe.next(from.bits).filter(|&bits| self.has_bits(bits))?;
        Some(if bits == from.bits { from } else { IndexKey { bits, row: RowId::FIRST, ..from } })
    }
}

/// The leaves that a walk visits.
struct Visit<'a> {
    part: TreePart,
    probe: &'a Probe,
    is_slow: bool,
    /// How many leaves may still be visited before locks are released.
    left: usize,
    /// Returns whether the walk should go on before it releases locks.
    visit: &'a mut dyn FnMut(&Page) -> bool,
}

impl Visit<'_> {
    fn next(&self, from: IndexKey) -> Option<IndexKey> {
        self.part.next(self.probe, from)
    }
}

/// A step from a node to one of its children, and the number of children after that one.
struct TreeStep {
    child: usize,
    after: usize,
}

/// Where a walk through leaves continues.
pub(crate) enum Walk {
    /// It continues at this key.
    From(IndexKey),
    /// It has seen all of its leaves.
    Done,
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

    pub(crate) fn read_root(&self, tree: Tree) -> S::Shared<'s> {
        let root = self.layout.root(tree);
        self.checked(self.store.read(root), root, tree, None)
    }

    pub(crate) fn read_child(&self, parent: &Page, index: usize) -> S::Shared<'s> {
        let child = parent.child(index);
        self.checked(self.store.read(child), child, parent.tree(), Some(parent.level() - 1))
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

    /// Visits the leaves of a part of a tree that may have keys of the probe, in order, from the key on.
    /// Returns after some of them, to release locks, or as soon as `visit` returns false.
    pub(crate) fn walk(
        &self,
        part: TreePart,
        from: IndexKey,
        probe: &Probe,
        visit: &mut dyn FnMut(&Page) -> bool,
    ) -> Walk {
        let Some(from) = part.next(probe, from) else { return Walk::Done };
        let is_slow = self.store.is_slow();
        let is_long = is_slow || self.layout.has_code_tree();
        let left = if is_long { LEAVES_AHEAD } else { LEAVES_AT_A_TIME };
        let root = self.read_root(part.tree);
        self.walk_under(&root, None, from, &mut Visit { part, probe, is_slow, left, visit })
    }

    /// Visits the leaves under a node, whose keys are all below `end`.
    fn walk_under(
        &self,
        node: &Page,
        end: Option<IndexKey>,
        mut from: IndexKey,
        leaves: &mut Visit<'_>,
    ) -> Walk {
        if node.level() == 0 {
            leaves.left = if (leaves.visit)(node) { leaves.left - 1 } else { 0 };
            return end.and_then(|end| leaves.next(end)).map_or(Walk::Done, Walk::From);
        }
        if leaves.is_slow && node.level() == 1 {
            self.prefetch(node, from, &|key| leaves.next(key));
        }
        if node.level() == 1 {
            return self.walk_leaves(node, end, from, leaves);
        }
        loop {
            let index = node.child_of(from);
            let child_end = after_child(node, index).or(end);
            match self.walk_under(&self.read_child(node, index), child_end, from, leaves) {
                Walk::From(key) if leaves.left > 0 && end.is_none_or(|end| key < end) => from = key,
                walk => return walk,
            }
        }
    }

    /// Visits the leaves under their parent. While a leaf is visited, the next one is loaded.
    fn walk_leaves(
        &self,
        node: &Page,
        end: Option<IndexKey>,
        from: IndexKey,
        leaves: &mut Visit<'_>,
    ) -> Walk {
        let mut index = node.child_of(from);
        loop {
            let leaf = self.read_child(node, index);
            let child_end = after_child(node, index);
            let next = child_end.or(end).and_then(|end| leaves.next(end));
            let next_index = match next {
                Some(key) if child_end == Some(key) => Some(index + 1),
                Some(key) if end.is_none_or(|end| key < end) => Some(node.child_of(key)),
                _ => None,
            };
            if let Some(next_index) = next_index {
                self.store.load(node.child(next_index));
            }
            leaves.left = if (leaves.visit)(&leaf) { leaves.left - 1 } else { 0 };
            match next_index {
                Some(next_index) if leaves.left > 0 => index = next_index,
                _ => return next.map_or(Walk::Done, Walk::From),
            }
        }
    }

    /// Passes the entries of some leaves of a part of a tree to `visit`, from the key on, with leaf and slot.
    pub(crate) fn entries(
        &self,
        part: TreePart,
        from: IndexKey,
        visit: &mut dyn FnMut(IndexKey, &Page, usize),
    ) -> Walk {
        self.walk(part, from, &Probe::ALL, &mut |leaf| {
            // The first leaf may begin with entries that were passed before.
            let entries = leaf.keys().enumerate().filter(|&(_, entry)| entry >= from && part.has(entry));
            entries.for_each(|(slot, entry)| visit(entry, leaf, slot));
            true
        })
    }

    /// Passes every entry of these trees to `visit`, with leaf and slot. Pages are locked meanwhile.
    pub(crate) fn each_entry(&self, trees: &[Tree], visit: &mut dyn FnMut(IndexKey, &Page, usize)) {
        for &tree in trees {
            let mut walk = Walk::From(IndexKey::FIRST);
            while let Walk::From(from) = walk {
                self.store.check_for_interrupts();
                walk = self.entries(TreePart::all(tree), from, visit);
            }
        }
    }

    /// Prefetches the leaves under a node that a walk will read. After each leaf, `next` returns the next
    /// key.
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
