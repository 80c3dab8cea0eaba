//! `sql/spelling.sql`: how fingerprints are written for people and other programs.

use crate::pg::error::{self, SqlError};
use crate::pg::text;
use crate::simhash::parse_scheme;
use pgrx::{AnyNumeric, pg_extern};
use simhash_core::spelling;

#[pg_extern(sql = false)]
fn simhash_encode(si: Option<i64>, scheme: Option<&[u8]>) -> Result<Option<String>, SqlError> {
    let Some(si) = si else { return Ok(None) };
    let letters = spelling::encode(si as u64);
    Ok(Some(match scheme {
        Some(name) => format!("{}:{letters}", parse_scheme(&text::to_utf8(name)?)?),
        None => letters,
    }))
}

#[pg_extern(sql = false)]
fn simhash_decode(text: &[u8]) -> Result<i64, SqlError> {
    let text = text::to_utf8(text)?;
    spelling::decode(&text).map(|fingerprint| fingerprint as i64).map_err(|why| error::spelling(&text, why))
}

#[pg_extern(sql = false)]
fn simhash_decode_number(number: AnyNumeric) -> Result<i64, SqlError> {
    let number = number.to_string();
    spelling::from_decimal(&number)
        .map(|fingerprint| fingerprint as i64)
        .ok_or_else(|| error::decimal_fingerprint(&number))
}
