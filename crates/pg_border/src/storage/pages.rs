//! The pages of an index in PostgreSQL's buffers. They are the store for the algorithms of
//! `crates/hamming_index`.

use super::guard::{ExclusivePage, LockedPages, SharedPage};
use super::recent::RecentPage;
use super::visibility::VisibilityMap;
use super::{recent, wal};
use crate::access_method::{ScanDescriptor, SharedByProcesses, VacuumInfo};
use crate::compat::{check_snapshot_age, lock_buffer, read_recent_buffer, vacuum_delay_point};
use crate::encoding::quoted;
use crate::interrupts::check_for_interrupts;
use crate::open_index::OpenIndex;
use crate::report::{SqlError, UnwrapOrReport, report};
use crate::settings::setting;
use hamming_index::build::BuildTarget;
use hamming_index::key::RowId;
use hamming_index::page::{Edit, HEADER_LAYOUT, PAGE_SIZE, Page, PageNumber};
use hamming_index::store::{NumberedPage, Store};
use pgrx::pg_sys;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use std::cell::Cell;
use std::ffi::CStr;

const _: () = assert!(PAGE_SIZE == pg_sys::BLCKSZ as usize, "only 8 kB pages are supported");
const _: () = assert!(HEADER_LAYOUT == pg_sys::PG_PAGE_LAYOUT_VERSION as u16);
const MAIN: pg_sys::ForkNumber::Type = pg_sys::ForkNumber::MAIN_FORKNUM;
/// The block number that requests a new page after the last one.
const NEW: pg_sys::BlockNumber = pg_sys::InvalidBlockNumber;

/// What a process keeps of the pages of an index from one call to the next.
pub struct PagesState {
    /// The OID of the index.
    index: pg_sys::Oid,
    /// Whether changes of the pages are logged.
    is_logged: bool,
    /// The number of pages that this process had read from disk when it was last looked at.
    pages_from_disk: Cell<i64>,
    /// Whether the search read no page from disk for the last leaves.
    is_cached: Cell<bool>,
    /// The pages that are locked.
    locked: LockedPages,
    /// The number of pages that the index had when it was last looked at.
    known_pages: Cell<PageNumber>,
}

impl PagesState {
    /// For the pages of this index.
    pub fn of(index: OpenIndex<'_>) -> Self {
        Self {
            index: index.oid(),
            // SAFETY: the index is open.
            is_logged: unsafe { wal::needs_wal(index.pointer()) },
            pages_from_disk: Cell::new(read_from_disk()),
            is_cached: Cell::new(true),
            locked: LockedPages::default(),
            known_pages: Cell::new(0),
        }
    }
}

/// The pages of an open index.
pub struct Pages<'a> {
    index: pg_sys::Relation,
    state: &'a PagesState,
    fork: pg_sys::ForkNumber::Type,
    /// Whether changes of the pages are logged.
    pub is_logged: bool,
    /// In a vacuum, the ring of buffers that its reads use in turn; otherwise null.
    ring: pg_sys::BufferAccessStrategy,
    /// Whether long work must pause as VACUUM does.
    is_vacuum: bool,
    /// In a scan, the snapshot for which pages are read; otherwise null. Reading a page for which it is too
    /// old is an error.
    snapshot: pg_sys::Snapshot,
    /// In an index-only scan, the visibility map of the table, for [`Store::is_seen_by_all`].
    visibility: VisibilityMap,
}

impl<'a> Pages<'a> {
    /// The pages of an index.
    pub fn of(index: OpenIndex<'a>, state: &'a PagesState) -> Self {
        assert_eq!(state.index, index.oid(), "what is kept of pages belongs to one index");
        Self {
            index: index.pointer(),
            state,
            fork: MAIN,
            is_logged: state.is_logged,
            ring: std::ptr::null_mut(),
            is_vacuum: false,
            snapshot: std::ptr::null_mut(),
            visibility: VisibilityMap::none(),
        }
    }

