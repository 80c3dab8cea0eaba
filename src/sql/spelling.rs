//! `sql/spelling.sql`: text forms of fingerprints and codes, for people and for other programs.

use crate::pg::call::{Utf8, pg_functions};
use crate::pg::code::bits::Bits;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use crate::pg::varlena::new_value;
use hamming::code_text;
use pgrx::pg_sys::Datum;
use text::features::Scheme;
use text::fingerprint::spelling;

pg_functions!(simhash_encode, simhash_decode, code_encode, code_decode);

fn simhash_encode(code: Option<i64>, scheme: Option<Utf8<'_>>) -> Result<Option<String>, SqlError> {
    let Some(code) = code else { return Ok(None) };
    let letters = spelling::encode(code as u64);
    Ok(Some(match scheme {
        Some(name) => format!("{}:{letters}", name.parse::<Scheme>()?),
        None => letters,
    }))
}

fn simhash_decode(text: Utf8<'_>) -> Result<i64, SqlError> {
    Ok(spelling::decode(&text)? as i64)
}

fn code_encode(code: Bits<'_>) -> Result<String, SqlError> {
    Ok(code_text::encode(code.bytes(), code.length(), &mut check_for_interrupts)?)
}

fn code_decode(text: Utf8<'_>) -> Result<Datum, SqlError> {
    let (code, bits) = code_text::decode(&text, &mut check_for_interrupts)?;
    Ok(new_value(&[&bits.to_ne_bytes(), &code]))
}
