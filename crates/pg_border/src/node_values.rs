//! The values of constants in the expressions of a query, with their types.

use super::datum::DatumLayout;
use super::node::Node;
use super::planner::Planner;
use super::value::Value;
use super::varlena::content;

impl<'p> Node<'p> {
    /// Whether this is a constant that is not NULL.
    pub fn is_constant(self) -> bool {
        self.constant().is_some()
    }

    /// The value of a constant that is not NULL.
    pub fn constant(self) -> Option<Value<'p>> {
        let constant = self.cast::<pgrx::pg_sys::Const>()?;
        // SAFETY: a constant has a value of its type, unless it is NULL.
        (!constant.constisnull).then(|| unsafe { Value::new(constant.constvalue, constant.consttype) })
    }
}

impl<'p> Planner<'p> {
    /// The value of an expression, if an estimate can know it and it is not NULL.
    pub fn known(self, expr: Node<'p>) -> Option<Value<'p>> {
        self.estimated(expr).constant()
    }
}

impl<'a> Value<'a> {
    /// The bytes of a value of variable length, if the type has values of variable length.
    pub fn content(self) -> Option<&'a [u8]> {
        // SAFETY: the length of the type was checked. What is unpacked lives in the current memory context,
        // which is that of the call or of the row.
        DatumLayout::of(self.type_()).is_variable().then(|| unsafe { content(self.datum()) })
    }
}
