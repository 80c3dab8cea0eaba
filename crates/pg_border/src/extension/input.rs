//! Input, output and receive functions of PostgreSQL's own types.

use crate::call::{Argument, Call};
use crate::extension::code::bits::Bits;
use crate::varlena::c_string;
use pgrx::direct_function_call_as_datum;
use pgrx::pg_sys::{self, Datum, StringInfo};
use std::ffi::CStr;

/// A value of type jsonb. `None` if there is none, which does not happen.
pub fn jsonb_of(text: &CStr) -> Option<Datum> {
    // SAFETY: the input function of jsonb reads a C string in the encoding of the database, and returns a new
    // value.
    unsafe { direct_function_call_as_datum(pg_sys::jsonb_in, &[Some(Datum::from(text.as_ptr()))]) }
}

/// The bit string that a text describes, as PostgreSQL's input function reads it.
pub fn bits_of_text<'a>(text: &[u8]) -> Bits<'a> {
    // SAFETY: varbit_in takes a C string.
    unsafe { read_bits(pg_sys::varbit_in, c_string(&[text])) }
}

/// The digits of a bit string.
pub fn text_of_bits<'a>(bits: Bits<'_>) -> &'a [u8] {
    // SAFETY: varbit_out takes a value of type bit varying, and returns a C string.
    unsafe {
        let text = direct_function_call_as_datum(pg_sys::varbit_out, &[Some(bits.datum())]);
        text.map_or(c"", |text| CStr::from_ptr(text.cast_mut_ptr())).to_bytes()
    }
}

/// A message that a receive function reads. It is an error if it is too short.
pub struct Message(StringInfo);

impl Argument for Message {
    unsafe fn read(call: Call, place: usize) -> Self {
        Self(call.pointer(place))
    }
}

impl Message {
    /// The next bytes.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        // SAFETY: PostgreSQL calls a receive function with the message. There is room for the bytes.
        unsafe { pg_sys::pq_copymsgbytes(self.0, bytes.as_mut_ptr().cast(), N as i32) };
        bytes
    }

    /// The next bit string, as PostgreSQL's receive function reads it.
    pub fn bits<'a>(&mut self) -> Bits<'a> {
        // SAFETY: varbit_recv takes the message.
        unsafe { read_bits(pg_sys::varbit_recv, self.0.into()) }
    }
}

/// # Safety
/// The argument must be of the type that the function takes first.
unsafe fn read_bits<'a>(
    input: unsafe fn(pg_sys::FunctionCallInfo) -> pg_sys::Datum,
    argument: pg_sys::Datum,
) -> Bits<'a> {
    const NO_MODIFIER: i32 = -1;
    let args = [Some(argument), Some(pg_sys::InvalidOid.into()), Some(NO_MODIFIER.into())];
    // SAFETY: both functions also take a type and a modifier, and never return NULL.
    unsafe { Bits::of(direct_function_call_as_datum(input, &args).unwrap_or(pg_sys::Datum::null())) }
}
