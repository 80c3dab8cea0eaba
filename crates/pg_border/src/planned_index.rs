//! An index of a relation of the query that is being planned, as the planner describes it.

use super::node::{Node, Nodes};
use pgrx::pg_sys::{self, IndexOptInfo, Oid};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// An index of a relation of the query. What is changed here is changed for the planning of this query.
#[derive(Clone, Copy)]
pub struct PlannedIndex<'p>(NonNull<IndexOptInfo>, PhantomData<&'p IndexOptInfo>);

/// A copy of an array.
///
/// # Safety
/// The array must have so many elements.
unsafe fn copied<T: Copy>(array: *const T, count: i32) -> *mut T {
    // SAFETY: there are so many elements, as the caller promises.
    unsafe {
        let copy = pg_sys::palloc(size_of::<T>() * count as usize).cast::<T>();
        copy.copy_from(array, count as usize);
        copy
    }
}

impl<'p> PlannedIndex<'p> {
    /// # Safety
    /// `index` must belong to the query that is being planned.
    pub unsafe fn new(index: *mut IndexOptInfo) -> Self {
        // SAFETY: the pointer is not null, as the caller promises.
        Self(unsafe { NonNull::new_unchecked(index) }, PhantomData)
    }

    pub(super) fn pointer(self) -> *mut IndexOptInfo {
        self.0.as_ptr()
    }

    /// The planner's struct, for the duration of a statement: nothing changes it meanwhile.
    fn info(&self) -> &IndexOptInfo {
        // SAFETY: the index belongs to the query, and the reference does not leave this file.
        unsafe { self.0.as_ref() }
    }

    /// The OID of the index.
    pub fn oid(self) -> Oid {
        self.info().indexoid
    }

    /// The OID of the access method.
    pub fn access_method(self) -> Oid {
        self.info().relam
    }

    /// The number of pages.
    pub fn pages(self) -> u32 {
        self.info().pages
    }

    /// The number of entries.
    pub fn tuples(self) -> f64 {
        self.info().tuples
    }

    /// The number of key columns.
    pub fn key_columns(self) -> usize {
        self.info().nkeycolumns as usize
    }

    /// The operator family of each key column.
    pub fn families(self) -> impl Iterator<Item = Oid> {
        // SAFETY: the array has a family for each key column.
        (0..self.key_columns()).map(move |column| unsafe { *self.info().opfamily.add(column) })
    }

    /// The type of the first key column.
    pub fn first_type(self) -> Oid {
        // SAFETY: an index has at least one key column.
        unsafe { *self.info().opcintype }
    }

    /// The expression that is the first key; `None` if the first key is a column.
    pub fn first_expression(self) -> Option<Node<'p>> {
        // SAFETY: an index has at least one key column. Its number is 0 if it is an expression, and then the
        // list of expressions begins with it.
        unsafe { if *self.info().indexkeys == 0 { self.expressions().get(0) } else { None } }
    }

    /// The keys that are expressions.
    pub fn expressions(self) -> Nodes<'p> {
        // SAFETY: the field has a list of expressions.
        unsafe { Nodes::new(self.info().indexprs) }
    }

    /// What each column contains, as an expression.
    pub fn columns(self) -> impl Iterator<Item = Node<'p>> {
        // SAFETY: the list has an entry with an expression for each column.
        unsafe { Nodes::new(self.info().indextlist) }.of_columns()
    }

    /// The conditions of a partial index.
    pub fn predicate(self) -> Nodes<'p> {
        // SAFETY: the predicate is a list of conditions on the table.
        unsafe { Nodes::new(self.info().indpred) }
    }

    /// The index's relation, by its number in the query, and the number of its rows.
    pub fn table(self) -> (pg_sys::Index, f64) {
        // SAFETY: every index has a relation.
        unsafe { ((*self.info().rel).relid, (*self.info().rel).tuples) }
    }

    /// The estimated number of rows of the index's relation that fulfill its conditions.
    pub fn rows_of_table(self) -> f64 {
        // SAFETY: every index has a relation.
        unsafe { (*self.info().rel).rows }
    }

    /// Whether an index-only scan can return the first column.
    pub fn returns_first_column(self) -> bool {
        // SAFETY: the array has an element for each column.
        unsafe { *self.info().canreturn }
    }

    /// Describes the predicate to the planner by these conditions, which must mean the same.
    pub fn set_predicate(self, conditions: Nodes<'p>) {
        // SAFETY: the index belongs to the query.
        unsafe { (*self.pointer()).indpred = conditions.pointer() }
    }

    /// Whether the planner may scan the index without a condition on its first column.
    pub fn set_optional_key(self, is_optional: bool) {
        // SAFETY: the index belongs to the query.
        unsafe { (*self.pointer()).amoptionalkey = is_optional }
    }

    /// Keeps the planner from scanning the index for an order by an operator.
    pub fn forbid_order_by(self) {
        // SAFETY: the index belongs to the query.
        unsafe { (*self.pointer()).amcanorderbyop = false }
    }

    /// Keeps the planner from scanning the index in parallel.
    pub fn forbid_parallel(self) {
        // SAFETY: the index belongs to the query.
        unsafe { (*self.pointer()).amcanparallel = false }
    }

    /// Adds an index to the relation that is this one with another first key in place of its first
    /// expression: a column of the relation or an expression, of another type.
    ///
    /// # Safety
    /// The index must have the values of the key, and its first operator family must support their type. The
    /// planner must be calling a hook for the relation.
    pub(super) unsafe fn add_with_first_key(self, key: Node<'p>, type_: Oid) {
        debug_assert!(self.first_expression().is_some(), "the first key is an expression");
        // SAFETY: the arrays have an element for each column, and the copies are in the same memory context.
        // Appending to a list that is not empty does not move the list.
        unsafe {
            let other = pg_sys::palloc(size_of::<IndexOptInfo>()).cast::<IndexOptInfo>();
            other.copy_from(self.pointer(), 1);
            let other = &mut *other;
            other.indexkeys = copied(other.indexkeys, other.ncolumns);
            other.opcintype = copied(other.opcintype, other.nkeycolumns);
            *other.opcintype = type_;
            let further = pg_sys::list_copy_tail(other.indexprs, 1);
            match key.cast::<pg_sys::Var>() {
                Some(column) => {
                    *other.indexkeys = column.varattno.into();
                    other.indexprs = further;
                }
                None => other.indexprs = Nodes::of(&[key]).and(Nodes::new(further)).pointer(),
            }
            pg_sys::lappend((*other.rel).indexlist, std::ptr::from_mut(other).cast());
        }
    }
}
