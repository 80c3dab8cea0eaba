//! The keys of rows and queries. A row has a key for each value of its sketch, and a key for the size class
//! of the sketch. A query has keys for the values and the size classes that it searches for.

use super::query::SketchQuery;
use crate::pg::array::distinct;
use crate::pg::call::{Call, pg_functions};
use crate::pg::catalog::strategy::{MATCHES, OVERLAP};
use crate::pg::error;
use crate::pg::operator_class::{Out, gin_keys, keep_for_search, set_null_keys};
use crate::pg::report::{SqlError, UnwrapOrReport};
use crate::pg::sketch::{sketch, without_nulls};
use base::{OutOfMemory, collect};
use pgrx::pg_sys::{self, Datum};
use std::iter::once;
use text::sketch::sizes::SizeClass;
use text::sketch::threshold::LeastShared;

/// Describes the keys of a search: values first, followed by size classes.
pub(super) struct KeysNeeded {
    /// How many of the keys are values.
    pub(super) values: usize,
    /// How many of the values a row needs: a number for each size class, or one number without size classes.
    pub(super) least: Vec<usize>,
    /// Whether a row with enough values matches. Otherwise PostgreSQL checks the row in the table.
    pub(super) is_exact: bool,
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

fn gin_sketch_keys(call: Call, count: Out<i32>, nulls: Out<*mut bool>) -> Result<Datum, SqlError> {
    let row_keys = row_keys(call)?;
    set_null_keys(&nulls, row_keys.iter().map(Option::is_none));
    Ok(gin_keys(&count, row_keys.iter().map(|key| key.unwrap_or_default())))
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
    fn of(query: &[u8], call: Call) -> Result<Option<Self>, OutOfMemory> {
        match call.smallint(2) {
            OVERLAP => Self::of_values(distinct(&without_nulls(&sketch(call, 0))?)?, 1),
            MATCHES => Self::of_query(SketchQuery::of(query)),
            strategy => Err(error::unknown_strategy(strategy)).unwrap_or_report(),
        }
    }

    /// All keys, values first.
    fn all(&self) -> Result<Vec<i64>, OutOfMemory> {
        let sizes = self.sizes.iter().map(|size| size.key());
        collect(self.values.iter().copied().chain(sizes), self.values.len() + self.sizes.len())
    }
}

/// The arguments that are not read here are whether the operator matches a prefix, and GIN's places for flags
/// of that and for NULLs.
fn gin_sketch_query_keys(
    query: &[u8],
    count: Out<i32>,
    call: Call,
    _prefixes: Call,
    data: Out<*mut Datum>,
    _nulls: Call,
    mode: Out<i32>,
) -> Result<Datum, SqlError> {
    let Some(searched) = SearchedKeys::of(query, call)? else {
        mode.set(pg_sys::GIN_SEARCH_MODE_ALL as i32);
        return Ok(gin_keys(&count, std::iter::empty()));
    };
    let all = searched.all()?;
    let SearchedKeys { values, least, is_exact, .. } = searched;
    keep_for_search(&data, all.len(), KeysNeeded { values: values.len(), least, is_exact });
    Ok(gin_keys(&count, all.into_iter()))
}
