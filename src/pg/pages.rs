//! Pages of an index in Postgres's buffers, behind guards.
//!
//! A guard holds pin and lock of a page and gives both up when it is dropped. If an error is on its way, it
//! leaves that to the end of the transaction, as Postgres's own code does.

use super::error;
use super::interrupts::check_for_interrupts;
use super::wal;
use hamming_index::build::Target;
use hamming_index::page::{Block, Edit, HEADER_LAYOUT, PAGE_SIZE, Page};
use hamming_index::store::{Numbered, Store};
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReportable;
use std::cell::{Cell, RefCell};
use std::ops::Deref;

const _: () = assert!(PAGE_SIZE == pg_sys::BLCKSZ as usize, "only 8 kB pages are supported");
const _: () = assert!(HEADER_LAYOUT == pg_sys::PG_PAGE_LAYOUT_VERSION as u16);
const MAIN: pg_sys::ForkNumber::Type = pg_sys::ForkNumber::MAIN_FORKNUM;
/// Asks for a page after the last one.
const NEW: pg_sys::BlockNumber = pg_sys::InvalidBlockNumber;

/// Postgres's InvalidSubTransactionId.
const NO_TRANSACTION: pg_sys::SubTransactionId = 0;

/// A page that is pinned and locked.
struct Pinned<'a> {
    buffer: pg_sys::Buffer,
    block: Block,
    pages: &'a Pages,
}

impl Pinned<'_> {
    fn content(&self) -> *mut Page {
        // SAFETY: the buffer is pinned, so that it has its page until we drop it.
        unsafe { pg_sys::BufferGetBlock(self.buffer).cast() }
    }
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: pinned and locked by us, and by nobody else in this process.
            unsafe { pg_sys::UnlockReleaseBuffer(self.buffer) };
            self.pages.held.borrow_mut().retain(|&held| held != self.block);
        }
    }
}

/// A page that others may read, and nobody changes.
pub(crate) struct Shared<'a>(Pinned<'a>);

impl Deref for Shared<'_> {
    type Target = Page;

    fn deref(&self) -> &Page {
        // SAFETY: locked, so that nobody changes it; any bytes are a page.
        unsafe { &*self.0.content() }
    }
}

/// A page that nobody else reads or changes.
pub(crate) struct Exclusive<'a>(Pinned<'a>);

impl Exclusive<'_> {
    pub(super) fn buffer(&self) -> pg_sys::Buffer {
        self.0.buffer
    }

    pub(super) fn content_mut(&mut self) -> &mut Page {
        // SAFETY: locked for us alone; any bytes are a page.
        unsafe { &mut *self.0.content() }
    }

    pub(super) fn set_lsn(&mut self, lsn: pg_sys::XLogRecPtr) {
        let lsn = pg_sys::PageXLogRecPtr { xlogid: (lsn >> 32) as u32, xrecoff: lsn as u32 };
        // SAFETY: a page begins with its header, and this one is locked for us alone.
        unsafe { (*self.0.content().cast::<pg_sys::PageHeaderData>()).pd_lsn = lsn };
    }
}

impl Deref for Exclusive<'_> {
    type Target = Page;

    fn deref(&self) -> &Page {
        // SAFETY: locked for us alone; any bytes are a page.
        unsafe { &*self.0.content() }
    }
}

impl Numbered for Exclusive<'_> {
    fn block(&self) -> Block {
        self.0.block
    }
}

/// The pages of an index that is open.
pub(crate) struct Pages {
    index: pg_sys::Relation,
    fork: pg_sys::ForkNumber::Type,
    is_logged: bool,
    /// How vacuum keeps what it reads in passing from pushing out other pages; otherwise null.
    passing: pg_sys::BufferAccessStrategy,
    /// Whether work has to pause as vacuum's does.
    is_vacuum: bool,
    /// Pages that this process had read from disk when it was last looked at.
    pages_from_disk: Cell<i64>,
    /// Pages that are locked through us.
    held: RefCell<Vec<Block>>,
    /// Pages that there were when it was last looked at.
    known_pages: Cell<Block>,
    /// Whom what is read has to serve, if it is a scan.
    snapshot: Cell<pg_sys::Snapshot>,
}

