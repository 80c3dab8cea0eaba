//! Paths: the ways in which the planner can compute a relation, and new ones of PostgreSQL's own nodes.

use super::node::Node;
use pgrx::pg_sys;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A path of a relation of the query.
#[derive(Clone, Copy)]
pub struct Path<'p>(NonNull<pg_sys::Path>, PhantomData<&'p pg_sys::Path>);

impl<'p> Path<'p> {
    /// # Safety
    /// The pointer must be to a path of the query that is being planned.
    pub(super) unsafe fn new(place: *mut pg_sys::Path) -> Self {
        // SAFETY: the pointer is not null, as the caller promises.
        Self(unsafe { NonNull::new_unchecked(place) }, PhantomData)
    }

    /// # Safety
    /// The pointer must be to a path of the query that is being planned, or null.
    pub(super) unsafe fn at(place: *mut pg_sys::Path) -> Option<Self> {
        NonNull::new(place).map(|place| Self(place, PhantomData))
    }

    pub(super) fn pointer(self) -> *mut pg_sys::Path {
        self.0.as_ptr()
    }

    /// The planner's struct, for the duration of a statement: nothing changes it meanwhile.
    pub(super) fn info(&self) -> &pg_sys::Path {
        // SAFETY: the path belongs to the query, and the reference does not leave the border.
        unsafe { self.0.as_ref() }
    }

    pub(super) fn node(self) -> Node<'p> {
        // SAFETY: a path is a node.
        unsafe { Node::new(self.pointer()) }
    }

    /// The estimated number of rows.
    pub fn rows(self) -> f64 {
        self.info().rows
    }

    /// The cost until the first row.
    pub fn startup_cost(self) -> f64 {
        self.info().startup_cost
    }

    /// The cost of all rows.
    pub fn total_cost(self) -> f64 {
        self.info().total_cost
    }

    /// How many workers the path has.
    pub fn workers(self) -> i32 {
        self.info().parallel_workers
    }

    /// The estimated bytes of a row.
    pub fn width(self) -> f64 {
        // SAFETY: a path has a target.
        f64::from(unsafe { (*self.info().pathtarget).width })
    }

    /// Whether the path needs values of other relations.
    pub fn is_parameterized(self) -> bool {
        !self.info().param_info.is_null()
    }
}

/// A path that was not proposed to the planner yet.
#[must_use]
pub struct NewPath<'p>(Path<'p>);

impl<'p> NewPath<'p> {
    /// # Safety
    /// The pointer must be to a path of the query that the planner does not have yet.
    pub(super) unsafe fn new(place: *mut pg_sys::Path) -> Self {
        // SAFETY: as the caller promises.
        Self(unsafe { Path::new(place) })
    }

    pub(super) fn pointer(&self) -> *mut pg_sys::Path {
        self.0.pointer()
    }

    /// The path, to build others on it.
    pub fn path(&self) -> Path<'p> {
        self.0
    }

    /// Changes the estimated number of rows, which becomes an integer and at least 1.
    pub fn set_rows(&mut self, rows: f64) {
        // SAFETY: nobody else has a reference to the path.
        unsafe { (*self.pointer()).rows = pg_sys::clamp_row_est(rows) };
    }

    /// Changes the cost of all rows.
    pub fn set_total_cost(&mut self, cost: f64) {
        // SAFETY: nobody else has a reference to the path.
        unsafe { (*self.pointer()).total_cost = cost };
    }
}
