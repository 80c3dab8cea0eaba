//! The type `sketch_query`: a sketch with the share of common values that is asked for.

use crate::pg::array::distinct;
use crate::pg::call::{Call, pg_function};
use crate::pg::error;
use crate::pg::report::{self, SqlError};
use crate::pg::varlena::{c_string, content, new_value};
use crate::sketch::overlap;
use limits::{collect, grow_text};
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::pg_sys::{self, Datum};
use pgrx::{Array, FromDatum};
use std::fmt::Write;
use text::sketch::overlap::Overlap;
use text::sketch::threshold::{Measure, Threshold};

/// The measures by their numbers in a value.
const MEASURES: [Measure; 3] = [Measure::Similarity, Measure::OfQuery, Measure::OfSketch];

/// The number in a value that asks for sketches without values.
const NO_VALUES: u64 = MEASURES.len() as u64;

/// Added to the number of the measure in a value that asks for the best sketches.
const BEST: u64 = NO_VALUES + 1;

/// Words before the values: the number of the measure and the least share. A search for the best has the
/// share below which they are, how many are wanted, and the bound of what it has met.
const HEAD: usize = 2;
const HEAD_OF_BEST: usize = HEAD + 3;

/// The content of a value: the number of the measure, the least share, and the values of the sketch, sorted
/// and distinct.
pub(crate) struct SketchQuery {
    /// None asks for sketches without values.
    pub(crate) threshold: Option<Threshold>,
    /// The best are enough, of those that reach the threshold.
    pub(crate) best: Option<BestWanted>,
    pub(crate) values: Vec<i64>,
}

/// Which sketches of those that reach the least share are wanted.
#[derive(Clone, Copy)]
pub(crate) struct BestWanted {
    /// Those of a smaller share than this.
    pub(crate) below: f64,
    /// So many of the largest shares, or more.
    pub(crate) count: usize,
}

impl SketchQuery {
    /// # Safety
    /// The datum must be a sketch_query.
    pub(crate) unsafe fn of(datum: Datum) -> Self {
        // SAFETY: the datum is a sketch_query, as the caller promises; what is read lives as long as this
        // call.
        let content = unsafe { content(datum) };
        let (words, _) = content.as_chunks();
        let word = |index: usize| words.get(index).copied().map_or(0, i64::from_ne_bytes);
        let share = |index: usize| f64::from_bits(word(index) as u64);
        let number = word(0) as u64;
        let best = (number >= BEST).then(|| BestWanted { below: share(2), count: word(3) as usize });
        let head = if best.is_some() { HEAD_OF_BEST } else { HEAD };
        let measure = MEASURES.get(number.checked_sub(BEST).unwrap_or(number) as usize);
        let threshold = measure.map(|&measure| Threshold { measure, least: share(1) });
        let count = words.len().saturating_sub(head);
        let values = collect(words.iter().skip(head).copied().map(i64::from_ne_bytes), count);
        Self { threshold, best, values: values.map_err(report::problem).unwrap_or_report() }
    }

    /// As a datum in the memory of the current call.
    pub(crate) fn datum(&self) -> Datum {
        let number = |measure| MEASURES.iter().position(|&other| other == measure).unwrap_or_default() as u64;
        let measure = self.threshold.map_or(NO_VALUES, |threshold| number(threshold.measure));
        let least = self.threshold.map_or(0.0, |threshold| threshold.least).to_bits().to_ne_bytes();
        let (number, best) = match self.best {
            None => (measure, None),
            Some(BestWanted { below, count }) => {
                (measure + BEST, Some([below.to_bits(), count as u64, 0].map(u64::to_ne_bytes)))
            }
        };
        // SAFETY: the bytes of the values, which have no padding.
        let values = unsafe {
            std::slice::from_raw_parts(self.values.as_ptr().cast(), size_of_val(self.values.as_slice()))
        };
        new_value(&[
            &number.to_ne_bytes(),
            &least,
            best.as_ref().map_or(&[], |best| best.as_flattened()),
            values,
        ])
    }

