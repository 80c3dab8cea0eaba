//! Where pages are kept: Postgres's buffers and its log, or a list in memory.

use crate::key::RowId;
use crate::page::{Edit, Page, PageNumber};
use std::ops::Deref;

/// Pages, each locked for as long as a value returned here refers to it.
///
/// Whoever holds the lock of a node may ask for the lock of its child. Whoever holds a lock in one tree may
/// ask for locks in later trees. Nobody asks the other way round, so nobody waits in a circle. A page that
/// no other page refers to can be locked at any time.
///
/// That holds for an index that is not damaged. If a page leads to a page of another tree, two processes
/// that change the index can wait for each other before either has seen the damage. A store that can tell
/// should refuse a page that the same process has locked already.
pub trait Store {
    /// A page that is locked for reading: others may read it, and nobody changes it.
    type Shared<'a>: Deref<Target = Page>
    where
        Self: 'a;
    /// A page that is locked for a change: nobody else reads or changes it.
    type Exclusive<'a>: Deref<Target = Page> + NumberedPage
    where
        Self: 'a;

    /// The number of pages, free ones included.
    fn pages(&self) -> PageNumber;

    /// Locks the page for reading. Waits until nobody changes it.
    fn read(&self, page_number: PageNumber) -> Self::Shared<'_>;

    /// Locks the page for a change. Waits until nobody else reads or changes it.
    fn lock(&self, page_number: PageNumber) -> Self::Exclusive<'_>;

    /// Like [`lock`](Self::lock), for a walk that visits each page once: reading the page from disk should
    /// not push others out of the cache.
    fn lock_in_passing(&self, page_number: PageNumber) -> Self::Exclusive<'_> {
        self.lock(page_number)
    }

    /// Locks a page that nobody refers to, for a change. May wait for others, so it is called while no page
    /// is locked.
    fn allocate(&self) -> Self::Exclusive<'_>;

    /// Gives back a page that nobody refers to any more, or that was allocated for nothing. Called while no
    /// other page is locked.
    fn release(&self, page: Self::Exclusive<'_>);

    /// Changes up to four pages at once: after a crash either all changes are there or none. Pages come in
    /// the order in which they may be locked.
    fn commit(&self, changes: &mut [(&mut Self::Exclusive<'_>, Edit)]);

    /// Whether pages come from far away, so that announcing them early by [`prefetch`](Self::prefetch)
    /// helps.
    fn is_slow(&self) -> bool;

    /// Announces that the page will be read soon.
    fn prefetch(&self, page_number: PageNumber);

    /// Announces that the page is read next: it should come from memory into the processor's cache.
    fn load(&self, _page_number: PageNumber) {}

    /// Whether everybody sees this row, so that whoever knows its code need not look at the table. Asked
    /// while the leaf that has the row is locked, so the row has not been vacuumed yet.
    fn is_seen_by_all(&self, _row: RowId) -> bool {
        false
    }

    /// Called while no page is locked; does not return if the user has cancelled.
    fn check_for_interrupts(&self);

    /// Ends the operation with an error: the page is damaged in the way that `what` says.
    fn corrupted(&self, page_number: PageNumber, what: &str) -> !;
}

/// A page that knows its number.
pub trait NumberedPage {
    /// The number of the page.
    fn page_number(&self) -> PageNumber;
}
