//! Values of SQL with their types.

use super::varlena::content;
use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{Array, FromDatum};
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

    /// The value, if its type is integer.
    pub fn as_integer(self) -> Option<i32> {
        (self.type_ == pg_sys::INT4OID).then(|| self.datum.value() as i32)
    }

    /// The value, if its type is boolean.
    pub fn as_boolean(self) -> Option<bool> {
        (self.type_ == pg_sys::BOOLOID).then(|| self.datum.value() != 0)
    }

    /// The value, if its type is double precision.
    pub fn as_double(self) -> Option<f64> {
        (self.type_ == pg_sys::FLOAT8OID).then(|| f64::from_bits(self.datum.value() as u64))
    }

    /// The value as an array, if its type is bigint[] or a domain on it.
    pub fn as_bigints(self) -> Option<Array<'a, i64>> {
        // SAFETY: the function looks a type up.
        let type_ = unsafe { pg_sys::getBaseType(self.type_) };
        // SAFETY: the type was checked, and the value is not NULL.
        (type_ == pg_sys::INT8ARRAYOID).then(|| unsafe { Array::from_datum(self.datum, false) }).flatten()
    }

    /// The value, if its type is bigint, integer or smallint.
    pub fn as_whole_number(self) -> Option<i64> {
        let value = self.datum.value();
        match self.type_ {
            pg_sys::INT8OID => Some(value as i64),
            pg_sys::INT4OID => Some((value as i32).into()),
            pg_sys::INT2OID => Some((value as i16).into()),
            _ => None,
        }
    }

    /// The bytes of a text, in the encoding of the database, if the type is text.
    pub fn as_text(self) -> Option<&'a [u8]> {
        // SAFETY: a text has variable length, and the type was checked. What is unpacked lives in the current
        // memory context, which is that of the call or of the row.
        (self.type_ == pg_sys::TEXTOID).then(|| unsafe { content(self.datum) })
    }
}
