//! Reads what is computed with a distance, as in `64 - hamming(a, b) >= 58`, or, after the Similarity Index
//! paper, `1 - hamming(a, b) / 64.0 >= 0.9`. `+`, `-`, `*` and `/` by constants make a line of it.
//!
//! Double precision rounds in other ways than PostgreSQL's numbers do, so the radius may be one bit too large
//! and the query keeps the comparison as well.

use super::expressions::Measured;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::expr::Expr;
use hamming::code::{radius_below, radius_of_similarity};
use pgrx::direct_function_call_as_datum;
use pgrx::pg_sys::{self, Oid};

/// With larger and smaller numbers, double precision could be wrong by half a bit.
const LARGEST: f64 = 1e6;
/// What limits that are not known yet are bounded by. No line reaches it: a slope or an offset of [`LARGEST`]
/// with the distance of two values of a gigabyte remains below.
const FARTHEST: f64 = 1e17;
/// What a computed distance may be wrong by.
const TOLERANCE: f64 = 0.5;

/// `slope * measured + offset`.
pub(super) struct Line<'a> {
    pub(super) measured: Measured<'a>,
    /// Whether nothing is computed.
    pub(super) is_plain: bool,
    slope: f64,
    offset: f64,
}

impl<'a> Line<'a> {
    pub(super) fn read(expr: Expr<'a>, ours: &'a ExtensionOids) -> Option<Self> {
        let expr = without_cast(expr);
        if let Some(measured) = Measured::of(expr, ours) {
            return Some(Self { measured, is_plain: true, slope: 1.0, offset: 0.0 });
        }
        if let Some(inner) = absolute(expr) {
            // Distances and similarities are not negative.
            return Self::read(inner, ours).filter(|line| line.is_plain);
        }
        let operation = expr.as_operator()?;
        let [left, right] = operation.args()?;
        let (inner, number, is_first) = match [left, right].map(number_of) {
            [None, Some(number)] => (left, number, true),
            [Some(number), None] => (right, number, false),
            _ => return None,
        };
        let Self { measured, slope, offset, .. } = Self::read(inner, ours)?;
        // SAFETY: looks the operator up in the catalog.
        let (slope, offset) = match unsafe { pg_sys::get_opcode(operation.id) }.to_u32() {
            pg_sys::F_INT4PL | pg_sys::F_FLOAT8PL | pg_sys::F_NUMERIC_ADD => (slope, offset + number),
            pg_sys::F_INT4MI | pg_sys::F_FLOAT8MI | pg_sys::F_NUMERIC_SUB if is_first => {
                (slope, offset - number)
            }
            pg_sys::F_INT4MI | pg_sys::F_FLOAT8MI | pg_sys::F_NUMERIC_SUB => (-slope, number - offset),
            pg_sys::F_INT4MUL | pg_sys::F_FLOAT8MUL | pg_sys::F_NUMERIC_MUL => {
                (slope * number, offset * number)
            }
            pg_sys::F_FLOAT8DIV | pg_sys::F_NUMERIC_DIV if is_first => (slope / number, offset / number),
            _ => return None,
        };
        let is_exact_enough = (1.0 / LARGEST..=LARGEST).contains(&slope.abs()) && offset.abs() <= LARGEST;
        is_exact_enough.then_some(Self { measured, is_plain: false, slope, offset })
    }

    /// Whether a larger value is a larger distance.
    pub(super) fn is_rising(&self) -> bool {
        self.measured.is_similarity == (self.slope < 0.0)
    }

    /// The limit that is reached at the larger distance.
    pub(super) fn farther(&self, a: f64, b: f64) -> f64 {
        if self.is_rising() { a.max(b) } else { a.min(b) }
    }

