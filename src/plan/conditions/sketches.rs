//! Turns comparisons of sketches into calls of functions that an index can answer and that we estimate.
//!
//! `sketch_similarity(a, b) >= x` becomes `sketch_similar(a, b, x)`, and `sketch_containment(a, b) >= x`
//! becomes `sketch_contained(a, b, x)`. With `>`, x is the next number above. With `=`, the query keeps the
//! comparison next to the call.
//!
//! `sketch_overlaps(a, b)` is already such a call. PostgreSQL's own `&&` is left alone.

use super::comparison::{FLOAT_TYPES, exchanged};
use super::expressions::{FLOAT_FAMILY, Rewritten};
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::catalog::sketch_oids::SketchOids;
use crate::pg::node::Node;
use crate::pg::value::Value;
use pgrx::pg_sys::{self, Oid};

/// The call for a comparison of a share with a number. Expressions are copied, since the query may keep the
/// comparison as well.
pub(super) fn rewrite_share<'a>(condition: Node<'a>, ours: &ExtensionOids) -> Option<Rewritten<'a>> {
    let sketches = ours.sketches;
    let comparison = condition.as_operator()?;
    let [left, right] = comparison.args()?;
    let strategy = comparison.strategy_in(FLOAT_FAMILY);
    let (share, limit, strategy) = match [left, right].map(|side| share(side, &sketches)) {
        [Some(share), None] => (share, right, strategy),
        [None, Some(share)] => (share, left, exchanged(strategy)),
        _ => return None,
    };
    let strategy = u32::try_from(strategy).unwrap_or_default();
    let is_equality = strategy == pg_sys::BTEqualStrategyNumber;
    let is_lower_bound =
        [pg_sys::BTGreaterStrategyNumber, pg_sys::BTGreaterEqualStrategyNumber].contains(&strategy);
    // A NULL limit matches nothing; PostgreSQL detects that itself. With `=`, the query keeps both
    // conditions, and would evaluate a volatile expression twice.
    if !is_lower_bound && !is_equality
        || !FLOAT_TYPES.contains(&limit.type_())
        || limit.is_null()
        || is_equality && condition.is_volatile()
    {
        return None;
    }
    let least = least(limit.widened(), strategy == pg_sys::BTGreaterStrategyNumber, &sketches);
    let (function, [a, b]) = share;
    let within = Node::function(function, pg_sys::BOOLOID, &[a.copy(), b.copy(), least]);
    Some(Rewritten { within, replaces: is_lower_bound })
}

/// The two sketches of a share, and the function that tests it against a limit.
fn share<'a>(expr: Node<'a>, sketches: &SketchOids) -> Option<(Oid, [Node<'a>; 2])> {
    let call = expr.as_function()?;
    let function = match call.id {
        called if called == sketches.similarity => sketches.similar,
        called if called == sketches.containment => sketches.contained,
        _ => return None,
    };
    Some((function, call.args()?))
}

/// The least share that satisfies the comparison with the limit, a double precision.
fn least<'a>(limit: Node<'a>, is_above: bool, sketches: &SketchOids) -> Node<'a> {
    match limit.constant().and_then(Value::as_double) {
        _ if !is_above => limit,
        Some(limit) => Node::double(limit.next_up()),
        None => Node::function(sketches.above, pg_sys::FLOAT8OID, &[limit]),
    }
}
