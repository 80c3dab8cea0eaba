//! The loops that compare one word with many, or one code with many.
//!
//! Compilers turn this plain code into vector instructions: with AVX-512's VPOPCNTDQ, eight words are
//! compared at a time. [`for_processors`] compiles each function that contains the loop for several kinds of
//! x86-64 processors, and chooses one at run time. On other processors it is compiled once. On aarch64 that
//! is for NEON, where 64 words take 263 instructions. They would take 272 with UDOT, and 185 with SVE, which
//! counts the bits of whole words (LLVM of Rust 1.96; not timed, since we have no such machine).

/// The number of elements that are tested together; a word has a bit for each of them. Hits are rare, so the
/// near elements of a group are only listed if there are any.
pub(crate) const GROUP: usize = 64;

/// The number of words that are compared between two calls of `ahead`: those of a cache line, on nearly all
/// processors. Lines that are loaded one by one arrive while others are compared; if many are requested
/// together, the processor waits until it can note them.
pub const STEP: usize = 8;

/// Calls `found` with the index of each element that is near, in ascending order.
#[inline(always)]
pub(crate) fn each_near<T>(elements: &[T], is_near: impl Fn(&T) -> bool, mut found: impl FnMut(usize)) {
    for (group, elements) in elements.chunks(GROUP).enumerate() {
        // For a known length, the compiler needs no loop.
        let are_far = match <&[T; GROUP]>::try_from(elements) {
            Ok(elements) => all_are_far(elements, &is_near),
            Err(_) => all_are_far(elements, &is_near),
        };
        if !are_far {
            list_near(elements, &is_near, |place| found(group * GROUP + place));
        }
    }
}

/// Calls `found` with the index of each element of a group that is near.
#[inline(always)]
fn list_near<T>(elements: &[T], is_near: &impl Fn(&T) -> bool, mut found: impl FnMut(usize)) {
    debug_assert!(elements.len() <= GROUP, "a word has a bit for each element of a group");
    let mut near = 0;
    for (index, element) in elements.iter().enumerate() {
        near |= u64::from(is_near(element)) << index;
    }
    while near != 0 {
        found(near.trailing_zeros() as usize);
        near &= near - 1;
    }
}

/// Whether none of the elements is near. AVX2 compares whether a distance is greater, and would need a
/// further instruction for whether any is not.
///
/// Uses a plain loop, since iterators are not always inlined into the function for a kind of processor.
#[inline(always)]
fn all_are_far<T>(elements: &[T], is_near: &impl Fn(&T) -> bool) -> bool {
    let mut all_are_far = true;
    for element in elements {
        all_are_far &= !is_near(element);
    }
    all_are_far
}

/// Compiles a function for several kinds of processors that count bits fast. The choice is made at run time.
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
pub(crate) use for_processors;

for_processors! {
    /// Appends the places of all words that differ from the query in at most `radius` bits. Before each
    /// [`STEP`] words are compared, `ahead` is called with the place of the first one, so that it can load
    /// words of a page that will be compared next.
    pub fn near_words<A: Fn(usize)>(
        words: &[[u8; 8]],
        query: u64,
        radius: u32,
        ahead: &A,
        hits: &mut Vec<u16>,
    ) {
        let distance = |word: &[u8; 8]| (u64::from_ne_bytes(*word) ^ query).count_ones();
        let is_near = |word: &[u8; 8]| distance(word) <= radius;
        for (group, words) in words.chunks(GROUP).enumerate() {
            let first = group * GROUP;
            let (steps, rest) = words.as_chunks::<STEP>();
            // The least distance of the words in each place of a step: one comparison for all steps.
            let mut least = [u32::MAX; STEP];
            for (step, words) in steps.iter().enumerate() {
                ahead(first + step * STEP);
                for (least, word) in least.iter_mut().zip(words) {
                    *least = distance(word).min(*least);
                }
            }
            let mut are_far = all_are_far(&least, &|&least| least <= radius);
            if !rest.is_empty() {
                ahead(first + steps.len() * STEP);
                are_far &= all_are_far(rest, &is_near);
            }
            if !are_far {
                list_near(words, &is_near, |place| hits.push((first + place) as u16));
            }
        }
    }
}

