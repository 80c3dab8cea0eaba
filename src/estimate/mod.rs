//! Estimates for the planner: how many rows a search by distance finds, and how much it costs.
//!
//! `plan` answers for conditions, `index` for searches of its indexes. What their answers share is here.
//!
//! - [`condition`]: the conditions, and the radius that they ask for
//! - [`statistics`]: what ANALYZE knows of a column
//! - [`selectivity`]: the share of rows that pass a condition
//! - [`sketch`]: the same for conditions on sketches, and what they cost
//! - [`cost`]: the time that a search takes

pub(crate) mod condition;
pub(crate) mod cost;
pub(crate) mod selectivity;
pub(crate) mod sketch;
pub(crate) mod statistics;
