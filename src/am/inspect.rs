//! What an index consists of, and whether it is sound.

use super::build::{ambuild, scan_table};
use super::{fingerprint, row_of};
use crate::pg::compat::restrict_search_path;
use crate::pg::error;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::storage::pages::Pages;
use hamming_index::cost::{leaves_in, pages_read};
use hamming_index::key::{BANDS, NULLS, RowId, keys_of};
use hamming_index::page::LEAF_CAPACITY;
use hamming_index::store::Store;
use hamming_index::{Damage, Index, root};
use pgrx::iter::TableIterator;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::{name, pg_extern, pg_guard, pg_sys};
use std::ffi::{CStr, c_void};

/// An index of our type and its table, open, and locked until the end of the transaction.
///
/// What the index computes is computed as the owner of the table, who may do no more than that: so nobody else's
/// rights can be borrowed by an expression or a predicate.
struct Opened {
    table: pg_sys::Relation,
    index: pg_sys::Relation,
    caller: (pg_sys::Oid, i32),
    settings_level: i32,
}

impl Opened {
    fn new(index: pg_sys::Oid, lock: u32) -> Self {
        // SAFETY: looks up and opens relations, or raises an error, after which the transaction's end undoes all
        // of it; the table is locked first, as everywhere.
        unsafe {
            let table_id = pg_sys::IndexGetRelation(index, true);
            if table_id == pg_sys::InvalidOid {
                Err(error::not_a_hamming_index(&relation_name(index))).unwrap_or_report()
            }
            let table = pg_sys::table_open(table_id, lock as i32);
            let mut caller = (pg_sys::InvalidOid, 0);
            pg_sys::GetUserIdAndSecContext(&raw mut caller.0, &raw mut caller.1);
            let restricted = caller.1 | pg_sys::SECURITY_RESTRICTED_OPERATION as i32;
            pg_sys::SetUserIdAndSecContext((*(*table).rd_rel).relowner, restricted);
            let settings_level = pg_sys::NewGUCNestLevel();
            restrict_search_path();
            let index = pg_sys::index_open(index, lock as i32);
            let opened = Self { table, index, caller, settings_level };
            opened.check_kind(table_id);
            opened
        }
    }

    /// Raises an error if it is not what it ought to be.
    fn check_kind(&self, table: pg_sys::Oid) {
        // SAFETY: open.
        unsafe {
            let class = &*(*self.index).rd_rel;
            let entry = &*(*self.index).rd_index;
            let name = CStr::from_ptr(class.relname.data.as_ptr());
            let routines = (*self.index).rd_indam.as_ref();
            let build = routines.and_then(|routines| routines.ambuild).map(|build| build as *const ());
            let is_ours = class.relkind as u8 == pg_sys::RELKIND_INDEX && build == Some(ambuild as *const ());
            if !is_ours || entry.indrelid != table {
                Err(error::not_a_hamming_index(name)).unwrap_or_report()
            }
            if !entry.indisvalid {
                Err(error::invalid_index(name)).unwrap_or_report()
            }
            if class.relpersistence as u8 == pg_sys::RELPERSISTENCE_TEMP && !(*self.index).rd_islocaltemp {
                Err(error::other_session(name)).unwrap_or_report()
            }
        }
    }

    /// Whether a snapshot of this transaction may be older than the index may be used for.
    fn is_too_new(&self) -> bool {
        // SAFETY: open; a setting of the transaction.
        unsafe {
            pg_sys::XactIsoLevel >= pg_sys::XACT_REPEATABLE_READ as i32
                && (*(*self.index).rd_index).indcheckxmin
        }
    }

    /// Whether a vacuum has found the row to be dead and will remove it: what its place on the page of the table says.
    /// A vacuum that was stopped has removed it from some trees only.
    fn is_dead(&self, row: RowId) -> bool {
        // SAFETY: open, so that nobody shortens it; the page is locked while it is looked at.
        unsafe {
            let main = pg_sys::ForkNumber::MAIN_FORKNUM;
            if row.page() >= pg_sys::RelationGetNumberOfBlocksInFork(self.table, main) {
                return false;
            }
            let buffer = pg_sys::ReadBuffer(self.table, row.page());
            pg_sys::LockBuffer(buffer, pg_sys::BUFFER_LOCK_SHARE as i32);
            // (PostgreSQL's own functions for this are inline since 16, and so not in its library.)
            let page = &*pg_sys::BufferGetPage(buffer).cast::<pg_sys::PageHeaderData>();
            let bytes = usize::from(page.pd_lower).saturating_sub(size_of::<pg_sys::PageHeaderData>());
            let items = page.pd_linp.as_slice(bytes / size_of::<pg_sys::ItemIdData>());
            let item = usize::from(row.offset()).checked_sub(1).and_then(|place| items.get(place));
            let is_dead = item.is_some_and(|item| item.lp_flags() == pg_sys::LP_DEAD);
            pg_sys::UnlockReleaseBuffer(buffer);
            is_dead
        }
    }

