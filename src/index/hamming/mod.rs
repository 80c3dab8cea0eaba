//! `sql/hamming.sql`: the access method `hamming`, exact search by Hamming distance.
//!
//! The algorithm is in `crates/hamming_index`. The files here have the functions that PostgreSQL needs of an
//! access method. Pages and WAL are in `crates/pg_border/src/storage/`.

mod build;
mod code;
mod dead_rows;
mod filter;
mod filter_selectivity;
mod hamming_cost;
mod handler;
mod index_only;
mod insert;
mod inspect;
mod options;
mod scan;
mod scan_cursor;
mod vacuum;
mod validate;

pub(crate) use hamming_cost::divide_cost;
pub(crate) use handler::is_hamming;
/// Registers the storage parameters. Called when the library is loaded.
pub(crate) use options::register;
