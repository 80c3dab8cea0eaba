//! Values of the types `bit` and `bit varying`, as Postgres keeps them.

use super::error;
use super::report::SqlError;
use hamming::codes;
use pgrx::{pg_sys, varlena};

/// A string of bits.
#[derive(Clone, Copy)]
pub(crate) struct Bits<'a> {
    /// The number of bits, as an integer, and the bits.
    value: &'a [u8],
}

impl<'a> Bits<'a> {
    /// # Safety
    /// The datum must be a value of one of the two types, which lives as long as is said here.
    pub(crate) unsafe fn of(datum: pg_sys::Datum) -> Self {
        // SAFETY: promised by the caller.
        Self::in_value(unsafe { content(datum) })
    }

    /// What stands in a value behind its size.
    pub(crate) fn in_value(value: &'a [u8]) -> Self {
        Self { value }
    }

    /// As a datum in the memory of the current call.
    pub(crate) fn datum(self) -> pg_sys::Datum {
        new_value(&[self.value])
    }

    /// What stands in a value behind its size.
    pub(crate) fn value(self) -> &'a [u8] {
        self.value
    }

    /// The number of bits.
    pub(crate) fn length(self) -> u32 {
        self.value.first_chunk().map_or(0, |&length| u32::from_ne_bytes(length))
    }

    /// The bits, from the most significant one of the first byte on. The last byte is filled up with zeros.
    pub(crate) fn bytes(self) -> &'a [u8] {
        self.value.get(size_of::<u32>()..).unwrap_or_default()
    }

    /// The number of bits in which the two differ: an error if they are not of one length.
    pub(crate) fn distance(self, other: Self) -> Result<u32, SqlError> {
        if self.length() != other.length() {
            return Err(error::bits_differ_in_length(self.length(), other.length()));
        }
        Ok(codes::distance(self.bytes(), other.bytes()))
    }

    pub(crate) fn is_within(self, other: Self, radius: i32) -> Result<bool, SqlError> {
        // A distance is at most a length, which is an integer.
        Ok(self.distance(other)? as i32 <= radius)
    }

    pub(crate) fn similarity(self, other: Self) -> Result<f64, SqlError> {
        Ok(codes::similarity(self.distance(other)?, self.length()))
    }
}

/// What stands in a value of variable length behind its size.
///
/// # Safety
/// The datum must be a value of variable length, which lives as long as is said here.
pub(crate) unsafe fn content<'a>(datum: pg_sys::Datum) -> &'a [u8] {
    let value: *mut pg_sys::varlena = datum.cast_mut_ptr();
    // SAFETY: promised by the caller. What is compressed or elsewhere becomes a copy in the memory of the
    // current call. Most values are neither, and spared the call.
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

/// Memory of the current call, with the parts behind a header that is left to the caller, and the end behind them.
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
