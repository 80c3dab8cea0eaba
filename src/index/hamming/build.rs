//! Builds an index of a table that has rows.

use super::code::{layout_of_first, new_layout, words_of_row};
use super::filter::FilterColumns;
use super::options::fillfactor;
use super::row::row_of;
use super::validate::check_class;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::open_index::OpenIndex;
use crate::pg::report::UnwrapOrReport;
use crate::pg::storage::pages::Pages;
use crate::pg::storage::runs::RunFiles;
use hamming_index::Layout;
use hamming_index::build::{BYTES_PER_WORD, Builder, create};
use pgrx::{pg_guard, pg_sys};
use std::ffi::{CStr, c_char, c_void};

/// Numbers of the phases in `pg_stat_progress_create_index`. Phase 1 is PostgreSQL's own.
const SCANNING: i64 = 2;
const WRITING: i64 = 3;
const LOGGING: i64 = 4;

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn ambuildphasename(phase: i64) -> *mut c_char {
    const INITIALIZING: i64 = pg_sys::PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE as i64;
    let name: &CStr = match phase {
        INITIALIZING => c"initializing",
        SCANNING => c"scanning table",
        WRITING => c"sorting and writing trees",
        LOGGING => c"writing to the log",
        _ => return std::ptr::null_mut(),
    };
    name.as_ptr().cast_mut()
}

/// Sets a number in `pg_stat_progress_create_index`.
fn progress(what: u32, value: i64) {
    // SAFETY: the function sets a counter that other processes read.
    unsafe { pg_sys::pgstat_progress_update_param(what as i32, value) };
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
        let (files, builder) = (RunFiles::new(memory), Builder::new(layout, memory / BYTES_PER_WORD));
        Self { layout, memory, files, builder, filters, words: Vec::new(), has_values: false }
    }

    /// Sets the layout for the first value. All rows before it are NULL.
    fn begin(&mut self, layout: Layout) {
        self.has_values = true;
        if layout != self.layout {
            self.layout = layout;
            self.builder.set_layout(layout, self.memory / BYTES_PER_WORD);
        }
    }
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn ambuild(
    table: pg_sys::Relation,
    relation: pg_sys::Relation,
    info: *mut pg_sys::IndexInfo,
) -> *mut pg_sys::IndexBuildResult {
    // SAFETY: PostgreSQL passes both open and locked, so that nobody else changes or reads the index.
    unsafe {
        let index = OpenIndex::new(relation);
        let filters = FilterColumns::of(index);
        check_class(index);
        let layout = new_layout(index);
        progress(pg_sys::PROGRESS_CREATEIDX_SUBPHASE, SCANNING);
        let memory = pg_sys::maintenance_work_mem as usize * 1024;
        let mut rows = ScannedRows::new(layout, filters, memory);
        let state = (&raw mut rows).cast();
        let table_rows = scan_table(table, relation, info, Some(add_row), state);
        let index_rows = rows.builder.rows();
        let mut pages = Pages::of(relation);
        create(&mut pages, rows.layout);
        write(rows, &mut pages, fillfactor(index));
        if pages.is_logged {
            progress(pg_sys::PROGRESS_CREATEIDX_SUBPHASE, LOGGING);
            pages.log_all();
        }
        let mut result = pgrx::PgBox::<pg_sys::IndexBuildResult>::alloc0();
        result.heap_tuples = table_rows;
        result.index_tuples = index_rows as f64;
        result.into_pg()
    }
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn ambuildempty(index: pg_sys::Relation) {
    // SAFETY: PostgreSQL passes the open index.
    let (mut pages, layout) = unsafe { (Pages::of_empty(index), new_layout(OpenIndex::new(index))) };
    create(&mut pages, layout);
}

/// Calls `callback` for each row that the index must have. Returns the number of rows of the table.
///
/// # Safety
/// The table and its index must be open, `info` must describe the index, and `callback` must expect this
/// state.
pub(super) unsafe fn scan_table(
    table: pg_sys::Relation,
    index: pg_sys::Relation,
    info: *mut pg_sys::IndexInfo,
    callback: pg_sys::IndexBuildCallback,
    state: *mut c_void,
) -> f64 {
    // SAFETY: as the caller promises. The scan reads all pages, may join a scan of another backend, and
    // reports progress.
    unsafe {
        let scan = (*(*table).rd_tableam).index_build_range_scan;
        let (first, all, no_scan) = (0, pg_sys::InvalidBlockNumber, std::ptr::null_mut());
        scan.map_or(0.0, |scan| {
            pg_sys::ffi::pg_guard_ffi_boundary(|| {
                scan(table, index, info, true, false, true, first, all, callback, state, no_scan)
            })
        })
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn add_row(
    index: pg_sys::Relation,
    tid: pg_sys::ItemPointer,
    values: *mut pg_sys::Datum,
    is_null: *mut bool,
    _is_alive: bool,
    rows: *mut c_void,
) {
    // SAFETY: the scan passes our state and a row.
    let (words, filter, (files, builder), row) = unsafe {
        let index = OpenIndex::new(index);
        let rows = &mut *rows.cast::<ScannedRows>();
        if !rows.has_values && !*is_null {
            rows.begin(layout_of_first(index, rows.layout, *values));
        }
        let ScannedRows { layout, files, builder, filters, words, .. } = rows;
        let filter = filters.of_row(values, is_null);
        (words_of_row(index, *layout, values, is_null, words), filter, (files, builder), row_of(*tid))
    };
    let added = builder.add(files, words, filter, row);
    added.unwrap_or_report();
}

/// Writes each tree from its sorted keys.
fn write(rows: ScannedRows, pages: &mut Pages, fill: usize) {
    progress(pg_sys::PROGRESS_CREATEIDX_SUBPHASE, WRITING);
    progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_TOTAL, rows.builder.keys() as i64);
    let mut done = 0;
    rows.builder.write(rows.files, pages, fill, &mut || {
        done += 1;
        if done % 100_000 == 0 {
            check_for_interrupts();
            progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_DONE, done);
        }
    });
    progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_DONE, done);
}
