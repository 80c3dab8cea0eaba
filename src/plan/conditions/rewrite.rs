//! Turns conditions on distances and similarities into `hamming_within`.
//!
//! `a <~> b <= k` and its relatives become `hamming_within(a, b, k)`. `hamming_similarity(a, b) >= x` becomes
//! it too, with the largest distance that is similar enough. If a condition says more than that, such as
//! `a <~> b = k`, the query keeps it next to the new one. The result is the same for NULLs. With radius 0,
//! fingerprints are compared by `=`, which hash joins and B-trees serve. Rewriting a second time changes
//! nothing.

use super::comparison::Comparison;
use super::expressions::{CodePair, Rewritten};
use super::sketches::rewrite_share;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::node::{Node, Nodes};
use pgrx::pg_sys::BoolExprType::{AND_EXPR, OR_EXPR, Type};
use pgrx::pg_sys::NullTestType::IS_NULL;

/// Rewrites conditions that all have to hold. Returns their list, which may be longer than before.
pub(super) fn rewrite_and<'p>(list: Nodes<'p>, ours: &ExtensionOids) -> Nodes<'p> {
    rewritten_parts(AND_EXPR, list, ours).unwrap_or(list)
}

/// Rewrites the arguments of AND or OR; `None` if none of them changes. An argument of AND that is there
/// twice then, because the query has both the condition and what it is rewritten to, becomes one.
fn rewritten_parts<'p>(kind: Type, args: Nodes<'p>, ours: &ExtensionOids) -> Option<Nodes<'p>> {
    let mut all = Nodes::NONE;
    let mut is_changed = false;
    for part in args.iter() {
        check_for_interrupts();
        let changed = rewritten(part, ours);
        is_changed |= changed.is_some();
        for new in changed.unwrap_or(part).parts(kind).iter() {
            if kind == OR_EXPR || !all.contains(new) || new.has_volatile_functions() {
                all = all.with(new);
            }
        }
    }
    is_changed.then_some(all)
}

/// What a condition is replaced by, if it contains one that an index can answer. The same rows fulfill it.
pub(super) fn rewritten<'p>(condition: Node<'p>, ours: &ExtensionOids) -> Option<Node<'p>> {
    if let Some(same) = condition.as_same_condition() {
        return rewritten(same, ours);
    }
    if let Some(known) = condition.as_not_false() {
        return rewritten_or_null(known, ours);
    }
    match condition.as_boolean() {
        Some((AND_EXPR, args)) => Node::all_of(rewritten_parts(AND_EXPR, args, ours)?),
        Some((OR_EXPR, args)) => Node::any_of(rewritten_parts(OR_EXPR, args, ours)?),
        Some(_) => None,
        None => match implied(condition, ours)? {
            Rewritten { within, replaces: true } => Some(within),
            Rewritten { within, .. } => Node::all_of(Nodes::of(&[condition, within])),
        },
    }
}

/// `condition IS NOT FALSE`, which is `condition OR condition IS NULL`. A comparison is NULL if one of the
/// values is.
fn rewritten_or_null<'p>(condition: Node<'p>, ours: &ExtensionOids) -> Option<Node<'p>> {
    let comparison = Comparison::read(condition, ours).filter(|_| condition.as_operator().is_some())?;
    if condition.is_volatile() {
        return None;
    }
    let inputs = comparison.inputs().filter(|input| !input.is_constant());
    let nulls: Nodes = inputs.map(|input| input.copy().null_test(IS_NULL)).collect();
    Node::any_of(Nodes::of(&[rewritten(condition, ours)?]).and(nulls))
}

/// What follows from a condition that compares a distance, a similarity or a share of sketches.
fn implied<'p>(condition: Node<'p>, ours: &ExtensionOids) -> Option<Rewritten<'p>> {
    match Comparison::read(condition, ours) {
        Some(comparison) => Some(comparison.rewritten(CodePair::as_condition)),
        None => rewrite_share(condition, ours).or_else(|| implied_by_choices(condition, ours)),
    }
}

/// What follows from a condition on LEAST, GREATEST or COALESCE: the same condition on one of their
/// arguments.
fn implied_by_choices<'p>(condition: Node<'p>, ours: &ExtensionOids) -> Option<Rewritten<'p>> {
    let [left, right] = condition.as_operator()?.args()?;
    let (choices, is_left) = match [left.choices(), right.choices()] {
        [Some(choices), None] => (choices, true),
        [None, Some(choices)] => (choices, false),
        _ => return None,
    };
    if condition.is_volatile() {
        return None;
    }
    let mut alternatives = Nodes::NONE;
    for choice in choices.iter() {
        let alternative = condition.with_arguments(if is_left { [choice, right] } else { [left, choice] });
        if !alternative.is_never_true() {
            alternatives = alternatives.with(implied(alternative, ours)?.within);
        }
    }
    Some(Rewritten { within: Node::any_of(alternatives)?, replaces: false })
}

/// What replaces a comparison for a near join: a call of `hamming_within` even at radius 0.
pub(crate) fn rewritten_as_call<'p>(condition: Node<'p>, ours: &ExtensionOids) -> Option<Rewritten<'p>> {
    Some(Comparison::read(condition, ours)?.rewritten(CodePair::as_call))
}
