//! The condition of a near join: `hamming_within(x, y, radius)`, or that the sketches x and y share values.
//! Here x is from one side, and y from the other.
//!
//! Where a query has a table, the planner's hook has made these calls of what the query says. Other queries,
//! such as joins of VALUES, arrays and CTEs, still have the comparisons, which are read here.

use super::kind::JoinKind;
use super::measure::{NearCall, NearMeasure};
use crate::estimate::condition::{Within, bits_of};
use crate::estimate::sketch::values_of;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::code::CodeType;
use crate::pg::expr::{Expr, Exprs};
use crate::pg::nodes::make;
use crate::pg::planner::{Planner, Relation};
use crate::plan::conditions::{Rewritten, called};
use hamming::near_pairs::cost_between;
use pgrx::pg_sys::{self, RestrictInfo};
use text::sketch::join::SketchList;

/// Comparisons of words in the time in which a value of a sketch is sorted into an index, or looked up.
const COMPARISONS_PER_VALUE: f64 = 300.0;

/// A condition by which the two sides of a join are near.
pub(super) struct NearCondition<'p> {
    /// The condition as the query has it.
    pub(super) clause: &'p RestrictInfo,
    /// The call that says the same, or less: the condition itself, or a copy of it.
    pub(super) call: &'p RestrictInfo,
    /// Whether the call says the same. Otherwise the condition is tested too.
    pub(super) is_whole: bool,
    /// Which of the two arguments is of the outer side.
    pub(super) outer: usize,
    pub(super) measure: NearMeasure,
    sizes: NearSizes,
    /// Whether all codes have one length. Otherwise another condition may be there to keep apart those that
    /// have not: comparing them raises an error, so it has to be tested first.
    has_known_length: bool,
}

/// What a comparison costs depends on these, as far as they are known, else as they are assumed.
enum NearSizes {
    Distance {
        bits: u32,
        radius: u32,
    },
    Sketches {
        /// The number of values of an outer sketch, and of an inner one.
        values: [f64; 2],
    },
}

impl<'p> NearCondition<'p> {
    /// The conditions of a join that the near join can serve, the one that is searched for with the fewest
    /// comparisons first. None also if a condition is one that PostgreSQL tests before the join, which a
    /// custom node cannot do in all versions.
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
            // Conditions of a lower level may hide rows from the others.
            .filter(|clause| clause.leakproof || clause.security_level == level)
            .filter_map(|clause| Self::read(planner, [outer, inner], clause, &ours))
            .filter(|found| conditions.len() == 1 || found.has_known_length)
            .collect();
        // What was read of a comparison may stand beside it already.
        let written: Exprs = found.iter().filter(|found| found.is_written()).map(Self::expr).collect();
        found.retain(|found| found.is_written() || !written.contains(found.expr()));
        // Sketches are not looked at a second time: a condition on them is one that rows are tested with.
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
                let Rewritten { within, replaces } = called(written, ours)?;
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
        let has_known_length =
            !measure.is_distance() || [a, b].into_iter().all(|side| bits_of(side).is_some());
        let call = if expr == written { clause } else { with_clause(clause, expr) };
        Some(Self { clause, call, is_whole, outer, measure, sizes, has_known_length })
    }

    /// Whether the condition is the call itself.
    fn is_written(&self) -> bool {
        std::ptr::eq(self.call, self.clause)
    }

    fn expr(&self) -> Expr<'p> {
        // SAFETY: a condition has an expression.
        unsafe { Expr::new(self.call.clause) }
    }

    /// Whether it is this condition of the query.
    pub(super) fn is_of(&self, clause: Expr) -> bool {
        std::ptr::eq(self.clause, clause.pointer().cast())
    }

    /// Estimates the rows of the join again, if PostgreSQL could not know how few its comparisons let pass.
    ///
    /// # Safety
    /// The arguments must be those of PostgreSQL's hook, the sides in the order that they have in the query.
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

    /// Bytes that the code or the sketch of a row takes, of the outer side and of the inner one.
    pub(super) fn bytes(&self) -> [f64; 2] {
        match self.sizes {
            NearSizes::Distance { bits, .. } => [f64::from(bits) / 8.0; 2],
            NearSizes::Sketches { values } => {
                values.map(|values| values * SketchList::BYTES_PER_VALUE as f64)
            }
        }
    }

    /// Words that are cut out of the string of bits of a row.
    pub(super) fn cut_words(&self) -> f64 {
        match (self.measure, &self.sizes) {
            (NearMeasure::Distance(CodeType::Bits), NearSizes::Distance { bits, .. }) => {
                f64::from(bits.div_ceil(u64::BITS))
            }
            _ => 0.0,
        }
    }

    /// How often rows that memory has no room for are divided; None if they cannot be.
    pub(super) fn passes(&self) -> Option<f64> {
        match self.sizes {
            NearSizes::Distance { radius, .. } => Some(f64::from(radius) + 1.0),
            NearSizes::Sketches { .. } => None,
        }
    }

    /// Comparisons of words, or what takes their time, to search for the rows that are near. The two sides
    /// have so many rows, in so many parts.
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
        let bits = within.bits().unwrap_or(hamming::BITS);
        Self::Distance { bits, radius: within.expected_radius(planner).min(bits) }
    }
}

/// A condition of a join that says something else, for which nothing is known yet. The expression is of the
/// same relations.
fn with_clause<'p>(condition: &'p RestrictInfo, expr: Expr) -> &'p RestrictInfo {
    let other = make::<RestrictInfo>();
    *other = *condition;
    other.clause = expr.pointer().cast();
    other.eval_cost.startup = -1.0;
    (other.norm_selec, other.outer_selec) = (-1.0, -1.0);
    other
}

/// Whether a condition is tested after an outer join, as those of WHERE are.
fn is_pushed_down(clause: &RestrictInfo, join: Relation) -> bool {
    // SAFETY: sets of relations.
    clause.is_pushed_down || unsafe { !pg_sys::bms_is_subset(clause.required_relids, join.relids) }
}
