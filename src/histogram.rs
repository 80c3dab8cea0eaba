//! `sql/histogram.sql`: how far apart the codes of a table are.

use crate::pg::code::list::CodeList;
use crate::pg::encoding::to_utf8;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::query::code_column::{CodeColumn, StoredText};
use crate::pg::report::{self, SqlError};
use crate::simhash::parse_scheme;
use hamming::histogram::{DistanceHistogram, DistanceLevel, MAX_QUERIES, SAMPLE};
use limits::reserve;
use pgrx::iter::TableIterator;
use pgrx::{name, pg_extern, pg_sys};
use std::ffi::CStr;
use text::features::Scheme;
use text::sketch::minhash::{self, MinHasher};

/// Texts are alike that share this part of their pairs of words.
const FEATURES: &str = "word:2";
const ALIKE: f64 = 0.45;

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
            name!(rows, f64),
            name!(pairs, i64),
            name!(alike, Option<f64>),
            name!(compared, Option<i64>),
            name!(to_search, bool),
            name!(reason, Option<String>),
        ),
    >,
    SqlError,
> {
    Ok(TableIterator::new(levels(relation, code, sample, body)?.into_iter().map(|level| {
        let DistanceLevel { distance, rows, pairs, alike, compared, to_search, reason } = level;
        (distance as i32, rows, pairs as i64, alike, compared.map(|pairs| pairs as i64), to_search, reason)
    })))
}

/// What is known of each distance; nothing if an argument is NULL.
fn levels(
    relation: Option<pg_sys::Oid>,
    code: Option<&CStr>,
    sample: Option<i32>,
    body: Option<&CStr>,
) -> Result<Vec<DistanceLevel>, SqlError> {
    let (Some(relation), Some(code), Some(sample)) = (relation, code, sample) else { return Ok(Vec::new()) };
    let sample = SAMPLE.of(sample).map_err(report::problem)?;
    let column = CodeColumn::of(relation, code, body)?;
    let mut codes = CodeList::new(column.codes, sample as usize);
    // SAFETY: the column has values of this type.
    column.read(Some(sample), &mut |value| unsafe { codes.push(value) })?;
    let bits = codes.bits().or(column.bits).unwrap_or(0);
    let mut histogram = DistanceHistogram::new(codes.codes(), bits).map_err(report::problem)?;
    if body.is_some() {
        compare_texts(&column, sample, &mut codes, &mut histogram)?;
    } else {
        column.read(None, &mut |value| {
            codes.clear();
            // SAFETY: as above.
            unsafe { codes.push(value) }?;
            histogram.add(codes.codes(), &mut check_for_interrupts);
            Ok(())
        })?;
    }
    histogram.levels(&mut check_for_interrupts).map_err(report::problem)
}

/// Compares some rows with all rows of the table, and looks at texts of near ones.
fn compare_texts(
    column: &CodeColumn,
    sample: i32,
    codes: &mut CodeList,
    histogram: &mut DistanceHistogram,
) -> Result<(), SqlError> {
    let queries = sample.min(MAX_QUERIES as i32);
    let features = parse_scheme(FEATURES)?;
    let mut hasher = MinHasher::default();
    let mut signatures: Vec<Signature> = Vec::new();
    reserve(&mut signatures, queries as usize).map_err(report::problem)?;
    codes.clear();
    column.read_with_text(Some(queries), &mut |value, text| {
        // SAFETY: the column has values of this type.
        unsafe { codes.push(value) }?;
        signatures.push(signature_of(text, features, &mut hasher)?);
        Ok(())
    })?;
    histogram.judge_pairs_of(codes.codes()).map_err(report::problem)?;
    column.read_with_text(None, &mut |value, text| {
        codes.clear();
        // SAFETY: as above.
        unsafe { codes.push(value) }?;
        histogram.add(codes.codes(), &mut check_for_interrupts);
        let mut signature = None;
        while let Some(pair) = histogram.next_to_judge() {
            let signature = match &signature {
                Some(signature) => signature,
                None => signature.insert(signature_of(text, features, &mut hasher)?),
            };
            let is_alike = match (&signatures[pair.query], signature) {
                (Some(a), Some(b)) => minhash::similarity(a, b) >= Some(ALIKE),
                // Texts without pairs of words.
                (a, b) => pair.distance == 0 && a.is_none() && b.is_none(),
            };
            histogram.judge(pair, is_alike);
        }
        Ok(())
    })
}

/// The signature of a text; nothing if it has no pairs of words.
type Signature = Option<Vec<i32>>;

fn signature_of(text: StoredText, features: Scheme, hasher: &mut MinHasher) -> Result<Signature, SqlError> {
    check_for_interrupts();
    // SAFETY: the row is the current one of a cursor.
    let text = to_utf8(unsafe { text.bytes() })?;
    hasher.bins(&text, BINS, features, &mut check_for_interrupts).map_err(report::problem)
}
