//! Estimates for the planner: how many rows a search by distance finds, and how much it costs.
//!
//! `plan` answers for conditions, `index` for searches of its indexes. What both need is here.

pub(crate) mod condition;
pub(crate) mod cost;
pub(crate) mod selectivity;
pub(crate) mod sketch;
pub(crate) mod statistics;
