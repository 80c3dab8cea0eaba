//! Which sketches can be among the best, by what an index knows of them.
//!
//! While it is searched, an index says of a sketch how many values it has in common with the query, and the
//! class of its size. That bounds its share from both sides. [`BestSearch`] keeps the largest of the lower
//! bounds, as many as sketches are wanted. A sketch whose upper bound is less than each of these need not be
//! fetched.

use super::overlap::Overlap;
use super::sizes::SizeClass;
use super::threshold::Measure;

/// A search for the sketches of the largest shares.
pub struct BestSearch<'a> {
    measure: Measure,
    values: usize,
    below: f64,
    best: &'a mut [f64],
}

impl<'a> BestSearch<'a> {
    /// A search for sketches of a share less than `below` of what they have in common with a query of
    /// `values` distinct values. As many are wanted as there are places in `best`, which are all 0.
    pub fn new(measure: Measure, values: usize, below: f64, best: &'a mut [f64]) -> Self {
        Self { measure, values, below, best }
    }

    /// Whether a sketch can be among the best, of one of these classes of sizes. It has from `shared` to
    /// `most` values in common with the query.
    pub fn admits(&mut self, sizes: [SizeClass; 2], shared: usize, most: usize) -> bool {
        let [smallest, largest] = sizes;
        let lower = self.share(largest.most().max(shared), shared);
        let upper = self.share(smallest.least().max(most), most);
        if upper < self.below {
            self.meet(lower);
        }
        lower < self.below && upper >= self.bound()
    }

    /// All sketches of at least this share are admitted, whatever comes. It is 0 until as many as are wanted
    /// have been met, and grows from then on.
    #[must_use]
    pub fn bound(&self) -> f64 {
        self.best.first().copied().unwrap_or_default()
    }

    fn share(&self, size: usize, shared: usize) -> f64 {
        self.measure.share(Overlap { a: size, b: self.values, shared }).unwrap_or_default()
    }

    /// Takes a lower bound into account in place of the least one.
    fn meet(&mut self, bound: f64) {
        let place = self.best.partition_point(|&other| other < bound);
        if let Some(last) = place.checked_sub(1) {
            self.best.copy_within(1..place, 0);
            self.best[last] = bound;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_are_admitted(
            sketches in prop::collection::vec((1..300usize, 0..300usize, 0..3usize), 0..100),
            values in 1..300usize,
            wanted in 1..20usize,
            below in prop_oneof![Just(f64::INFINITY), 0.0..1.0],
        ) {
            for measure in [Measure::Similarity, Measure::OfQuery, Measure::OfSketch] {
                let mut best = vec![0.0; wanted];
                let mut search = BestSearch::new(measure, values, below, &mut best);
                let mut fetched = Vec::new();
                let mut all = Vec::new();
                for &(size, shared, unknown) in &sketches {
                    let shared = shared.min(size).min(values);
                    let share = measure.share(Overlap { a: size, b: values, shared }).unwrap();
                    let is_admitted = search.admits([SizeClass::of(size); 2], shared.saturating_sub(unknown), shared);
                    all.push(share);
                    fetched.extend(is_admitted.then_some(share));
                }
                let bound = search.bound();
                let wanted_of = |shares: &[f64]| -> Vec<f64> {
                    let mut shares: Vec<f64> =
                        shares.iter().copied().filter(|&share| share >= bound && share < below).collect();
                    shares.sort_by(f64::total_cmp);
                    shares
                };
                prop_assert_eq!(wanted_of(&fetched), wanted_of(&all));
                prop_assert!(bound == 0.0 || wanted_of(&all).len() >= wanted);
            }
        }
    }
}
