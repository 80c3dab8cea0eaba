//! Reads what is computed with a distance, as in `64 - hamming(a, b) >= 58`, or, after the Similarity Index
//! paper, `1 - hamming(a, b) / 64.0 >= 0.9`. `+`, `-`, `*` and `/` by constants make a line of it.
//!
//! Double precision rounds in other ways than PostgreSQL's numbers do, so the radius may be one bit too large
//! and the query keeps the comparison as well.

use super::expressions::Measured;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::expr::Expr;
use hamming::code::{radius_below, radius_of_similarity};
use pgrx::{direct_function_call_as_datum, pg_sys};

/// With larger and smaller numbers, double precision could be wrong by half a bit.
const LARGEST: f64 = 1e6;
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

    /// A radius that contains all distances at which the line reaches the limit.
    pub(super) fn radius(&self, limit: f64) -> Option<i32> {
        let (crossing, bits) = ((limit - self.offset) / self.slope, self.measured.pair.bits());
        Some(match self.measured.is_similarity {
            true => radius_of_similarity(crossing - TOLERANCE / f64::from(bits?), true, bits?),
            false => radius_below(crossing + TOLERANCE, true).min(bits.map_or(i32::MAX, |bits| bits as i32)),
        })
    }
}

/// A constant that is not too large.
pub(super) fn number_of(expr: Expr) -> Option<f64> {
    let value = expr.value()?;
    let number = match expr.type_() {
        pg_sys::INT4OID => f64::from(value.value() as i32),
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
