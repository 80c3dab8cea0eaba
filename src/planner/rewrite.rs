//! Turns conditions on distances and similarities into `hamming_within`.
//!
//! `a <~> b <= k` and its relatives become `hamming_within(a, b, k)`. So does
//! `hamming_similarity(a, b) >= x`, with the largest distance that is similar enough. With `=`, the
//! comparison itself stays next to it. The result is the same for NULLs. A radius of 0 is equality of the
//! fingerprints, which hash joins and B-trees serve. Rewriting twice changes nothing more.

use super::comparison::Comparison;
use super::expressions::Rewritten;
use super::sketches::rewrite_share;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::nodes::{cast, elements, list_of};
use pgrx::pg_sys::{self, Node, NodeTag};

/// Conditions that all have to hold. Returns the list, which may have grown.
///
/// # Safety
/// `list` must be a list of expressions of the query that is being planned.
pub(super) unsafe fn rewrite_and(list: *mut pg_sys::List, ours: &ExtensionOids) -> *mut pg_sys::List {
    let mut all = list;
    // SAFETY: a list of expressions.
    unsafe {
        for index in 0..elements(list).len() {
            check_for_interrupts();
            let condition = elements(all)[index];
            rewrite_below(condition, ours);
            let Some(Rewritten { within, replaces }) = rewritten(condition, ours) else { continue };
            if pg_sys::list_member(all, within.cast()) {
                continue;
            }
            if replaces {
                elements(all)[index] = within;
            } else {
                all = pg_sys::lappend(all, within.cast());
            }
        }
    }
    all
}

/// Rewrites conditions below AND and OR.
///
/// # Safety
/// `condition` must be an expression of the query that is being planned.
unsafe fn rewrite_below(condition: *mut Node, ours: &ExtensionOids) {
    // SAFETY: the arguments of these are lists of expressions.
    unsafe {
        let Some(bool_expr) = cast::<pg_sys::BoolExpr>(condition, NodeTag::T_BoolExpr) else { return };
        match bool_expr.boolop {
            pg_sys::BoolExprType::AND_EXPR => bool_expr.args = rewrite_and(bool_expr.args, ours),
            pg_sys::BoolExprType::OR_EXPR => {
                for alternative in elements(bool_expr.args) {
                    rewrite_below(*alternative, ours);
                    let Some(Rewritten { within, replaces }) = rewritten(*alternative, ours) else {
                        continue;
                    };
                    *alternative = match replaces {
                        true => within,
                        false => pg_sys::make_andclause(list_of(&[within, *alternative])).cast(),
                    };
                }
            }
            _ => {}
        }
    }
}

/// What a single condition becomes, if it is on a distance or on a share of sketches.
///
/// # Safety
/// `condition` must be an expression of the query that is being planned.
unsafe fn rewritten(condition: *mut Node, ours: &ExtensionOids) -> Option<Rewritten> {
    // SAFETY: an expression.
    unsafe {
        match Comparison::read(condition, ours) {
            Some(comparison) => Some(comparison.rewritten(ours)),
            None => rewrite_share(condition, ours),
        }
    }
}

/// The call that a comparison says, which a near join can serve. It is the same at a radius of 0.
///
/// # Safety
/// `condition` must be an expression of the query that is being planned.
pub(crate) unsafe fn called(condition: *mut Node, ours: &ExtensionOids) -> Option<Rewritten> {
    // SAFETY: an expression.
    unsafe {
        match Comparison::read(condition, ours) {
            Some(comparison) => Some(comparison.called(ours)),
            None => rewrite_share(condition, ours),
        }
    }
}
