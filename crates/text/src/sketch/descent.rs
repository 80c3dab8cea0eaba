//! Sketches in the order of falling shares: the passes in which an index finds them.
//!
//! An index finds the sketches that reach a share, and the fewer the larger it is. So it is searched for
//! large shares first, and for smaller ones only if more sketches are wanted. A search fetches no more than
//! the best that it meets ([`BestSearch`](super::best::BestSearch)). Those that it meets and does not fetch
//! say where the next one begins. Sketches without a common value, and those that have no share, are in no
//! list of an index. They need passes over all sketches.

use super::threshold::{Measure, Threshold};

/// The least share of the first search. It reads the lists of the rarest values alone.
const FIRST: f64 = 0.3;

/// How much smaller the next one is, if too few sketches were met to say it. Each search looks up every value
/// of the query, so few are made.
const STEP: f64 = 0.2;

/// How many more sketches are wanted of each further search.
const GROWTH: usize = 4;

/// Sketches that a search keeps in mind at most.
const MOST_WANTED: usize = 1 << 16;

/// What is wanted: all sketches by falling share of the values that they have in common with a query.
#[derive(Clone, Copy, Debug)]
pub struct DescentOrder {
    /// Which share.
    pub measure: Measure,
    /// How many distinct values the query has; `None` if there is no query.
    pub values: Option<usize>,
    /// Whether sketches without a share come first. There may be no NULL in place of a sketch then, unless
    /// the query is NULL or empty.
    pub nulls_first: bool,
}

/// The passes over sketches, each of which depends on what the one before has met.
#[derive(Clone, Copy, Debug)]
pub struct Descent {
    order: DescentOrder,
    stage: DescentStage,
    least: f64,
    below: f64,
    wanted: usize,
}

/// What comes next.
#[derive(Clone, Copy, Debug)]
enum DescentStage {
    First,
    Search,
    NoneShared,
    NoShare,
    End,
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
        /// How many sketches are wanted.
        wanted: usize,
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
    /// The passes, if so many sketches are wanted at first.
    #[must_use]
    pub fn new(order: DescentOrder, wanted: usize) -> Self {
        let wanted = wanted.clamp(1, MOST_WANTED);
        Self { order, stage: DescentStage::First, least: FIRST, below: f64::INFINITY, wanted }
    }

    /// The next pass, if there is one. After a search, [`Self::searched`] comes first.
    pub fn next_pass(&mut self) -> Option<Pass> {
        let DescentOrder { measure, values, nulls_first } = self.order;
        let is_searched = values.is_some_and(|values| values > 0);
        loop {
            let (pass, stage) = match self.stage {
                DescentStage::First if nulls_first && !is_searched => {
                    (Some(Pass::NoShare), DescentStage::Search)
                }
                DescentStage::First if nulls_first && measure == Measure::OfSketch => {
                    (Some(Pass::Empty), DescentStage::Search)
                }
                DescentStage::First => (None, DescentStage::Search),
                DescentStage::Search if is_searched && self.below > f64::MIN_POSITIVE => {
                    let &mut Self { least, below, wanted, .. } = self;
                    (Some(Pass::Search { least, below, wanted }), DescentStage::Search)
                }
                DescentStage::Search => (None, DescentStage::NoneShared),
                DescentStage::NoneShared => {
                    let have_shares = is_searched || values.is_some() && measure != Measure::OfQuery;
                    (have_shares.then_some(Pass::NoneShared), DescentStage::NoShare)
                }
                DescentStage::NoShare => ((!nulls_first).then_some(Pass::NoShare), DescentStage::End),
                DescentStage::End => return None,
            };
            self.stage = stage;
            if pass.is_some() {
                return pass;
            }
        }
    }

    /// Goes on after a search, with the bound of what it has met.
    pub fn searched(&mut self, bound: f64) {
        self.below = self.least.max(bound);
        self.wanted = (self.wanted * GROWTH).min(MOST_WANTED);
        if bound <= self.least {
            self.least = if bound > 0.0 { bound.min(self.least.next_down()) } else { self.least * STEP };
            // From one common value on, whatever the size of a sketch.
            if self.least * self.order.values.unwrap_or_default() as f64 <= 1.0 {
                self.least = f64::MIN_POSITIVE;
            }
        }
    }
}

