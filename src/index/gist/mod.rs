//! `sql/gist.sql`: the operator class for GiST.
//!
//! Keys are [`BoundingBox`](hamming_index::BoundingBox); `crates/hamming_index` works out what they prune.
//! Every answer is exact.
//!
//! - [`key`]: the type of keys, and how a value becomes one
//! - [`search`]: which subtrees may have matches
//! - [`tree`]: how the index grows
//! - [`cost`]: what a search costs
//! - [`check`]: whether the indexed column is of type bigint

mod check;
mod cost;
mod key;
mod search;
mod tree;

pub(crate) use cost::install_cost;
