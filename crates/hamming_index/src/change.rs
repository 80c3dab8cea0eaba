//! Inserts entries, and lets the trees grow.
//!
//! The keys of a word are inserted into its trees in one commit, word by word. The keys of the whole code
//! and of further columns come last, each in a separate commit. A leaf without room gives entries to a
//! neighbour, or is split, in a separate commit. `README.md` ("Inserts", "Full leaves") explains why a
//! search and another insert may come in between. Cost: one leaf in each tree, and the pages above it.

use crate::key::{Filter, IndexKey, RowId, Tree};
use crate::layout::Layout;
use crate::page::{Edit, Page, PageNumber};
use crate::store::{NumberedPage, Store};
use crate::tree::Index;

/// A leaf gives entries to a neighbour if both together fill at most this percentage of two pages. It is less
/// than 100, so that both have room for some inserts.
const GIVE_SHARE: usize = 90;

impl<'s, S: Store> Index<'s, S> {
    /// Inserts a row: the words of its code, or `None` if it is NULL, and its filter, if the index has
    /// further columns.
    pub fn insert(&self, words: Option<&[u64]>, filter: Option<Filter>, row: RowId) {
        let layout = self.layout;
        match words {
            None => self.add_to(layout.nulls(), IndexKey::new(0, row), &[]),
            Some(words) => {
                if layout.has_word_trees() {
                    for (word, &bits) in words.iter().enumerate() {
                        self.add(layout.keys_of(word, bits, row), &[]);
                    }
                }
                if layout.has_code_tree() {
                    self.add_to(layout.code_tree(), IndexKey::new(words[0], row), &words[1..]);
                }
            }
        }
        if let Some(filter) = filter {
            let key = Layout::filter_key(words, filter, row);
            let tail = words.map_or(&[][..], |words| &words[1..]);
            self.add_to(layout.filter_tree(), key, tail);
        }
    }

    /// Inserts a key into one tree.
    fn add_to(&self, tree: Tree, key: IndexKey, tail: &[u64]) {
        self.add(std::iter::once((tree, key)), tail);
    }

    /// Inserts keys, each into its tree, in one commit. They must belong to one word at most. `tail` has the
    /// other words of the code, for a tree of whole codes.
    fn add(&self, keys: impl Iterator<Item = (Tree, IndexKey)> + Clone, tail: &[u64]) {
        while let Some((tree, key)) = self.add_unless_full(keys.clone(), tail) {
            self.make_room(tree, key);
        }
    }

    /// Inserts keys if each of their leaves has room. Otherwise, changes nothing, and returns the first key
    /// whose leaf is full, with its tree.
    fn add_unless_full(
        &self,
        keys: impl Iterator<Item = (Tree, IndexKey)>,
        tail: &[u64],
    ) -> Option<(Tree, IndexKey)> {
        let mut leaves = Vec::new();
        for (tree, key) in keys {
            let leaf = self.lock_leaf(tree, key);
            if leaf.is_full() {
                return Some((tree, key));
            }
            leaves.push((leaf, key)); // Bounded: the trees of a word.
        }
        let mut changes = Vec::new();
        for (leaf, key) in &mut leaves {
            let edit = leaf.adding(*key, tail);
            changes.push((leaf, edit)); // Bounded: the trees of a word.
        }
        self.store.commit(&mut changes);
        None
    }

    /// Makes the full leaf that covers the key smaller. If another process was faster, does nothing. The
    /// caller repeats this until there is room.
    fn make_room(&self, tree: Tree, key: IndexKey) {
        if !self.give(tree, key) {
            self.split(tree, 0, key);
        }
    }

    /// Moves entries of the full leaf that covers the key to the emptier one of its neighbours under the same
    /// parent, so that both are equally full. Returns whether the leaf has room now; if not, both neighbours
    /// are nearly full, too.
    ///
    /// Whoever walks through the leaves meanwhile misses no entry, and finds none twice: it keeps the parent
    /// locked until it has read both leaves, or it continues at a key, on whichever page that is by then.
    fn give(&self, tree: Tree, key: IndexKey) -> bool {
        let Some(mut parent) = self.lock_at(tree, 1, key) else { return false };
        let full = parent.child_of(key);
        let neighbours = [full.checked_sub(1), Some(full + 1).filter(|&next| next < parent.len())];
        let length = |&place: &usize| self.read_child(&parent, place).len();
        let Some(receiver) = neighbours.into_iter().flatten().min_by_key(length) else { return false };
        let left_place = full.min(receiver);
        let right_place = full.max(receiver);
        // The full leaf gives the entries that are next to the other one.
        let end = if full == left_place { End::Highest } else { End::Lowest };
        let mut left = self.lock_child(&parent, left_place);
        let mut right = self.lock_child(&parent, right_place);
        let (giver, taker) = match end {
            End::Highest => (&left, &right),
            End::Lowest => (&right, &left),
        };
        if !giver.is_full() {
            return true;
        }
        // Others may have inserted since the length was read.
        let moved = giver.len().saturating_sub(taker.len()) / 2;
        let is_crowded = (giver.len() + taker.len()) * 100 > 2 * giver.capacity() * GIVE_SHARE;
        if moved == 0 || is_crowded {
            return false;
        }
        let given = Given::of(giver, moved, end);
        let above_left = parent.key(left_place);
        let after_right = Some(right_place + 1).filter(|&next| next < parent.len());
        if given.low <= above_left || after_right.is_some_and(|next| given.low >= parent.key(next)) {
            self.store.corrupted(left.page_number(), "it has keys of other pages");
        }
        let of_giver = giver.keeping(&given.stays);
        let of_taker = taker.adding_from(giver, &given.slots);
        let (of_left, of_right) = match end {
            End::Highest => (of_giver, of_taker),
            End::Lowest => (of_taker, of_giver),
        };
        let above = parent.with_low_key(right_place, given.low);
        self.store.commit(&mut [(&mut parent, above), (&mut left, of_left), (&mut right, of_right)]);
        true
    }

