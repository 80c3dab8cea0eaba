use super::*;
use crate::near_pairs::tests::FEWER;
use proptest::prelude::*;
use std::collections::HashSet;

fn scattered(index: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64(&index.to_le_bytes())
}

fn sample_of(rows: &[u64], sample: usize) -> Vec<usize> {
    (0..rows.len()).step_by((rows.len() / sample) | 1).take(sample).collect()
}

fn histogram_of(rows: &[u64], sample: usize) -> DistanceHistogram {
    compared(rows, sample, None::<fn(usize, usize) -> f64>)
}

fn levels_of(rows: &[u64], sample: usize) -> Vec<DistanceLevel> {
    histogram_of(rows, sample).levels().unwrap()
}

/// The histogram of rows. `alike` may return the share that the texts of two rows have in common.
fn compared(rows: &[u64], sample: usize, alike: Option<impl Fn(usize, usize) -> f64>) -> DistanceHistogram {
    let places = sample_of(rows, sample);
    let sample: Vec<u64> = places.iter().map(|&row| rows[row]).collect();
    let mut histogram =
        DistanceHistogram::new(CodeSlice::fingerprints(&sample), BITS, alike.is_some()).unwrap();
    for (row, code) in rows.iter().enumerate() {
        let alike = |query: usize| Ok::<_, ()>(alike.as_ref().unwrap()(places[query], row));
        histogram.add(std::slice::from_ref(code), alike).unwrap();
    }
    histogram
}

#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn nothing_is_odd_about_scattered_rows() {
    let rows: Vec<u64> = (0..20_000).map(scattered).collect();
    let histogram = histogram_of(&rows, 1000);
    assert!(!histogram.is_even() && histogram.crowd().is_none() && histogram.templates().is_none());
    let levels = histogram.levels().unwrap();
    assert!(levels.iter().all(|level| !level.to_search && level.duplicates.is_none()));
    // 19,999 / 2^64 times the number of codes within 20 bits.
    assert!((levels[20].rows / 34.7 - 1.0).abs() < 0.1, "{:?}", levels[20]);
    assert!((levels[32].rows / 11_000.0 - 1.0).abs() < 0.05, "{:?}", levels[32]);
}

/// Codes with half of the bits set, like perceptual hashes that compare with the median.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn codes_with_a_fixed_number_of_set_bits_have_even_distances() {
    let code = |index: u64| {
        let mut places: Vec<u64> = (0..64).collect();
        places.sort_by_key(|place| scattered(index << 6 | place));
        places[..32].iter().fold(0u64, |code, place| code | 1 << place)
    };
    let rows: Vec<u64> = (0..5000).map(code).collect();
    assert!(histogram_of(&rows, 500).is_even());
    assert!(!histogram_of(&[7, 7, 7], 3).is_even());
}

/// 1,000 rows with nearly all bits equal, like pictures without detail.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn a_crowd_is_seen() {
    let rows: Vec<u64> = (0..1000).map(|i| scattered(i) & scattered(i | 1 << 32) & 0xffff).collect();
    let (distance, found) = histogram_of(&rows, 500).crowd().unwrap();
    let mean = rows
        .iter()
        .step_by(3)
        .take(500)
        .map(|a| rows.iter().filter(|&b| (a ^ b).count_ones() <= 6).count() as f64 - 1.0);
    let mean = mean.sum::<f64>() / 334.0;
    assert!(distance == 6 && (found - mean).abs() < 1e-9, "{distance} {found} {mean}");
}

/// Groups of ten rows are within 3 bits. The texts of five rows are alike; the others are from a template.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn duplicates_are_estimated() {
    let rows: Vec<u64> = (0..30_000).map(|i| scattered(i / 10) ^ 1 << (i % 10) ^ 1 << (20 + i % 3)).collect();
    let alike = |a: usize, b: usize| match a / 10 == b / 10 && a % 10 < 5 && b % 10 < 5 {
        true => 0.65,
        false => 0.4,
    };
    let histogram = compared(&rows, 1000, Some(alike));
    let levels = histogram.levels().unwrap();
    let found = levels[4].duplicates.unwrap();
    assert!(levels[4].rows >= 9.0 && (found.rows - 2.0).abs() < 0.3, "{found:?}");
    assert!(found.rows < found.at_most && found.at_most < 2.6, "{found:?}");
    assert!((1000..=4000).contains(&found.compared), "{found:?}");
    let marked: Vec<usize> = (0..levels.len()).filter(|&distance| levels[distance].to_search).collect();
    assert_eq!(marked, [4]);
    assert_eq!(levels[21].duplicates, None);
    let (distance, apart, pairs) = histogram.templates().unwrap();
    assert!(distance == 6 && apart as f64 > 0.6 * pairs as f64 && apart < pairs, "{pairs} {apart}");
}

