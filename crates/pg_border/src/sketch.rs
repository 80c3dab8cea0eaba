//! The values of a sketch, an array of type bigint[].

use super::error;
use super::interrupts::check_for_interrupts;
use super::report::{self, SqlError};
use base::{OutOfMemory, collect};
use pgrx::Array;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
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

fn sketch_too_large(values: usize) -> SqlError {
    let message = format!("sketch of {values} values is too large to compare");
    report::report(Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED, message)
        .set_detail(format!("Sketches have at most {} values.", MAX_VALUES))
}
