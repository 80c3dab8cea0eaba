//! The parts of an index that Postgres keeps: its pages, its log, and the temporary files of a build.
//!
//! `crates/hamming_index` says what is on a page, and asks for pages through its trait `Store`.

mod guard;
pub(crate) mod pages;
mod recent;
pub(crate) mod runs;
mod visibility;
mod wal;
