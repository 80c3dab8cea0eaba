//! The rows of a set-returning function: in memory up to `work_mem`, then in a temporary file.

use super::call::{Argument, Call};
use super::report::{SqlError, UnwrapOrReport, report};
use super::varlena::new_value;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::{IntoDatum, PgMemoryContexts, pg_sys};

/// The rows that the call in progress returns.
pub struct ResultSet {
    store: *mut pg_sys::Tuplestorestate,
    columns: pg_sys::TupleDesc,
}

impl Argument for ResultSet {
    unsafe fn read(call: Call, _: usize) -> Self {
        // SAFETY: the function returns a set of records, as the caller promises.
        unsafe { Self::of(call.info()) }.unwrap_or_report()
    }
}

impl ResultSet {
    /// # Safety
    /// The argument must be the call in progress, of a function declared to return a set of records with OUT
    /// parameters.
    unsafe fn of(call: pg_sys::FunctionCallInfo) -> Result<Self, SqlError> {
        // SAFETY: `resultinfo` is a ReturnSetInfo if the caller accepts a set. The store is made in memory
        // that lives as long as the query.
        unsafe {
            let result = (*call).resultinfo.cast::<pg_sys::ReturnSetInfo>();
            let takes_set = !result.is_null() && pgrx::is_a(result.cast(), pg_sys::NodeTag::T_ReturnSetInfo);
            if !takes_set
                || (*result).allowedModes & pg_sys::SetFunctionReturnMode::SFRM_Materialize as i32 == 0
            {
                return Err(set_not_accepted());
            }
            let result = &mut *result;
            let backwards =
                result.allowedModes & pg_sys::SetFunctionReturnMode::SFRM_Materialize_Random as i32 != 0;
            let mut columns = std::ptr::null_mut();
            let class = pg_sys::get_call_result_type(call, std::ptr::null_mut(), &raw mut columns);
            if class != pg_sys::TypeFuncClass::TYPEFUNC_COMPOSITE {
                return Err(set_not_accepted());
            }
            PgMemoryContexts::For((*result.econtext).ecxt_per_query_memory).switch_to(|_| {
                let columns = pg_sys::CreateTupleDescCopy(columns);
                let store = pg_sys::tuplestore_begin_heap(backwards, false, pg_sys::work_mem);
                result.returnMode = pg_sys::SetFunctionReturnMode::SFRM_Materialize;
                result.setResult = store;
                result.setDesc = columns;
                Ok(Self { store, columns })
            })
        }
    }

    /// Adds a row whose last column is a new value with this content, which is freed again.
    pub fn put_with_value<const N: usize>(&mut self, mut values: [Option<pg_sys::Datum>; N], content: &[u8]) {
        let value = new_value(&[content]);
        values[N - 1] = Some(value);
        self.put(values);
        // SAFETY: the row that was put has a copy, and nobody else has the value.
        unsafe { pg_sys::pfree(value.cast_mut_ptr()) };
    }

    /// Adds a row. `None` is NULL.
    pub fn put<const N: usize>(&mut self, values: [Option<pg_sys::Datum>; N]) {
        let mut nulls = values.map(|value| value.is_none());
        let mut values = values.map(|value| value.unwrap_or(pg_sys::Datum::null()));
        // SAFETY: `of` has made the store; the declared rows have N columns of the types of these values.
        unsafe {
            pg_sys::tuplestore_putvalues(self.store, self.columns, values.as_mut_ptr(), nulls.as_mut_ptr());
        }
    }
}

/// A mean or a share, with four digits after the point.
pub fn rounded(number: f64) -> Option<pg_sys::Datum> {
    ((number * 1e4).round() / 1e4).into_datum()
}

fn set_not_accepted() -> SqlError {
    let message = "set-valued function called in context that cannot accept a set";
    report(Code::ERRCODE_FEATURE_NOT_SUPPORTED, message).set_hint("Call it in the FROM clause.")
}