#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn where_none_are_duplicates_no_radius_is_marked() {
    let rows: Vec<u64> = (0..2000).map(|i| scattered(i % 50)).collect();
    let levels = compared(&rows, 2000, Some(|_, _| 0.0)).levels().unwrap();
    assert!(levels.iter().all(|level| !level.to_search));
    let found = levels[0].duplicates.unwrap();
    // None of 2,000 are duplicates: of 39, at most 0.135 % are.
    assert!(found.rows == 0.0 && (found.at_most / 39.0 - 0.00135).abs() < 0.00005, "{found:?}");
}

/// Half of the rows are versions of the row before them, in which up to so many bits are changed.
fn versions(rows: u64, farthest: u64) -> Vec<u64> {
    (0..rows).map(|i| scattered(i / 2) ^ ((1 << (i % 2 * (i / 2 % (farthest + 1)))) - 1)).collect()
}

fn marked(rows: &[u64], sample: usize) -> Vec<usize> {
    let levels = levels_of(rows, sample);
    (0..levels.len()).filter(|&distance| levels[distance].to_search).collect()
}

#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn without_texts_what_is_not_by_chance_is_marked() {
    // Every 19th row is a query, so that all numbers of changed bits occur.
    assert_eq!(marked(&versions(20_000, 6), 1100), [6]);
    assert_eq!(marked(&versions(20_000, 0), 1000), [0]);
    // Ten pairs are counted from both sides; nine are too few.
    assert_eq!(marked(&versions(20, 2), 20), [2]);
    assert_eq!(marked(&versions(18, 2), 18), []);
    // Within the mark, a query finds fewer than ten others.
    let families = |size: u64| (0..20_000).map(|i| scattered(i / size) ^ (i % size)).collect::<Vec<_>>();
    assert_eq!(marked(&families(10), 1000), [3]);
    assert_eq!(marked(&families(11), 1000), [3]);
    assert_eq!(marked(&(0..2000).map(|i| scattered(i / 20)).collect::<Vec<_>>(), 1000), []);
    // Templates have many rows nearby, but versions are nearer.
    let own = |i: u64| scattered(i | 1 << 40) & scattered(i | 1 << 41) & scattered(i | 1 << 42);
    let row = |i: u64| scattered(i % 3) ^ own(i);
    let rows: Vec<u64> = (0..500).flat_map(|i| [row(i), row(i) ^ ((1 << (i % 3)) - 1)]).collect();
    assert_eq!(marked(&rows, 1000), [2]);
    // All distances are even.
    let even = |i: u64| i << 1 | u64::from(i.count_ones() % 2);
    let rows: Vec<u64> = versions(20_000, 6).into_iter().map(|row| even(row >> 1)).collect();
    assert_eq!(marked(&rows, 1100), [6]);
}

/// A text that is stored a hundred times adds 9,900 pairs to one side, but only a hundred rows.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn rows_are_counted_and_not_pairs() {
    let alone = versions(20_000, 6);
    let is_version = |a: usize, b: usize| f64::from(a.min(b) >= 20_000 || a / 2 == b / 2);
    let same_code = |_| scattered(1 << 50);
    let within_two_bits = |i: u64| scattered(1 << 50) ^ 1 << (i % 64) ^ 1 << (i / 64 % 64);
    let families: [&dyn Fn(u64) -> u64; 2] = [&same_code, &within_two_bits];
    for (copies, family) in [100, 1000, 10_000].into_iter().flat_map(|copies| families.map(|f| (copies, f))) {
        let rows: Vec<u64> = alone.iter().copied().chain((0..copies).map(family)).collect();
        let by_texts = compared(&rows, 1100, Some(is_version)).levels().unwrap();
        assert_eq!(by_texts.iter().position(|level| level.to_search), Some(6), "{copies}");
        assert_eq!(marked(&rows, 1100), [6], "{copies}");
    }
}

