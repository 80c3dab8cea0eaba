//! The loop that compares one word with many.
//!
//! Compilers turn this plain code into vector instructions: with AVX-512's VPOPCNTDQ, eight words are
//! compared at a time. [`for_processors`] compiles each function that contains the loop for several kinds of
//! x86-64 processors, and chooses one at run time. On other processors it is compiled once. On aarch64 that
//! is for NEON, where 64 words take 249 instructions. They would take 288 with UDOT, and 183 with SVE, which
//! counts the bits of whole words (LLVM of Rust 1.96; not timed, since we have no such machine).

/// The number of elements that are tested together. Hits are rare, so elements are tested one by one only if
/// their group has a hit.
pub const GROUP: usize = 64;

/// Calls `found` with the index of each element that is near, in ascending order.
#[inline(always)]
pub fn each_near<T>(elements: &[T], is_near: impl Fn(&T) -> bool, mut found: impl FnMut(usize)) {
    for (group, elements) in elements.chunks(GROUP).enumerate() {
        if elements.iter().fold(false, |any, element| any | is_near(element)) {
            let near = elements.iter().enumerate().filter(|(_, element)| is_near(element));
            near.for_each(|(index, _)| found(group * GROUP + index));
        }
    }
}

/// Compiles a function for several kinds of processors that count bits fast. The choice is made at run time.
#[macro_export]
macro_rules! for_processors {
    ($function:item) => {
        #[multiversion::multiversion(targets(
            "x86_64+avx512f+avx512vl+avx512bw+avx512vpopcntdq+popcnt",
            "x86_64+avx2+popcnt",
            "x86_64+popcnt"
        ))]
        $function
    };
}
pub use for_processors;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    for_processors! {
        fn indexes_near(values: &[u64], query: u64, radius: u32) -> Vec<usize> {
            let mut indexes = Vec::new();
            each_near(values, |value| (value ^ query).count_ones() <= radius, |index| indexes.push(index));
            indexes
        }
    }

    proptest! {
        #[test]
        fn finds_what_one_by_one_finds(
            flips in prop::collection::vec(any::<u64>(), 0..300),
            query: u64,
            radius in 0u32..66,
        ) {
            // A quarter of the bits differ, so that some values are near.
            let values: Vec<u64> = flips.windows(2).map(|flips| query ^ flips[0] & flips[1]).collect();
            let expected: Vec<usize> =
                (0..values.len()).filter(|&index| (values[index] ^ query).count_ones() <= radius).collect();
            prop_assert_eq!(indexes_near(&values, query, radius), expected);
        }
    }
}
