//! The condition of a near join: `hamming_within(x, y, radius)`, where x and y are from different sides.
//!
//! If a query has a table, the planner's hook has turned comparisons into these calls. In other queries, such
//! as joins of VALUES, arrays and CTEs, the comparisons are still there, and this file reads them.

use super::kind::{BySide, JoinKind, Side};
use crate::estimate::condition::{Within, bits_of};
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::code::CodeType;
use crate::pg::node::{Node, Nodes};
use crate::pg::planner::{Planner, Relation};
use crate::plan::conditions::{Rewritten, rewritten_as_call};
use hamming::code::MAX_BITS;
use hamming::near_pairs::cost_between;
use pgrx::pg_sys::{self, RestrictInfo};

/// A condition by which the two sides of a join are near.
pub(super) struct NearCondition<'p> {
    /// The condition as the query has it.
    pub(super) clause: &'p RestrictInfo,
    /// The call that the condition implies: the condition itself, or what a comparison was rewritten to.
    pub(super) call: &'p RestrictInfo,
    /// Whether the node finds exactly the pairs of the condition. Otherwise the condition is tested as well:
    /// if the call does not imply it, or if codes may be longer than those that the node compares as a whole.
    pub(super) is_whole: bool,
    /// The side of the call's first argument. The second one is of the other side.
    pub(super) first: Side,
    pub(super) codes: CodeType,
    /// The number of bits and the radius by which costs are estimated: known from the query, or assumed.
    bits: u32,
    radius: u32,
    /// Whether all codes are known to have one length. If not, comparing two codes may raise an error, and
    /// another condition of the query may be there to prevent that, so it has to be tested first.
    has_known_length: bool,
}

