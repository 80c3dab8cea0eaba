//! `sql/histogram.sql`: which radius suits a table.

use crate::pg::code::list::CodeList;
use crate::pg::encoding::to_utf8;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::query::code_column::{CodeColumn, StoredText};
use crate::pg::report::{self, SqlError};
use crate::simhash::parse_scheme;
use hamming::calibration::{Calibration, Level, MAX_QUERIES, PairVerdict, SAMPLE};
use limits::reserve;
use pgrx::iter::TableIterator;
use pgrx::{name, pg_extern, pg_sys};
use std::ffi::CStr;
use text::features::Scheme;
use text::sketch::minhash::{self, MinHasher};

/// Texts that share a smaller part of their words and pairs of words are unrelated.
const RELATED: f64 = 0.3;

/// The documented second look: texts that share this part of their pairs of words are versions of one text.
const LOOK: &str = "word:2";
const KEPT: f64 = 0.45;

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
            name!(kept, Option<f64>),
            name!(to_search, bool),
            name!(to_delete, bool),
            name!(to_check, bool),
            name!(reason, Option<String>),
        ),
    >,
    SqlError,
> {
    Ok(TableIterator::new(levels(relation, code, sample, body)?.into_iter().map(|level| {
        let Level { distance, pairs, nearest, found, to_search, to_delete, to_check, reason, .. } = level;
        let (unrelated, kept) = (level.unrelated.map(three_digits), level.kept.map(three_digits));
        let (pairs, nearest) = (pairs as i64, nearest as i64);
        (distance as i32, pairs, nearest, found, unrelated, kept, to_search, to_delete, to_check, reason)
    })))
}

/// The number with three significant digits: an estimate has no more.
fn three_digits(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

/// What is known of each distance; nothing if an argument is NULL.
fn levels(
    relation: Option<pg_sys::Oid>,
    code: Option<&CStr>,
    sample: Option<i32>,
    body: Option<&CStr>,
) -> Result<Vec<Level>, SqlError> {
    let (Some(relation), Some(code), Some(sample)) = (relation, code, sample) else { return Ok(Vec::new()) };
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
    let queries = sample.min(MAX_QUERIES as i32);
    let mut texts = SampledTexts::new(queries as usize)?;
    codes.clear();
    column.read_with_text(Some(queries), &mut |value, text| {
        // SAFETY: the column has values of this type.
        unsafe { codes.push(value) }?;
        let signatures = texts.signatures_of(text)?;
        texts.signatures.push(signatures);
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
                None => signature.insert(texts.signatures_of(text)?),
            };
            calibration.judge(pair, texts.verdict(pair.query, signature));
        }
        Ok(())
    })
}

/// Signatures of a text: none where it has no words, or no pairs of words.
struct TextSignatures {
    /// Of its words and pairs of words.
    features: Option<Vec<i32>>,
    /// Of its pairs of words, for the second look.
    look: Option<Vec<i32>>,
}

/// Signatures of the texts that others are compared with.
struct SampledTexts {
    signatures: Vec<TextSignatures>,
    hasher: MinHasher,
    look: Scheme,
}

impl SampledTexts {
    fn new(texts: usize) -> Result<Self, SqlError> {
        let mut signatures = Vec::new();
        reserve(&mut signatures, texts).map_err(report::problem)?;
        Ok(Self { signatures, hasher: MinHasher::default(), look: parse_scheme(LOOK)? })
    }

    fn signatures_of(&mut self, text: StoredText) -> Result<TextSignatures, SqlError> {
        check_for_interrupts();
        // SAFETY: the row is the current one of a cursor.
        let text = to_utf8(unsafe { text.bytes() })?;
        let mut bins = |scheme| {
            self.hasher.bins(&text, BINS, scheme, &mut check_for_interrupts).map_err(report::problem)
        };
        Ok(TextSignatures { features: bins(Scheme::DOC2)?, look: bins(self.look)? })
    }

    fn verdict(&self, query: usize, other: &TextSignatures) -> PairVerdict {
        let query = &self.signatures[query];
        let share =
            |a: &Option<Vec<i32>>, b: &Option<Vec<i32>>| minhash::similarity(a.as_deref()?, b.as_deref()?);
        let is_unrelated = match share(&query.features, &other.features) {
            Some(share) => share < RELATED,
            None => query.features.is_some() != other.features.is_some(),
        };
        PairVerdict { is_unrelated, is_kept: share(&query.look, &other.look) >= Some(KEPT) }
    }
}
