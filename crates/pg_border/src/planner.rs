//! The planner's state for a query, its relations and its indexes.

use super::compat::aggregates;
use super::node::{Node, Nodes};
use super::node_structs::Tagged;
use pgrx::pg_sys::{self, Datum, Oid};
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::{NonNull, null_mut};

/// The planner's state for a query.
#[derive(Clone, Copy)]
pub struct Planner<'p>(NonNull<pg_sys::PlannerInfo>, PhantomData<&'p pg_sys::PlannerInfo>);

impl<'p> Planner<'p> {
    /// The lifetime is that of the variable with the pointer, an argument of the function that the planner
    /// calls: nothing of the planner is kept when that function returns.
    ///
    /// # Safety
    /// `root` must belong to the query that is being planned, or be null.
    pub unsafe fn new(root: &'p *mut pg_sys::PlannerInfo) -> Option<Self> {
        NonNull::new(*root).map(|root| Self(root, PhantomData))
    }

    /// # Safety
    /// `relation` must belong to the query that is being planned.
    pub unsafe fn relation(self, relation: *mut pg_sys::RelOptInfo) -> Relation<'p> {
        // SAFETY: the pointer is not null, as the caller promises.
        Relation(unsafe { NonNull::new_unchecked(relation) }, PhantomData)
    }

    /// A new node, with its tag and zeros, in the memory context of the planner's call.
    pub fn make<T: Tagged>(self) -> &'p mut T {
        // SAFETY: PostgreSQL makes nodes of zeroed memory too, and the tag belongs to the struct.
        unsafe {
            let node: *mut pg_sys::Node = pg_sys::palloc0(size_of::<T>()).cast();
            (*node).type_ = T::TAG;
            &mut *node.cast()
        }
    }

    /// The pointer to the planner's struct.
    pub fn pointer(self) -> *mut pg_sys::PlannerInfo {
        self.0.as_ptr()
    }

    /// The planner's struct. Its pointers are trusted: only the border creates a [`Planner`].
    pub fn info(self) -> &'p pg_sys::PlannerInfo {
        // SAFETY: the planner does not change its struct until we return.
        unsafe { self.0.as_ref() }
    }

    /// The UNION ALL that a table is an arm of.
    pub fn union_of(self, table: &pg_sys::RelOptInfo) -> Option<&'p pg_sys::RelOptInfo> {
        let root = self.info();
        // SAFETY: if there is an array, it has an entry for each relation of the query, which is null unless
        // the relation is part of another one. The other one was built before its parts.
        unsafe {
            let parts = NonNull::new(root.append_rel_array)?;
            let part = (*parts.as_ptr().add(table.relid as usize)).as_ref()?;
            let whole = (*root.simple_rel_array.add(part.parent_relid as usize)).as_ref()?;
            (whole.rtekind == pg_sys::RTEKind::RTE_SUBQUERY).then_some(whole)
        }
    }

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
    pub fn query(self) -> &'p pg_sys::Query {
        // SAFETY: the planner's struct always has a query.
        unsafe { &*self.info().parse }
    }

    /// The expression, simplified with the values of the query's parameters. Only for estimates.
    pub fn estimated(self, expr: Node<'p>) -> Node<'p> {
        // SAFETY: the expression belongs to the query.
        unsafe { Node::new(pg_sys::estimate_expression_value(self.pointer(), expr.pointer())) }
    }

    /// The value of an expression, if an estimate can know it and it is not NULL.
    pub fn value(self, expr: Node<'p>) -> Option<Datum> {
        self.estimated(expr).value()
    }

    /// Whether an expression contains columns, and all of them are of this relation, which may be a join.
    pub fn is_of(self, expr: Node, relation: Relation) -> bool {
        // SAFETY: the expression and the relation belong to the query.
        unsafe {
            let mentioned = pg_sys::pull_varnos(self.pointer(), expr.pointer());
            !mentioned.is_null() && pg_sys::bms_is_subset(mentioned, relation.relids)
        }
    }

    /// Whether an expression contains columns of relations.
    pub fn has_relations(self, expr: Node) -> bool {
        // SAFETY: the expression belongs to the query.
        unsafe { !pg_sys::pull_varnos(self.pointer(), expr.pointer()).is_null() }
    }

    /// Whether workers can compute an expression.
    pub fn is_parallel_safe(self, expr: Node) -> bool {
        // SAFETY: the expression belongs to the query.
        unsafe { pg_sys::is_parallel_safe(self.pointer(), expr.pointer()) }
    }

    /// The selectivity of conditions on a relation.
    pub fn selectivity(self, conditions: Nodes<'p>, relation: pg_sys::Index) -> f64 {
        let (inner, none) = (pg_sys::JoinType::JOIN_INNER, null_mut());
        // SAFETY: the conditions belong to the query.
        unsafe {
            pg_sys::clauselist_selectivity(self.pointer(), conditions.pointer(), relation as i32, inner, none)
        }
    }

    /// The estimated number of rows of the inner side of a semi or anti join.
    pub fn inner_rows(self, join: &pg_sys::SpecialJoinInfo) -> f64 {
        let (root, inner) = (self.pointer(), join.min_righthand);
        // SAFETY: the inner side is a relation of the query, or several that are not joined yet.
        unsafe {
            let relation = match pg_sys::bms_membership(inner) {
                pg_sys::BMS_Membership::BMS_SINGLETON => {
                    pg_sys::find_base_rel(root, pg_sys::bms_singleton_member(inner))
                }
                _ => pg_sys::find_join_rel(root, inner),
            };
            relation.as_ref().map_or(1.0, |relation| relation.rows)
        }
    }
}

