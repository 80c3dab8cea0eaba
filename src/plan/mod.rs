//! What the planner does with a query that names our functions.
//!
//! - [`conditions`]: rewrites comparisons of distances and of sketches so that an index can answer them
//! - [`near_join`]: joins two tables by distance
//! - [`parallel_scan`]: what a search of an index by several processes costs

mod conditions;
mod near_join;
mod parallel_scan;

/// Called when the library is loaded.
pub(crate) fn install_hooks() {
    conditions::install_hook();
    near_join::install_hook();
    parallel_scan::install_hook();
}
