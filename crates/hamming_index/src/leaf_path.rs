//! The way of a walk from leaf to leaf: which leaf comes next, and which pages above stay locked meanwhile.
//!
//! The path is some leaves ahead of the walk, so that a leaf can be loaded from memory while the one before
//! it is compared. To know the first leaf under another parent, it locks this parent while the last leaves of
//! the parent before are still to be visited. So up to [`MOST_PARENTS`] parents are locked, and the pages
//! above the last one. No leaf is locked while a parent is requested. `README.md` ("Trees and locks")
//! explains why there are no deadlocks.
//!
//! Cost: each page above the leaves is read once, as long as the walk goes on.

use crate::key::IndexKey;
use crate::page::{Page, PageNumber, likely_slot};
use crate::probe::Probe;
use crate::store::{LoadingPage, Store};
use crate::tree::{Index, TreePart, after_child};
use std::collections::VecDeque;
use std::ops::{Deref, Range};

/// The most leaves whose addresses are looked up together.
pub(crate) const LEAVES_ANNOUNCED: usize = 8;
/// The most parents that are locked at the same time. Each has a pin, and PostgreSQL finds the pins of a
/// process more slowly if there are more than eight.
const MOST_PARENTS: usize = 4;

/// A leaf of a walk.
#[derive(Clone, Copy)]
pub(crate) struct PathLeaf {
    pub(crate) page_number: PageNumber,
    /// The first key that may match after those that the leaf covers; `None` after the last one.
    pub(crate) next: Option<IndexKey>,
    /// Whether the walk visits no further leaf under the same parent.
    pub(crate) is_last_of_parent: bool,
}

/// A leaf of a walk that is being loaded from memory.
pub(crate) struct LoadingLeaf<'s, S: Store + 's> {
    pub(crate) leaf: PathLeaf,
    pub(crate) page: S::Loading<'s>,
}

/// A page above the leaves that is locked.
struct PathPage<P> {
    page: P,
    page_number: PageNumber,
    /// The first key after those that the page covers.
    end: Option<IndexKey>,
}

impl<P: Deref<Target = Page>> PathPage<P> {
    fn covers(&self, key: IndexKey) -> bool {
        self.end.is_none_or(|end| key < end)
    }

    /// The first key after those that a child covers.
    fn end_of_child(&self, slot: usize) -> Option<IndexKey> {
        after_child(&self.page, slot).or(self.end)
    }

    /// The slot of the child that covers the key.
    fn child_of(&self, key: IndexKey) -> usize {
        let likely = likely_slot(self.page.key(0), self.end, self.page.len(), key);
        self.page.child_near(likely, key)
    }

    /// The bytes of a child of this page that are read first to find the key there, if that child has as many
    /// children as another page.
    fn first_searched(&self, slot: usize, like: &Page, key: IndexKey) -> [Range<usize>; 2] {
        let likely = likely_slot(self.page.key(slot), self.end_of_child(slot), like.len(), key);
        like.bytes_near(likely)
    }
}

/// A parent that is being loaded from memory.
#[derive(Clone, Copy)]
struct NextParent {
    /// The key that leads to it.
    key: IndexKey,
    /// Its slot in the last page of `above`. That page covers the key, so it is still the last one when the
    /// path comes to the key.
    slot: usize,
}

/// Where the next leaf is.
#[derive(Clone, Copy)]
enum NextLeaf {
    /// Under the last parent, in this slot.
    InSlot(usize),
    /// Under the next parent, on the way to this key.
    At(IndexKey),
    /// There is none.
    None,
}

/// The pages that a walk has locked above its leaves.
pub(crate) struct LeafPath<'w, 's, S: Store> {
    index: &'w Index<'s, S>,
    part: TreePart,
    probe: &'w Probe,
    /// Whether leaves are prefetched from disk.
    is_slow: bool,
    /// From the root down to the page above the parents. Each page covers the keys of the one after it.
    above: Vec<PathPage<S::Shared<'s>>>,
    /// The parents of the leaves that the walk has not visited yet.
    parents: VecDeque<PathPage<S::Shared<'s>>>,
    next: NextLeaf,
    /// The parent after the last one, which is being loaded from memory; `None` if it is under another page.
    next_parent: Option<NextParent>,
}

impl<'w, 's, S: Store> LeafPath<'w, 's, S> {
    /// The path from a root that is not a leaf to the leaves at or after `from`.
    pub(crate) fn new(
        index: &'w Index<'s, S>,
        part: TreePart,
        probe: &'w Probe,
        root: S::Shared<'s>,
        from: IndexKey,
        is_slow: bool,
    ) -> Self {
        debug_assert!(root.level() > 0, "a leaf has no path");
        let is_parent = root.level() == 1;
        let mut path = Self {
            index,
            part,
            probe,
            is_slow,
            above: Vec::new(),
            parents: VecDeque::with_capacity(MOST_PARENTS), // Bounded: MOST_PARENTS.
            next: NextLeaf::At(from),
            next_parent: None,
        };
        let root = PathPage { page: root, page_number: index.layout.root(part.tree), end: None };
        if is_parent {
            path.add_parent(root, from);
        } else {
            path.above.push(root); // Bounded: the levels of a tree.
        }
        path
    }