impl Pages {
    /// # Safety
    /// The index must stay open, with a lock, as long as the result is used.
    pub(crate) unsafe fn of(index: pg_sys::Relation) -> Self {
        // SAFETY: promised by the caller.
        let is_logged = unsafe { needs_wal(index) };
        let pages_from_disk = Cell::new(read_from_disk());
        Self {
            index,
            fork: MAIN,
            is_logged,
            passing: std::ptr::null_mut(),
            is_vacuum: false,
            pages_from_disk,
            held: RefCell::default(),
            known_pages: Cell::new(0),
            snapshot: Cell::new(std::ptr::null_mut()),
        }
    }

    /// What an unlogged index is reset to after a crash.
    ///
    /// # Safety
    /// As for [`Pages::of`].
    pub(crate) unsafe fn of_empty(index: pg_sys::Relation) -> Self {
        // SAFETY: promised by the caller. What resets must be there after a crash, so it is logged.
        Self { fork: pg_sys::ForkNumber::INIT_FORKNUM, is_logged: true, ..unsafe { Self::of(index) } }
    }

    /// # Safety
    /// As for [`Pages::of`]; the strategy must last as long.
    pub(crate) unsafe fn for_vacuum(info: &pg_sys::IndexVacuumInfo) -> Self {
        // SAFETY: promised by the caller.
        Self { passing: info.strategy, is_vacuum: true, ..unsafe { Self::of(info.index) } }
    }

    pub(crate) fn is_logged(&self) -> bool {
        self.is_logged
    }

    /// Pages of the index, each of which has been used by whoever made it.
    pub(crate) fn settled_pages(&self) -> Block {
        let lock = pg_sys::ExclusiveLock as i32;
        // SAFETY: the index is open. Whoever adds a page has it locked when it gives this lock up.
        unsafe {
            pg_sys::LockRelationForExtension(self.index, lock);
            let pages = self.pages();
            pg_sys::UnlockRelationForExtension(self.index, lock);
            pages
        }
    }

    /// Whether nobody uses the page.
    pub(crate) fn is_free(&self, block: Block) -> bool {
        let page = self.share(block);
        page.is_new() || page.is_free()
    }

    /// Offers a page for use.
    pub(crate) fn record_free(&self, block: Block) {
        // SAFETY: the index is open.
        unsafe { pg_sys::RecordFreeIndexPage(self.index, block) };
    }

    /// What is read from now on serves a scan with this snapshot, which may be too old for it.
    ///
    /// # Safety
    /// The snapshot must last as long as pages are read.
    pub(crate) unsafe fn read_as_of(&self, snapshot: pg_sys::Snapshot) {
        self.snapshot.set(snapshot);
    }

    fn pin(&self, block: Block, strategy: pg_sys::BufferAccessStrategy) -> pg_sys::Buffer {
        let mode = pg_sys::ReadBufferMode::RBM_NORMAL;
        // SAFETY: the index is open; a block that is not there is an error.
        unsafe { pg_sys::ReadBufferExtended(self.index, self.fork, block, mode, strategy) }
    }

