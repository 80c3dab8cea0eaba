//! The condition of a near join: `hamming_within(x, y, radius)`, where x and y are from different sides.
//!
//! If a query has a table, the planner's hook has turned comparisons into these calls. In other queries, such
//! as joins of VALUES, arrays and CTEs, the comparisons are still there, and this file reads them.

use super::kind::{BySide, JoinKind, Side};
use crate::estimate::condition::{Within, bits_of};
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::code::CodeType;
use crate::pg::join_paths::PlannedJoin;
use crate::pg::node::{Node, Nodes};
use crate::pg::restriction::Restriction;
use crate::plan::conditions::{Rewritten, rewritten_as_call};
use hamming::code::MAX_BITS;
use hamming::near_pairs::cost_between;
use pgrx::pg_sys;

/// A condition by which the two sides of a join are near.
pub(super) struct NearCondition<'p> {
    /// The condition as the query has it.
    pub(super) clause: Restriction<'p>,
    /// The call that the condition implies: the condition itself, or what a comparison was rewritten to.
    pub(super) call: Restriction<'p>,
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
    pub(super) fn find(planned: &PlannedJoin<'p>, kind: JoinKind) -> Option<Vec<Self>> {
        let ours = ExtensionOids::remembered()?;
        let conditions = planned.conditions();
        let level = conditions.restrictions().map(Restriction::security_level).min()?;
        // PostgreSQL has no way to test another condition first, or to compare all rows.
        let is_only_plan = kind == JoinKind::Full && !planned.join().has_paths();
        // Bounded: as many as the query has conditions.
        let mut found: Vec<Self> = conditions
            .restrictions()
            .filter(|clause| !(kind.is_outer() && clause.is_pushed_down(planned.join())))
            // A condition of a lower security level may hide rows from the other conditions.
            .filter(|clause| clause.is_leakproof() || clause.security_level() == level)
            .filter_map(|clause| Self::read(planned, clause, is_only_plan, &ours))
            .filter(|found| is_only_plan || conditions.len() == 1 || found.has_known_length)
            .collect();
        // The query may contain both a comparison and the call that the comparison was rewritten to.
        let written: Nodes =
            found.iter().filter(|found| found.is_written()).map(|found| found.call.expr()).collect();
        found.retain(|found| found.is_written() || !written.contains(found.call.expr()));
        if found.is_empty() || ExtensionOids::known().is_none() {
            return None;
        }
        let rows = BySide([planned.outer().rows(), planned.inner().rows()]);
        let cost = |found: &Self| found.comparisons(rows);
        found.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        Some(found)
    }

    fn read(
        planned: &PlannedJoin<'p>,
        clause: Restriction<'p>,
        is_only_plan: bool,
        ours: &ExtensionOids,
    ) -> Option<Self> {
        let planner = planned.planner();
        let written = clause.expr();
        let Rewritten { within: mut expr, replaces: mut is_whole } = match call_of(written, ours) {
            Some(_) => Rewritten { within: written, replaces: true },
            None => rewritten_as_call(written, ours)?,
        };
        let (codes, mut within) = call_of(expr, ours)?;
        let Within { a, b, .. } = within;
        let are_of = |a, b| planner.is_of(a, planned.outer()) && planner.is_of(b, planned.inner());
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
        let call = if expr == written { clause } else { clause.with_expr(planner, expr) };
        let bits = within.bits().unwrap_or(hamming::BITS).min(MAX_BITS);
        let radius = within.expected_radius(planner).min(bits);
        Some(Self { clause, call, is_whole, first, codes, bits, radius, has_known_length })
    }

    /// Whether the query has the call itself.
    fn is_written(&self) -> bool {
        self.call == self.clause
    }

    /// Whether this is the given condition of the query.
    pub(super) fn is_of(&self, clause: Node) -> bool {
        self.clause.node() == clause
    }

    /// Estimates the rows of the join again, where PostgreSQL cannot know how few rows a comparison selects,
    /// or that rows that are near by one code are mostly near by another: only the condition that selects the
    /// fewest rows counts.
    pub(super) fn estimate_rows(near: &[Self], planned: &PlannedJoin<'p>) {
        if near.len() == 1 && near[0].is_written() {
            return;
        }
        let selectivity = |near: &&Self| planned.selectivity(near.call);
        let least = near.iter().min_by(|a, b| selectivity(a).total_cmp(&selectivity(b)));
        let is_other = |clause: &Node| near.iter().all(|near| !near.is_of(*clause));
        let calls = least.map(|near| near.call.node()).into_iter();
        planned.estimate_rows(calls.chain(planned.conditions().iter().filter(is_other)).collect());
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