    fn pages(&self) -> Pages {
        // SAFETY: open until we are dropped, which is after what is returned here.
        unsafe { Pages::of(self.index) }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let keep_lock = pg_sys::NoLock as i32;
            // SAFETY: opened by us.
            unsafe {
                pg_sys::AtEOXact_GUC(false, self.settings_level);
                pg_sys::SetUserIdAndSecContext(self.caller.0, self.caller.1);
                pg_sys::index_close(self.index, keep_lock);
                pg_sys::table_close(self.table, keep_lock);
            }
        }
    }
}

/// The name of a relation, or what is said instead of one.
fn relation_name(relation: pg_sys::Oid) -> std::ffi::CString {
    // SAFETY: looks the name up, and copies it if there is one.
    unsafe {
        let name = pg_sys::get_rel_name(relation);
        if name.is_null() { c"?".to_owned() } else { CStr::from_ptr(name).to_owned() }
    }
}

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, reason = "the columns of the result")]
fn hamming_index_stats(
    index: pg_sys::Oid,
) -> TableIterator<
    'static,
    (
        name!(rows, i64),
        name!(nulls, i64),
        name!(bands, i32),
        name!(pages, i64),
        name!(leaf_pages, i64),
        name!(inner_pages, i64),
        name!(unused_pages, i64),
        name!(height, i32),
        name!(fill, f32),
        name!(expected_pages, Vec<i32>),
    ),
> {
    let opened = Opened::new(index, pg_sys::AccessShareLock);
    let pages = opened.pages();
    let totals = Index::new(&pages).totals();
    let sum = |part: fn(&hamming_index::Totals) -> u64| totals.iter().map(part).sum::<u64>() as i64;
    let pages = pages.pages();
    let (leaves, inner, all) = (sum(|tree| tree.leaves), sum(|tree| tree.inner), i64::from(pages));
    let fill = sum(|tree| tree.entries) as f32 / (leaves * LEAF_CAPACITY as i64) as f32;
    let expected = (0..=u64::BITS).map(|radius| pages_read(leaves_in(pages), radius).round() as i32);
    TableIterator::once((
        totals[0].entries as i64,
        totals[usize::from(NULLS)].entries as i64,
        BANDS as i32,
        all,
        leaves,
        inner,
        all - leaves - inner,
        totals.iter().map(|tree| tree.height).max().unwrap_or(0) as i32,
        fill,
        expected.collect(),
    ))
}

#[pg_extern(sql = false)]
fn hamming_index_check(
    index: pg_sys::Oid,
    heapallindexed: bool,
) -> TableIterator<'static, (name!(block, i64), name!(problem, String))> {
    // Nobody writes meanwhile, so that everything has to fit.
    let opened = Opened::new(index, pg_sys::ShareLock);
    let pages = opened.pages();
    let mut problems = Vec::new();
    Index::new(&pages).verify(&mut |row| opened.is_dead(row), &mut |problem| problems.push(problem));
    // What is broken cannot be searched.
    if heapallindexed && problems.is_empty() {
        look_up_rows(&opened, &pages, &mut problems);
    }
    TableIterator::new(problems.into_iter().map(|problem| (problem.block.into(), problem.text)))
}

/// Missing rows that are listed.
const MAX_MISSING: usize = 1000;

/// What the scan of the table is compared with.
struct LookUp<'a> {
    index: Index<'a, Pages>,
    problems: &'a mut Vec<Damage>,
}

/// Looks up each row of the table in all trees.
fn look_up_rows(opened: &Opened, pages: &Pages, problems: &mut Vec<Damage>) {
    let mut look_up = LookUp { index: Index::new(pages), problems };
    // SAFETY: both are open; the callback gets what is passed here.
    unsafe {
        if opened.is_too_new() {
            Err(error::index_too_new()).unwrap_or_report()
        }
        let info = pg_sys::BuildIndexInfo(opened.index);
        // Asks for the rows that a snapshot sees: an index that was built concurrently has no others.
        (*info).ii_Concurrent = true;
        let state: *mut c_void = (&raw mut look_up).cast();
        scan_table(opened.table, opened.index, info, Some(look_up_row), state);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn look_up_row(
    _index: pg_sys::Relation,
    tid: pg_sys::ItemPointer,
    values: *mut pg_sys::Datum,
    is_null: *mut bool,
    _is_alive: bool,
    state: *mut c_void,
) {
    check_for_interrupts();
    // SAFETY: called by the scan with what we passed to it, and with a row.
    let (look_up, fingerprint, row) =
        unsafe { (&mut *state.cast::<LookUp>(), fingerprint(values, is_null), row_of(*tid)) };
    for (tree, key) in keys_of(fingerprint, row) {
        if look_up.problems.len() < MAX_MISSING && !look_up.index.has(tree, key) {
            look_up.problems.push(Damage { block: root(tree), text: missing(row, fingerprint, tree) });
        }
    }
}

fn missing(row: RowId, fingerprint: Option<u64>, tree: u8) -> String {
    let row = format!("row ({},{})", row.page(), row.offset());
    match fingerprint {
        Some(value) => format!("{row} with fingerprint {} is missing in band {tree}", value as i64),
        None => format!("{row} is missing among those whose fingerprint is NULL"),
    }
}
