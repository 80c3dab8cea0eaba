//! Text arguments, whatever the encoding of the database.
//!
//! Fingerprints are defined on UTF-8, so that the same text has the same fingerprint in every database.
//! SQL_ASCII databases hold bytes that nobody checked; there, what is not UTF-8 counts as U+FFFD.

use super::interrupts::check_for_interrupts;
use super::report::{self, SqlError};
use super::settings::database_encoding;
use base::{extend, grow_text, pieces};
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::{PgSqlErrorCode, PgTryBuilder, pg_sys};
use std::borrow::Cow;
use std::ffi::{CStr, c_int};
use std::panic::AssertUnwindSafe;

/// Bytes converted between two looks at interrupts.
const SLICE: usize = 1 << 20;

/// The text as UTF-8. It is read from end to end, so a caller asks once for each argument.
///
/// The bytes are checked even where the encoding of the database is UTF-8. PostgreSQL has checked what came
/// from a client, but not what a function in C or a cast without a function returned. A `str` of bytes that
/// are not UTF-8 would be undefined behaviour, here in a server with other people's data. The check runs at
/// 14 GB/s or more, a fiftieth of the time of a fingerprint made at 300 MB/s. The standard library's check
/// would take a third of that time on Russian or Korean, where it runs at 0.8 GB/s (`make bench
/// ONLY=languages`). Without any check, `simhash` in SQL was at most 2 % faster on rows of 5 KB.
pub(crate) fn to_utf8(text: &[u8]) -> Result<Cow<'_, str>, SqlError> {
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

/// The bytes of the text in UTF-8, unchecked if the database is SQL_ASCII.
pub(crate) fn to_utf8_bytes(text: &[u8]) -> Result<Cow<'_, [u8]>, SqlError> {
    match database_encoding() {
        pg_sys::pg_enc::PG_UTF8 | pg_sys::pg_enc::PG_SQL_ASCII => Ok(Cow::Borrowed(text)),
        encoding => from_encoding(text, encoding as c_int).map(Cow::Owned),
    }
}

/// Text of ours in the encoding of the database, as the bytes of a value of type text. A character that it
/// does not have is an error.
pub(crate) fn to_database(text: String) -> Result<Vec<u8>, SqlError> {
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

/// Text that the database can hold. Normalization makes characters that it may not have of some that it has;
/// then all that is not ASCII becomes an escape.
pub(crate) fn or_escaped(text: String) -> String {
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

/// The text in ASCII.
fn escape(text: &str) -> Result<String, SqlError> {
    let mut escaped = String::new();
    for c in text.chars() {
        grow_text(&mut escaped, MOST_OF_ESCAPE).map_err(report::problem)?;
        if c.is_ascii() { escaped.push(c) } else { escaped.extend(c.escape_unicode()) }
    }
    Ok(escaped)
}

/// Letters of a character's escape, at most: `\u{10ffff}`.
const MOST_OF_ESCAPE: usize = 10;

/// A name of the database's, for a message.
pub(crate) fn for_message(name: &CStr) -> String {
    to_utf8(name.to_bytes()).map(Cow::into_owned).unwrap_or_default()
}

/// The name of a type, for a message.
pub(crate) fn type_name(type_: pg_sys::Oid) -> String {
    // SAFETY: returns a new C string in the memory of the current call, for any type.
    for_message(unsafe { CStr::from_ptr(pg_sys::format_type_be(type_)) })
}

/// Copies, with an error instead of an abort when memory is short.
pub(crate) fn copy(text: &str) -> Result<String, SqlError> {
    let mut copy = String::new();
    append(&mut copy, text)?;
    Ok(copy)
}

/// Appends, with an error instead of an abort when memory is short.
pub(crate) fn append(to: &mut String, text: &str) -> Result<(), SqlError> {
    grow_text(to, text.len()).map_err(report::problem)?;
    to.push_str(text);
    Ok(())
}

/// Converts slice by slice, so that a huge text can be cancelled.
fn from_encoding(text: &[u8], encoding: c_int) -> Result<Vec<u8>, SqlError> {
    let mut converted = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        check_for_interrupts();
        // SAFETY: pointer and length belong to `rest`. The result is at most that length, at the end of a
        // character.
        let length = unsafe {
            pg_sys::pg_mbcliplen(rest.as_ptr().cast(), rest.len() as c_int, SLICE.min(rest.len()) as c_int)
        };
        // At least one byte, so that a broken character at the end cannot stop us.
        let (slice, after) = rest.split_at((length as usize).max(1));
        convert_slice(slice, encoding, pg_sys::pg_enc::PG_UTF8 as c_int, &mut converted)?;
        rest = after;
    }
    Ok(converted)
}

fn convert_slice(slice: &[u8], from: c_int, to: c_int, converted: &mut Vec<u8>) -> Result<(), SqlError> {
    let source = slice.as_ptr();
    // SAFETY: pointer and length belong to `slice`, which the conversion only reads. It returns either
    // that pointer, when there is nothing to convert, or a new string that ends with a zero byte.
    let result =
        unsafe { pg_sys::pg_do_encoding_conversion(source.cast_mut(), slice.len() as c_int, from, to) };
    if std::ptr::eq(result, source) {
        return append_bytes(converted, slice);
    }
    // SAFETY: a new string, as said above.
    append_bytes(converted, unsafe { CStr::from_ptr(result.cast()) }.to_bytes())?;
    // SAFETY: the conversion allocated it for us, and nothing refers to it any more.
    unsafe { pg_sys::pfree(result.cast()) };
    Ok(())
}

/// Each sequence of bytes that is not UTF-8 becomes one U+FFFD.
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

/// Appends, with an error instead of an abort when memory is short.
pub(crate) fn append_bytes(to: &mut Vec<u8>, bytes: &[u8]) -> Result<(), SqlError> {
    extend(to, bytes).map_err(report::problem)
}
