//! Decides whether a row that has some of the keys matches.

use super::keys::KeysNeeded;
use crate::pg::call::{Call, pg_functions};
use crate::pg::interrupts::check_for_interrupts;
use pgrx::pg_sys::{self, Datum, GinTernaryValue};

/// For each key: whether the row has it, does not have it, or may have it.
fn found<'a>(call: Call) -> &'a [GinTernaryValue] {
    // SAFETY: the first argument is GIN's array with a value for each key, and the fourth is its length.
    unsafe { std::slice::from_raw_parts(call.pointer(0), call.integer(3).max(0) as usize) }
}

/// How many of the values equal `wanted`.
fn count(found: &[GinTernaryValue], wanted: u32) -> usize {
    found.iter().map(|&value| usize::from(value as u32 == wanted)).sum()
}

/// Whether a row matches, as a ternary value.
fn consistent(needed: &KeysNeeded, found: &[GinTernaryValue]) -> u32 {
    let Some((values, sizes)) = found.split_at_checked(needed.values) else { return pg_sys::GIN_MAYBE };
    // Of the size classes that the row may have, the smallest needs the fewest values.
    let may_be = |&size: &GinTernaryValue| size as u32 != pg_sys::GIN_FALSE;
    let size = if sizes.is_empty() { Some(0) } else { sizes.iter().position(may_be) };
    let Some(&least) = size.and_then(|size| needed.least.get(size)) else { return pg_sys::GIN_FALSE };
    let has = count(values, pg_sys::GIN_TRUE);
    let most = has + count(values, pg_sys::GIN_MAYBE);
    if has >= least && needed.is_exact {
        pg_sys::GIN_TRUE
    } else if most >= least {
        pg_sys::GIN_MAYBE
    } else {
        pg_sys::GIN_FALSE
    }
}

pg_functions!(gin_sketch_consistent);

fn gin_sketch_consistent(call: Call) -> Datum {
    check_for_interrupts();
    let found = found(call);
    if found.is_empty() {
        // The query has no keys, and GIN calls this for every row.
        return pg_sys::GIN_MAYBE.into();
    }
    // SAFETY: `gin_sketch_query_keys` has returned such a pointer for each key, and GIN passes the pointers
    // as the fifth argument.
    let needed = unsafe { &**call.pointer::<*mut KeysNeeded<'_>>(4) };
    consistent(needed, found).into()
}
