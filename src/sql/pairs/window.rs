//! The window function `near_cluster`.

use super::error;
use super::keepers::{ClusterRows, Clustering, Radius, RowKeepers};
use crate::pg::call::{Call, pg_functions};
use crate::pg::code::CodeType;
use crate::pg::encoding::to_utf8;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{SqlError, UnwrapOrReport};
use crate::pg::window::WindowPartition;
use pgrx::{FromDatum, pg_sys};

/// The arguments of `near_cluster`, apart from the last one, the linkage.
const KEY: i32 = 0;
const CODE: i32 = 1;
const RADIUS: i32 = 2;
const SECOND_CODE: i32 = 3;
const SECOND_RADIUS: i32 = 4;

/// The hint of a second radius, which was perhaps left out.
const SECOND_HINT: &str = "The default of second_radius is 50, for second codes of 256 bits.";

/// Reads the whole partition, and computes its clusters.
fn keepers_of(
    partition: &WindowPartition,
    codes: CodeType,
    has_second: bool,
) -> Result<RowKeepers, SqlError> {
    let linkage = partition.argument(if has_second { SECOND_RADIUS + 1 } else { SECOND_CODE });
    // SAFETY: the argument is declared as text, and is not NULL here.
    let linkage = linkage.and_then(|linkage| unsafe { <&[u8]>::from_datum(linkage, false) });
    let radius = radius_of(partition, RADIUS, "radius", None)?;
    let linkage = to_utf8(linkage.ok_or_else(|| error::null_argument("linkage"))?)?.parse()?;
    let (key, memory) = (partition.layout(KEY), partition.memory());
    // Bounded: at most two codes.
    let (mut types, mut radii, mut arguments) = (vec![codes], vec![radius], vec![KEY, CODE]);
    let rows = partition.rows();
    let rows = i32::try_from(rows).map_err(|_| error::too_many(rows, "codes"))?;
    if has_second {
        types.push(CodeType::Bits);
        radii.push(radius_of(partition, SECOND_RADIUS, "second_radius", Some(SECOND_HINT))?);
        arguments.push(SECOND_CODE);
    }
    let clustering = Clustering { linkage, types, radii, key, memory };
    let mut all = ClusterRows::new(&clustering);
    partition.each(&arguments, rows, |values| {
        check_for_interrupts();
        // SAFETY: `sql/pairs.sql` declares arguments of these types.
        unsafe { all.push(values[0], &values[1..]) }
    })?;
    all.end(rows as usize)
}

/// A radius at the current row, which must not be NULL.
fn radius_of(
    partition: &WindowPartition,
    argument: i32,
    name: &'static str,
    hint: Option<&'static str>,
) -> Result<Radius, SqlError> {
    // SAFETY: the argument is declared as integer, and is not NULL here.
    let bits = partition.argument(argument).and_then(|value| unsafe { i32::from_datum(value, false) });
    bits.map(|bits| Radius { bits, name, hint }).ok_or_else(|| error::null_argument(name))
}

/// Defines a `near_cluster` for types of codes. PostgreSQL calls it for each row of a partition, in order.
macro_rules! near_cluster {
    ($($name:ident($codes:expr, $has_second:expr);)*) => {
        pg_functions!($($name),*);
        $(fn $name(call: Call) -> pg_sys::Datum {
            // SAFETY: `sql/pairs.sql` declares the function as WINDOW.
            unsafe { keeper(call, $codes, $has_second) }
        })*
    };
}

near_cluster! {
    near_cluster_of_bigint(CodeType::Bigint, false);
    near_cluster_of_bit(CodeType::Bits, false);
    near_cluster_of_bigint_second(CodeType::Bigint, true);
    near_cluster_of_bit_second(CodeType::Bits, true);
}

/// The key of the keeper of the current row. The clusters are computed at the first row of a partition.
///
/// # Safety
/// The call must be of a function declared WINDOW, with codes of these types.
unsafe fn keeper(call: Call, codes: CodeType, has_second: bool) -> pg_sys::Datum {
    // SAFETY: it is the call of a window function, as the caller promises.
    let mut partition = unsafe { WindowPartition::of(call) };
    let row = partition.current_row() as usize;
    let keepers = partition.state(|partition| keepers_of(partition, codes, has_second).unwrap_or_report());
    keepers.key(row).unwrap_or_report().unwrap_or_else(|| call.null())
}