/// A query's text is compared with the same rows wherever the query is among the queries.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn the_order_of_the_queries_does_not_matter() {
    let rows: Vec<u64> = (0..600).map(|i| scattered(i / 30) ^ 1 << (i % 7)).collect();
    let levels_of = |queries: &[u64]| {
        let mut histogram = DistanceHistogram::new(CodeSlice::fingerprints(queries), BITS, true).unwrap();
        for (row, code) in rows.iter().enumerate() {
            let alike = |_| Ok::<_, ()>(f64::from(row.is_multiple_of(3)));
            histogram.add(std::slice::from_ref(code), alike).unwrap();
        }
        histogram.levels().unwrap()
    };
    let backwards: Vec<u64> = rows.iter().rev().copied().collect();
    assert_eq!(levels_of(&rows), levels_of(&backwards));
}

/// Where nearly all duplicates are equal, the others decide, unless they are fewer than twenty.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn equal_codes_count_if_there_is_little_else() {
    let with = |changed: u64| -> Vec<u64> {
        let changed = (0..changed).flat_map(|i: u64| [scattered(i | 1 << 41), scattered(i | 1 << 41) ^ 0x1f]);
        (0..2000).map(|i| scattered(i / 2)).chain(changed).collect()
    };
    for (changed, radius) in [(10, 5), (9, 0)] {
        let rows = with(changed);
        assert_eq!(marked(&rows, rows.len()), [radius]);
        let levels = compared(&rows, rows.len(), Some(|a, b| f64::from(a / 2 == b / 2))).levels().unwrap();
        assert_eq!(levels.iter().position(|level| level.to_search), Some(radius));
    }
}

/// Codes of 8,192 bits have 2,561 small distances. Only as many queries are counted as there is room for.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn wide_codes_take_bounded_memory() {
    let room = (COUNTED / 2561) as u32;
    let words: Vec<u64> =
        (0..u64::from(room + 3) * 128).map(|at| scattered(((at / 256) << 7) | (at % 128))).collect();
    let codes = CodeSlice::new(&words, 128);
    let mut histogram = DistanceHistogram::new(codes, 8192, true).unwrap();
    assert!(histogram.near.len() <= COUNTED);
    // Twenty rows find another one that is equal, and two for which there is no room.
    for row in (0..20).chain(room + 1..room + 3) {
        histogram.add(codes.get(row), |_| Ok::<_, ()>(1.0)).unwrap();
    }
    let levels = histogram.levels().unwrap();
    assert_eq!(levels[0].pairs, 22);
    assert_eq!(levels.iter().position(|level| level.to_search), Some(0));
    let found = levels[0].duplicates.unwrap();
    assert!(found.compared == 20 && (found.rows * f64::from(room) - 20.0).abs() < 1e-9, "{found:?}");
}

/// (p + z²/2n + z √(p (1 − p)/n + z²/4n²)) / (1 + z²/n), computed by hand.
#[test]
fn the_limit_is_wilsons() {
    for (seen, of, limit) in [(0.0, 10.0, 0.2130), (3.0, 10.0, 0.5583), (50.0, 100.0, 0.5811)] {
        assert!((wilson(seen / of, of) - limit).abs() < 0.0005, "{seen} of {of}: {}", wilson(seen / of, of));
    }
}

#[test]
fn of_nothing_nothing_is_known() {
    for rows in [vec![], vec![7]] {
        let levels = levels_of(&rows, 10);
        assert_eq!(levels.len(), 65);
        assert!(levels.iter().all(|level| level.pairs == 0 && level.rows == 0.0));
    }
}

