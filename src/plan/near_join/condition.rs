//! The condition of a near join: `hamming_within(x, y, radius)`, or a condition on the values that sketches x
//! and y share, where x is from one side and y from the other.
//!
//! If a query has a table, the planner's hook has turned comparisons into these calls. In other queries, such
//! as joins of VALUES, arrays and CTEs, the comparisons are still there, and this file reads them.

use super::kind::JoinKind;
use super::measure::{NearCall, NearMeasure};
use crate::estimate::condition::{Within, bits_of};
use crate::estimate::sketch::values_of;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::code::CodeType;
use crate::pg::expr::{Expr, Exprs};
use crate::pg::nodes::make;
use crate::pg::planner::{Planner, Relation};
use crate::plan::conditions::{Rewritten, rewritten_as_call};
use hamming::code::MAX_BITS;
use hamming::near_pairs::cost_between;
use pgrx::pg_sys::{self, RestrictInfo};
use text::sketch::join::SketchList;

/// How many words are compared in the time in which one value of a sketch is indexed or looked up.
const COMPARISONS_PER_VALUE: f64 = 300.0;

/// A condition by which the two sides of a join are near.
pub(super) struct NearCondition<'p> {
    /// The condition as the query has it.
    pub(super) clause: &'p RestrictInfo,
    /// The call that the condition implies: the condition itself, or what a comparison was rewritten to.
    pub(super) call: &'p RestrictInfo,
    /// Whether the node finds exactly the pairs of the condition. Otherwise the condition is tested as well:
    /// if the call does not imply it, or if codes may be longer than those that the node compares as a whole.
    pub(super) is_whole: bool,
    /// The number of the call's argument that is of the outer side.
    pub(super) outer: usize,
    pub(super) measure: NearMeasure,
    sizes: NearSizes,
    /// Whether all codes are known to have one length. If not, comparing two codes may raise an error, and
    /// another condition of the query may be there to prevent that, so it has to be tested first.
    has_known_length: bool,
}

/// The sizes by which the cost of a comparison is estimated: known from the query, or assumed.
enum NearSizes {
    Distance {
        bits: u32,
        radius: u32,
    },
    Sketches {
        /// The number of values of an outer sketch and of an inner one.
        values: [f64; 2],
    },
}

