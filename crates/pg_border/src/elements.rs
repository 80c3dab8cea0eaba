//! Arrays of any type, and the sort order of their elements.

use super::call::{Argument, Call};
use super::encoding::type_name;
use super::report::{SqlError, quote, report};
use pgrx::pg_sys;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use std::cmp::Ordering;

/// The elements of an array, in order; its dimensions are ignored.
pub struct ArrayElements<'a> {
    type_: pg_sys::Oid,
    /// The elements, whose datum has no meaning where they are NULL.
    values: &'a [pg_sys::Datum],
    /// For each element, whether it is NULL.
    nulls: &'a [bool],
}

impl Argument for ArrayElements<'_> {
    unsafe fn read(call: Call, place: usize) -> Self {
        let mut length = 0;
        let mut by_value = false;
        let mut alignment = 0;
        let mut values = std::ptr::null_mut();
        let mut nulls = std::ptr::null_mut();
        let mut count = 0;
        // SAFETY: the argument is an array, as the caller promises, and names the type of its elements. The
        // results live as long as the call.
        unsafe {
            let array: *mut pg_sys::ArrayType = pg_sys::pg_detoast_datum(call.pointer(place)).cast();
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

impl ArrayElements<'_> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether an element is NULL.
    pub fn have_null(&self) -> bool {
        self.nulls.contains(&true)
    }
}

/// The elements of two arrays of one type without NULLs, numbered from 0: first those of one array, then
/// those of the other. They have the order in which ORDER BY sorts values of the type.
pub struct OrderedElements<'a> {
    arrays: [&'a [pg_sys::Datum]; 2],
    compare: *mut pg_sys::FmgrInfo,
    collation: pg_sys::Oid,
}

impl<'a> OrderedElements<'a> {
    /// The elements, to be compared with the collation of the call.
    pub fn of(arrays: [&ArrayElements<'a>; 2], call: Call) -> Result<Self, SqlError> {
        let [one, other] = arrays;
        assert!(!one.have_null() && !other.have_null(), "NULL has no place in the order");
        if one.type_ != other.type_ {
            return Err(not_alike());
        }
        // SAFETY: the call is in progress. The type cache keeps an entry as long as the session lives.
        unsafe {
            let entry = pg_sys::lookup_type_cache(one.type_, pg_sys::TYPECACHE_CMP_PROC_FINFO as i32);
            if (*entry).cmp_proc_finfo.fn_oid == pg_sys::InvalidOid {
                return Err(no_order(&type_name(one.type_)));
            }
            let arrays = [one.values, other.values];
            let collation = (*call.info()).fncollation;
            Ok(Self { arrays, compare: &raw mut (*entry).cmp_proc_finfo, collation })
        }
    }

    /// An element, by its number.
    pub fn get(&self, number: usize) -> pg_sys::Datum {
        let [one, other] = self.arrays;
        if number < one.len() { one[number] } else { other[number - one.len()] }
    }

    /// Compares two elements, by their numbers.
    pub fn compare(&self, a: usize, b: usize) -> Ordering {
        // SAFETY: the function compares two values of the type of the arrays, and returns an integer.
        let result =
            unsafe { pg_sys::FunctionCall2Coll(self.compare, self.collation, self.get(a), self.get(b)) };
        (result.value() as i32).cmp(&0)
    }
}

/// PostgreSQL's own message. The parser raises it first, unless another function calls ours.
fn not_alike() -> SqlError {
    report(Code::ERRCODE_DATATYPE_MISMATCH, "arguments declared \"anyarray\" are not all alike")
}

fn no_order(type_name: &str) -> SqlError {
    let message = format!("could not identify an ordering operator for type {}", quote(type_name));
    report(Code::ERRCODE_UNDEFINED_FUNCTION, message)
        .set_detail("The two keys of a pair are sorted.")
        .set_hint("Cast the keys to a type that can be sorted, such as text.")
}
