//! `sql/gin.sql`: the operator class `sketch_ops`, which makes GIN find sketches by their share of common
//! values.
//!
//! GIN has the values of all sketches as keys, each with the rows that have it. `sketch && query` is exact.
//! `sketch @@ sketch_query` asks for a share. GIN counts which values of the query a row has. The number that
//! it needs depends on how many values the row has itself, which GIN knows by a further key of the row: the
//! class of its size (`crates/text/src/sketch/sizes.rs`). A row that has too few is not fetched:
//! `crates/text/src/sketch/threshold.rs` says how many it takes.

pub(crate) mod cost;
mod key_estimate;
mod keys;
mod query;
mod search;

pub(crate) use query::number_of;
