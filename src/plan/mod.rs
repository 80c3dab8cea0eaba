//! Changes how the planner treats queries that use our functions.
//!
//! - [`conditions`]: rewrites comparisons of distances and of sketches so that an index can answer them
//! - [`near_join`]: joins two tables by distance
//! - [`parallel_scan`]: divides the cost of an index scan among its processes
#![forbid(unsafe_code)]

mod conditions;
pub(crate) mod near_join;
mod parallel_scan;

/// Called when the library is loaded.
pub(crate) fn install_hooks() {
    conditions::install_hook();
    near_join::install_hook();
    parallel_scan::install_hook();
}