impl<'p> NearCondition<'p> {
    /// The conditions of a join that the near join can serve. The first one, which finds the pairs, is the
    /// one that needs the fewest comparisons. `None` also if PostgreSQL tests one of the conditions before
    /// the join: a custom node cannot do that in all versions.
    pub(super) fn find(
        planner: Planner<'p>,
        [join, outer, inner]: [Relation<'p>; 3],
        kind: JoinKind,
        conditions: Exprs<'p>,
    ) -> Option<Vec<Self>> {
        let ours = ExtensionOids::remembered()?;
        let clauses = || conditions.all::<RestrictInfo>();
        if clauses().any(|clause| clause.pseudoconstant) {
            return None;
        }
        let level = clauses().map(|clause| clause.security_level).min()?;
        // Bounded: as many as the query has conditions.
        let mut found: Vec<Self> = clauses()
            .filter(|clause| !(kind.is_outer() && is_pushed_down(clause, join)))
            // A condition of a lower security level may hide rows from the other conditions.
            .filter(|clause| clause.leakproof || clause.security_level == level)
            .filter_map(|clause| Self::read(planner, [outer, inner], clause, &ours))
            .filter(|found| conditions.len() == 1 || found.has_known_length)
            .collect();
        // The query may contain both a comparison and the call that the comparison was rewritten to.
        let written: Exprs = found.iter().filter(|found| found.is_written()).map(Self::expr).collect();
        found.retain(|found| found.is_written() || !written.contains(found.expr()));
        // If there is a condition on a distance, those on sketches remain other conditions of the join.
        let have_distance = found.iter().any(|found| found.measure.is_distance());
        found.retain(|found| found.measure.is_distance() == have_distance);
        if found.is_empty() || ExtensionOids::known().is_none() {
            return None;
        }
        let cost = |found: &Self| found.comparisons([outer.rows, inner.rows], [1.0; 2]);
        found.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        found.truncate(if have_distance { found.len() } else { 1 });
        Some(found)
    }

    fn read(
        planner: Planner<'p>,
        [outer, inner]: [Relation<'p>; 2],
        clause: &'p RestrictInfo,
        ours: &ExtensionOids,
    ) -> Option<Self> {
        // SAFETY: a condition has an expression.
        let written = unsafe { Expr::new(clause.clause) };
        let (NearCall { measures, sides: [a, b], limit }, is_whole, expr) = match NearCall::of(written, ours)
        {
            Some(call) => (call, true, written),
            None => {
                let Rewritten { within, replaces } = rewritten_as_call(written, ours)?;
                (NearCall::of(within, ours)?, replaces, within)
            }
        };
        let are_of = |a, b| planner.is_of(a, outer.relids) && planner.is_of(b, inner.relids);
        let outer = match () {
            () if are_of(a, b) => 0,
            () if are_of(b, a) => 1,
            () => return None,
        };
        if limit.is_some_and(|limit| planner.has_relations(limit)) || expr.has_volatile_functions() {
            return None;
        }
        let measure = measures[outer];
        let sizes = match limit {
            Some(radius) if measure.is_distance() => NearSizes::of_codes(planner, &Within { a, b, radius }),
            _ => {
                let sides = if outer == 0 { [a, b] } else { [b, a] };
                NearSizes::Sketches { values: sides.map(|side| values_of(Some(planner), side)) }
            }
        };
        let lengths = [a, b].map(bits_of);
        let has_known_length = !measure.is_distance() || lengths.iter().all(Option::is_some);
        // The node compares only the first bits of longer codes. Two codes of different lengths are an error.
        let has_whole_codes =
            !measure.is_distance() || lengths.iter().flatten().any(|&bits| bits <= MAX_BITS);
        let is_whole = is_whole && has_whole_codes;
        let call = if expr == written { clause } else { with_clause(clause, expr) };
        Some(Self { clause, call, is_whole, outer, measure, sizes, has_known_length })
    }

    /// Whether the query has the call itself.
    fn is_written(&self) -> bool {
        std::ptr::eq(self.call, self.clause)
    }

    fn expr(&self) -> Expr<'p> {
        // SAFETY: a condition has an expression.
        unsafe { Expr::new(self.call.clause) }
    }

    /// Whether this is the given condition of the query.
    pub(super) fn is_of(&self, clause: Expr) -> bool {
        std::ptr::eq(self.clause, clause.pointer().cast())
    }

    /// Estimates the rows of the join again, where PostgreSQL cannot know how few rows a comparison selects.
    ///
    /// # Safety
    /// The arguments must be those of PostgreSQL's hook, with the sides in the query's order.
    pub(super) unsafe fn estimate_rows(
        near: &[Self],
        planner: Planner<'p>,
        sides: [Relation<'p>; 3],
        special: *mut pg_sys::SpecialJoinInfo,
        conditions: Exprs<'p>,
    ) {
        if near.iter().all(Self::is_written) {
            return;
        }
        let call = |clause| near.iter().find(|near| near.is_of(clause)).map(|near| Expr::of(near.call));
        let calls: Exprs = conditions.iter().map(|clause| call(clause).unwrap_or(clause)).collect();
        let [join, first, second] = sides.map(Relation::pointer);
        // SAFETY: relations and conditions of the query, as the caller promises.
        unsafe {
            let root = planner.pointer();
            pg_sys::set_joinrel_size_estimates(root, join, first, second, special, calls.pointer());
        }
    }

    /// Bytes of a row's code or sketch, on the outer side and on the inner side.
    pub(super) fn bytes(&self) -> [f64; 2] {
        match self.sizes {
            NearSizes::Distance { bits, .. } => [f64::from(bits) / 8.0; 2],
            NearSizes::Sketches { values } => {
                values.map(|values| values * SketchList::BYTES_PER_VALUE as f64)
            }
        }
    }

    /// Words that are extracted from a row's string of bits.
    pub(super) fn cut_words(&self) -> f64 {
        match (self.measure, &self.sizes) {
            (NearMeasure::Distance(CodeType::Bits), NearSizes::Distance { bits, .. }) => {
                f64::from(bits.div_ceil(u64::BITS))
            }
            _ => 0.0,
        }
    }

    /// In how many passes both sides are divided if memory has no room; `None` if they cannot be divided.
    pub(super) fn passes(&self) -> Option<f64> {
        match self.sizes {
            NearSizes::Distance { radius, .. } => Some(f64::from(radius) + 1.0),
            NearSizes::Sketches { .. } => None,
        }
    }

    /// Comparisons of words to find the near pairs, or other work measured in such comparisons. `rows` counts
    /// the rows of both sides, which are read in `batches` and `rounds`.
    pub(super) fn comparisons(&self, rows: [f64; 2], [batches, rounds]: [f64; 2]) -> f64 {
        match self.sizes {
            NearSizes::Distance { bits, radius } => {
                let cost = cost_between(rows[0] / batches, rows[1] / rounds, bits, radius);
                rounds * batches * cost
            }
            NearSizes::Sketches { values } => {
                COMPARISONS_PER_VALUE * (rounds * rows[0] * values[0] + rows[1] * values[1])
            }
        }
    }
}

impl NearSizes {
    fn of_codes<'p>(planner: Planner<'p>, within: &Within<'p>) -> Self {
        let bits = within.bits().unwrap_or(hamming::BITS).min(MAX_BITS);
        Self::Distance { bits, radius: within.expected_radius(planner).min(bits) }
    }
}

/// A copy of a condition with another expression on the same relations, of which nothing is cached.
fn with_clause<'p>(condition: &'p RestrictInfo, expr: Expr) -> &'p RestrictInfo {
    let other = make::<RestrictInfo>();
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
