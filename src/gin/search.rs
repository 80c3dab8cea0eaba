//! Searching: whether a row that has some of the keys matches.

use super::keys::Wanted;
use crate::pg::call::{Call, pg_function};
use crate::pg::interrupts::check_for_interrupts;
use pgrx::pg_sys::{self, GinTernaryValue};

/// How many keys a row is known to have, and how many it may have besides.
fn count(call: Call) -> (usize, usize) {
    // SAFETY: GIN passes a value for each key as the first argument, and their number as the fourth.
    let has: &[GinTernaryValue] =
        unsafe { std::slice::from_raw_parts(call.pointer(0), call.integer(3).max(0) as usize) };
    let is = |wanted: u32| has.iter().map(|&value| usize::from(value as u32 == wanted)).sum();
    (is(pg_sys::GIN_TRUE), is(pg_sys::GIN_MAYBE))
}

pg_function!(
    pg_finfo_gin_sketch_consistent,
    fn gin_sketch_consistent(call) {
        check_for_interrupts();
        if call.integer(3) == 0 {
            // All rows are looked at.
            return pg_sys::Datum::from(pg_sys::GIN_MAYBE);
        }
        // SAFETY: `gin_sketch_query_keys` has written one of these for each key, and GIN passes them as the fifth
        // argument.
        let wanted = unsafe { **call.pointer::<*const Wanted>(4) };
        let (has, may_have) = count(call);
        pg_sys::Datum::from(if has + may_have < wanted.least {
            pg_sys::GIN_FALSE
        } else if has >= wanted.least && wanted.is_exact {
            pg_sys::GIN_TRUE
        } else {
            pg_sys::GIN_MAYBE
        })
    }
);
