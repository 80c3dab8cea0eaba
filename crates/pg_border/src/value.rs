//! Values of SQL with their types.

use super::code::{CodeType, CodeValue};
use super::varlena::content;
use pgrx::pg_sys::{self, Datum, Oid};
use std::marker::PhantomData;

/// A value that is not NULL, with its type. It lives as long as the call or the row that it comes from.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    datum: Datum,
    type_: Oid,
    life: PhantomData<&'a Datum>,
}

impl<'a> Value<'a> {
    /// # Safety
    /// The datum must be of this type, not NULL, and live as long as the lifetime says.
    pub(crate) unsafe fn new(datum: Datum, type_: Oid) -> Self {
        Self { datum, type_, life: PhantomData }
    }

    /// The value as PostgreSQL passes it.
    pub fn datum(self) -> Datum {
        self.datum
    }

    /// The type of the value.
    pub fn type_(self) -> Oid {
        self.type_
    }

    /// The value as a code, if it is one.
    pub fn as_code(self) -> Option<CodeValue<'a>> {
        // SAFETY: the datum is of this type, as the caller of `new` has promised.
        CodeType::of(self.type_).map(|codes| unsafe { CodeValue::new(codes, self.datum) })
    }

    /// The value, if its type is integer.
    pub fn as_integer(self) -> Option<i32> {
        (self.type_ == pg_sys::INT4OID).then(|| self.datum.value() as i32)
    }

    /// The bytes of a text, in the encoding of the database, if the type is text.
    pub fn as_text(self) -> Option<&'a [u8]> {
        // SAFETY: a text has variable length, and the type was checked. What is unpacked lives in the current
        // memory context, which is that of the call or of the row.
        (self.type_ == pg_sys::TEXTOID).then(|| unsafe { content(self.datum) })
    }
}