    /// The place of the bound of what a search has met, which need not be aligned.
    ///
    /// # Safety
    /// The datum must be one that [`Self::datum`] has made of a search for the best.
    pub(crate) unsafe fn bound(datum: Datum) -> *mut f64 {
        // SAFETY: such a value has this many words behind its header.
        unsafe {
            datum.cast_mut_ptr::<u8>().add(pg_sys::VARHDRSZ + (HEAD_OF_BEST - 1) * size_of::<f64>()).cast()
        }
    }

    /// A value in the place of others, which a scan is given later.
    pub(crate) fn placeholder() -> Datum {
        new_value(&[])
    }
}

/// The values of a sketch that is compared with others, sorted and distinct. Raises the errors that the
/// comparison would raise.
pub(crate) fn query_values(sketch: &Array<'_, i64>) -> Result<Vec<i64>, SqlError> {
    overlap(sketch, sketch)?;
    let values = sketch.as_slice().map_err(|_| error::null_in_sketch())?;
    distinct(values.iter().copied()).map_err(report::problem)
}

/// The bigint[] that a function got as an argument. Somebody's operator class may name the function for
/// another type.
pub(super) fn sketch<'a>(call: Call, argument: usize) -> Array<'a, i64> {
    // SAFETY: the argument is a value of variable length. An array begins with the struct, and this one is of
    // bigint.
    let array = unsafe {
        let value = pg_sys::pg_detoast_datum(call.pointer(argument));
        let is_array = pgrx::varlena::varsize(value) >= size_of::<pg_sys::ArrayType>();
        let is_sketch = is_array && (*value.cast::<pg_sys::ArrayType>()).elemtype == pg_sys::INT8OID;
        is_sketch.then(|| Array::from_datum(value.into(), false)).flatten()
    };
    array.ok_or_else(not_a_sketch).unwrap_or_report()
}

/// A query for sketches that reach the share.
fn query(call: Call, measure: Measure) -> Datum {
    let values = query_values(&sketch(call, 0)).unwrap_or_report();
    let threshold = Some(Threshold { measure, least: call.double(1) });
    SketchQuery { threshold, best: None, values }.datum()
}

pg_function!(
    pg_finfo_sketch_query_similar,
    fn sketch_query_similar(call) {
        query(call, Measure::Similarity)
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

/// Letters of a sketch_query before its values, and of a value with its comma, at most.
const HEAD_LETTERS: usize = 400;
const VALUE_LETTERS: usize = 21;

pg_function!(
    pg_finfo_sketch_query_out,
    fn sketch_query_out(call) {
        // SAFETY: declared with one sketch_query.
        let (SketchQuery { threshold, values, .. }, content) = unsafe { (SketchQuery::of(call.datum(0)), content(call.datum(0))) };
        if content.is_empty() {
            return c_string(&[b"largest shares first"]);
        }
        let Some(Threshold { measure, least }) = threshold else { return c_string(&[b"no values"]) };
        let measure = match measure {
            Measure::Similarity => "similarity",
            Measure::OfQuery => "share",
            Measure::OfSketch => "share of stored",
        };
        let mut text = String::new();
        grow_text(&mut text, HEAD_LETTERS + values.len() * VALUE_LETTERS).map_err(report::problem).unwrap_or_report();
        text += &format!("{measure} >= {least}: {{");
        for (place, value) in values.iter().enumerate() {
            let separator = if place == 0 { "" } else { "," };
            // Never fails for a String.
            _ = write!(text, "{separator}{value}");
        }
        text += "}";
        c_string(&[text.as_bytes()])
    }
);

/// Whether a sketch reaches the share; None if it has no such share.
fn matches(sketch: &Array<'_, i64>, query: &SketchQuery) -> Result<Option<bool>, SqlError> {
    let sketch = sketch.as_slice().map_err(|_| error::null_in_sketch())?;
    let overlap = Overlap::of(sketch, &query.values).map_err(report::problem)?;
    Ok(query.threshold.map_or(Some(sketch.is_empty()), |threshold| threshold.is_reached(overlap)))
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

fn not_a_sketch() -> SqlError {
    report::report(Code::ERRCODE_INVALID_OBJECT_DEFINITION, "sketch is not an array of bigint")
        .set_detail(error::FOREIGN_CLASS)
}
