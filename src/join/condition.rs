//! The condition of a near join: `hamming_within(x, y, radius)`, with x from one side and y from the other.

use super::kind::JoinKind;
use crate::estimate::condition::{Within, typical_radius};
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::code::CodeType;
use crate::pg::nodes::{cast, constant, elements};
use hamming::near_pairs::cost_between;
use pgrx::pg_sys::{self, Node, NodeTag, RestrictInfo};

/// A condition on a distance between the two sides of a join.
pub(super) struct NearCondition {
    pub(super) clause: *mut RestrictInfo,
    /// Which of the two arguments is of the outer side.
    pub(super) outer: usize,
    pub(super) codes: CodeType,
    /// The number of bits and the radius, as far as they are known, else as they are assumed.
    pub(super) bits: u32,
    pub(super) radius: u32,
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
                .filter(|found| is_safe_first(&*found.clause, conditions))
                .collect();
            if found.is_empty() || ExtensionOids::known().is_none() {
                return None;
            }
            let cost = |found: &Self| cost_between(outer.rows, inner.rows, found.bits, found.radius);
            found.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
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
            let expression: *mut Node = (*clause).clause.cast();
            let call = cast::<pg_sys::FuncExpr>(expression, NodeTag::T_FuncExpr)?;
            let oids = ours.codes().find(|oids| oids.within == call.funcid)?;
            let &mut [a, b, radius] = elements(call.args) else { return None };
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
            let is_fit = of(radius).is_null() && !pg_sys::contain_volatile_functions(expression);
            let within = Within { a, b, radius };
            if !is_fit {
                return None;
            }
            let bits = within.bits().unwrap_or(hamming::BITS);
            let radius = constant(pg_sys::estimate_expression_value(root, radius));
            let radius = radius.map_or(typical_radius(bits), |datum| (datum.value() as i32).max(0) as u32);
            Some(Self { clause, outer, codes: oids.codes, bits, radius: radius.min(bits) })
        }
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
