//! `clusters_of_pairs`: clusters of near pairs that are given as arrays.

use super::error;
use crate::pg::call::{Call, Utf8, pg_functions};
use crate::pg::elements::{ArrayElements, OrderedElements};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use crate::pg::result_set::ResultSet;
use base::{OutOfMemory, choose, collect, push};
use hamming::clusters::{LINKAGES, keepers_of_pairs};
use pgrx::pg_sys::Datum;

pg_functions!(clusters_of_pairs);

/// Returns each key with the smallest key of its cluster.
fn clusters_of_pairs(
    a: ArrayElements<'_>,
    b: ArrayElements<'_>,
    linkage: Utf8<'_>,
    call: Call,
    mut rows: ResultSet,
) -> Result<(), SqlError> {
    let linkage = choose("linkage", &linkage, &LINKAGES)?;
    if a.have_null() || b.have_null() {
        return Err(error::null_key());
    }
    let all = OrderedElements::of([&a, &b], call)?;
    let count = a.len();
    if count != b.len() {
        return Err(error::ends_differ_in_number(count, b.len()));
    }
    // The ends of pairs are numbered from 0: first those in `a`, then those in `b`.
    let ends = u32::try_from(2 * count).map_err(|_| error::too_many(count as i64, "pairs"))?;
    let (keys, places) = distinct(ends, &all)?;
    let pairs = places[..count].iter().copied().zip(places[count..].iter().copied());
    let mut pairs = collect(pairs, count)?;
    drop(places);
    let found = keepers_of_pairs(keys.len() as u32, &mut pairs, linkage, &mut check_for_interrupts);
    for (&key, keeper) in keys.iter().zip(found?) {
        check_for_interrupts();
        rows.put([Some(key), Some(keys[keeper as usize])]);
    }
    Ok(())
}

/// The distinct keys in ascending order, and for each end of a pair the place of its key in that order.
fn distinct(ends: u32, all: &OrderedElements<'_>) -> Result<(Vec<Datum>, Vec<u32>), OutOfMemory> {
    let compare = |a: u32, b: u32| {
        check_for_interrupts();
        all.compare(a as usize, b as usize)
    };
    let mut sorted = collect(0..ends, ends as usize)?;
    sorted.sort_unstable_by(|&a, &b| compare(a, b));
    let mut places = collect(std::iter::repeat_n(0, ends as usize), ends as usize)?;
    let mut keys = Vec::new();
    for equal in sorted.chunk_by(|&a, &b| compare(a, b).is_eq()) {
        equal.iter().for_each(|&end| places[end as usize] = keys.len() as u32);
        push(&mut keys, all.get(equal[0] as usize))?;
    }
    Ok((keys, places))
}
