//! An index in memory, for tests and fuzzing: a list of pages, whose locks are as strict as PostgreSQL's.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "not everybody who includes this needs all of it")]

use hamming_index::build::{BuildTarget, Builder, KeyWithTail, Runs, create};
use hamming_index::key::{Filter, IndexKey, RowId, Tree};
use hamming_index::page::{Edit, PAGE_SIZE, Page, PageNumber, Patch};
use hamming_index::radius_division::SearchCosts;
use hamming_index::store::{self, NumberedPage, Store, check_changed_pages};
use hamming_index::{
    CodeBall, CodeLookup, Damage, Index, IndexSearch, Layout, SearchHit, SearchQuery, SharedStretches,
};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::ops::{Deref, Range};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// How many times fewer rows a test has that miri interprets, ten thousand times slower than it runs.
pub const FEWER: usize = if cfg!(miri) { 500 } else { 1 };

pub struct Memory {
    layout: Layout,
    /// Each in a block of its own, which miri interprets a tenth faster than one block of all pages.
    pages: Vec<Box<RwLock<Page>>>,
    /// The number of pages used so far, and the free pages among them.
    space: Mutex<(PageNumber, Vec<PageNumber>)>,
    /// Pages may be damaged. There is one thread, so if a page is already locked, two pages lead to it.
    is_damaged: bool,
    /// How often the operation may still look for interrupts before it is cancelled.
    allowed_cost: AtomicUsize,
    /// How often pages have been locked for reading so far.
    reads: AtomicUsize,
    /// What another process does whenever an operation looks for interrupts.
    others: Mutex<Option<OtherProcess>>,
    /// Whether pages come from far away.
    is_slow: bool,
    /// What a search has done, if that is wanted.
    steps: Mutex<Option<Vec<Step>>>,
}

/// Something that a search does with a page.
#[derive(Clone, Debug)]
pub enum Step {
    /// It locks a page at this level, whose keys end before this byte.
    Read { page_number: PageNumber, level: u8, end: usize },
    /// It starts loading these bytes of the page from memory.
    Load { page_number: PageNumber, bytes: Range<usize> },
}

/// Gets the number of pages that have been locked for reading so far.
type OtherProcess = Box<dyn FnMut(&Memory, usize) + Send>;

thread_local! {
    /// Pages that this thread has locked.
    static HELD: RefCell<Vec<Option<Place>>> = const { RefCell::new(Vec::new()) };
}

/// The place of a page in the order in which pages are locked: lower trees before higher ones; in a tree, the
/// pages above the leaves before all leaves; above the leaves, a page before its children, and these from left
/// to right, each with all pages below it; leaves from left to right. The fields are compared in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    tree: Tree,
    is_leaf: bool,
    /// The lowest key. An empty leaf does not show where it is.
    lowest: Option<IndexKey>,
    level: Reverse<u8>,
}

impl Place {
    /// Whether a page may be locked after another one.
    fn may_follow(self, before: Self) -> bool {
        let is_unknown = self.lowest.is_none() || before.lowest.is_none();
        before <= self || is_unknown && self.is_leaf && before.is_leaf && self.tree == before.tree
    }
}

/// The number of pages that this thread has locked.
fn held() -> usize {
    HELD.with_borrow(Vec::len)
}

/// Counted as a locked page.
struct Held(Option<Place>);

impl Held {
    fn new(place: Option<Place>) -> Self {
        HELD.with_borrow_mut(|held| held.push(place));
        Self(place)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.with_borrow_mut(|held| {
            let at = held.iter().position(|place| *place == self.0).expect("a page is unlocked once");
            held.swap_remove(at);
        });
    }
}

pub struct SharedPage<'a> {
    page: RwLockReadGuard<'a, Page>,
    _held: Held,
}

impl Deref for SharedPage<'_> {
    type Target = Page;

    fn deref(&self) -> &Page {
        &self.page
    }
}

pub struct ExclusivePage<'a> {
    page: RwLockWriteGuard<'a, Page>,
    page_number: PageNumber,
    _held: Held,
}

impl Deref for ExclusivePage<'_> {
    type Target = Page;

    fn deref(&self) -> &Page {
        &self.page
    }
}

impl NumberedPage for ExclusivePage<'_> {
    fn page_number(&self) -> PageNumber {
        self.page_number
    }
}

