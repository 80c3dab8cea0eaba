//! The border to PostgreSQL: one file for each thing that several parts of the extension need from it. Each
//! file begins with its purpose.

mod allocator;
pub(crate) mod array;
pub(crate) mod backtrace;
pub(crate) mod call;
pub(crate) mod catalog;
pub(crate) mod code;
pub(crate) mod compat;
pub(crate) mod datum;
pub(crate) mod elements;
pub(crate) mod encoding;
pub(crate) mod error;
pub(crate) mod executor;
pub(crate) mod expr;
mod forms;
pub(crate) mod interrupts;
pub(crate) mod join_tree;
pub(crate) mod memory;
pub(crate) mod nodes;
pub(crate) mod open_index;
pub(crate) mod planner;
pub(crate) mod progress;
pub(crate) mod query;
pub(crate) mod report;
mod reserve;
pub(crate) mod result_set;
pub(crate) mod settings;
pub(crate) mod sketch;
pub(crate) mod state;
pub(crate) mod storage;
pub(crate) mod subtransaction;
pub(crate) mod table_rows;
pub(crate) mod varlena;
pub(crate) mod window;
