//! Counts, for each of the 64 bit positions, the hashes in which the bit is set.
//!
//! This is the vector V of Charikar's simhash ("Similarity Estimation Techniques from Rounding Algorithms",
//! 2002): a set bit adds 1, a clear bit subtracts 1, and the fingerprint has the bits whose sum is positive.
//! It is enough to count the set bits, since the sum is `2 * ones - n`.
//!
//! The 64 counters are stored in bit planes: plane p has bit p of all counters. A carry-save adder adds two
//! hashes to a plane with five operations for all 64 counters, so a hash costs about six operations. With
//! separate counters, it would cost 64.

/// Room for 2^48 hashes, more than any text has.
const PLANES: usize = 48;

/// The number of hashes that are added with one carry into the higher planes.
const GROUP: usize = 32;

/// The 64 counters for a fingerprint.
#[derive(Clone, Debug)]
pub struct BitCounts {
    planes: [u64; PLANES],
    hashes: u64,
}

impl Default for BitCounts {
    fn default() -> Self {
        Self { planes: [0; PLANES], hashes: 0 }
    }
}

impl BitCounts {
    /// Adds every hash of the slice.
    pub fn add_all(&mut self, hashes: &[u64]) {
        let (groups, rest) = hashes.as_chunks::<GROUP>();
        for group in groups {
            let carried = self.add_group(group);
            self.carry(carried, GROUP.ilog2() as usize);
        }
        for &hash in rest {
            self.carry(hash, 0);
        }
        self.hashes += hashes.len() as u64;
    }

    /// The bits that are set in more than half of the hashes; a tie gives 0. `None` without hashes.
    pub fn majority(&self) -> Option<u64> {
        (self.hashes > 0).then(|| self.above(self.hashes / 2))
    }

    /// Adds a group of hashes to the lowest planes, and returns the carry.
    #[inline]
    fn add_group(&mut self, group: &[u64; GROUP]) -> u64 {
        let mut carries = [0u64; GROUP / 2];
        let mut width = GROUP;
        // The first round adds the hashes to plane 0, the next their carries to plane 1, and so on.
        let mut inputs = *group;
        for plane in &mut self.planes[..GROUP.ilog2() as usize] {
            width /= 2;
            for pair in 0..width {
                (*plane, carries[pair]) = carry_save_add(*plane, inputs[2 * pair], inputs[2 * pair + 1]);
            }
            inputs[..width].copy_from_slice(&carries[..width]);
        }
        inputs[0]
    }

    /// Adds 1 to the counters whose bits are set in `bits`, in units of plane `plane`.
    #[inline]
    fn carry(&mut self, mut bits: u64, plane: usize) {
        for sum in &mut self.planes[plane..] {
            if bits == 0 {
                break;
            }
            (*sum, bits) = (*sum ^ bits, *sum & bits);
        }
    }

    /// The positions whose counter exceeds `threshold`. All 64 are compared at once, the highest plane first.
    fn above(&self, threshold: u64) -> u64 {
        let mut greater = 0u64;
        let mut equal = u64::MAX;
        for (bit, &plane) in self.planes.iter().enumerate().rev() {
            if threshold >> bit & 1 == 1 {
                equal &= plane;
            } else {
                greater |= equal & plane;
                equal &= !plane;
            }
        }
        greater
    }
}

/// The sum and the carry of three bits, for 64 positions at once.
#[inline]
fn carry_save_add(a: u64, b: u64, c: u64) -> (u64, u64) {
    let half = a ^ b;
    (half ^ c, (a & b) | (half & c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn majority_of(hashes: &[u64]) -> Option<u64> {
        let mut counts = BitCounts::default();
        counts.add_all(hashes);
        counts.majority()
    }

    /// The paper's own pseudo-code: one signed sum per position.
    fn naive_majority(hashes: &[u64]) -> Option<u64> {
        let sum = |bit: u32| -> i64 { hashes.iter().map(|h| if h >> bit & 1 == 1 { 1 } else { -1 }).sum() };
        (!hashes.is_empty()).then(|| (0..64).filter(|&bit| sum(bit) > 0).map(|bit| 1u64 << bit).sum())
    }

    /// Table 1 of the Similarity Index paper: 3-grams of "Hello world", each hashed to the sum of its
    /// character codes. The table leaves out "llo" and arrives at 264; all nine grams give 335.
    #[test]
    fn hello_world_of_the_paper() {
        let shingles: Vec<(&[u8], u64)> = b"Hello world"
            .windows(3)
            .map(|gram| (gram, gram.iter().map(|&byte| u64::from(byte)).sum()))
            .collect();
        let all: Vec<u64> = shingles.iter().map(|&(_, sum)| sum).collect();
        let printed: Vec<u64> =
            shingles.iter().filter(|(gram, _)| gram != b"llo").map(|&(_, sum)| sum).collect();
        assert_eq!(printed, [281, 317, 251, 262, 262, 344, 333, 322]);
        assert_eq!(majority_of(&printed), Some(264));
        assert_eq!(majority_of(&all), Some(335));
    }

    #[test]
    fn no_hash_no_majority() {
        assert_eq!(majority_of(&[]), None);
        assert_eq!(majority_of(&[0]), Some(0));
        assert_eq!(majority_of(&[u64::MAX, 0]), Some(0), "a tie gives 0");
    }

    proptest! {
        #[test]
        fn majority_equals_the_naive_sums(
            hashes in prop::collection::vec(prop_oneof![any::<u64>(), 0u64..4, Just(u64::MAX)], 0..200),
            cut in 0usize..200,
        ) {
            let expected = naive_majority(&hashes);
            prop_assert_eq!(majority_of(&hashes), expected);
            let (head, tail) = hashes.split_at(cut.min(hashes.len()));
            let mut counts = BitCounts::default();
            counts.add_all(head);
            counts.add_all(tail);
            prop_assert_eq!(counts.majority(), expected);
        }
    }
}
