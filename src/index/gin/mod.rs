//! `sql/gin.sql`: the operator class `sketch_ops`, with which GIN finds sketches by their share of common
//! values.
//!
//! The keys in GIN are the values of all sketches, each with a list of rows. `sketch && query` is answered
//! exactly. For `sketch @@ sketch_query`, which requires a share, GIN counts the query's values that a row
//! has. How many it needs depends on the number of values of the row. So each row has one more key: its size
//! class (`crates/text/src/sketch/sizes.rs`). A row with too few values is not fetched;
//! `crates/text/src/sketch/threshold.rs` says how many values are needed.

mod gin_consistent;
pub(crate) mod gin_cost;
mod keys;
mod query;

pub(crate) use query::number_of;
