//! `sql/histogram.sql`: how far apart the codes of a table are, and which of the near rows are duplicates.

use crate::pg::code::list::CodeList;
use crate::pg::encoding::to_utf8;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::query::code_column::{CodeColumn, StoredText};
use crate::pg::report::{self, SqlError, notice};
use crate::sql::simhash::parse_scheme;
use base::push;
use hamming::histogram::{DistanceHistogram, DistanceLevel, SAMPLE};
use pgrx::iter::TableIterator;
use pgrx::{name, pg_extern, pg_sys};
use std::ffi::CStr;
use text::sketch::rarity::{self, FeatureCounter, FeatureWeights};

/// Whose features are weighed, by how many texts of the table.
const FEATURES: &str = "word:2";
const WEIGHED: i32 = 10_000;
/// So many of the nearest pairs must have been compared, and this share of them be made from templates.
const ENOUGH: u64 = 20;
const MANY: f64 = 0.1;

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
            name!(duplicates, Option<f64>),
            name!(at_most, Option<f64>),
            name!(compared, Option<i64>),
            name!(to_search, bool),
        ),
    >,
    SqlError,
> {
    let levels = match (relation, code, sample) {
        (Some(relation), Some(code), Some(sample)) => levels(relation, code, sample, body)?,
        _ => Vec::new(),
    };
    Ok(TableIterator::new(levels.into_iter().map(|level| {
        let DistanceLevel { distance, rows, pairs, duplicates: found, to_search } = level;
        let (duplicates, at_most) = (found.map(|found| found.rows), found.map(|found| found.at_most));
        let compared = found.map(|found| found.compared as i64);
        (distance as i32, rows, pairs as i64, duplicates, at_most, compared, to_search)
    })))
}

fn levels(
    relation: pg_sys::Oid,
    code: &CStr,
    sample: i32,
    body: Option<&CStr>,
) -> Result<Vec<DistanceLevel>, SqlError> {
    let sample: i32 = SAMPLE.of(sample).map_err(report::problem)?;
    let column = CodeColumn::of(relation, code, body)?;
    let mut codes = CodeList::new(column.codes, sample as usize);
    let mut texts = SampledTexts::default();
    if body.is_some() {
        column.read_with_text(Some(sample.max(WEIGHED)), &mut |value, text| {
            if texts.features.len() < sample as usize {
                // SAFETY: the column has values of this type.
                unsafe { codes.push(value) }?;
            }
            texts.add(text, sample as usize)
        })?;
    } else {
        // SAFETY: as above.
        column.read(Some(sample), &mut |value| unsafe { codes.push(value) })?;
    }
    let bits = codes.bits().or(column.bits).unwrap_or(0);
    let mut histogram = DistanceHistogram::new(codes.codes(), bits).map_err(report::problem)?;
    if body.is_some() {
        texts.compare_with(&column, &mut codes, &mut histogram)?;
    } else {
        column.read(None, &mut |value| {
            codes.clear();
            // SAFETY: as above.
            unsafe { codes.push(value) }?;
            check_for_interrupts();
            histogram.add(codes.codes().get(0));
            Ok(())
        })?;
    }
    say_what_is_odd(&histogram);
    histogram.levels().map_err(report::problem)
}

/// Texts of the sample: the features of the queries, and in how many texts each feature is.
#[derive(Default)]
struct SampledTexts {
    counter: FeatureCounter,
    counts: Vec<u8>,
    features: Vec<Vec<i64>>,
}

impl SampledTexts {
    fn add(&mut self, text: StoredText, queries: usize) -> Result<(), SqlError> {
        if self.counts.is_empty() {
            self.counts = base::collect(std::iter::repeat_n(0, rarity::COUNTS_BYTES), rarity::COUNTS_BYTES)
                .map_err(report::problem)?;
        }
        let features = features_of(&mut self.counter, text)?;
        rarity::add_features(&mut self.counts, &features, parse_scheme(FEATURES)?, &mut check_for_interrupts)
            .map_err(report::problem)?;
        if self.features.len() < queries {
            push(&mut self.features, features).map_err(report::problem)?;
        }
        Ok(())
    }

    /// Compares the queries with all rows of the table, and the texts of some near pairs.
    fn compare_with(
        mut self,
        column: &CodeColumn,
        codes: &mut CodeList,
        histogram: &mut DistanceHistogram,
    ) -> Result<(), SqlError> {
        let weights = if self.counts.is_empty() {
            None
        } else {
            rarity::weights(&mut self.counts).map_err(report::problem)?
        };
        histogram.judge_pairs().map_err(report::problem)?;
        column.read_with_text(None, &mut |value, text| {
            codes.clear();
            // SAFETY: the column has values of this type.
            unsafe { codes.push(value) }?;
            check_for_interrupts();
            histogram.add(codes.codes().get(0));
            let mut features = None;
            while let Some(pair) = histogram.next_to_judge() {
                let features = match &features {
                    Some(features) => features,
                    None => features.insert(features_of(&mut self.counter, text)?),
                };
                let weights =
                    weights.as_deref().map(FeatureWeights::read).transpose().map_err(report::problem)?;
                let alike = weights.and_then(|weights| {
                    weights.similarity(&self.features[pair.query], features, &mut check_for_interrupts)
                });
                histogram.judge(pair, alike.unwrap_or(0.0));
            }
            Ok(())
        })
    }
}

fn features_of(counter: &mut FeatureCounter, text: StoredText) -> Result<Vec<i64>, SqlError> {
    // SAFETY: the row is the current one of a cursor.
    let text = to_utf8(unsafe { text.bytes() })?;
    counter.features(&text, parse_scheme(FEATURES)?, &mut check_for_interrupts).map_err(report::problem)
}

const PAGE: &str = "docs/choosing-a-threshold.md says what that means.";

fn say_what_is_odd(histogram: &DistanceHistogram) {
    if histogram.is_even() {
        notice("all distances are even, so an odd radius finds no more than the even one below it", PAGE);
    }
    match (histogram.templates(), histogram.crowd()) {
        (Some((distance, pairs, apart)), _) if pairs >= ENOUGH && apart as f64 > MANY * pairs as f64 => {
            notice(
                &format!(
                    "texts are made from templates: {apart} of {pairs} pairs within distance {distance} have less than half in common by weight"
                ),
                "Decide by a second code with weights: docs/deduplication.md.",
            )
        }
        (None, Some((distance, rows))) => {
            notice(&format!("{rows:.0} rows are within distance {distance} of a row"), PAGE)
        }
        _ => {}
    }
}
