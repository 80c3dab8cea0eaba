//! The window function `near_cluster`.

use super::error;
use super::row_codes::CodesOfRows;
use crate::pg::call::{Call, pg_functions};
use crate::pg::code::CodeType;
use crate::pg::encoding::to_utf8;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{SqlError, UnwrapOrReport};
use crate::pg::window::WindowPartition;
use base::{collect, grow_map};
use pgrx::{FromDatum, pg_sys};
use std::collections::HashMap;
use std::iter;

/// The clusters of a partition, and the keys of the keepers that the window has passed.
struct Clusters {
    keepers: Vec<u32>,
    has_members: Vec<bool>,
    keys: HashMap<u32, Option<pg_sys::Datum>>,
}

/// The arguments of `near_cluster`, apart from the last one, the linkage.
const KEY: i32 = 0;
const CODE: i32 = 1;
const RADIUS: i32 = 2;
const SECOND_CODE: i32 = 3;
const SECOND_RADIUS: i32 = 4;

/// The types of codes that this `near_cluster` is declared with.
#[derive(Clone, Copy)]
struct Declared {
    codes: CodeType,
    has_second: bool,
}

impl Clusters {
    /// The clusters of the window's current partition, computed at its first row.
    fn state(partition: &mut WindowPartition, declared: Declared) -> &mut Self {
        partition.state(|partition| Self::of(partition, declared).unwrap_or_report())
    }

    /// Reads the whole partition, and computes its clusters.
    fn of(partition: &WindowPartition, declared: Declared) -> Result<Self, SqlError> {
        let linkage = partition.argument(if declared.has_second { SECOND_RADIUS + 1 } else { SECOND_CODE });
        // SAFETY: the argument is declared as text, and is not NULL here.
        let linkage = linkage.and_then(|linkage| unsafe { <&[u8]>::from_datum(linkage, false) });
        let radius = integer(partition, RADIUS, "radius")?;
        let linkage = to_utf8(linkage.ok_or_else(|| error::null_argument("linkage"))?)?.parse()?;
        let rows = partition.rows();
        let rows = i32::try_from(rows).map_err(|_| error::too_many(rows, "codes"))?;
        let [mut codes, mut second_codes] = codes(partition, declared, rows)?;
        let mut second = None;
        if declared.has_second {
            codes.meet(&mut second_codes)?;
            second = Some((&second_codes, integer(partition, SECOND_RADIUS, "second_radius")?));
        }
        let keepers = codes.keepers(rows as usize, radius, second, linkage)?;
        let count = keepers.len();
        let mut has_members = collect(iter::repeat_n(false, count), count)?;
        for (row, &keeper) in keepers.iter().enumerate() {
            has_members[keeper as usize] |= row as u32 != keeper;
        }
        Ok(Self { keepers, has_members, keys: HashMap::new() })
    }
}

/// An argument at the current row, which must not be NULL.
fn integer(partition: &WindowPartition, argument: i32, name: &str) -> Result<i32, SqlError> {
    // SAFETY: the argument is declared as integer, and is not NULL here.
    let value = partition.argument(argument).and_then(|value| unsafe { i32::from_datum(value, false) });
    value.ok_or_else(|| error::null_argument(name))
}

/// The codes of all rows, and their second codes if the function takes them.
fn codes(partition: &WindowPartition, declared: Declared, rows: i32) -> Result<[CodesOfRows; 2], SqlError> {
    let arguments: &[i32] = if declared.has_second { &[CODE, SECOND_CODE] } else { &[CODE] };
    let second_codes = if declared.has_second { rows as usize } else { 0 };
    let mut codes =
        [CodesOfRows::new(declared.codes, rows as usize)?, CodesOfRows::new(CodeType::Bits, second_codes)?];
    partition.each(arguments, rows, |row, place, code| {
        check_for_interrupts();
        // SAFETY: `sql/pairs.sql` declares arguments of these types.
        unsafe { codes[place].push(row as usize, code) }
    })?;
    Ok(codes)
}

/// Defines a `near_cluster` for types of codes. PostgreSQL calls it for each row of a partition, in order.
macro_rules! near_cluster {
    ($($name:ident($codes:expr, $has_second:expr);)*) => {
        pg_functions!($($name),*);
        $(fn $name(call: Call) -> pg_sys::Datum {
            // SAFETY: `sql/pairs.sql` declares the function as WINDOW.
            unsafe { keeper(call, Declared { codes: $codes, has_second: $has_second }) }
        })*
    };
}

near_cluster! {
    near_cluster_of_bigint(CodeType::Bigint, false);
    near_cluster_of_bit(CodeType::Bits, false);
    near_cluster_of_bigint_second(CodeType::Bigint, true);
    near_cluster_of_bit_second(CodeType::Bits, true);
}

/// The key of the keeper of the current row.
///
/// # Safety
/// The call must be of a function declared WINDOW, with codes of these types.
unsafe fn keeper(call: Call, declared: Declared) -> pg_sys::Datum {
    // SAFETY: it is the call of a window function, as the caller promises.
    let mut partition = unsafe { WindowPartition::of(call) };
    let row = partition.current_row() as usize;
    let key = partition.argument(KEY);
    let clusters = Clusters::state(&mut partition, declared);
    let keeper = clusters.keepers.get(row).copied().unwrap_or(row as u32);
    let key = if keeper as usize != row {
        // A keeper comes before the other members of its cluster.
        clusters.keys.get(&keeper).copied().flatten()
    } else if clusters.has_members[row] {
        let kept = key.map(|key| partition.keep(KEY, key));
        let keys = &mut Clusters::state(&mut partition, declared).keys;
        grow_map(keys, 1).unwrap_or_report();
        keys.insert(keeper, kept);
        key
    } else {
        key
    };
    key.unwrap_or_else(|| call.null())
}
