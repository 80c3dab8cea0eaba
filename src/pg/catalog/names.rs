//! The numbers (OIDs) of the extension's functions, operators and types.

use super::ours::is_in_c;
use super::sketches::Sketches;
use super::strategy::WITHIN_BALL;
use pgrx::pg_sys::{self, Oid};
use std::cell::Cell;
use std::ffi::CStr;

/// The objects of the extension that the planner meets or makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    pub(crate) bigint: Kind,
    /// None before the extension was updated from version 0.1.0.
    pub(crate) bits: Option<Kind>,
    /// By the type of the limit: bigint, double precision, numeric.
    radius_le: [Oid; 3],
    radius_lt: [Oid; 3],
    /// None before the extension was updated from version 0.1.0.
    pub(crate) sketches: Option<Sketches>,
}

/// The objects for values of one type: for fingerprints, which are bigints, or for strings of bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// `bigint` or `bit`.
    pub(crate) type_: Oid,
    pub(crate) hamming: Oid,
    distance: Oid,
    pub(crate) distance_operator: Oid,
    pub(crate) within: Oid,
    pub(crate) ball_type: Oid,
    pub(crate) ball: Oid,
    pub(crate) similarity: Oid,
    radius_ge: Oid,
    radius_gt: Oid,
}

thread_local! {
    static KNOWN: Cell<Option<Names>> = const { Cell::new(None) };
}

impl Names {
    /// The names, if this session has planned anything with our functions, and the extension was not dropped since.
    pub(crate) fn known() -> Option<Self> {
        KNOWN.get().filter(|names| names.sketches.is_none_or(|sketches| sketches.are_there()))
    }

    /// The names of the extension to which a function with planner support belongs, and the kind of values that the
    /// function takes. They are looked up again when the extension has been dropped and created.
    pub(crate) fn of(function: Oid) -> Option<(Self, Kind)> {
        let with_kind = |names: Self| {
            let kind = names.kinds().find(|kind| kind.supported().contains(&function)).copied();
            kind.map(|kind| (names, kind))
        };
        KNOWN.get().and_then(with_kind).or_else(|| {
            // Somebody else's function may name our planner support: the known names stay.
            let found = Self::look_up(function).and_then(with_kind)?;
            KNOWN.set(Some(found.0));
            Some(found)
        })
    }

    /// The names of the extension to which a function on sketches belongs. They are looked up again when the extension
    /// has been dropped and created.
    pub(crate) fn of_sketches(function: Oid) -> Option<Sketches> {
        let known = Self::known().and_then(|names| names.sketches);
        known.or_else(|| {
            let names = Self::look_up(function).filter(|names| names.sketches.is_some())?;
            KNOWN.set(Some(names));
            names.sketches
        })
    }

    /// All kinds of values that have distances.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = &Kind> {
        std::iter::once(&self.bigint).chain(&self.bits)
    }

    /// The function that gives the radius for a limit of a distance. The limit is of one of the types above.
    pub(crate) fn radius_of_distance(&self, limit: Oid, inclusive: bool) -> Oid {
        let functions = if inclusive { self.radius_le } else { self.radius_lt };
        match limit {
            pg_sys::FLOAT8OID => functions[1],
            pg_sys::NUMERICOID => functions[2],
            _ => functions[0],
        }
    }

    fn look_up(function: Oid) -> Option<Self> {
        // SAFETY: looks the function up in the catalog.
        Self::look_up_in(unsafe { pg_sys::get_func_namespace(function) })
    }

    fn look_up_in(namespace: Oid) -> Option<Self> {
        let double = pg_sys::FLOAT8OID;
        let by_limit = |name| {
            let function = |limit| find_function(namespace, name, &[limit]);
            Some([function(pg_sys::INT8OID)?, function(double)?, function(pg_sys::NUMERICOID)?])
        };
        let (bigint, bit) = (pg_sys::INT8OID, pg_sys::BITOID);
        Some(Self {
            bigint: Kind::look_up(namespace, bigint, [c"hamming_distance", c"<~>"], &[double])?,
            bits: Kind::look_up(namespace, bit, [c"hamming_bit_distance", c"<^>"], &[double, bit]),
            radius_le: by_limit(c"hamming_radius_le")?,
            radius_lt: by_limit(c"hamming_radius_lt")?,
            sketches: Sketches::look_up(namespace),
        })
    }
}

