//! The time of clusters and near pairs for rows that are closer than fingerprints of texts usually are. It is
//! processor time, on which other work on the machine has no effect.

#![allow(clippy::unwrap_used, reason = "a benchmark may stop at the first surprise")]

use base::OutOfMemory;
use hamming::clusters::{Linkage, keepers};
use hamming::code::CodeSlice;
use hamming::near_pairs::near_pairs;
use std::fs;

const ROWS: u64 = 300_000;

/// The largest radius at which pairs are counted. Beyond it there are too many.
const MAX_RADIUS_OF_PAIRS: u32 = 3;

/// A permutation of all 64-bit numbers that looks random.
fn scatter(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

fn shuffled() -> Vec<u64> {
    let mut values: Vec<u64> = (1..=ROWS).collect();
    values.sort_by_key(|&value| scatter(value));
    values
}

/// Half of the rows are scattered, and half are in clusters of 50 that differ in up to four bits.
fn usual() -> Vec<u64> {
    let rows = 1_000_000;
    let member = |row: u64| scatter((row % (rows / 50)) << 32) ^ 1u64 << (row % 61) ^ 1u64 << (row % 53);
    (1..=rows).map(|row| if row % 2 == 0 { scatter(row) } else { member(row) }).collect()
}

/// Dense values among scattered ones.
fn mixed() -> Vec<u64> {
    (1..=ROWS).flat_map(|row| [row << 20, scatter(row)]).collect()
}

/// Members of ten clusters, each up to four bits away from the center of its cluster.
fn crowds() -> Vec<u64> {
    let flips = |row: u64| (0..4).fold(0, |flips, flip| flips ^ 1u64 << (scatter(row << 8 | flip) % 64));
    (1..=ROWS).map(|row| scatter(row % 10) ^ flips(row)).collect()
}

/// A million codes of 256 bits, half of them in clusters of 8 that differ from their center in up to 30 bits.
fn codes() -> Vec<u64> {
    let rows = 1_000_000;
    let word = |row: u64| if row < rows / 2 { row } else { row & !7 };
    let words = (0..rows).flat_map(|row| (0..4).map(move |index| scatter(word(row) << 2 | index)));
    let mut words: Vec<u64> = words.collect();
    for row in rows / 2..rows {
        for flip in 0..scatter(row << 16) % 31 {
            let bit = scatter(row << 8 | flip) % 256;
            words[(4 * row + bit / 64) as usize] ^= 1 << (bit % 64);
        }
    }
    words
}

/// The same, but half of the rows share their first word, and a tenth have one of 300 second words.
fn skewed_codes() -> Vec<u64> {
    let mut words = codes();
    for (row, code) in words.chunks_exact_mut(4).enumerate() {
        if row % 2 == 0 {
            code[0] = 0;
        }
        if row % 10 == 0 {
            code[1] = scatter(row as u64 % 3000);
        }
    }
    words
}

fn processor_seconds() -> f64 {
    let time = fs::read_to_string("/proc/self/schedstat").unwrap();
    time.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

fn main() {
    let only: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    type Data = (&'static str, fn() -> Vec<u64>, usize, &'static [u32]);
    let radii: &[u32] = &[0, 1, 3, 6, 12];
    let data: [Data; 9] = [
        ("usual", usual, 1, &radii[..4]),
        ("dense", || (1..=ROWS).collect(), 1, radii),
        ("shuffled", shuffled, 1, radii),
        ("shifted", || (1..=ROWS).map(|value| value << 20).collect(), 1, radii),
        ("equal", || vec![42; 1_000_000], 1, radii),
        ("mixed", mixed, 1, radii),
        ("crowds", crowds, 1, radii),
        ("codes", codes, 4, &[0, 12, 31, 45]),
        ("skewed codes", skewed_codes, 4, &[0, 12, 31]),
    ];
    println!(
        "{:12} {:>6} {:>8} {:>10} {:>8} {:>10}",
        "", "radius", "leader", "connected", "pairs", "of them"
    );
    for (name, values, width, radii) in
        data.iter().filter(|(name, ..)| only.is_empty() || only.iter().any(|only| only == name))
    {
        let words = values();
        let codes = CodeSlice::new(&words, *width);
        for &radius in *radii {
            let seconds = |work: &mut dyn FnMut()| {
                let begin = processor_seconds();
                work();
                processor_seconds() - begin
            };
            let of = |linkage| seconds(&mut || drop(keepers(codes, radius, linkage, &mut || ()).unwrap()));
            let leader = of(Linkage::Leader);
            let connected = of(Linkage::Connected);
            print!("{name:12} {radius:6} {leader:8.2} {connected:10.2}");
            if (radius <= MAX_RADIUS_OF_PAIRS || *width > 1) && *name != "equal" {
                let mut count = 0u64;
                let mut add = |_, _| {
                    count += 1;
                    Ok::<(), OutOfMemory>(())
                };
                let pairs = seconds(&mut || near_pairs(codes, radius, &mut || (), &mut add).unwrap());
                print!(" {pairs:8.2} {count:10}");
            }
            println!();
        }
    }
}
