//! Compares pairs of fingerprints with plain loops. Wider codes are tested in `tests/wide_codes.rs`.

use super::*;
use proptest::prelude::*;
use std::cell::Cell;

thread_local! {
    /// The number of comparisons by this thread, so that tests measure work, not time.
    pub(crate) static COMPARISONS: Cell<usize> = const { Cell::new(0) };
    /// The number of ways to cut a word that this thread has tried.
    pub(crate) static CUTS: Cell<usize> = const { Cell::new(0) };
}

/// How many times fewer rows a test has that miri interprets, ten thousand times slower than it runs.
pub(crate) const FEWER: usize = if cfg!(miri) { 100 } else { 1 };

fn found(values: &[u64], radius: u32) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    near_pairs(CodeSlice::fingerprints(values), radius, &mut || (), &mut |a, b| push(&mut pairs, a, b))
        .unwrap();
    pairs.sort_unstable();
    pairs
}

fn push(pairs: &mut Vec<(u32, u32)>, a: u32, b: u32) -> Result<(), OutOfMemory> {
    pairs.push((a, b));
    Ok(())
}

/// The pairs of all portions. None has more pairs than there is room for, unless one code has that many.
pub(crate) fn portions(mut search: PairSearch, codes: [CodeSlice<'_>; 2], room: usize) -> Vec<(u32, u32)> {
    let mut all = Vec::new();
    loop {
        let before = all.len();
        let goes_on = search.portion(codes, room, &mut || (), &mut |a, b| push(&mut all, a, b)).unwrap();
        let portion = &all[before..];
        let is_of_one =
            |code: fn(&(u32, u32)) -> u32| portion.iter().all(|pair| code(pair) == code(&portion[0]));
        assert!(portion.len() <= room || is_of_one(|pair| pair.0) || is_of_one(|pair| pair.1));
        if !goes_on {
            return all;
        }
        assert!(!portion.is_empty(), "the search goes on");
    }
}

fn naive(values: &[u64], radius: u32) -> Vec<(u32, u32)> {
    let near = |a: usize, b: usize| (values[a] ^ values[b]).count_ones() <= radius;
    let pairs = |a| (a + 1..values.len()).filter(move |&b| near(a, b)).map(move |b| (a as u32, b as u32));
    (0..values.len()).flat_map(pairs).collect()
}

/// Scattered values, and families whose members differ in few bits.
fn fingerprints() -> impl Strategy<Value = Vec<u64>> {
    let family = (any::<u64>(), prop::collection::vec(prop::collection::vec(0u32..64, 0..8), 1..20));
    let family = family.prop_map(|(center, members)| {
        members
            .into_iter()
            .map(move |flips| flips.into_iter().fold(center, |value, bit| value ^ (1 << bit)))
            .collect()
    });
    let scattered = prop::collection::vec(any::<u64>(), 0..20);
    prop::collection::vec(prop_oneof![family, scattered], 0..20)
        .prop_map(|parts: Vec<Vec<u64>>| parts.concat())
}

proptest! {
    #[test]
    fn finds_each_pair_once(values in fingerprints(), radius in 0u32..70) {
        prop_assert_eq!(found(&values, radius), naive(&values, radius));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Segments do not pay for few values, so plans are tested here whatever they cost.
    #[test]
    fn every_plan_finds_each_pair_once(
        values in fingerprints(),
        radius in 0u32..20,
        segments in 3u32..=16,
    ) {
        let plan = JoinPlan::of_segments(0, segments, u64::MAX, radius + 1);
        let pairs_of = |plan: &JoinPlan| {
            let mut pairs = Vec::new();
            let codes = CodeSlice::fingerprints(&values);
            let sides = JoinSides::among(codes);
            let radii = radius.into();
            let mut add = |a, b| push(&mut pairs, a, b);
            PairJoin::new([codes; 2], &radii, MAX_SEGMENT_BITS, PairOrder::Smaller, &mut || (), &mut add).run(plan, &sides).unwrap();
            pairs.sort_unstable();
            pairs
        };
        let size = JoinSize { rows: 100.0, left: 100.0, pairs: 5000.0, widest: MAX_SEGMENT_BITS, divided: 0 };
        prop_assume!(plan.cost(&size, &plan::tests::even(&[u64::MAX])) < 2e7);
        prop_assert_eq!(pairs_of(&plan), naive(&values, radius));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Dense values at any bits, among scattered values. They are many enough to get separate segments.
    #[test]
    fn crowds_are_joined_once(
        shift in 0u32..50,
        seed in any::<u64>(),
        radius in 0u32..7,
        dense in 1500 / FEWER as u64..4000 / FEWER as u64,
        widest in 1..=MAX_SEGMENT_BITS,
        percent in 0usize..110,
    ) {
        const FIRST: usize = 1000 / FEWER;
        let scatter = |i: u64| (seed | 1).wrapping_mul(i << 32 | i).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let scattered = (0..2000 / FEWER as u64).map(scatter);
        let values: Vec<u64> = (0..dense).map(|i| i << shift ^ seed).chain(scattered).collect();
        let mut expected = naive(&values, radius);
        prop_assert_eq!(&found(&values, radius), &expected);
        let (left, right) = values.split_at(FIRST);
        let mut pairs = Vec::new();
        let mut add = |a, b| push(&mut pairs, a, b + FIRST as u32);
        let sides = [left, right].map(CodeSlice::fingerprints);
        PairSearch::between(sides, radius, widest).unwrap().all(JoinSides::between(sides), &mut || (), &mut add).unwrap();
        pairs.sort_unstable();
        // There may be room for the pairs of the first segments of a crowd.
        let room = pairs.len() * percent / 100;
        let mut in_portions = portions(PairSearch::between(sides, radius, widest).unwrap(), sides, room);
        in_portions.sort_unstable();
        prop_assert!(in_portions.iter().map(|&(a, b)| (a, b + FIRST as u32)).eq(pairs.iter().copied()));
        expected.retain(|&(a, b)| a < FIRST as u32 && b >= FIRST as u32);
        prop_assert_eq!(pairs, expected);
    }
}

/// Rows with a code of one word and a code of two words: each row is near others by the first code, by the
/// second one, by both or by none, as its number divided by four says. The free bits of a code are those in
/// which near rows may differ.
fn rows_of_two_codes(rows: u64, seed: u64, free: [u64; 3]) -> Vec<u64> {
    let scatter = |row: u64, word: u64| crate::hash::scattered(seed ^ row << 8 ^ word);
    let word = |row: u64, word: u64, is_near: bool| {
        if is_near { scatter(0, word) ^ scatter(row, word) & free[word as usize] } else { scatter(row, word) }
    };
    let code =
        |row| [word(row, 0, row % 4 < 2), word(row, 1, row % 4 % 3 == 0), word(row, 2, row % 4 % 3 == 0)];
    (1..=rows).flat_map(code).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Each pair that is near by both codes is found once, whichever code separates which rows.
    #[test]
    fn pairs_that_are_near_by_two_codes_are_found_once(
        rows in 1000 / FEWER as u64..4000 / FEWER as u64,
        seed in any::<u64>(),
        free in (any::<u64>(), any::<u64>(), any::<u64>()),
        shift in 0u32..20,
        radii in (prop_oneof![0u32..24, Just(u32::MAX)], prop_oneof![0u32..70, Just(u32::MAX)]),
        widest in 1..=MAX_SEGMENT_BITS,
        room in 0usize..3000,
    ) {
        let free = [((free.0 << shift) << shift) & free.1, (free.1 << shift) & free.2, free.2 << (2 * shift)];
        let words = rows_of_two_codes(rows, seed, free);
        let codes = CodeSlice::new(&words, 3);
        let both = CodeRadii::from(radii.0).and(1, radii.1);
        let near = |a: u32, b: u32| {
            let [a, b] = [a, b].map(|place| codes.get(place));
            (a[0] ^ b[0]).count_ones() <= radii.0 && crate::code::distance_of_words(&a[1..], &b[1..]) <= radii.1
        };
        let places = 0..rows as u32;
        let expected: Vec<(u32, u32)> = places.clone()
            .flat_map(|a| (a + 1..rows as u32).filter(move |&b| near(a, b)).map(move |b| (a, b)))
            .collect();
        let mut pairs = Vec::new();
        near_pairs(codes, both.clone(), &mut || (), &mut |a, b| push(&mut pairs, a, b)).unwrap();
        pairs.sort_unstable();
        prop_assert_eq!(&pairs, &expected);
        let (left, right) = words.split_at(3 * (rows as usize / 3));
        let sides = [left, right].map(|words| CodeSlice::new(words, 3));
        let first = rows as u32 / 3;
        let mut across = portions(PairSearch::between(sides, both, widest).unwrap(), sides, room);
        across.sort_unstable();
        let expected = expected.into_iter().filter(|&(a, b)| a < first && first <= b);
        prop_assert!(across.into_iter().map(|(a, b)| (a, b + first)).eq(expected));
    }
}

/// The code that separates rows is used, in either order: for all rows if it separates all, and otherwise for
/// the rows of a crowd. All pairs that are near by one code would take
/// 2,000 comparisons a row.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn the_code_that_separates_rows_leads() {
    let words = rows_of_two_codes(1 << 15, 1, [0xf, 0xff << 40, 0]);
    // The rows that are near by exactly one of the codes.
    let apart: Vec<u64> = words.chunks(3).step_by(2).flatten().copied().collect();
    let turned: Vec<u64> = apart.chunks(3).flat_map(|code| [code[1], code[2], code[0]]).collect();
    let radii = [CodeRadii::from(6).and(1, 10), CodeRadii::from(10).and(2, 6)];
    for (words, radii) in [apart, turned].iter().zip(radii) {
        let codes = CodeSlice::new(words, 3);
        COMPARISONS.set(0);
        near_pairs(codes, radii, &mut || (), &mut |_, _| Ok::<(), OutOfMemory>(())).unwrap();
        let per_row = COMPARISONS.get() / codes.len();
        assert!(per_row < 1200, "{per_row} comparisons a row");
    }
}

proptest! {
    /// Finds a match of a value if and only if a plain loop does, among few values and among crowded ones.
    #[test]
    fn one_match_is_found_if_there_is_one(
        values in fingerprints(),
        equal in 0usize..3000 / FEWER,
        radius in 0u32..20,
        which in 0usize..4,
    ) {
        let values: Vec<u64> = values.into_iter().chain((0..equal).map(|_| 1)).collect();
        const CONDITIONS: [fn(u32, u32) -> bool; 4] = [|a, b| a < b, |a, b| a > b, |a, b| a % 7 == b % 5, |a, b| a != b];
        let condition = CONDITIONS[which];
        let codes = CodeSlice::fingerprints(&values);
        let mut sink = OneMatch { condition, matches: vec![None; values.len()], asked: 0 };
        PairSearch::between([codes; 2], radius, MAX_SEGMENT_BITS).unwrap().all(JoinSides::between([codes; 2]), &mut || (), &mut sink).unwrap();
        for (a, found) in (0u32..).zip(&sink.matches) {
            let is_match = |&b: &u32| condition(a, b) && (values[a as usize] ^ values[b as usize]).count_ones() <= radius;
            let expected = (0..values.len() as u32).any(|b| is_match(&b));
            prop_assert!(found.as_ref().map_or(!expected, is_match), "{} {:?}", a, found);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Codes of two words that are divided into parts: crowded codes, equal codes, and bits that are equal in
    /// all codes. They are joined with others, or with themselves.
    #[test]
    fn a_division_finds_each_pair_once(
        lefts in fingerprints(),
        rights in fingerprints(),
        shared in any::<u64>(),
        radius in 0u32..40,
        width in 1usize..=2,
        bits in 0u32..6,
        widest in 1u32..12,
        varying in any::<u64>(),
        room in prop::option::of(0usize..100),
        are_alone in any::<bool>(),
    ) {
        let rights = if are_alone { lefts.clone() } else { rights };
        let code = |(place, &value): (usize, &u64)| [value, (value ^ place as u64) & shared].into_iter().take(width).collect::<Vec<u64>>();
        let [lefts, rights] = [&lefts, &rights].map(|values| values.iter().enumerate().map(code).collect::<Vec<_>>());
        let [left, right] = [&lefts, &rights].map(|codes| codes.concat());
        let samples = [CodeSlice::new(&left, width), CodeSlice::new(&right, width)];
        // As if there were many rows, so that segments pay.
        let division = PairDivision::new(samples, &vec![varying; width], [1 << 18; 2], radius, [bits, widest]).unwrap();
        let Some(division) = division else { return Ok(()) };
        let mut pairs = Vec::new();
        for pass in 0..division.passes() {
            for part in 0..division.parts(pass) {
                let of_part = |codes: &[Vec<u64>]| -> Vec<u32> {
                    (0u32..).zip(codes).filter(|(_, code)| division.part(pass, code) == part).map(|(place, _)| place).collect()
                };
                let places = [of_part(&lefts), of_part(&rights)];
                let gathered = [0, 1].map(|side| samples[side].gather(places[side].iter().copied(), places[side].len(), &mut || ()).unwrap());
                let codes = [0, 1].map(|side: usize| CodeSlice::new(&gathered[side], width));
                let mut add = |a: u32, b: u32| push(&mut pairs, places[0][a as usize], places[1][b as usize]);
                let search = division.search(pass).unwrap();
                match room {
                    _ if are_alone => search.all(JoinSides::among(codes[0]), &mut || (), &mut add).unwrap(),
                    None => search.all(JoinSides::between(codes), &mut || (), &mut add).unwrap(),
                    Some(room) => portions(search, codes, room).into_iter().try_for_each(|(a, b)| add(a, b)).unwrap(),
                }
            }
        }
        pairs.sort_unstable();
        let near = |a: &[u64], b: &[u64]| crate::code::distance_of_words(a, b) <= radius;
        let expected: Vec<(u32, u32)> = (0u32..).zip(&lefts)
            .flat_map(|(a, left)| {
                let others = (0u32..).zip(&rights).skip(if are_alone { a as usize + 1 } else { 0 });
                others.filter(|(_, right)| near(left, right)).map(move |(b, _)| (a, b)).collect::<Vec<_>>()
            })
            .collect();
        prop_assert_eq!(pairs, expected);
    }
}

/// The pairs of a side with itself that a division finds, part by part.
pub(crate) fn pairs_of_division(division: &PairDivision, codes: CodeSlice<'_>) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for pass in 0..division.passes() {
        for part in 0..division.parts(pass) {
            let is_in_part = |place: &u32| division.part(pass, codes.get(*place)) == part;
            let places: Vec<u32> = (0..codes.len() as u32).filter(is_in_part).collect();
            let of_part = codes.gather(places.iter().copied(), places.len(), &mut || ()).unwrap();
            let sides = JoinSides::among(CodeSlice::new(&of_part, codes.width()));
            let mut add = |a: u32, b: u32| push(&mut pairs, places[a as usize], places[b as usize]);
            division.search(pass).unwrap().all(sides, &mut || (), &mut add).unwrap();
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Divisions are planned for codes with any number of varying bits, and for any memory.
#[test]
#[cfg_attr(miri, ignore = "arithmetic on many numbers")]
fn divisions_of_any_codes_are_planned() {
    let words = [0, u64::MAX];
    let samples = [CodeSlice::fingerprints(&words); 2];
    let limits = [[0, MAX_SEGMENT_BITS], [5, 20], [8, 1], [8, MAX_SEGMENT_BITS], [12, 9]];
    for (varying, radius, limits) in (1..=u64::BITS).flat_map(|bits| {
        let varying = u64::MAX >> (u64::BITS - bits);
        limits.iter().flat_map(move |&limits| [0, 3, 9].map(|radius| (varying, radius, limits)))
    }) {
        let division = PairDivision::new(samples, &[varying], [1 << 22; 2], radius, limits).unwrap();
        assert!(division.is_some() || varying.count_ones() < 26, "{varying:x} {radius}");
    }
}

/// Codes are divided into as many parts as the memory requires, if their bits suffice.
#[test]
fn groups_have_the_bits_that_memory_needs() {
    let words: Vec<u64> = (0..400).map(crate::hash::scattered).collect();
    for (width, radius, bits) in [(4, 20, 8), (1, 3, 14), (1, 6, 9), (4, 31, 8)] {
        let sample = CodeSlice::new(&words, width);
        let limits = [bits, 9];
        let division = PairDivision::new([sample; 2], &vec![u64::MAX; width], [60_000; 2], radius, limits)
            .unwrap()
            .unwrap();
        assert_eq!(division.passes(), radius as usize + 1);
        for pass in 0..division.passes() {
            assert_eq!(division.parts(pass), 1 << bits, "{width} words, radius {radius}, pass {pass}");
        }
    }
}

/// A pair is found without comparing all codes, and the heartbeat is called between the comparisons.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn dense_values_do_not_take_all_comparisons() {
    let dense = || (1..=1u64 << 14).map(|i| i << 20);
    let scattered = (1..=1u64 << 14).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    for values in [dense().collect(), dense().chain(scattered).collect::<Vec<u64>>()] {
        COMPARISONS.set(0);
        let mut pairs = 0;
        let mut last = 0;
        let mut longest = 0;
        let mut heartbeat = || {
            longest = longest.max(COMPARISONS.get() - last);
            last = COMPARISONS.get();
        };
        let mut add = |_, _| {
            pairs += 1;
            Ok::<(), OutOfMemory>(())
        };
        near_pairs(CodeSlice::fingerprints(&values), 3, &mut heartbeat, &mut add).unwrap();
        assert!(longest <= STRIDE, "{longest} comparisons between two heartbeats");
        let comparisons = COMPARISONS.get();
        assert!(comparisons < 40 * pairs, "{comparisons} comparisons for {pairs} pairs");
    }
}

/// Needs one match for each value on the left, which must satisfy a condition.
struct OneMatch {
    condition: fn(u32, u32) -> bool,
    matches: Vec<Option<u32>>,
    asked: usize,
}

impl PairSink for OneMatch {
    const AT_A_TIME: usize = 64;
    type Stop = OutOfMemory;

    fn found(&mut self, a: u32, b: u32) -> Result<(), OutOfMemory> {
        if self.matches[a as usize].is_none() {
            self.asked += 1;
            self.matches[a as usize] = Some(b).filter(|&b| (self.condition)(a, b));
        }
        Ok(())
    }

    fn wants(&mut self, these: &[u32], _those: &[u32], _heartbeat: &mut dyn Heartbeat) -> bool {
        these.iter().any(|&a| self.matches[a as usize].is_none())
    }

    fn retain(&mut self, pairs: &mut Vec<(u32, u32)>, _heartbeat: &mut dyn Heartbeat) {
        pairs.retain(|&(a, _)| self.matches[a as usize].is_none());
    }
}

/// Many equal rows are matched after few comparisons, whichever of them the condition accepts.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn one_match_of_many_equal_codes() {
    let count = 60_000;
    let scattered = |i: u32| crate::hash::scattered(u64::from(i));
    let values: Vec<u64> = (0..count).map(|i| if i % 4 == 0 { 1 } else { scattered(i) }).collect();
    let conditions: [fn(u32, u32) -> bool; 3] = [|a, b| a != b, |a, b| a < b, |a, b| a > b];
    for condition in conditions {
        // Bounded: a test.
        let mut sink = OneMatch { condition, matches: vec![None; values.len()], asked: 0 };
        let codes = CodeSlice::fingerprints(&values);
        COMPARISONS.set(0);
        PairSearch::between([codes; 2], 3, MAX_SEGMENT_BITS)
            .unwrap()
            .all(JoinSides::between([codes; 2]), &mut || (), &mut sink)
            .unwrap();
        let matched = sink.matches.iter().flatten().count() as u32;
        assert!((count / 4 - 1..=count / 4).contains(&matched), "{matched}");
        let matches = (0..).zip(&sink.matches).filter_map(|(a, found)| Some((a, (*found)?)));
        for (a, b) in matches {
            assert!(condition(a, b) && values[a as usize] == values[b as usize]);
        }
        let comparisons = COMPARISONS.get();
        assert!(comparisons < 100 * values.len(), "{comparisons} comparisons");
        assert!(sink.asked < 70 * values.len() / 4, "{} pairs", sink.asked);
    }
}

/// Collects the fractions that a search reports.
pub(crate) struct Fractions(pub(crate) Vec<f64>);

impl Heartbeat for Fractions {
    fn beat(&mut self) {}

    fn progress(&mut self, fraction: f64) {
        self.0.push(fraction);
    }
}

/// One bucket has more values than are compared in one stride, and all of them are near each other.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn a_crowd_is_compared_in_portions() {
    let values: Vec<u64> = (0..3000).map(|i| i << 40).collect();
    let mut fractions = Fractions(Vec::new());
    let mut pairs = 0;
    near_pairs(CodeSlice::fingerprints(&values), 12, &mut fractions, &mut |_, _| {
        pairs += 1;
        Ok::<(), OutOfMemory>(())
    })
    .unwrap();
    let Fractions(fractions) = fractions;
    assert_eq!(pairs, 3000 * 2999 / 2);
    assert!(fractions.is_sorted() && fractions.iter().all(|fraction| (0.0..=1.0).contains(fraction)));
    assert!(fractions.len() > 4, "{}", fractions.len());
}

/// Half of the rows have nearly the same first word. The other words distinguish them.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn a_popular_word_is_left_to_others() {
    let scatter = |number: u64| {
        number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0xd6e8_feb8_6659_fd93)
    };
    let rows = 1u64 << 14;
    let first = |row: u64| {
        if row.is_multiple_of(2) { 1 << (scatter(row) >> 58) | 1 << (row % 61) } else { scatter(row) }
    };
    let words: Vec<u64> = (1..=rows)
        .flat_map(|row| [first(row), scatter(row << 20), scatter(row << 21), scatter(row << 22)])
        .collect();
    COMPARISONS.set(0);
    near_pairs(CodeSlice::new(&words, 4), 31, &mut || (), &mut |_, _| Ok::<(), OutOfMemory>(())).unwrap();
    let per_row = COMPARISONS.get() as u64 / rows;
    assert!(per_row < 1500, "{per_row} comparisons a row");
}

proptest! {
    /// So each near pair is found in some block. A code is in no block twice.
    #[test]
    fn near_codes_share_a_block(values in fingerprints(), radius in 0u32..=64, parts in 1u32..12) {
        let blocks = PairBlocks::new(u64::BITS, radius, parts);
        let blocks_of: Vec<Vec<u32>> = values.iter().map(|&value| blocks.blocks_of(&[value]).unwrap()).collect();
        for blocks in &blocks_of {
            prop_assert!(blocks.is_sorted_by(|a, b| a < b));
        }
        for (a, b) in naive(&values, radius) {
            let [a, b] = [a, b].map(|place| &blocks_of[place as usize]);
            prop_assert!(a.iter().any(|block| b.contains(block)));
        }
    }
}

/// Segments are used if they are wide enough and need fewer copies, otherwise a triangle.
#[test]
#[cfg_attr(miri, ignore = "arithmetic on many numbers")]
fn forms_of_blocks() {
    // The number of blocks of a code, and the largest block number of many codes.
    let blocks = |bits: u32, radius, parts| {
        let blocks = PairBlocks::new(bits, radius, parts);
        let code = |seed: u64| vec![crate::hash::scattered(seed); (bits as usize).div_ceil(64).max(1)];
        let largest = (0..1000).map(|seed| blocks.blocks_of(&code(seed)).unwrap().pop()).max();
        (blocks.blocks_of(&code(0)).unwrap().len(), largest.flatten())
    };
    assert_eq!(blocks(64, 3, 1), (1, Some(0)));
    assert_eq!(blocks(64, 3, 2), (4, Some(7)));
    assert_eq!(blocks(64, 0, 16), (1, Some(15)));
    assert_eq!(blocks(64, 3, 16), (4, Some(63)));
    assert_eq!(blocks(64, 4, 16), (16, Some(135)));
    assert_eq!(blocks(256, 15, 16), (16, Some(255)));
    assert_eq!(blocks(256, 15, 4), (4, Some(9)));
    assert_eq!(blocks(64, 64, 3), (3, Some(5)));
    assert_eq!(blocks(64, 3, 4096).0, 4);
    assert_eq!(blocks(64, 64, 4096).0, 4096);
}

/// Rows with two codes: by the first they are near in each family, by the second they are apart. Families are
/// divided by the second code, unless they are so small that all their rows are compared.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn the_code_that_separates_leads() {
    use crate::hash::scattered;
    let leading = |families: u64| {
        let second = |row: u64| (1..=4).map(move |word| scattered(row << 3 | word));
        let row = |row: u64| std::iter::once(scattered(row % families) ^ 1 << (row % 61)).chain(second(row));
        let words: Vec<u64> = (0..32_000).flat_map(row).collect();
        let codes = CodeSlice::new(&words, 5);
        PairSearch::between([codes; 2], CodeRadii::from(14).and(1, 50), 12).unwrap().leading()
    };
    assert_eq!([1, 10, 100, 1_000, 32_000].map(leading), [1, 1, 1, 0, 0]);
}
