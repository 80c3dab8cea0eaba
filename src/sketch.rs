//! `sql/sketch.sql`: sketches and their comparison.

use crate::pg::error::{self, SqlError};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::text;
use pgrx::{Array, pg_extern};
use simhash_core::manber;
use simhash_core::sketch::Overlap;

#[pg_extern(sql = false)]
fn manber_sketch(
    doc: &[u8],
    window: i32,
    sample_bits: i32,
    prime: i64,
    modulus: i64,
) -> Result<Vec<i64>, SqlError> {
    let parameters =
        manber::Parameters::new(window.into(), sample_bits.into(), prime, modulus).map_err(error::manber)?;
    let doc = text::to_utf8_bytes(doc)?;
    parameters.sketch(&doc, &mut check_for_interrupts).map_err(error::manber)
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
        (Ok(a), Ok(b)) if a.len().max(b.len()) <= manber::MAX_VALUES => Ok(Overlap::of(a, b)),
        (Ok(a), Ok(b)) => Err(error::sketch_too_large(a.len().max(b.len()))),
        _ => Err(error::null_in_sketch()),
    }
}
