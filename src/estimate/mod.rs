//! What the planner is told of a search by distance: how many rows it finds, and what it costs.
//!
//! `planner/` answers for conditions, `am/` and `gist/` for searches of their indexes. What their answers share is
//! here, and imports none of the three.

pub(crate) mod condition;
pub(crate) mod cost;
pub(crate) mod selectivity;
pub(crate) mod statistics;
