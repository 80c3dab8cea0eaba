//! The parts of an index that Postgres keeps: its pages, its log, and the temporary files of a build.
//!
//! `crates/hamming_index` says what is on a page, and asks for pages through its trait `Store`.
//!
//! - [`pages`]: finds pages, and is that store
//! - [`recent`]: remembers where pages were
//! - [`guard`]: holds the pin and the lock of a page
//! - [`visibility`]: which rows of the table need not be looked at
//! - [`wal`]: changes pages, and logs the change
//! - [`runs`]: sorted keys in temporary files

mod guard;
pub(crate) mod pages;
mod recent;
pub(crate) mod runs;
mod visibility;
mod wal;
