//! `near_cluster`, a window function.

use super::clusters::parse_linkage;
use super::error;
use super::row_codes::CodesOfRows;
use crate::pg::call::{Call, pg_function};
use crate::pg::code::CodeType;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{self, SqlError};
use crate::pg::window::WindowPartition;
use limits::{collect, grow_map};
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::{FromDatum, pg_sys};
use std::collections::HashMap;
use std::iter;

/// The clusters of a partition, and the keys of the keepers of members that have been passed.
struct Clusters {
    keepers: Vec<u32>,
    has_members: Vec<bool>,
    keys: HashMap<u32, Option<pg_sys::Datum>>,
}

/// The arguments of `near_cluster`.
const KEY: i32 = 0;
const CODE: i32 = 1;
const RADIUS: i32 = 2;
const LINKAGE: i32 = 3;

impl Clusters {
    /// The clusters of the partition that a window is at, computed at its first row.
    fn state(partition: &mut WindowPartition, type_: CodeType) -> &mut Self {
        partition.state(|partition| Self::of(partition, type_).unwrap_or_report())
    }

    /// Reads the whole partition.
    fn of(partition: &WindowPartition, type_: CodeType) -> Result<Self, SqlError> {
        let radius = partition.argument(RADIUS).and_then(|radius| {
            // SAFETY: declared as integer; not NULL.
            unsafe { i32::from_datum(radius, false) }
        });
        let linkage = partition.argument(LINKAGE).and_then(|linkage| {
            // SAFETY: declared as text; not NULL.
            unsafe { <&[u8]>::from_datum(linkage, false) }
        });
        let radius = radius.ok_or_else(|| error::null_argument("radius"))?;
        let linkage = parse_linkage(linkage.ok_or_else(|| error::null_argument("linkage"))?)?;
        let rows = partition.rows();
        let rows = i32::try_from(rows).map_err(|_| error::too_many_codes(rows as usize))?;
        let mut row_codes = CodesOfRows::new(type_, rows as usize)?;
        partition.each(CODE, rows, |row, code| {
            check_for_interrupts();
            // SAFETY: declared so in `sql/pairs.sql`.
            unsafe { row_codes.push(row as usize, code) }
        })?;
        let keepers = row_codes.keepers("near_cluster", rows as usize, radius, linkage)?;
        let count = keepers.len();
        let mut has_members = collect(iter::repeat_n(false, count), count).map_err(report::problem)?;
        for (row, &keeper) in keepers.iter().enumerate() {
            has_members[keeper as usize] |= row as u32 != keeper;
        }
        Ok(Self { keepers, has_members, keys: HashMap::new() })
    }
}

pg_function!(pg_finfo_near_cluster_of_bigint,
/// A window calls this for each row of a partition, in order.
fn near_cluster_of_bigint(call) {
    // SAFETY: declared WINDOW in `sql/pairs.sql`.
    unsafe { keeper(call, CodeType::Bigint) }
});

pg_function!(pg_finfo_near_cluster_of_bit,
/// A window calls this for each row of a partition, in order.
fn near_cluster_of_bit(call) {
    // SAFETY: declared WINDOW in `sql/pairs.sql`.
    unsafe { keeper(call, CodeType::Bits) }
});

/// The key of the keeper of the current row.
///
/// # Safety
/// The call must be that of a function declared WINDOW, whose codes are of this type.
unsafe fn keeper(call: Call, type_: CodeType) -> pg_sys::Datum {
    // SAFETY: the call of a window function, as the caller promises.
    let mut partition = unsafe { WindowPartition::of(call) };
    let row = partition.current_row() as usize;
    let key = partition.argument(KEY);
    let clusters = Clusters::state(&mut partition, type_);
    let keeper = clusters.keepers.get(row).copied().unwrap_or(row as u32);
    let key = if keeper as usize != row {
        // A keeper comes before its members.
        clusters.keys.get(&keeper).copied().flatten()
    } else if clusters.has_members[row] {
        let kept = key.map(|key| partition.keep(KEY, key));
        let keys = &mut Clusters::state(&mut partition, type_).keys;
        grow_map(keys, 1).map_err(report::problem).unwrap_or_report();
        keys.insert(keeper, kept);
        key
    } else {
        key
    };
    key.unwrap_or_else(|| call.null())
}
