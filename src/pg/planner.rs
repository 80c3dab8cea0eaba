//! The planner's state for a query, its relations and indexes, as far as we ask for them.

use super::expr::{Expr, Exprs};
use super::nodes::Tagged;
use pgrx::pg_sys::{self, Datum, Oid};
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::{NonNull, null_mut};

/// What the planner knows of the query.
#[derive(Clone, Copy)]
pub(crate) struct Planner<'p>(NonNull<pg_sys::PlannerInfo>, PhantomData<&'p pg_sys::PlannerInfo>);

impl<'p> Planner<'p> {
    /// # Safety
    /// `root` must be that of the query that is being planned, or null.
    pub(crate) unsafe fn new(root: *mut pg_sys::PlannerInfo) -> Option<Self> {
        NonNull::new(root).map(|root| Self(root, PhantomData))
    }

    pub(crate) fn pointer(self) -> *mut pg_sys::PlannerInfo {
        self.0.as_ptr()
    }

    /// References to the planner's structs are made at the border alone: what has one trusts what is in it.
    pub(crate) fn info(self) -> &'p pg_sys::PlannerInfo {
        // SAFETY: the planner's own, which it does not change until we return.
        unsafe { self.0.as_ref() }
    }

    pub(crate) fn query(self) -> &'p pg_sys::Query {
        // SAFETY: the planner has a query.
        unsafe { &*self.info().parse }
    }

    /// An expression with all in it that can be known for an estimate, parameters of the query too.
    pub(crate) fn estimated(self, expr: Expr<'p>) -> Expr<'p> {
        // SAFETY: an expression of the query.
        unsafe { Expr::new(pg_sys::estimate_expression_value(self.pointer(), expr.pointer())) }
    }

    /// The value of an expression, if it can be known for an estimate and is not NULL.
    pub(crate) fn value(self, expr: Expr<'p>) -> Option<Datum> {
        self.estimated(expr).value()
    }

    /// Whether an expression mentions relations, and these alone.
    pub(crate) fn is_of(self, expr: Expr, relations: pg_sys::Relids) -> bool {
        // SAFETY: an expression of the query, and sets of relations.
        unsafe {
            let mentioned = pg_sys::pull_varnos(self.pointer(), expr.pointer());
            !mentioned.is_null() && pg_sys::bms_is_subset(mentioned, relations)
        }
    }

    /// Whether an expression mentions relations.
    pub(crate) fn has_relations(self, expr: Expr) -> bool {
        // SAFETY: an expression of the query.
        unsafe { !pg_sys::pull_varnos(self.pointer(), expr.pointer()).is_null() }
    }

    /// Whether workers can compute an expression.
    pub(crate) fn is_parallel_safe(self, expr: Expr) -> bool {
        // SAFETY: an expression of the query.
        unsafe { pg_sys::is_parallel_safe(self.pointer(), expr.pointer()) }
    }

    /// The selectivity of conditions on a relation.
    pub(crate) fn selectivity(self, conditions: Exprs<'p>, relation: pg_sys::Index) -> f64 {
        let (inner, none) = (pg_sys::JoinType::JOIN_INNER, null_mut());
        // SAFETY: conditions of the query.
        unsafe {
            pg_sys::clauselist_selectivity(self.pointer(), conditions.pointer(), relation as i32, inner, none)
        }
    }
}

/// A relation of the query: a table, or a join of some.
#[derive(Clone, Copy)]
pub(crate) struct Relation<'p>(NonNull<pg_sys::RelOptInfo>, PhantomData<&'p pg_sys::RelOptInfo>);

impl Deref for Relation<'_> {
    type Target = pg_sys::RelOptInfo;

    fn deref(&self) -> &Self::Target {
        // SAFETY: a relation of the query, of which no reference is kept while PostgreSQL changes it.
        unsafe { self.0.as_ref() }
    }
}

impl<'p> Relation<'p> {
    /// # Safety
    /// `relation` must be one of the query that is being planned.
    pub(crate) unsafe fn new(relation: *mut pg_sys::RelOptInfo) -> Self {
        // SAFETY: not null, as the caller promises.
        Self(unsafe { NonNull::new_unchecked(relation) }, PhantomData)
    }

    pub(crate) fn pointer(self) -> *mut pg_sys::RelOptInfo {
        self.0.as_ptr()
    }

