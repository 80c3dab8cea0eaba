//! The storage of an index in PostgreSQL: its pages, their WAL, and the temporary files of a build.
//!
//! `crates/hamming_index` defines the contents of pages, and reads pages through its trait `Store`.

mod guard;
pub mod pages;
pub mod position;
mod recent;
pub mod row_address;
pub mod runs;
mod visibility;
mod wal;
