//! Conditions on a distance, for estimates: `hamming_within(a, b, radius)`, and the index condition `a <@
//! ball`.

use super::path_cost::CostedPath;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::catalog::ours::is_ours;
use crate::pg::code::CodeType;
use crate::pg::code::constant::{ConstantBall, is_ball};
use crate::pg::node::Node;
use crate::pg::planned_index::PlannedIndex;
use crate::pg::planner::Planner;
use crate::pg::value::Value;
use pgrx::pg_sys;

/// The radius that is assumed if planning does not know it: 6 of 64 bits, as in the Similarity Index paper,
/// and the same fraction of other numbers of bits.
pub(crate) fn typical_radius(bits: u32) -> u32 {
    (u64::from(bits) * 6 / u64::from(hamming::BITS)) as u32
}

/// The arguments of `hamming_within(a, b, radius)`.
#[derive(Clone, Copy)]
pub(crate) struct Within<'p> {
    pub(crate) a: Node<'p>,
    pub(crate) b: Node<'p>,
    pub(crate) radius: Node<'p>,
}

impl<'p> Within<'p> {
    /// The `hamming_within` that means the same as `value <@ ball`. `None` if the types are others, since
    /// anybody may use our estimators for an operator, or if the ball is neither a constant nor a call of
    /// `hamming_ball`.
    pub(crate) fn ball(value: Node<'p>, ball: Node<'p>) -> Option<Self> {
        let type_ = CodeType::of(value.type_())?;
        if let Some(constant) = ball.constant() {
            let ConstantBall { center, radius } = constant.as_ball(type_)?;
            return Some(Self { a: value, b: center, radius: Node::integer(radius) });
        }
        if !is_ball(ball.type_(), type_) {
            return None;
        }
        let call = ball.as_function().filter(|call| is_ours(call.id, type_.kind().ball))?;
        call.args().map(|[center, radius]| Self { a: value, b: center, radius })
    }

    /// The number of bits of both values, if it is known.
    pub(crate) fn bits(&self) -> Option<u32> {
        bits_of(self.a).or_else(|| bits_of(self.b))
    }

    /// The radius, or the assumed one if it is not known; at most the number of bits, if that is known.
    pub(crate) fn expected_radius(&self, planner: Planner<'p>) -> u32 {
        let bits = self.bits();
        let radius = match planner.known(self.radius).and_then(Value::as_integer) {
            Some(radius) => radius.max(0) as u32,
            None => typical_radius(bits.unwrap_or(hamming::BITS)),
        };
        bits.map_or(radius, |bits| radius.min(bits))
    }
}

/// The conditions of an index search on a column of codes or of balls.
pub(crate) struct PathConditions {
    /// The smallest radius of all conditions on the distance, if there are any.
    pub(crate) radius: Option<u32>,
    /// Whether a condition is `IS NULL`.
    pub(crate) is_null: bool,
}

impl PathConditions {
    /// The conditions on a key column, counted from 0.
    pub(crate) fn of(path: &CostedPath, column: usize) -> Self {
        let mut conditions = Self { radius: None, is_null: false };
        for condition in path.conditions(column) {
            if let Some(test) = condition.cast::<pg_sys::NullTest>() {
                conditions.is_null |= test.nulltesttype == pg_sys::NullTestType::IS_NULL;
            } else {
                let radius = radius_of_condition(path.planner(), condition);
                conditions.radius = Some(conditions.radius.map_or(radius, |least| least.min(radius)));
            }
        }
        conditions
    }
}

/// The radius of an index condition.
fn radius_of_condition<'p>(planner: Planner<'p>, condition: Node<'p>) -> u32 {
    // It is `= ANY (…)`, which searches for each element separately.
    let Some([key, operand]) = condition.as_operator().and_then(|condition| condition.args()) else {
        return 0;
    };
    // The operator is `=`, whose operand has the column's type or another integer type, or `<@` with a ball.
    // For a column of balls it is `~`.
    let type_ = operand.type_();
    if type_ == key.type_() && is_ball(type_, CodeType::Bigint) {
        let ball = planner.known(operand).and_then(|ball| ball.as_ball(CodeType::Bigint));
        return ball.map_or(typical_radius(hamming::BITS), |ball| ball.radius.clamp(0, 64) as u32);
    }
    if type_ == key.type_() || [pg_sys::INT2OID, pg_sys::INT4OID].contains(&type_) {
        return 0;
    }
    let within = Within::ball(key, operand);
    within.map_or(typical_radius(hamming::BITS), |within| within.expected_radius(planner))
}

/// For each key column of an index, whether its operator family can search for codes in balls.
pub(crate) fn are_fingerprints(index: PlannedIndex) -> impl Iterator<Item = bool> {
    let ours = ExtensionOids::known();
    index.families().map(move |family| {
        ours.is_some_and(|ours| ours.codes().any(|oids| oids.ball_operator(family).is_some()))
    })
}

/// The number of bits of all values of an expression, if it is known: from a constant, or from the n of
/// `bit(n)`.
pub(crate) fn bits_of(expr: Node) -> Option<u32> {
    if let Some(constant) = expr.constant() {
        return constant.as_code().map(|code| code.read().bits());
    }
    // The cast of a bit varying or of a domain to its base type does not change the length.
    let (type_, modifier) = expr.without_relabels().base_type();
    CodeType::of_column(type_, modifier)?.1
}