    /// Splits the full node at this level that contains the key. If its parent is full, splits the parent
    /// instead. If another process was faster, does nothing. The caller repeats this until there is room.
    ///
    /// The new page is allocated while no page is locked, since that may wait for other processes, and reads
    /// and writes the free space map.
    fn split(&self, tree: Tree, level: u8, key: IndexKey) {
        let mut sibling = self.store.allocate();
        let Some(mut parent) = self.lock_at(tree, level + 1, key) else {
            return self.grow(tree, level, sibling);
        };
        if parent.is_full() {
            drop(parent);
            self.store.release(sibling);
            return self.split(tree, level + 1, key);
        }
        let index = parent.child_of(key);
        let mut node = self.lock_child(&parent, index);
        if !node.is_full() {
            drop((parent, node));
            return self.store.release(sibling);
        }
        let Halves { left, right, low } = halves(&node);
        debug_assert!(!left.is_empty() && !right.is_empty(), "both halves of a node have entries");
        let mut children = parent.children();
        children.insert(index + 1, (low, sibling.page_number()));
        let above = Page::inner(tree, level + 1, &children);
        self.store.commit(&mut [
            (&mut parent, Edit::Replace(above)),
            (&mut node, Edit::Replace(left)),
            (&mut sibling, Edit::Replace(right)),
        ]);
    }

    /// Moves the contents of a full root of this level into a new child, which can then be split.
    fn grow(&self, tree: Tree, level: u8, mut child: S::Exclusive<'s>) {
        let mut root = self.lock_root(tree);
        if root.level() != level || !root.is_full() {
            drop(root);
            return self.store.release(child);
        }
        let moved = Box::new(Page::clone(&root));
        let above = Page::inner(tree, level + 1, &[(IndexKey::FIRST, child.page_number())]);
        self.store.commit(&mut [(&mut root, Edit::Replace(above)), (&mut child, Edit::Replace(moved))]);
    }
}

/// An end of the keys of a leaf.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Lowest,
    Highest,
}

/// The entries that a leaf gives to a neighbour.
struct Given {
    /// Their slots.
    slots: Vec<usize>,
    /// For each slot of the leaf, whether its entry stays.
    stays: Vec<bool>,
    /// The lowest key of the right one of both leaves, afterwards.
    low: IndexKey,
}

impl Given {
    /// The entries at one end of the leaf, at least one and fewer than all.
    fn of(leaf: &Page, count: usize, end: End) -> Self {
        debug_assert!((1..leaf.len()).contains(&count));
        let mut entries: Vec<(IndexKey, usize)> = leaf.keys().zip(0..).collect();
        let parting = if end == End::Lowest { count } else { entries.len() - count };
        let (lower, &mut (low, _), _) = entries.select_nth_unstable(parting);
        debug_assert!(lower.iter().all(|&(key, _)| key <= low));
        let (lower, higher) = entries.split_at(parting);
        let given = if end == End::Lowest { lower } else { higher };
        let slots: Vec<usize> = given.iter().map(|&(_, slot)| slot).collect();
        let mut stays = vec![true; leaf.len()]; // Bounded: a page.
        for &slot in &slots {
            stays[slot] = false;
        }
        Self { slots, stays, low }
    }
}

/// The two halves of a node.
struct Halves {
    left: Box<Page>,
    right: Box<Page>,
    /// The lowest key of the right half.
    low: IndexKey,
}

/// Divides the entries of a node in the middle.
fn halves(node: &Page) -> Halves {
    let tree = node.tree();
    let level = node.level();
    if level > 0 {
        let children: Vec<(IndexKey, PageNumber)> = node.children();
        let (left, right) = children.split_at(children.len() / 2);
        let (low, _) = right[0];
        return Halves { left: Page::inner(tree, level, left), right: Page::inner(tree, level, right), low };
    }
    let mut entries: Vec<(IndexKey, usize)> = (0..node.len()).map(|slot| (node.key(slot), slot)).collect();
    let middle = entries.len() / 2;
    let (_, &mut (low, _), _) = entries.select_nth_unstable(middle);
    let leaf_of = |half: &[(IndexKey, usize)]| {
        let entries = half.iter().map(|&(_, slot)| (node, slot));
        Page::leaf_of(tree, entries)
    };
    Halves { left: leaf_of(&entries[..middle]), right: leaf_of(&entries[middle..]), low }
}
