//! `sql/histogram.sql`: which radius suits a table.

use crate::pg::interrupts::check_for_interrupts;
use crate::pg::query::FingerprintColumn;
use crate::pg::report::{self, SqlError};
use hamming::calibration::{Calibration, Level, SAMPLE};
use pgrx::iter::TableIterator;
use pgrx::{name, pg_extern, pg_sys};
use std::ffi::CStr;

#[pg_extern(sql = false)]
#[expect(clippy::type_complexity, reason = "a row")]
fn hamming_histogram(
    relation: pg_sys::Oid,
    column: &CStr,
    sample: i32,
) -> Result<
    TableIterator<
        'static,
        (
            name!(distance, i32),
            name!(pairs, i64),
            name!(nearest, i64),
            name!(found, f64),
            name!(unrelated, Option<f64>),
            name!(recommended, bool),
        ),
    >,
    SqlError,
> {
    let sample = SAMPLE.of(sample).map_err(report::problem)?;
    let column = FingerprintColumn::of(relation, column)?;
    let fingerprints = |values: &[i64]| -> Vec<u64> { values.iter().map(|&value| value as u64).collect() };
    let mut sampled = Vec::new();
    column.read(Some(sample), &mut |values| sampled.extend(fingerprints(values)));
    let mut calibration = Calibration::new(sampled);
    column.read(None, &mut |values| calibration.add(&fingerprints(values), &mut check_for_interrupts));
    let levels = calibration.levels(&mut check_for_interrupts);
    Ok(TableIterator::new(levels.into_iter().map(|level| {
        let Level { distance, pairs, nearest, found, unrelated, recommended } = level;
        (distance as i32, pairs as i64, nearest as i64, found, unrelated, recommended)
    })))
}