for_processors! {
    /// Appends the places and distances of all codes that differ from the center in at most `radius` bits.
    /// `words` has the words of the first code, then those of the second, and so on. `ahead` is called as by
    /// [`near_words`].
    ///
    /// Usual widths have their own loops: a code takes half of the time if the compiler knows its number of
    /// words.
    pub fn near_codes<A: Fn(usize)>(
        words: &[[u8; 8]],
        center: &[u64],
        radius: u32,
        ahead: &A,
        hits: &mut Vec<(u16, u32)>,
    ) {
        match center.len() {
            0 => {}
            2 => near_codes_of::<2, { codes_in_steps(2) }>(words, center, radius, ahead, hits),
            3 => near_codes_of::<3, { codes_in_steps(3) }>(words, center, radius, ahead, hits),
            4 => near_codes_of::<4, { codes_in_steps(4) }>(words, center, radius, ahead, hits),
            6 => near_codes_of::<6, { codes_in_steps(6) }>(words, center, radius, ahead, hits),
            8 => near_codes_of::<8, { codes_in_steps(8) }>(words, center, radius, ahead, hits),
            12 => near_codes_of::<12, { codes_in_steps(12) }>(words, center, radius, ahead, hits),
            16 => near_codes_of::<16, { codes_in_steps(16) }>(words, center, radius, ahead, hits),
            width => {
                let codes = codes_in_steps(width);
                let whole = &words[..words.len() / width * width];
                for (group, words) in whole.chunks(codes * width).enumerate() {
                    announce(group * codes * width, words.len(), ahead);
                    list_near_codes(group * codes, words.chunks_exact(width), center, radius, hits);
                }
            }
        }
    }
}

/// The least number of codes of this width that begin and end with a step.
const fn codes_in_steps(width: usize) -> usize {
    let mut codes = 1;
    while !(codes * width).is_multiple_of(STEP) {
        codes *= 2;
    }
    codes
}

/// Calls `ahead` for each step of these words.
#[inline(always)]
fn announce(first: usize, words: usize, ahead: &impl Fn(usize)) {
    debug_assert!(first.is_multiple_of(STEP), "words begin with a step");
    for word in (first..first + words).step_by(STEP) {
        ahead(word);
    }
}

/// As [`near_codes`], for codes of `WIDTH` words, of which `CODES` are compared before any of them is listed.
#[inline(always)]
fn near_codes_of<const WIDTH: usize, const CODES: usize>(
    words: &[[u8; 8]],
    center: &[u64],
    radius: u32,
    ahead: &impl Fn(usize),
    hits: &mut Vec<(u16, u32)>,
) {
    let Ok(center) = <&[u64; WIDTH]>::try_from(center) else { return };
    let (codes, _) = words.as_chunks::<WIDTH>();
    let (groups, rest) = codes.as_chunks::<CODES>();
    for (group, codes) in groups.iter().enumerate() {
        announce(group * CODES * WIDTH, CODES * WIDTH, ahead);
        let mut any = false;
        for code in codes {
            any |= distance_of_code(code, center) <= radius;
        }
        if any {
            list_near_codes(group * CODES, codes.iter().map(<[_; WIDTH]>::as_slice), center, radius, hits);
        }
    }
    let first = groups.len() * CODES;
    announce(first * WIDTH, rest.len() * WIDTH, ahead);
    list_near_codes(first, rest.iter().map(<[_; WIDTH]>::as_slice), center, radius, hits);
}