    fn read(&self, block: Block, lock: u32) -> Pinned<'_> {
        self.read_by(block, lock, std::ptr::null_mut())
    }

    fn read_by(&self, block: Block, lock: u32, strategy: pg_sys::BufferAccessStrategy) -> Pinned<'_> {
        // Neither happens where pages lead to one another as they ought to. In the first case we would wait for
        // ourselves.
        if self.held.borrow().contains(&block) {
            self.corrupted(block, "two pages lead to it");
        } else if !self.has_page(block) {
            self.corrupted(block, "there is no such page, but another one leads to it");
        }
        let buffer = self.pin(block, strategy);
        // SAFETY: pinned by us.
        unsafe { pg_sys::LockBuffer(buffer, lock as i32) };
        self.hold(buffer)
    }

    fn has_page(&self, block: Block) -> bool {
        block < self.known_pages.get() || block < self.pages()
    }

    /// Takes charge of a page that has been locked.
    fn hold(&self, buffer: pg_sys::Buffer) -> Pinned<'_> {
        // SAFETY: the buffer is pinned.
        let block = unsafe { pg_sys::BufferGetBlockNumber(buffer) };
        self.held.borrow_mut().push(block);
        Pinned { buffer, block, pages: self }
    }

    /// A free page that is known, if nobody else is about to take it.
    fn reuse(&self) -> Option<Exclusive<'_>> {
        loop {
            // SAFETY: the index is open.
            let block = unsafe { pg_sys::GetFreeIndexPage(self.index) };
            if block == pg_sys::InvalidBlockNumber {
                return None;
            }
            // The list of free pages is not logged: after a crash it may be wrong.
            if block >= self.pages() {
                continue;
            }
            let buffer = self.pin(block, std::ptr::null_mut());
            // SAFETY: pinned by us.
            if !unsafe { pg_sys::ConditionalLockBuffer(buffer) } {
                // SAFETY: pinned by us.
                unsafe { pg_sys::ReleaseBuffer(buffer) };
                continue;
            }
            let page = Exclusive(self.hold(buffer));
            if page.is_new() || page.is_free() {
                return Some(page);
            }
        }
    }

    /// A page after the last one. Whoever adds it has it locked before anybody else can see it, so nobody waits for a
    /// page while others wait to extend the index.
    fn extend(&self) -> Exclusive<'_> {
        let (lock, mode) = (pg_sys::ExclusiveLock as i32, pg_sys::ReadBufferMode::RBM_ZERO_AND_LOCK);
        // SAFETY: the index is open.
        let buffer = unsafe {
            pg_sys::LockRelationForExtension(self.index, lock);
            let buffer = pg_sys::ReadBufferExtended(self.index, self.fork, NEW, mode, std::ptr::null_mut());
            pg_sys::UnlockRelationForExtension(self.index, lock);
            buffer
        };
        Exclusive(self.hold(buffer))
    }

    /// Writes a page without logging it.
    fn write(&self, mut place: Exclusive<'_>, page: &Page) -> Block {
        *place.content_mut() = page.clone();
        // SAFETY: pinned and locked by us.
        unsafe { pg_sys::MarkBufferDirty(place.buffer()) };
        place.block()
    }

    /// Logs everything at once, after building.
    pub(crate) fn log_all(&self) {
        // SAFETY: the index is open and nobody else uses it yet.
        unsafe { pg_sys::log_newpage_range(self.index, self.fork, 0, self.pages(), true) };
    }
}

impl Store for Pages {
    type Shared<'a> = Shared<'a>;
    type Exclusive<'a> = Exclusive<'a>;

    fn pages(&self) -> Block {
        // SAFETY: the index is open.
        let pages = unsafe { pg_sys::RelationGetNumberOfBlocksInFork(self.index, self.fork) };
        self.known_pages.set(pages);
        pages
    }

