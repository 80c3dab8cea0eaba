//! Functions in Postgres's own calling convention, for arguments and results that are no plain values.

use pgrx::{FromDatum, pg_sys};

/// Defines a function that Postgres calls, together with the record by which it knows how:
/// `pg_function!(pg_finfo_NAME, fn NAME(call) { … })`. The body sees a [`Call`] and returns a datum. Errors
/// and panics in it become errors of the query.
macro_rules! pg_function {
    ($finfo:ident, $(#[$doc:meta])* fn $name:ident($call:ident) $body:block) => {
        #[unsafe(no_mangle)]
        #[doc(hidden)]
        extern "C" fn $finfo() -> &'static pgrx::pg_sys::Pg_finfo_record {
            const RECORD: pgrx::pg_sys::Pg_finfo_record = pgrx::pg_sys::Pg_finfo_record { api_version: 1 };
            &RECORD
        }

        $(#[$doc])*
        #[pgrx::pg_guard]
        #[unsafe(no_mangle)]
        extern "C-unwind" fn $name(call: pgrx::pg_sys::FunctionCallInfo) -> pgrx::pg_sys::Datum {
            // SAFETY: Postgres passes the information on this call, which lives until we return.
            let $call = unsafe { $crate::pg::call::Call::new(call) };
            $body
        }
    };
}
pub(crate) use pg_function;

/// A call of a function, with its arguments. Functions declared STRICT have no NULL among them.
#[derive(Clone, Copy)]
pub(crate) struct Call(pg_sys::FunctionCallInfo);

impl Call {
    /// # Safety
    /// The information must be that of the call in progress.
    pub(crate) unsafe fn new(call: pg_sys::FunctionCallInfo) -> Self {
        Self(call)
    }

    /// The information as Postgres passed it.
    pub(crate) fn info(self) -> pg_sys::FunctionCallInfo {
        self.0
    }

    /// An argument, counted from 0; the function must be declared with that many.
    pub(crate) fn datum(self, index: usize) -> pg_sys::Datum {
        // SAFETY: the call has the arguments of its declaration, each of which has been filled in.
        unsafe { (*self.0).args.as_slice(index + 1)[index].value }
    }

    /// Whether an argument is NULL.
    pub(crate) fn is_null(self, index: usize) -> bool {
        // SAFETY: as for `datum`.
        unsafe { (*self.0).args.as_slice(index + 1)[index].isnull }
    }

    /// The result NULL.
    pub(crate) fn null(self) -> pg_sys::Datum {
        // SAFETY: the information on the call in progress.
        unsafe { (*self.0).isnull = true };
        pg_sys::Datum::null()
    }

    /// An argument of type bigint.
    pub(crate) fn bigint(self, index: usize) -> i64 {
        self.datum(index).value() as i64
    }

    /// An argument of type double precision.
    pub(crate) fn double(self, index: usize) -> f64 {
        f64::from_bits(self.datum(index).value() as u64)
    }

    /// An argument of type integer.
    pub(crate) fn integer(self, index: usize) -> i32 {
        self.datum(index).value() as i32
    }

    /// An argument of type smallint.
    pub(crate) fn smallint(self, index: usize) -> i16 {
        self.datum(index).value() as i16
    }

    /// An argument that is passed by reference, or of type internal.
    pub(crate) fn pointer<T>(self, index: usize) -> *mut T {
        self.datum(index).cast_mut_ptr()
    }

    /// An argument of type text, in the encoding of the database.
    ///
    /// # Safety
    /// The function must be declared with an argument there of type text, which is not NULL.
    pub(crate) unsafe fn text<'a>(self, index: usize) -> &'a [u8] {
        // SAFETY: the function is declared with an argument there of type text, which is not NULL, as the
        // caller promises; the value, or its copy that is not compressed, lives as long as the
        // call.
        unsafe { <&[u8]>::from_datum(self.datum(index), false) }.unwrap_or_default()
    }

    /// A copy of an argument of a type of ours that is passed by reference.
    ///
    /// # Safety
    /// The function must be declared with an argument there whose type is `T` in memory.
    pub(crate) unsafe fn value<T: Copy>(self, index: usize) -> T {
        // SAFETY: the function is declared with an argument there whose type is `T` in memory, as the
        // caller promises; values of fixed length are never toasted.
        unsafe { self.pointer::<T>(index).read() }
    }
}

/// A value in the memory of the current call, as a datum.
pub(crate) fn allocate<T: Copy>(value: T) -> pg_sys::Datum {
    // SAFETY: palloc returns memory of that size, aligned for any type, or raises an error.
    unsafe {
        let place: *mut T = pg_sys::palloc(size_of::<T>()).cast();
        place.write(value);
        pg_sys::Datum::from(place)
    }
}
