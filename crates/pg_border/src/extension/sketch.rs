//! The values of a sketch, an array of type bigint[].

use crate::call::Call;
use crate::error;
use crate::interrupts::check_for_interrupts;
use crate::report::{self, SqlError, UnwrapOrReport};
use base::{OutOfMemory, collect};
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::{Array, FromDatum, pg_sys};
use std::borrow::Cow;
use text::sketch::MAX_VALUES;
use text::sketch::overlap::Overlap;

/// The elements of an array without its NULLs. They are copied only if there are NULLs.
pub fn without_nulls<'a>(array: &'a Array<'_, i64>) -> Result<Cow<'a, [i64]>, OutOfMemory> {
    if let Ok(values) = array.as_slice() {
        return Ok(Cow::Borrowed(values));
    }
    Ok(Cow::Owned(collect(array.iter().flatten(), array.len())?))
}

/// How many values two sketches have, and have in common.
pub fn overlap(a: &Array<'_, i64>, b: &Array<'_, i64>) -> Result<Overlap, SqlError> {
    Ok(Overlap::of(shareable(a)?, shareable(b)?, &mut check_for_interrupts)?)
}

/// The values of a sketch whose share with another sketch can be computed; otherwise an error.
pub fn shareable<'a>(sketch: &'a Array<'_, i64>) -> Result<&'a [i64], SqlError> {
    match sketch.as_slice() {
        Ok(values) if values.len() <= MAX_VALUES => Ok(values),
        Ok(values) => Err(sketch_too_large(values.len())),
        Err(_) => Err(error::null_in_sketch()),
    }
}

/// An argument of type bigint[]. Another operator class may name the function for another type, which raises
/// an error.
pub fn sketch<'a>(call: Call, argument: usize) -> Array<'a, i64> {
    // SAFETY: the argument has variable length. An array begins with the struct, and this one has elements of
    // type bigint.
    let array = unsafe {
        let value = pg_sys::pg_detoast_datum(call.pointer(argument));
        let is_array = pgrx::varlena::varsize(value) >= size_of::<pg_sys::ArrayType>();
        let is_sketch = is_array && (*value.cast::<pg_sys::ArrayType>()).elemtype == pg_sys::INT8OID;
        is_sketch.then(|| Array::from_datum(value.into(), false)).flatten()
    };
    array.ok_or_else(not_a_sketch).unwrap_or_report()
}

fn not_a_sketch() -> SqlError {
    report::report(Code::ERRCODE_INVALID_OBJECT_DEFINITION, "sketch is not an array of bigint")
        .set_detail(error::FOREIGN_CLASS)
}

fn sketch_too_large(values: usize) -> SqlError {
    let message = format!("sketch of {values} values is too large to compare");
    report::report(Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED, message)
        .set_detail(format!("Sketches have at most {} values.", MAX_VALUES))
}
