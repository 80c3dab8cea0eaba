//! `sql/spelling.sql`: how fingerprints are written for people and other programs.

use crate::pg::encoding;
use crate::pg::report::{self, SqlError};
use crate::simhash::parse_scheme;
use limits::Problem;
use pgrx::{AnyNumeric, pg_extern};
use text::fingerprint::spelling;

#[pg_extern(sql = false)]
fn simhash_encode(si: Option<i64>, scheme: Option<&[u8]>) -> Result<Option<String>, SqlError> {
    let Some(si) = si else { return Ok(None) };
    let letters = spelling::encode(si as u64);
    Ok(Some(match scheme {
        Some(name) => format!("{}:{letters}", parse_scheme(&encoding::to_utf8(name)?)?),
        None => letters,
    }))
}

#[pg_extern(sql = false)]
fn simhash_decode(text: &[u8]) -> Result<i64, SqlError> {
    signed(spelling::decode(&encoding::to_utf8(text)?))
}

#[pg_extern(sql = false)]
fn simhash_decode_number(number: AnyNumeric) -> Result<i64, SqlError> {
    signed(spelling::from_decimal(&number.to_string()))
}

fn signed(fingerprint: Result<u64, Problem>) -> Result<i64, SqlError> {
    fingerprint.map(|fingerprint| fingerprint as i64).map_err(report::problem)
}
