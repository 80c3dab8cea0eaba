//! An index in memory, for tests and fuzzing: pages in a list, each with a lock as strict as Postgres's.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "not everybody who includes this needs all of it")]

use hamming_index::build::{Runs, Sorter, Target, create, write_tree};
use hamming_index::key::{BANDS, Key, NULLS, Row};
use hamming_index::page::{Block, Edit, PAGE_SIZE, Page, Patch};
use hamming_index::store::{Numbered, Store};
use hamming_index::{Hit, Index, Query, Search};
use std::ops::Deref;
use std::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub struct Memory {
    pages: Vec<RwLock<Page>>,
    /// Pages in use from the beginning, and free ones among them.
    space: Mutex<(Block, Vec<Block>)>,
    /// There is one thread and pages may be damaged: who would wait, waits for itself, because two pages lead to
    /// the same.
    is_damaged: bool,
}

pub struct Locked<'a> {
    page: RwLockWriteGuard<'a, Page>,
    block: Block,
}

impl Deref for Locked<'_> {
    type Target = Page;

    fn deref(&self) -> &Page {
        &self.page
    }
}

impl Numbered for Locked<'_> {
    fn block(&self) -> Block {
        self.block
    }
}

impl Memory {
    /// Room for so many pages, with an empty index.
    pub fn new(room: usize) -> Self {
        let pages = (0..room).map(|_| RwLock::new(Page::clone(&Page::free()))).collect();
        let mut memory = Self { pages, space: Mutex::new((0, Vec::new())), is_damaged: false };
        create(&mut memory);
        memory
    }

    /// An index of these rows, with pages filled to a share in percent, and so many rows sorted at a time.
    pub fn built(room: usize, rows: &[(Option<u64>, Row)], fill: usize, at_a_time: usize) -> Self {
        let mut memory = Self::new(room);
        let mut values = Sorter::new(0..NULLS, at_a_time);
        let mut nulls = Sorter::new(NULLS..NULLS + 1, at_a_time);
        for &(fingerprint, row) in rows {
            let sorter = if fingerprint.is_some() { &mut values } else { &mut nulls };
            sorter.add(&mut Lists, fingerprint.unwrap_or(0), row).unwrap();
        }
        for tree in 0..BANDS as u8 {
            values.sorted(&mut Lists, tree, |keys| write_tree(&mut memory, tree, fill, keys));
        }
        nulls.sorted(&mut Lists, NULLS, |keys| write_tree(&mut memory, NULLS, fill, keys));
        memory
    }

    fn page(&self, block: Block) -> &RwLock<Page> {
        if block >= self.pages() {
            self.corrupted(block, "there is no such page, but another one leads to it");
        }
        &self.pages[block as usize]
    }

    pub fn index(&self) -> Index<'_, Self> {
        Index::new(self)
    }

    /// Writes something onto a page, if it is there.
    pub fn damage(&mut self, block: usize, place: usize, bytes: &[u8]) {
        self.is_damaged = true;
        let used = self.space.get_mut().unwrap().0 as usize;
        let page = self.pages[block % used].get_mut().unwrap();
        page.apply(&Edit::Patch([Patch::new(place % (PAGE_SIZE - bytes.len()), bytes); 3]));
    }

    /// Eight bytes of a leaf, from the front.
    pub fn bytes(&self, block: Block, place: usize) -> [u8; 8] {
        self.share(block).bits()[(place - 24) / 8]
    }

    pub fn pages_in_use(&self) -> usize {
        let space = self.space.lock().unwrap();
        space.0 as usize - space.1.len()
    }

    /// Everything that a search answers.
    pub fn search(&self, query: Query, tree_leaves: f64, max_sorted: usize) -> Vec<Hit> {
        let mut search = Search::new(query, tree_leaves, max_sorted);
        let mut hits = Vec::new();
        while search.next_batch(&self.index(), &mut hits) {}
        hits
    }

    /// What is wrong, in words.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        self.index().verify(&mut |problem| problems.push(format!("{}: {}", problem.block, problem.text)));
        problems
    }
}

impl Store for Memory {
    type Shared<'a> = RwLockReadGuard<'a, Page>;
    type Exclusive<'a> = Locked<'a>;

    fn pages(&self) -> Block {
        self.space.lock().unwrap().0
    }

    fn share(&self, block: Block) -> Self::Shared<'_> {
        let page = self.page(block);
        if !self.is_damaged {
            return page.read().unwrap();
        }
        page.try_read().unwrap_or_else(|_| self.corrupted(block, "two pages lead to it"))
    }

    fn lock(&self, block: Block) -> Locked<'_> {
        let page = self.page(block);
        if !self.is_damaged {
            return Locked { page: page.write().unwrap(), block };
        }
        let page = page.try_write().unwrap_or_else(|_| self.corrupted(block, "two pages lead to it"));
        Locked { page, block }
    }

    fn allocate(&self) -> Locked<'_> {
        let mut space = self.space.lock().unwrap();
        let block = space.1.pop().unwrap_or_else(|| {
            space.0 += 1;
            space.0 - 1
        });
        match self.pages.get(block as usize).map(RwLock::try_write) {
            Some(Ok(page)) => Locked { page, block },
            _ => self.corrupted(block, "there is no room, or somebody has a free page"),
        }
    }

    fn release(&self, page: Locked<'_>) {
        let block = page.block;
        assert!(page.is_free() || page.is_empty());
        drop(page);
        self.space.lock().unwrap().1.push(block);
    }

    fn commit(&self, changes: &mut [(&mut Locked<'_>, Edit)]) {
        assert!(changes.len() <= 4);
        for (locked, edit) in changes {
            locked.page.apply(edit);
        }
    }

    fn is_slow(&self) -> bool {
        true
    }

    fn prefetch(&self, block: Block) {
        assert!(self.is_damaged || block < self.pages());
    }

    fn check_for_interrupts(&self) {}

    fn corrupted(&self, block: Block, what: &str) -> ! {
        assert!(self.is_damaged, "page {block}: {what}");
        // Ends the operation without the noise of a panic.
        std::panic::resume_unwind(Box::new(()))
    }
}

impl Target for Memory {
    fn append(&mut self, page: &Page) -> Block {
        let mut new = self.allocate();
        new.page.apply(&Edit::Replace(Box::new(page.clone())));
        new.block
    }

    fn put(&mut self, block: Block, page: &Page) {
        self.lock(block).page.apply(&Edit::Replace(Box::new(page.clone())));
    }
}

/// Runs in memory.
pub struct Lists;

impl Runs for Lists {
    type Run = std::vec::IntoIter<Key>;

    fn write(&mut self, keys: &mut dyn Iterator<Item = Key>) -> Self::Run {
        keys.collect::<Vec<_>>().into_iter()
    }

    fn read(&mut self, run: &mut Self::Run) -> Option<Key> {
        run.next()
    }

    fn check_for_interrupts(&self) {}
}
