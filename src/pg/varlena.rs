//! Values of variable length, and C strings: their content, and new ones in the memory of the current call.

use pgrx::{pg_sys, varlena};

/// The content of a value of variable length, without its header.
///
/// # Safety
/// The datum must be a value of variable length, which lives as long as is said here.
pub(crate) unsafe fn content<'a>(datum: pg_sys::Datum) -> &'a [u8] {
    let value: *mut pg_sys::varlena = datum.cast_mut_ptr();
    // SAFETY: such a value. One that is compressed or out of line becomes a copy in the memory of the current
    // call. Most values are neither, and need no call.
    unsafe {
        let is_plain =
            varlena::varatt_is_4b_u(value) || varlena::varatt_is_1b(value) && !varlena::varatt_is_1b_e(value);
        let value = if is_plain { value } else { pg_sys::pg_detoast_datum_packed(value) };
        varlena::varlena_to_byte_slice(value)
    }
}

/// A C string in the memory of the current call, as a datum.
pub(crate) fn c_string(parts: &[&[u8]]) -> pg_sys::Datum {
    filled(0, parts, &[0]).into()
}

/// A value of variable length in the memory of the current call, as a datum.
pub(crate) fn new_value(parts: &[&[u8]]) -> pg_sys::Datum {
    let value = filled(pg_sys::VARHDRSZ, parts, &[]);
    let bytes = pg_sys::VARHDRSZ + parts.iter().map(|part| part.len()).sum::<usize>();
    // SAFETY: there is room for the header. The length fits, since palloc refuses a GB.
    unsafe { pgrx::set_varsize_4b(value.cast(), bytes as i32) };
    value.into()
}

/// Memory of the current call, with the parts behind a header that is left to the caller, and the end behind
/// them.
fn filled(header: usize, parts: &[&[u8]], end: &[u8]) -> *mut u8 {
    let bytes = header + parts.iter().map(|part| part.len()).sum::<usize>() + end.len();
    // SAFETY: palloc returns memory of that size, or raises an error.
    unsafe {
        let value: *mut u8 = pg_sys::palloc(bytes).cast();
        let mut place = value.add(header);
        for part in parts.iter().copied().chain([end]) {
            place.copy_from_nonoverlapping(part.as_ptr(), part.len());
            place = place.add(part.len());
        }
        value
    }
}
