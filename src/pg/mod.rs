//! The border to Postgres: what every function needs, in one place each.

pub(crate) mod call;
pub(crate) mod catalog;
pub(crate) mod encoding;
pub(crate) mod error;
pub(crate) mod files;
pub(crate) mod interrupts;
pub(crate) mod pages;
pub(crate) mod progress;
pub(crate) mod query;
pub(crate) mod report;
pub(crate) mod row;
pub(crate) mod rows;
mod wal;
pub(crate) mod window;
