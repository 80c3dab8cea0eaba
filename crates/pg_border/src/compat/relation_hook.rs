//! The hook that the planner calls for each relation. Since 19 it is another one, which is called for each
//! table and for everything else in FROM.

use pgrx::pg_sys;
use pgrx::pg_sys::ffi::pg_guard_ffi_boundary as guarded;
use pgrx::pg_sys::panic::pgrx_extern_c_guard as guard;

#[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
pub(crate) use pg_sys::{build_simple_rel_hook as relation_hook, build_simple_rel_hook_type as NextHook};
/// The hook, and its type.
#[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))]
pub(crate) use pg_sys::{get_relation_info_hook as relation_hook, get_relation_info_hook_type as NextHook};

/// What our hook does.
pub(crate) trait CalledHook {
    /// Calls the hook of another library by `call`, and does our part.
    ///
    /// # Safety
    /// The arguments must be those that the planner passes: the query and one of its relations, of which it
    /// uses neither until we return.
    unsafe fn called(
        root: *mut pg_sys::PlannerInfo,
        relation: *mut pg_sys::RelOptInfo,
        call: impl Fn(NextHook),
    );
}

/// Our hook. It is never inlined, so that it has one address.
#[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))]
#[inline(never)]
pub(crate) unsafe extern "C-unwind" fn relation_hook_function<T: CalledHook>(
    root: *mut pg_sys::PlannerInfo,
    table: pg_sys::Oid,
    is_parent: bool,
    relation: *mut pg_sys::RelOptInfo,
) {
    // SAFETY: the hook of another library gets the arguments that PostgreSQL passed to ours.
    let call = |next: NextHook| unsafe {
        if let Some(next) = next {
            guarded(|| next(root, table, is_parent, relation));
        }
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(|| T::called(root, relation, call)) }
}

/// Our hook. It is never inlined, so that it has one address.
#[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
#[inline(never)]
pub(crate) unsafe extern "C-unwind" fn relation_hook_function<T: CalledHook>(
    root: *mut pg_sys::PlannerInfo,
    relation: *mut pg_sys::RelOptInfo,
    entry: *mut pg_sys::RangeTblEntry,
) {
    // SAFETY: the hook of another library gets the arguments that PostgreSQL passed to ours.
    let call = |next: NextHook| unsafe {
        if let Some(next) = next {
            guarded(|| next(root, relation, entry));
        }
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(|| T::called(root, relation, call)) }
}
