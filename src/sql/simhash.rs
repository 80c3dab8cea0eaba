//! `sql/simhash.sql`: fingerprints of text.

use crate::pg::call::{Utf8, pg_functions};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use base::extend;
use pgrx::Array;
use std::cell::RefCell;
use text::features::Scheme;
use text::fingerprint::SimHasher;

/// Separates the texts of two columns.
pub(crate) const SEPARATOR: &str = "\n";

thread_local! {
    /// Kept from row to row, to reuse its memory, which grows with the documents.
    static HASHER: RefCell<SimHasher> = RefCell::default();
}

pg_functions!(simhash, simhash_text);

fn simhash(doc: Utf8<'_>, scheme: Scheme) -> Result<Option<i64>, SqlError> {
    fingerprint(&doc, scheme)
}

/// Joins the texts that are not NULL, as `simhash_trigger` does; `None` if all are NULL.
fn simhash_text(columns: Array<'_, &[u8]>) -> Result<Option<Vec<u8>>, SqlError> {
    let mut texts = columns.iter().flatten();
    let Some(first) = texts.next() else { return Ok(None) };
    // The result is in the encoding of the database, and smaller than the array.
    let mut joined = Vec::new();
    extend(&mut joined, first)?;
    for text in texts {
        extend(&mut joined, SEPARATOR.as_bytes())?;
        extend(&mut joined, text)?;
    }
    Ok(Some(joined))
}

/// The fingerprint of a text, or `None` if it has no features.
pub(crate) fn fingerprint(text: &str, scheme: Scheme) -> Result<Option<i64>, SqlError> {
    let made = HASHER.with_borrow_mut(|hasher| hasher.fingerprint(text, scheme, &mut check_for_interrupts));
    Ok(made?.map(|fingerprint| fingerprint as i64))
}
