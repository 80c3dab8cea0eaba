//! The cost function of an index, and the cost of paths.

use crate::node::Nodes;
use pgrx::pg_sys;

/// Sets the function that the planner calls for the cost of an index scan. Since 16, the field has the
/// function's type, and the planner also sees indexes of partitioned tables, which have no function.
pub fn set_cost_function(index: &mut pg_sys::IndexOptInfo, estimate: pg_sys::amcostestimate_function) {
    if index.amcostestimate.is_some() {
        // SAFETY: both types are pointers to a function, which all versions call with these arguments.
        index.amcostestimate = unsafe { std::mem::transmute_copy(&estimate) };
    }
}

/// Adds up the disabled nodes below a path. Up to 17, PostgreSQL gives disabled nodes a high cost instead.
pub fn add_disabled_nodes<'a>(_path: &mut pg_sys::Path, _children: impl Iterator<Item = &'a pg_sys::Path>) {
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
    {
        _path.disabled_nodes = _children.map(|child| child.disabled_nodes).sum();
    }
}

/// Makes every other path cheaper. Since 18, PostgreSQL compares the number of disabled nodes before costs.
pub fn disable(_path: &mut pg_sys::Path) {
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
    {
        // More nodes than a query can have disabled by settings.
        _path.disabled_nodes += 1_000_000;
    }
}

/// Gives a path the conditions that it does not serve, of which PostgreSQL tests those without columns above
/// the path. Up to 16 it does not, so no path of ours can replace such a join. Returns whether it can.
pub fn set_conditions(_path: &mut pg_sys::CustomPath, conditions: Nodes) -> bool {
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    return !conditions.all::<pg_sys::RestrictInfo>().any(|clause| clause.pseudoconstant);
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    {
        _path.custom_restrictinfo = conditions.pointer();
        true
    }
}

/// A nested loop of two paths. The second may be parameterized by the first.
///
/// # Safety
/// The arguments must come from the join hook, and the paths must belong to its two relations.
pub unsafe fn nested_loop(
    root: *mut pg_sys::PlannerInfo,
    join: *mut pg_sys::RelOptInfo,
    kind: pg_sys::JoinType::Type,
    extra: &mut pg_sys::JoinPathExtraData,
    [outer, inner]: [*mut pg_sys::Path; 2],
) -> *mut pg_sys::Path {
    let mut costs = pg_sys::JoinCostWorkspace::default();
    // SAFETY: as the caller promises; the second call gets the estimates of the first.
    unsafe {
        #[cfg(not(feature = "pg19"))]
        pg_sys::initial_cost_nestloop(root, &raw mut costs, kind, outer, inner, extra);
        #[cfg(feature = "pg19")]
        {
            let mask = u64::from(pg_sys::PGS_NESTLOOP_PLAIN | pg_sys::PGS_CONSIDER_NONPARTIAL);
            pg_sys::initial_cost_nestloop(root, &raw mut costs, kind, mask, outer, inner, extra);
        }
        let no_order = std::ptr::null_mut();
        let not_parameterized = std::ptr::null_mut();
        pg_sys::create_nestloop_path(
            root,
            join,
            kind,
            &raw mut costs,
            extra,
            outer,
            inner,
            extra.restrictlist,
            no_order,
            not_parameterized,
        )
        .cast()
    }
}