    /// The init fork of an unlogged index, which replaces the index after a crash. So it is logged.
    pub fn of_empty(index: OpenIndex<'a>, state: &'a PagesState) -> Self {
        Self { fork: pg_sys::ForkNumber::INIT_FORKNUM, is_logged: true, ..Self::of(index, state) }
    }

    /// The pages of an index that is vacuumed.
    pub fn for_vacuum(vacuum: VacuumInfo<'a>, state: &'a PagesState) -> Self {
        Self { ring: vacuum.ring(), is_vacuum: true, ..Self::of(vacuum.index(), state) }
    }

    /// The pages of an index that is scanned, for the snapshot of the scan.
    pub fn for_scan<S: SharedByProcesses>(scan: &'a ScanDescriptor<'_, S>, state: &'a PagesState) -> Self {
        let visibility = match scan.wants_values() {
            // SAFETY: the table is open as long as the scan.
            true => unsafe { VisibilityMap::of(scan.table()) },
            false => VisibilityMap::none(),
        };
        Self { snapshot: scan.snapshot(), visibility, ..Self::of(scan.index(), state) }
    }

    /// The number of pages, once each of them has been initialized or locked by the process that added it.
    pub fn settled_pages(&self) -> PageNumber {
        let lock = pg_sys::ExclusiveLock as i32;
        // SAFETY: the index is open. A process that adds a page locks it before it releases this lock.
        unsafe {
            pg_sys::LockRelationForExtension(self.index, lock);
            let pages = self.pages();
            pg_sys::UnlockRelationForExtension(self.index, lock);
            pages
        }
    }

    /// Whether the page is not in use.
    pub fn is_free(&self, block: PageNumber) -> bool {
        let page = self.read(block);
        page.is_new() || page.is_free()
    }

    /// Records the page in the free space map.
    pub fn record_free(&self, block: PageNumber) {
        // SAFETY: the index is open.
        unsafe { pg_sys::RecordFreeIndexPage(self.index, block) };
    }

    fn pin(&self, block: PageNumber, strategy: pg_sys::BufferAccessStrategy) -> pg_sys::Buffer {
        let mode = pg_sys::ReadBufferMode::RBM_NORMAL;
        // SAFETY: the index is open. A block that does not exist is an error.
        unsafe { pg_sys::ReadBufferExtended(self.index, self.fork, block, mode, strategy) }
    }

    /// Like [`pin`](Self::pin), but tries first the buffer in which the page was last.
    ///
    /// PostgreSQL does not notice such a visit: it does not count the page as used, and might replace it. So
    /// [`pin`](Self::pin) is used while pages come from disk, and for one of [`recent::LOOK_UP_EVERY`]
    /// visits. Nor does PostgreSQL count the visit as work of a vacuum.
    fn pin_again(&self, block: PageNumber) -> pg_sys::Buffer {
        let no_strategy = std::ptr::null_mut();
        if self.fork != MAIN || self.is_vacuum || !self.state.is_cached.get() {
            return self.pin(block, no_strategy);
        }
        // SAFETY: the index is open, and has this page.
        unsafe {
            let last = *recent::place_of(self.index, self.state.known_pages.get(), block);
            // Buffers of temporary tables have negative numbers.
            if last > 0 && recent::may_use_list() {
                RecentPage::loading(last);
                if read_recent_buffer(self.index, block, last) {
                    return last;
                }
            }
            let buffer = self.pin(block, no_strategy);
            *recent::place_of(self.index, self.state.known_pages.get(), block) = buffer;
            buffer
        }
    }

    /// Pins and locks a page that another page points to.
    fn pin_and_lock(
        &self,
        block: PageNumber,
        lock: u32,
        strategy: pg_sys::BufferAccessStrategy,
    ) -> pg_sys::Buffer {
        // Neither happens in an index without damage. In the first case we would wait for ourselves.
        if self.state.locked.contains(block) {
            self.corrupted(block, "two pages lead to it");
        } else if !self.has_page(block) {
            self.corrupted(block, "there is no such page, but another one leads to it");
        }
        let buffer = if strategy.is_null() { self.pin_again(block) } else { self.pin(block, strategy) };
        // SAFETY: this process has pinned the buffer.
        unsafe { lock_buffer(buffer, lock) };
        buffer
    }