/// A relation of the query: a table, a join, or another item of FROM.
#[derive(Clone, Copy)]
pub struct Relation<'p>(NonNull<pg_sys::RelOptInfo>, PhantomData<&'p pg_sys::RelOptInfo>);

impl Deref for Relation<'_> {
    type Target = pg_sys::RelOptInfo;

    fn deref(&self) -> &Self::Target {
        // SAFETY: the relation belongs to the query, and no reference is held while PostgreSQL changes it.
        unsafe { self.0.as_ref() }
    }
}

impl<'p> Relation<'p> {
    /// The pointer to the relation.
    pub fn pointer(self) -> *mut pg_sys::RelOptInfo {
        self.0.as_ptr()
    }

    /// The expressions that the relation returns.
    pub fn columns(self) -> Nodes<'p> {
        // SAFETY: the target is a list of expressions.
        unsafe { Nodes::new((*self.reltarget).exprs) }
    }

    /// The relation's paths, or its partial paths, whose rows are divided among the processes of a plan.
    pub fn paths(self, are_partial: bool) -> impl Iterator<Item = &'p pg_sys::Path> {
        // SAFETY: each field is a list of paths.
        let paths = unsafe { Nodes::new(if are_partial { self.partial_pathlist } else { self.pathlist }) };
        // SAFETY: the lists have paths, and the struct of every kind of path begins with a `Path`.
        paths.iter().map(|path| unsafe { &*path.pointer().cast() })
    }

    /// Changes the costs of some partial paths, and lets the planner compare all partial paths again.
    ///
    /// # Safety
    /// No other path may have been built on these paths yet.
    pub unsafe fn change_costs<T: Tagged>(self, is_one: impl Fn(&T) -> bool, mut change: impl FnMut(&mut T)) {
        // SAFETY: the list has paths of the relation, and nobody else keeps a reference to them.
        unsafe {
            let paths = Nodes::new(self.partial_pathlist);
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

    /// The parameterized paths that only need values of `other`.
    pub fn paths_parameterized_by(self, other: Relation) -> impl Iterator<Item = &'p pg_sys::Path> {
        self.paths(false).filter(move |path| {
            // SAFETY: the field is null or describes the parameters; both arguments are sets of relations.
            unsafe {
                let asked = path.param_info.as_ref();
                asked.is_some_and(|asked| pg_sys::bms_is_subset(asked.ppi_req_outer, other.relids))
            }
        })
    }

    /// The relation's entry in the range table; `None` for a join.
    pub fn entry(self, planner: Planner<'p>) -> Option<&'p pg_sys::RangeTblEntry> {
        let is_base = self.reloptkind == pg_sys::RelOptKind::RELOPT_BASEREL;
        // SAFETY: a base relation has an entry in the range table.
        is_base.then(|| unsafe { &**planner.info().simple_rte_array.add(self.relid as usize) })
    }

    /// The cheapest path, or the cheapest partial path, unless it is parameterized.
    pub fn cheapest(self, are_partial: bool) -> Option<&'p pg_sys::Path> {
        let path = match are_partial {
            true => self.paths(true).next(),
            // SAFETY: the field is a path or null.
            false => unsafe { self.cheapest_total_path.as_ref() },
        };
        path.filter(|path| path.param_info.is_null())
    }

    /// Proposes a path, which PostgreSQL may free at once.
    ///
    /// # Safety
    /// The path must belong to this relation. It must be partial if `is_partial`.
    pub unsafe fn propose(self, path: *mut pg_sys::Path, is_partial: bool) {
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
pub struct PlannedIndex<'p>(pub &'p pg_sys::IndexOptInfo);

impl Deref for PlannedIndex<'_> {
    type Target = pg_sys::IndexOptInfo;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

/// All indexes of a relation, for the planner's hook to change.
///
/// # Safety
/// Nobody may read them while one of them is changed.
pub unsafe fn changed_indexes(
    relation: &pg_sys::RelOptInfo,
) -> impl Iterator<Item = &mut pg_sys::IndexOptInfo> {
    // SAFETY: the list has the relation's indexes, each once.
    unsafe { Nodes::new(relation.indexlist).iter().map(|index| &mut *index.pointer().cast()) }
}

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
    pub unsafe fn new(index: *mut pg_sys::IndexOptInfo) -> Self {
        // SAFETY: the pointer is not null, as the caller promises.
        Self(unsafe { &*index })
    }

    /// All indexes of a relation.
    pub fn all(relation: &'p pg_sys::RelOptInfo) -> impl Iterator<Item = Self> {
        // SAFETY: the list has the relation's indexes.
        unsafe { Nodes::new(relation.indexlist).iter().map(|index| Self::new(index.pointer().cast())) }
    }

    /// The operator family of each key column.
    pub fn families(self) -> impl Iterator<Item = Oid> {
        // SAFETY: the array has a family for each key column.
        (0..self.nkeycolumns as usize).map(move |column| unsafe { *self.opfamily.add(column) })
    }

    /// The type of the first key column.
    pub fn first_type(self) -> Oid {
        // SAFETY: an index has at least one key column.
        unsafe { *self.opcintype }
    }

    /// The expression that is the first key; `None` if the first key is a column.
    pub fn first_expression(self) -> Option<Node<'p>> {
        // SAFETY: an index has at least one key column. Its number is 0 if it is an expression, and then the
        // list of expressions begins with it.
        unsafe { if *self.indexkeys == 0 { Nodes::new(self.indexprs).get(0) } else { None } }
    }

    /// Adds an index to the relation that is this one with another first key in place of its first
    /// expression: a column of the relation or an expression, of another type.
    ///
    /// # Safety
    /// The index must have the values of the key, and its first operator family must support their type. The
    /// planner must not use the relation until the caller returns.
    pub unsafe fn add_with_first_key(self, key: Node<'p>, type_: Oid) {
        debug_assert!(self.first_expression().is_some(), "the first key is an expression");
        // SAFETY: the arrays have an element for each column, and the copies are in the same memory context.
        // Appending to a list that is not empty does not move the list.
        unsafe {
            let other = pg_sys::palloc(size_of::<pg_sys::IndexOptInfo>()).cast::<pg_sys::IndexOptInfo>();
            other.copy_from(std::ptr::from_ref(self.0), 1);
            let other = &mut *other;
            other.indexkeys = copied(other.indexkeys, self.ncolumns);
            other.opcintype = copied(other.opcintype, self.nkeycolumns);
            *other.opcintype = type_;
            let further = pg_sys::list_copy_tail(self.indexprs, 1);
            match key.cast::<pg_sys::Var>() {
                Some(column) => {
                    *other.indexkeys = column.varattno.into();
                    other.indexprs = further;
                }
                None => other.indexprs = Nodes::of(&[key]).and(Nodes::new(further)).pointer(),
            }
            pg_sys::lappend((*self.rel).indexlist, std::ptr::from_mut(other).cast());
        }
    }

    /// The conditions of a partial index.
    pub fn predicate(self) -> Nodes<'p> {
        // SAFETY: the predicate is a list of conditions on the table.
        unsafe { Nodes::new(self.indpred) }
    }

    /// The index's relation, by its number in the query, and the number of its rows.
    pub fn table(self) -> (pg_sys::Index, f64) {
        // SAFETY: every index has a relation.
        unsafe { ((*self.rel).relid, (*self.rel).tuples) }
    }
}
