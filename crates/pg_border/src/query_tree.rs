//! The query that is being planned: its conditions, and what it sorts by.

use super::compat::aggregates;
use super::join_tree::{Conditions, JoinTree};
use super::node::{Node, Nodes};
use super::node_structs::elements;
use super::planner::Planner;
use pgrx::pg_sys::{self, BoolExprType::AND_EXPR, Oid};
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};

/// The query that is being planned, or one of its subqueries.
#[derive(Clone, Copy)]
pub struct Query<'p>(NonNull<pg_sys::Query>, PhantomData<&'p pg_sys::Query>);

impl<'p> Query<'p> {
    /// # Safety
    /// The pointer must be to a query that is being planned.
    pub(super) unsafe fn new(place: *mut pg_sys::Query) -> Self {
        // SAFETY: the pointer is not null, as the caller promises.
        Self(unsafe { NonNull::new_unchecked(place) }, PhantomData)
    }

    /// PostgreSQL's struct, for the duration of a statement: nothing changes it meanwhile.
    pub(super) fn info(&self) -> &pg_sys::Query {
        // SAFETY: the query is being planned, and the reference does not leave the border.
        unsafe { self.0.as_ref() }
    }

    /// The FROM clause with its conditions. There is none in the query for which PostgreSQL plans the workers
    /// of CREATE INDEX.
    pub(super) fn join_tree(self) -> Option<JoinTree<'p>> {
        // SAFETY: the field has a node of the query, or null.
        unsafe { Node::at(self.info().jointree) }.and_then(JoinTree::of)
    }

    /// Calls `change` for each list of conditions of the query, and stores its result there. All conditions
    /// of a list have to hold: those of FROM, WHERE and JOIN, of row-level security, and of security barrier
    /// views.
    pub fn change_conditions(self, change: &mut dyn FnMut(Nodes<'p>) -> Nodes<'p>) {
        if let Some(tree) = self.join_tree() {
            tree.change_conditions(change);
        }
        // SAFETY: a query has a list of its tables, each of which has a list of conditions for each security
        // level.
        unsafe {
            for table in Nodes::new(self.info().rtable).iter() {
                let levels = (*table.pointer().cast::<pg_sys::RangeTblEntry>()).securityQuals;
                for level in 0..Nodes::new(levels).len() {
                    let place = &raw mut (*(*levels).elements.add(level)).ptr_value;
                    Conditions::new(place.cast()).change(change);
                }
            }
        }
    }

    /// Adds a condition to WHERE.
    pub fn add_condition(self, condition: Node<'p>) {
        if let Some(JoinTree::From { conditions, .. }) = self.join_tree() {
            conditions.set(conditions.list().unwrap_or(Nodes::NONE).and(condition.parts(AND_EXPR)));
        }
    }

    /// The expressions of the target list by which the query sorts or groups.
    pub fn sorted_expressions(self) -> impl Iterator<Item = Node<'p>> {
        // SAFETY: the target list of a query has entries with expressions.
        let entries = unsafe { Nodes::new(self.info().targetList) };
        entries.iter().filter_map(|entry| {
            // SAFETY: as above.
            unsafe {
                let entry = entry.pointer().cast::<pg_sys::TargetEntry>();
                ((*entry).ressortgroupref != 0).then(|| Node::new((*entry).expr))
            }
        })
    }

    /// Whether the sort keys only order the rows that the query returns.
    fn only_sorts(self) -> bool {
        let query = self.info();
        query.commandType == pg_sys::CmdType::CMD_SELECT
            && !query.hasAggs
            && !query.hasWindowFuncs
            && !query.hasTargetSRFs
            && query.distinctClause.is_null()
            && query.groupClause.is_null()
            && query.groupingSets.is_null()
            && query.setOperations.is_null()
    }
}

/// A key by which a query orders the rows that it returns.
pub struct SortKey<'p> {
    planner: Planner<'p>,
    /// The cell of the query's list that has the key.
    cell: *mut *mut pg_sys::Node,
    entry: *mut pg_sys::TargetEntry,
}

