//! The border to Postgres: one file for each thing that several parts of the extension ask of it.
//!
//! - [`allocator`]: memory for Rust, and the end of a session that gets none
//! - [`mod@array`]: numbers that a function returns as an array
//! - [`backtrace`]: none for clients
//! - [`call`]: functions in Postgres's own calling convention, their arguments and results
//! - [`catalog`]: our functions, operators and types in the catalog
//! - [`code`]: values of type bigint or bit, which have distances
//! - [`compat`]: what differs between versions of PostgreSQL
//! - [`datum`]: values of any type, kept
//! - [`elements`]: arrays of any type, and the order of their elements
//! - [`encoding`]: texts, whatever the encoding of the database
//! - [`error`]: the errors that only the Postgres side can meet
//! - [`executor`]: what PostgreSQL's executor has as inline functions, for nodes of our own
//! - [`expr`]: expressions of a query that is being planned
//! - [`interrupts`]: whether the user has cancelled
//! - [`join_tree`]: what is in FROM, and where a query keeps its conditions
//! - [`nodes`]: nodes of the planner and of plans, by their pointers
//! - [`open_index`]: an open index, and its columns
//! - [`planner`]: what the planner knows of a query, and of indexes
//! - [`progress`]: notices of how far long work has come
//! - [`query`]: what a query reads
//! - [`report`]: how an error is told to the client
//! - [`result_set`]: the rows that a function returns
//! - [`mod@sketch`]: the values of a sketch
//! - [`state`]: states of aggregates
//! - [`storage`]: an index's pages, its log, and the temporary files of a build
//! - [`table_rows`]: rows of a table that an index looks up while it searches
//! - [`varlena`]: values of variable length
//! - [`window`]: the partition that a window function is called for

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
pub(crate) mod interrupts;
pub(crate) mod join_tree;
pub(crate) mod nodes;
pub(crate) mod open_index;
pub(crate) mod planner;
pub(crate) mod progress;
pub(crate) mod query;
pub(crate) mod report;
pub(crate) mod result_set;
pub(crate) mod sketch;
pub(crate) mod state;
pub(crate) mod storage;
pub(crate) mod table_rows;
pub(crate) mod varlena;
pub(crate) mod window;