    fn lock_by(&self, block: PageNumber, strategy: pg_sys::BufferAccessStrategy) -> ExclusivePage<'_> {
        let buffer = self.pin_and_lock(block, pg_sys::BUFFER_LOCK_EXCLUSIVE, strategy);
        // SAFETY: the buffer was just pinned and locked.
        unsafe { self.state.locked.exclusive(buffer) }
    }

    fn has_page(&self, block: PageNumber) -> bool {
        block < self.state.known_pages.get() || block < self.pages()
    }

    /// A page from the free space map, unless another process is about to use it.
    fn reuse(&self) -> Option<ExclusivePage<'_>> {
        loop {
            // SAFETY: the index is open.
            let block = unsafe { pg_sys::GetFreeIndexPage(self.index) };
            if block == pg_sys::InvalidBlockNumber {
                return None;
            }
            // The free space map is not logged: after a crash it may be wrong.
            if block >= self.pages() {
                continue;
            }
            let buffer = self.pin(block, std::ptr::null_mut());
            // SAFETY: this process has pinned the buffer.
            if !unsafe { pg_sys::ConditionalLockBuffer(buffer) } {
                // SAFETY: this process has pinned the buffer.
                unsafe { pg_sys::ReleaseBuffer(buffer) };
                continue;
            }
            // SAFETY: the buffer was just pinned and locked.
            let page = unsafe { self.state.locked.exclusive(buffer) };
            if page.is_new() || page.is_free() {
                return Some(page);
            }
        }
    }

    /// A new page after the last one. It is locked before another process can see it, so no process waits for
    /// a page while others wait to extend the index.
    fn extend(&self) -> ExclusivePage<'_> {
        let (lock, mode) = (pg_sys::ExclusiveLock as i32, pg_sys::ReadBufferMode::RBM_ZERO_AND_LOCK);
        // SAFETY: the index is open. In this mode, the new page is returned pinned and exclusively locked.
        unsafe {
            pg_sys::LockRelationForExtension(self.index, lock);
            let buffer = pg_sys::ReadBufferExtended(self.index, self.fork, NEW, mode, std::ptr::null_mut());
            pg_sys::UnlockRelationForExtension(self.index, lock);
            self.state.locked.exclusive(buffer)
        }
    }

    /// Writes a page without WAL.
    fn write(&self, mut place: ExclusivePage<'_>, page: &Page) -> PageNumber {
        *place.content_mut() = page.clone();
        // SAFETY: the buffer is pinned and exclusively locked.
        unsafe { pg_sys::MarkBufferDirty(place.buffer()) };
        place.page_number()
    }

    /// Writes WAL for all pages, after a build.
    pub fn log_all(&self) {
        // SAFETY: the index is open, and no other process uses it yet.
        unsafe { pg_sys::log_newpage_range(self.index, self.fork, 0, self.pages(), true) };
    }
}

