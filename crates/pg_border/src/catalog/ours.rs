//! Checks whether a function or a type really belongs to this extension.
//!
//! Everybody who may declare an operator, an operator class or a support function can name our functions in
//! it, with types that the functions do not expect.

use pgrx::pg_sys::{self, Datum, Oid, SysCacheIdentifier};
use std::cell::{Cell, RefCell};
use std::ffi::CStr;

/// The OID of the language C, which is fixed in PostgreSQL's catalog.
const C_LANGUAGE: u32 = 13;

/// An answer of [`is_ours`].
struct Answer {
    function: Oid,
    symbol: &'static CStr,
    is_ours: bool,
}

/// So many answers are kept. A query asks about few functions, but the planner may ask about each of them for
/// every pair of conditions.
const MAX_ANSWERS: usize = 32;

thread_local! {
    /// The answers since a row of pg_proc was last changed.
    static ANSWERS: RefCell<Vec<Answer>> = const { RefCell::new(Vec::new()) };
    /// Whether PostgreSQL tells us of changes of pg_proc.
    static IS_TOLD: Cell<bool> = const { Cell::new(false) };
}

/// Whether a function is in C and has this symbol, without the prefix of all symbols.
pub fn is_ours(function: Oid, symbol: &'static CStr) -> bool {
    if !IS_TOLD.replace(true) {
        // SAFETY: the callback lives as long as the library, which PostgreSQL never unloads.
        unsafe {
            let pg_proc = SysCacheIdentifier::PROCOID as i32;
            pg_sys::CacheRegisterSyscacheCallback(pg_proc, Some(forget_answers), Datum::null());
        }
    }
    let is_same = |answer: &&Answer| answer.function == function && answer.symbol == symbol;
    if let Some(answer) = ANSWERS.with_borrow(|answers| answers.iter().find(is_same).map(|it| it.is_ours)) {
        return answer;
    }
    let expected = Some(symbol.to_bytes());
    let is_ours = is_in_c(function, |source| source.to_bytes().strip_prefix(b"simhash_pg_") == expected);
    ANSWERS.with_borrow_mut(|answers| {
        if answers.len() >= MAX_ANSWERS {
            answers.clear();
        }
        answers.push(Answer { function, symbol, is_ours });
    });
    is_ours
}

/// PostgreSQL calls this when rows of pg_proc have changed, or may have.
#[pgrx::pg_guard]
unsafe extern "C-unwind" fn forget_answers(_argument: Datum, _cache: i32, _hash: u32) {
    ANSWERS.with_borrow_mut(Vec::clear);
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
pub fn is_read_by(type_: Oid, symbol: &'static CStr) -> bool {
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
