//! The keys of rows and queries. A row has a key for each value of its sketch, and a key for the size class
//! of the sketch. A query has keys for the values and the size classes that it searches for.

use super::query::{SketchQuery, sketch};
use crate::pg::array::distinct;
use crate::pg::call::{Argument, Call, allocate_all, pg_functions};
use crate::pg::catalog::strategy::{MATCHES, OVERLAP};
use crate::pg::error;
use crate::pg::report::{SqlError, UnwrapOrReport};
use crate::pg::sketch::without_nulls;
use base::{OutOfMemory, collect};
use pgrx::pg_sys::{self, Datum};
use std::iter::once;
use text::sketch::sizes::SizeClass;
use text::sketch::threshold::LeastShared;

/// Describes the keys of a search: values first, followed by size classes.
pub(super) struct KeysNeeded<'a> {
    /// How many of the keys are values.
    pub(super) values: usize,
    /// How many of the values a row needs: a number for each size class, or one number without size classes.
    pub(super) least: &'a [usize],
    /// Whether a row with enough values matches. Otherwise PostgreSQL checks the row in the table.
    pub(super) is_exact: bool,
}

/// Passes the number of keys to GIN, and returns the keys.
fn keys(call: Call, keys: impl ExactSizeIterator<Item = i64>) -> Datum {
    // SAFETY: the second argument of these functions is GIN's pointer for the number.
    unsafe { call.pointer::<i32>(1).write(keys.len() as i32) };
    allocate_all(keys.map(Datum::from)).as_mut_ptr().into()
}

/// The keys of a row. `None` is a NULL in the sketch.
fn row_keys(call: Call) -> Result<Vec<Option<i64>>, OutOfMemory> {
    let sketch = sketch(call, 0);
    let size = match sketch.as_slice() {
        Ok(values) if values.is_sorted_by(|a, b| a < b) => values.len(),
        _ => distinct(&without_nulls(&sketch)?)?.len(),
    };
    collect(sketch.iter().chain(once(Some(SizeClass::of(size).key()))), sketch.len() + 1)
}

pg_functions!(gin_sketch_keys, gin_sketch_query_keys);

fn gin_sketch_keys(call: Call) -> Result<Datum, SqlError> {
    let row_keys = row_keys(call)?;
    // SAFETY: the third argument is GIN's pointer for the array.
    unsafe {
        call.pointer::<*mut bool>(2).write(allocate_all(row_keys.iter().map(Option::is_none)).as_mut_ptr())
    };
    Ok(keys(call, row_keys.iter().map(|key| key.unwrap_or_default())))
}

/// The keys that a query searches for.
struct SearchedKeys {
    values: Vec<i64>,
    sizes: Vec<SizeClass>,
    /// See [`KeysNeeded`].
    least: Vec<usize>,
    is_exact: bool,
}

impl SearchedKeys {
    /// A search for rows of any size that have `least` of the values.
    fn of_values(values: Vec<i64>, least: usize) -> Result<Option<Self>, OutOfMemory> {
        // A value may equal the key of a size class, which a row may have instead of the value.
        let is_exact = !values.iter().any(|&value| SizeClass::is_key(value));
        Ok(Some(Self { values, sizes: Vec::new(), least: collect(once(least), 1)?, is_exact }))
    }

    /// A search for rows that have a share of the values. How many values that is depends on the row's size.
    fn of_query(query: SketchQuery) -> Result<Option<Self>, OutOfMemory> {
        let SketchQuery { threshold, values } = query;
        match threshold.least_shared(values.len()) {
            LeastShared::Unknown => Ok(None),
            LeastShared::Exactly(least) => Self::of_values(values, least),
            LeastShared::BySize => {
                let by_size = || threshold.least_shared_by_size(values.len());
                let sizes = collect(by_size().map(|(class, _)| class), SizeClass::COUNT)?;
                let least = collect(by_size().map(|(_, least)| least), SizeClass::COUNT)?;
                Ok(Some(Self { values, sizes, least, is_exact: false }))
            }
            LeastShared::Never => Self::of_values(Vec::new(), 1),
        }
    }

    /// The keys of a query; `None` if every row may match.
    fn of(call: Call) -> Result<Option<Self>, OutOfMemory> {
        match call.smallint(2) {
            OVERLAP => Self::of_values(distinct(&without_nulls(&sketch(call, 0))?)?, 1),
            // SAFETY: the operator with this strategy has a sketch_query as its right argument.
            MATCHES => Self::of_query(SketchQuery::of(unsafe { <&[u8]>::read(call, 0) })),
            strategy => Err(error::unknown_strategy(strategy)).unwrap_or_report(),
        }
    }

    /// All keys, values first.
    fn all(&self) -> Result<Vec<i64>, OutOfMemory> {
        let sizes = self.sizes.iter().map(|size| size.key());
        collect(self.values.iter().copied().chain(sizes), self.values.len() + self.sizes.len())
    }
}

fn gin_sketch_query_keys(call: Call) -> Result<Datum, SqlError> {
    let Some(searched) = SearchedKeys::of(call)? else {
        // SAFETY: this argument is GIN's pointer for the search mode.
        unsafe { call.pointer::<i32>(6).write(pg_sys::GIN_SEARCH_MODE_ALL as i32) };
        return Ok(keys(call, std::iter::empty()));
    };
    let all = searched.all()?;
    let SearchedKeys { values, least, is_exact, .. } = searched;
    let (values, least) = (values.len(), &*allocate_all(least.into_iter()));
    let needed = allocate_all(once(KeysNeeded { values, least, is_exact })).as_mut_ptr();
    // GIN compares all keys to find duplicates, but only keys without extra data.
    let data = allocate_all(all.iter().map(|_| Datum::from(needed))).as_mut_ptr();
    // SAFETY: this argument is GIN's pointer for the array.
    unsafe { call.pointer::<*mut Datum>(4).write(data) };
    Ok(keys(call, all.into_iter()))
}
