//! Where pages are kept: Postgres's buffers and its log, or a list in memory.

use crate::page::{Block, Edit, Page};
use std::ops::Deref;

/// Pages that are locked for as long as one holds them.
///
/// Whoever holds the lock of a node may ask for that of a child, and whoever holds a lock in one tree for
/// those of later trees; never the other way round. So nobody waits in a circle. A page that nobody refers to
/// can be locked at any time.
///
/// That holds for an index that is not damaged. If a page leads to one of another tree, two who change the
/// index can wait for each other before either has seen it; a store that can tell should refuse a page that
/// the same process has locked already.
pub trait Store {
    /// A page that others may read, and nobody changes.
    type Shared<'a>: Deref<Target = Page>
    where
        Self: 'a;
    /// A page that nobody else has.
    type Exclusive<'a>: Deref<Target = Page> + Numbered
    where
        Self: 'a;

    /// Pages that there are, free ones included.
    fn pages(&self) -> Block;

    /// Waits until nobody changes the page.
    fn share(&self, block: Block) -> Self::Shared<'_>;

    /// Waits until nobody else has the page.
    fn lock(&self, block: Block) -> Self::Exclusive<'_>;

    /// The same, by somebody who looks at each page once: reading it from disk should not push out others.
    fn lock_in_passing(&self, block: Block) -> Self::Exclusive<'_> {
        self.lock(block)
    }

    /// A page that nobody refers to. May wait for others: called where no page is locked.
    fn allocate(&self) -> Self::Exclusive<'_>;

    /// Nobody refers to the page any more, or it was allocated for nothing. Called where no other page is
    /// locked.
    fn release(&self, page: Self::Exclusive<'_>);

    /// Changes up to four pages at once: after a crash all of it has happened, or nothing. Pages come in the
    /// order in which they may be locked.
    fn commit(&self, changes: &mut [(&mut Self::Exclusive<'_>, Edit)]);

    /// Whether pages come from far away, so that it helps to say early which are needed.
    fn is_slow(&self) -> bool;

    /// The page will be read soon.
    fn prefetch(&self, block: Block);

    /// Called where no locks are held; does not return if the user has cancelled.
    fn check_for_interrupts(&self);

    /// The page is not what it ought to be.
    fn corrupted(&self, block: Block, what: &str) -> !;
}

/// A page that knows its number.
pub trait Numbered {
    /// The number.
    fn block(&self) -> Block;
}
