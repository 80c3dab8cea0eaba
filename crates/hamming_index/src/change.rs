//! Adding and removing entries: growth and shrinking of the trees.
//!
//! An entry is added to all its trees in one commit, and removed from all in one, so the trees always have the
//! same entries. Where a leaf has no room it is split first, in a commit of its own; a split reaches a node,
//! its parent and the new sibling, and nothing else waits.

use crate::key::{Key, NULLS, Row, TREES, places, turned_back};
use crate::page::{Block, Edit, Page};
use crate::store::{Numbered, Store};
use crate::tree::{Index, LEAVES_AT_A_TIME, Walk, after_child, root};

/// Neighbours are merged when they fill at most this share of a page together, in percent. Less than full, so
/// that the next insert does not split them again.
const MERGE_SHARE: usize = 60;

impl<'s, S: Store> Index<'s, S> {
    /// Adds a row with its fingerprint, which may be NULL.
    pub fn insert(&self, fingerprint: Option<u64>, row: Row) {
        let places = places(fingerprint, row);
        loop {
            let mut leaves: Vec<_> = places.clone().map(|(tree, key)| self.lock_leaf(tree, key)).collect();
            if let Some(full) = leaves.iter().position(|leaf| leaf.is_full()) {
                drop(leaves);
                places.clone().skip(full).take(1).for_each(|(tree, key)| self.split(tree, 0, key));
                continue;
            }
            let edits =
                leaves.iter().zip(places).map(|(leaf, (_, key))| leaf.adding(key)).collect::<Vec<_>>();
            return self.store.commit(&mut leaves.iter_mut().zip(edits).collect::<Vec<_>>());
        }
    }

    /// Removes a row. Says whether it was there: in all its trees, or the index is damaged.
    pub fn remove(&self, fingerprint: Option<u64>, row: Row) -> bool {
        let places = places(fingerprint, row);
        let mut leaves: Vec<_> = places.clone().map(|(tree, key)| self.lock_leaf(tree, key)).collect();
        let found =
            leaves.iter().zip(places).map(|(leaf, (_, key))| Some(leaf.removing(leaf.position(key)?)));
        let found: Vec<Option<Edit>> = found.collect();
        if found.iter().all(Option::is_none) {
            return false;
        }
        if let Some(missing) = found.iter().position(Option::is_none) {
            self.store.corrupted(leaves[missing].block(), "it lacks a row that another tree has");
        }
        self.store.commit(&mut leaves.iter_mut().zip(found.into_iter().flatten()).collect::<Vec<_>>());
        true
    }

    /// Removes all rows of which it is said that they are dead, and tidies up. Returns how many remain, and
    /// how many were removed.
    ///
    /// Every row is looked at in one tree, and removed from all at once. An entry that is moved meanwhile stays
    /// in the range of keys that it was in, so none is passed over.
    pub fn vacuum(&self, is_dead: &mut dyn FnMut(Row) -> bool) -> (u64, u64) {
        let (mut remaining, mut removed) = (0, 0);
        for tree in [0, NULLS] {
            let mut from = Key::FIRST;
            loop {
                let mut dead = Vec::new();
                let walk = self.entries(tree, from, &mut |entry| {
                    if is_dead(entry.row) { dead.push(entry) } else { remaining += 1 }
                });
                for entry in dead {
                    self.store.check_for_interrupts();
                    let fingerprint = (tree != NULLS).then(|| turned_back(entry.bits, tree));
                    if !self.remove(fingerprint, entry.row) {
                        self.store.corrupted(root(tree), "a row is in its tree, but not where it belongs");
                    }
                    removed += 1;
                }
                self.store.check_for_interrupts();
                match walk {
                    Walk::From(key) => from = key,
                    Walk::Done => break,
                }
            }
        }
        if removed > 0 {
            self.tidy();
        }
        (remaining, removed)
    }

    /// Makes room in the node at this level under which the key lies.
    fn split(&self, tree: u8, level: u8, key: Key) {
        // Before any other lock, for nobody may wait for a page while others wait for theirs.
        let mut sibling = self.store.allocate();
        loop {
            let Some(mut parent) = self.lock_at(tree, level + 1, key) else {
                return self.grow(tree, level, sibling);
            };
            if parent.is_full() {
                drop(parent);
                self.split(tree, level + 1, key);
                continue;
            }
            let index = parent.child_of(key);
            let mut node = self.lock_child(&parent, index);
            if !node.is_full() {
                return self.store.release(sibling);
            }
            let (left, right, low) = halves(&node);
            let mut children = parent.children();
            children.insert(index + 1, (low, sibling.block()));
            let above = Page::inner(tree, level + 1, &children);
            return self.store.commit(&mut [
                (&mut parent, Edit::Replace(above)),
                (&mut node, Edit::Replace(left)),
                (&mut sibling, Edit::Replace(right)),
            ]);
        }
    }

