//! Codes and balls as constants of a query.

use super::CodeType;
use super::ball::HammingBall;
use crate::catalog::ours::is_read_by;
use crate::node::{Node, Passed, VARIABLE_LENGTH};
use crate::value::Value;
use pgrx::pg_sys::{self, Datum, Oid};

/// Whether a type is the type of balls of these codes.
pub fn is_ball(type_: Oid, codes: CodeType) -> bool {
    is_read_by(type_, codes.kind().ball_input)
}

/// A ball that is a constant of a query.
pub struct ConstantBall<'p> {
    /// The code in the middle.
    pub center: Node<'p>,
    /// The largest distance from the center.
    pub radius: i32,
}

impl<'p> Value<'p> {
    /// The value as a ball of codes of this type, if it is one.
    pub fn as_ball(self, codes: CodeType) -> Option<ConstantBall<'p>> {
        if !is_ball(self.type_(), codes) {
            return None;
        }
        // SAFETY: the type was checked.
        let (center, radius) = unsafe { codes.read_ball(self.datum()) };
        Some(ConstantBall { center: Node::code(codes, center), radius })
    }
}

impl<'p> Node<'p> {
    /// A code of this type.
    pub fn code(codes: CodeType, value: Datum) -> Self {
        match codes.kind().bits {
            Some(bits) => Self::new_constant(codes.oid(), (bits / u8::BITS) as i32, Passed::ByValue, value),
            None => Self::new_constant(codes.oid(), VARIABLE_LENGTH, Passed::ByReference, value),
        }
    }

    /// The ball around a constant code with a constant radius, if both are constants: what PostgreSQL would
    /// compute from a call of `hamming_ball`. The type is the one of balls of these codes.
    pub fn ball(codes: CodeType, ball_type: Oid, center: Self, radius: Self) -> Option<Self> {
        debug_assert_eq!((CodeType::of(center.type_()), radius.type_()), (Some(codes), pg_sys::INT4OID));
        let center = center.constant()?.datum();
        let radius = radius.constant()?.as_integer()?;
        // SAFETY: the center is a code of this type.
        let ball = unsafe { codes.write_ball(center, radius) };
        let length = if codes.is_integer() { size_of::<HammingBall>() as i32 } else { VARIABLE_LENGTH };
        Some(Self::new_constant(ball_type, length, Passed::ByReference, ball))
    }
}
