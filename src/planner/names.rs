//! Which objects of the catalog are ours.

use pgrx::pg_sys::{self, Oid};
use std::cell::Cell;
use std::ffi::CStr;

/// The objects of the extension that the planner meets or makes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names {
    pub(super) hamming: Oid,
    pub(super) distance: Oid,
    pub(super) distance_operator: Oid,
    pub(super) within: Oid,
    pub(super) ball_type: Oid,
    pub(super) ball: Oid,
    pub(super) similarity: Oid,
    /// Of distances, by the type of the limit: bigint, double precision, numeric.
    pub(super) radius_le: [Oid; 3],
    pub(super) radius_lt: [Oid; 3],
    /// Of similarities.
    pub(super) radius_ge: Oid,
    pub(super) radius_gt: Oid,
}

thread_local! {
    static KNOWN: Cell<Option<Names>> = const { Cell::new(None) };
}

impl Names {
    /// The names, if this session has planned anything with our functions.
    pub(super) fn known() -> Option<Self> {
        KNOWN.get()
    }

    /// The names of the extension that one of its functions with planner support belongs to. They are
    /// looked up again when the extension has been made anew.
    pub(super) fn of(function: Oid) -> Option<Self> {
        let is_one_of = |names: &Self| names.supported().contains(&function);
        if let Some(names) = KNOWN.get().filter(is_one_of) {
            return Some(names);
        }
        // Somebody else's function may have our planner support, and does not change what is known.
        let names = Self::look_up(function).filter(is_one_of)?;
        KNOWN.set(Some(names));
        Some(names)
    }

    /// What gives the radius for an inclusive and for an exclusive limit of a similarity or of a distance. The limit is of
    /// one of the types above.
    pub(super) fn radius_functions(&self, is_similarity: bool, limit: Oid) -> [Oid; 2] {
        let index = match limit {
            pg_sys::FLOAT8OID => 1,
            pg_sys::NUMERICOID => 2,
            _ => 0,
        };
        match is_similarity {
            true => [self.radius_ge, self.radius_gt],
            false => [self.radius_le[index], self.radius_lt[index]],
        }
    }

    /// The functions with planner support.
    fn supported(&self) -> [Oid; 4] {
        [self.hamming, self.distance, self.within, self.similarity]
    }

    fn look_up(function: Oid) -> Option<Self> {
        let (bigint, integer, double) = (pg_sys::INT8OID, pg_sys::INT4OID, pg_sys::FLOAT8OID);
        // SAFETY: looks the function up in the catalog.
        let namespace = unsafe { pg_sys::get_func_namespace(function) };
        let function = |name, args: &[Oid]| find_function(namespace, name, args);
        let by_type = |name| {
            let numeric = function(name, &[pg_sys::NUMERICOID])?;
            Some([function(name, &[bigint])?, function(name, &[double])?, numeric])
        };
        Some(Self {
            hamming: function(c"hamming", &[bigint, bigint])?,
            distance: function(c"hamming_distance", &[bigint, bigint])?,
            distance_operator: find_operator(namespace, c"<~>", bigint, bigint)?,
            within: function(c"hamming_within", &[bigint, bigint, integer])?,
            ball_type: find_type(namespace, c"hamming_ball")?,
            ball: function(c"hamming_ball", &[bigint, integer])?,
            similarity: function(c"hamming_similarity", &[bigint, bigint])?,
            radius_le: by_type(c"hamming_radius_le")?,
            radius_lt: by_type(c"hamming_radius_lt")?,
            radius_ge: function(c"hamming_radius_ge", &[double])?,
            radius_gt: function(c"hamming_radius_gt", &[double])?,
        })
    }
}

fn find_function(namespace: Oid, name: &CStr, args: &[Oid]) -> Option<Oid> {
    // SAFETY: the vector is copied from as many elements as said.
    let args = unsafe { pg_sys::buildoidvector(args.as_ptr(), args.len() as i32) };
    let keys = [name.as_ptr().into(), args.into(), namespace.into(), pg_sys::Datum::null()];
    find(pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP, pg_sys::Anum_pg_proc_oid, keys)
}

fn find_operator(namespace: Oid, name: &CStr, left: Oid, right: Oid) -> Option<Oid> {
    let keys = [name.as_ptr().into(), left.into(), right.into(), namespace.into()];
    find(pg_sys::SysCacheIdentifier::OPERNAMENSP, pg_sys::Anum_pg_operator_oid, keys)
}

fn find_type(namespace: Oid, name: &CStr) -> Option<Oid> {
    let keys = [name.as_ptr().into(), namespace.into(), pg_sys::Datum::null(), pg_sys::Datum::null()];
    find(pg_sys::SysCacheIdentifier::TYPENAMENSP, pg_sys::Anum_pg_type_oid, keys)
}

fn find(cache: pg_sys::SysCacheIdentifier::Type, oid_column: u32, keys: [pg_sys::Datum; 4]) -> Option<Oid> {
    let [a, b, c, d] = keys;
    // SAFETY: the keys are of the types that this cache is searched by; its rows have their oid in the column.
    let oid = unsafe { pg_sys::GetSysCacheOid(cache as i32, oid_column as i16, a, b, c, d) };
    (oid != pg_sys::InvalidOid).then_some(oid)
}
