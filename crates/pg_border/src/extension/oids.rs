//! The OIDs of the extension's functions, operators and types.

use super::sketch_oids::SketchOids;
use super::strategy::WITHIN_BALL;
use crate::catalog::families::operator_in;
use crate::catalog::lookup::{find_function, find_operator, result_of};
use crate::extension::code::CodeType;
use pgrx::pg_sys::{self, Oid};
use std::cell::Cell;

/// The objects of the extension that the planner's support reads or puts into queries.
#[derive(Clone, Copy, Debug)]
pub struct ExtensionOids {
    codes: [Option<CodeOids>; CodeType::ALL.len()],
    /// For each type of limit: bigint, double precision, numeric.
    radius_le: [Oid; 3],
    radius_lt: [Oid; 3],
    /// For a limit of a similarity, and a number of bits.
    radius_ge: Oid,
    radius_gt: Oid,
    /// The objects for sketches.
    pub sketches: SketchOids,
}

/// The objects for one type of codes.
#[derive(Clone, Copy, Debug)]
pub struct CodeOids {
    /// The type of codes.
    pub codes: CodeType,
    /// The function that computes a distance.
    pub hamming: Oid,
    /// The operator for the distance.
    pub distance_operator: Oid,
    /// The function that compares a distance with a radius.
    pub within: Oid,
    /// The type of balls.
    pub ball_type: Oid,
    /// The function that makes a ball.
    pub ball: Oid,
    /// The function that computes a similarity.
    pub similarity: Oid,
}

thread_local! {
    static KNOWN: Cell<Option<ExtensionOids>> = const { Cell::new(None) };
}

impl ExtensionOids {
    /// The objects, if this session has planned a call of our functions, and the extension was not dropped
    /// since.
    pub fn known() -> Option<Self> {
        KNOWN.get().filter(|oids| oids.sketches.are_there())
    }

    /// The objects, if this session has planned a call of our functions. The extension may have been dropped
    /// since. This is the fastest way to see that a query does not use the extension.
    pub fn remembered() -> Option<Self> {
        KNOWN.get()
    }

    /// The objects of the extension that a function with planner support belongs to, and those for the
    /// function's type of codes. If the extension was dropped and created again, they are looked up again.
    pub fn of(function: Oid) -> Option<(Self, CodeOids)> {
        let with_codes = |oids: Self| {
            let codes = oids.codes().find(|codes| codes.supported().contains(&function)).copied();
            codes.map(|codes| (oids, codes))
        };
        KNOWN.get().and_then(with_codes).or_else(|| {
            // Another function may name our planner support. Then the objects that are known stay.
            let found = Self::look_up(function).and_then(with_codes)?;
            KNOWN.set(Some(found.0));
            Some(found)
        })
    }

    /// The objects for sketches of the extension that a function on sketches belongs to. If the extension was
    /// dropped and created again, they are looked up again.
    pub fn of_sketches(function: Oid) -> Option<SketchOids> {
        let oids = Self::known().or_else(|| {
            let oids = Self::look_up(function)?;
            KNOWN.set(Some(oids));
            Some(oids)
        });
        oids.map(|oids| oids.sketches)
    }

    /// The objects for each type of codes.
    pub fn codes(&self) -> impl Iterator<Item = &CodeOids> {
        self.codes.iter().flatten()
    }

    /// The function that computes the radius for a limit of a distance. The limit has one of the three types.
    pub fn radius_of_distance(&self, limit: Oid, inclusive: bool) -> Oid {
        let functions = if inclusive { self.radius_le } else { self.radius_lt };
        match limit {
            pg_sys::FLOAT8OID => functions[1],
            pg_sys::NUMERICOID => functions[2],
            _ => functions[0],
        }
    }

    /// The function that computes the radius for a limit of a similarity and a number of bits.
    pub fn radius_of_similarity(&self, inclusive: bool) -> Oid {
        if inclusive { self.radius_ge } else { self.radius_gt }
    }

    fn look_up(function: Oid) -> Option<Self> {
        // SAFETY: the function looks a function up.
        let namespace = unsafe { pg_sys::get_func_namespace(function) };
        let double = pg_sys::FLOAT8OID;
        let by_limit = |name| {
            let function = |limit| find_function(namespace, name, &[limit]);
            Some([function(pg_sys::INT8OID)?, function(double)?, function(pg_sys::NUMERICOID)?])
        };
        let of_similarity = |name| find_function(namespace, name, &[double, pg_sys::INT4OID]);
        Some(Self {
            codes: CodeType::ALL.map(|codes| CodeOids::look_up(namespace, codes)),
            radius_le: by_limit(c"hamming_radius_le")?,
            radius_lt: by_limit(c"hamming_radius_lt")?,
            radius_ge: of_similarity(c"hamming_radius_ge")?,
            radius_gt: of_similarity(c"hamming_radius_gt")?,
            sketches: SketchOids::look_up(namespace)?,
        })
    }
}

impl CodeOids {
    /// The operator `bigint <@ hamming_ball`, or `bit <@ hamming_bit_ball`, if the operator family has it.
    pub fn ball_operator(&self, family: Oid) -> Option<Oid> {
        operator_in(family, self.codes.oid(), self.ball_type, WITHIN_BALL)
    }

    /// The functions with planner support.
    fn supported(&self) -> [Oid; 3] {
        [self.hamming, self.within, self.similarity]
    }

    fn look_up(namespace: Oid, codes: CodeType) -> Option<Self> {
        let type_ = codes.oid();
        let integer = pg_sys::INT4OID;
        let function = |name, args: &[Oid]| find_function(namespace, name, args);
        let ball = function(c"hamming_ball", &[type_, integer])?;
        Some(Self {
            codes,
            hamming: function(c"hamming", &[type_, type_])?,
            distance_operator: find_operator(namespace, codes.kind().distance_operator, type_, type_)?,
            within: function(c"hamming_within", &[type_, type_, integer])?,
            ball_type: result_of(ball),
            ball,
            similarity: function(c"hamming_similarity", &[type_, type_])?,
        })
    }
}
