//! Turns comparisons of sketches into functions that an index can answer, and that are estimated as sketches
//! are.
//!
//! `sketch_similarity(a, b) >= x` becomes `sketch_similar(a, b, x)`, and `sketch_containment(a, b) >= x`
//! becomes `sketch_contained(a, b, x)`. With `>`, x is the next number above. With `=`, the comparison itself
//! stays next to it.
//!
//! `sketch_overlaps(a, b)` is such a function as it is written. PostgreSQL's own `&&` is left alone.

use super::comparison::{FLOAT_TYPES, exchanged, widened};
use super::expressions::{FLOAT_FAMILY, Rewritten};
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::catalog::sketch_oids::SketchOids;
use crate::pg::nodes::{cast, constant, copy, double, elements, function};
use pgrx::pg_sys::{self, Node, NodeTag, Oid};

/// What a comparison of a share with a number becomes.
///
/// # Safety
/// `condition` must be an expression of the query that is being planned.
pub(super) unsafe fn rewrite_share(condition: *mut Node, ours: &ExtensionOids) -> Option<Rewritten> {
    let sketches = ours.sketches;
    // SAFETY: an expression; nodes are copied, since the comparison may stay as well.
    unsafe {
        let comparison = cast::<pg_sys::OpExpr>(condition, NodeTag::T_OpExpr)?;
        let &mut [left, right] = elements(comparison.args) else { return None };
        let strategy = pg_sys::get_op_opfamily_strategy(comparison.opno, FLOAT_FAMILY);
        let (share, limit, strategy) = match [left, right].map(|side| share(side, &sketches)) {
            [Some(share), None] => (share, right, strategy),
            [None, Some(share)] => (share, left, exchanged(strategy)),
            _ => return None,
        };
        let strategy = u32::try_from(strategy).unwrap_or_default();
        let is_equality = strategy == pg_sys::BTEqualStrategyNumber;
        let is_lower_bound =
            [pg_sys::BTGreaterStrategyNumber, pg_sys::BTGreaterEqualStrategyNumber].contains(&strategy);
        // A limit of NULL is true for nothing, and left to Postgres. With `=` both conditions stay, and
        // anything volatile would be evaluated twice.
        let is_null = cast::<pg_sys::Const>(limit, NodeTag::T_Const).is_some() && constant(limit).is_none();
        let is_volatile = is_equality
            && (pg_sys::contain_volatile_functions(condition) || pg_sys::contain_subplans(condition));
        if !is_lower_bound && !is_equality
            || !FLOAT_TYPES.contains(&pg_sys::exprType(limit))
            || is_null
            || is_volatile
        {
            return None;
        }
        let least = least(widened(limit), strategy == pg_sys::BTGreaterStrategyNumber, &sketches);
        let (reaches, [a, b]) = share;
        let within = function(reaches, pg_sys::BOOLOID, &[copy(a), copy(b), least]);
        Some(Rewritten { within, replaces: is_lower_bound })
    }
}

/// The sketches of a share, with the function that says whether it is large enough.
///
/// # Safety
/// `node` must be an expression of the query that is being planned.
unsafe fn share(node: *mut Node, sketches: &SketchOids) -> Option<(Oid, [*mut Node; 2])> {
    // SAFETY: an expression.
    unsafe {
        let call = cast::<pg_sys::FuncExpr>(node, NodeTag::T_FuncExpr)?;
        let reaches = match call.funcid {
            function if function == sketches.similarity => sketches.similar,
            function if function == sketches.containment => sketches.contained,
            _ => return None,
        };
        let &mut [a, b] = elements(call.args) else { return None };
        Some((reaches, [a, b]))
    }
}

/// The least share that meets a limit, which is a double precision.
///
/// # Safety
/// `limit` must be an expression of the query that is being planned.
unsafe fn least(limit: *mut Node, is_above: bool, sketches: &SketchOids) -> *mut Node {
    // SAFETY: an expression of that type.
    unsafe {
        match constant(limit) {
            _ if !is_above => limit,
            Some(datum) => double(f64::from_bits(datum.value() as u64).next_up()),
            None => function(sketches.above, pg_sys::FLOAT8OID, &[limit]),
        }
    }
}
