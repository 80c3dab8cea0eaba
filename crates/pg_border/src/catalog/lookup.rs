//! Finds objects in a schema by name and argument types.

use super::families::function_of;
use super::ours::is_in_c;
use pgrx::pg_sys::{self, Oid};
use std::ffi::CStr;

/// A function of the extension. If others may create functions in the schema, they can take its name: a
/// function that is not in C is not ours.
pub(crate) fn find_function(namespace: Oid, name: &CStr, args: &[Oid]) -> Option<Oid> {
    // SAFETY: pointer and length belong to `args`.
    let args = unsafe { pg_sys::buildoidvector(args.as_ptr(), args.len() as i32) };
    let keys = [name.as_ptr().into(), args.into(), namespace.into(), pg_sys::Datum::null()];
    let function = find(pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP, pg_sys::Anum_pg_proc_oid, keys);
    function.filter(|&function| is_in_c(function, |_| true))
}

/// An operator of the extension, whose function must be in C.
pub(crate) fn find_operator(namespace: Oid, name: &CStr, left: Oid, right: Oid) -> Option<Oid> {
    let keys = [name.as_ptr().into(), left.into(), right.into(), namespace.into()];
    let operator = find(pg_sys::SysCacheIdentifier::OPERNAMENSP, pg_sys::Anum_pg_operator_oid, keys);
    operator.filter(|&operator| is_in_c(function_of(operator), |_| true))
}

/// The result type of a function.
pub(crate) fn result_of(function: Oid) -> Oid {
    // SAFETY: the function looks a function up.
    unsafe { pg_sys::get_func_rettype(function) }
}

fn find(cache: pg_sys::SysCacheIdentifier::Type, oid_column: u32, keys: [pg_sys::Datum; 4]) -> Option<Oid> {
    let [a, b, c, d] = keys;
    // SAFETY: the keys have the types of this cache's keys, and its rows have their OID in this column.
    let oid = unsafe { pg_sys::GetSysCacheOid(cache as i32, oid_column as i16, a, b, c, d) };
    (oid != pg_sys::InvalidOid).then_some(oid)
}
