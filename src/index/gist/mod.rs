//! `sql/gist.sql`: the operator class of GiST for codes.
//!
//! A key is a [`BoundingBox`](hamming_index::BoundingBox), with which `crates/hamming_index` computes what
//! can be pruned. All results are exact.

mod check;
mod cost;
mod key;
mod search;
mod tree;

pub(crate) use cost::install_cost;