    /// Appends the next leaves, at most `most`, and starts loading the beginnings of their pages. Their
    /// addresses are looked up together, so that the processor waits for memory once and not for each leaf.
    pub(crate) fn announce(&mut self, most: usize, leaves: &mut VecDeque<LoadingLeaf<'s, S>>) {
        let first = self.next;
        let before = leaves.len();
        let mut found = [None; LEAVES_ANNOUNCED];
        found.iter_mut().take(most).for_each(|leaf| *leaf = self.next_leaf());
        // Bounded: LEAVES_ANNOUNCED.
        leaves.extend(found.into_iter().flatten().map(|leaf| {
            let page = self.index.store.load(leaf.page_number);
            LoadingLeaf { leaf, page }
        }));
        if let (NextLeaf::InSlot(first), NextLeaf::InSlot(next)) = (first, self.next)
            && first + leaves.len() - before == next
        {
            self.load_children(next + LEAVES_ANNOUNCED);
        }
    }

    /// Starts loading what the last parent says about the children around this slot. A walk through all
    /// leaves comes there after the leaves that are announced next, and would wait for it.
    fn load_children(&self, slot: usize) {
        let Some(parent) = self.parents.back() else { return };
        let loading = self.index.store.load(parent.page_number);
        parent.page.bytes_near(slot).into_iter().for_each(|bytes| loading.load(bytes));
    }

    /// Goes on to the next leaf, and locks its parent. `None` after the last leaf, and if leaves have to be
    /// visited before.
    fn next_leaf(&mut self) -> Option<PathLeaf> {
        let (parent, slot) = match self.next {
            NextLeaf::None => return None,
            NextLeaf::InSlot(slot) => (self.parents.back()?, slot),
            NextLeaf::At(_) if self.parents.len() == MOST_PARENTS => return None,
            NextLeaf::At(key) => {
                self.go_to(key);
                let parent = self.parents.back()?;
                (parent, parent.child_of(key))
            }
        };
        let after_leaf = after_child(&parent.page, slot);
        let next = after_leaf.or(parent.end).and_then(|end| self.part.next(self.probe, end));
        let next_slot = next.filter(|&key| after_leaf.is_some() && parent.covers(key)).map(|key| {
            // The next leaf is wanted most often.
            if after_leaf == Some(key) { slot + 1 } else { parent.child_of(key) }
        });
        let page_number = parent.page.child(slot);
        self.next = match (next_slot, next) {
            (Some(slot), _) => NextLeaf::InSlot(slot),
            (None, Some(key)) => NextLeaf::At(key),
            (None, None) => NextLeaf::None,
        };
        Some(PathLeaf { page_number, next, is_last_of_parent: next_slot.is_none() })
    }

    /// Unlocks the parent of the leaves that were visited.
    pub(crate) fn release_parent(&mut self) {
        self.parents.pop_front();
    }

    /// Locks the parent of the leaf that covers the key, unless that is the root. Starts loading the parent
    /// after it.
    fn go_to(&mut self, key: IndexKey) {
        while self.above.len() > 1 && self.above.last().is_some_and(|page| !page.covers(key)) {
            self.above.pop();
        }
        while let Some(above) = self.above.last() {
            let slot = match self.next_parent.take() {
                Some(next) if next.key == key => {
                    debug_assert_eq!(next.slot, above.page.child_of(key), "the page above is still the last");
                    next.slot
                }
                _ => above.page.child_of(key),
            };
            let end = above.end_of_child(slot);
            let page = self.index.read_child(&above.page, slot);
            let level = page.level();
            let child = PathPage { page, page_number: above.page.child(slot), end };
            if level == 1 {
                let next = end.and_then(|end| self.part.next(self.probe, end));
                self.next_parent = next.filter(|&key| above.covers(key)).map(|key| {
                    let slot = above.page.child_of(key);
                    let loading = self.index.store.load(above.page.child(slot));
                    // It probably has as many children as this one.
                    let searched = above.first_searched(slot, &child.page, key);
                    searched.into_iter().for_each(|bytes| loading.load(bytes));
                    NextParent { key, slot }
                });
                return self.add_parent(child, key);
            }
            self.above.push(child); // Bounded: the levels of a tree.
        }
    }

    fn add_parent(&mut self, parent: PathPage<S::Shared<'s>>, key: IndexKey) {
        if self.is_slow {
            self.index.prefetch(&parent.page, key, &|key| self.part.next(self.probe, key));
        }
        self.parents.push_back(parent); // Bounded: MOST_PARENTS.
        debug_assert!(self.parents.len() <= MOST_PARENTS, "leaves of other parents are visited first");
    }
}
