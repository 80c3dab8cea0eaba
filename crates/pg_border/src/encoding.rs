//! Conversion of texts between the encoding of the database and UTF-8.
//!
//! Fingerprints are defined on UTF-8, so that a text has the same fingerprint in every database. A SQL_ASCII
//! database may contain any bytes; there, bytes that are not UTF-8 count as U+FFFD.

use super::interrupts::check_for_interrupts;
use super::report::{SqlError, UnwrapOrReport, escape, quote};
use super::settings::database_encoding;
use base::{extend, grow_text, pieces};
use pgrx::{PgSqlErrorCode, PgTryBuilder, pg_sys};
use std::borrow::Cow;
use std::ffi::{CStr, c_int};
use std::panic::AssertUnwindSafe;

/// How many bytes are converted before the next check for interrupts.
const SLICE: usize = 1 << 20;

/// The text as UTF-8. The whole text is checked, so a caller should convert each argument once.
///
/// The bytes are checked even if the encoding of the database is UTF-8. PostgreSQL checks the bytes that
/// clients send, but not those that a C function or a cast without a function returns. A `str` that is not
/// UTF-8 would be undefined behaviour, in a server with other people's data. The check runs at 14 GB/s or
/// more, and takes a fiftieth of the time of a fingerprint at 300 MB/s. The standard library's check would
/// take a third of that time for Russian or Korean, at 0.8 GB/s (`make bench ONLY=languages`). Without any
/// check, `simhash` in SQL was at most 2 % faster on rows of 5 KB.
pub fn to_utf8(text: &[u8]) -> Result<Cow<'_, str>, SqlError> {
    match to_utf8_bytes(text)? {
        Cow::Borrowed(bytes) => match simdutf8::basic::from_utf8(bytes) {
            Ok(valid) => Ok(Cow::Borrowed(valid)),
            Err(_) => replace_invalid(bytes).map(Cow::Owned),
        },
        Cow::Owned(bytes) => match String::from_utf8(bytes) {
            Ok(valid) => Ok(Cow::Owned(valid)),
            Err(invalid) => replace_invalid(invalid.as_bytes()).map(Cow::Owned),
        },
    }
}

/// The bytes of the text in UTF-8. They are not checked if the database is SQL_ASCII or UTF-8.
pub fn to_utf8_bytes(text: &[u8]) -> Result<Cow<'_, [u8]>, SqlError> {
    match database_encoding() {
        pg_sys::pg_enc::PG_UTF8 | pg_sys::pg_enc::PG_SQL_ASCII => Ok(Cow::Borrowed(text)),
        encoding => from_encoding(text, encoding as c_int).map(Cow::Owned),
    }
}

/// Converts our text to the encoding of the database, for a value of type text. A character that the encoding
/// lacks is an error.
pub fn to_database(text: String) -> Result<Vec<u8>, SqlError> {
    match database_encoding() {
        pg_sys::pg_enc::PG_UTF8 | pg_sys::pg_enc::PG_SQL_ASCII => Ok(text.into_bytes()),
        encoding => {
            let encoding = encoding as c_int;
            let mut converted = Vec::new();
            for slice in pieces(&text, SLICE) {
                check_for_interrupts();
                convert_slice(slice.as_bytes(), pg_sys::pg_enc::PG_UTF8 as c_int, encoding, &mut converted)?;
            }
            Ok(converted)
        }
    }
}

/// The text, or its ASCII form if the database cannot hold a character. Normalization can turn characters
/// that the encoding has into characters that it lacks.
pub fn or_escaped(text: String) -> String {
    if text.is_ascii() {
        return text;
    }
    let can_be_held = PgTryBuilder::new(AssertUnwindSafe(|| {
        copy(&text).and_then(to_database).map(|_| true).unwrap_or_report()
    }))
    .catch_when(PgSqlErrorCode::ERRCODE_UNTRANSLATABLE_CHARACTER, |_| false)
    .execute();
    if can_be_held { text } else { escape(&text).unwrap_or_report() }
}

/// The text in the encoding of the database, or its ASCII form if the database cannot hold a character.
pub fn to_database_or_escaped(text: String) -> Result<Vec<u8>, SqlError> {
    to_database(or_escaped(text))
}

/// A name from the catalog, for a message.
pub fn for_message(name: &CStr) -> String {
    to_utf8(name.to_bytes()).map(Cow::into_owned).unwrap_or_default()
}

/// A name from the catalog, shortened for a message.
pub fn quoted(name: &CStr) -> String {
    quote(&for_message(name))
}

/// The name of a type, for a message.
pub fn type_name(type_: pg_sys::Oid) -> String {
    // SAFETY: the function returns a new C string in the current memory context, for any type.
    for_message(unsafe { CStr::from_ptr(pg_sys::format_type_be(type_)) })
}

/// A copy. If memory is refused, that is an error.
pub fn copy(text: &str) -> Result<String, SqlError> {
    let mut copy = String::new();
    append(&mut copy, text)?;
    Ok(copy)
}

/// Appends. If memory is refused, that is an error.
pub fn append(to: &mut String, text: &str) -> Result<(), SqlError> {
    grow_text(to, text.len())?;
    for slice in pieces(text, SLICE) {
        check_for_interrupts();
        to.push_str(slice);
    }
    Ok(())
}

/// Converts the text in slices, so that a conversion of a huge text can be cancelled.
fn from_encoding(text: &[u8], encoding: c_int) -> Result<Vec<u8>, SqlError> {
    let mut converted = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        check_for_interrupts();
        // SAFETY: pointer and length belong to `rest`. The result is at most SLICE, and ends at a character.
        let length = unsafe {
            pg_sys::pg_mbcliplen(rest.as_ptr().cast(), rest.len() as c_int, SLICE.min(rest.len()) as c_int)
        };
        // At least one byte: otherwise an incomplete character at the end would repeat this for ever.
        let (slice, after) = rest.split_at((length as usize).max(1));
        convert_slice(slice, encoding, pg_sys::pg_enc::PG_UTF8 as c_int, &mut converted)?;
        rest = after;
    }
    Ok(converted)
}

fn convert_slice(slice: &[u8], from: c_int, to: c_int, converted: &mut Vec<u8>) -> Result<(), SqlError> {
    let source = slice.as_ptr();
    // SAFETY: pointer and length belong to `slice`, which the conversion only reads. It returns this pointer
    // if there is nothing to convert, and otherwise a new string that ends with a zero byte.
    let result =
        unsafe { pg_sys::pg_do_encoding_conversion(source.cast_mut(), slice.len() as c_int, from, to) };
    if std::ptr::eq(result, source) {
        return Ok(extend(converted, slice)?);
    }
    // SAFETY: the result is a new string that ends with a zero byte.
    extend(converted, unsafe { CStr::from_ptr(result.cast()) }.to_bytes())?;
    // SAFETY: the conversion allocated the string, and nothing refers to it any more.
    unsafe { pg_sys::pfree(result.cast()) };
    Ok(())
}

/// Replaces each invalid sequence of bytes by one U+FFFD.
fn replace_invalid(bytes: &[u8]) -> Result<String, SqlError> {
    let mut replaced = String::new();
    for chunk in bytes.utf8_chunks() {
        check_for_interrupts();
        append(&mut replaced, chunk.valid())?;
        if !chunk.invalid().is_empty() {
            append(&mut replaced, "\u{fffd}")?;
        }
    }
    Ok(replaced)
}