impl<'p> Planner<'p> {
    /// Reads the sort keys of a query that only sorts, once more if the planner has read them already: it
    /// does so before it calls a hook for the tables of a UNION ALL.
    pub fn read_sort_keys(self) {
        let root = self.pointer();
        // SAFETY: the sort keys refer to the target list of the query.
        unsafe {
            let keys = (*(*root).parse).sortClause;
            let order = pg_sys::make_pathkeys_for_sortclauses(root, keys, (*root).processed_tlist);
            debug_assert!((*root).query_pathkeys == (*root).sort_pathkeys, "the query only sorts");
            (*root).sort_pathkeys = order;
            (*root).query_pathkeys = order;
        }
    }

    /// The condition of FILTER, if the query computes aggregates of all of its rows and each of them has the
    /// same condition. Rows that do not fulfill it do not change the result.
    pub fn filter_of_aggregates(self) -> Option<Node<'p>> {
        let query = self.query();
        let query = query.info();
        if !query.hasAggs || !query.groupClause.is_null() || !query.groupingSets.is_null() {
            return None;
        }
        let mut filters = aggregates(self.info()).map(|aggregate| {
            // SAFETY: the aggregates belong to the query, and the field is a condition or null.
            unsafe { Node::at((*aggregate).aggfilter) }
        });
        let first = filters.next()??;
        filters.all(|other| other.is_some_and(|other| Nodes::of(&[first]).contains(other))).then_some(first)
    }

    /// The query that is being planned.
    pub fn query(self) -> Query<'p> {
        // SAFETY: the planner's struct always has a query.
        unsafe { Query::new(self.info().parse) }
    }

    /// The sort keys of the query. None if they do more than to order the rows that it returns, as with
    /// DISTINCT, or if the planner has already replaced the target list, so that they cannot be changed.
    pub fn sort_keys(self) -> Vec<SortKey<'p>> {
        let query = self.query();
        let entries = query.info().targetList;
        if !query.only_sorts() || self.info().processed_tlist != entries {
            return Vec::new();
        }
        // SAFETY: sort keys refer to entries of the query's target list, which the planner still uses.
        // Bounded: what a query sorts by.
        unsafe {
            elements(query.info().sortClause)
                .iter_mut()
                .map(|cell| {
                    let key = cell.cast::<pg_sys::SortGroupClause>();
                    let entry = pg_sys::get_sortgroupclause_tle(key, entries);
                    SortKey { planner: self, cell, entry }
                })
                .collect()
        }
    }
}

impl<'p> SortKey<'p> {
    fn clause(&self) -> &pg_sys::SortGroupClause {
        // SAFETY: the cell has a sort key of the query, and the reference does not leave this file.
        unsafe { &*(*self.cell).cast::<pg_sys::SortGroupClause>() }
    }

    /// The expression.
    pub fn expr(&self) -> Node<'p> {
        // SAFETY: an entry has an expression.
        unsafe { Node::new((*self.entry).expr) }
    }

    /// The operator that orders the values.
    pub fn operator(&self) -> Oid {
        self.clause().sortop
    }

    /// Whether NULLs come first.
    pub fn are_nulls_first(&self) -> bool {
        self.clause().nulls_first
    }

    /// Sorts by an integer in ascending order instead, with NULLs last. The integer replaces the sorted value
    /// in the target list if the query does not return that value; otherwise it gets a new entry.
    pub fn sort_by_integer(self, integer: Node<'p>) {
        assert_eq!(integer.type_(), pg_sys::INT4OID, "the operators are those of integers");
        let entries = self.planner.query().info().targetList;
        // SAFETY: a query has a target list. Appending to a list that is not empty does not move the list.
        // Nobody has a reference to an entry or to the cell.
        unsafe {
            let entry = if (*self.entry).resjunk {
                (*self.entry).expr = integer.pointer().cast();
                self.entry
            } else {
                let references = elements(entries)
                    .iter()
                    .map(|&entry| (*entry.cast::<pg_sys::TargetEntry>()).ressortgroupref);
                let last = references.max().unwrap_or(0);
                let number = elements(entries).len() as i16 + 1;
                let new = pg_sys::makeTargetEntry(integer.pointer().cast(), number, null_mut(), true);
                (*new).ressortgroupref = last + 1;
                pg_sys::lappend(entries, new.cast());
                new
            };
            let key = self.planner.make::<pg_sys::SortGroupClause>();
            key.tleSortGroupRef = (*entry).ressortgroupref;
            key.eqop = pg_sys::Int4EqualOperator.into();
            key.sortop = pg_sys::Int4LessOperator.into();
            key.hashable = true;
            *self.cell = std::ptr::from_mut(key).cast();
        }
    }
}