    /// The call that computes such a radius as [`radius`](Self::radius) does, if the limit is not known yet.
    pub(super) fn radius_call(&self, limit: Expr<'a>, ours: &ExtensionOids) -> Option<Expr<'a>> {
        let double = |function: u32, a, b| Expr::function(Oid::from(function), pg_sys::FLOAT8OID, &[a, b]);
        let above = double(pg_sys::F_FLOAT8MI, bounded(limit)?, Expr::double(self.offset));
        let crossing = double(pg_sys::F_FLOAT8DIV, above, Expr::double(self.slope));
        let integer = pg_sys::INT4OID;
        if !self.measured.is_similarity {
            let limit = double(pg_sys::F_FLOAT8PL, crossing, Expr::double(TOLERANCE));
            return Some(Expr::function(ours.radius_of_distance(pg_sys::FLOAT8OID, true), integer, &[limit]));
        }
        let bits = self.measured.pair.bits()?;
        let limit = double(pg_sys::F_FLOAT8MI, crossing, Expr::double(TOLERANCE / f64::from(bits)));
        let args = [limit, Expr::integer(bits as i32)];
        Some(Expr::function(ours.radius_of_similarity(true), integer, &args))
    }

    /// A radius that contains all distances at which the line reaches the limit.
    pub(super) fn radius(&self, limit: f64) -> Option<i32> {
        let (crossing, bits) = ((limit - self.offset) / self.slope, self.measured.pair.bits());
        Some(match self.measured.is_similarity {
            true => radius_of_similarity(crossing - TOLERANCE / f64::from(bits?), true, bits?),
            false => radius_below(crossing + TOLERANCE, true).min(bits.map_or(i32::MAX, |bits| bits as i32)),
        })
    }
}

/// The number as a double precision, and no farther from 0 than [`FARTHEST`], so that computing with it
/// raises no error. NaN, which is greater than every number, becomes `FARTHEST`.
fn bounded(number: Expr<'_>) -> Option<Expr<'_>> {
    let number = widened(number);
    let between = |number, type_, smaller: u32, larger: u32, ends: [Expr<'static>; 2]| {
        let number = Expr::function(Oid::from(larger), type_, &[number, ends[0]]);
        Expr::function(Oid::from(smaller), type_, &[number, ends[1]])
    };
    let ends = [-FARTHEST, FARTHEST].map(Expr::double);
    let double = pg_sys::FLOAT8OID;
    match number.type_() {
        pg_sys::INT8OID => {
            let number = Expr::function(Oid::from(pg_sys::F_FLOAT8_INT8), double, &[number]);
            Some(between(number, double, pg_sys::F_FLOAT8SMALLER, pg_sys::F_FLOAT8LARGER, ends))
        }
        pg_sys::FLOAT8OID => {
            Some(between(number, double, pg_sys::F_FLOAT8SMALLER, pg_sys::F_FLOAT8LARGER, ends))
        }
        numeric @ pg_sys::NUMERICOID => {
            let ends = ends.map(|end| Expr::function(Oid::from(pg_sys::F_NUMERIC_FLOAT8), numeric, &[end]));
            let number = between(number, numeric, pg_sys::F_NUMERIC_SMALLER, pg_sys::F_NUMERIC_LARGER, ends);
            Some(Expr::function(Oid::from(pg_sys::F_FLOAT8_NUMERIC), double, &[number]))
        }
        _ => None,
    }
}

/// A copy of the number, cast to the widest type of its B-tree family.
pub(super) fn widened(number: Expr) -> Expr {
    let (cast, type_) = match number.type_() {
        pg_sys::INT2OID => (pg_sys::F_INT8_INT2, pg_sys::INT8OID),
        pg_sys::INT4OID => (pg_sys::F_INT8_INT4, pg_sys::INT8OID),
        pg_sys::FLOAT4OID => (pg_sys::F_FLOAT8_FLOAT4, pg_sys::FLOAT8OID),
        _ => return number.copy(),
    };
    Expr::function(Oid::from(cast), type_, &[number.copy()]).simplified()
}

/// A constant that is not too large.
pub(super) fn number_of(expr: Expr) -> Option<f64> {
    let value = expr.value()?;
    let number = match expr.type_() {
        pg_sys::INT2OID => f64::from(value.value() as i16),
        pg_sys::INT4OID => f64::from(value.value() as i32),
        // Rounding does not make a large number one that is not too large.
        pg_sys::INT8OID => value.value() as i64 as f64,
        pg_sys::FLOAT4OID => f32::from_bits(value.value() as u32).into(),
        pg_sys::FLOAT8OID => f64::from_bits(value.value() as u64),
        // SAFETY: the function takes a numeric, and returns a floating-point number.
        pg_sys::NUMERICOID => f64::from_bits(unsafe {
            direct_function_call_as_datum(pg_sys::numeric_float8_no_overflow, &[Some(value)])?.value() as u64
        }),
        _ => return None,
    };
    (number.abs() <= LARGEST).then_some(number)
}

/// The argument of `abs`.
fn absolute(expr: Expr<'_>) -> Option<Expr<'_>> {
    let functions = [pg_sys::F_ABS_INT4, pg_sys::F_ABS_INT8, pg_sys::F_ABS_FLOAT8, pg_sys::F_ABS_NUMERIC];
    let call = expr.as_function().filter(|call| functions.contains(&call.id.to_u32()))?;
    call.args().map(|[number]| number)
}

/// The argument of a cast from integer to another number type, which does not change the value of a distance,
/// or from numeric to double precision; any other expression unchanged.
fn without_cast(expr: Expr) -> Expr {
    let casts = [
        pg_sys::F_INT2_INT4,
        pg_sys::F_INT8_INT4,
        pg_sys::F_FLOAT4_INT4,
        pg_sys::F_FLOAT8_INT4,
        pg_sys::F_NUMERIC_INT4,
        pg_sys::F_FLOAT8_NUMERIC,
    ];
    match expr.as_function() {
        Some(call) if casts.contains(&call.id.to_u32()) => call.args().map_or(expr, |[number]| number),
        _ => expr,
    }
}
