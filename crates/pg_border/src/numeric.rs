//! Values of type numeric.

use super::call::sql_value;
use super::value::Value;
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
        // SAFETY: the function takes a numeric, and returns one.
        let whole = unsafe { direct_function_call_as_datum(round, &[Some(self.0)]) };
        whole.map_or(f64::NAN, |whole| Self(whole).to_double())
    }

    /// The number as a double precision. A number that is too large becomes infinity, without an error.
    fn to_double(&self) -> f64 {
        let convert = pg_sys::numeric_float8_no_overflow;
        // SAFETY: the function takes a numeric, and returns a double precision.
        let number = unsafe { direct_function_call_as_datum(convert, &[Some(self.0)]) };
        number.map_or(f64::NAN, |datum| f64::from_bits(datum.value() as u64))
    }

    /// The value of a numeric as a double precision, if the type is numeric.
    pub(super) fn double_of(value: Value<'_>) -> Option<f64> {
        (value.type_() == pg_sys::NUMERICOID).then(|| Self(value.datum()).to_double())
    }
}
