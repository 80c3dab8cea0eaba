//! The border to PostgreSQL: one file for each thing that several parts of the extension need from it. Each
//! file begins with its purpose.
#![allow(unsafe_code, reason = "Postgres is C; every unsafe block says why it is sound")]

// `#[pg_guard]` looks here for the wrapper of imported functions.
use pgrx::pg_sys::ffi;

mod allocator;
pub mod array;
pub mod backtrace;
pub mod call;
pub mod catalog;
pub mod code;
pub mod compat;
pub mod datum;
pub mod elements;
pub mod encoding;
pub mod error;
pub mod exec_node;
pub mod executor;
mod forms;
pub mod gist_entry;
pub mod input;
pub mod interrupts;
pub mod join_tree;
pub mod memory;
pub mod node;
pub mod node_structs;
mod numbers;
pub mod numeric;
pub mod open_index;
pub mod operator_class;
pub mod planner;
pub mod progress;
pub mod query;
pub mod report;
mod reserve;
pub mod result_set;
pub mod row_store;
pub mod scan_memory;
pub mod settings;
pub mod sketch;
pub mod state;
pub mod storage;
pub mod subtransaction;
pub mod table_rows;
pub mod temp_file;
pub mod trigger_row;
pub mod value;
pub mod varlena;
pub mod window;