impl Memory {
    /// An empty index of fingerprints, with room for this number of pages.
    pub fn new(room: usize) -> Self {
        Self::of(Layout::FINGERPRINTS, room)
    }

    /// An empty index, with room for this number of pages.
    pub fn of(layout: Layout, room: usize) -> Self {
        let pages = (0..room).map(|_| Box::new(RwLock::new(*Page::free()))).collect();
        let mut memory = Self {
            layout,
            pages,
            space: Mutex::new((0, Vec::new())),
            is_damaged: false,
            allowed_cost: usize::MAX.into(),
            reads: 0.into(),
            others: None.into(),
            is_slow: true,
            steps: None.into(),
        };
        create(&mut memory, layout);
        memory
    }

    /// The fill of leaves of a built index in percent, chosen by a byte: from 10 on, as the parameter is.
    pub fn fill_of(byte: u8) -> usize {
        usize::from(byte % 91) + 10
    }

    /// An index of these rows. `fill` is the share of a page that is filled, in percent; `at_a_time` is the
    /// number of rows that are sorted in memory.
    pub fn built(room: usize, rows: &[(Option<u64>, RowId)], fill: usize, at_a_time: usize) -> Self {
        let rows = rows
            .iter()
            .map(|(fingerprint, row)| (fingerprint.as_ref().map(std::slice::from_ref), None, *row));
        Self::built_of(Layout::FINGERPRINTS, room, rows, fill, at_a_time)
    }

    /// An index of rows with the words of their codes, and with their filters if the layout has filters.
    pub fn built_of<'a>(
        layout: Layout,
        room: usize,
        rows: impl Iterator<Item = (Option<&'a [u64]>, Option<Filter>, RowId)>,
        fill: usize,
        at_a_time: usize,
    ) -> Self {
        let mut memory = Self::of(layout, room);
        let mut builder = Builder::new(layout, at_a_time);
        rows.for_each(|(words, filter, row)| builder.add(&mut Lists, words, filter, row).unwrap());
        builder.write(Lists, &mut memory, fill, &mut || {});
        memory
    }

    /// The same index in a store whose pages do not come from far away.
    #[must_use]
    pub fn nearby(self) -> Self {
        Self { is_slow: false, ..self }
    }

    /// What an operation does with pages.
    pub fn steps_of(&self, operation: impl FnOnce()) -> Vec<Step> {
        *self.steps.lock().unwrap() = Some(Vec::new());
        operation();
        self.steps.lock().unwrap().take().unwrap()
    }

    fn note(&self, step: impl FnOnce() -> Step) {
        if let Some(steps) = &mut *self.steps.lock().unwrap() {
            steps.push(step());
        }
    }

    /// `None` if no other page points to the page, or if damage may have changed the place.
    fn place_of(&self, page: &Page) -> Option<Place> {
        let has_place = !self.is_damaged && !page.is_free();
        has_place.then(|| Place {
            tree: page.tree(),
            is_leaf: page.level() == 0,
            lowest: page.keys().min(),
            level: Reverse(page.level()),
        })
    }

    /// Refuses a page that must not be locked after the pages that this thread has locked.
    fn check_order(&self, place: Option<Place>) {
        let Some(place) = place else { return };
        HELD.with_borrow(|held| {
            let may_lock = held.iter().flatten().all(|&before| place.may_follow(before));
            assert!(may_lock, "{held:?} before {place:?}");
        });
    }

    /// Adds a row to an index of fingerprints.
    pub fn insert(&self, fingerprint: Option<u64>, row: RowId) {
        self.index().insert(fingerprint.as_ref().map(std::slice::from_ref), None, row);
    }

    fn page(&self, page_number: PageNumber) -> &RwLock<Page> {
        if page_number >= self.pages() {
            self.corrupted(page_number, "there is no such page, but another one leads to it");
        }
        &self.pages[page_number as usize]
    }

