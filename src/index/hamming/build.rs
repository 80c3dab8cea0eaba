//! Builds an index of a table that has rows.

use super::code::{layout_of_first, new_layout, words_of_row};
use super::filter::FilterColumns;
use super::options::fillfactor;
use super::validate::check_class;
use crate::pg::access_method::{BuiltIndex, IndexRow, TableScan, set_build_progress};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::open_index::OpenIndex;
use crate::pg::report::UnwrapOrReport;
use crate::pg::settings::setting;
use crate::pg::storage::pages::{Pages, PagesState};
use crate::pg::storage::row_address::row_of;
use crate::pg::storage::runs::RunFiles;
use hamming_index::Layout;
use hamming_index::build::{BYTES_PER_WORD, Builder, create};
use pgrx::pg_sys;
use std::ffi::CStr;

/// Numbers of the phases in `pg_stat_progress_create_index`. Phase 1 is PostgreSQL's own.
const SCANNING: i64 = 2;
const WRITING: i64 = 3;
const LOGGING: i64 = 4;

/// The name of a phase in `pg_stat_progress_create_index`.
pub(super) fn phase_name(phase: i64) -> Option<&'static CStr> {
    const INITIALIZING: i64 = pg_sys::PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE as i64;
    match phase {
        INITIALIZING => Some(c"initializing"),
        SCANNING => Some(c"scanning table"),
        WRITING => Some(c"sorting and writing trees"),
        LOGGING => Some(c"writing to the log"),
        _ => None,
    }
}

/// The rows of the table, which are written to sorted runs.
struct ScannedRows {
    layout: Layout,
    /// A number of bytes.
    memory: usize,
    files: RunFiles,
    builder: Builder<RunFiles>,
    filters: FilterColumns,
    /// The words of the current row, to reuse their memory.
    words: Vec<u64>,
    has_values: bool,
}

impl ScannedRows {
    fn new(layout: Layout, filters: FilterColumns, memory: usize) -> Self {
        Self {
            layout,
            memory,
            files: RunFiles::new(memory),
            builder: Builder::new(layout, memory / BYTES_PER_WORD),
            filters,
            words: Vec::new(),
            has_values: false,
        }
    }

    /// Sets the layout for the first value. All rows before it are NULL.
    fn begin(&mut self, layout: Layout) {
        self.has_values = true;
        if layout != self.layout {
            self.layout = layout;
            self.builder.set_layout(layout, self.memory / BYTES_PER_WORD);
        }
    }

    /// Adds the next row.
    fn add(&mut self, row: IndexRow<'_>) {
        if !self.has_values
            && let Some(first) = row.value(0)
        {
            self.begin(layout_of_first(row.index(), self.layout, first));
        }
        let filter = self.filters.of_row(row);
        let words = words_of_row(self.layout, row, &mut self.words);
        let added = self.builder.add(&mut self.files, words, filter, row_of(row.address()));
        added.unwrap_or_report();
    }
}

/// Builds an index of a table.
pub(super) fn build(index: OpenIndex<'_>, table: TableScan<'_>) -> BuiltIndex {
    let filters = FilterColumns::of(index);
    check_class(index);
    let layout = new_layout(index);
    set_build_progress(pg_sys::PROGRESS_CREATEIDX_SUBPHASE, SCANNING);
    let memory = setting!(maintenance_work_mem) as usize * 1024;
    let mut rows = ScannedRows::new(layout, filters, memory);
    let table_rows = table.each_row(|row| rows.add(row));
    let index_rows = rows.builder.rows() as f64;
    let state = PagesState::of(index);
    let mut pages = Pages::of(index, &state);
    create(&mut pages, rows.layout);
    write(rows, &mut pages, fillfactor(index));
    if pages.is_logged {
        set_build_progress(pg_sys::PROGRESS_CREATEIDX_SUBPHASE, LOGGING);
        pages.log_all();
    }
    BuiltIndex { table_rows, index_rows }
}

/// Builds the empty index to which an unlogged index is reset after a crash.
pub(super) fn build_empty(index: OpenIndex<'_>) {
    let layout = new_layout(index);
    let state = PagesState::of(index);
    create(&mut Pages::of_empty(index, &state), layout);
}

/// Writes each tree from its sorted keys.
fn write(rows: ScannedRows, pages: &mut Pages, fill: usize) {
    set_build_progress(pg_sys::PROGRESS_CREATEIDX_SUBPHASE, WRITING);
    set_build_progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_TOTAL, rows.builder.keys() as i64);
    let mut done = 0;
    rows.builder.write(rows.files, pages, fill, &mut || {
        done += 1;
        if done % 100_000 == 0 {
            check_for_interrupts();
            set_build_progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_DONE, done);
        }
    });
    set_build_progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_DONE, done);
}
