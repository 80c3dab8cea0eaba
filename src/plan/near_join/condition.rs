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
use crate::pg::expr::Expr;
use crate::pg::nodes::{elements, make};
use crate::pg::planner::Planner;
use crate::plan::conditions::{Rewritten, called};
use hamming::near_pairs::cost_between;
use pgrx::pg_sys::{self, Node, NodeTag, RestrictInfo};
use std::ptr::null_mut;
use text::sketch::join::SketchList;

/// Comparisons of words in the time in which a value of a sketch is sorted into an index, or looked up.
const COMPARISONS_PER_VALUE: f64 = 300.0;

/// A condition by which the two sides of a join are near.
pub(super) struct NearCondition {
    /// The condition as the query has it.
    pub(super) clause: *mut RestrictInfo,
    /// The call that says the same, or less: the condition itself, or a copy of it.
    pub(super) call: *mut RestrictInfo,
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

impl NearCondition {
    /// The conditions of a join that the near join can serve, the one that is searched for with the fewest
    /// comparisons first. None also if a condition is one that PostgreSQL tests before the join, which a
    /// custom node cannot do in all versions.
    ///
    /// # Safety
    /// The arguments must be those of PostgreSQL's hook.
    pub(super) unsafe fn find(
        root: *mut pg_sys::PlannerInfo,
        relations: [&pg_sys::RelOptInfo; 3],
        kind: JoinKind,
        conditions: *mut pg_sys::List,
    ) -> Option<Vec<Self>> {
        let [join, outer, inner] = relations;
        // SAFETY: a list of the planner's conditions.
        unsafe {
            let ours = ExtensionOids::remembered()?;
            let conditions = elements(conditions);
            let clauses = || conditions.iter().map(|clause| clause.cast::<RestrictInfo>());
            if clauses().any(|clause| (*clause).pseudoconstant) {
                return None;
            }
            // Bounded: as many as the query has conditions.
            let mut found: Vec<Self> = clauses()
                .filter(|&clause| !(kind.is_outer() && is_pushed_down(&*clause, join)))
                .filter_map(|clause| Self::read(root, [outer, inner], clause, &ours))
                .filter(|found| conditions.len() == 1 || found.has_known_length)
                .filter(|found| is_safe_first(&*found.clause, conditions))
                .collect();
            // What was read of a comparison may stand beside it already.
            let written: Vec<_> = found.iter().filter(|found| found.is_written()).map(Self::call).collect();
            found.retain(|found| {
                found.is_written()
                    || !written.iter().any(|&call| pg_sys::equal(call.cast(), found.call().cast()))
            });
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
    }

    /// # Safety
    /// The clause must be a condition of the join of these relations.
    unsafe fn read(
        root: *mut pg_sys::PlannerInfo,
        [outer, inner]: [&pg_sys::RelOptInfo; 2],
        clause: *mut RestrictInfo,
        ours: &ExtensionOids,
    ) -> Option<Self> {
        // SAFETY: an expression of the query.
        unsafe {
            let planner = Planner::new(root)?;
            let written: *mut Node = (*clause).clause.cast();
            let (call, is_whole, expression) = match NearCall::of(written, ours) {
                Some(call) => (call, true, written),
                None => {
                    let Rewritten { within, replaces } = called(Expr::new(written), ours)?;
                    let within = within.pointer();
                    (NearCall::of(within, ours)?, replaces, within)
                }
            };
            let NearCall { measures, sides: [a, b], limit } = call;
            let of = |node| pg_sys::pull_varnos(root, node);
            let is_of = |node, side: &pg_sys::RelOptInfo| {
                let relations = of(node);
                !relations.is_null() && pg_sys::bms_is_subset(relations, side.relids)
            };
            let outer = match () {
                () if is_of(a, outer) && is_of(b, inner) => 0,
                () if is_of(b, outer) && is_of(a, inner) => 1,
                () => return None,
            };
            let is_fit = limit.is_none_or(|limit| of(limit).is_null())
                && !pg_sys::contain_volatile_functions(expression);
            if !is_fit {
                return None;
            }
            let measure = measures[outer];
            let sizes = match limit {
                Some(radius) if measure.is_distance() => {
                    let [a, b, radius] = [a, b, radius].map(|node| Expr::new(node));
                    NearSizes::of_codes(planner, &Within { a, b, radius })
                }
                _ => {
                    let sides = if outer == 0 { [a, b] } else { [b, a] };
                    NearSizes::Sketches {
                        values: sides.map(|side| values_of(Some(planner), Expr::new(side))),
                    }
                }
            };
            let has_known_length =
                !measure.is_distance() || [a, b].iter().all(|&side| bits_of(Expr::new(side)).is_some());
            let call = if expression == written { clause } else { with_clause(&*clause, expression) };
            Some(Self { clause, call, is_whole, outer, measure, sizes, has_known_length })
        }
    }

    /// Whether the condition is the call itself.
    fn is_written(&self) -> bool {
        self.call == self.clause
    }

    fn call(&self) -> *mut Node {
        // SAFETY: a condition of the query, or a copy of one.
        unsafe { (*self.call).clause.cast() }
    }

    /// Estimates the rows of the join again, if PostgreSQL could not know how few its comparisons let pass.
    ///
    /// # Safety
    /// The arguments must be those of PostgreSQL's hook, the sides in the order that they have in the query.
    pub(super) unsafe fn estimate_rows(
        near: &[Self],
        root: *mut pg_sys::PlannerInfo,
        [join, first, second]: [*mut pg_sys::RelOptInfo; 3],
        special: *mut pg_sys::SpecialJoinInfo,
        conditions: *mut pg_sys::List,
    ) {
        if near.iter().all(Self::is_written) {
            return;
        }
        // SAFETY: relations and conditions of the query.
        unsafe {
            let call = |clause: *mut Node| near.iter().find(|near| near.clause.cast() == clause);
            let calls = elements(conditions).iter().fold(null_mut(), |list, &clause| {
                pg_sys::lappend(list, call(clause).map_or(clause, |near| near.call.cast()).cast())
            });
            pg_sys::set_joinrel_size_estimates(root, join, first, second, special, calls);
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

/// A condition of a join that says something else, for which nothing is known yet.
///
/// # Safety
/// The expression must be one of the same relations.
unsafe fn with_clause(condition: &RestrictInfo, expression: *mut Node) -> *mut RestrictInfo {
    // SAFETY: a node of the struct of its tag.
    unsafe {
        let other = make::<RestrictInfo>(NodeTag::T_RestrictInfo);
        *other = *condition;
        other.clause = expression.cast();
        other.eval_cost.startup = -1.0;
        (other.norm_selec, other.outer_selec) = (-1.0, -1.0);
        other
    }
}

/// Whether a condition may be tested before the others of its join, which may hide rows from it.
///
/// # Safety
/// The conditions must be those of a join.
unsafe fn is_safe_first(clause: &RestrictInfo, conditions: &[*mut Node]) -> bool {
    // SAFETY: conditions of a join, as the caller promises.
    let levels = conditions.iter().map(|&other| unsafe { (*other.cast::<RestrictInfo>()).security_level });
    clause.leakproof || levels.min() >= Some(clause.security_level)
}

/// Whether a condition is tested after an outer join, as those of WHERE are.
///
/// # Safety
/// The clause must be a condition of the join.
unsafe fn is_pushed_down(clause: &RestrictInfo, join: &pg_sys::RelOptInfo) -> bool {
    // SAFETY: sets of relations.
    clause.is_pushed_down || unsafe { !pg_sys::bms_is_subset(clause.required_relids, join.relids) }
}
