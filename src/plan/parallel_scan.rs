//! Divides the cost of a parallel scan of an index that divides its work.
//!
//! PostgreSQL divides the cost of the executor's work on rows among the processes, but not the index's cost.
//! In a search among whole codes, that is nearly all of the cost.

use crate::index::hamming::{divide_cost, is_hamming};
use crate::pg::planner_hooks::{PathsHook, RelationPaths, install_paths_hook};

struct DividedCosts;

impl PathsHook for DividedCosts {
    fn on_paths(paths: &mut RelationPaths<'_>) {
        paths.change_partial_costs(|path| is_hamming(path.index()), divide_cost);
    }
}

/// Puts our hook in place. Called when the library is loaded.
pub(crate) fn install_hook() {
    install_paths_hook::<DividedCosts>();
}
