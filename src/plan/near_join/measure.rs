//! What a near join compares: the distance of codes, or the values that sketches share.

use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::code::CodeType;
use crate::pg::expr::Expr;
use base::{OutOfMemory, push};
use pgrx::pg_sys::{self, Datum};
use text::sketch::join::SketchMatch;
use text::sketch::threshold::{Measure, Threshold};

/// By what two rows are near.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NearMeasure {
    /// A distance between codes.
    Distance(CodeType),
    /// Sketches have a common value.
    AnyShared,
    /// The share of common values. The inner sketch is the stored one, and the outer sketch the query.
    Share(Measure),
}

impl NearMeasure {
    const ALL: [Self; 6] = [
        Self::Distance(CodeType::Bigint),
        Self::Distance(CodeType::Bits),
        Self::AnyShared,
        Self::Share(Measure::Similarity),
        Self::Share(Measure::OfQuery),
        Self::Share(Measure::OfSketch),
    ];

    /// The number by which a plan stores the measure.
    pub(super) fn number(self) -> i32 {
        Self::ALL.iter().position(|&measure| measure == self).unwrap_or_default() as i32
    }

    pub(super) fn of(number: usize) -> Self {
        Self::ALL[number]
    }

    pub(super) fn is_distance(self) -> bool {
        matches!(self, Self::Distance(_))
    }
}

/// A call of a function that a near join can serve.
pub(super) struct NearCall<'p> {
    /// The measure if the first argument is of the outer side, and if it is of the inner side.
    pub(super) measures: [NearMeasure; 2],
    /// The two values.
    pub(super) sides: [Expr<'p>; 2],
    /// The radius or the least share, if the function has one.
    pub(super) limit: Option<Expr<'p>>,
}

impl<'p> NearCall<'p> {
    pub(super) fn of(expr: Expr<'p>, ours: &ExtensionOids) -> Option<Self> {
        let call = expr.as_function()?;
        let measures = measures(call.id, ours)?;
        let (a, b, limit) = (call.args.get(0)?, call.args.get(1)?, call.args.get(2));
        Some(Self { measures, sides: [a, b], limit })
    }
}

fn measures(called: pg_sys::Oid, ours: &ExtensionOids) -> Option<[NearMeasure; 2]> {
    if let Some(oids) = ours.codes().find(|oids| oids.within == called) {
        return Some([NearMeasure::Distance(oids.codes); 2]);
    }
    // As for an index, the inner sketch is the stored one.
    let [of_first, of_second] = ours.sketches.measures(called)?;
    Some([of_second, of_first].map(|measure| measure.map_or(NearMeasure::AnyShared, NearMeasure::Share)))
}

/// The limits that near rows satisfy, evaluated.
#[derive(Default)]
pub(super) struct NearLimits {
    /// The radius of each condition on a distance.
    pub(super) radii: Vec<u32>,
    /// The limit of a condition on sketches.
    pub(super) wanted: Option<SketchMatch>,
}

impl NearLimits {
    /// The evaluated limits of all conditions. A limit that is NULL, or a negative radius, matches no rows. A
    /// condition that needs no limit has none.
    pub(super) fn of(
        limits: impl Iterator<Item = (NearMeasure, Option<Datum>)>,
    ) -> Result<Self, OutOfMemory> {
        let mut of_all = Self::default();
        for (measure, limit) in limits {
            let radius = limit.and_then(|radius| u32::try_from(radius.value() as i32).ok());
            match (measure, limit, radius) {
                (NearMeasure::Distance(_), _, Some(radius)) => push(&mut of_all.radii, radius)?,
                (NearMeasure::AnyShared, ..) => of_all.wanted = Some(SketchMatch::AnyShared),
                (NearMeasure::Share(measure), Some(least), _) => {
                    let least = f64::from_bits(least.value() as u64);
                    of_all.wanted = Some(SketchMatch::Share(Threshold { measure, least }));
                }
                _ => return Ok(Self::default()),
            }
        }
        Ok(of_all)
    }

    /// Whether any rows can be near.
    pub(super) fn can_match(&self) -> bool {
        !self.radii.is_empty() || self.wanted.is_some()
    }
}
