//! Estimates for the planner: how many rows a search by distance finds, and how much it costs.
//!
//! `plan` estimates conditions, and `index` searches of its indexes. This module has what both need.
#![forbid(unsafe_code)]

pub(crate) mod condition;
pub(crate) mod path_cost;
pub(crate) mod selectivity;
pub(crate) mod sketch;
pub(crate) mod statistics;
