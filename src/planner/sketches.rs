//! Turns conditions on sketches into functions that an index can answer, and that are estimated as sketches are.
//!
//! `sketch_resemblance(a, b) >= x` becomes `sketch_resembles(a, b, x)`, and `sketch_containment(a, b) >= x` becomes
//! `sketch_contained(a, b, x)`. With `>`, x is the next number above. With `=`, the comparison itself stays beside it.
//!
//! `a && b` of two `bigint[]` becomes `sketch_overlaps(a, b)`. PostgreSQL's own `&&` compares each value with each, and
//! expects nearly all rows to have one of some hundred values in common. An operator of ours with the same name would be
//! found instead of it, but `integer[] && integer[]` would then be ambiguous, for both operators would take it.

use super::comparison::{FLOAT_TYPES, exchanged, widened};
use super::conditions::change_conditions;
use super::expressions::{FLOAT_FAMILY, Rewritten};
use crate::pg::catalog::names::Names;
use crate::pg::catalog::sketches::Sketches;
use crate::pg::nodes::{cast, constant, copy, double, elements, function};
use pgrx::pg_guard;
use pgrx::pg_sys::{self, List, Node, NodeTag, Oid};
use std::ffi::c_char;
use std::ptr::null_mut;

/// PostgreSQL's operator `anyarray && anyarray`.
pub(super) const OVERLAP_OPERATOR: Oid = Oid::from_u32(pg_sys::OID_ARRAY_OVERLAP_OP);

/// What a comparison of a share with a number becomes.
pub(super) unsafe fn rewrite_share(condition: *mut Node, names: &Names) -> Option<Rewritten> {
    let sketches = names.sketches?;
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
        // A limit of NULL is true for nothing, and left to Postgres. With `=` both conditions stay, and anything volatile
        // would be evaluated twice.
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
unsafe fn share(node: *mut Node, sketches: &Sketches) -> Option<(Oid, [*mut Node; 2])> {
    // SAFETY: an expression.
    unsafe {
        let call = cast::<pg_sys::FuncExpr>(node, NodeTag::T_FuncExpr)?;
        let reaches = match call.funcid {
            function if function == sketches.resemblance => sketches.resembles,
            function if function == sketches.containment => sketches.contained,
            _ => return None,
        };
        let &mut [a, b] = elements(call.args) else { return None };
        Some((reaches, [a, b]))
    }
}

/// The least share that meets a limit, which is a double precision.
unsafe fn least(limit: *mut Node, is_above: bool, sketches: &Sketches) -> *mut Node {
    // SAFETY: an expression of that type.
    unsafe {
        match constant(limit) {
            _ if !is_above => limit,
            Some(datum) => double(f64::from_bits(datum.value() as u64).next_up()),
            None => function(sketches.above, pg_sys::FLOAT8OID, &[limit]),
        }
    }
}

#[pg_guard]
unsafe extern "C-unwind" {
    fn has_subclass(table: Oid) -> bool;
    fn find_all_inheritors(table: Oid, lock: pg_sys::LOCKMODE, parents: *mut *mut List) -> *mut List;
}

/// The functions by which `&&` is replaced in a query, and in what is compared with it. A server that has a table of the
/// query as a foreign one may not have our functions.
pub(super) unsafe fn replacing_overlaps(query: &pg_sys::Query, names: &Names) -> Option<Sketches> {
    // SAFETY: promised by the caller.
    names.sketches.filter(|_| unsafe { !has_foreign_table(query) })
}

/// Whether a foreign table is in a query, below one of its tables, or in a subquery. The planner adds what is below a table
/// to the query after it has visited the table; the answer is the same before and after.
unsafe fn has_foreign_table(query: &pg_sys::Query) -> bool {
    let is_foreign = |kind: c_char| kind as u8 == pg_sys::RELKIND_FOREIGN_TABLE;
    // SAFETY: a query of the planner's, whose tables are locked. Those below them are looked up in the catalog, which
    // returns a list of OIDs.
    unsafe {
        elements(query.rtable).iter().any(|&table| {
            let table = &*table.cast::<pg_sys::RangeTblEntry>();
            if let Some(subquery) = table.subquery.as_ref() {
                return has_foreign_table(subquery);
            }
            if table.rtekind != pg_sys::RTEKind::RTE_RELATION || is_foreign(table.relkind) {
                return is_foreign(table.relkind);
            }
            table.inh && has_subclass(table.relid) && {
                let no_lock = pg_sys::NoLock as pg_sys::LOCKMODE;
                let below = &*find_all_inheritors(table.relid, no_lock, null_mut());
                let below = std::slice::from_raw_parts(below.elements, below.length as usize);
                below.iter().any(|table| is_foreign(pg_sys::get_rel_relkind(table.oid_value)))
            }
        })
    }
}

/// Replaces `&&` in all conditions of a query.
pub(super) unsafe fn replace_overlaps(query: &pg_sys::Query, sketches: &Sketches) {
    // SAFETY: a query of the planner's.
    unsafe {
        change_conditions(query, &mut |list| {
            replace_overlaps_of(list, sketches);
            list
        });
    }
}

/// Whether a query has a condition with `&&` of two bigint[].
pub(super) unsafe fn mentions_overlap(query: &pg_sys::Query) -> bool {
    let mut is_there = false;
    // SAFETY: a query of the planner's.
    unsafe {
        change_conditions(query, &mut |list| {
            is_there |= has_overlap(list);
            list
        });
    }
    is_there
}

/// Whether `&&` of two bigint[] is in a list of expressions.
pub(super) unsafe fn has_overlap(list: *mut List) -> bool {
    let mut is_there = false;
    // SAFETY: promised by the caller.
    unsafe { for_each_overlap(list, &mut |_, _| is_there = true) };
    is_there
}

/// Replaces `&&` in a list of expressions.
pub(super) unsafe fn replace_overlaps_of(list: *mut List, sketches: &Sketches) {
    // SAFETY: a list of expressions; the function takes the arguments of the operator.
    unsafe {
        for_each_overlap(list, &mut |place, args| {
            if sketches.may_replace_overlap() {
                *place = function(sketches.overlaps, pg_sys::BOOLOID, &args);
            }
        });
    }
}

/// Visits each `&&` of two bigint[] in a list of expressions, and below AND, OR and NOT.
unsafe fn for_each_overlap(list: *mut List, visit: &mut dyn FnMut(&mut *mut Node, [*mut Node; 2])) {
    // SAFETY: a list of expressions.
    unsafe {
        for node in elements(list) {
            if let Some(operation) = cast::<pg_sys::BoolExpr>(*node, NodeTag::T_BoolExpr) {
                for_each_overlap(operation.args, visit);
            } else if let Some(operation) = cast::<pg_sys::OpExpr>(*node, NodeTag::T_OpExpr)
                && operation.opno == OVERLAP_OPERATOR
                && let &mut [a, b] = elements(operation.args)
                && [a, b].iter().all(|&side| pg_sys::exprType(side) == pg_sys::INT8ARRAYOID)
            {
                visit(node, [a, b]);
            }
        }
    }
}
