//! `sql/gist.sql`: the operator class of GiST for codes.
//!
//! A key is a [`BoundingBox`](hamming_index::BoundingBox), with which `crates/hamming_index` computes what
//! can be pruned. All results are exact.

mod gist_consistent;
mod gist_cost;
mod key;
mod tree;

pub(crate) use gist_cost::install_cost;
