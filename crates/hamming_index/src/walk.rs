//! Walks through the leaves of a part of a tree, in the order of their keys.
//!
//! A walk calls a [`Probe`] for the next key that can match at or after the end of the last leaf, and skips
//! the leaves before it. It releases all locks after some leaves, and then continues at a key, wherever the
//! leaf of that key is by then. `README.md` ("Scans between pages") explains why that is safe.
//!
//! While a leaf is visited, the next one is loaded from memory ([`crate::leaf_path`]).
//!
//! Cost: one page for each leaf, and each page above these is read once, until locks are released.

use crate::key::{IndexKey, Tree};
use crate::leaf_path::{LEAVES_ANNOUNCED, LeafPath, LoadingLeaf};
use crate::page::Page;
use crate::probe::Probe;
use crate::store::{LoadingPage, Store};
use crate::tree::{Index, LEAVES_AHEAD, TreePart};
use hamming::kernel::STEP;
use std::collections::VecDeque;

/// The number of leaves that are read while the nodes above them stay locked. Meanwhile, splits below these
/// nodes wait, and no query can be cancelled. Finding each node above again costs about as much as reading a
/// leaf.
const LEAVES_AT_A_TIME: usize = 32;
/// The same if the leaves have whole codes, since only a search of words has to learn often which rows are
/// still wanted. Reading so many takes .2 ms.
const LEAVES_OF_CODES_AT_A_TIME: usize = 128;
/// The words at the beginning of a leaf that are loaded before the leaf before it is unlocked, so that memory
/// is busy also while pages are unlocked and locked. They take one kilobyte. The rest is loaded while that
/// leaf is compared.
const BEGINNING: usize = 128;

/// Where a walk through leaves continues.
pub(crate) enum Walk {
    /// It continues at this key.
    From(IndexKey),
    /// It has seen all of its leaves.
    Done,
}

/// Visits a leaf, and returns whether the walk should go on before it releases locks.
type VisitLeaf<'v, P> = dyn FnMut(&Page, Ahead<P>) -> bool + 'v;

/// The leaves that are loaded from memory while a leaf is visited.
///
/// If there is no such leaf, the visited one takes its place: to load that does no harm, and a step needs no
/// condition.
#[derive(Clone, Copy)]
pub(crate) struct Ahead<P> {
    next: P,
    after_next: P,
    /// From this word of the visited leaf on, the beginning of the leaf after the next one is loaded, since
    /// the next one is being loaded already.
    next_is_loaded_at: usize,
}

impl<P: LoadingPage + Copy> Ahead<P> {
    /// While a leaf with so many words is visited.
    fn of(visited: P, words: usize, next: Option<P>, after_next: Option<P>) -> Self {
        Self {
            next: next.unwrap_or(visited),
            after_next: after_next.unwrap_or(visited),
            next_is_loaded_at: words.saturating_sub(BEGINNING).next_multiple_of(STEP),
        }
    }

    /// Starts loading a step of words of the next leaves into the processor's cache. Called for each step of
    /// words before it is compared, it hides most of the time that memory takes.
    ///
    /// The first [`BEGINNING`] words of the next leaf are being loaded already. So the step is loaded that is
    /// so many words further on there, and in the end the beginning of the leaf after it.
    #[inline(always)]
    pub(crate) fn load(&self, word: usize) {
        debug_assert!(word.is_multiple_of(STEP), "steps are loaded");
        let (page, first) = match word < self.next_is_loaded_at {
            true => (self.next, word + BEGINNING),
            false => (self.after_next, word - self.next_is_loaded_at),
        };
        // The line before has been loaded with the words before, or with the page's header.
        page.load_at(Page::place_of_word(first + STEP) - 1);
    }
}

impl<'s, S: Store> Index<'s, S> {
    /// Visits the leaves of a part of a tree that may have keys of the probe, in order, from the key on.
    /// Returns after some of them, to release locks, or as soon as `visit` returns false.
    pub(crate) fn walk(
        &self,
        part: TreePart,
        from: IndexKey,
        probe: &Probe,
        visit: &mut VisitLeaf<'_, S::Loading<'s>>,
    ) -> Walk {
        let Some(from) = part.next(probe, from) else { return Walk::Done };
        let is_slow = self.store.begin_leaves();
        let mut left = match (is_slow, self.layout.has_code_tree()) {
            // They are prefetched together.
            (true, _) => LEAVES_AHEAD,
            (false, true) => LEAVES_OF_CODES_AT_A_TIME,
            (false, false) => LEAVES_AT_A_TIME,
        };
        let root = self.read_root(part.tree);
        if root.level() == 0 {
            let visited = self.store.load(self.layout.root(part.tree));
            visit(&root, Ahead::of(visited, root.bits().len(), None, None));
            return Walk::Done;
        }
        let mut path = LeafPath::new(self, part, probe, root, from, is_slow);
        let mut leaves = VecDeque::with_capacity(LEAVES_ANNOUNCED); // Bounded: LEAVES_ANNOUNCED.
        path.announce(LEAVES_ANNOUNCED, &mut leaves);
        left -= leaves.len();
        leaves.iter().take(2).for_each(|leaf| leaf.page.load(Page::bytes_of_words(0..BEGINNING)));
        loop {
            let Some(LoadingLeaf { leaf, page: visited }) = leaves.pop_front() else { return Walk::Done };
            // While a leaf is visited, the next one and the beginning of the one after it are loaded.
            if leaves.len() < 2 && left > 0 {
                let before = leaves.len();
                path.announce(left.min(LEAVES_ANNOUNCED - before), &mut leaves);
                left -= leaves.len() - before;
            }
            debug_assert!(leaves.len() <= LEAVES_ANNOUNCED, "more leaves than announced together");
            let page = self.read_leaf(part.tree, leaf.page_number);
            let words = page.bits().len();
            let next = leaves.front().map(|leaf| leaf.page);
            let after_next = leaves.get(1).map(|leaf| leaf.page);
            let goes_on = visit(&page, Ahead::of(visited, words, next, after_next));
            if let Some(after_next) = after_next.filter(|_| words < BEGINNING) {
                after_next.load(Page::bytes_of_words(words..BEGINNING));
            }
            drop(page);
            if !goes_on || leaves.is_empty() {
                let next = leaf.next.inspect(|&next| self.check_ascends(part.tree, from, next));
                return next.map_or(Walk::Done, Walk::From);
            }
            if leaf.is_last_of_parent {
                path.release_parent();
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
        self.walk(part, from, &Probe::ALL, &mut |leaf, ahead| {
            (0..leaf.bits().len()).step_by(STEP).for_each(|word| ahead.load(word));
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
}
