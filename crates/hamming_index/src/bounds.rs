//! Bounding boxes in Hamming space, for search trees.
//!
//! The box of a set of fingerprints has the bits that are set in all of them and the bits that are set in any
//! of them. It gives a lower bound of the distance from a query: the number of bits that are set in all but
//! not in the query, or in the query but in none. For a single fingerprint, the bound is the distance. A box
//! only prunes by its fixed bits, so a tree of scattered values prunes little beyond a radius of 4.
//!
//! Experiments with building, with a million fingerprints, half of them scattered and half clustered.
//! Numbers: speed at radius 3 as a multiple of a sequential scan, seconds to build, bytes per row. Sorted as
//! integers: 12, 1.0, 39; sorted by Gray code, as is done: 23, 1.0, 39; only inserts and splits: 33, 4.0, 44.
//!
//! Experiments with splits, with 200,000 fingerprints inserted one by one. The numbers are pages read at
//! radius 3, of about 1,030, for scattered and clustered fingerprints. Split at the bit that halves best: 182
//! and 182; in the middle of the order: 341 and 422. Two changes made no difference: to prefer the tighter of
//! two boxes that need not grow, and other limits than [`LEAST_PERCENT`] (5, 40).

/// The bounding box of a set of fingerprints.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundingBox {
    /// The bits that are set in all fingerprints.
    pub all: u64,
    /// The bits that are set in at least one fingerprint.
    pub any: u64,
}

impl BoundingBox {
    /// The box of one fingerprint.
    pub fn of(fingerprint: u64) -> Self {
        Self { all: fingerprint, any: fingerprint }
    }

    /// The smallest box that contains both boxes.
    pub fn union(self, other: Self) -> Self {
        Self { all: self.all & other.all, any: self.any | other.any }
    }

    /// A lower bound of the distance between the query and a fingerprint in the box.
    pub fn min_distance(self, query: u64) -> u32 {
        (self.all & !query).count_ones() + (query & !self.any).count_ones()
    }

    /// The bits in which the fingerprints differ.
    fn free_bits(self) -> u64 {
        self.any & !self.all
    }

    /// How much worse the box prunes if `new` is added: the number of bits that are no longer fixed.
    pub fn penalty(self, new: Self) -> f32 {
        (self.union(new).free_bits().count_ones() - self.free_bits().count_ones()) as f32
    }

    /// A total order for building a tree bottom-up. Neighbours in this order share their highest bits.
    ///
    /// It is the order of the Gray code, in which two successive prefixes differ in one bit. If a page begins
    /// with one prefix and ends with the next one, its box loses one fixed bit. In the order of integers,
    /// such as from 0111 to 1000, it could lose all of them.
    pub fn build_order(self, other: Self) -> std::cmp::Ordering {
        let key = |bounds: Self| (gray_rank(bounds.all), gray_rank(bounds.any));
        key(self).cmp(&key(other))
    }
}

/// The rank of a value in the order of the Gray code.
fn gray_rank(value: u64) -> u64 {
    (0..6).fold(value, |rank, step| rank ^ rank >> (1 << step))
}

/// The least percentage of the entries on each side of a split by bit. Otherwise the split is by order.
const LEAST_PERCENT: usize = 20;

/// Splits at least two boxes into two groups of similar size; `true` is the second group.
///
/// Splits at the bit that halves them best, which becomes a fixed bit of both groups. If no bit does it well
/// (boxes of inner pages have few fixed bits, those of templates skewed ones), the split is by build order.
pub fn split(boxes: &[BoundingBox]) -> Vec<bool> {
    let smaller_side = |bit: u32| {
        let ones = boxes.iter().filter(|b| b.all >> bit & 1 == 1).count();
        let zeros = boxes.iter().filter(|b| b.any >> bit & 1 == 0).count();
        ones.min(zeros)
    };
    let (bit, smaller) =
        (0..u64::BITS).map(|bit| (bit, smaller_side(bit))).max_by_key(|&(_, n)| n).unwrap_or((0, 0));
    if smaller * 100 >= boxes.len() * LEAST_PERCENT {
        return split_by_bit(boxes, bit);
    }
    split_by_order(boxes)
}

