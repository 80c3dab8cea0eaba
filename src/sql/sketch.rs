//! `sql/sketch.sql`: sketches, and comparisons of sketches.

use crate::pg::call::{Utf8, pg_functions};
use crate::pg::error;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use crate::pg::sketch::{overlap, without_nulls};
use base::choose;
use pgrx::Array;
use text::sketch::heintze::{self, HeintzeParameters};
use text::sketch::manber::{self, ManberParameters, ManberSketcher};
use text::sketch::overlap::overlaps;
use text::sketch::winnow::{self, WinnowParameters};

pg_functions!(
    manber_sketch,
    winnow_sketch,
    excerpt_sketch,
    heintze_sketch,
    sketch_similarity,
    sketch_containment,
    sketch_similar,
    sketch_contained,
    sketch_above,
    sketch_overlaps
);

#[expect(clippy::too_many_arguments, reason = "each is one of the user's")]
fn manber_sketch(
    doc: Utf8<'_>,
    length: i32,
    sample_bits: i32,
    prime: i64,
    modulus: i64,
    divisor: i64,
    unit: Utf8<'_>,
    hash: Utf8<'_>,
) -> Result<Vec<i64>, SqlError> {
    let unit = choose("unit", &unit, &manber::UNITS)?;
    let hash = choose("hash", &hash, &manber::HASHES)?;
    let length = manber::LENGTH.of(length)?;
    let sample_bits = manber::SAMPLE_BITS.of(sample_bits)?;
    let divisor = manber::DIVISOR.of(divisor)?;
    let prime = manber::BASE.of(prime)?;
    let modulus = manber::MODULUS.of(modulus)?;
    let parameters = ManberParameters { length, sample_bits, divisor, prime, modulus, unit, hash };
    Ok(ManberSketcher::new(parameters)?.sketch(&doc, &mut check_for_interrupts)?)
}

fn winnow_sketch(doc: Utf8<'_>, length: i32, span: i32) -> Result<Vec<i64>, SqlError> {
    let parameters = WinnowParameters::new(winnow::LENGTH.of(length)?, winnow::SPAN.of(span)?)?;
    Ok(parameters.sketch(doc.as_bytes(), &mut check_for_interrupts)?)
}

fn excerpt_sketch(doc: Utf8<'_>, min_length: i32) -> Result<Vec<i64>, SqlError> {
    let parameters = WinnowParameters::for_excerpts(winnow::MIN_LENGTH.of(min_length)?)?;
    Ok(parameters.sketch(doc.as_bytes(), &mut check_for_interrupts)?)
}

fn heintze_sketch(
    doc: Utf8<'_>,
    size: i32,
    length: i32,
    frequent: Array<'_, i64>,
) -> Result<Vec<i64>, SqlError> {
    let parameters = HeintzeParameters::new(heintze::SIZE.of(size)?, heintze::LENGTH.of(length)?)?;
    let frequent = frequent.as_slice().map_err(|_| error::null_in_sketch())?;
    Ok(parameters.sketch(&doc, frequent, &mut check_for_interrupts)?)
}

fn sketch_similarity(a: Array<'_, i64>, b: Array<'_, i64>) -> Result<Option<f64>, SqlError> {
    Ok(overlap(&a, &b)?.similarity())
}

fn sketch_containment(a: Array<'_, i64>, b: Array<'_, i64>) -> Result<Option<f64>, SqlError> {
    Ok(overlap(&a, &b)?.containment())
}

/// `sketch_similarity(a, b) >= least`.
fn sketch_similar(a: Array<'_, i64>, b: Array<'_, i64>, least: f64) -> Result<Option<bool>, SqlError> {
    Ok(overlap(&a, &b)?.similarity().map(|share| share >= least))
}

/// `sketch_containment(a, b) >= least`.
fn sketch_contained(a: Array<'_, i64>, b: Array<'_, i64>, least: f64) -> Result<Option<bool>, SqlError> {
    Ok(overlap(&a, &b)?.containment().map(|share| share >= least))
}

/// The least number that is greater than `share`.
fn sketch_above(share: f64) -> f64 {
    share.next_up()
}

/// `a && b`. No value of an argument raises an error, so the function is leakproof.
fn sketch_overlaps(a: Array<'_, i64>, b: Array<'_, i64>) -> Result<bool, SqlError> {
    Ok(overlaps(&without_nulls(&a)?, &without_nulls(&b)?, &mut check_for_interrupts)?)
}
