//! The pages that an index needs when it grows; and those that a search reads: they fit the planner's
//! estimate, and are never many more than one tree has. And the results at the radii where searches change
//! from bands to one tree.

mod memory;

use hamming_index::Layout;
use hamming_index::key::RowId;
use hamming_index::search_cost::{leaves_in, pages_read};
use hamming_index::store::Store;
use memory::{Ball, FEWER, Memory, Query};
use std::collections::HashSet;

/// A number that looks random (the finalizer of SplitMix64).
fn scattered(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// Every other fingerprint is scattered; the others are up to two bits from the center of a cluster of fifty.
fn clustered(number: u64) -> u64 {
    let noise = 1 << (number % 61) ^ 1 << (number / 7 % 61);
    if number.is_multiple_of(2) { scattered(number) } else { scattered(!(number / 100)) ^ noise }
}

/// Each bit is set with probability 4/5.
fn biased(number: u64) -> u64 {
    let [a, b, c, d, e] = std::array::from_fn(|part| scattered(number * 5 + part as u64));
    a | b | c & d & e
}

/// A tenth of the fingerprints are equal.
fn skewed(number: u64) -> u64 {
    if number.is_multiple_of(10) { 4242 } else { scattered(number) }
}

fn row(number: u64) -> RowId {
    RowId::new((number / 100) as u32, (number % 100) as u16 + 1)
}

/// An index with pages filled to this percentage.
fn built(fingerprints: impl Iterator<Item = u64>, fill: usize) -> Memory {
    let rows: Vec<_> = (0..).zip(fingerprints).map(|(number, f)| (Some(f), row(number))).collect();
    Memory::built(rows.len() / fill + 100, &rows, fill, 1_000_000)
}

fn within(center: u64, radius: u32) -> Query {
    Query { balls: vec![Ball { center, radius }], values: true, ..Query::default() }
}

/// Some queries are fingerprints of rows; the others are near no row.
fn centers(fingerprint: fn(u64) -> u64) -> impl Iterator<Item = u64> {
    (0..10).map(move |n| fingerprint(n * 37 + n % 2 * 1_000_000_000))
}

#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn scattered_rows_take_the_pages_that_are_expected() {
    for (rows, fingerprint) in
        [(30_000, scattered as fn(u64) -> u64), (100_000, clustered), (150_000, scattered)]
    {
        let memory = built((0..rows).map(fingerprint), 95);
        let leaves = leaves_in(memory.pages(), Layout::FINGERPRINTS);
        for radius in 0..=64 {
            let pages = |center| memory.pages_read(within(center, radius), leaves);
            let all: Vec<usize> = centers(fingerprint).map(pages).collect();
            let mean = all.iter().sum::<usize>() as f64 / all.len() as f64;
            let most = all.iter().max();
            let expected = pages_read(leaves, radius, 64);
            assert!(
                (mean - expected).abs() <= 0.06 * expected + 3.0,
                "{rows}, {radius}: {mean}, not {expected}"
            );
            assert!(
                most.is_some_and(|&most| most as f64 <= 1.05 * leaves + 5.0),
                "{rows}, {radius}: {most:?}"
            );
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn bands_that_read_too_much_are_soon_given_up() {
    for (fingerprint, trees) in [(biased as fn(u64) -> u64, 1.75), (skewed, 1.25)] {
        let memory = built((0..150_000).map(fingerprint), 95);
        let leaves = leaves_in(memory.pages(), Layout::FINGERPRINTS);
        for (center, radius) in centers(fingerprint).flat_map(|center| (0..=64).map(move |r| (center, r))) {
            let pages = memory.pages_read(within(center, radius), leaves) as f64;
            assert!(pages <= trees * leaves, "{center}, {radius}: {pages} pages, {leaves} leaves in a tree");
        }
    }
}

/// If a search assumes that a tree is smaller than it is, it reads one tree from the beginning or changes to
/// it midway. Nearly empty pages make trees of 2,000 leaves from few rows.
#[test]
fn answers_are_the_same_by_bands_and_by_one_tree() {
    for fingerprint in [clustered, biased, skewed] {
        let fingerprints: Vec<u64> = (0..60_000 / FEWER as u64).map(fingerprint).collect();
        let memory = built(fingerprints.iter().copied(), 5);
        for center in centers(fingerprint).take(4 / FEWER.min(2)) {
            for radius in (13..=24).step_by(FEWER.min(12)) {
                let near = (0..).zip(&fingerprints).filter(|&(_, f)| (f ^ center).count_ones() <= radius);
                let expected: Vec<RowId> = near.map(|(number, _)| row(number)).collect();
                for assumed in [1.0, 350.0, 500.0, 900.0, 1900.0, 1e9] {
                    let hits = memory.search(within(center, radius), assumed, 1000);
                    let mut found: Vec<RowId> = hits.iter().map(|hit| hit.row).collect();
                    found.sort_unstable();
                    assert_eq!(found, expected, "{center}, {radius}, {assumed}");
                }
            }
        }
    }
}

/// An index of the first rows, to which the others are inserted. Returns the largest share of its pages among
/// those of an index that is built from the same rows, while it grows to twice its size.
fn largest_growth(fingerprint: fn(u64) -> u64, rows: u64) -> f64 {
    let pages_of_new = |rows: u64| f64::from(built((0..rows).map(fingerprint), 95).pages());
    let room = 4 * rows as usize / 100;
    let first: Vec<_> = (0..rows).map(|number| (Some(fingerprint(number)), row(number))).collect();
    let grown = Memory::built(room, &first, 95, 1_000_000);
    let mut largest: f64 = 1.0;
    for number in rows..2 * rows {
        grown.insert(Some(fingerprint(number)), row(number));
        if (number + 1).is_multiple_of(rows / 20) {
            largest = largest.max(f64::from(grown.pages()) / pages_of_new(number + 1));
        }
    }
    largest
}

#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn an_index_that_grows_is_little_larger_than_a_new_one() {
    for (name, fingerprint) in [
        ("scattered", scattered as fn(u64) -> u64),
        ("clustered", clustered),
        ("ascending", |number| number << 20),
    ] {
        let largest = largest_growth(fingerprint, 40_000);
        assert!(largest < 1.3, "{name}: {largest:.2}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn an_index_whose_rows_are_updated_stays_small() {
    const ROWS: u64 = 40_000;
    let first: Vec<_> = (0..ROWS).map(|number| (Some(scattered(number)), row(number))).collect();
    let memory = Memory::built(4 * ROWS as usize / 100, &first, 95, 1_000_000);
    let new_pages = f64::from(memory.pages());
    let mut places: Vec<u64> = (0..ROWS).collect();
    let mut next_place = ROWS;
    for round in 0..15 {
        let mut dead = HashSet::new();
        // Autovacuum begins when a fifth of the rows are dead.
        for update in 0..ROWS / 5 {
            let number = scattered(round * ROWS + update) % ROWS;
            let place = &mut places[number as usize];
            dead.insert(row(*place));
            *place = next_place;
            memory.insert(Some(scattered(number)), row(next_place));
            next_place += 1;
        }
        memory.index().vacuum(&mut |row| dead.contains(&row));
    }
    let share = f64::from(memory.pages()) / new_pages;
    assert!(share < 1.6, "{share:.2}");
}
