//! Making an index of a table that has rows already.

use super::options::fillfactor;
use super::row::{fingerprint, row_of};
use super::validate::check_class;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report;
use crate::pg::storage::pages::Pages;
use crate::pg::storage::runs::RunFiles;
use hamming_index::build::{Sorter, create, write_tree};
use hamming_index::key::{Key, NULLS, TREES};
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::{pg_guard, pg_sys};
use std::ffi::{CStr, c_char, c_void};

/// Numbers of the phases that `pg_stat_progress_create_index` shows. Phase 1 is Postgres's own.
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

/// Sets a number that `pg_stat_progress_create_index` shows.
fn progress(what: u32, value: i64) {
    // SAFETY: sets a counter that others look at.
    unsafe { pg_sys::pgstat_progress_update_param(what as i32, value) };
}

/// The rows of the table, on their way into sorted runs.
struct ScannedRows {
    files: RunFiles,
    values: Sorter<RunFiles>,
    nulls: Sorter<RunFiles>,
}

impl ScannedRows {
    /// `memory` is in bytes.
    fn new(memory: usize) -> Self {
        let capacity = memory / size_of::<Key>();
        // Few tables have many rows without a fingerprint.
        let nulls = Sorter::new(NULLS..TREES as u8, capacity / 8);
        Self { files: RunFiles::new(memory), values: Sorter::new(0..NULLS, capacity - capacity / 8), nulls }
    }
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn ambuild(
    table: pg_sys::Relation,
    index: pg_sys::Relation,
    info: *mut pg_sys::IndexInfo,
) -> *mut pg_sys::IndexBuildResult {
    // SAFETY: Postgres passes both open and locked, so that nobody else changes or reads the index.
    unsafe {
        check_class(index);
        let mut pages = Pages::of(index);
        create(&mut pages);
        progress(pg_sys::PROGRESS_CREATEIDX_SUBPHASE, SCANNING);
        let mut rows = ScannedRows::new(pg_sys::maintenance_work_mem as usize * 1024);
        let state = (&raw mut rows).cast();
        let table_rows = scan_table(table, index, info, Some(add_row), state);
        let index_rows = rows.values.count() + rows.nulls.count();
        write(rows, &mut pages, fillfactor(index));
        if pages.is_logged() {
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
    // SAFETY: Postgres passes the open index.
    create(&mut unsafe { Pages::of_empty(index) });
}

/// Calls back with each row that the index has to have, and returns the number of rows of the table.
///
/// # Safety
/// Table and index must be open, and the information must be that on the index. The callback must expect this
/// state.
pub(super) unsafe fn scan_table(
    table: pg_sys::Relation,
    index: pg_sys::Relation,
    info: *mut pg_sys::IndexInfo,
    callback: pg_sys::IndexBuildCallback,
    state: *mut c_void,
) -> f64 {
    // SAFETY: promised by the caller. From the first block to the last; a scan of another backend may be
    // joined, and progress is reported.
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
    _index: pg_sys::Relation,
    tid: pg_sys::ItemPointer,
    values: *mut pg_sys::Datum,
    is_null: *mut bool,
    _is_alive: bool,
    rows: *mut c_void,
) {
    // SAFETY: called by the scan with the state that we passed to it, and with a row.
    let (rows, fingerprint, row) =
        unsafe { (&mut *rows.cast::<ScannedRows>(), fingerprint(values, is_null), row_of(*tid)) };
    let sorter = if fingerprint.is_some() { &mut rows.values } else { &mut rows.nulls };
    let added = sorter.add(&mut rows.files, fingerprint.unwrap_or(0), row);
    added.map_err(report::problem).unwrap_or_report();
}

/// Writes each tree from its sorted keys.
fn write(rows: ScannedRows, pages: &mut Pages, fill: usize) {
    let ScannedRows { mut files, mut values, mut nulls } = rows;
    let all = values.count() * u64::from(NULLS) + nulls.count();
    progress(pg_sys::PROGRESS_CREATEIDX_SUBPHASE, WRITING);
    progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_TOTAL, all as i64);
    let mut done = 0;
    for tree in 0..TREES as u8 {
        let sorter = if tree == NULLS { &mut nulls } else { &mut values };
        sorter.sorted(&mut files, tree, |keys| {
            let keys = keys.inspect(|_| {
                done += 1;
                if done % 100_000 == 0 {
                    check_for_interrupts();
                    progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_DONE, done);
                }
            });
            write_tree(pages, tree, fill, keys);
        });
    }
    progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_DONE, done);
}
