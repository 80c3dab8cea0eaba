//! Values of SQL with their types.

use super::catalog::ours::is_ball;
use super::code::ball::{BitBall, HammingBall};
use super::code::bits::Bits;
use super::code::{CodeType, CodeValue};
use super::varlena::{content, unpacked};
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

    /// The value as a code, if it is one.
    pub fn as_code(self) -> Option<CodeValue<'a>> {
        // SAFETY: the datum is of this type, as the caller of `new` has promised.
        CodeType::of(self.type_).map(|codes| unsafe { CodeValue::new(codes, self.datum) })
    }

    /// The value, if it is a ball of fingerprints.
    pub fn as_fingerprint_ball(self) -> Option<HammingBall> {
        // SAFETY: the value was checked to be a ball.
        is_ball(self.type_, CodeType::Bigint)
            .then(|| unsafe { self.datum.cast_mut_ptr::<HammingBall>().read() })
    }

    /// The value, if it is a ball of strings of bits.
    pub fn as_bit_ball(self) -> Option<BitBall<'a>> {
        // SAFETY: the value was checked to be a ball. What is unpacked lives in the current memory context,
        // which is that of the call or of the row.
        is_ball(self.type_, CodeType::Bits).then(|| unsafe { BitBall::of(self.datum) })
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

    /// Reads the string of bits, if the type is bit or bit varying. What has to be unpacked is freed at once,
    /// since there may be such a value for each row of a table.
    pub fn with_bits<R>(self, read: impl FnOnce(Bits<'_>) -> R) -> Option<R> {
        if CodeType::of(self.type_) != Some(CodeType::Bits) {
            return None;
        }
        // SAFETY: the type was checked. The copy is freed when nobody uses it any more.
        unsafe {
            let plain = unpacked(self.datum);
            let result = read(Bits::of(plain));
            if plain.value() != self.datum.value() {
                pg_sys::pfree(plain.cast_mut_ptr());
            }
            Some(result)
        }
    }

    /// The bytes of a text, in the encoding of the database, if the type is text.
    pub fn as_text(self) -> Option<&'a [u8]> {
        // SAFETY: a text has variable length, and the type was checked. What is unpacked lives in the current
        // memory context, which is that of the call or of the row.
        (self.type_ == pg_sys::TEXTOID).then(|| unsafe { content(self.datum) })
    }
}
