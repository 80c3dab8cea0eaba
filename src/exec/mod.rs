//! What PostgreSQL's executor runs for us, and what a window function computes of all rows.
//!
//! - [`near_cluster`]: the clusters of a window's rows
//! - [`near_join`]: the node that joins two relations by distance
//! - [`rows`]: what both have in memory and in files
#![forbid(unsafe_code)]

pub(crate) mod near_cluster;
pub(crate) mod near_join;
mod rows;
