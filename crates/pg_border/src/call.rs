//! Functions that PostgreSQL calls, as plain Rust functions: how arguments are read and results returned.

use super::array::new_array;
use super::encoding::{to_database, to_utf8};
use super::report::{SqlError, UnwrapOrReport};
use super::varlena::new_value;
use pgrx::datum::UnboxDatum;
use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{Array, FromDatum};
use std::borrow::Cow;
use std::ffi::CStr;

/// Exports functions to PostgreSQL, each with the record that PostgreSQL needs to call it. The symbols begin
/// with `simhash_pg_`, since the libraries of a server share their symbols. Each argument is an
/// [`Argument`], and each result [`Returned`]. Errors and panics become errors of the query.
#[macro_export]
macro_rules! pg_functions {
    ($($name:ident),* $(,)?) => {$(
        const _: () = {
            #[unsafe(export_name = concat!("pg_finfo_simhash_pg_", stringify!($name)))]
            extern "C" fn record() -> &'static pgrx::pg_sys::Pg_finfo_record {
                &pgrx::pg_sys::Pg_finfo_record { api_version: 1 }
            }

            #[pgrx::pg_guard]
            #[unsafe(export_name = concat!("simhash_pg_", stringify!($name)))]
            extern "C-unwind" fn entry(call: pgrx::pg_sys::FunctionCallInfo) -> pgrx::pg_sys::Datum {
                // SAFETY: PostgreSQL passes a call, which lives until we return. The SQL of the extension
                // declares the function with arguments of these types.
                unsafe { $crate::call::Function::call($name, $crate::call::Call::new(call)) }
            }
        };
    )*};
}
pub use pg_functions;

/// A Rust function that PostgreSQL can call.
pub trait Function<Arguments> {
    /// # Safety
    /// The SQL function must be declared with arguments of these types. If it is not STRICT, arguments that
    /// may be NULL must be [`Option`]s.
    unsafe fn call(self, call: Call) -> Datum;
}

/// A type of arguments of functions, or the [`Call`] itself.
pub trait Argument {
    /// # Safety
    /// The argument at this place must be of this type, not NULL, and live as long as the lifetime says. The
    /// function must return rows if the type is [`ResultSet`](super::result_set::ResultSet).
    unsafe fn read(call: Call, place: usize) -> Self;
}

/// A type of results of functions.
pub trait Returned {
    /// The result as a datum, or NULL, for this call.
    fn datum(self, call: Call) -> Datum;
}

macro_rules! functions {
    ($($type:ident $place:literal),*) => {
        impl<F: Fn($($type),*) -> R, R: Returned, $($type: Argument),*> Function<($($type,)*)> for F {
            unsafe fn call(self, call: Call) -> Datum {
                // SAFETY: the function is declared with these arguments, as the caller promises.
                self($(unsafe { $type::read(call, $place) }),*).datum(call)
            }
        }
    };
}
functions!(A 0);
functions!(A 0, B 1);
functions!(A 0, B 1, C 2);
functions!(A 0, B 1, C 2, D 3);
functions!(A 0, B 1, C 2, D 3, E 4);
functions!(A 0, B 1, C 2, D 3, E 4, G 5, H 6);
functions!(A 0, B 1, C 2, D 3, E 4, G 5, H 6, I 7);

/// A text, converted from the encoding of the database.
pub type Utf8<'a> = Cow<'a, str>;

/// Defines how a value of a type is read from a datum and written to one.
macro_rules! sql_value {
    ($type:ty $(, read: |$datum:ident| $read:expr)? $(, write: |$value:ident| $write:expr)?) => {
        $(impl $crate::call::Argument for $type {
            unsafe fn read(call: $crate::call::Call, place: usize) -> Self {
                let $datum = call.datum(place);
                // SAFETY: the argument is a value of this type, as the caller promises.
                #[allow(unused_unsafe, reason = "numbers are read without")]
                unsafe { $read }
            }
        })?
        $(impl $crate::call::Returned for $type {
            fn datum(self, _: $crate::call::Call) -> pgrx::pg_sys::Datum {
                let $value = self;
                $write
            }
        })?
    };
}
pub(crate) use sql_value;

sql_value!(Datum, read: |datum| datum, write: |datum| datum);
sql_value!((), write: |_none| Datum::null());
sql_value!(bool, read: |datum| datum.value() as u8 != 0, write: |value| value.into());
sql_value!(Oid, read: |datum| Oid::from(datum.value() as u32));
sql_value!(i32, read: |datum| datum.value() as i32, write: |value| value.into());
sql_value!(i64, read: |datum| datum.value() as i64, write: |value| value.into());
sql_value!(f64, read: |datum| f64::from_bits(datum.value() as u64), write: |value| value.to_bits().into());
sql_value!(&[u8], read: |text| FromDatum::from_datum(text, false).unwrap_or_default());
sql_value!(&CStr, read: |text| CStr::from_ptr(text.cast_mut_ptr()));
sql_value!(Vec<i32>, write: |numbers| new_array(&numbers));
sql_value!(Vec<i64>, write: |numbers| new_array(&numbers));
sql_value!(Vec<u8>, write: |content| new_value(&[&content]));
sql_value!(
    Utf8<'_>,
    read: |text| to_utf8(FromDatum::from_datum(text, false).unwrap_or_default()).unwrap_or_report()
);
sql_value!(String, write: |text| new_value(&[&to_database(text).unwrap_or_report()]));

