//! `hamming_radius_le` and its relatives compute the radius for a limit on a distance or a similarity.
//!
//! The planner calls them for constant limits, and puts calls into the query for limits that it does not know
//! yet.

use crate::pg::call::{pg_functions, sql_value};
use hamming::code::{radius_below, radius_of_similarity};
use pgrx::direct_function_call_as_datum;
use pgrx::pg_sys::{self, Datum};

/// A value of type numeric.
struct Numeric(Datum);

sql_value!(Numeric, read: |datum| Self(datum));

impl Numeric {
    /// The radius for this limit on a distance. The limit is rounded as a numeric. A number too large for
    /// double precision becomes infinity, without an error.
    fn radius(self, is_inclusive: bool) -> i32 {
        let round = if is_inclusive { pg_sys::numeric_floor } else { pg_sys::numeric_ceil };
        // SAFETY: these functions take a numeric; the first one returns a numeric.
        let limit = unsafe {
            direct_function_call_as_datum(round, &[Some(self.0)]).and_then(|whole| {
                direct_function_call_as_datum(pg_sys::numeric_float8_no_overflow, &[Some(whole)])
            })
        };
        radius_below(limit.map_or(f64::NAN, |datum| f64::from_bits(datum.value() as u64)), is_inclusive)
    }
}

macro_rules! radius_functions {
    ($($name:ident($($argument:ident: $type:ty),*) = $radius:expr;)*) => {
        pg_functions!($($name),*);
        $(fn $name($($argument: $type),*) -> i32 {
            $radius
        })*
    };
}

radius_functions! {
    hamming_radius_le(limit: i64) = radius_below(limit as f64, true);
    hamming_radius_lt(limit: i64) = radius_below(limit as f64, false);
    hamming_radius_le_float8(limit: f64) = radius_below(limit, true);
    hamming_radius_lt_float8(limit: f64) = radius_below(limit, false);
    hamming_radius_le_numeric(limit: Numeric) = limit.radius(true);
    hamming_radius_lt_numeric(limit: Numeric) = limit.radius(false);
    hamming_radius_ge(limit: f64, bits: i32) = radius_of_similarity(limit, true, bits.max(0) as u32);
    hamming_radius_gt(limit: f64, bits: i32) = radius_of_similarity(limit, false, bits.max(0) as u32);
}
