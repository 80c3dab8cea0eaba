//! `sql/histogram.sql`: which radius suits a table.

use crate::pg::code::list::CodeList;
use crate::pg::encoding::to_utf8;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::query::code_column::{CodeColumn, StoredText};
use crate::pg::report::{self, SqlError};
use hamming::calibration::{Calibration, Level, MAX_QUERIES, SAMPLE};
use limits::reserve;
use pgrx::iter::TableIterator;
use pgrx::{name, pg_extern, pg_sys};
use std::ffi::CStr;
use text::features::Scheme;
use text::sketch::minhash::{self, MinHasher};

/// Texts that share a smaller part of their words and pairs of words are unrelated.
const RELATED: f64 = 0.3;

/// Bins of a signature: the similarity that two signatures show has a standard error of 0.02.
const BINS: usize = 512;

#[pg_extern(sql = false)]
#[expect(clippy::type_complexity, reason = "a row")]
fn hamming_histogram(
    relation: Option<pg_sys::Oid>,
    code: Option<&CStr>,
    sample: Option<i32>,
    body: Option<&CStr>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(distance, i32),
            name!(pairs, i64),
            name!(nearest, i64),
            name!(found, f64),
            name!(unrelated, Option<f64>),
            name!(to_search, bool),
            name!(to_delete, bool),
            name!(reason, Option<String>),
        ),
    >,
    SqlError,
> {
    let levels = match (relation, code, sample) {
        (Some(relation), Some(code), Some(sample)) => levels(relation, code, sample, body)?,
        _ => Vec::new(),
    };
    Ok(TableIterator::new(levels.into_iter().map(|level| {
        let Level { distance, pairs, nearest, found, unrelated, to_search, to_delete, reason } = level;
        let unrelated = unrelated.map(three_digits);
        (distance as i32, pairs as i64, nearest as i64, found, unrelated, to_search, to_delete, reason)
    })))
}

/// The number with three significant digits: an estimate has no more.
fn three_digits(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

fn levels(
    relation: pg_sys::Oid,
    code: &CStr,
    sample: i32,
    body: Option<&CStr>,
) -> Result<Vec<Level>, SqlError> {
    let sample = SAMPLE.of(sample).map_err(report::problem)?;
    let column = CodeColumn::of(relation, code, body)?;
    let mut codes = CodeList::new(column.codes, sample as usize);
    // SAFETY: the column has values of this type.
    column.read(Some(sample), &mut |value| unsafe { codes.push(value) })?;
    let bits = codes.bits().or(column.bits).unwrap_or(0);
    let mut calibration = Calibration::new(codes.codes(), bits).map_err(report::problem)?;
    if body.is_some() {
        compare_texts(&column, sample, &mut codes, &mut calibration)?;
    } else {
        column.read(None, &mut |value| {
            codes.clear();
            // SAFETY: as above.
            unsafe { codes.push(value) }?;
            calibration.add(codes.codes(), &mut check_for_interrupts);
            Ok(())
        })?;
    }
    calibration.levels(&mut check_for_interrupts).map_err(report::problem)
}

/// Compares some rows with all rows of the table, and looks at texts of near ones.
fn compare_texts(
    column: &CodeColumn,
    sample: i32,
    codes: &mut CodeList,
    calibration: &mut Calibration,
) -> Result<(), SqlError> {
    let mut texts = SampledTexts::default();
    let queries = sample.min(MAX_QUERIES as i32);
    reserve(&mut texts.signatures, queries as usize).map_err(report::problem)?;
    codes.clear();
    column.read_with_text(Some(queries), &mut |value, text| {
        // SAFETY: the column has values of this type.
        unsafe { codes.push(value) }?;
        let signature = texts.signature(text)?;
        texts.signatures.push(signature);
        Ok(())
    })?;
    calibration.judge_pairs_of(codes.codes()).map_err(report::problem)?;
    column.read_with_text(None, &mut |value, text| {
        codes.clear();
        // SAFETY: as above.
        unsafe { codes.push(value) }?;
        calibration.add(codes.codes(), &mut check_for_interrupts);
        let mut signature = None;
        while let Some(pair) = calibration.next_to_judge() {
            let signature = match &signature {
                Some(signature) => signature,
                None => signature.insert(texts.signature(text)?),
            };
            calibration.judge(pair, texts.is_unrelated(pair.query, signature.as_deref()));
        }
        Ok(())
    })
}

/// Signatures of the texts that others are compared with; `None` for a text without words.
#[derive(Default)]
struct SampledTexts {
    signatures: Vec<Option<Vec<i32>>>,
    hasher: MinHasher,
}

impl SampledTexts {
    fn signature(&mut self, text: StoredText) -> Result<Option<Vec<i32>>, SqlError> {
        check_for_interrupts();
        // SAFETY: the row is the current one of a cursor.
        let text = to_utf8(unsafe { text.bytes() })?;
        self.hasher.bins(&text, BINS, Scheme::DOC2, &mut check_for_interrupts).map_err(report::problem)
    }

    fn is_unrelated(&self, query: usize, signature: Option<&[i32]>) -> bool {
        match (self.signatures[query].as_deref(), signature) {
            (Some(a), Some(b)) => minhash::similarity(a, b).is_some_and(|share| share < RELATED),
            (a, b) => a.is_some() != b.is_some(),
        }
    }
}
