use super::*;
use proptest::prelude::*;

fn scattered(index: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64(&index.to_le_bytes())
}

fn sample_of(rows: &[u64], sample: usize) -> Vec<usize> {
    (0..rows.len()).step_by((rows.len() / sample) | 1).take(sample).collect()
}

fn levels_of(rows: &[u64], sample: usize) -> Vec<DistanceLevel> {
    let sample: Vec<u64> = sample_of(rows, sample).into_iter().map(|row| rows[row]).collect();
    let mut histogram = DistanceHistogram::new(CodeSlice::fingerprints(&sample), BITS).unwrap();
    for rows in rows.chunks(777) {
        histogram.add(CodeSlice::fingerprints(rows), &mut || ());
    }
    histogram.levels(&mut || ()).unwrap()
}

/// The same where somebody says of two rows whether their texts are alike.
fn judged_levels(rows: &[u64], sample: usize, is_alike: impl Fn(usize, usize) -> bool) -> Vec<DistanceLevel> {
    let places = sample_of(rows, sample);
    let sample: Vec<u64> = places.iter().map(|&row| rows[row]).collect();
    let mut histogram = DistanceHistogram::new(CodeSlice::fingerprints(&sample), BITS).unwrap();
    histogram.judge_pairs_of(CodeSlice::fingerprints(&sample)).unwrap();
    for (row, code) in rows.iter().enumerate() {
        histogram.add(CodeSlice::fingerprints(std::slice::from_ref(code)), &mut || ());
        while let Some(pair) = histogram.next_to_judge() {
            let query = places[pair.query];
            assert_eq!((rows[query] ^ code).count_ones(), pair.distance);
            histogram.judge(pair, is_alike(query, row));
        }
    }
    histogram.levels(&mut || ()).unwrap()
}

/// The reasons with the distances at which they are given.
fn reasons(levels: &[DistanceLevel]) -> Vec<(u32, &str)> {
    levels.iter().filter_map(|level| Some((level.distance, level.reason.as_deref()?))).collect()
}

#[test]
fn scattered_rows_have_no_reasons() {
    let rows: Vec<u64> = (0..20_000).map(scattered).collect();
    let levels = levels_of(&rows, 2000);
    assert_eq!(reasons(&levels), []);
    assert!(levels.iter().all(|level| !level.to_search && level.alike.is_none()));
    // 19,999 of 2^64 times the number of codes within 20 bits.
    assert!((levels[20].rows / 34.7 - 1.0).abs() < 0.1, "{:?}", levels[20]);
    assert!((levels[32].rows / 11_000.0 - 1.0).abs() < 0.05, "{:?}", levels[32]);
}

/// Codes with half of the bits set, as perceptual hashes have that cut at the median.
#[test]
fn codes_with_a_fixed_number_of_set_bits_have_even_distances() {
    let code = |index: u64| {
        let mut places: Vec<u64> = (0..64).collect();
        places.sort_by_key(|place| scattered(index << 6 | place));
        places[..32].iter().fold(0u64, |code, place| code | 1 << place)
    };
    let rows: Vec<u64> = (0..20_000).map(code).collect();
    let levels = levels_of(&rows, 1000);
    assert_eq!(reasons(&levels), [(1, "all 453628 distances of the sample are even")]);
    assert_eq!(levels[18].rows, levels[19].rows);
    assert!(levels.windows(2).all(|pair| pair[0].rows <= pair[1].rows));
}

/// Of 1,000 rows nearly all bits are the same, as of pictures without detail.
#[test]
fn a_crowd_is_named() {
    let rows: Vec<u64> = (0..1000).map(|i| scattered(i) & scattered(i | 1 << 32) & 0xffff_ffff).collect();
    let levels = levels_of(&rows, 500);
    let [(distance, reason)] = reasons(&levels)[..] else { panic!("{levels:?}") };
    let expected =
        format!("{} rows are within distance {distance} of a row", levels[distance as usize].rows.round());
    assert!((1..=10).contains(&distance) && reason.starts_with(&expected), "{distance} {reason}");
    assert!(reason.ends_with(": versions, siblings of a template, or pictures without detail"));
}

