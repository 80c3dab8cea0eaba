//! What the planner asks of an index, and how it weighs paths.

use pgrx::pg_sys;

/// Makes the planner ask a function what a scan of the index costs. Since 16, the field says what arguments
/// it has, and the planner also knows indexes of partitioned tables, which have no pages and no function.
pub(crate) fn set_cost_function(index: &mut pg_sys::IndexOptInfo, estimate: pg_sys::amcostestimate_function) {
    if index.amcostestimate.is_some() {
        // SAFETY: a pointer to a function in both types, called with these arguments in all versions.
        index.amcostestimate = unsafe { std::mem::transmute_copy(&estimate) };
    }
}

/// Counts the disabled nodes below a path. Up to 17, they have a high cost instead.
pub(crate) fn add_disabled_nodes(_path: &mut pg_sys::Path, _children: [&pg_sys::Path; 2]) {
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
    {
        _path.disabled_nodes = _children.iter().map(|child| child.disabled_nodes).sum();
    }
}

/// Makes the planner take any other path. Since 18 it looks at the disabled nodes of a path before its costs.
pub(crate) fn disable(_path: &mut pg_sys::Path) {
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
    {
        // More than a query has nodes that a setting switches off.
        _path.disabled_nodes += 1_000_000;
    }
}

/// A nested loop of these two paths, of which the second may ask for rows of the first.
///
/// # Safety
/// The arguments must be those of the hook for joins, and paths of its two sides.
pub(crate) unsafe fn nested_loop(
    root: *mut pg_sys::PlannerInfo,
    join: *mut pg_sys::RelOptInfo,
    kind: pg_sys::JoinType::Type,
    extra: &mut pg_sys::JoinPathExtraData,
    [outer, inner]: [*mut pg_sys::Path; 2],
) -> *mut pg_sys::Path {
    let mut costs = pg_sys::JoinCostWorkspace::default();
    // SAFETY: as promised; the second call takes what the first one has estimated.
    unsafe {
        #[cfg(not(feature = "pg19"))]
        pg_sys::initial_cost_nestloop(root, &raw mut costs, kind, outer, inner, extra);
        #[cfg(feature = "pg19")]
        {
            let mask = u64::from(pg_sys::PGS_NESTLOOP_PLAIN | pg_sys::PGS_CONSIDER_NONPARTIAL);
            pg_sys::initial_cost_nestloop(root, &raw mut costs, kind, mask, outer, inner, extra);
        }
        let (none, conditions) = (std::ptr::null_mut(), extra.restrictlist);
        pg_sys::create_nestloop_path(
            root,
            join,
            kind,
            &raw mut costs,
            extra,
            outer,
            inner,
            conditions,
            none,
            std::ptr::null_mut(),
        )
        .cast()
    }
}