proptest! {
    #[test]
    fn counts_are_those_of_plain_loops(
        values in prop::collection::vec((any::<u64>(), 0u32..4), 2..200 / FEWER.min(10)),
        few in 0u32..60,
    ) {
        let row = |&(value, copies): &(u64, u32)| if copies == 0 { 5 } else { value >> few };
        let rows: Vec<u64> = values.iter().map(row).collect();
        let is_third = |a: usize, b: usize| (rows[a] ^ rows[b]).count_ones().is_multiple_of(3);
        let levels = compared(&rows, rows.len(), Some(|a, b| f64::from(is_third(a, b)))).levels().unwrap();
        let distance = &|a: usize, b: usize| (rows[a] ^ rows[b]).count_ones();
        let others = || (0..rows.len()).flat_map(|a| (0..rows.len()).filter(move |&b| b != a).map(move |b| (a, b)));
        for (far, level) in levels.iter().enumerate() {
            let pairs = others().filter(|&(a, b)| distance(a, b) as usize == far).count();
            prop_assert_eq!(level.pairs, pairs as u64);
            let within: Vec<_> = others().filter(|&(a, b)| distance(a, b) as usize <= far).collect();
            let mean = within.len() as f64 / rows.len() as f64;
            prop_assert!((level.rows - mean).abs() < 1e-9, "{:?} {}", level, mean);
            if let Some(duplicates) = level.duplicates {
                let truth = within.iter().filter(|&&(a, b)| is_third(a, b)).count() as f64 / rows.len() as f64;
                prop_assert!((duplicates.rows - truth).abs() < 1e-9, "{:?} {}", level, truth);
                prop_assert!(duplicates.at_most >= truth - 1e-9 && duplicates.at_most <= mean + 1e-9, "{:?}", level);
                // At each distance, a row compares its text with one of the others that are there.
                let compared: HashSet<_> = within.iter().map(|&(a, b)| (a, distance(a, b))).collect();
                prop_assert_eq!(duplicates.compared, compared.len() as u64);
            }
        }
    }

    /// At least half of the pairs within the marked distance are planted, and beyond it more come by chance.
    #[test]
    #[cfg_attr(miri, ignore = "counts work, which takes many rows")]
    fn more_pairs_beyond_the_mark_come_by_chance(farthest in 0u64..20, rows in 500u64..2000) {
        let rows = versions(rows, farthest);
        let sample = sample_of(&rows, 200);
        let mut planted = [0.0; 65];
        let mut by_chance = [0.0; 65];
        for &a in &sample {
            for b in (0..rows.len()).filter(|&b| b != a) {
                let pairs = if a / 2 == b / 2 { &mut planted } else { &mut by_chance };
                pairs[(rows[a] ^ rows[b]).count_ones() as usize] += 1.0;
            }
        }
        let mark = marked(&rows, 200)[0];
        let within = |pairs: &[f64]| pairs[..=mark].iter().sum::<f64>();
        prop_assert!(within(&planted) >= within(&by_chance), "{planted:?} {by_chance:?} {mark}");
        // The estimate of pairs by chance is too high, if anything: for random codes four times. As many as two
        // may be expected where none was found.
        let missed = |far: &usize| planted[*far] > 10.0 * (by_chance[*far] + 2.0);
        let missed: f64 = (mark + 1..=20).filter(missed).map(|far| planted[far]).sum();
        prop_assert!(missed <= 0.06 * planted.iter().sum::<f64>(), "{planted:?} {by_chance:?} {mark}");
    }

    /// Codes of several words with the bits of fingerprints give the same counts.
    #[test]
    fn counts_do_not_depend_on_the_words(
        values in prop::collection::vec(any::<u64>(), 0..300 / FEWER.min(10)),
        few in 0u32..60,
    ) {
        let rows: Vec<u64> = values.iter().map(|value| value >> few).collect();
        let cut: Vec<u64> = rows.iter().flat_map(|row| [row & 0xff, row >> 8 & 0xffff, row >> 24]).collect();
        let mut histogram = DistanceHistogram::new(CodeSlice::new(&cut, 3), BITS, false).unwrap();
        cut.chunks(3).for_each(|row| histogram.add(row, |_| Err("no texts")).unwrap());
        prop_assert_eq!(histogram.levels().unwrap(), levels_of(&rows, rows.len().max(1)));
    }
}
