//! Inserts rows.

use super::code::{layout_in_use, words_of_row};
use super::filter::FilterColumns;
use crate::pg::access_method::IndexRow;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::open_index::OpenIndex;
use crate::pg::storage::pages::{Pages, PagesState};
use crate::pg::storage::row_address::row_of;
use hamming_index::{Index, Layout};

/// What the inserts of a statement keep from row to row.
pub(super) struct Inserts {
    pages: PagesState,
    layout: Layout,
    filters: FilterColumns,
}

impl Inserts {
    pub(super) fn begin(index: OpenIndex<'_>) -> Self {
        let pages = PagesState::of(index);
        let layout = layout_in_use(index, &Pages::of(index, &pages));
        Self { pages, layout, filters: FilterColumns::of(index) }
    }

    pub(super) fn insert(&mut self, row: IndexRow<'_>) {
        check_for_interrupts();
        let mut words = Vec::new();
        let filter = self.filters.of_row(row);
        let words = words_of_row(self.layout, row, &mut words);
        let pages = Pages::of(row.index(), &self.pages);
        Index::new(&pages, self.layout).insert(words, filter, row_of(row.address()));
    }
}
