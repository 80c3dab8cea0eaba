//! `sql/explain.sql`: explains how a fingerprint is made from the features of a text.

use crate::pg::call::{Utf8, pg_functions};
use crate::pg::encoding;
use crate::pg::input::jsonb_of;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{self, SqlError};
use crate::pg::result_set::ResultSet;
use base::{OutOfMemory, extend, push};
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::{IntoDatum, pg_sys};
use std::ffi::CStr;
use std::io::{self, Write};
use text::features::{EXAMPLE, SCHEMES, Scheme};
use text::fingerprint::explain;

pg_functions!(simhash_features, simhash_explain, simhash_schemes);

/// Returns a row for each feature: the feature, its weight, its hash and its number of occurrences.
fn simhash_features(doc: Utf8<'_>, scheme: Scheme, mut rows: ResultSet) -> Result<(), SqlError> {
    for feature in explain::features(&doc, scheme, &mut check_for_interrupts)? {
        check_for_interrupts();
        rows.put([
            encoding::to_database_or_escaped(feature.text)?.into_datum(),
            feature.weight.into_datum(),
            (feature.hash as i64).into_datum(),
            i32::try_from(feature.occurrences).unwrap_or(i32::MAX).into_datum(),
        ]);
    }
    Ok(())
}

/// The explanation as jsonb.
fn simhash_explain(a: Utf8<'_>, b: Utf8<'_>, scheme: Scheme) -> Result<pg_sys::Datum, SqlError> {
    let mut explanation = explain::explain(&a, &b, scheme, &mut check_for_interrupts)?;
    explanation.rewrite_features(encoding::or_escaped);
    let mut json = Json(Vec::new());
    serde_json::to_writer(&mut json, &explanation).map_err(|_| OutOfMemory(json.0.len()))?;
    let json = String::from_utf8(json.0).map_err(|_| no_json())?;
    let mut json = encoding::to_database(json)?;
    push(&mut json, 0)?;
    let json = CStr::from_bytes_until_nul(&json).map_err(|_| no_json())?;
    jsonb_of(json).ok_or_else(no_json)
}

/// Collects JSON. Writing fails only if memory is refused.
struct Json(Vec<u8>);

impl Write for Json {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        extend(&mut self.0, bytes).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn simhash_schemes(mut rows: ResultSet) {
    for family in &SCHEMES {
        rows.put([
            family.name.into_datum(),
            family.version.into_datum(),
            family.unit().into_datum(),
            family.features.into_datum(),
            family.example().to_string().into_datum(),
            EXAMPLE.into_datum(),
            (family.fingerprint as i64).into_datum(),
        ]);
    }
}

fn no_json() -> SqlError {
    report::report(Code::ERRCODE_INTERNAL_ERROR, "explanation cannot be written as JSON")
}