impl<'a, T: UnboxDatum> Argument for Array<'a, T> {
    unsafe fn read(call: Call, place: usize) -> Self {
        // SAFETY: the argument is such an array and not NULL, as the caller promises.
        unsafe { Self::from_datum(call.datum(place), false).unwrap_unchecked() }
    }
}

impl Argument for Call {
    unsafe fn read(call: Call, _: usize) -> Self {
        call
    }
}

impl<T: Argument> Argument for Option<T> {
    unsafe fn read(call: Call, place: usize) -> Self {
        // SAFETY: the argument is of type `T` if it is not NULL, as the caller promises.
        (!call.is_null(place)).then(|| unsafe { T::read(call, place) })
    }
}

impl<T: Returned> Returned for Option<T> {
    fn datum(self, call: Call) -> Datum {
        self.map_or_else(|| call.null(), |value| value.datum(call))
    }
}

impl<T: Returned> Returned for Result<T, SqlError> {
    fn datum(self, call: Call) -> Datum {
        self.unwrap_or_report().datum(call)
    }
}

/// A call of a function, with its arguments. No argument is NULL if the function is declared STRICT.
#[derive(Clone, Copy)]
pub struct Call(pg_sys::FunctionCallInfo);

impl Call {
    /// # Safety
    /// The pointer must be the one that PostgreSQL has passed for the call in progress.
    pub unsafe fn new(call: pg_sys::FunctionCallInfo) -> Self {
        Self(call)
    }

    /// The pointer that PostgreSQL passed.
    pub fn info(self) -> pg_sys::FunctionCallInfo {
        self.0
    }

    /// An argument, counted from 0. The function must be declared with enough arguments.
    pub fn datum(self, index: usize) -> pg_sys::Datum {
        // SAFETY: PostgreSQL sets all arguments that the function is declared with.
        unsafe { (*self.0).args.as_slice(index + 1)[index].value }
    }

    /// Whether an argument is NULL.
    pub fn is_null(self, index: usize) -> bool {
        // SAFETY: as for `datum`.
        unsafe { (*self.0).args.as_slice(index + 1)[index].isnull }
    }

    /// Returns NULL from the call.
    pub fn null(self) -> pg_sys::Datum {
        // SAFETY: the call is in progress.
        unsafe { (*self.0).isnull = true };
        pg_sys::Datum::null()
    }

    /// An argument of type integer.
    pub fn integer(self, index: usize) -> i32 {
        self.datum(index).value() as i32
    }

    /// An argument of type smallint.
    pub fn smallint(self, index: usize) -> i16 {
        self.datum(index).value() as i16
    }

    /// The type of an argument.
    pub fn argument_type(self, index: usize) -> Oid {
        // SAFETY: the call describes its arguments; the type of one that does not exist is invalid.
        unsafe { pg_sys::get_fn_expr_argtype((*self.0).flinfo, index as i32) }
    }

    /// The name of the schema of the function.
    pub fn schema<'a>(self) -> &'a CStr {
        // SAFETY: a function that is called belongs to a schema. Its name is in the current memory context.
        unsafe {
            let schema = pg_sys::get_func_namespace((*(*self.0).flinfo).fn_oid);
            CStr::from_ptr(pg_sys::get_namespace_name(schema))
        }
    }

    /// An argument that is passed by reference, or is of type internal.
    pub fn pointer<T>(self, index: usize) -> *mut T {
        self.datum(index).cast_mut_ptr()
    }
}

/// The elements in the current memory context.
pub fn allocate_all<'a, T>(elements: impl ExactSizeIterator<Item = T>) -> &'a mut [T] {
    let count = elements.len();
    // SAFETY: palloc returns memory of this size, aligned for any type, or raises an error. Each element is
    // written.
    unsafe {
        let place: *mut T = pg_sys::palloc(count.max(1) * size_of::<T>()).cast();
        elements.take(count).enumerate().for_each(|(index, element)| place.add(index).write(element));
        std::slice::from_raw_parts_mut(place, count)
    }
}

/// A copy of the value in the current memory context, as a datum.
pub fn allocate<T: Copy>(value: T) -> pg_sys::Datum {
    // SAFETY: palloc returns memory of this size, aligned for any type, or raises an error.
    unsafe {
        let place: *mut T = pg_sys::palloc(size_of::<T>()).cast();
        place.write(value);
        pg_sys::Datum::from(place)
    }
}
