//! `hamming_handler`: says to Postgres which functions and properties the access method has.

use super::{build, cost, insert, options, scan, vacuum, validate};
use crate::pg::call::pg_function;
use crate::pg::catalog::strategy::DISTANCE;
use pgrx::pg_sys;

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
