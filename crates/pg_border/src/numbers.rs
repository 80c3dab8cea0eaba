//! Numbers in the expressions of a query: constants, wider types, and PostgreSQL's own functions of numbers.

use super::node::{Node, Nodes};
use super::numeric::Numeric;
use pgrx::pg_sys::{self, Oid};
use std::ffi::CStr;

impl<'p> Node<'p> {
    /// The value of a constant number; infinity if double precision has no room for it.
    pub fn number(self) -> Option<f64> {
        let constant = self.constant()?;
        let value = constant.datum();
        Some(match constant.type_() {
            pg_sys::INT2OID => f64::from(value.value() as i16),
            pg_sys::INT4OID => f64::from(value.value() as i32),
            pg_sys::INT8OID => value.value() as i64 as f64,
            pg_sys::FLOAT4OID => f32::from_bits(value.value() as u32).into(),
            pg_sys::FLOAT8OID => f64::from_bits(value.value() as u64),
            _ => return Numeric::double_of(constant),
        })
    }

    /// A copy of the number, cast to the widest type of its B-tree family.
    pub fn widened(self) -> Self {
        let (cast, type_) = match self.type_() {
            pg_sys::INT2OID => (pg_sys::F_INT8_INT2, pg_sys::INT8OID),
            pg_sys::INT4OID => (pg_sys::F_INT8_INT4, pg_sys::INT8OID),
            pg_sys::FLOAT4OID => (pg_sys::F_FLOAT8_FLOAT4, pg_sys::FLOAT8OID),
            _ => return self.copy(),
        };
        Self::function(Oid::from(cast), type_, &[self.copy()]).simplified()
    }

    /// The number as a double precision, and no farther from 0 than an end, so that computing with it raises
    /// no error. NaN, which is greater than every number, becomes the end. `None` for other types.
    pub fn bounded(self, end: f64) -> Option<Self> {
        if let Some(number) = self.number() {
            return Some(Self::double(if number.is_nan() { end } else { number.clamp(-end, end) }));
        }
        let numeric =
            |function: u32, args: &[Self]| Self::function(Oid::from(function), pg_sys::NUMERICOID, args);
        let widened = self.widened();
        let number = match widened.type_() {
            pg_sys::INT8OID => numeric(pg_sys::F_NUMERIC_INT8, &[widened]),
            pg_sys::FLOAT8OID => numeric(pg_sys::F_NUMERIC_FLOAT8, &[widened]),
            pg_sys::NUMERICOID => widened,
            _ => return None,
        };
        let [least, most] = [-end, end].map(|end| numeric(pg_sys::F_NUMERIC_FLOAT8, &[Self::double(end)]));
        let number = numeric(pg_sys::F_NUMERIC_LARGER, &[number, least]);
        let number = numeric(pg_sys::F_NUMERIC_SMALLER, &[number, most]);
        Some(Self::function(Oid::from(pg_sys::F_FLOAT8_NUMERIC), pg_sys::FLOAT8OID, &[number]))
    }

    /// The greatest of some integers; -1 without any.
    pub fn greatest(integers: Nodes<'p>) -> Self {
        match integers.len() {
            0 => Self::integer(-1),
            1 => integers.iter().next().unwrap_or(Self::integer(-1)),
            // SAFETY: builds a node from a list of integers, which have no collation.
            _ => unsafe {
                let node = pg_sys::palloc0(size_of::<pg_sys::MinMaxExpr>()).cast::<pg_sys::MinMaxExpr>();
                (*node).xpr.type_ = pg_sys::NodeTag::T_MinMaxExpr;
                (*node).minmaxtype = pg_sys::INT4OID;
                (*node).op = pg_sys::MinMaxOp::IS_GREATEST;
                (*node).args = integers.pointer();
                (*node).location = -1;
                Self::new(node).simplified()
            },
        }
    }

    /// The name of the operator or the function, if PostgreSQL itself has it. A cast to a number is named
    /// after its type.
    pub fn name_in_postgres(self) -> Option<&'p [u8]> {
        // SAFETY: looks a name up in the catalog, which becomes a string in the current memory context.
        unsafe {
            let (id, name_of): (_, unsafe fn(Oid) -> *mut _) = match self.as_operator() {
                Some(operator) => (operator.id, pg_sys::get_opname),
                None => (self.as_function()?.id, pg_sys::get_func_name),
            };
            let name = (id.to_u32() < pg_sys::FirstGenbkiObjectId).then(|| name_of(id))?;
            (!name.is_null()).then(|| CStr::from_ptr(name).to_bytes())
        }
    }
}