/// Each ten rows are within 3 bits of one of them; the first five have texts alike.
#[test]
fn rows_with_texts_alike_are_estimated() {
    let rows: Vec<u64> = (0..30_000).map(|i| scattered(i / 10) ^ 1 << (i % 10) ^ 1 << (20 + i % 3)).collect();
    let is_alike = |a: usize, b: usize| a / 10 == b / 10 && a % 10 < 5 && b % 10 < 5;
    let levels = judged_levels(&rows, 1000, is_alike);
    let level = &levels[4];
    assert!(level.rows >= 9.0 && (level.alike.unwrap() - 2.0).abs() < 0.3, "{level:?}");
    assert!((1000..=4000).contains(&level.compared.unwrap()), "{level:?}");
    let marked: Vec<u32> =
        levels.iter().filter(|level| level.to_search).map(|level| level.distance).collect();
    assert_eq!(marked, [4]);
    assert_eq!(reasons(&levels)[0], (4, "finds 95 % of the rows with texts alike"));
    assert_eq!(levels[21].alike, None);
}

#[test]
fn where_no_texts_are_alike_no_radius_is_marked() {
    let rows: Vec<u64> = (0..2000).map(|i| scattered(i % 50)).collect();
    let levels = judged_levels(&rows, 100, |_, _| false);
    assert!(levels.iter().all(|level| !level.to_search));
    assert_eq!(
        reasons(&levels),
        [(0, "39 rows are within distance 0 of a row, but only 0 with texts alike")]
    );
}

#[test]
fn of_nothing_nothing_is_known() {
    for rows in [vec![], vec![7]] {
        let levels = levels_of(&rows, 10);
        assert_eq!(levels.len(), 65);
        assert!(levels.iter().all(|level| level.pairs == 0 && level.rows == 0.0 && level.reason.is_none()));
    }
}

proptest! {
    #[test]
    fn counts_are_those_of_plain_loops(
        values in prop::collection::vec((any::<u64>(), 0u32..4), 2..200),
        few in 0u32..60,
    ) {
        let row = |&(value, copies): &(u64, u32)| if copies == 0 { 5 } else { value >> few };
        let rows: Vec<u64> = values.iter().map(row).collect();
        let levels = judged_levels(&rows, rows.len(), |a, b| (rows[a] ^ rows[b]).count_ones().is_multiple_of(3));
        let distance = &|a: usize, b: usize| (rows[a] ^ rows[b]).count_ones();
        let others = || (0..rows.len()).flat_map(|a| (0..rows.len()).filter(move |&b| b != a).map(move |b| (a, b)));
        for level in &levels {
            let pairs = others().filter(|&(a, b)| a < b && distance(a, b) == level.distance).count();
            prop_assert_eq!(level.pairs, pairs as u64);
            let within: Vec<_> = others().filter(|&(a, b)| distance(a, b) <= level.distance).collect();
            let mean = within.len() as f64 / rows.len() as f64;
            prop_assert!((level.rows - mean).abs() < 1e-9, "{:?} {}", level, mean);
            // Of fewer than a thousand pairs at each distance, all are judged.
            if let (Some(alike), true) = (level.alike, rows.len() < 30) {
                let truth = within.iter().filter(|&&(a, b)| distance(a, b) % 3 == 0).count() as f64 / rows.len() as f64;
                prop_assert!((alike - truth).abs() < 1e-9, "{:?} {}", level, truth);
            }
        }
    }

    /// A code of several words that has the bits of a fingerprint gives the same counts.
    #[test]
    fn counts_do_not_depend_on_the_words(values in prop::collection::vec(any::<u64>(), 0..300), few in 0u32..60) {
        let rows: Vec<u64> = values.iter().map(|value| value >> few).collect();
        let cut: Vec<u64> = rows.iter().flat_map(|row| [row & 0xff, row >> 8 & 0xffff, row >> 24]).collect();
        let mut histogram = DistanceHistogram::new(CodeSlice::new(&cut, 3), BITS).unwrap();
        histogram.add(CodeSlice::new(&cut, 3), &mut || ());
        prop_assert_eq!(histogram.levels(&mut || ()).unwrap(), levels_of(&rows, rows.len().max(1)));
    }
}
