//! Values of type numeric.

use super::call::sql_value;
use pgrx::direct_function_call_as_datum;
use pgrx::pg_sys::{self, Datum};

/// A value of type numeric.
pub struct Numeric(Datum);

sql_value!(Numeric, read: |datum| Self(datum));

impl Numeric {
    /// The largest integer that is not larger. A number too large for double precision becomes infinity,
    /// without an error.
    pub fn floor(&self) -> f64 {
        self.rounded(pg_sys::numeric_floor)
    }

    /// The smallest integer that is not smaller, like [`floor`](Self::floor).
    pub fn ceil(&self) -> f64 {
        self.rounded(pg_sys::numeric_ceil)
    }

    fn rounded(&self, round: unsafe fn(pg_sys::FunctionCallInfo) -> Datum) -> f64 {
        // SAFETY: these functions take a numeric; the first one returns a numeric.
        let number = unsafe {
            direct_function_call_as_datum(round, &[Some(self.0)]).and_then(|whole| {
                direct_function_call_as_datum(pg_sys::numeric_float8_no_overflow, &[Some(whole)])
            })
        };
        number.map_or(f64::NAN, |datum| f64::from_bits(datum.value() as u64))
    }
}
