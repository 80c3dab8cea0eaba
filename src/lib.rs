//! simhash_pg: similarity fingerprints of text in PostgreSQL, and exact search for near-duplicates.
//!
//! This crate is the Postgres side: it unpacks arguments, calls the pure crates under `crates/`, and
//! packs results. Files are named after those in `sql/`, which declare what users see; `pg/` is the
//! border to Postgres itself.
#![allow(unsafe_code, reason = "Postgres is C; every unsafe block says why it is sound")]

mod hamming;
mod pg;
mod simhash;
mod sketch;
mod trigger;

pgrx::pg_module_magic!(name, version);

// The SQL surface, in order, for `cargo pgrx`. The Makefile joins the same files.
pgrx::extension_sql_file!("../sql/hamming.sql", name = "hamming");
pgrx::extension_sql_file!("../sql/simhash.sql", name = "simhash", requires = ["hamming"]);
pgrx::extension_sql_file!("../sql/sketch.sql", name = "sketch", requires = ["simhash"]);
pgrx::extension_sql_file!("../sql/trigger.sql", name = "trigger", requires = ["sketch"]);