    /// What it returns.
    pub(crate) fn columns(self) -> Exprs<'p> {
        // SAFETY: a list of expressions.
        unsafe { Exprs::new((*self.reltarget).exprs) }
    }

    /// Its paths, or those of which each worker takes a part.
    pub(crate) fn paths(self, are_partial: bool) -> impl Iterator<Item = &'p pg_sys::Path> {
        // SAFETY: a list of paths.
        let paths = unsafe { Exprs::new(if are_partial { self.partial_pathlist } else { self.pathlist }) };
        // SAFETY: as above; every kind of path begins with a path.
        paths.iter().map(|path| unsafe { &*path.pointer().cast() })
    }

    /// Changes the costs of paths of which each worker takes a part, and compares them anew.
    ///
    /// # Safety
    /// Nobody may have built upon these paths yet.
    pub(crate) unsafe fn change_costs<T: Tagged>(
        self,
        is_one: impl Fn(&T) -> bool,
        mut change: impl FnMut(&mut T),
    ) {
        // SAFETY: a list of paths of the relation, of which nobody else keeps a reference.
        unsafe {
            let paths = Exprs::new(self.partial_pathlist);
            if !paths.iter().any(|path| path.cast::<T>().is_some_and(&is_one)) {
                return;
            }
            (*self.pointer()).partial_pathlist = null_mut();
            for path in paths.iter() {
                if path.cast::<T>().is_some_and(&is_one) {
                    change(&mut *path.pointer().cast());
                }
                self.propose(path.pointer().cast(), true);
            }
        }
    }

    /// The paths that ask for rows of another relation alone.
    pub(crate) fn paths_asking(self, other: Relation) -> impl Iterator<Item = &'p pg_sys::Path> {
        self.paths(false).filter(move |path| {
            // SAFETY: what a path asks for, or null, and sets of relations.
            unsafe {
                let asked = path.param_info.as_ref();
                asked.is_some_and(|asked| pg_sys::bms_is_subset(asked.ppi_req_outer, other.relids))
            }
        })
    }

    /// The entry of the range table, unless it is a join.
    pub(crate) fn entry(self, planner: Planner<'p>) -> Option<&'p pg_sys::RangeTblEntry> {
        let is_base = self.reloptkind == pg_sys::RelOptKind::RELOPT_BASEREL;
        // SAFETY: a base relation has an entry in the range table.
        is_base.then(|| unsafe { &**planner.info().simple_rte_array.add(self.relid as usize) })
    }

    /// The cheapest path of these, unless it asks for rows of other relations.
    pub(crate) fn cheapest(self, are_partial: bool) -> Option<&'p pg_sys::Path> {
        let path = match are_partial {
            true => self.paths(true).next(),
            // SAFETY: a path, or null.
            false => unsafe { self.cheapest_total_path.as_ref() },
        };
        path.filter(|path| path.param_info.is_null())
    }

    /// Proposes a path, which may be removed at once.
    ///
    /// # Safety
    /// It must be a path of this relation, of which each worker takes a part if it is partial.
    pub(crate) unsafe fn propose(self, path: *mut pg_sys::Path, is_partial: bool) {
        // SAFETY: as the caller promises.
        unsafe {
            match is_partial {
                true => pg_sys::add_partial_path(self.pointer(), path),
                false => pg_sys::add_path(self.pointer(), path),
            }
        }
    }
}

/// An index of a relation of the query.
#[derive(Clone, Copy)]
pub(crate) struct PlannedIndex<'p>(NonNull<pg_sys::IndexOptInfo>, PhantomData<&'p pg_sys::IndexOptInfo>);

impl Deref for PlannedIndex<'_> {
    type Target = pg_sys::IndexOptInfo;

    fn deref(&self) -> &Self::Target {
        // SAFETY: an index of the query, which nobody changes but through `as_mut`.
        unsafe { self.0.as_ref() }
    }
}

impl<'p> PlannedIndex<'p> {
    /// # Safety
    /// `index` must be one of the query that is being planned.
    pub(crate) unsafe fn new(index: *mut pg_sys::IndexOptInfo) -> Self {
        // SAFETY: not null.
        Self(unsafe { NonNull::new_unchecked(index) }, PhantomData)
    }

    /// All indexes of a relation.
    pub(crate) fn all(relation: &'p pg_sys::RelOptInfo) -> impl Iterator<Item = Self> {
        // SAFETY: the list has the relation's indexes.
        unsafe { Exprs::new(relation.indexlist).iter().map(|index| Self::new(index.pointer().cast())) }
    }

    pub(crate) fn as_mut(&mut self) -> &mut pg_sys::IndexOptInfo {
        // SAFETY: an index of the query, of which nobody else keeps a reference.
        unsafe { self.0.as_mut() }
    }

    /// The operator family of each key column.
    pub(crate) fn families(self) -> impl Iterator<Item = Oid> {
        // SAFETY: there is a family for each key column.
        (0..self.nkeycolumns as usize).map(move |column| unsafe { *self.opfamily.add(column) })
    }

    /// The type of the first key column.
    pub(crate) fn first_type(self) -> Oid {
        // SAFETY: an index has a key column.
        unsafe { *self.opcintype }
    }

    /// The conditions of a partial index.
    pub(crate) fn predicate(self) -> Exprs<'p> {
        // SAFETY: conditions on the columns of the index's table.
        unsafe { Exprs::new(self.indpred) }
    }

    /// The number of its relation in the query, and the rows of that.
    pub(crate) fn table(self) -> (pg_sys::Index, f64) {
        // SAFETY: an index belongs to a relation.
        unsafe { ((*self.rel).relid, (*self.rel).tuples) }
    }
}
