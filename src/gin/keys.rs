//! Keys: those of a row are the values of its sketch, those of a query the values that are searched for.

use super::query::{SketchQuery, sketch};
use crate::pg::array::distinct;
use crate::pg::call::{Call, allocate, pg_function};
use crate::pg::catalog::strategy::{MATCHES, OVERLAP};
use crate::pg::error;
use crate::pg::report;
use limits::collect;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::pg_sys::{self, Datum};
use text::sketch::threshold::LeastShared;

/// What a search has to know of its query beside the keys.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    /// A row needs this many of the keys.
    pub(super) least: usize,
    /// Whether a row that has them matches. Otherwise the table has to be asked.
    pub(super) is_exact: bool,
}

/// An array in the memory of the current call.
fn array<T>(elements: impl ExactSizeIterator<Item = T>) -> *mut T {
    // SAFETY: palloc returns memory of that size, aligned for any type, or raises an error. Each element is written.
    unsafe {
        let place: *mut T = pg_sys::palloc(elements.len().max(1) * size_of::<T>()).cast();
        elements.enumerate().for_each(|(index, element)| place.add(index).write(element));
        place
    }
}

/// Tells GIN the number of keys, and returns them.
fn keys(call: Call, values: &[i64]) -> Datum {
    // SAFETY: GIN passes a place for the number as the second argument of these functions.
    unsafe { call.pointer::<i32>(1).write(values.len() as i32) };
    array(values.iter().map(|&value| Datum::from(value))).into()
}

pg_function!(
    pg_finfo_gin_sketch_keys,
    fn gin_sketch_keys(call) {
        let sketch = sketch(call, 0);
        if let Ok(values) = sketch.as_slice() {
            return keys(call, values);
        }
        let count = sketch.len();
        let values = collect(sketch.iter().map(Option::unwrap_or_default), count);
        let nulls = collect(sketch.iter().map(|value| value.is_none()), count);
        let (values, nulls) = values.and_then(|values| Ok((values, nulls?))).map_err(report::problem).unwrap_or_report();
        // SAFETY: GIN passes a place for the array as the third argument.
        unsafe { call.pointer::<*mut bool>(2).write(array(nulls.into_iter())) };
        keys(call, &values)
    }
);

/// The distinct values of a query with what is wanted of them: None if every row may match.
fn wanted(call: Call) -> (Vec<i64>, Option<Wanted>) {
    let nothing = (Vec::new(), Some(Wanted { least: 1, is_exact: true }));
    match call.smallint(2) {
        OVERLAP => {
            let values =
                distinct(sketch(call, 0).iter().flatten()).map_err(report::problem).unwrap_or_report();
            (values, Some(Wanted { least: 1, is_exact: true }))
        }
        MATCHES => {
            // SAFETY: the operator of this strategy has a sketch_query on the right.
            let query = unsafe { SketchQuery::of(call.datum(0)) };
            match query.threshold.least_shared(query.values.len()) {
                LeastShared::Exactly(0) | LeastShared::AtLeast(0) => (Vec::new(), None),
                LeastShared::Exactly(least) => (query.values, Some(Wanted { least, is_exact: true })),
                LeastShared::AtLeast(least) => (query.values, Some(Wanted { least, is_exact: false })),
                LeastShared::Unreachable => nothing,
            }
        }
        strategy => Err(error::unknown_strategy(strategy)).unwrap_or_report(),
    }
}

pg_function!(
    pg_finfo_gin_sketch_query_keys,
    fn gin_sketch_query_keys(call) {
        let (values, wanted) = wanted(call);
        // SAFETY: GIN passes places for the arrays and for the mode as these arguments.
        unsafe {
            match wanted {
                None => call.pointer::<i32>(6).write(pg_sys::GIN_SEARCH_MODE_ALL as i32),
                // GIN compares each key with all others to find equal ones, but not if they come with data of their own.
                Some(wanted) => {
                    let wanted = allocate(wanted);
                    call.pointer::<*mut Datum>(4).write(array(values.iter().map(|_| wanted)));
                }
            }
        }
        keys(call, &values)
    }
);