    /// Moves what is in a full root of this level into two children. If it is no longer that, there is room now, or
    /// whoever wants some comes back.
    fn grow(&self, tree: u8, level: u8, mut left: S::Exclusive<'s>) {
        let mut right = self.store.allocate();
        let mut root = self.lock_root(tree);
        if root.level() != level || !root.is_full() {
            drop(root);
            self.store.release(left);
            return self.store.release(right);
        }
        let (first, second, low) = halves(&root);
        let children = [(Key::FIRST, left.block()), (low, right.block())];
        self.store.commit(&mut [
            (&mut root, Edit::Replace(Page::inner(tree, level + 1, &children))),
            (&mut left, Edit::Replace(first)),
            (&mut right, Edit::Replace(second)),
        ]);
    }

    /// Merges neighbours that have become small, and lowers trees that have become too high.
    pub fn tidy(&self) {
        for tree in 0..TREES as u8 {
            let mut level = 0;
            while self.tidy_level(tree, level) {
                level += 1;
            }
            while self.lower(tree) {}
        }
    }

    /// Merges at one level. Says whether there is a level above it.
    fn tidy_level(&self, tree: u8, level: u8) -> bool {
        let mut from = Key::FIRST;
        loop {
            self.store.check_for_interrupts();
            match self.small_pair(tree, level, from) {
                None => return false,
                Some(Pair::Found(key)) => {
                    self.merge(tree, level, key);
                    from = key;
                }
                Some(Pair::NoneUntil(Some(key))) => from = key,
                Some(Pair::NoneUntil(None)) => return true,
            }
        }
    }

    /// Looks for a pair of small neighbours under one parent, from the key on.
    fn small_pair(&self, tree: u8, level: u8, from: Key) -> Option<Pair> {
        let mut node = self.share_root(tree);
        if node.level() <= level {
            return None;
        }
        let mut end = None;
        while node.level() > level + 1 {
            let index = node.child_of(from);
            end = after_child(&node, index).or(end);
            node = self.share_child(&node, index);
        }
        let first = node.child_of(from);
        let mut length = self.share_child(&node, first).len();
        for index in first + 1..node.len() {
            let key = node.key(index);
            if key <= from {
                self.store.corrupted(root(tree), "keys above the leaves of its tree are out of order");
            } else if index > first + LEAVES_AT_A_TIME {
                return Some(Pair::NoneUntil(Some(node.key(index - 1))));
            }
            let child = self.share_child(&node, index);
            if is_small(length + child.len(), child.capacity()) {
                return Some(Pair::Found(node.key(index - 1).max(from)));
            }
            length = child.len();
        }
        Some(Pair::NoneUntil(end))
    }

    /// Merges the node under which the key lies with its right neighbour, if they are still small.
    fn merge(&self, tree: u8, level: u8, key: Key) {
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
            0 => Page::leaf(tree, &left.keys().chain(right.keys()).collect::<Vec<_>>()),
            _ => Page::inner(tree, level, &[left.children(), right.children()].concat()),
        };
        let above = Page::inner(tree, level + 1, &children);
        self.store.commit(&mut [
            (&mut parent, Edit::Replace(above)),
            (&mut left, Edit::Replace(joined)),
            (&mut right, Edit::Replace(Page::free())),
        ]);
        self.store.release(right);
    }

    /// Puts the only child of a root in its place. Says whether it was done.
    fn lower(&self, tree: u8) -> bool {
        let mut root = self.lock_root(tree);
        if root.level() == 0 || root.len() > 1 {
            return false;
        }
        let mut child = self.lock_child(&root, 0);
        let moved = Box::new(Page::clone(&child));
        self.store
            .commit(&mut [(&mut root, Edit::Replace(moved)), (&mut child, Edit::Replace(Page::free()))]);
        self.store.release(child);
        true
    }
}

/// What a search for small neighbours has found.
enum Pair {
    /// A pair, of which the first lies at the key.
    Found(Key),
    /// Nothing under this parent; the next one begins at the key.
    NoneUntil(Option<Key>),
}

fn is_small(entries: usize, capacity: usize) -> bool {
    entries * 100 <= capacity * MERGE_SHARE
}

/// The two halves of a node, and the lowest key that may lie under the second.
fn halves(node: &Page) -> (Box<Page>, Box<Page>, Key) {
    let (tree, level) = (node.tree(), node.level());
    if level > 0 {
        let children: Vec<(Key, Block)> = node.children();
        let (left, right) = children.split_at(children.len() / 2);
        return (Page::inner(tree, level, left), Page::inner(tree, level, right), right[0].0);
    }
    let mut entries: Vec<Key> = node.keys().collect();
    let middle = entries.len() / 2;
    let low = *entries.select_nth_unstable(middle).1;
    (Page::leaf(tree, &entries[..middle]), Page::leaf(tree, &entries[middle..]), low)
}