/// Appends the codes within the radius, of which the first one has this place.
#[inline(always)]
fn list_near_codes<'a>(
    first: usize,
    codes: impl Iterator<Item = &'a [[u8; 8]]>,
    center: &[u64],
    radius: u32,
    hits: &mut Vec<(u16, u32)>,
) {
    for (place, code) in codes.enumerate() {
        let distance = distance_of_code(code, center);
        if distance <= radius {
            hits.push(((first + place) as u16, distance));
        }
    }
}

/// Uses a plain loop, since iterators are not always inlined into the function for a kind of processor.
#[inline(always)]
fn distance_of_code(code: &[[u8; 8]], center: &[u64]) -> u32 {
    let mut distance = 0;
    for place in 0..center.len() {
        distance += (u64::from_ne_bytes(code[place]) ^ center[place]).count_ones();
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near_pairs::tests::FEWER;
    use proptest::prelude::*;
    use std::cell::Cell;

    for_processors! {
        fn indexes_near(values: &[u64], query: u64, radius: u32) -> Vec<usize> {
            let mut indexes = Vec::new();
            each_near(values, |value| (value ^ query).count_ones() <= radius, |index| indexes.push(index));
            indexes
        }
    }

    /// Notes how many words are announced, each step of which has to begin where the last one ended.
    fn follow(announced: &Cell<usize>) -> impl Fn(usize) {
        |word| {
            assert_eq!(word, announced.get());
            announced.set(word + STEP);
        }
    }

    proptest! {
        #[test]
        fn finds_what_one_by_one_finds(
            flips in prop::collection::vec(any::<u64>(), 0..300 / FEWER.min(10)),
            query: u64,
            radius in 0u32..66,
        ) {
            // A quarter of the bits differ, so that some values are near.
            let values: Vec<u64> = flips.windows(2).map(|flips| query ^ flips[0] & flips[1]).collect();
            let expected: Vec<usize> =
                (0..values.len()).filter(|&index| (values[index] ^ query).count_ones() <= radius).collect();
            prop_assert_eq!(indexes_near(&values, query, radius), expected);
        }

        #[test]
        fn finds_what_a_plain_loop_finds(
            keys in prop::collection::vec(any::<u64>(), 0..600 / FEWER.min(10)),
            query: u64,
            radius in 0u32..65,
        ) {
            let bytes: Vec<[u8; 8]> = keys.iter().map(|key| key.to_ne_bytes()).collect();
            let mut hits = Vec::new();
            let announced = Cell::new(0);
            near_words(&bytes, query, radius, &follow(&announced), &mut hits);
            prop_assert_eq!(announced.get(), keys.len().next_multiple_of(STEP));
            let plain = keys.iter().enumerate().filter(|(_, key)| (*key ^ query).count_ones() <= radius);
            prop_assert_eq!(hits, plain.map(|(slot, _)| slot as u16).collect::<Vec<_>>());
        }

        #[test]
        fn finds_the_codes_that_a_plain_loop_finds(
            (center, words) in (1usize..20).prop_flat_map(|width| {
                let words = prop::collection::vec(any::<u64>(), 0..600 / FEWER.min(10) / width * width);
                (prop::collection::vec(any::<u64>(), width), words)
            }),
            part in 0.0..1.0,
        ) {
            let bytes: Vec<[u8; 8]> = words.iter().map(|word| word.to_ne_bytes()).collect();
            let distance = |code: &[u64]| crate::code::distance_of_words(code, &center);
            // Half of the bits of scattered codes differ.
            let radius = (64.0 * part * center.len() as f64) as u32;
            let mut hits = Vec::new();
            let announced = Cell::new(0);
            near_codes(&bytes, &center, radius, &follow(&announced), &mut hits);
            let whole = words.len() / center.len() * center.len();
            prop_assert_eq!(announced.get(), whole.next_multiple_of(STEP));
            let plain = words.chunks_exact(center.len()).map(distance).enumerate();
            let plain = plain.filter(|&(_, distance)| distance <= radius);
            let plain: Vec<_> = plain.map(|(slot, distance)| (slot as u16, distance)).collect();
            prop_assert_eq!(hits, plain);
        }
    }
}
