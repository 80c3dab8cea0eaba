//! Codes that were chosen for the purpose of taking long: whoever may store a text can choose its
//! fingerprint, and so the buckets and partitions that it belongs to.
//!
//! Work is counted in comparisons, together with the rows that are sorted. Four times the codes may take six
//! times the work. Because plans change in steps, codes are compared with 64 times as many.

use crate::buckets::tests::SORTED;
use crate::clusters::{Linkage, keepers};
use crate::code::CodeSlice;
use crate::near_pairs::tests::COMPARISONS;
use crate::near_pairs::{JoinSides, MAX_SEGMENT_BITS, PairDivision, near_pairs};
use base::OutOfMemory;
use base::steering::{Steering, assert_linear, each_steering};

/// The number of codes among which each code is chosen.
const CANDIDATES: usize = 32;
/// The cost of sorting a row into its bucket, in comparisons.
const SORT_COST: usize = 60;
/// The least number of codes, and how many times it is multiplied by four.
const CODES: usize = 1 << 10;
const TIMES: u32 = 3;
/// The radius of fingerprints, and for each word of wide codes.
const RADIUS: u32 = 3;

/// Codes of some words, one of which is chosen, each by its own bits.
fn codes(steering: &mut Steering, count: usize, width: usize, word: usize) -> Vec<u64> {
    let mut codes: Vec<u64> = (0..count * width).map(|_| steering.random(u64::MAX)).collect();
    for code in codes.chunks_mut(width) {
        let candidates: [u64; CANDIDATES] = std::array::from_fn(|_| steering.random(u64::MAX));
        code[word] = steering.choose(candidates.map(|word| (word, word)));
    }
    codes
}

/// Codes of one word, half of which have the same bits at one place: those of a whole segment.
fn half_in_one_bucket(steering: &mut Steering, count: usize, first: u32) -> Vec<u64> {
    let segment = ((1u64 << MAX_SEGMENT_BITS) - 1).rotate_left(first);
    let code = |number: usize| {
        let code = steering.random(u64::MAX);
        if number.is_multiple_of(2) { code & !segment } else { code }
    };
    (0..count).map(code).collect()
}

/// The comparisons of a search among codes, and the cost of sorting them.
fn compared(codes: &[u64], width: usize, search: impl FnOnce(CodeSlice<'_>)) -> usize {
    COMPARISONS.set(0);
    SORTED.set(0);
    search(CodeSlice::new(codes, width));
    COMPARISONS.get() + SORT_COST * SORTED.get()
}

fn join(codes: CodeSlice<'_>) {
    let radius = RADIUS * codes.width() as u32;
    near_pairs(codes, radius, &mut || (), &mut |_, _| Ok::<(), OutOfMemory>(())).unwrap();
}

fn cluster(codes: CodeSlice<'_>) {
    for linkage in [Linkage::Leader, Linkage::Connected] {
        keepers(codes, RADIUS * codes.width() as u32, linkage, &mut || ()).unwrap();
    }
}

/// Joins codes that are divided into partitions, as if memory had no room for them.
fn join_partitions(codes: CodeSlice<'_>) {
    let rows = [codes.len(); 2];
    let varying = vec![u64::MAX; codes.width()]; // Bounded: a test.
    let radius = RADIUS * codes.width() as u32;
    let division = PairDivision::new([codes; 2], &varying, rows, radius, [3, 12]).unwrap();
    let Some(division) = division else { return join(codes) };
    for (pass, part) in
        (0..division.passes()).flat_map(|pass| (0..division.parts(pass)).map(move |part| (pass, part)))
    {
        let of_part: Vec<u64> =
            codes.iter().filter(|code| division.part(pass, code) == part).flatten().copied().collect();
        let sides = JoinSides::among(CodeSlice::new(&of_part, codes.width()));
        let mut found = |_, _| Ok::<(), OutOfMemory>(());
        division.search(pass).unwrap().all(sides, &mut || (), &mut found).unwrap();
    }
}

const SEARCHES: [fn(CodeSlice<'_>); 3] = [join, cluster, join_partitions];

#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn codes_of_one_bucket_are_as_fast_as_others() {
    let shapes = [(1, 0), (4, 0), (1, 0), (4, 2)];
    for (steering, (width, word)) in each_steering().step_by(2).zip(shapes.into_iter().cycle()) {
        for search in SEARCHES {
            assert_linear(&steering, CODES, TIMES, |steering, count| {
                compared(&codes(steering, count, width, word), width, search)
            });
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn codes_that_agree_in_a_segment_are_as_fast_as_others() {
    for (steering, first) in each_steering().zip((0..u64::BITS).step_by(8)) {
        for search in SEARCHES {
            assert_linear(&steering, CODES, TIMES, |steering, count| {
                compared(&half_in_one_bucket(steering, count, first), 1, search)
            });
        }
    }
}
