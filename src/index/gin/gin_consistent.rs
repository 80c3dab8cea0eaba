//! Decides whether a row that has some of the keys matches.

use super::keys::KeysNeeded;
use crate::pg::call::pg_functions;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::operator_class::FoundKeys;
use pgrx::pg_sys::{self, Datum, GinTernaryValue};

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

fn gin_sketch_consistent(keys: FoundKeys) -> Datum {
    check_for_interrupts();
    let found = keys.found();
    if found.is_empty() {
        // The query has no keys, and GIN calls this for every row.
        return pg_sys::GIN_MAYBE.into();
    }
    consistent(keys.kept(), found).into()
}
