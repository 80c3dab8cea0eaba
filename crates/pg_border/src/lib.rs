//! The border to PostgreSQL: one file for each thing that several parts of the extension need from it. Each
//! file begins with its purpose.
#![allow(unsafe_code, reason = "Postgres is C; every unsafe block says why it is sound")]

// `#[pg_guard]` looks here for the wrapper of imported functions.
use pgrx::pg_sys::ffi;

pub mod access_method;
mod allocator;
pub mod analyzed_column;
pub mod array;
pub mod backtrace;
pub mod call;
pub mod catalog;
pub mod compat;
pub mod custom_path;
pub mod datum;
pub mod elements;
pub mod encoding;
pub mod error;
pub mod exec_node;
pub mod executor;
pub mod extension;
mod facts;
mod forms;
pub mod hash_function;
pub mod index_cost;
pub mod inspected_index;
pub mod interrupts;
pub mod join_paths;
mod join_tree;
pub mod library;
pub mod memory;
pub mod node;
pub mod node_structs;
mod node_values;
mod numbers;
pub mod numeric;
pub mod open_index;
pub mod operator_class;
pub mod path;
pub mod planned_index;
pub mod planner;
pub mod planner_hooks;
pub mod progress;
mod proposals;
pub mod query;
pub mod query_tree;
pub mod relation;
pub mod relation_hook;
pub mod report;
mod reserve;
pub mod restriction;
pub mod result_set;
mod row_identity;
pub mod row_store;
mod scan_memory;
pub mod settings;
pub mod state;
pub mod storage;
pub mod subtransaction;
pub mod support_function;
pub mod table_rows;
pub mod temp_file;
pub mod trigger_row;
pub mod value;
pub mod varlena;
pub mod window;

pub use extension::{code, gist_entry, input, sketch};
