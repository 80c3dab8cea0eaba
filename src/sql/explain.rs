//! `sql/explain.sql`: explains how a fingerprint is made from the features of a text.

use crate::pg::call::pg_functions;
use crate::pg::encoding;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{self, SqlError};
use crate::sql::simhash::parse_scheme;
use base::{OutOfMemory, extend, push};
use pgrx::iter::TableIterator;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::{pg_extern, pg_sys};
use std::io::{self, Write};
use text::features::{EXAMPLE, SCHEMES};
use text::fingerprint::explain;

/// Returns a row for each feature: the feature, its weight, its hash and its number of occurrences.
#[pg_extern(sql = false)]
#[expect(clippy::type_complexity, reason = "a row")]
fn simhash_features(
    doc: &[u8],
    scheme: &[u8],
) -> Result<TableIterator<'static, (Vec<u8>, f64, i64, i32)>, SqlError> {
    let scheme = parse_scheme(&encoding::to_utf8(scheme)?)?;
    let features = explain::features(&encoding::to_utf8(doc)?, scheme, &mut check_for_interrupts);
    let rows = features.map_err(report::problem)?.into_iter().map(|feature| {
        let occurrences = i32::try_from(feature.occurrences).unwrap_or(i32::MAX);
        (
            encoding::to_database_or_escaped(feature.text).unwrap_or_report(),
            feature.weight,
            feature.hash as i64,
            occurrences,
        )
    });
    Ok(TableIterator::new(rows))
}

pg_functions!(simhash_explain);

/// The explanation as jsonb.
fn simhash_explain(a: &[u8], b: &[u8], scheme: &[u8]) -> Result<pg_sys::Datum, SqlError> {
    let scheme = parse_scheme(&encoding::to_utf8(scheme)?)?;
    let (a, b) = (encoding::to_utf8(a)?, encoding::to_utf8(b)?);
    let mut explanation =
        explain::explain(&a, &b, scheme, &mut check_for_interrupts).map_err(report::problem)?;
    explanation.rewrite_features(encoding::or_escaped);
    let mut json = Json(Vec::new());
    serde_json::to_writer(&mut json, &explanation).map_err(|_| report::problem(OutOfMemory(json.0.len())))?;
    let json = String::from_utf8(json.0).map_err(|_| no_json())?;
    let mut json = encoding::to_database(json)?;
    push(&mut json, 0).map_err(report::problem)?;
    // SAFETY: the input function of jsonb reads a C string in the encoding of the database, and returns a new
    // value.
    let jsonb = unsafe {
        pgrx::direct_function_call_as_datum(pg_sys::jsonb_in, &[Some(pg_sys::Datum::from(json.as_ptr()))])
    };
    jsonb.ok_or_else(no_json)
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

#[pg_extern(sql = false)]
fn simhash_schemes()
-> TableIterator<'static, (&'static str, i32, &'static str, &'static str, String, &'static str, i64)> {
    TableIterator::new(SCHEMES.iter().map(|family| {
        let (example, fingerprint) = (family.example().to_string(), family.fingerprint as i64);
        (family.name, family.version, family.unit(), family.features, example, EXAMPLE, fingerprint)
    }))
}

fn no_json() -> SqlError {
    report::report(Code::ERRCODE_INTERNAL_ERROR, "explanation cannot be written as JSON")
}