    pub fn index(&self) -> Index<'_, Self> {
        Index::new(self, self.layout)
    }

    /// Overwrites bytes of a page that is in use.
    pub fn damage(&mut self, page_number: usize, first: usize, bytes: &[u8]) {
        self.is_damaged = true;
        let used = self.space.get_mut().unwrap().0 as usize;
        let page = self.pages[page_number % used].get_mut().unwrap();
        page.apply(&Edit::Patch(vec![Patch::new(first % (PAGE_SIZE - bytes.len()), bytes)]));
    }

    /// Eight bytes of a leaf from this byte on, which are the bits of a key.
    pub fn bytes(&self, page_number: PageNumber, first: usize) -> [u8; 8] {
        self.read(page_number).bits()[(first - 24) / 8]
    }

    /// Cancels the operation when it has looked for interrupts this number of times. Returns whether it was
    /// cancelled.
    pub fn cancelled_after<T>(&self, times: usize, operation: impl FnOnce() -> T) -> bool {
        self.allowed_cost.store(times, Ordering::Relaxed);
        let ended = catch_unwind(AssertUnwindSafe(operation));
        self.allowed_cost.store(usize::MAX, Ordering::Relaxed);
        ended.is_err()
    }

    pub fn pages_in_use(&self) -> usize {
        let space = self.space.lock().unwrap();
        space.0 as usize - space.1.len()
    }

    /// The number of pages that an operation reads; a page counts each time.
    pub fn reads_of(&self, search: impl FnOnce()) -> usize {
        let before = self.reads.load(Ordering::Relaxed);
        search();
        self.reads.load(Ordering::Relaxed) - before
    }

    /// Inserts up to `most` rows while the operation runs: one whenever this number of pages has been read,
    /// and the operation then looks for interrupts. Returns the number of rows.
    pub fn while_others_insert(
        &self,
        most: usize,
        pages_between: usize,
        mut insert: impl FnMut(&Self, usize) + Send + 'static,
        operation: impl FnOnce(),
    ) -> usize {
        let inserted = Arc::new(AtomicUsize::new(0));
        let number = Arc::clone(&inserted);
        let mut due = self.reads.load(Ordering::Relaxed) + pages_between;
        let insert_if_due = move |memory: &Self, reads: usize| {
            if reads >= due && number.load(Ordering::Relaxed) < most {
                due = reads + pages_between;
                insert(memory, number.fetch_add(1, Ordering::Relaxed));
            }
        };
        *self.others.lock().unwrap() = Some(Box::new(insert_if_due));
        operation();
        *self.others.lock().unwrap() = None;
        inserted.load(Ordering::Relaxed)
    }

    /// The number of pages that a search reads; a page counts each time.
    pub fn pages_read(&self, query: Query, tree_leaves: f64) -> usize {
        self.reads_of(|| drop(self.search(query, tree_leaves, usize::MAX)))
    }

    /// All hits of a search of fingerprints.
    pub fn search(&self, query: Query, tree_leaves: f64, max_sorted: usize) -> Vec<Hit> {
        let mut search = FingerprintSearch::new(&query, tree_leaves, max_sorted);
        let mut hits = Vec::new();
        while search.next_batch(self, &mut hits) {}
        hits
    }

    /// All rows that a search finds. Without `codes`, those of codes with several words are only candidates.
    pub fn search_codes(
        &self,
        costs: &SearchCosts,
        query: SearchQuery,
        max_sorted: usize,
        codes: Option<&mut impl CodeLookup>,
    ) -> Vec<SearchHit> {
        self.search_with_codes(costs, query, max_sorted, codes, &mut |_, _| {})
    }

    /// As [`Self::search_codes`], but passes each row to `each`, with its code if the search knows it.
    pub fn search_with_codes(
        &self,
        costs: &SearchCosts,
        query: SearchQuery,
        max_sorted: usize,
        mut codes: Option<&mut impl CodeLookup>,
        each: &mut dyn FnMut(&SearchHit, Option<&[u64]>),
    ) -> Vec<SearchHit> {
        let mut search = IndexSearch::new(costs, query, max_sorted, ALONE);
        let mut hits = Vec::new();
        let mut before = 0;
        while search.next_batch(&self.index(), codes.as_deref_mut(), &mut hits).unwrap() {
            hits[before..].iter().for_each(|hit| each(hit, search.code_of(hit)));
            before = hits.len();
        }
        hits
    }

    /// Descriptions of all faults of the index.
    pub fn problems(&self) -> Vec<String> {
        self.problems_but(&mut |_| false)
    }

    /// Descriptions of all faults, except that trees may differ in dead rows.
    pub fn problems_but(&self, is_dead: &mut dyn FnMut(RowId) -> bool) -> Vec<String> {
        self.problems_of(&|_| false, is_dead)
    }

    /// Descriptions of all faults, except those that pages being changed may seem to have.
    pub fn problems_of(
        &self,
        is_changed: &dyn Fn(&Page) -> bool,
        may_differ: &mut dyn FnMut(RowId) -> bool,
    ) -> Vec<String> {
        let mut problems = Vec::new();
        let mut report =
            |problem: Damage| problems.push(format!("{}: {}", problem.page_number, problem.text));
        self.index().verify(is_changed, may_differ, &mut report).unwrap();
        problems
    }
}

