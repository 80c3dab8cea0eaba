//! An option of EXPLAIN, which an extension may have since 18.

use super::ShowNode;
use pgrx::{pg_guard, pg_sys};
use std::ffi::{CStr, c_char, c_int};
use std::ptr::null_mut;

/// The hook of the library that was loaded before ours.
static mut NEXT: pg_sys::explain_per_node_hook_type = None;
/// Where an EXPLAIN keeps whether it has our option, and what shows a node then.
static mut OPTION: Option<(c_int, ShowNode)> = None;

/// Makes an option known, with which EXPLAIN calls `show` for each node. Called once, when the library is
/// loaded.
pub(crate) fn add_explain_option(name: &'static CStr, show: ShowNode) {
    // SAFETY: a backend has one thread; nobody else looks at these while a library is loaded; the names last
    // as long as the process.
    unsafe {
        OPTION = Some((pg_sys::GetExplainExtensionId(c"simhash_pg".as_ptr()), show));
        register(name);
        NEXT = pg_sys::explain_per_node_hook;
        pg_sys::explain_per_node_hook = Some(on_node);
    }
}

/// Registers the option. Since 19, PostgreSQL is also told how to check it in a setting.
///
/// # Safety
/// A library must be about to be loaded.
unsafe fn register(name: &'static CStr) {
    // SAFETY: the name lasts as long as the process.
    #[cfg(feature = "pg18")]
    unsafe {
        pg_sys::RegisterExtensionExplainOption(name.as_ptr(), Some(on_option));
    }
    // SAFETY: the name lasts as long as the process.
    #[cfg(not(feature = "pg18"))]
    unsafe {
        pg_sys::RegisterExtensionExplainOption(name.as_ptr(), Some(on_option), Some(check_setting));
    }
}

/// Whether a setting may give the option this value.
#[pg_guard]
#[cfg(not(feature = "pg18"))]
unsafe extern "C-unwind" fn check_setting(
    name: *const c_char,
    value: *const c_char,
    type_: pg_sys::NodeTag,
) -> bool {
    // SAFETY: PostgreSQL passes what its own function takes.
    unsafe { pg_sys::GUCCheckBooleanExplainOption(name, value, type_) }
}

/// Notes the option: `HAMMING`, or `HAMMING false`.
#[pg_guard]
unsafe extern "C-unwind" fn on_option(
    explain: *mut pg_sys::ExplainState,
    option: *mut pg_sys::DefElem,
    _parse: *mut pg_sys::ParseState,
) {
    // SAFETY: EXPLAIN passes itself and the option, which is there as long as it is.
    unsafe {
        let Some((id, _)) = OPTION else { return };
        // Any address says yes.
        let note = if pg_sys::defGetBoolean(option) { option.cast() } else { null_mut() };
        pg_sys::SetExplainExtensionState(explain, id, note);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn on_node(
    node: *mut pg_sys::PlanState,
    ancestors: *mut pg_sys::List,
    relationship: *const c_char,
    plan_name: *const c_char,
    explain: *mut pg_sys::ExplainState,
) {
    // SAFETY: EXPLAIN passes a node that it is at, and itself.
    unsafe {
        if let Some(next) = NEXT {
            pg_sys::ffi::pg_guard_ffi_boundary(|| next(node, ancestors, relationship, plan_name, explain));
        }
        let Some((id, show)) = OPTION else { return };
        if !pg_sys::GetExplainExtensionState(explain, id).is_null() {
            show(node, explain);
        }
    }
}