    #[inline]
    fn share(&self, block: Block) -> Shared<'_> {
        let page = self.read(block, pg_sys::BUFFER_LOCK_SHARE);
        // SAFETY: the index is open, the page locked, and the snapshot still there.
        unsafe { check_age(self.snapshot.get(), self.index, page.content()) };
        Shared(page)
    }

    fn lock(&self, block: Block) -> Exclusive<'_> {
        Exclusive(self.read(block, pg_sys::BUFFER_LOCK_EXCLUSIVE))
    }

    fn lock_in_passing(&self, block: Block) -> Exclusive<'_> {
        Exclusive(self.read_by(block, pg_sys::BUFFER_LOCK_EXCLUSIVE, self.passing))
    }

    fn allocate(&self) -> Exclusive<'_> {
        self.reuse().unwrap_or_else(|| self.extend())
    }

    fn release(&self, page: Exclusive<'_>) {
        let block = page.block();
        drop(page);
        self.record_free(block);
    }

    fn commit(&self, changes: &mut [(&mut Exclusive<'_>, Edit)]) {
        wal::commit(changes, self.is_logged);
    }

    fn is_slow(&self) -> bool {
        // SAFETY: a setting.
        let may_prefetch = unsafe { pg_sys::effective_io_concurrency } > 0;
        let now = read_from_disk();
        self.pages_from_disk.replace(now) != now && may_prefetch
    }

    fn prefetch(&self, block: Block) {
        // If there is no such page, whoever reads it will say so.
        if self.has_page(block) {
            // SAFETY: the index is open.
            unsafe { pg_sys::PrefetchBuffer(self.index, self.fork, block) };
        }
    }

    fn check_for_interrupts(&self) {
        if !self.is_vacuum {
            check_for_interrupts();
        } else {
            // SAFETY: called where nothing is held, as vacuum does between pages.
            #[cfg(feature = "pg18")]
            unsafe {
                pg_sys::vacuum_delay_point(false)
            };
            // SAFETY: as above.
            #[cfg(not(feature = "pg18"))]
            unsafe {
                pg_sys::vacuum_delay_point()
            };
        }
    }

    fn corrupted(&self, block: Block, what: &str) -> ! {
        // SAFETY: the index is open.
        let name = unsafe { std::ffi::CStr::from_ptr((*(*self.index).rd_rel).relname.data.as_ptr()) };
        Err::<std::convert::Infallible, _>(error::corrupted_index(name, block, what)).unwrap_or_report();
        unreachable!("an error has been reported")
    }
}

impl Target for Pages {
    fn append(&mut self, page: &Page) -> Block {
        check_for_interrupts();
        let mut place = self.extend();
        if self.fork == MAIN {
            return self.write(place, page);
        }
        wal::commit(&mut [(&mut place, Edit::Replace(Box::new(page.clone())))], self.is_logged);
        place.block()
    }

    fn put(&mut self, block: Block, page: &Page) {
        let place = self.lock(block);
        self.write(place, page);
    }
}

/// Raises an error if the page may lack what the snapshot still sees, because rows were removed early
/// (`old_snapshot_threshold`, which PostgreSQL 17 has no more): its TestForOldSnapshot.
///
/// # Safety
/// The relation must be open, the page one of it and locked, and the snapshot one or null.
#[inline]
#[cfg(any(feature = "pg14", feature = "pg15", feature = "pg16"))]
unsafe fn check_age(snapshot: pg_sys::Snapshot, relation: pg_sys::Relation, page: *const Page) {
    // SAFETY: promised by the caller; a setting that does not change; a page begins with its header.
    unsafe {
        if pg_sys::old_snapshot_threshold < 0 || snapshot.is_null() {
            return;
        }
        let lsn = (*page.cast::<pg_sys::PageHeaderData>()).pd_lsn;
        let lsn = pg_sys::XLogRecPtr::from(lsn.xlogid) << 32 | pg_sys::XLogRecPtr::from(lsn.xrecoff);
        let is_mvcc = (*snapshot).snapshot_type == pg_sys::SnapshotType::SNAPSHOT_MVCC;
        if is_mvcc && (*snapshot).lsn != 0 && lsn > (*snapshot).lsn {
            pg_sys::TestForOldSnapshot_impl(snapshot, relation);
        }
    }
}

/// As above: there are no early removals.
#[inline]
#[cfg(not(any(feature = "pg14", feature = "pg15", feature = "pg16")))]
unsafe fn check_age(_snapshot: pg_sys::Snapshot, _relation: pg_sys::Relation, _page: *const Page) {}

fn read_from_disk() -> i64 {
    // SAFETY: a counter of this process.
    unsafe { pg_sys::pgBufferUsage.shared_blks_read }
}

/// Postgres's RelationNeedsWAL.
///
/// # Safety
/// The relation must be open.
unsafe fn needs_wal(relation: pg_sys::Relation) -> bool {
    // SAFETY: promised by the caller; a setting that does not change.
    unsafe {
        let is_new = (*relation).rd_createSubid != NO_TRANSACTION || has_new_file(relation);
        let is_permanent = (*(*relation).rd_rel).relpersistence as u8 == pg_sys::RELPERSISTENCE_PERMANENT;
        let wal_is_needed = pg_sys::wal_level >= pg_sys::WalLevel::WAL_LEVEL_REPLICA as i32;
        is_permanent && (wal_is_needed || !is_new)
    }
}

/// Whether it got its file in this transaction.
///
/// # Safety
/// The relation must be open.
unsafe fn has_new_file(relation: pg_sys::Relation) -> bool {
    // SAFETY: promised by the caller.
    #[cfg(any(feature = "pg14", feature = "pg15"))]
    let since = unsafe { (*relation).rd_firstRelfilenodeSubid };
    // SAFETY: promised by the caller.
    #[cfg(not(any(feature = "pg14", feature = "pg15")))]
    let since = unsafe { (*relation).rd_firstRelfilelocatorSubid };
    since != NO_TRANSACTION
}
