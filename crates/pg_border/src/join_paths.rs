//! A join that the planner looks for paths of, and paths of PostgreSQL's own nodes that a hook can add.

use super::compat;
use super::custom_path::{CustomPath, CustomPathParts};
use super::node::{Node, Nodes};
use super::path::{NewPath, Path};
use super::planner::Planner;
use super::proposals::Proposals;
use super::relation::Relation;
use super::restriction::Restriction;
use super::row_identity::with_ctid;
use pgrx::pg_sys::{self, JoinPathExtraData, JoinType, SpecialJoinInfo};
use std::ptr::{null, null_mut};

/// The number of the ctid as a grouping column of a nested loop.
const ROW_REFERENCE: u32 = 1;

/// Two relations that the planner looks for ways to join, one of which is the outer side.
pub struct PlannedJoin<'p> {
    planner: Planner<'p>,
    join: Relation<'p>,
    outer: Relation<'p>,
    inner: Relation<'p>,
    type_: JoinType::Type,
    extra: &'p JoinPathExtraData,
    proposals: Proposals<'p>,
}

impl<'p> PlannedJoin<'p> {
    /// # Safety
    /// The arguments must be those of PostgreSQL's hook.
    pub(super) unsafe fn new(
        planner: Planner<'p>,
        [join, outer, inner]: [Relation<'p>; 3],
        type_: JoinType::Type,
        extra: &'p JoinPathExtraData,
    ) -> Self {
        Self { planner, join, outer, inner, type_, extra, proposals: Proposals::new(join) }
    }

    /// Gives the planner the paths that were proposed.
    ///
    /// # Safety
    /// Nobody may use a path of the join afterwards.
    pub(super) unsafe fn end(self) {
        // SAFETY: as the caller promises.
        unsafe { self.proposals.give() };
    }

    /// The planner's state for the query.
    pub fn planner(&self) -> Planner<'p> {
        self.planner
    }

    /// The relation that the join results in.
    pub fn join(&self) -> Relation<'p> {
        self.join
    }

    /// The outer side.
    pub fn outer(&self) -> Relation<'p> {
        self.outer
    }

    /// The inner side.
    pub fn inner(&self) -> Relation<'p> {
        self.inner
    }

    /// The type of the join.
    pub fn type_(&self) -> JoinType::Type {
        self.type_
    }

    /// The conditions of the join.
    pub fn conditions(&self) -> Nodes<'p> {
        // SAFETY: the field has a list of conditions.
        unsafe { Nodes::new(self.extra.restrictlist) }
    }

    fn special(&self) -> *mut SpecialJoinInfo {
        self.extra.sjinfo
    }

    /// The fraction of all pairs of rows that fulfill a condition of the join.
    pub fn selectivity(&self, condition: Restriction<'p>) -> f64 {
        let inner = JoinType::JOIN_INNER;
        // SAFETY: the condition belongs to the join.
        unsafe {
            let clause = condition.pointer().cast();
            pg_sys::clause_selectivity(self.planner.pointer(), clause, 0, inner, self.special())
        }
    }

    /// The cost of testing conditions.
    pub fn cost_of_tests(&self, conditions: Nodes<'p>) -> pg_sys::QualCost {
        let mut cost = pg_sys::QualCost::default();
        // SAFETY: the conditions belong to the join.
        unsafe { pg_sys::cost_qual_eval(&raw mut cost, conditions.pointer(), self.planner.pointer()) };
        cost
    }

    /// Estimates the number of rows of the join again, with these conditions instead of those of the query.
    pub fn estimate_rows(&self, conditions: Nodes<'p>) {
        // PostgreSQL keeps the estimate of a right join as a left join with the sides exchanged.
        let [first, second] = match self.type_ {
            JoinType::JOIN_RIGHT => [self.inner, self.outer],
            _ => [self.outer, self.inner],
        };
        // SAFETY: relations and conditions of the query, with the sides in the query's order.
        unsafe {
            pg_sys::set_joinrel_size_estimates(
                self.planner.pointer(),
                self.join.pointer(),
                first.pointer(),
                second.pointer(),
                self.special(),
                conditions.pointer(),
            );
        }
    }

    /// A nested loop of a path of each side, the outer one first. The inner one may be parameterized by the
    /// outer side.
    pub fn nested_loop(&self, paths: [Path<'p>; 2]) -> NewPath<'p> {
        assert!(paths[0].is_of(self.outer) && paths[1].is_of(self.inner), "a path of each side");
        self.loop_of(paths, self.type_, self.extra.inner_unique)
    }

    /// A nested loop of a path of each side, in either order, that returns each pair of rows which fulfills
    /// the conditions, and the ctid of the outer side's table as a further column.
    pub fn nested_loop_of_pairs(&self, paths: [Path<'p>; 2]) -> NewPath<'p> {
        let are_of = |a, b| paths[0].is_of(a) && paths[1].is_of(b);
        assert!(are_of(self.outer, self.inner) || are_of(self.inner, self.outer), "a path of each side");
        let pairs = self.loop_of(paths, JoinType::JOIN_INNER, false);
        // SAFETY: nobody else has a pointer to the path.
        unsafe {
            (*pairs.pointer()).pathtarget = with_ctid(self.join.info().reltarget, self.outer, ROW_REFERENCE);
        }
        pairs
    }

    fn loop_of(&self, paths: [Path<'p>; 2], type_: JoinType::Type, is_unique: bool) -> NewPath<'p> {
        let mut extra = *self.extra;
        extra.inner_unique = is_unique;
        let root = self.planner.pointer();
        let join = self.join.pointer();
        // SAFETY: the arguments come from the hook, and each path belongs to one of its two relations.
        unsafe { NewPath::new(compat::nested_loop(root, join, type_, &mut extra, paths.map(Path::pointer))) }
    }

    /// A path that returns one row for each ctid of the result of [`nested_loop_of_pairs`], by a hash table.
    ///
    /// [`nested_loop_of_pairs`]: Self::nested_loop_of_pairs
    pub fn one_for_each_row(&self, pairs: NewPath<'p>) -> NewPath<'p> {
        let key = self.planner.make::<pg_sys::SortGroupClause>();
        key.tleSortGroupRef = ROW_REFERENCE;
        key.eqop = pg_sys::Oid::from(pg_sys::TIDEqualOperator);
        key.sortop = pg_sys::Oid::from(pg_sys::TIDLessOperator);
        key.hashable = true;
        // SAFETY: the nodes belong to the planner.
        unsafe {
            let distinct = pg_sys::create_agg_path(
                self.planner.pointer(),
                self.join.pointer(),
                pairs.pointer(),
                self.join.info().reltarget,
                pg_sys::AggStrategy::AGG_HASHED,
                pg_sys::AggSplit::AGGSPLIT_SIMPLE,
                Nodes::of(&[Node::of(key)]).pointer(),
                null_mut(),
                null(),
                self.join.rows().max(1.0),
            );
            NewPath::new(distinct.cast())
        }
    }

    /// Proposes a path of the join to the planner.
    pub fn propose(&self, path: NewPath<'p>) {
        self.proposals.add(path, false);
    }

    /// Proposes a path of a node of ours to the planner.
    pub fn propose_custom<T: CustomPath>(&self, parts: CustomPathParts<'_, 'p>) {
        assert!(
            parts.children.iter().all(|child| child.is_of(self.outer) || child.is_of(self.inner)),
            "the children of a join are its sides"
        );
        let is_partial = parts.workers > 0;
        if let Some(path) = parts.path::<T>(self.planner, self.join) {
            self.proposals.add(path, is_partial);
        }
    }
}
