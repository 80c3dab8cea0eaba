//! The border to Postgres: one file for each thing that several parts of the extension ask of it.

/// Functions in Postgres's calling convention: their arguments and results.
pub(crate) mod call;
/// Our functions, operators and types in the catalog.
pub(crate) mod catalog;
/// What differs between versions of PostgreSQL.
pub(crate) mod compat;
/// Texts, whatever the encoding of the database.
pub(crate) mod encoding;
/// Errors that only the Postgres side can meet.
pub(crate) mod error;
/// Whether the user has cancelled.
pub(crate) mod interrupts;
/// Expressions of the planner.
pub(crate) mod nodes;
/// Notices of how far long work has come.
pub(crate) mod progress;
/// A column of a table, read by a query.
pub(crate) mod query;
/// How an error is told to the client.
pub(crate) mod report;
/// The rows that a function returns.
pub(crate) mod result_set;
/// An index's pages, its log, and the temporary files of a build.
pub(crate) mod storage;
/// The row that a trigger is fired for.
pub(crate) mod trigger_row;
/// The partition that a window function is called for.
pub(crate) mod window;
