//! Estimates the work of searches for the planner.

use super::{SearchCosts, sequential_leaves};
use crate::cost::ExpectedWork;
use crate::key::Filter;
use crate::layout::Layout;
use crate::sample::{CodeSample, MOST_PLANNED};

/// Estimates the work of searches for the planner, in a time that does not grow with the length of codes.
///
/// Dividing a radius takes a step for each of its bits, and each step looks at all words. So a code of many
/// words is represented by [`MOST_PLANNED`] of them, with a part of the radius. All words are equally wide,
/// so each of these represents equally many.
pub struct PlannerCosts {
    costs: SearchCosts,
    /// The number of bits of a code divided by the bits of the words that represent it.
    scale: f64,
}

impl PlannerCosts {
    /// Estimates for an index whose trees have about this number of leaves each.
    pub fn new(layout: Layout, leaves: f64) -> Self {
        let words = layout.words().min(MOST_PLANNED);
        let bits = (layout.bits() as usize * words / layout.words()) as u32;
        let narrow = if words < layout.words() { Layout::of_codes(bits) } else { layout };
        let narrow = narrow.with_trees(layout.code_trees());
        let scale = f64::from(layout.bits()) / f64::from(narrow.bits());
        let sequential = leaves * sequential_leaves(layout, layout.tree_of_all());
        Self { costs: SearchCosts { sequential, ..SearchCosts::with_words(narrow, leaves, scale) }, scale }
    }

    /// Estimates for searches of rows with one filter, which fill this number of leaves in the tree of
    /// further columns.
    #[must_use]
    pub fn of_filter(self, leaves: f64) -> Self {
        Self { costs: self.costs.of_filter(Filter::NONE, leaves), ..self }
    }

    /// The work of a search with this radius, for codes that are scattered except for what the sample shows.
    pub fn expected(&self, radius: u32, sample: &CodeSample) -> ExpectedWork {
        self.costs.expected(self.narrow(radius), sample)
    }

    /// The work of finding the `wanted` nearest rows; see [`SearchCosts::nearest`].
    pub fn nearest(
        &self,
        wanted: f64,
        farthest: u32,
        max_sorted: usize,
        sample: &CodeSample,
    ) -> ExpectedWork {
        self.costs.nearest(wanted, self.narrow(farthest), max_sorted, sample)
    }

    /// The part of a radius for the words that represent the code.
    fn narrow(&self, radius: u32) -> u32 {
        (f64::from(radius) / self.scale).round() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words that represent a wide code cost about as much as the code.
    #[test]
    fn wide_codes_are_estimated_by_some_of_their_words() {
        for bits in [64, 256, 1024, 2048, 8000] {
            let (layout, sample) = (Layout::of_codes(bits), CodeSample::default());
            for (leaves, part) in [20.0, 2000.0, 50_000.0]
                .into_iter()
                .flat_map(|leaves| [200, 50, 20, 8].map(|part| (leaves, part)))
            {
                let radius = bits / part;
                let exact = SearchCosts::new(layout, leaves).expected(radius, &sample);
                let estimates = PlannerCosts::new(layout, leaves);
                assert!(estimates.costs.layout.words() <= MOST_PLANNED);
                let estimate = estimates.expected(radius, &sample);
                let ratio = estimate.cost() / exact.cost();
                assert!(
                    (0.5..2.0).contains(&ratio),
                    "{bits} bits, {leaves} leaves, radius {radius}: {ratio}"
                );
            }
        }
    }

    /// Otherwise codes at about the distance of the radius would be read twice.
    #[test]
    fn the_nearest_within_a_radius_cost_little_more_than_all_within_it() {
        for (bits, radius, leaves) in
            [(128, 12, 2_000.0), (256, 31, 2_000.0), (256, 31, 20_000.0), (576, 60, 2_000.0)]
        {
            let costs = SearchCosts::new(Layout::of_codes(bits), leaves);
            let sample = CodeSample::default();
            let [nearest, all] = [costs.nearest(1.0, radius, 1000, &sample), costs.expected(radius, &sample)];
            assert!(nearest.cost() < 1.25 * all.cost(), "{bits} bits: {nearest:?}, {all:?}");
        }
    }

    #[test]
    fn the_nearest_cost_more_the_more_are_wanted() {
        let (costs, sample) = (SearchCosts::new(Layout::FINGERPRINTS, 1818.0), CodeSample::default());
        let leaves = |wanted, farthest| costs.nearest(wanted, farthest, 32_768, &sample).leaves;
        let wanted = [1.0, 10.0, 100.0, 1000.0, 1e4, 1e5, 1e6, f64::INFINITY];
        assert!(wanted.map(|wanted| leaves(wanted, 64)).is_sorted());
        // The ten nearest were measured to take 1455 pages, including pages above the leaves.
        let ten = leaves(10.0, 64);
        assert!((1455.0 / 1.6..1455.0 * 1.6).contains(&ten), "{ten}");
        // All rows are collected in 29 pieces, the first of which are small.
        assert!((29.0..33.0).contains(&(leaves(f64::INFINITY, 64) / 1818.0)));
        assert_eq!(SearchCosts::new(Layout::FINGERPRINTS, 1.0).nearest(1.0, 64, 0, &sample).leaves, 1.0);
    }
}