/// All fingerprints within a radius of a center.
#[derive(Clone, Copy, Debug)]
pub struct Ball {
    pub center: u64,
    pub radius: u32,
}

/// A query for fingerprints: see `SearchQuery`.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub balls: Vec<Ball>,
    pub values: bool,
    pub nulls: bool,
    pub nearest_to: Vec<u64>,
}

/// Whether all transactions see a row, according to this store.
pub fn is_seen(row: RowId) -> bool {
    row.number().is_multiple_of(3)
}

/// A row, and its fingerprint if that is not NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    pub row: RowId,
    pub fingerprint: Option<u64>,
}

/// No other process takes a part of the search.
const ALONE: Option<&SharedStretches> = None;

/// A running search of fingerprints.
pub struct FingerprintSearch(IndexSearch<&'static SharedStretches>);

impl FingerprintSearch {
    pub fn new(query: &Query, tree_leaves: f64, max_sorted: usize) -> Self {
        let query = SearchQuery {
            balls: query
                .balls
                .iter()
                .map(|ball| CodeBall { center: ball.center.into(), radius: ball.radius })
                .collect(),
            values: query.values,
            nulls: query.nulls,
            nearest_to: query.nearest_to.iter().map(|&center| center.into()).collect(),
            codes: false,
        };
        let costs = SearchCosts::new(Layout::FINGERPRINTS, tree_leaves);
        Self(IndexSearch::new(&costs, query, max_sorted, ALONE))
    }

    /// Appends further hits. Returns false when there are no more.
    pub fn next_batch(&mut self, memory: &Memory, hits: &mut Vec<Hit>) -> bool {
        let mut found = Vec::new();
        let is_more = self.0.next_batch(&memory.index(), None::<&mut NoCodes>, &mut found).unwrap();
        assert!(found.iter().all(|hit| hit.is_seen_by_all == is_seen(hit.row)));
        hits.extend(found.iter().map(|hit| Hit { row: hit.row, fingerprint: hit.word }));
        is_more
    }
}

/// A table whose codes are not needed.
pub struct NoCodes;

impl CodeLookup for NoCodes {
    fn code_of(&mut self, _row: RowId) -> Option<&[u8]> {
        None
    }
}

/// The size of a cache line in bytes.
const LINE: usize = 64;

/// A page that a search loads.
#[derive(Clone, Copy)]
pub struct LoadingPage<'a> {
    memory: &'a Memory,
    page_number: PageNumber,
}

impl store::LoadingPage for LoadingPage<'_> {
    fn load(&self, bytes: Range<usize>) {
        let bytes = bytes.start / LINE * LINE..bytes.end.next_multiple_of(LINE);
        self.memory.note(|| Step::Load { page_number: self.page_number, bytes });
    }

    fn load_at(&self, byte: usize) {
        self.load(byte..byte + 1);
    }
}

impl Store for Memory {
    type Shared<'a> = SharedPage<'a>;
    type Exclusive<'a> = ExclusivePage<'a>;
    type Loading<'a> = LoadingPage<'a>;

    fn pages(&self) -> PageNumber {
        self.space.lock().unwrap().0
    }