/// A box that has the bit fixed goes to that bit's side. Any other box goes to the side whose own box loses
/// fewer fixed bits.
fn split_by_bit(boxes: &[BoundingBox], bit: u32) -> Vec<bool> {
    let is_one = |b: &BoundingBox| b.all >> bit & 1 == 1;
    let is_zero = |b: &BoundingBox| b.any >> bit & 1 == 0;
    let around = |side: &dyn Fn(&BoundingBox) -> bool| {
        boxes
            .iter()
            .copied()
            .filter(|b| side(b))
            .reduce(BoundingBox::union)
            .unwrap_or(BoundingBox { all: 0, any: 0 })
    };
    let zeros = around(&is_zero);
    let ones = around(&is_one);
    let second = |b: &BoundingBox| is_one(b) || !is_zero(b) && ones.penalty(*b) < zeros.penalty(*b);
    boxes.iter().map(second).collect()
}

/// Splits the boxes in the middle of the build order.
fn split_by_order(boxes: &[BoundingBox]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..boxes.len()).collect();
    order.sort_by(|&a, &b| boxes[a].build_order(boxes[b]));
    let mut second = vec![false; boxes.len()]; // Bounded: the boxes of a page.
    for &index in &order[boxes.len() / 2..] {
        second[index] = true;
    }
    second
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn around(fingerprints: &[u64]) -> BoundingBox {
        fingerprints.iter().map(|&f| BoundingBox::of(f)).reduce(BoundingBox::union).unwrap()
    }

    fn fingerprints() -> impl Strategy<Value = Vec<u64>> {
        let value = prop_oneof![any::<u64>(), 0u64..16, (0u32..64).prop_map(|bit| 1 << bit)];
        prop::collection::vec(value, if cfg!(miri) { 2..10 } else { 2..200 })
    }

    #[test]
    fn neighbours_in_the_order_differ_in_one_bit() {
        let mut values: Vec<u64> = (0..1 << 10).collect();
        values.sort_by(|&a, &b| BoundingBox::of(a).build_order(BoundingBox::of(b)));
        assert!(values.windows(2).all(|pair| (pair[0] ^ pair[1]).count_ones() == 1));
    }

    proptest! {
        #[test]
        fn no_member_is_nearer_than_the_bound(members in fingerprints(), query: u64) {
            let bounds = around(&members);
            for &member in &members {
                prop_assert!(bounds.min_distance(query) <= (member ^ query).count_ones());
                prop_assert_eq!(BoundingBox::of(member).min_distance(query), (member ^ query).count_ones());
                prop_assert_eq!(bounds.min_distance(member), 0);
            }
        }

        #[test]
        fn a_member_costs_no_more_than_an_outsider(members in fingerprints(), outsider: u64) {
            let bounds = around(&members);
            prop_assert!(bounds.penalty(BoundingBox::of(members[0])) <= bounds.penalty(BoundingBox::of(outsider)));
        }
    }

    proptest! {
        // Each case splits up to forty groups of fingerprints.
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn both_sides_of_a_split_get_their_share(
            groups in prop::collection::vec(fingerprints(), 2..40),
            leaf: bool,
        ) {
            let boxes: Vec<BoundingBox> = match leaf {
                true => groups.iter().flatten().map(|&f| BoundingBox::of(f)).collect(),
                false => groups.iter().map(|group| around(group)).collect(),
            };
            let second = split(&boxes).into_iter().filter(|&second| second).count();
            let smaller = second.min(boxes.len() - second);
            let is_enough = smaller >= 1 && smaller * 100 + 99 >= boxes.len() * LEAST_PERCENT;
            prop_assert!(is_enough, "{smaller} of {}", boxes.len());
        }
    }
}
