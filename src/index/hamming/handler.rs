//! `hamming_handler`: says to Postgres which functions and properties the access method has.

use super::{build, cost, index_only, insert, options, parallel, scan, vacuum, validate};
use crate::pg::call::{Call, pg_functions};
use crate::pg::catalog::strategy::DISTANCE;
use crate::pg::compat::{give_routine, size_shared};
use hamming_index::SharedStretches;
use pgrx::pg_sys;

pg_functions!(hamming_handler);

fn hamming_handler(_: Call) -> pg_sys::Datum {
    give_routine(&ROUTINE).into()
}

/// The functions and properties of the access method.
static ROUTINE: pg_sys::IndexAmRoutine = pg_sys::IndexAmRoutine {
    type_: pg_sys::NodeTag::T_IndexAmRoutine,
    amstrategies: DISTANCE as u16,
    amcanorderbyop: true,
    // The first column has the codes; by others rows are filtered.
    amcanmulticol: true,
    // Every row is in the index, so it could answer without a condition: `src/plan/conditions/indexes.rs`.
    amoptionalkey: false,
    amsearchnulls: true,
    amusemaintenanceworkmem: false,
    // One worker can have the index while others have other indexes of the table.
    amparallelvacuumoptions: (pg_sys::VACUUM_OPTION_PARALLEL_BULKDEL
        | pg_sys::VACUUM_OPTION_PARALLEL_COND_CLEANUP) as u8,
    ambuild: Some(build::ambuild),
    ambuildempty: Some(build::ambuildempty),
    aminsert: Some(insert::aminsert),
    ambulkdelete: Some(vacuum::ambulkdelete),
    amvacuumcleanup: Some(vacuum::amvacuumcleanup),
    amcanreturn: Some(index_only::amcanreturn),
    amcostestimate: Some(cost::amcostestimate),
    amoptions: Some(options::amoptions),
    amproperty: Some(options::amproperty),
    ambuildphasename: Some(build::ambuildphasename),
    amvalidate: Some(validate::amvalidate),
    ambeginscan: Some(scan::ambeginscan),
    amrescan: Some(scan::amrescan),
    amgettuple: Some(scan::amgettuple),
    amgetbitmap: Some(scan::amgetbitmap),
    amendscan: Some(scan::amendscan),
    // Where that does not help, the planner is told so: `src/plan/conditions/indexes.rs`.
    amcanparallel: true,
    amestimateparallelscan: Some(size_shared::<SharedStretches>),
    aminitparallelscan: Some(parallel::aminitparallelscan),
    amparallelrescan: Some(parallel::amparallelrescan),
    ..NOTHING
};

/// What an access method is that says nothing of itself.
// SAFETY: zero is a number, false, or no function.
const NOTHING: pg_sys::IndexAmRoutine = unsafe { std::mem::zeroed() };