    fn read(&self, page_number: PageNumber) -> SharedPage<'_> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let page = self.page(page_number);
        let page = if self.is_damaged {
            page.try_read().unwrap_or_else(|_| self.corrupted(page_number, "two pages lead to it"))
        } else {
            page.read().unwrap()
        };
        self.check_order(self.place_of(&page));
        self.note(|| {
            let end = 24 + 8 * page.bits().len();
            Step::Read { page_number, level: page.level(), end }
        });
        let held = Held::new(self.place_of(&page));
        SharedPage { page, _held: held }
    }

    fn lock(&self, page_number: PageNumber) -> ExclusivePage<'_> {
        let page = self.page(page_number);
        let page = if self.is_damaged {
            page.try_write().unwrap_or_else(|_| self.corrupted(page_number, "two pages lead to it"))
        } else {
            page.write().unwrap()
        };
        self.check_order(self.place_of(&page));
        let held = Held::new(self.place_of(&page));
        ExclusivePage { page, page_number, _held: held }
    }

    fn is_seen_by_all(&self, row: RowId) -> bool {
        assert_ne!(held(), 0, "the row may have been vacuumed since");
        is_seen(row)
    }

    fn allocate(&self) -> ExclusivePage<'_> {
        assert_eq!(held(), 0, "who allocates may wait for others, so none may wait for him");
        let mut space = self.space.lock().unwrap();
        let page_number = space.1.pop().unwrap_or_else(|| {
            space.0 += 1;
            space.0 - 1
        });
        match self.pages.get(page_number as usize).map(|page| page.try_write()) {
            Some(Ok(page)) => ExclusivePage { page, page_number, _held: Held::new(None) },
            _ => self.corrupted(page_number, "there is no room, or somebody has a free page"),
        }
    }

    fn release(&self, page: ExclusivePage<'_>) {
        let page_number = page.page_number;
        assert!(page.is_free() || page.is_empty());
        drop(page);
        assert_eq!(held(), 0, "the list of free pages is written while none is locked");
        self.space.lock().unwrap().1.push(page_number);
    }

    fn commit(&self, changes: &mut [(&mut ExclusivePage<'_>, Edit)]) {
        check_changed_pages(changes.len()).unwrap();
        for (locked, edit) in changes {
            locked.page.apply(edit);
        }
    }

    fn begin_leaves(&self) -> bool {
        self.is_slow
    }

    fn load(&self, page_number: PageNumber) -> LoadingPage<'_> {
        let page = LoadingPage { memory: self, page_number };
        store::LoadingPage::load_at(&page, 0);
        page
    }

    fn prefetch(&self, page_number: PageNumber) {
        assert!(self.is_damaged || page_number < self.pages());
    }

    fn check_for_interrupts(&self) {
        if self.allowed_cost.load(Ordering::Relaxed) < usize::MAX
            && self.allowed_cost.fetch_sub(1, Ordering::Relaxed) == 0
        {
            // Ends the operation without the message of a panic.
            resume_unwind(Box::new(()))
        }
        // If it is locked, the other process itself looks for interrupts.
        if let Ok(mut others) = self.others.try_lock()
            && let Some(act) = &mut *others
        {
            act(self, self.reads.load(Ordering::Relaxed));
        }
    }

    fn corrupted(&self, page_number: PageNumber, what: &str) -> ! {
        assert!(self.is_damaged, "page {page_number}: {what}");
        // As above.
        resume_unwind(Box::new(()))
    }
}

impl BuildTarget for Memory {
    fn append(&mut self, page: &Page) -> PageNumber {
        let mut new = self.allocate();
        new.page.apply(&Edit::Replace(Box::new(page.clone())));
        new.page_number
    }

    fn put(&mut self, page_number: PageNumber, page: &Page) {
        self.lock(page_number).page.apply(&Edit::Replace(Box::new(page.clone())));
    }
}

/// Runs in memory.
pub struct Lists;

impl Runs for Lists {
    type Run = std::vec::IntoIter<(IndexKey, Vec<u64>)>;

    fn write(&mut self, tail: usize, entries: &mut dyn Iterator<Item = KeyWithTail<'_>>) -> Self::Run {
        let entries = entries.inspect(|(_, words)| assert_eq!(words.len(), tail));
        entries.map(|(key, words)| (key, words.to_vec())).collect::<Vec<_>>().into_iter()
    }

    fn read(&mut self, run: &mut Self::Run, tail: &mut Vec<u64>) -> Option<IndexKey> {
        let (key, words) = run.next()?;
        *tail = words;
        Some(key)
    }

    fn check_for_interrupts(&self) {}
}
