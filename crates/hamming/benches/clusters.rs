//! The cost of clusters and near pairs for rows that lie more closely than fingerprints of texts do. It is
//! given in seconds of processor time, which other work on the machine does not change.

#![allow(clippy::unwrap_used, reason = "a benchmark may stop at the first surprise")]

use hamming::clusters::{Linkage, keepers};
use hamming::near_pairs::near_pairs;
use limits::OutOfMemory;
use std::fs;

const ROWS: u64 = 300_000;

/// The largest radius at which pairs are counted; beyond it they are too many.
const MAX_RADIUS_OF_PAIRS: u32 = 3;

/// A permutation of all 64-bit numbers, as scattered as can be.
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

/// Half scattered, half in clusters of 50 that differ in up to four bits.
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

fn processor_seconds() -> f64 {
    let time = fs::read_to_string("/proc/self/schedstat").unwrap();
    time.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

fn main() {
    let only: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let data: [(&str, Vec<u64>); 7] = [
        ("usual", usual()),
        ("dense", (1..=ROWS).collect()),
        ("shuffled", shuffled()),
        ("shifted", (1..=ROWS).map(|value| value << 20).collect()),
        ("equal", vec![42; 1_000_000]),
        ("mixed", mixed()),
        ("crowds", crowds()),
    ];
    println!(
        "{:10} {:>6} {:>8} {:>10} {:>8} {:>10}",
        "", "radius", "leader", "connected", "pairs", "of them"
    );
    for (name, values) in
        data.iter().filter(|(name, _)| only.is_empty() || only.iter().any(|only| only == name))
    {
        for radius in [0, 1, 3, 6, 12].into_iter().filter(|&radius| *name != "usual" || radius <= 6) {
            let seconds = |work: &mut dyn FnMut()| {
                let begin = processor_seconds();
                work();
                processor_seconds() - begin
            };
            let of = |linkage| seconds(&mut || drop(keepers(values, radius, linkage, &mut || ()).unwrap()));
            let (leader, connected) = (of(Linkage::Leader), of(Linkage::Connected));
            print!("{name:10} {radius:6} {leader:8.2} {connected:10.2}");
            if radius <= MAX_RADIUS_OF_PAIRS && *name != "equal" {
                let mut count = 0u64;
                let mut add = |_, _| {
                    count += 1;
                    Ok::<(), OutOfMemory>(())
                };
                let pairs = seconds(&mut || near_pairs(values, radius, &mut || (), &mut add).unwrap());
                print!(" {pairs:8.2} {count:10}");
            }
            println!();
        }
    }
}
