//! Values of variable length, and C strings: reads their contents and makes new ones.

use super::interrupts::check_for_interrupts;
use pgrx::{pg_sys, varlena};

/// How many bytes are copied between two checks for interrupts.
const PIECE: usize = 1 << 20;

/// The contents of a value of variable length, without its header.
///
/// # Safety
/// The datum must be a value of variable length, and live as long as the lifetime says.
pub unsafe fn content<'a>(datum: pg_sys::Datum) -> &'a [u8] {
    // SAFETY: it is such a value.
    unsafe { varlena::varlena_to_byte_slice(unpacked(datum).cast_mut_ptr()) }
}

/// The value itself, or a copy in the current memory context if it is compressed or out of line.
///
/// # Safety
/// The datum must be a value of variable length.
pub(crate) unsafe fn unpacked(datum: pg_sys::Datum) -> pg_sys::Datum {
    let value: *mut pg_sys::varlena = datum.cast_mut_ptr();
    // SAFETY: it is such a value. Most values are plain, and need no call of PostgreSQL.
    unsafe {
        let is_plain =
            varlena::varatt_is_4b_u(value) || varlena::varatt_is_1b(value) && !varlena::varatt_is_1b_e(value);
        if is_plain { datum } else { pg_sys::pg_detoast_datum_packed(value).into() }
    }
}

/// A new C string in the current memory context, as a datum.
pub fn c_string(parts: &[&[u8]]) -> pg_sys::Datum {
    filled(0, parts, &[0]).into()
}

/// A new value of variable length in the current memory context, as a datum.
pub fn new_value(parts: &[&[u8]]) -> pg_sys::Datum {
    let value = filled(pg_sys::VARHDRSZ, parts, &[]);
    let bytes = pg_sys::VARHDRSZ + parts.iter().map(|part| part.len()).sum::<usize>();
    // SAFETY: the memory has room for the header. The length fits, since palloc refuses a GB.
    unsafe { pgrx::set_varsize_4b(value.cast(), bytes as i32) };
    value.into()
}

/// New memory in the current context: room for a header, which the caller writes, then the parts, then the
/// end.
pub(super) fn filled(header: usize, parts: &[&[u8]], end: &[u8]) -> *mut u8 {
    let bytes = header + parts.iter().map(|part| part.len()).sum::<usize>() + end.len();
    // SAFETY: palloc returns memory of this size, or raises an error.
    unsafe {
        let value: *mut u8 = pg_sys::palloc(bytes).cast();
        let mut place = value.add(header);
        for piece in parts.iter().copied().chain([end]).flat_map(|part| part.chunks(PIECE)) {
            check_for_interrupts();
            place.copy_from_nonoverlapping(piece.as_ptr(), piece.len());
            place = place.add(piece.len());
        }
        value
    }
}