impl Pass {
    /// The share that an index is searched for, if it is.
    pub fn threshold(self, measure: Measure) -> Option<Threshold> {
        match self {
            Self::Search { least, .. } => Some(Threshold { measure, least }),
            Self::Empty | Self::NoneShared | Self::NoShare => None,
        }
    }

    /// The pass of which a search has met so much that it has fetched no more than this.
    #[must_use]
    pub fn bounded(self, bound: f64) -> Self {
        match self {
            Self::Search { least, below, wanted } => Self::Search { least: least.max(bound), below, wanted },
            other => other,
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
    use super::super::best::BestSearch;
    use super::super::overlap::Overlap;
    use super::super::sizes::SizeClass;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The overlap of a sketch with the query, neither of which may be NULL.
    fn overlap(sketch: Option<&[i64]>, query: Option<&[i64]>) -> Option<Overlap> {
        Some(Overlap::of(sketch?, query?).unwrap())
    }

    /// What an index finds, in falling order, with the bound of what it has met.
    fn found(order: DescentOrder, pass: Pass, overlaps: &[Option<Overlap>]) -> (Vec<Option<f64>>, f64) {
        let measure = order.measure;
        let all = overlaps.iter().flatten();
        let Pass::Search { least, below, wanted } = pass else {
            return (
                all.filter(|overlap| overlap.a == 0).map(|&overlap| measure.share(overlap)).collect(),
                0.0,
            );
        };
        let mut best = vec![0.0; wanted];
        let mut search = BestSearch::new(measure, order.values.unwrap(), below, &mut best);
        let mut shares = Vec::new();
        for overlap in all.filter(|overlap| overlap.shared > 0) {
            let is_admitted = search.admits([SizeClass::of(overlap.a); 2], overlap.shared, overlap.shared);
            // Some that do not reach the share.
            let share = measure.share(*overlap).filter(|&share| is_admitted && share >= least * 0.7);
            shares.extend(share.map(Some));
        }
        shares.sort_by(|a, b| b.partial_cmp(a).unwrap());
        (shares, search.bound())
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
            wanted in 1..10usize,
        ) {
            for measure in [Measure::Similarity, Measure::OfQuery, Measure::OfSketch] {
                let has_nulls = !nulls_first || query.as_ref().is_none_or(Vec::is_empty);
                let mut overlaps: Vec<_> =
                    sketches.iter().map(|sketch| overlap(Some(sketch), query.as_deref())).collect();
                overlaps.extend((0..if has_nulls { nulls } else { 0 }).map(|_| None));
                let shares: Vec<Option<f64>> =
                    overlaps.iter().map(|overlap| overlap.and_then(|overlap| measure.share(overlap))).collect();
                let order = DescentOrder { measure, values: query.as_ref().map(Vec::len), nulls_first };
                let mut descent = Descent::new(order, wanted);
                let mut taken = Vec::new();
                while let Some(pass) = descent.next_pass() {
                    let (met, bound) =
                        if pass.reads_all() { (shares.clone(), 0.0) } else { found(order, pass, &overlaps) };
                    let pass = pass.bounded(bound);
                    for share in met {
                        match pass.verdict(share) {
                            Verdict::Take => taken.push(share),
                            Verdict::Skip => {}
                            Verdict::End => break,
                        }
                    }
                    if let Pass::Search { .. } = pass {
                        descent.searched(bound);
                    }
                }
                let mut sorted = shares.clone();
                sorted.sort_by(|a, b| match nulls_first {
                    true => b.is_none().cmp(&a.is_none()).then(b.partial_cmp(a).unwrap()),
                    false => b.partial_cmp(a).unwrap(),
                });
                prop_assert_eq!(taken, sorted, "{:?}", measure);
            }
        }
    }
}
