//! Turns conditions on distances and similarities into `hamming_within`.
//!
//! `a <~> b <= k` and its relatives become `hamming_within(a, b, k)`. `hamming_similarity(a, b) >= x` becomes
//! it too, with the largest distance that is similar enough. With `=`, the query keeps the comparison next to
//! the new condition. The result is the same for NULLs. With radius 0, fingerprints are compared by `=`,
//! which hash joins and B-trees serve. Rewriting a second time changes nothing.

use super::comparison::Comparison;
use super::expressions::{CodePair, Rewritten};
use super::sketches::rewrite_share;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::expr::{Expr, Exprs};
use crate::pg::interrupts::check_for_interrupts;
use pgrx::pg_sys::BoolExprType;

/// Rewrites conditions that all have to hold. Returns their list, which may be longer than before.
pub(super) fn rewrite_and<'p>(list: Exprs<'p>, ours: &'p ExtensionOids) -> Exprs<'p> {
    let mut all = list;
    for (place, condition) in list.iter().enumerate() {
        check_for_interrupts();
        rewrite_below(condition, ours);
        let Some(Rewritten { within, replaces }) = rewritten(condition, ours) else { continue };
        if all.contains(within) {
            continue;
        }
        if replaces {
            all.set(place, within);
        } else {
            all = all.with(within);
        }
    }
    all
}

/// Rewrites conditions below AND and OR.
fn rewrite_below<'p>(condition: Expr<'p>, ours: &'p ExtensionOids) {
    match condition.as_boolean() {
        Some((BoolExprType::AND_EXPR, args)) => condition.set_arguments(rewrite_and(args, ours)),
        Some((BoolExprType::OR_EXPR, alternatives)) => {
            for (place, alternative) in alternatives.iter().enumerate() {
                rewrite_below(alternative, ours);
                let Some(Rewritten { within, replaces }) = rewritten(alternative, ours) else { continue };
                let both = || Expr::and(within, alternative);
                alternatives.set(place, if replaces { within } else { both() });
            }
        }
        _ => {}
    }
}

/// What replaces a condition, if it compares a distance, a similarity or a share of sketches.
fn rewritten<'p>(condition: Expr<'p>, ours: &'p ExtensionOids) -> Option<Rewritten<'p>> {
    match Comparison::read(condition, ours) {
        Some(comparison) => Some(comparison.rewritten(ours, CodePair::as_condition)),
        None => rewrite_share(condition, ours),
    }
}

/// What replaces a comparison for a near join: a call of `hamming_within` even at radius 0.
pub(crate) fn rewritten_as_call<'p>(condition: Expr<'p>, ours: &'p ExtensionOids) -> Option<Rewritten<'p>> {
    Some(Comparison::read(condition, ours)?.rewritten(ours, CodePair::as_call))
}
