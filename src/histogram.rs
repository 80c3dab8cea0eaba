//! `sql/histogram.sql`: which radius suits a table.

use crate::pg::codes::CodeList;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::query::CodeColumn;
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
    let column = CodeColumn::of(relation, column)?;
    let mut codes = CodeList::new(column.kind, sample as usize);
    // SAFETY: the column has values of this kind.
    column.read(Some(sample), &mut |value| unsafe { codes.push(value) })?;
    let bits = codes.bits().or(column.bits).unwrap_or(0);
    let mut calibration = Calibration::new(codes.codes(), bits);
    column.read(None, &mut |value| {
        codes.clear();
        // SAFETY: as above.
        unsafe { codes.push(value) }?;
        calibration.add(codes.codes(), &mut check_for_interrupts);
        Ok(())
    })?;
    let levels = calibration.levels(&mut check_for_interrupts);
    Ok(TableIterator::new(levels.into_iter().map(|level| {
        let Level { distance, pairs, nearest, found, unrelated, recommended } = level;
        (distance as i32, pairs as i64, nearest as i64, found, unrelated, recommended)
    })))
}
