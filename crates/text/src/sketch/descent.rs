//! Sketches in the order of falling shares: the passes in which an index finds them.
//!
//! An index finds the sketches that reach a share, and the fewer the larger it is. So it is searched for
//! large shares first, and for smaller ones only if more sketches are wanted. Each pass finds again what
//! those before it have found, and leaves that out by its share alone. Sketches without a common value, and
//! those that have no share, are in no list of an index. They need passes over all sketches.

use super::threshold::{Measure, Threshold};

/// The least shares of the searches. Each search looks up every value of the query, so few are made; but the
/// lower a search begins, the more it finds that nobody wants.
const SHARES: [f64; 5] = [f64::INFINITY, 0.5, 0.15, 0.04, f64::MIN_POSITIVE];

/// What is wanted: all sketches by falling share of the values that they have in common with a query.
#[derive(Clone, Copy, Debug)]
pub struct Descent {
    /// Which share.
    pub measure: Measure,
    /// How many distinct values the query has; `None` if there is no query.
    pub values: Option<usize>,
    /// Whether sketches without a share come first. There may be no NULL in place of a sketch then, unless
    /// the query is NULL or empty.
    pub nulls_first: bool,
}

/// A pass over sketches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pass {
    /// A search for sketches without values.
    Empty,
    /// A search for shares of at least `least`. Those of at least `below` have been found.
    Search {
        /// The least share.
        least: f64,
        /// The least share of the search before.
        below: f64,
    },
    /// All sketches are read, and those without a common value are taken.
    NoneShared,
    /// All sketches are read, and those that have no share are taken.
    NoShare,
}

/// What to do with a sketch that a pass has met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It comes next.
    Take,
    /// It belongs to another pass.
    Skip,
    /// So do all further ones, if the sketches of the pass are sorted by falling share.
    End,
}

impl Descent {
    /// The passes, one after the other.
    pub fn passes(self) -> impl Iterator<Item = Pass> {
        let Self { measure, values, nulls_first } = self;
        let is_searched = values.is_some_and(|values| values > 0);
        let have_shares = is_searched || values.is_some() && measure != Measure::OfQuery;
        let first = match measure {
            _ if !is_searched => Some(Pass::NoShare),
            Measure::OfSketch => Some(Pass::Empty),
            Measure::Similarity | Measure::OfQuery => None,
        };
        let searches = SHARES.iter().zip(&SHARES[1..]).filter(move |_| is_searched);
        let searches = searches.map(|(&below, &least)| Pass::Search { least, below });
        let first = first.filter(|_| nulls_first).into_iter();
        let last = have_shares.then_some(Pass::NoneShared).into_iter();
        first.chain(searches).chain(last).chain((!nulls_first).then_some(Pass::NoShare))
    }
}

impl Pass {
    /// The share that an index is searched for, if it is.
    pub fn threshold(self, measure: Measure) -> Option<Threshold> {
        match self {
            // Any common value is enough, whatever the size of the sketch.
            Self::Search { least, .. } if least == f64::MIN_POSITIVE => {
                Some(Threshold { measure: Measure::OfQuery, least })
            }
            Self::Search { least, .. } => Some(Threshold { measure, least }),
            Self::Empty | Self::NoneShared | Self::NoShare => None,
        }
    }

    /// Whether the pass reads all sketches.
    pub fn reads_all(self) -> bool {
        matches!(self, Self::NoneShared | Self::NoShare)
    }

    /// Whether a sketch of this share comes next.
    pub fn verdict(self, share: Option<f64>) -> Verdict {
        let is_taken = match (self, share) {
            (Self::Search { least, .. }, Some(share)) if share < least => return Verdict::End,
            (Self::Search { below, .. }, Some(share)) => share < below,
            (Self::NoneShared, Some(share)) => share <= 0.0,
            (Self::Empty | Self::NoShare, share) => share.is_none(),
            (Self::Search { .. } | Self::NoneShared, None) => false,
        };
        if is_taken { Verdict::Take } else { Verdict::Skip }
    }
}

#[cfg(test)]
mod tests {
    use super::super::overlap::Overlap;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The share as SQL has it, of a sketch that may be NULL.
    fn share(measure: Measure, sketch: Option<&[i64]>, query: Option<&[i64]>) -> Option<f64> {
        let overlap = Overlap::of(sketch?, query?).unwrap();
        match measure {
            Measure::Similarity => overlap.similarity(),
            Measure::OfQuery => overlap.exchanged().containment(),
            Measure::OfSketch => overlap.containment(),
        }
    }

    /// What a pass meets: the shares of all sketches, or of those that an index finds, in falling order.
    fn met(pass: Pass, measure: Measure, shares: &[Option<f64>]) -> Vec<Option<f64>> {
        let mut met = shares.to_vec();
        if let Pass::Search { least, .. } = pass {
            assert!(pass.threshold(measure).is_some_and(|threshold| threshold.least == least));
            // Some that do not reach it.
            met.retain(|share| share.is_some_and(|share| share >= least * 0.7));
        }
        if !pass.reads_all() {
            met.sort_by(|a, b| b.partial_cmp(a).unwrap());
        }
        met
    }

    fn any_sketch() -> impl Strategy<Value = Vec<i64>> {
        prop::collection::btree_set(0i64..30, 0..20).prop_map(|set: BTreeSet<i64>| set.into_iter().collect())
    }

    proptest! {
        #[test]
        fn sketches_come_once_and_in_order(
            sketches in prop::collection::vec(any_sketch(), 0..30),
            nulls in 0..3usize,
            query in prop::option::weighted(0.9, any_sketch()),
            nulls_first in any::<bool>(),
        ) {
            for measure in [Measure::Similarity, Measure::OfQuery, Measure::OfSketch] {
                let has_nulls = !nulls_first || query.as_ref().is_none_or(Vec::is_empty);
                let nulls = if has_nulls { nulls } else { 0 };
                let of = |sketch: Option<&[i64]>| share(measure, sketch, query.as_deref());
                let mut shares: Vec<_> = sketches.iter().map(|sketch| of(Some(sketch))).collect();
                shares.extend((0..nulls).map(|_| of(None)));
                let descent = Descent { measure, values: query.as_ref().map(Vec::len), nulls_first };
                let mut found = Vec::new();
                for pass in descent.passes() {
                    for share in met(pass, measure, &shares) {
                        match pass.verdict(share) {
                            Verdict::Take => found.push(share),
                            Verdict::Skip => {}
                            Verdict::End => break,
                        }
                    }
                }
                let mut sorted = shares.clone();
                sorted.sort_by(|a, b| match nulls_first {
                    true => b.is_none().cmp(&a.is_none()).then(b.partial_cmp(a).unwrap()),
                    false => b.partial_cmp(a).unwrap(),
                });
                prop_assert_eq!(found, sorted, "{:?}", measure);
            }
        }
    }
}
