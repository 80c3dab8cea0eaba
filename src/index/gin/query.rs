//! The type `sketch_query`: a sketch, and a least share of common values.

use crate::pg::array::{bytes_of, distinct};
use crate::pg::call::{Call, Returned, pg_functions};
use crate::pg::error;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{SqlError, UnwrapOrReport};
use crate::pg::sketch::{shareable, sketch};
use crate::pg::varlena::{c_string, new_value};
use base::{Limit, beat_every, collect, grow_text};
use pgrx::pg_sys::Datum;
use std::fmt::Write;
use text::sketch::overlap::Overlap;
use text::sketch::threshold::{Measure, Threshold};

/// The measures. A place in this list is the number of a measure in a value and in SQL.
const MEASURES: [Measure; 3] = [Measure::Similarity, Measure::OfQuery, Measure::OfSketch];
const MEASURE: Limit = Limit::new("measure", 0, 2);

/// The number of a measure in a value.
pub(crate) fn number_of(measure: Measure) -> usize {
    MEASURES.iter().position(|&other| other == measure).unwrap_or_default()
}

/// The number of words before the values: the measure's number, and the least share.
const HEAD: usize = 2;

/// A value of type sketch_query. It stores the number of the measure, the least share, and the values of the
/// sketch, sorted and distinct.
pub(super) struct SketchQuery {
    pub(super) threshold: Threshold,
    pub(super) values: Vec<i64>,
}

impl SketchQuery {
    /// The query in a value of type sketch_query, which has this content.
    pub(super) fn of(content: &[u8]) -> Self {
        let (words, _) = content.as_chunks();
        let word = |index: usize| words.get(index).copied().map_or(0, i64::from_ne_bytes);
        let measure = MEASURES[word(0).clamp(0, 2) as usize];
        let threshold = Threshold { measure, least: f64::from_bits(word(1) as u64) };
        let count = words.len().saturating_sub(HEAD);
        let values = collect(words.iter().skip(HEAD).copied().map(i64::from_ne_bytes), count);
        Self { threshold, values: values.unwrap_or_report() }
    }

    /// A new datum in the current memory context.
    fn value(self) -> Datum {
        let measure = number_of(self.threshold.measure);
        let least = self.threshold.least.to_bits().to_ne_bytes();
        new_value(&[&(measure as u64).to_ne_bytes(), &least, bytes_of(&self.values)])
    }
}

impl Returned for SketchQuery {
    fn datum(self, _: Call) -> Datum {
        self.value()
    }
}

pg_functions!(sketch_query_of, sketch_query_in, sketch_query_out, sketch_matches);

fn sketch_query_of(call: Call, measure: i32, least: f64) -> Result<SketchQuery, SqlError> {
    let measure: usize = MEASURE.of(measure)?;
    let threshold = Threshold { measure: MEASURES[measure], least };
    // Raises the errors that a comparison would raise.
    Ok(SketchQuery { threshold, values: distinct(shareable(&sketch(call, 0))?)? })
}

fn sketch_query_in(_: Call) -> Result<SketchQuery, SqlError> {
    Err(error::no_input("sketch_query"))
}

/// The most characters before the values, and of a value with its comma.
const HEAD_LETTERS: usize = 400;
const VALUE_LETTERS: usize = 21;

/// How many values are written between two checks for interrupts.
const STRIDE: usize = 1 << 14;

fn sketch_query_out(query: &[u8]) -> Result<Datum, SqlError> {
    let SketchQuery { threshold: Threshold { measure, least }, values } = SketchQuery::of(query);
    let measure = match measure {
        Measure::Similarity => "similarity",
        Measure::OfQuery => "share",
        Measure::OfSketch => "share of stored",
    };
    let mut text = String::new();
    grow_text(&mut text, HEAD_LETTERS + values.len() * VALUE_LETTERS)?;
    text += &format!("{measure} >= {least}: {{");
    for (place, value) in values.iter().enumerate() {
        beat_every(STRIDE, place, &mut check_for_interrupts);
        let separator = if place == 0 { "" } else { "," };
        // Writing to a String never fails.
        _ = write!(text, "{separator}{value}");
    }
    text += "}";
    Ok(c_string(&[text.as_bytes()]))
}

/// Whether a sketch has the share; NULL if the share is undefined.
fn sketch_matches(call: Call, query: &[u8]) -> Result<Option<bool>, SqlError> {
    let query = SketchQuery::of(query);
    let sketch = sketch(call, 0);
    let sketch = sketch.as_slice().map_err(|_| error::null_in_sketch())?;
    let overlap = Overlap::of(sketch, &query.values, &mut check_for_interrupts)?;
    Ok(query.threshold.is_met(overlap))
}
