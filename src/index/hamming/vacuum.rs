//! Removes dead rows.

use super::code::layout_of;
use super::dead_rows::DeadRows;
use crate::pg::access_method::{DeadRowCheck, IndexPages, RemovedRows, VacuumInfo};
use crate::pg::storage::pages::{Pages, PagesState};
use hamming_index::Index;
use hamming_index::store::Store;

/// Removes the dead rows.
pub(super) fn remove_dead_rows(vacuum: VacuumInfo<'_>, check: DeadRowCheck<'_>) -> RemovedRows {
    let state = PagesState::of(vacuum.index());
    let pages = Pages::for_vacuum(vacuum, &state);
    let index = Index::new(&pages, layout_of(vacuum.index(), &pages));
    let mut dead = DeadRows::new(check);
    let (remaining, removed) = index.vacuum(&mut |row| dead.has(row));
    RemovedRows { remaining, removed }
}

/// Has each row noted, for CREATE INDEX CONCURRENTLY.
pub(super) fn visit_rows(vacuum: VacuumInfo<'_>, visited: DeadRowCheck<'_>) -> u64 {
    let state = PagesState::of(vacuum.index());
    let pages = Pages::for_vacuum(vacuum, &state);
    let index = Index::new(&pages, layout_of(vacuum.index(), &pages));
    index.rows(&mut |row| _ = visited.are_dead(row.page(), row.offset(), 1))
}

/// Finds the pages that are not in use.
pub(super) fn clean_up(vacuum: VacuumInfo<'_>) -> IndexPages {
    let state = PagesState::of(vacuum.index());
    let pages = Pages::for_vacuum(vacuum, &state);
    let all = pages.settled_pages();
    let mut free = 0;
    for block in layout_of(vacuum.index(), &pages).fixed_pages()..all {
        pages.check_for_interrupts();
        if pages.is_free(block) {
            pages.record_free(block);
            free += 1;
        }
    }
    IndexPages { all, free }
}
