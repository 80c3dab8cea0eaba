//! `hamming_radius_le` and its relatives compute the radius for a limit on a distance or a similarity.
//!
//! The planner calls them for constant limits, and puts calls into the query for limits that it does not know
//! yet.

use crate::pg::call::pg_functions;
use crate::pg::numeric::Numeric;
use hamming::code::{radius_below, radius_of_similarity};

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
    hamming_radius_le_numeric(limit: Numeric) = radius_below(limit.floor(), true);
    hamming_radius_lt_numeric(limit: Numeric) = radius_below(limit.ceil(), false);
    hamming_radius_ge(limit: f64, bits: i32) = radius_of_similarity(limit, true, bits.max(0) as u32);
    hamming_radius_gt(limit: f64, bits: i32) = radius_of_similarity(limit, false, bits.max(0) as u32);
}
