//! Turns conditions on distances and similarities into `hamming_within`.
//!
//! `a <~> b <= k` and its relatives become `hamming_within(a, b, k)`. So does
//! `hamming_similarity(a, b) >= x`, with the largest distance that is similar enough. With `=`, the
//! comparison itself stays next to it. The result is the same for NULLs. A radius of 0 is equality of the
//! fingerprints, which hash joins and B-trees serve. Rewriting twice changes nothing more.

use super::comparison::Comparison;
use super::expressions::{CodePair, Rewritten};
use super::sketches::rewrite_share;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::expr::{Expr, Exprs};
use crate::pg::interrupts::check_for_interrupts;
use pgrx::pg_sys::BoolExprType;

/// Conditions that all have to hold. Returns the list, which may have grown.
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

/// What a single condition becomes, if it is on a distance or on a share of sketches.
fn rewritten<'p>(condition: Expr<'p>, ours: &'p ExtensionOids) -> Option<Rewritten<'p>> {
    match Comparison::read(condition, ours) {
        Some(comparison) => Some(comparison.rewritten(ours, CodePair::within)),
        None => rewrite_share(condition, ours),
    }
}

/// The call that a comparison says, which a near join can serve. It is the same at a radius of 0.
pub(crate) fn called<'p>(condition: Expr<'p>, ours: &'p ExtensionOids) -> Option<Rewritten<'p>> {
    match Comparison::read(condition, ours) {
        Some(comparison) => Some(comparison.rewritten(ours, CodePair::called)),
        None => rewrite_share(condition, ours),
    }
}
