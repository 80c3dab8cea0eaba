//! `sql/gist.sql`: operator classes for GiST.
//!
//! Keys are [`BoundingBox`](hamming_index::BoundingBox); `crates/hamming_index` works out what they prune.
//! Every answer is exact for `gist_hamming_ops`. Keys of `gist_hamming_ball_ops` leave the radius out, so
//! there a match has to be looked at again in the table.
//!
//! - [`key`]: the type of keys, and how a value becomes one
//! - [`search`]: which subtrees may have matches
//! - [`tree`]: how the index grows
//! - [`cost`]: what a search costs
//! - [`check`]: whether the indexed column has a type of ours

mod check;
mod cost;
mod key;
mod search;
mod tree;

pub(crate) use cost::install_cost;
