//! `sql/am.sql`: the access method `hamming`, exact search by Hamming distance.
//!
//! The algorithm is that of `crates/hamming_index`. Here is what Postgres asks of an access method, a file for
//! each of its phases; pages and log are in `src/pg/`.
#![allow(clippy::too_many_arguments, reason = "Postgres says what its callbacks are called with")]

mod build;
mod cost;
mod insert;
mod inspect;
mod options;
mod scan;
mod vacuum;
mod validate;

use crate::pg::call::pg_function;
use crate::pg::catalog::strategy::DISTANCE;
use hamming_index::key::RowId;
use pgrx::pg_sys;

pub(crate) use cost::is_hamming;
pub(crate) use options::register;

pg_function!(
    pg_finfo_hamming_handler,
    fn hamming_handler(_call) {
        // SAFETY: a node of this kind, in the memory of the caller, zero where nothing is said.
        let mut am = unsafe {
            pgrx::PgBox::<pg_sys::IndexAmRoutine>::alloc_node(pg_sys::NodeTag::T_IndexAmRoutine)
        };
        am.amstrategies = DISTANCE as u16;
        am.amcanorderbyop = true;
        // Every row is in the index, so it could answer without a condition: see `src/planner/indexes.rs`.
        am.amoptionalkey = false;
        am.amsearchnulls = true;
        am.amusemaintenanceworkmem = false;
        // One worker can have the index while others have other indexes of the table.
        am.amparallelvacuumoptions =
            (pg_sys::VACUUM_OPTION_PARALLEL_BULKDEL | pg_sys::VACUUM_OPTION_PARALLEL_COND_CLEANUP) as u8;
        am.ambuild = Some(build::ambuild);
        am.ambuildempty = Some(build::ambuildempty);
        am.aminsert = Some(insert::aminsert);
        am.ambulkdelete = Some(vacuum::ambulkdelete);
        am.amvacuumcleanup = Some(vacuum::amvacuumcleanup);
        am.amcostestimate = Some(cost::amcostestimate);
        am.amoptions = Some(options::amoptions);
        am.amproperty = Some(options::amproperty);
        am.ambuildphasename = Some(build::ambuildphasename);
        am.amvalidate = Some(validate::amvalidate);
        am.ambeginscan = Some(scan::ambeginscan);
        am.amrescan = Some(scan::amrescan);
        am.amgettuple = Some(scan::amgettuple);
        am.amgetbitmap = Some(scan::amgetbitmap);
        am.amendscan = Some(scan::amendscan);
        am.into_pg().into()
    }
);

/// A row as Postgres names it.
fn row_of(tid: pg_sys::ItemPointerData) -> RowId {
    RowId::new(u32::from(tid.ip_blkid.bi_hi) << 16 | u32::from(tid.ip_blkid.bi_lo), tid.ip_posid)
}

fn tid_of(row: RowId) -> pg_sys::ItemPointerData {
    let page = row.page();
    pg_sys::ItemPointerData {
        ip_blkid: pg_sys::BlockIdData { bi_hi: (page >> 16) as u16, bi_lo: page as u16 },
        ip_posid: row.offset(),
    }
}

/// The indexed value.
///
/// # Safety
/// There must be one value and one flag.
unsafe fn fingerprint(values: *mut pg_sys::Datum, is_null: *mut bool) -> Option<u64> {
    // SAFETY: promised by the caller.
    unsafe { (!*is_null).then(|| (*values).value() as u64) }
}
