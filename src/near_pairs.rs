//! `sql/near_pairs.sql`: near pairs block by block, with keys of any type, and clusters of such pairs.

use crate::dedup::{Given, parse_linkage};
use crate::pg::array::Numbers;
use crate::pg::bits::Bits;
use crate::pg::call::{Call, pg_function};
use crate::pg::codes::Kind;
use crate::pg::elements::{Elements, Key, Order};
use crate::pg::error;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::progress::Reporter;
use crate::pg::report::{self, SqlError};
use crate::pg::result_set::ResultSet;
use hamming::clusters::keepers_of_pairs;
use hamming::near_pairs::{PARTS, Partition};
use hamming::words::{Cutter, distance};
use limits::{Limit, OutOfMemory, Problem, collect, push, sort};
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::{IntoDatum, pg_extern, pg_sys};
use std::cell::RefCell;
use std::rc::Rc;

/// The bits of a code, the radius, and the number of parts.
type Parameters = (u32, i32, i32);

thread_local! {
    /// The partition of the last call. Most calls are those of one query, for one row after the other.
    static LAST: RefCell<Option<(Parameters, Rc<Partition>)>> = const { RefCell::new(None) };
}

fn partition(bits: u32, radius: i32, parts: i32) -> Result<Rc<Partition>, Problem> {
    let parameters = (bits, radius, parts);
    LAST.with_borrow_mut(|last| match last {
        Some((of, partition)) if *of == parameters => Ok(Rc::clone(partition)),
        _ => {
            let radius = Limit::new("radius", 0, bits.into()).of(radius)?;
            let partition = Rc::new(Partition::new(bits, radius, PARTS.of(parts)?));
            *last = Some((parameters, Rc::clone(&partition)));
            Ok(partition)
        }
    })
}

#[pg_extern(sql = false)]
fn hamming_blocks(si: i64, radius: i32, parts: i32) -> Result<Numbers<i32>, SqlError> {
    let partition = partition(hamming::BITS, radius, parts).map_err(report::problem)?;
    Ok(Numbers(partition.blocks_of(&[si as u64]).into_iter().map(|block| block as i32).collect()))
}

pg_function!(
    pg_finfo_hamming_bit_blocks,
    fn hamming_bit_blocks(call) {
        // SAFETY: declared so in `sql/near_pairs.sql`.
        let code = unsafe { Bits::of(call.datum(0)) };
        let found = partition(code.length(), call.integer(1), call.integer(2));
        let partition = found.map_err(report::problem).unwrap_or_report();
        let cutter = Cutter::new(code.length());
        let words = collect(cutter.words_of(code.bytes()), cutter.width()).map_err(report::problem).unwrap_or_report();
        Numbers(partition.blocks_of(&words).into_iter().map(|block| block as i32).collect()).into_array()
    }
);

pg_function!(
    pg_finfo_near_pairs,
    fn near_pairs(call) {
        // SAFETY: declared so in `sql/near_pairs.sql`.
        unsafe { put_near_pairs(call, Kind::Bigint) }.unwrap_or_report();
        call.null()
    }
);

pg_function!(
    pg_finfo_near_bit_pairs,
    fn near_bit_pairs(call) {
        // SAFETY: declared so in `sql/near_pairs.sql`.
        unsafe { put_near_pairs(call, Kind::Bits) }.unwrap_or_report();
        call.null()
    }
);

