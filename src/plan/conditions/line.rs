//! Reads what is computed with a distance, as in `64 - hamming(a, b) >= 58`, or, after the Similarity Index
//! paper, `1 - hamming(a, b) / 64.0 >= 0.9`. This is the one place that knows monotone functions: `+`, `-`,
//! `*` and `/` by constants make a line of a distance, and roundings, casts and integer divisions do not move
//! a value far from it.
//!
//! Double precision rounds in other ways than PostgreSQL's numbers do, so the radius may be too large and the
//! query keeps the comparison as well.

use super::expressions::Measured;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::node::Node;
use pgrx::pg_sys::{self, Oid};

/// With larger and smaller numbers, double precision could be wrong by half a bit.
const LARGEST: f64 = 1e6;
/// What limits are bounded by. No line reaches it: a slope or an offset of [`LARGEST`] with the distance of
/// two values of a gigabyte remains below.
const FARTHEST: f64 = 1e17;
/// What a computed distance may be wrong by.
const TOLERANCE: f64 = 0.5;

const INTEGERS: [Oid; 3] = [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID];

/// A value that is at most `slack` from `slope * measured + offset`, and rises or falls with it.
pub(super) struct Line<'a> {
    pub(super) measured: Measured<'a>,
    /// Whether nothing is computed.
    pub(super) is_plain: bool,
    slope: f64,
    offset: f64,
    slack: f64,
}

impl<'a> Line<'a> {
    pub(super) fn read(expr: Node<'a>, ours: &ExtensionOids) -> Option<Self> {
        if let Some(measured) = Measured::of(expr, ours) {
            return Some(Self { measured, is_plain: true, slope: 1.0, offset: 0.0, slack: 0.0 });
        }
        let computed = expr.as_operator().or_else(|| expr.as_function())?;
        let (inner, constant, is_first) = match computed.args() {
            Some([left, right]) if right.is_constant() => (left, Some(right), true),
            Some([left, right]) => (right, Some(left), false),
            None => (computed.args().map(|[only]| only)?, None, true),
        };
        let line = Self::read(inner, ours)?;
        let name = expr.name_in_postgres()?;
        let is_integer = INTEGERS.contains(&expr.type_());
        let line = match constant {
            Some(constant) => line.with(name, constant.number()?, is_first, is_integer),
            None => line.alone(name),
        };
        line.filter(|line| line.is_exact_enough() && (expr.type_() != pg_sys::FLOAT4OID || line.is_plain))
    }

    fn is_exact_enough(&self) -> bool {
        (1.0 / LARGEST..=LARGEST).contains(&self.slope.abs())
            && self.offset.abs() <= LARGEST
            && self.slack <= LARGEST
    }

    /// What a function with this line as its only argument makes of it.
    fn alone(self, name: &[u8]) -> Option<Self> {
        let is_distance = self.is_plain && !self.measured.is_similarity;
        match name {
            b"-" => Some(self.times(-1.0)),
            // Distances and similarities are not negative.
            b"abs" if self.is_plain => Some(self),
            // A distance has the same value in each of these types, but real has only 24 bits.
            b"int2" | b"int4" | b"int8" | b"float8" | b"numeric" if is_distance => Some(self),
            b"float4" if is_distance && self.measured.pair.bits()? < 1 << f32::MANTISSA_DIGITS => Some(self),
            b"float8" | b"numeric" => Some(self.rounded(0.0)),
            b"int2" | b"int4" | b"int8" | b"floor" | b"ceil" | b"ceiling" | b"round" | b"trunc" => {
                Some(self.rounded(1.0))
            }
            _ => None,
        }
    }

    /// What a function of this line and a number makes of it. The line may be the first argument.
    fn with(self, name: &[u8], number: f64, is_first: bool, is_integer: bool) -> Option<Self> {
        match (name, is_first) {
            (b"+", _) => Some(self.plus(number)),
            (b"-", true) => Some(self.plus(-number)),
            (b"-", false) => Some(self.times(-1.0).plus(number)),
            (b"*", _) => Some(self.times(number)),
            (b"/", true) if is_integer => Some(self.times(1.0 / number).rounded(1.0)),
            (b"/", true) => Some(self.times(1.0 / number)),
            (b"round" | b"trunc", true) => Some(self.rounded(10_f64.powf(-number))),
            // A cast to numeric(precision, scale). The number is the type's modifier, whose lowest 11 bits
            // are the scale.
            (b"numeric", true) => {
                let modifier = number as i32 - pg_sys::VARHDRSZ as i32;
                let scale = ((modifier & 0x7ff) ^ 0x400) - 0x400;
                Some(self.rounded(10_f64.powi(-scale)))
            }
            _ => None,
        }
    }

    fn plus(self, number: f64) -> Self {
        Self { is_plain: false, offset: self.offset + number, ..self }
    }

    fn times(self, factor: f64) -> Self {
        Self {
            is_plain: false,
            slope: self.slope * factor,
            offset: self.offset * factor,
            slack: self.slack * factor.abs(),
            ..self
        }
    }

    /// The line of a value that is rounded, by at most this.
    fn rounded(self, by: f64) -> Self {
        Self { is_plain: false, slack: self.slack + by, ..self }
    }

    /// Whether a larger value is a larger distance.
    pub(super) fn is_rising(&self) -> bool {
        self.measured.is_similarity == (self.slope < 0.0)
    }

    /// Whether different distances have different values.
    pub(super) fn is_strict(&self) -> bool {
        self.slack == 0.0
    }

    /// A radius that contains all distances at which the value can reach the limit.
    pub(super) fn radius(&self, limit: Node<'a>, ours: &ExtensionOids) -> Option<Node<'a>> {
        let double = |function: u32, a, b| Node::function(Oid::from(function), pg_sys::FLOAT8OID, &[a, b]);
        let above = double(pg_sys::F_FLOAT8MI, limit.bounded(FARTHEST)?, Node::double(self.offset));
        let crossing = double(pg_sys::F_FLOAT8DIV, above, Node::double(self.slope));
        let slack = self.slack / self.slope.abs();
        let integer = pg_sys::INT4OID;
        let radius = if self.measured.is_similarity {
            let bits = self.measured.pair.bits()?;
            let least = Node::double(slack + TOLERANCE / f64::from(bits));
            let args = [double(pg_sys::F_FLOAT8MI, crossing, least), Node::integer(bits as i32)];
            Node::function(ours.radius_of_similarity(true), integer, &args)
        } else {
            let most = double(pg_sys::F_FLOAT8PL, crossing, Node::double(slack + TOLERANCE));
            Node::function(ours.radius_of_distance(pg_sys::FLOAT8OID, true), integer, &[most])
        };
        Some(radius.simplified())
    }
}
