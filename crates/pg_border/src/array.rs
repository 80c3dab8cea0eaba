//! Arrays of numbers.

use super::interrupts::check_for_interrupts;
use super::varlena::filled;
use base::{OutOfMemory, copied};
use pgrx::{IntoDatum, pg_sys};
use std::borrow::Cow;
use std::ffi::c_int;
use text::sketch::overlap::as_set;

/// The numbers in ascending order, without duplicates.
pub fn distinct(numbers: &[i64]) -> Result<Vec<i64>, OutOfMemory> {
    match as_set(numbers, &mut check_for_interrupts)? {
        Cow::Borrowed(numbers) => copied(numbers, &mut check_for_interrupts),
        Cow::Owned(numbers) => Ok(numbers),
    }
}

/// A number that an array can have as an element.
///
/// # Safety
/// The elements of an array of [`IntoDatum`]'s type must have Rust's layout, without padding between them.
pub unsafe trait Number: Copy + IntoDatum {}

// SAFETY: elements of an integer[] are four bytes each.
unsafe impl Number for i32 {}
// SAFETY: elements of a bigint[] are eight bytes each.
unsafe impl Number for i64 {}

/// The bytes of numbers.
pub fn bytes_of<T: Number>(numbers: &[T]) -> &[u8] {
    // SAFETY: numbers are bytes, without padding between them.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
}

/// The header of an array with one dimension and no NULL. Elements of up to 8 bytes are aligned behind it.
#[repr(C)]
struct Header {
    array: pg_sys::ArrayType,
    length: c_int,
    lower_bound: c_int,
}

/// The numbers as an array in the current memory context.
///
/// They are copied at once. pgrx can return a `Vec`, but appends its elements one by one, at 20 ns each. For
/// a passage sketch of a text of 5 KB, with two thousand values, that took as long as computing the sketch.
pub fn new_array<T: Number>(numbers: &[T]) -> pg_sys::Datum {
    let element = T::type_oid();
    if numbers.is_empty() {
        // SAFETY: allocates an array without dimensions, or raises an error.
        return unsafe { pg_sys::construct_empty_array(element) }.into();
    }
    let array = pg_sys::ArrayType { vl_len_: 0, ndim: 1, dataoffset: 0, elemtype: element };
    let header = Header { array, length: numbers.len() as c_int, lower_bound: 1 };
    let bytes = size_of_val(numbers);
    // SAFETY: the memory has room for the header in front of the numbers, and is aligned for any type. The
    // lengths fit, since palloc refuses a GB.
    unsafe {
        let place = filled(size_of::<Header>(), &[bytes_of(numbers)], &[]);
        place.cast::<Header>().write(header);
        pgrx::set_varsize_4b(place.cast(), (size_of::<Header>() + bytes) as i32);
        place.into()
    }
}
