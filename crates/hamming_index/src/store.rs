//! The trait for stores of pages: PostgreSQL's buffers with WAL, or a list in memory.

use crate::key::RowId;
use crate::page::{Edit, Page, PageNumber};
use base::{Problem, ProblemKind};
use std::ops::{Deref, Range};

/// The most pages that change together. It is the number of pages that a record of PostgreSQL's generic WAL
/// can have: recovery reads a record into an array of as many.
pub const MAX_CHANGED_PAGES: usize = 4;

/// Refuses a change of more pages than a record can have. Each [`Store`] that writes such records calls it
/// before it changes anything.
pub fn check_changed_pages(pages: usize) -> Result<(), Problem> {
    if pages <= MAX_CHANGED_PAGES {
        return Ok(());
    }
    let message = format!("maximum number {MAX_CHANGED_PAGES} of generic xlog buffers is exceeded");
    Err(Problem::new(ProblemKind::TooLarge, message)
        .with_detail(format!("A change of an index has {pages} pages. Nothing was changed.")))
}

/// A store of pages. A page stays locked as long as the value that is returned for it.
///
/// Locks are requested in one order: earlier trees first; in a tree, the pages above the leaves before the
/// leaves; above the leaves, a page before its children, and these from left to right, each with all pages
/// below it; leaves from left to right. A page that no other page points to can be locked at any time.
/// `README.md` ("Trees and locks") explains why there are no deadlocks, unless the index is damaged.
///
/// If a page points to a page of another tree, two processes that change the index can wait for each other
/// before one of them has noticed the damage. A store should refuse a page that the same process has already
/// locked, if it can tell.
pub trait Store {
    /// A page that is locked for reading: others may read it, but nobody changes it.
    type Shared<'a>: Deref<Target = Page>
    where
        Self: 'a;
    /// A page that is locked for a change: nobody else reads or changes it.
    type Exclusive<'a>: Deref<Target = Page> + NumberedPage
    where
        Self: 'a;

    /// A page that is being loaded into the processor's cache.
    type Loading<'a>: LoadingPage + Copy
    where
        Self: 'a;

    /// The number of pages, including free ones.
    fn pages(&self) -> PageNumber;

    /// Locks the page for reading. Waits while somebody changes it.
    fn read(&self, page_number: PageNumber) -> Self::Shared<'_>;

    /// Locks the page for a change. Waits while somebody else reads or changes it.
    fn lock(&self, page_number: PageNumber) -> Self::Exclusive<'_>;

    /// Like [`lock`](Self::lock), for a walk that visits each page once: reading the page from disk should
    /// not evict other pages from the cache.
    fn lock_in_passing(&self, page_number: PageNumber) -> Self::Exclusive<'_> {
        self.lock(page_number)
    }

    /// Returns a page that no page points to, locked for a change. May wait for other processes, so it must
    /// be called while no page is locked.
    fn allocate(&self) -> Self::Exclusive<'_>;

    /// Frees a page that no page points to any more, or that was not needed. Must be called while no other
    /// page is locked.
    fn release(&self, page: Self::Exclusive<'_>);

    /// Changes up to [`MAX_CHANGED_PAGES`] pages atomically: after a crash all of them are changed or none.
    /// The pages must be in the order in which they may be locked.
    fn commit(&self, changes: &mut [(&mut Self::Exclusive<'_>, Edit)]);

    /// Called once before each group of leaves is read. Returns whether pages come from far away, so that
    /// [`prefetch`](Self::prefetch) helps.
    fn begin_leaves(&self) -> bool;

    /// Starts reading the page, which will be needed soon.
    fn prefetch(&self, page_number: PageNumber);

    /// Starts loading the beginning and the end of the page from memory into the processor's cache, since it
    /// will be read soon.
    fn load(&self, page_number: PageNumber) -> Self::Loading<'_>;

    /// Whether all transactions see this row, so that a scan may return its code without reading the table.
    /// It must be called while the leaf with the row is locked, so that VACUUM has not removed the row yet.
    fn is_seen_by_all(&self, row: RowId) -> bool;

    /// Called while no page is locked. Does not return if the user has cancelled.
    fn check_for_interrupts(&self);

    /// Ends the operation with an error: the page is damaged, as `what` describes.
    fn corrupted(&self, page_number: PageNumber, what: &str) -> !;
}

/// A page that is being loaded from memory into the processor's cache. Nothing is known about its contents,
/// and others may change it meanwhile.
pub trait LoadingPage {
    /// Starts loading these bytes, in addition to those that are being loaded. Large parts are loaded in
    /// small steps while something else is done.
    fn load(&self, bytes: Range<usize>);

    /// Starts loading the cache line with this byte.
    fn load_at(&self, byte: usize);
}

/// A page together with its number.
pub trait NumberedPage {
    /// The number of the page.
    fn page_number(&self) -> PageNumber;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_page_is_refused() {
        (0..=MAX_CHANGED_PAGES).for_each(|pages| check_changed_pages(pages).unwrap());
        let problem = check_changed_pages(MAX_CHANGED_PAGES + 1).unwrap_err();
        assert_eq!(problem.message, "maximum number 4 of generic xlog buffers is exceeded");
        assert_eq!(problem.detail.unwrap(), "A change of an index has 5 pages. Nothing was changed.");
    }
}
