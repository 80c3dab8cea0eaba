//! Sort keys as the planner keeps them.

use pgrx::pg_sys;

/// Whether a sort key sorts from the largest to the smallest. Since 18, it has the comparison, and not the
/// number of a B-tree's strategy.
pub(crate) fn is_falling(key: &pg_sys::PathKey) -> bool {
    #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
    return key.pk_strategy as u32 == pg_sys::BTGreaterStrategyNumber;
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
    return key.pk_cmptype == pg_sys::CompareType::COMPARE_GT;
}

/// The expressions that equal a sort key, and among them those of this relation if it is a part of another.
/// Since 18, those of parts are in lists of their own.
///
/// # Safety
/// Both must be of the query that is being planned.
pub(crate) unsafe fn members_of(
    class: &pg_sys::EquivalenceClass,
    _relation: &pg_sys::RelOptInfo,
) -> [*mut pg_sys::List; 2] {
    let of_part = std::ptr::null_mut();
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
    // SAFETY: the array has a list for each relation up to its size.
    let of_part = unsafe {
        let has_lists = !class.ec_childmembers.is_null();
        match has_lists && (_relation.relid as i32) < class.ec_childmembers_size {
            true => *class.ec_childmembers.add(_relation.relid as usize),
            false => of_part,
        }
    };
    [class.ec_members, of_part]
}
