//! Paths that a hook proposes to the planner.

use super::path::NewPath;
use super::relation::Relation;
use pgrx::pg_sys;
use std::cell::RefCell;

/// A proposed path.
struct Proposal<'p> {
    path: NewPath<'p>,
    /// Whether its rows are a part of those of the relation, which workers divide among themselves.
    is_partial: bool,
}

/// Paths that a hook proposes for a relation. The planner gets them when the hook returns, because it frees
/// paths that are worse than others.
pub(super) struct Proposals<'p> {
    relation: Relation<'p>,
    paths: RefCell<Vec<Proposal<'p>>>,
}

impl<'p> Proposals<'p> {
    pub(super) fn new(relation: Relation<'p>) -> Self {
        Self { relation, paths: RefCell::default() }
    }

    /// Adds a path, which must be one of the relation.
    pub(super) fn add(&self, path: NewPath<'p>, is_partial: bool) {
        assert!(path.path().is_of(self.relation), "a path is proposed for its own relation");
        self.paths.borrow_mut().push(Proposal { path, is_partial });
    }

    /// Gives the planner the paths.
    ///
    /// # Safety
    /// Nobody may use a path of the relation afterwards.
    pub(super) unsafe fn give(self) {
        let relation = self.relation.pointer();
        for Proposal { path, is_partial } in self.paths.into_inner() {
            // SAFETY: the path belongs to the relation, and nobody else has a pointer to it.
            unsafe {
                match is_partial {
                    true => pg_sys::add_partial_path(relation, path.pointer()),
                    false => pg_sys::add_path(relation, path.pointer()),
                }
            }
        }
    }
}
