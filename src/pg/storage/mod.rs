//! What an index keeps, in Postgres's hands: its pages, the log, and the temporary files of a build.
//!
//! `crates/hamming_index` says what is on a page and asks for pages through its trait `Store`. A page goes
//! from [`pages`], which finds it, through [`guard`], which holds its pin and lock, to [`wal`], which changes
//! it and logs the change.

mod guard;
pub(crate) mod pages;
pub(crate) mod runs;
mod wal;
