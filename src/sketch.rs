//! `sql/sketch.sql`: sketches and their comparison.

use crate::pg::error::{self, SqlError};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::text;
use pgrx::{Array, pg_extern};
use simhash_core::sample::MAX_VALUES;
use simhash_core::sketch::Overlap;
use simhash_core::{heintze, manber, winnow};

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "each is one of the user's")]
fn manber_sketch(
    doc: &[u8],
    window: i32,
    sample_bits: i32,
    prime: i64,
    modulus: i64,
    divisor: i64,
    unit: &[u8],
    hash: &[u8],
) -> Result<Vec<i64>, SqlError> {
    let parameters = manber::Parameters {
        window: window.into(),
        sample_bits: sample_bits.into(),
        divisor,
        prime,
        modulus,
        unit: text::to_utf8(unit)?.parse().map_err(error::manber)?,
        hash: text::to_utf8(hash)?.parse().map_err(error::manber)?,
    };
    parameters.sketch(&text::to_utf8(doc)?, &mut check_for_interrupts).map_err(error::manber)
}

#[pg_extern(sql = false)]
fn winnow_sketch(doc: &[u8], k: i32, w: i32) -> Result<Vec<i64>, SqlError> {
    let parameters = winnow::Parameters::new(k.into(), w.into()).map_err(error::out_of_range)?;
    let doc = text::to_utf8(doc)?;
    parameters.sketch(doc.as_bytes(), &mut check_for_interrupts).map_err(error::sample)
}

#[pg_extern(sql = false)]
fn heintze_sketch(
    doc: &[u8],
    size: i32,
    length: i32,
    frequent: Array<'_, i64>,
) -> Result<Vec<i64>, SqlError> {
    let parameters = heintze::Parameters::new(size.into(), length.into()).map_err(error::heintze)?;
    let frequent = frequent.as_slice().map_err(|_| error::null_in_sketch())?;
    let doc = text::to_utf8(doc)?;
    parameters.sketch(&doc, frequent, &mut check_for_interrupts).map_err(error::heintze)
}

#[pg_extern(sql = false)]
fn sketch_resemblance(a: Array<'_, i64>, b: Array<'_, i64>) -> Result<Option<f64>, SqlError> {
    Ok(overlap(&a, &b)?.resemblance())
}

#[pg_extern(sql = false)]
fn sketch_containment(a: Array<'_, i64>, b: Array<'_, i64>) -> Result<Option<f64>, SqlError> {
    Ok(overlap(&a, &b)?.containment())
}

fn overlap(a: &Array<'_, i64>, b: &Array<'_, i64>) -> Result<Overlap, SqlError> {
    match (a.as_slice(), b.as_slice()) {
        (Ok(a), Ok(b)) if a.len().max(b.len()) <= MAX_VALUES => Ok(Overlap::of(a, b)),
        (Ok(a), Ok(b)) => Err(error::sketch_too_large(a.len().max(b.len()))),
        _ => Err(error::null_in_sketch()),
    }
}