/// The keys of each near pair of a block, the smaller first, with its distance.
///
/// # Safety
/// The function must be declared with keys in front, then codes of this kind and three integers, and return a set of
/// records of two keys and an integer.
unsafe fn put_near_pairs(call: Call, kind: Kind) -> Result<(), SqlError> {
    // SAFETY: promised by the caller.
    let (mut rows, keys, codes) =
        unsafe { (ResultSet::of(call.info())?, Elements::of(call.datum(0)), Elements::of(call.datum(1))) };
    // SAFETY: the keys are values of that type.
    let order = unsafe { Order::of(keys.kind, call.info()) }?;
    check_keys(&keys)?;
    if keys.values.len() != codes.values.len() {
        return Err(error::ids_differ_in_number(keys.values.len(), codes.values.len(), kind));
    }
    // SAFETY: promised by the caller.
    let given = unsafe { Given::of_elements(&codes, kind) }?;
    let (radius, parts) = (call.integer(2), call.integer(3));
    given.check_radius(radius)?;
    // Without codes, nothing is known of their length.
    let Some(bits) = given.codes.bits() else { return Ok(()) };
    let partition = partition(bits, radius, parts).map_err(report::problem)?;
    let most = partition.blocks() - 1;
    let block = Limit::new("block", 0, most.into()).of(call.integer(4)).map_err(report::problem)?;
    let codes = given.codes.codes();
    if let Some(place) = (0..codes.len()).find(|&place| !partition.contains(block, codes.get(place as u32))) {
        return Err(error::not_in_block(given.rows[place] as usize + 1, kind, block, radius, parts));
    }
    let function = if kind == Kind::Bigint { "near_pairs" } else { "near_bit_pairs" };
    let mut reporter = Reporter::new(function, kind, codes.len());
    let key = |place: u32| keys.values[given.rows[place as usize] as usize];
    partition
        .near_pairs(block, codes, &mut reporter, &mut |a, b| {
            check_for_interrupts();
            let distance = distance(codes.get(a), codes.get(b)) as i32;
            let (a, b) = (key(a), key(b));
            // SAFETY: keys are values of the type of the order.
            let (a, b) = if unsafe { order.compare(a, b) }.is_gt() { (b, a) } else { (a, b) };
            rows.put([Some(a), Some(b), distance.into_datum()]);
            Ok::<(), OutOfMemory>(())
        })
        .map_err(report::problem)
}

fn check_keys(keys: &Elements<'_>) -> Result<(), SqlError> {
    if keys.nulls.contains(&true) { Err(error::null_key()) } else { Ok(()) }
}

pg_function!(
    pg_finfo_clusters_of_pairs,
    fn clusters_of_pairs(call) {
        // SAFETY: declared so in `sql/near_pairs.sql`.
        unsafe { put_clusters_of_pairs(call) }.unwrap_or_report();
        call.null()
    }
);

/// Each key with the smallest key of its cluster.
///
/// # Safety
/// The function must be declared with two arrays of one type and a text, and return a set of records of two of their
/// elements.
unsafe fn put_clusters_of_pairs(call: Call) -> Result<(), SqlError> {
    // SAFETY: promised by the caller.
    let (mut rows, a, b, linkage) = unsafe {
        (ResultSet::of(call.info())?, Elements::of(call.datum(0)), Elements::of(call.datum(1)), call.text(2))
    };
    // SAFETY: the keys are values of that type.
    let order = unsafe { Order::of(a.kind, call.info()) }?;
    let linkage = parse_linkage(linkage)?;
    check_keys(&a)?;
    check_keys(&b)?;
    let count = a.values.len();
    if count != b.values.len() {
        return Err(error::ends_differ_in_number(count, b.values.len()));
    }
    // Ends of pairs, numbered from 0: first all of `a`, then all of `b`.
    let ends = u32::try_from(2 * count).map_err(|_| error::too_many_pairs(count))?;
    let end = |end: u32| {
        let end = end as usize;
        if end < count { a.values[end] } else { b.values[end - count] }
    };
    let (keys, places) = distinct(ends, end, &order).map_err(report::problem)?;
    let pairs = places[..count].iter().copied().zip(places[count..].iter().copied());
    let mut pairs = collect(pairs, count).map_err(report::problem)?;
    drop(places);
    let found = keepers_of_pairs(keys.len() as u32, &mut pairs, linkage, &mut check_for_interrupts);
    for (&key, keeper) in keys.iter().zip(found.map_err(report::problem)?) {
        check_for_interrupts();
        rows.put([Some(key), Some(keys[keeper as usize])]);
    }
    Ok(())
}

/// The distinct keys in ascending order, and for each end of a pair the place of its key among them.
fn distinct(
    ends: u32,
    key_of: impl Fn(u32) -> pg_sys::Datum,
    order: &Order,
) -> Result<(Vec<pg_sys::Datum>, Vec<u32>), OutOfMemory> {
    // SAFETY: keys are values of the type of the order.
    let sorted_by = |end: u32| unsafe { Key::new(order, key_of(end)) };
    let mut sorted = collect(0..ends, ends as usize)?;
    sort(&mut sorted, &mut check_for_interrupts, |&end| sorted_by(end));
    let mut places = collect(std::iter::repeat_n(0, ends as usize), ends as usize)?;
    let mut keys = Vec::new();
    for equal in sorted.chunk_by(|&a, &b| sorted_by(a) == sorted_by(b)) {
        check_for_interrupts();
        equal.iter().for_each(|&end| places[end as usize] = keys.len() as u32);
        push(&mut keys, key_of(equal[0]))?;
    }
    Ok((keys, places))
}
