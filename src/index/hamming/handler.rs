//! `hamming_handler`: returns the functions and properties of the access method.

use super::{build, hamming_cost, index_only, insert, options, scan, vacuum, validate};
use crate::pg::call::{Call, pg_functions};
use crate::pg::catalog::strategy::DISTANCE;
use crate::pg::compat::{give_routine, size_shared};
use crate::pg::index_cost::cost_function;
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
    // The first column has the codes; conditions on other columns filter rows.
    amcanmulticol: true,
    // The index could answer without a condition, but not always should: `src/plan/conditions/indexes.rs`.
    amoptionalkey: false,
    amsearchnulls: true,
    amusemaintenanceworkmem: false,
    // One worker may vacuum the index while others vacuum other indexes of the table.
    amparallelvacuumoptions: (pg_sys::VACUUM_OPTION_PARALLEL_BULKDEL
        | pg_sys::VACUUM_OPTION_PARALLEL_COND_CLEANUP) as u8,
    ambuild: Some(build::ambuild),
    ambuildempty: Some(build::ambuildempty),
    aminsert: Some(insert::aminsert),
    ambulkdelete: Some(vacuum::ambulkdelete),
    amvacuumcleanup: Some(vacuum::amvacuumcleanup),
    amcanreturn: Some(index_only::amcanreturn),
    amcostestimate: Some(cost_function::<hamming_cost::HammingCost>),
    amoptions: Some(options::amoptions),
    amproperty: Some(options::amproperty),
    ambuildphasename: Some(build::ambuildphasename),
    amvalidate: Some(validate::amvalidate),
    ambeginscan: Some(scan::ambeginscan),
    amrescan: Some(scan::amrescan),
    amgettuple: Some(scan::amgettuple),
    amgetbitmap: Some(scan::amgetbitmap),
    amendscan: Some(scan::amendscan),
    // For indexes where workers do not help, this is changed: `src/plan/conditions/indexes.rs`.
    amcanparallel: true,
    amestimateparallelscan: Some(size_shared::<SharedStretches>),
    aminitparallelscan: Some(scan::aminitparallelscan),
    amparallelrescan: Some(scan::amparallelrescan),
    ..NOTHING
};

/// An access method without functions or properties.
// SAFETY: zero is a number, false, or no function.
const NOTHING: pg_sys::IndexAmRoutine = unsafe { std::mem::zeroed() };
