//! `sql/gist.sql`: operator classes for GiST.
//!
//! Keys are [`Bounds`](hamming_index::Bounds); `crates/hamming_index` works out what they prune. Every answer
//! is exact for `gist_hamming_ops`. Keys of `gist_hamming_ball_ops` leave the radius out, so there a match
//! has to be looked at again in the table.

mod check;
mod cost;
mod key;
mod search;
mod tree;

pub(crate) use cost::install_cost;
