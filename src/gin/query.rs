//! The type `sketch_query`: a sketch with the share of common values that is asked for.

use crate::pg::array::distinct;
use crate::pg::bits::{content, new_value};
use crate::pg::call::{Call, pg_function};
use crate::pg::error;
use crate::pg::report::SqlError;
use crate::sketch::overlap;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::pg_sys::{self, Datum};
use pgrx::{Array, FromDatum};
use text::sketch::overlap::Overlap;
use text::sketch::threshold::{Measure, Threshold};

/// The measures by their numbers in a value.
const MEASURES: [Measure; 3] = [Measure::Resemblance, Measure::OfQuery, Measure::OfSketch];

/// What stands in a value: the number of the measure, the least share, and the values of the sketch, sorted and distinct.
pub(crate) struct SketchQuery {
    pub(crate) threshold: Threshold,
    pub(crate) values: Vec<i64>,
}

impl SketchQuery {
    /// # Safety
    /// The datum must be a sketch_query.
    pub(crate) unsafe fn of(datum: Datum) -> Self {
        // SAFETY: promised by the caller; what is read lives as long as this call.
        let content = unsafe { content(datum) };
        let (words, _) = content.as_chunks();
        let word = |index: usize| words.get(index).copied().map_or(0, i64::from_ne_bytes);
        let measure = MEASURES[word(0).clamp(0, 2) as usize];
        let threshold = Threshold { measure, least: f64::from_bits(word(1) as u64) };
        Self { threshold, values: words.iter().skip(2).copied().map(i64::from_ne_bytes).collect() }
    }

    /// As a datum in the memory of the current call.
    fn datum(&self) -> Datum {
        let measure =
            MEASURES.iter().position(|&measure| measure == self.threshold.measure).unwrap_or_default();
        let head = [measure as u64, self.threshold.least.to_bits()];
        let words = head.into_iter().chain(self.values.iter().map(|&value| value as u64));
        new_value(&[&words.flat_map(u64::to_ne_bytes).collect::<Vec<u8>>()])
    }
}

/// The bigint[] that a function got as an argument. Somebody's operator class may name the function for another type.
pub(super) fn sketch<'a>(call: Call, argument: usize) -> Array<'a, i64> {
    // SAFETY: the argument is a value of variable length. An array begins with the struct, and this one is of bigint.
    let array = unsafe {
        let value = pg_sys::pg_detoast_datum(call.pointer(argument));
        let is_array = pgrx::varlena::varsize(value) >= size_of::<pg_sys::ArrayType>();
        let is_sketch = is_array && (*value.cast::<pg_sys::ArrayType>()).elemtype == pg_sys::INT8OID;
        is_sketch.then(|| Array::from_datum(value.into(), false)).flatten()
    };
    array.ok_or_else(error::not_a_sketch).unwrap_or_report()
}

/// A query for sketches that reach the share.
fn query(call: Call, measure: Measure) -> Datum {
    let sketch = sketch(call, 0);
    // Raises the errors that the comparison would raise.
    let checked =
        overlap(&sketch, &sketch).and_then(|_| sketch.as_slice().map_err(|_| error::null_in_sketch()));
    let values = distinct(checked.unwrap_or_report().iter().copied());
    SketchQuery { threshold: Threshold { measure, least: call.double(1) }, values }.datum()
}

pg_function!(
    pg_finfo_sketch_query_resemblance,
    fn sketch_query_resemblance(call) {
        query(call, Measure::Resemblance)
    }
);

pg_function!(
    pg_finfo_sketch_query_share,
    fn sketch_query_share(call) {
        query(call, Measure::OfQuery)
    }
);

pg_function!(
    pg_finfo_sketch_query_share_of_stored,
    fn sketch_query_share_of_stored(call) {
        query(call, Measure::OfSketch)
    }
);

pg_function!(
    pg_finfo_sketch_query_in,
    fn sketch_query_in(_call) {
        Err(error::no_input("sketch_query")).unwrap_or_report()
    }
);

pg_function!(
    pg_finfo_sketch_query_out,
    fn sketch_query_out(call) {
        // SAFETY: declared with one sketch_query.
        let SketchQuery { threshold: Threshold { measure, least }, values } = unsafe { SketchQuery::of(call.datum(0)) };
        let measure = match measure {
            Measure::Resemblance => "resemblance",
            Measure::OfQuery => "share",
            Measure::OfSketch => "share of stored",
        };
        let values: Vec<String> = values.iter().map(i64::to_string).collect();
        let text = format!("{measure} >= {least}: {{{}}}\0", values.join(","));
        // SAFETY: pstrdup copies the string, which ends with a zero byte, into the memory of the call.
        unsafe { pg_sys::pstrdup(text.as_ptr().cast()) }.into()
    }
);

/// Whether a sketch reaches the share; None if it has no such share.
fn matches(sketch: &Array<'_, i64>, query: &SketchQuery) -> Result<Option<bool>, SqlError> {
    let sketch = sketch.as_slice().map_err(|_| error::null_in_sketch())?;
    Ok(query.threshold.is_reached(Overlap::of(sketch, &query.values)))
}

pg_function!(
    pg_finfo_sketch_matches,
    fn sketch_matches(call) {
        // SAFETY: declared with a bigint[] and a sketch_query.
        let query = unsafe { SketchQuery::of(call.datum(1)) };
        match matches(&sketch(call, 0), &query).unwrap_or_report() {
            Some(is_reached) => is_reached.into(),
            None => call.null(),
        }
    }
);