impl<'p> NearCondition<'p> {
    /// The conditions of a join that the near join can serve. The first one, which finds the pairs, is the
    /// one that needs the fewest comparisons.
    pub(super) fn find(
        planner: Planner<'p>,
        [join, outer, inner]: [Relation<'p>; 3],
        kind: JoinKind,
        conditions: Nodes<'p>,
    ) -> Option<Vec<Self>> {
        let ours = ExtensionOids::remembered()?;
        let clauses = || conditions.all::<RestrictInfo>();
        let level = clauses().map(|clause| clause.security_level).min()?;
        // PostgreSQL has no way to test another condition first, or to compare all rows.
        let is_only_plan = kind == JoinKind::Full && join.pathlist.is_null();
        // Bounded: as many as the query has conditions.
        let mut found: Vec<Self> = clauses()
            .filter(|clause| !(kind.is_outer() && is_pushed_down(clause, join)))
            // A condition of a lower security level may hide rows from the other conditions.
            .filter(|clause| clause.leakproof || clause.security_level == level)
            .filter_map(|clause| Self::read(planner, [outer, inner], clause, is_only_plan, &ours))
            .filter(|found| is_only_plan || conditions.len() == 1 || found.has_known_length)
            .collect();
        // The query may contain both a comparison and the call that the comparison was rewritten to.
        let written: Nodes = found.iter().filter(|found| found.is_written()).map(Self::expr).collect();
        found.retain(|found| found.is_written() || !written.contains(found.expr()));
        if found.is_empty() || ExtensionOids::known().is_none() {
            return None;
        }
        let cost = |found: &Self| found.comparisons(BySide([outer.rows, inner.rows]));
        found.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        Some(found)
    }

    fn read(
        planner: Planner<'p>,
        [outer, inner]: [Relation<'p>; 2],
        clause: &'p RestrictInfo,
        is_only_plan: bool,
        ours: &ExtensionOids,
    ) -> Option<Self> {
        // SAFETY: a condition has an expression.
        let written = unsafe { Node::new(clause.clause) };
        let ((codes, mut within), mut is_whole, mut expr) = match call_of(written, ours) {
            Some(call) => (call, true, written),
            None => {
                let Rewritten { within, replaces } = rewritten_as_call(written, ours)?;
                (call_of(within, ours)?, replaces, within)
            }
        };
        let Within { a, b, .. } = within;
        let are_of = |a, b| planner.is_of(a, outer) && planner.is_of(b, inner);
        let first = match () {
            () if are_of(a, b) => Side::Outer,
            () if are_of(b, a) => Side::Inner,
            () => return None,
        };
        if planner.has_relations(within.radius) && is_only_plan {
            // The radius of a similarity depends on the length of the codes, if it is not known. All rows are
            // near then, and the condition is tested.
            within.radius = Node::integer(i32::MAX);
            let function = expr.as_function()?.id;
            expr = Node::function(function, pg_sys::BOOLOID, &[a, b, within.radius]);
            is_whole = false;
        }
        if planner.has_relations(within.radius) || expr.has_volatile_functions() {
            return None;
        }
        let lengths = [a, b].map(bits_of);
        let has_known_length = lengths.iter().all(Option::is_some);
        // The node compares only the first bits of longer codes. Two codes of different lengths are an error.
        is_whole &= lengths.iter().flatten().any(|&bits| bits <= MAX_BITS);
        let call = if expr == written { clause } else { with_clause(planner, clause, expr) };
        let bits = within.bits().unwrap_or(hamming::BITS).min(MAX_BITS);
        let radius = within.expected_radius(planner).min(bits);
        Some(Self { clause, call, is_whole, first, codes, bits, radius, has_known_length })
    }

    /// Whether the query has the call itself.
    fn is_written(&self) -> bool {
        std::ptr::eq(self.call, self.clause)
    }

    fn expr(&self) -> Node<'p> {
        // SAFETY: a condition has an expression.
        unsafe { Node::new(self.call.clause) }
    }

    /// Whether this is the given condition of the query.
    pub(super) fn is_of(&self, clause: Node) -> bool {
        std::ptr::eq(self.clause, clause.pointer().cast())
    }

    /// Estimates the rows of the join again, where PostgreSQL cannot know how few rows a comparison selects,
    /// or that rows that are near by one code are mostly near by another: only the condition that selects the
    /// fewest rows counts.
    ///
    /// # Safety
    /// The arguments must be those of PostgreSQL's hook, with the sides in the query's order.
    pub(super) unsafe fn estimate_rows(
        near: &[Self],
        planner: Planner<'p>,
        sides: [Relation<'p>; 3],
        special: *mut pg_sys::SpecialJoinInfo,
        conditions: Nodes<'p>,
    ) {
        if near.len() == 1 && near[0].is_written() {
            return;
        }
        let selectivity = |near: &&Self| near.selectivity(planner, special);
        let least = near.iter().min_by(|a, b| selectivity(a).total_cmp(&selectivity(b)));
        let is_other = |clause: &Node| near.iter().all(|near| !near.is_of(*clause));
        let calls = least.map(|near| Node::of(near.call)).into_iter();
        let calls: Nodes = calls.chain(conditions.iter().filter(is_other)).collect();
        let [join, first, second] = sides.map(Relation::pointer);
        // SAFETY: relations and conditions of the query, as the caller promises.
        unsafe {
            let root = planner.pointer();
            pg_sys::set_joinrel_size_estimates(root, join, first, second, special, calls.pointer());
        }
    }

    /// The fraction of all pairs of rows that are near.
    pub(super) fn selectivity(&self, planner: Planner<'p>, special: *mut pg_sys::SpecialJoinInfo) -> f64 {
        let (call, kind) = (Node::of(self.call).pointer(), pg_sys::JoinType::JOIN_INNER);
        // SAFETY: the condition belongs to the join.
        unsafe { pg_sys::clause_selectivity(planner.pointer(), call, 0, kind, special) }
    }

    /// Bytes of a code.
    pub(super) fn bytes(&self) -> f64 {
        f64::from(self.bits) / 8.0
    }

    /// Words that are extracted from a row's bit string.
    pub(super) fn cut_words(&self) -> f64 {
        if self.codes.is_integer() { 0.0 } else { f64::from(self.bits.div_ceil(u64::BITS)) }
    }

    /// In how many passes both sides are divided if memory has no room.
    pub(super) fn passes(&self) -> f64 {
        f64::from(self.radius) + 1.0
    }

    /// Comparisons of words to find the near pairs between so many rows of each side.
    pub(super) fn comparisons(&self, BySide([outer, inner]): BySide<f64>) -> f64 {
        cost_between(outer, inner, self.bits, self.radius)
    }
}

/// The type of the codes and the arguments, if this is a call of a function that the near join can serve.
fn call_of<'p>(expr: Node<'p>, ours: &ExtensionOids) -> Option<(CodeType, Within<'p>)> {
    let call = expr.as_function()?;
    let codes = ours.codes().find(|oids| oids.within == call.id)?.codes;
    let [a, b, radius] = call.args()?;
    Some((codes, Within { a, b, radius }))
}

/// A copy of a condition with another expression on the same relations, of which nothing is cached.
fn with_clause<'p>(planner: Planner<'p>, condition: &RestrictInfo, expr: Node) -> &'p RestrictInfo {
    let other = planner.make::<RestrictInfo>();
    *other = *condition;
    other.clause = expr.pointer().cast();
    other.eval_cost.startup = -1.0;
    (other.norm_selec, other.outer_selec) = (-1.0, -1.0);
    other
}

/// Whether a condition is tested after an outer join, as conditions of WHERE are.
fn is_pushed_down(clause: &RestrictInfo, join: Relation) -> bool {
    // SAFETY: the sets belong to the condition and the join.
    clause.is_pushed_down || unsafe { !pg_sys::bms_is_subset(clause.required_relids, join.relids) }
}
