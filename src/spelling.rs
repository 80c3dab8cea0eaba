//! `sql/spelling.sql`: how fingerprints and codes are written for people and other programs.

use crate::pg::call::{Call, pg_function};
use crate::pg::code::bits::Bits;
use crate::pg::encoding;
use crate::pg::report::{self, SqlError};
use crate::pg::varlena::new_value;
use crate::simhash::parse_scheme;
use hamming::code_text::CodeFormat;
use limits::Problem;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::pg_sys::{self, Datum};
use pgrx::{IntoDatum, direct_function_call, pg_extern};
use std::ffi::CStr;
use text::fingerprint::spelling;

#[pg_extern(sql = false)]
fn simhash_encode(code: Option<i64>, scheme: Option<&[u8]>) -> Result<Option<String>, SqlError> {
    let Some(code) = code else { return Ok(None) };
    let letters = spelling::encode(code as u64);
    Ok(Some(match scheme {
        Some(name) => format!("{}:{letters}", parse_scheme(&encoding::to_utf8(name)?)?),
        None => letters,
    }))
}

#[pg_extern(sql = false)]
fn simhash_decode(text: &[u8]) -> Result<i64, SqlError> {
    signed(spelling::decode(&encoding::to_utf8(text)?))
}

pg_function!(
    pg_finfo_simhash_decode_number_wrapper,
    fn simhash_decode_number_wrapper(call) {
        // SAFETY: declared with a numeric. The output function of the type returns a C string in the memory
        // of the call.
        let digits = unsafe { direct_function_call::<&CStr>(pg_sys::numeric_out, &[Some(call.datum(0))]) };
        let number = spelling::from_decimal(digits.and_then(|digits| digits.to_str().ok()).unwrap_or_default());
        signed(number).unwrap_or_report().into()
    }
);

fn signed(fingerprint: Result<u64, Problem>) -> Result<i64, SqlError> {
    fingerprint.map(|fingerprint| fingerprint as i64).map_err(report::problem)
}

pg_function!(
    pg_finfo_code_encode,
    fn code_encode(call) {
        encode_code(call).unwrap_or_report()
    }
);

/// The text of a call with a string of bits and a format.
fn encode_code(call: Call) -> Result<Datum, SqlError> {
    // SAFETY: declared with a bit varying first.
    let code = unsafe { Bits::of(call.datum(0)) };
    let text = format_of(call)?.encode(code.bytes(), code.length()).map_err(report::problem)?;
    Ok(text.into_datum().unwrap_or(Datum::null()))
}

pg_function!(
    pg_finfo_code_decode,
    fn code_decode(call) {
        decode_code(call).unwrap_or_report()
    }
);

/// The string of bits of a call with a text and a format.
fn decode_code(call: Call) -> Result<Datum, SqlError> {
    // SAFETY: declared with a text first.
    let text = encoding::to_utf8(unsafe { call.text(0) })?;
    let (code, bits) = format_of(call)?.decode(&text).map_err(report::problem)?;
    Ok(new_value(&[&bits.to_ne_bytes(), &code]))
}

fn format_of(call: Call) -> Result<CodeFormat, SqlError> {
    // SAFETY: both functions are declared with a text there.
    encoding::to_utf8(unsafe { call.text(1) })?.parse().map_err(report::problem)
}
