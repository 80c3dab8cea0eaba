//! The window function `near_cluster`.

use super::error;
use crate::exec::near_cluster::{ClusterForm, ClusterRadius, ClusterRows, KeeperKey, RowKeepers};
use crate::pg::call::{Call, pg_functions};
use crate::pg::code::CodeType;
use crate::pg::encoding::to_utf8;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{SqlError, UnwrapOrReport};
use crate::pg::value::Value;
use crate::pg::window::WindowPartition;
use base::choose;
use hamming::clusters::LINKAGES;
use pgrx::pg_sys::Datum;

pg_functions!(near_cluster);

/// The arguments of `near_cluster`. The last one is the linkage, after these or after the first three.
const KEY: i32 = 0;
const CODE: i32 = 1;
const RADIUS: i32 = 2;
const SECOND_CODE: i32 = 3;
const SECOND_RADIUS: i32 = 4;

/// The hint of a second radius, which was perhaps left out.
const SECOND_HINT: &str = "The default of second_radius is 30, for second codes of 256 bits.";

/// The key of the keeper of the current row. PostgreSQL calls this for each row of a partition, in order. The
/// clusters are computed at the first row.
fn near_cluster(call: Call, mut partition: WindowPartition) -> Datum {
    let keepers = partition.state(|partition| keepers_of(partition).unwrap_or_report());
    let key = match keepers.next_key().unwrap_or_report() {
        KeeperKey::Kept(key) => key.map(Value::datum),
        KeeperKey::Own => partition.argument(KEY).map(Value::datum),
    };
    key.unwrap_or_else(|| call.null())
}

/// Reads the whole partition, and computes its clusters.
fn keepers_of(partition: &mut WindowPartition) -> Result<RowKeepers, SqlError> {
    let last = partition.arguments() - 1;
    let radius = radius_of(partition, RADIUS, "radius", None)?;
    let linkage = partition.argument(last).and_then(Value::as_text);
    let linkage = to_utf8(linkage.ok_or_else(|| error::null_argument("linkage"))?)?;
    let linkage = choose("linkage", &linkage, &LINKAGES)?;
    let key = partition.argument_type(KEY);
    let rows = partition.rows();
    let rows = i32::try_from(rows).map_err(|_| error::too_many(rows, "codes"))?;
    // Bounded: at most two codes.
    let mut radii = vec![radius];
    let mut arguments = vec![KEY, CODE];
    if last > SECOND_RADIUS {
        radii.push(radius_of(partition, SECOND_RADIUS, "second_radius", Some(SECOND_HINT))?);
        arguments.push(SECOND_CODE);
    }
    let type_of = |&code: &i32| CodeType::of(partition.argument_type(code));
    let types = arguments[1..].iter().filter_map(type_of).collect();
    let form = ClusterForm { linkage, types, radii, key };
    let mut all = ClusterRows::new(&form);
    partition.each(&arguments, rows, |values| {
        check_for_interrupts();
        all.push(values[0], &values[1..])
    })?;
    all.end(rows as usize)
}

/// A radius at the current row, which must not be NULL.
fn radius_of(
    partition: &mut WindowPartition,
    argument: i32,
    name: &'static str,
    hint: Option<&'static str>,
) -> Result<ClusterRadius, SqlError> {
    let bits = partition.argument(argument).and_then(Value::as_integer);
    bits.map(|bits| ClusterRadius { bits, name, hint }).ok_or_else(|| error::null_argument(name))
}
