//! `sql/histogram.sql`: the distances between the codes of a table, and which near rows are duplicates.

use crate::pg::call::pg_functions;
use crate::pg::code::list::CodeList;
use crate::pg::encoding::to_utf8;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::query::code_column::CodeColumn;
use crate::pg::report::{SqlError, notice};
use crate::pg::result_set::{ResultSet, rounded};
use base::{collect, push};
use hamming::code::check_width;
use hamming::histogram::{DistanceHistogram, DistanceLevel, SAMPLE};
use pgrx::{IntoDatum, pg_sys};
use std::ffi::CStr;
use std::iter::repeat_n;
use text::sketch::rarity::{COUNTS_BYTES, FeatureCounter, FeatureWeights, add_features, weights};

/// The features that are weighed, and the number of texts of the table from which weights are computed.
const FEATURES: &str = "word:2";
const WEIGHED: i32 = 10_000;
/// A text with fewer features is too short for weights to decide what is a duplicate.
const FEW: usize = 30;

pg_functions!(hamming_histogram);

fn hamming_histogram(
    relation: Option<pg_sys::Oid>,
    code: Option<&CStr>,
    sample: Option<i32>,
    body: Option<&CStr>,
    mut rows: ResultSet,
) -> Result<(), SqlError> {
    let Some(relation) = relation else { return Ok(()) };
    let Some(code) = code else { return Ok(()) };
    let Some(sample) = sample else { return Ok(()) };
    for (level, distance) in levels(relation, code, sample, body)?.into_iter().zip(0i32..) {
        rows.put([
            distance.into_datum(),
            rounded(level.rows),
            (level.pairs as i64).into_datum(),
            level.duplicates.and_then(|found| rounded(found.rows)),
            level.duplicates.and_then(|found| rounded(found.at_most)),
            level.duplicates.and_then(|found| (found.compared as i64).into_datum()),
            level.to_search.into_datum(),
        ]);
    }
    Ok(())
}

fn levels(
    relation: pg_sys::Oid,
    code: &CStr,
    sample: i32,
    body: Option<&CStr>,
) -> Result<Vec<DistanceLevel>, SqlError> {
    let sample: i32 = SAMPLE.of(sample)?;
    let column = CodeColumn::of(relation, code, body)?;
    let mut codes = CodeList::new(column.codes, sample as usize);
    let counts = collect(repeat_n(0, COUNTS_BYTES), COUNTS_BYTES)?;
    let mut texts = SampledTexts { counts, ..SampledTexts::default() };
    let read = if body.is_some() { sample.max(WEIGHED) } else { sample };
    column.read(Some(read), &mut |row| {
        let is_query = codes.codes().len() < sample as usize;
        if is_query {
            row.push_code(&mut codes)?;
        }
        if body.is_some() { texts.add(row.text(), is_query) } else { Ok(()) }
    })?;
    let weights = weights(&texts.counts)?;
    let weights = weights.as_deref().map(FeatureWeights::read).transpose()?;
    let bits = codes.bits().or(column.bits).unwrap_or(0);
    check_width(bits)?;
    let mut histogram = DistanceHistogram::new(codes.codes(), bits, body.is_some())?;
    column.read(None, &mut |row| {
        check_for_interrupts();
        codes.clear();
        row.push_code(&mut codes)?;
        let mut features = None;
        histogram.add(codes.codes().get(0), |query| {
            let of_row = match &features {
                Some(features) => features,
                None => features.insert(features_of(&mut texts.counter, row.text())?),
            };
            let of_query = &texts.of_queries[query];
            let alike =
                weights.map(|weights| weights.similarity(of_query, of_row, &mut check_for_interrupts));
            Ok::<_, SqlError>(alike.flatten().unwrap_or(0.0))
        })
    })?;
    say_what_is_odd(&histogram, &texts.of_queries);
    Ok(histogram.levels()?)
}

/// The number of texts of the sample that have each feature, and the features of the queries' texts.
#[derive(Default)]
struct SampledTexts {
    counter: FeatureCounter,
    counts: Vec<u8>,
    of_queries: Vec<Vec<i64>>,
}

impl SampledTexts {
    fn add(&mut self, text: &[u8], is_query: bool) -> Result<(), SqlError> {
        let scheme = FEATURES.parse()?;
        if !is_query {
            let text = to_utf8(text)?;
            return Ok(self.counter.count(&mut self.counts, &text, scheme, &mut check_for_interrupts)?);
        }
        let features = features_of(&mut self.counter, text)?;
        add_features(&mut self.counts, &features, scheme, &mut check_for_interrupts)?;
        Ok(push(&mut self.of_queries, features)?)
    }
}

fn features_of(counter: &mut FeatureCounter, text: &[u8]) -> Result<Vec<i64>, SqlError> {
    Ok(counter.features(&to_utf8(text)?, FEATURES.parse()?, &mut check_for_interrupts)?)
}

const PAGE: &str = "See docs/choosing-a-threshold.md.";

fn say_what_is_odd(histogram: &DistanceHistogram, texts: &[Vec<i64>]) {
    if histogram.is_even() {
        notice("all distances are even, so an odd radius finds no more than the even one below it", PAGE);
    }
    let features = texts.iter().map(Vec::len).sum::<usize>().checked_div(texts.len());
    if let Some(features) = features.filter(|&features| features < FEW) {
        notice(&format!("texts have only {features} pairs of words on average, too few to compare"), PAGE);
    } else if let Some((distance, apart, pairs)) = histogram.templates() {
        let message = format!(
            "texts are made from templates: {apart} of {pairs} pairs within distance {distance} have less than half of the weight in common"
        );
        notice(&message, "Use a second code with weights to decide. See docs/deduplication.md.");
    } else if let Some((distance, rows)) = histogram.crowd() {
        notice(&format!("{rows:.0} rows are within distance {distance} of a row"), PAGE);
    }
}
