//! Values of the types `bit` and `bit varying`, as PostgreSQL stores them.

use crate::call::sql_value;
use crate::error;
use crate::report::SqlError;
use crate::varlena::{content, new_value};
use hamming::code;
use pgrx::pg_sys;

/// A bit string.
#[derive(Clone, Copy)]
pub struct Bits<'a> {
    /// The number of bits as an integer, followed by the bits.
    value: &'a [u8],
}

impl<'a> Bits<'a> {
    /// # Safety
    /// The datum must be of one of the two types, and live as long as the lifetime says.
    pub unsafe fn of(datum: pg_sys::Datum) -> Self {
        // SAFETY: both types have variable length.
        Self::in_value(unsafe { content(datum) })
    }

    /// A bit string from the contents of a value: the number of bits, then the bits.
    pub fn in_value(value: &'a [u8]) -> Self {
        Self { value }
    }

    /// A new datum in the current memory context.
    pub fn datum(self) -> pg_sys::Datum {
        new_value(&[self.value])
    }

    /// The contents of the value: the number of bits, then the bits.
    pub fn value(self) -> &'a [u8] {
        self.value
    }

    /// The number of bits.
    pub fn length(self) -> u32 {
        self.value.first_chunk().map_or(0, |&length| u32::from_ne_bytes(length))
    }

    /// The bits, from the most significant bit of the first byte on. The last byte is padded with zeros.
    pub fn bytes(self) -> &'a [u8] {
        self.value.get(size_of::<u32>()..).unwrap_or_default()
    }

    /// The number of differing bits. Strings of different lengths are an error.
    pub fn distance(self, other: Self) -> Result<u32, SqlError> {
        if self.length() != other.length() {
            return Err(error::bits_differ_in_length(self.length(), other.length()));
        }
        Ok(code::distance_of_bytes(self.bytes(), other.bytes()))
    }

    /// Whether the distance is at most the radius. Strings of different lengths are an error.
    pub fn is_within(self, other: Self, radius: i32) -> Result<bool, SqlError> {
        // A distance fits into an integer, since a length does.
        Ok(self.distance(other)? as i32 <= radius)
    }

    /// The share of equal bits. Strings of different lengths are an error.
    pub fn similarity(self, other: Self) -> Result<f64, SqlError> {
        Ok(code::similarity(self.distance(other)?, self.length()))
    }
}

sql_value!(Bits<'_>, read: |bits| Self::of(bits), write: |bits| bits.datum());
