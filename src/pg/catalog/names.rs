//! The numbers (OIDs) of the extension's functions, operators and types.

use super::strategy::WITHIN_BALL;
use pgrx::pg_sys::{self, Oid};
use std::cell::Cell;
use std::ffi::CStr;

/// The objects of the extension that the planner meets or makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    pub(crate) hamming: Oid,
    pub(crate) distance: Oid,
    pub(crate) distance_operator: Oid,
    pub(crate) within: Oid,
    pub(crate) ball_type: Oid,
    pub(crate) ball: Oid,
    pub(crate) similarity: Oid,
    /// Of distances, by the type of the limit: bigint, double precision, numeric.
    pub(crate) radius_le: [Oid; 3],
    pub(crate) radius_lt: [Oid; 3],
    /// Of similarities.
    pub(crate) radius_ge: Oid,
    pub(crate) radius_gt: Oid,
}

thread_local! {
    static KNOWN: Cell<Option<Names>> = const { Cell::new(None) };
}

impl Names {
    /// The names, if this session has planned anything with our functions.
    pub(crate) fn known() -> Option<Self> {
        KNOWN.get()
    }

    /// The names of the extension to which a function with planner support belongs. They are looked up again
    /// when the extension has been dropped and created.
    pub(crate) fn of(function: Oid) -> Option<Self> {
        let is_one_of = |names: &Self| names.supported().contains(&function);
        if let Some(names) = KNOWN.get().filter(is_one_of) {
            return Some(names);
        }
        // Somebody else's function may name our planner support: the known names stay.
        let names = Self::look_up(function).filter(is_one_of)?;
        KNOWN.set(Some(names));
        Some(names)
    }

    /// The functions that give the radius for an inclusive and for an exclusive limit, of a similarity or of
    /// a distance. The limit is of one of the types above.
    pub(crate) fn radius_functions(&self, is_similarity: bool, limit: Oid) -> [Oid; 2] {
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

    /// The operator `bigint <@ hamming_ball` of an operator family, if the family has one.
    pub(crate) fn ball_operator(&self, family: Oid) -> Option<Oid> {
        // SAFETY: looks the operator up in the catalog.
        let operator =
            unsafe { pg_sys::get_opfamily_member(family, pg_sys::INT8OID, self.ball_type, WITHIN_BALL) };
        (operator != pg_sys::InvalidOid).then_some(operator)
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
    // SAFETY: pointer and length are those of `args`.
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
    // SAFETY: the keys have the types that this cache is searched by, and its rows have their OID in the
    // column.
    let oid = unsafe { pg_sys::GetSysCacheOid(cache as i32, oid_column as i16, a, b, c, d) };
    (oid != pg_sys::InvalidOid).then_some(oid)
}
