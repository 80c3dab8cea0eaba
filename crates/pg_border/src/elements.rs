//! Arrays of any type, and the sort order of their elements.

use super::call::Call;
use super::encoding::type_name;
use super::report::{SqlError, quote, report};
use pgrx::pg_sys;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use std::cmp::Ordering;

/// The elements of an array, in order; its dimensions are ignored.
pub struct ArrayElements<'a> {
    /// The type of the elements.
    pub type_: pg_sys::Oid,
    /// The elements, whose datum has no meaning where they are NULL.
    pub values: &'a [pg_sys::Datum],
    /// For each element, whether it is NULL.
    pub nulls: &'a [bool],
}

impl ArrayElements<'_> {
    /// # Safety
    /// The datum must be an array. The elements must only be used during the call in progress.
    pub unsafe fn of(array: pg_sys::Datum) -> Self {
        let (mut length, mut by_value, mut alignment) = (0, false, 0);
        let (mut values, mut nulls, mut count) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
        // SAFETY: an array names the type of its elements. The results live as long as the call.
        unsafe {
            let array: *mut pg_sys::ArrayType = pg_sys::pg_detoast_datum(array.cast_mut_ptr()).cast();
            let type_ = (*array).elemtype;
            pg_sys::get_typlenbyvalalign(type_, &raw mut length, &raw mut by_value, &raw mut alignment);
            pg_sys::deconstruct_array(
                array,
                type_,
                length.into(),
                by_value,
                alignment,
                &raw mut values,
                &raw mut nulls,
                &raw mut count,
            );
            let count = count as usize;
            if count == 0 {
                return Self { type_, values: &[], nulls: &[] };
            }
            Self {
                type_,
                values: std::slice::from_raw_parts(values, count),
                nulls: std::slice::from_raw_parts(nulls, count),
            }
        }
    }
}

/// The order in which ORDER BY sorts values of a type.
pub struct Order {
    compare: *mut pg_sys::FmgrInfo,
    collation: pg_sys::Oid,
}

impl Order {
    /// The order of values of this type, with the collation of the call.
    pub fn of(type_: pg_sys::Oid, call: Call) -> Result<Self, SqlError> {
        // SAFETY: the call is in progress. The type cache keeps an entry as long as the session lives.
        unsafe {
            let entry = pg_sys::lookup_type_cache(type_, pg_sys::TYPECACHE_CMP_PROC_FINFO as i32);
            if (*entry).cmp_proc_finfo.fn_oid == pg_sys::InvalidOid {
                return Err(no_order(&type_name(type_)));
            }
            Ok(Self { compare: &raw mut (*entry).cmp_proc_finfo, collation: (*call.info()).fncollation })
        }
    }

    /// # Safety
    /// The values must be of the type of the order.
    pub unsafe fn compare(&self, a: pg_sys::Datum, b: pg_sys::Datum) -> Ordering {
        // SAFETY: the function compares two values of the type, and returns an integer.
        let result = unsafe { pg_sys::FunctionCall2Coll(self.compare, self.collation, a, b) };
        (result.value() as i32).cmp(&0)
    }
}

fn no_order(type_name: &str) -> SqlError {
    let message = format!("could not identify an ordering operator for type {}", quote(type_name));
    report(Code::ERRCODE_UNDEFINED_FUNCTION, message)
        .set_detail("The two keys of a pair are sorted.")
        .set_hint("Cast the keys to a type that can be sorted, such as text.")
}
