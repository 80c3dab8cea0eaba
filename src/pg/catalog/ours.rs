//! Checks whether a function or a type really belongs to this extension.
//!
//! Everybody who may declare an operator, an operator class or a support function can name our functions in
//! it, with types that the functions do not expect.

use crate::pg::code::CodeType;
use pgrx::pg_sys::{self, Oid, SysCacheIdentifier};
use std::ffi::CStr;

/// The OID of the language C, which is fixed in PostgreSQL's catalog.
const C_LANGUAGE: u32 = 13;

/// Whether a type is the type of balls of these codes.
pub(crate) fn is_ball(type_: Oid, codes: CodeType) -> bool {
    is_read_by(type_, codes.kind().ball_input)
}

/// Whether a function is in C and has this symbol, without the prefix of all symbols.
pub(crate) fn is_ours(function: Oid, symbol: &CStr) -> bool {
    let symbol = Some(symbol.to_bytes());
    is_in_c(function, |source| source.to_bytes().strip_prefix(b"simhash_pg_") == symbol)
}

/// Whether a function is in C, which only superusers can declare, and has an accepted symbol.
pub(super) fn is_in_c(function: Oid, accepts: impl FnOnce(&CStr) -> bool) -> bool {
    // SAFETY: the row of pg_proc is released after it was read, and the attribute is a text.
    unsafe {
        let cache = SysCacheIdentifier::PROCOID as i32;
        let row = pg_sys::SearchSysCache1(cache, function.into());
        if row.is_null() {
            return false;
        }
        let form = pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_proc>();
        let mut is_null = false;
        let column = pg_sys::Anum_pg_proc_prosrc as i16;
        let source = pg_sys::SysCacheGetAttr(cache, row, column, &raw mut is_null);
        let source = pg_sys::text_to_cstring(source.cast_mut_ptr());
        let is_in_c = (*form).prolang.to_u32() == C_LANGUAGE && accepts(CStr::from_ptr(source));
        pg_sys::pfree(source.cast());
        pg_sys::ReleaseSysCache(row);
        is_in_c
    }
}

/// Whether a type's input function has this symbol.
pub(crate) fn is_read_by(type_: Oid, symbol: &CStr) -> bool {
    // SAFETY: the row of pg_type is released after it was read.
    let input = unsafe {
        let row = pg_sys::SearchSysCache1(SysCacheIdentifier::TYPEOID as i32, type_.into());
        if row.is_null() {
            return false;
        }
        let input = (*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_type>()).typinput;
        pg_sys::ReleaseSysCache(row);
        input
    };
    is_ours(input, symbol)
}
