//! `sql/gist.sql`: the operator class for GiST.
//!
//! Keys are [`BoundingBox`](hamming_index::BoundingBox); `crates/hamming_index` works out what they prune.
//! Every answer is exact.

mod check;
mod cost;
mod key;
mod search;
mod tree;

pub(crate) use cost::install_cost;
