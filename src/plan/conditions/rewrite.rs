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
    let list = unwrapped(list, ours);
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
                let alternative = same_condition(alternative, ours).unwrap_or(alternative);
                alternatives.set(place, alternative);
                rewrite_below(alternative, ours);
                let Some(Rewritten { within, replaces }) = rewritten(alternative, ours) else { continue };
                let both = || Expr::and(within, alternative);
                alternatives.set(place, if replaces { within } else { both() });
            }
        }
        _ => {}
    }
}

/// The list without wrappers such as IS TRUE around conditions that are rewritten.
fn unwrapped<'p>(list: Exprs<'p>, ours: &'p ExtensionOids) -> Exprs<'p> {
    if !list.iter().any(|condition| condition.as_same_condition().is_some()) {
        return list;
    }
    let mut all = Exprs::NONE;
    for condition in list.iter() {
        match same_condition(condition, ours) {
            None => all = all.with(condition),
            Some(same) => match same.as_boolean() {
                Some((BoolExprType::AND_EXPR, args)) => all = all.and(unwrapped(args, ours)),
                _ => all = all.with(same),
            },
        }
    }
    all
}

/// The condition inside a wrapper such as IS TRUE, if it contains a condition that is rewritten.
fn same_condition<'p>(condition: Expr<'p>, ours: &'p ExtensionOids) -> Option<Expr<'p>> {
    let same = condition.as_same_condition()?;
    let same = same_condition(same, ours).unwrap_or(same);
    is_rewritten(same, ours).then_some(same)
}

/// Whether a condition, or one of the conditions below AND and OR, is rewritten.
fn is_rewritten<'p>(condition: Expr<'p>, ours: &'p ExtensionOids) -> bool {
    match condition.as_boolean() {
        Some((BoolExprType::AND_EXPR | BoolExprType::OR_EXPR, args)) => {
            args.iter().any(|condition| is_rewritten(condition, ours))
        }
        _ => rewritten(condition, ours).is_some() || same_condition(condition, ours).is_some(),
    }
}

/// What replaces a condition, or is added to it, if it compares a distance, a similarity or a share of
/// sketches.
fn rewritten<'p>(condition: Expr<'p>, ours: &'p ExtensionOids) -> Option<Rewritten<'p>> {
    match Comparison::read(condition, ours) {
        Some(comparison) => Some(comparison.rewritten(ours, CodePair::as_condition)),
        None => rewrite_share(condition, ours)
            .or_else(|| Comparison::with_any(condition, ours))
            .or_else(|| among_choices(condition, ours)),
    }
}

/// What is implied by a condition on LEAST, GREATEST or COALESCE: the same condition on one of their
/// arguments.
fn among_choices<'p>(condition: Expr<'p>, ours: &'p ExtensionOids) -> Option<Rewritten<'p>> {
    let [left, right] = condition.as_operator()?.args()?;
    let (choices, is_left) = match [left.choices(), right.choices()] {
        [Some(choices), None] => (choices, true),
        [None, Some(choices)] => (choices, false),
        _ => return None,
    };
    if condition.is_volatile() {
        return None;
    }
    let mut alternatives = Exprs::NONE;
    for choice in choices.iter() {
        let alternative = condition.with_arguments(if is_left { [choice, right] } else { [left, choice] });
        if !alternative.is_never_true() {
            alternatives = alternatives.with(rewritten(alternative, ours)?.within);
        }
    }
    Some(Rewritten { within: Expr::any_of(alternatives)?, replaces: false })
}

/// What replaces a comparison for a near join: a call of `hamming_within` even at radius 0.
pub(crate) fn rewritten_as_call<'p>(condition: Expr<'p>, ours: &'p ExtensionOids) -> Option<Rewritten<'p>> {
    Some(Comparison::read(condition, ours)?.rewritten(ours, CodePair::as_call))
}
