//! Inserts entries, and lets the trees grow.
//!
//! The keys of a word are inserted into its trees in one commit, word by word. The keys of the whole code and
//! of further columns come last, each in a separate commit. A leaf without room is split first, in a separate
//! commit. `README.md` ("Inserts", "Splits") explains why a search and another insert may come in between.
//! Cost: one leaf in each tree, and the pages above it.

use crate::key::{Filter, IndexKey, RowId, Tree};
use crate::layout::Layout;
use crate::page::{Edit, Page, PageNumber};
use crate::store::{NumberedPage, Store};
use crate::tree::Index;

impl<'s, S: Store> Index<'s, S> {
    /// Inserts a row: the words of its code, or `None` if it is NULL, and its filter, if the index has
    /// further columns.
    pub fn insert(&self, words: Option<&[u64]>, filter: Option<Filter>, row: RowId) {
        let layout = self.layout;
        let tail = words.map_or(&[][..], |words| &words[1..]);
        match words {
            None => self.add(std::iter::once((layout.nulls(), IndexKey::new(0, row))), tail),
            Some(words) => {
                for (word, &bits) in words.iter().enumerate().take_while(|_| layout.has_word_trees()) {
                    self.add(layout.keys_of(word, bits, row), tail);
                }
                if layout.has_code_tree() {
                    self.add(std::iter::once((layout.code_tree(), IndexKey::new(words[0], row))), tail);
                }
            }
        }
        if let Some(filter) = filter {
            let key = Layout::filter_key(words, filter, row);
            self.add(std::iter::once((layout.filter_tree(), key)), tail);
        }
    }

    /// Inserts keys, each into its tree, in one commit. They must belong to one word at most. `tail` has the
    /// other words of the code, for a tree of whole codes.
    fn add(&self, keys: impl Iterator<Item = (Tree, IndexKey)> + Clone, tail: &[u64]) {
        loop {
            let mut leaves: Vec<_> = keys.clone().map(|(tree, key)| self.lock_leaf(tree, key)).collect();
            if let Some(full) = leaves.iter().position(|leaf| leaf.is_full()) {
                drop(leaves);
                keys.clone().skip(full).take(1).for_each(|(tree, key)| self.split(tree, 0, key));
                continue;
            }
            let edits =
                leaves.iter().zip(keys).map(|(leaf, (_, key))| leaf.adding(key, tail)).collect::<Vec<_>>();
            return self.store.commit(&mut leaves.iter_mut().zip(edits).collect::<Vec<_>>());
        }
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
        let (left, right, low) = halves(&node);
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

/// The two halves of a node, and the lowest key of the second half.
fn halves(node: &Page) -> (Box<Page>, Box<Page>, IndexKey) {
    let (tree, level) = (node.tree(), node.level());
    if level > 0 {
        let children: Vec<(IndexKey, PageNumber)> = node.children();
        let (left, right) = children.split_at(children.len() / 2);
        return (Page::inner(tree, level, left), Page::inner(tree, level, right), right[0].0);
    }
    let mut entries: Vec<(IndexKey, usize)> = (0..node.len()).map(|slot| (node.key(slot), slot)).collect();
    let middle = entries.len() / 2;
    let low = entries.select_nth_unstable(middle).1.0;
    let [left, right] = [&entries[..middle], &entries[middle..]]
        .map(|half| Page::leaf_of(tree, half.iter().map(|&(_, slot)| (node, slot))));
    (left, right, low)
}