impl Kind {
    /// The function that gives the radius for a limit of a similarity.
    pub(crate) fn radius_of_similarity(&self, inclusive: bool) -> Oid {
        if inclusive { self.radius_ge } else { self.radius_gt }
    }

    /// The operator `bigint <@ hamming_ball`, or `bit <@ hamming_bit_ball`, of an operator family, if the family has one.
    pub(crate) fn ball_operator(&self, family: Oid) -> Option<Oid> {
        // SAFETY: looks the operator up in the catalog.
        let operator =
            unsafe { pg_sys::get_opfamily_member(family, self.type_, self.ball_type, WITHIN_BALL) };
        (operator != pg_sys::InvalidOid).then_some(operator)
    }

    /// The functions with planner support.
    fn supported(&self) -> [Oid; 4] {
        [self.hamming, self.distance, self.within, self.similarity]
    }

    /// The names are those that differ: of the function for the distance, and of its operator.
    /// The types are those that the radius of a similarity depends on.
    fn look_up(namespace: Oid, type_: Oid, names: [&CStr; 2], of_similarity: &[Oid]) -> Option<Self> {
        let [distance, operator] = names;
        let integer = pg_sys::INT4OID;
        let function = |name, args: &[Oid]| find_function(namespace, name, args);
        let ball = function(c"hamming_ball", &[type_, integer])?;
        Some(Self {
            type_,
            hamming: function(c"hamming", &[type_, type_])?,
            distance: function(distance, &[type_, type_])?,
            distance_operator: find_operator(namespace, operator, type_, type_)
                // SAFETY: looks the operator up in the catalog.
                .filter(|&operator| is_in_c(unsafe { pg_sys::get_opcode(operator) }, |_| true))?,
            within: function(c"hamming_within", &[type_, type_, integer])?,
            ball_type: result_of(ball),
            ball,
            similarity: function(c"hamming_similarity", &[type_, type_])?,
            radius_ge: function(c"hamming_radius_ge", of_similarity)?,
            radius_gt: function(c"hamming_radius_gt", of_similarity)?,
        })
    }
}

/// A function of the extension. Before an update has created it, anybody who may create functions in the schema could
/// take its name: what is not in C is not ours.
pub(super) fn find_function(namespace: Oid, name: &CStr, args: &[Oid]) -> Option<Oid> {
    // SAFETY: pointer and length are those of `args`.
    let args = unsafe { pg_sys::buildoidvector(args.as_ptr(), args.len() as i32) };
    let keys = [name.as_ptr().into(), args.into(), namespace.into(), pg_sys::Datum::null()];
    let function = find(pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP, pg_sys::Anum_pg_proc_oid, keys);
    function.filter(|&function| is_in_c(function, |_| true))
}

fn find_operator(namespace: Oid, name: &CStr, left: Oid, right: Oid) -> Option<Oid> {
    let keys = [name.as_ptr().into(), left.into(), right.into(), namespace.into()];
    find(pg_sys::SysCacheIdentifier::OPERNAMENSP, pg_sys::Anum_pg_operator_oid, keys)
}

/// The type of a function's results.
pub(super) fn result_of(function: Oid) -> Oid {
    // SAFETY: looks the function up in the catalog.
    unsafe { pg_sys::get_func_rettype(function) }
}

fn find(cache: pg_sys::SysCacheIdentifier::Type, oid_column: u32, keys: [pg_sys::Datum; 4]) -> Option<Oid> {
    let [a, b, c, d] = keys;
    // SAFETY: the keys have the types that this cache is searched by, and its rows have their OID in the
    // column.
    let oid = unsafe { pg_sys::GetSysCacheOid(cache as i32, oid_column as i16, a, b, c, d) };
    (oid != pg_sys::InvalidOid).then_some(oid)
}
