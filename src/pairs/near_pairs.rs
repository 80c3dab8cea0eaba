//! Near pairs, all at once or block by block.

use super::error;
use super::row_codes::keys_and_codes;
use crate::pg::array::Numbers;
use crate::pg::call::{Call, pg_function};
use crate::pg::code::bits::Bits;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::progress::Reporter;
use crate::pg::report::{self, SqlError};
use crate::pg::result_set::ResultSet;
use hamming::code::{CodeCutter, distance_of_words};
use hamming::near_pairs::{PARTS, PairPartition};
use limits::{Limit, OutOfMemory, Problem, collect};
use pgrx::IntoDatum;
use pgrx::pg_extern;
use pgrx::pg_sys::panic::ErrorReportable;
use std::cell::RefCell;
use std::rc::Rc;

/// The bits of a code, the radius, and the number of parts.
type PartitionParameters = (u32, i32, i32);

thread_local! {
    /// The partition of the last call. Most calls are those of one query, for one row after the other.
    static LAST: RefCell<Option<(PartitionParameters, Rc<PairPartition>)>> = const { RefCell::new(None) };
}

/// The partition for these parameters, which is checked and made once for all rows of a query.
fn partition(bits: u32, radius: i32, parts: i32) -> Result<Rc<PairPartition>, Problem> {
    let parameters = (bits, radius, parts);
    LAST.with_borrow_mut(|last| match last {
        Some((of, partition)) if *of == parameters => Ok(Rc::clone(partition)),
        _ => {
            let radius = Limit::new("radius", 0, bits.into()).of(radius)?;
            let partition = Rc::new(PairPartition::new(bits, radius, PARTS.of(parts)?));
            *last = Some((parameters, Rc::clone(&partition)));
            Ok(partition)
        }
    })
}

#[pg_extern(sql = false)]
fn near_blocks_of_bigint(code: i64, radius: i32, parts: i32) -> Result<Numbers<i32>, SqlError> {
    blocks_of(&[code as u64], hamming::BITS, radius, parts)
}

pg_function!(
    pg_finfo_near_blocks_of_bit,
    fn near_blocks_of_bit(call) {
        // SAFETY: declared with a bit in front in `sql/pairs.sql`.
        let code = unsafe { Bits::of(call.datum(0)) };
        let cutter = CodeCutter::new(code.length());
        let words = collect(cutter.words_of(code.bytes()), cutter.width()).map_err(report::problem).unwrap_or_report();
        let blocks = blocks_of(&words, code.length(), call.integer(1), call.integer(2));
        blocks.unwrap_or_report().into_array()
    }
);

/// The blocks that a code has to be in.
fn blocks_of(words: &[u64], bits: u32, radius: i32, parts: i32) -> Result<Numbers<i32>, SqlError> {
    let partition = partition(bits, radius, parts).map_err(report::problem)?;
    Ok(Numbers(partition.blocks_of(words).into_iter().map(|block| block as i32).collect()))
}

pg_function!(
    pg_finfo_near_pairs,
    fn near_pairs(call) {
        // SAFETY: declared so in `sql/pairs.sql`.
        unsafe { put_near_pairs(call) }.unwrap_or_report();
        call.null()
    }
);

/// Returns the keys of each near pair of a block, the smaller first, with its distance.
///
/// # Safety
/// The function must be declared with keys in front, then codes and three integers, and return a set of
/// records of two keys and an integer.
unsafe fn put_near_pairs(call: Call) -> Result<(), SqlError> {
    // SAFETY: declared so, as the caller promises.
    let (mut rows, (keys, order, row_codes)) =
        unsafe { (ResultSet::of(call.info())?, keys_and_codes(call)?) };
    let (radius, parts) = (call.integer(2), call.integer(3));
    row_codes.check_radius(radius)?;
    // Without codes, nothing is known of their length.
    let Some(bits) = row_codes.codes.bits() else { return Ok(()) };
    let partition = partition(bits, radius, parts).map_err(report::problem)?;
    let most = partition.blocks() - 1;
    let block = Limit::new("block", 0, most.into()).of(call.integer(4)).map_err(report::problem)?;
    let codes = row_codes.codes.codes();
    if let Some(place) = (0..codes.len()).find(|&place| !partition.contains(block, codes.get(place as u32))) {
        return Err(error::not_in_block(row_codes.rows[place] as usize + 1, block, radius, parts));
    }
    let mut reporter = Reporter::of_codes("near_pairs", codes.len());
    let key = |place: u32| keys[row_codes.rows[place as usize] as usize];
    partition
        .near_pairs(block, codes, &mut reporter, &mut |a, b| {
            check_for_interrupts();
            let distance = distance_of_words(codes.get(a), codes.get(b)) as i32;
            let (a, b) = (key(a), key(b));
            // SAFETY: keys are values of the type of the order.
            let (a, b) = if unsafe { order.compare(a, b) }.is_gt() { (b, a) } else { (a, b) };
            rows.put([Some(a), Some(b), distance.into_datum()]);
            Ok::<(), OutOfMemory>(())
        })
        .map_err(report::problem)
}
