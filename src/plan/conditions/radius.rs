//! `hamming_radius_le` and its relatives: the radius that a limit of a distance or of a similarity means.
//!
//! The planner calls them for constants, and puts calls of them into the query for limits that it does not
//! know yet.

use crate::pg::call::pg_function;
use crate::pg::code::bits::Bits;
use hamming::BITS;
use hamming::code::{radius_below, radius_of_similarity};
use pgrx::pg_sys::{self, Datum};

/// The floating-point number nearest to a numeric. A number that is too large is infinite, and no error.
///
/// # Safety
/// The datum must be a value of type numeric.
unsafe fn float_of_numeric(numeric: Datum) -> f64 {
    // SAFETY: the datum is a value of type numeric, as the caller promises.
    let number =
        unsafe { pgrx::direct_function_call_as_datum(pg_sys::numeric_float8_no_overflow, &[Some(numeric)]) };
    number.map_or(f64::NAN, |datum| f64::from_bits(datum.value() as u64))
}

/// A numeric as a whole number, rounded by this function of Postgres's.
///
/// # Safety
/// The datum must be a value of type numeric, and the function one that rounds such values.
unsafe fn whole(numeric: Datum, round: unsafe fn(pg_sys::FunctionCallInfo) -> Datum) -> f64 {
    // SAFETY: the datum is a value of type numeric, and the function one that rounds such values, as the
    // caller promises; the function takes a numeric and returns one.
    unsafe {
        pgrx::direct_function_call_as_datum(round, &[Some(numeric)])
            .map_or(f64::NAN, |whole| float_of_numeric(whole))
    }
}

pg_function!(
    pg_finfo_hamming_radius_le,
    fn hamming_radius_le(call) {
        radius_below(call.bigint(0) as f64, true).into()
    }
);

pg_function!(
    pg_finfo_hamming_radius_le_float8,
    fn hamming_radius_le_float8(call) {
        radius_below(call.double(0), true).into()
    }
);

pg_function!(
    pg_finfo_hamming_radius_le_numeric,
    fn hamming_radius_le_numeric(call) {
        // SAFETY: declared with a numeric.
        radius_below(unsafe { whole(call.datum(0), pg_sys::numeric_floor) }, true).into()
    }
);

pg_function!(
    pg_finfo_hamming_radius_lt,
    fn hamming_radius_lt(call) {
        radius_below(call.bigint(0) as f64, false).into()
    }
);

pg_function!(
    pg_finfo_hamming_radius_lt_float8,
    fn hamming_radius_lt_float8(call) {
        radius_below(call.double(0), false).into()
    }
);

pg_function!(
    pg_finfo_hamming_radius_lt_numeric,
    fn hamming_radius_lt_numeric(call) {
        // SAFETY: declared with a numeric.
        radius_below(unsafe { whole(call.datum(0), pg_sys::numeric_ceil) }, false).into()
    }
);

pg_function!(
    pg_finfo_hamming_radius_ge,
    fn hamming_radius_ge(call) {
        radius_of_similarity(call.double(0), true, BITS).into()
    }
);

pg_function!(
    pg_finfo_hamming_radius_gt,
    fn hamming_radius_gt(call) {
        radius_of_similarity(call.double(0), false, BITS).into()
    }
);

pg_function!(
    pg_finfo_hamming_radius_ge_bits,
    fn hamming_radius_ge_bits(call) {
        // SAFETY: declared with a double precision and a bit.
        let code = unsafe { Bits::of(call.datum(1)) };
        radius_of_similarity(call.double(0), true, code.length()).into()
    }
);

pg_function!(
    pg_finfo_hamming_radius_gt_bits,
    fn hamming_radius_gt_bits(call) {
        // SAFETY: declared with a double precision and a bit.
        let code = unsafe { Bits::of(call.datum(1)) };
        radius_of_similarity(call.double(0), false, code.length()).into()
    }
);