impl Store for Pages<'_> {
    type Shared<'a>
        = SharedPage<'a>
    where
        Self: 'a;
    type Exclusive<'a>
        = ExclusivePage<'a>
    where
        Self: 'a;
    type Loading<'a>
        = RecentPage
    where
        Self: 'a;

    fn pages(&self) -> PageNumber {
        // SAFETY: the index is open.
        let pages = unsafe { pg_sys::RelationGetNumberOfBlocksInFork(self.index, self.fork) };
        self.state.known_pages.set(pages);
        pages
    }

    #[inline]
    fn read(&self, block: PageNumber) -> SharedPage<'_> {
        let buffer = self.pin_and_lock(block, pg_sys::BUFFER_LOCK_SHARE, std::ptr::null_mut());
        // SAFETY: the buffer was just pinned and locked; the index is open, and the snapshot is alive.
        unsafe {
            let page = self.state.locked.shared(buffer, block);
            check_snapshot_age(self.snapshot, self.index, &raw const *page);
            page
        }
    }

    fn lock(&self, block: PageNumber) -> ExclusivePage<'_> {
        self.lock_by(block, std::ptr::null_mut())
    }

    fn lock_in_passing(&self, block: PageNumber) -> ExclusivePage<'_> {
        self.lock_by(block, self.ring)
    }

    fn allocate(&self) -> ExclusivePage<'_> {
        debug_assert!(self.state.locked.is_empty(), "a page is allocated while none is locked");
        self.reuse().unwrap_or_else(|| self.extend())
    }

    fn release(&self, page: ExclusivePage<'_>) {
        let block = page.page_number();
        drop(page);
        debug_assert!(self.state.locked.is_empty(), "a page is freed while none is locked");
        self.record_free(block);
        // `GetFreeIndexPage` begins at the top of the map, which is otherwise left to VACUUM.
        // SAFETY: the index is open.
        unsafe { pg_sys::FreeSpaceMapVacuumRange(self.index, block, block + 1) };
    }

    fn commit(&self, changes: &mut [(&mut ExclusivePage<'_>, Edit)]) {
        wal::commit(changes, self.is_logged);
    }

    fn begin_leaves(&self) -> bool {
        let may_prefetch = setting!(effective_io_concurrency) > 0;
        let now = read_from_disk();
        self.state.is_cached.set(self.state.pages_from_disk.replace(now) == now);
        !self.state.is_cached.get() && may_prefetch
    }

    fn prefetch(&self, block: PageNumber) {
        // If the page does not exist, reading it will raise an error.
        if self.has_page(block) {
            // SAFETY: the index is open.
            unsafe { pg_sys::PrefetchBuffer(self.index, self.fork, block) };
        }
    }

    #[inline]
    fn load(&self, block: PageNumber) -> RecentPage {
        // SAFETY: the index is open, and has this page.
        let buffer = unsafe { *recent::place_of(self.index, self.state.known_pages.get(), block) };
        RecentPage::loading(buffer)
    }

    fn is_seen_by_all(&self, row: RowId) -> bool {
        self.visibility.has(row.page())
    }

    fn check_for_interrupts(&self) {
        debug_assert!(self.state.locked.is_empty(), "a search is canceled while no page is locked");
        if !self.is_vacuum {
            check_for_interrupts();
        } else {
            vacuum_delay_point();
        }
    }

    fn corrupted(&self, block: PageNumber, what: &str) -> ! {
        // SAFETY: the index is open.
        let name = unsafe { std::ffi::CStr::from_ptr((*(*self.index).rd_rel).relname.data.as_ptr()) };
        Err::<std::convert::Infallible, _>(corrupted_index(name, block, what)).unwrap_or_report();
        unreachable!("an error has been reported")
    }
}

impl BuildTarget for Pages<'_> {
    fn append(&mut self, page: &Page) -> PageNumber {
        check_for_interrupts();
        let mut place = self.extend();
        if self.fork == MAIN {
            return self.write(place, page);
        }
        wal::commit(&mut [(&mut place, Edit::Replace(Box::new(page.clone())))], self.is_logged);
        place.page_number()
    }

    fn put(&mut self, block: PageNumber, page: &Page) {
        let place = self.lock(block);
        self.write(place, page);
    }
}

/// The number of pages that this process has read from disk.
fn read_from_disk() -> i64 {
    // SAFETY: the counter belongs to this process.
    unsafe { pg_sys::pgBufferUsage.shared_blks_read }
}

fn corrupted_index(name: &CStr, block: u32, what: &str) -> SqlError {
    let message = format!("index \"{}\" is damaged in block {block}: {what}", quoted(name));
    report(Code::ERRCODE_INDEX_CORRUPTED, message)
        .set_hint("Use hamming_index_check to list all damage, and REINDEX to rebuild the index.")
}
