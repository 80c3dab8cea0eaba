//! Near pairs and clusters of codes of any width, compared with plain loops.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use base::OutOfMemory;
use hamming::clusters::{Linkage, keepers};
use hamming::code::{CodeCutter, CodeSlice, distance_of_words};
use hamming::near_pairs::{JoinSides, MAX_SEGMENT_BITS, PairBlocks, PairSearch, near_pairs};
use proptest::prelude::*;

/// How many times fewer rows a test has that miri interprets, ten thousand times slower than it runs.
const FEWER: u64 = if cfg!(miri) { 20 } else { 1 };

/// Codes, and the number of words of each.
#[derive(Debug)]
struct Table {
    words: Vec<u64>,
    width: usize,
}

/// The distribution of a table's codes.
#[derive(Clone, Copy, Debug)]
struct Spread {
    bits: u32,
    rows: u64,
    /// The percentage of rows that are near another row.
    related: u64,
    /// The percentage of rows that share words with others.
    skewed: u64,
    /// The number of different words that such rows share.
    popular: u64,
    /// Which bits of these words are not shared: none, the highest or the lowest ones.
    kept: usize,
    seed: u64,
}

fn mixed(seed: u64, number: u64) -> u64 {
    let value = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

impl Table {
    fn of(spread: Spread) -> Self {
        let Spread { bits, rows, related, skewed, popular, seed, .. } = spread;
        let cutter = CodeCutter::new(bits);
        let width = cutter.width();
        let mut words = Vec::new();
        for row in 0..rows {
            let chance = |number| mixed(seed ^ row << 20, number);
            let center = if chance(0) % 100 < related { chance(1) % 20 } else { 1000 + row };
            let mut string: Vec<u8> =
                (0..u64::from(bits.div_ceil(8))).map(|byte| mixed(seed ^ center << 40, byte) as u8).collect();
            for flip in 0..chance(2) % 9 {
                let bit = chance(3 + flip) % u64::from(bits);
                string[bit as usize / 8] ^= 0x80 >> (bit % 8);
            }
            let first = words.len();
            words.extend(cutter.words_of(&string));
            if chance(20) % 4 == 0 {
                words[first + chance(21) as usize % width] ^= chance(22) & chance(23) & chance(24);
            }
            if chance(30) % 100 < skewed {
                // The first or the last words, or a part of them, are shared.
                let shared = 1 + chance(31) as usize % width;
                let from = first + if chance(32) % 2 == 0 { 0 } else { width - shared };
                let value = mixed(seed, chance(33) % popular);
                let kept = [0, u64::MAX << 22, u64::MAX >> 22][spread.kept];
                words[from..from + shared].iter_mut().for_each(|word| *word = *word & kept | value & !kept);
            }
        }
        Self { words, width }
    }

    fn codes(&self) -> CodeSlice<'_> {
        CodeSlice::new(&self.words, self.width)
    }

    fn is_near(&self, a: u32, b: u32, radius: u32) -> bool {
        distance_of_words(self.codes().get(a), self.codes().get(b)) <= radius
    }

    fn naive_pairs(&self, radius: u32) -> Vec<(u32, u32)> {
        let all = || 0..self.codes().len() as u32;
        all()
            .flat_map(|a| (a + 1..all().end).map(move |b| (a, b)))
            .filter(|&(a, b)| self.is_near(a, b, radius))
            .collect()
    }
}

fn found(table: &Table, radius: u32) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    near_pairs(table.codes(), radius, &mut || (), &mut |a, b| push(&mut pairs, a, b)).unwrap();
    pairs.sort_unstable();
    pairs
}

fn push(pairs: &mut Vec<(u32, u32)>, a: u32, b: u32) -> Result<(), OutOfMemory> {
    pairs.push((a, b));
    Ok(())
}

/// Few rows with codes of any width.
fn any_spread(rows: std::ops::Range<u64>) -> impl Strategy<Value = Spread> {
    (1u32..=600, rows, 0u64..100, prop_oneof![Just(0u64), 0u64..100], 1u64..4, 0usize..3, any::<u64>())
        .prop_map(|(bits, rows, related, skewed, popular, kept, seed)| Spread {
            bits,
            rows,
            related,
            skewed,
            popular,
            kept,
            seed,
        })
}

/// Any radius, often a small one.
fn any_radius() -> impl Strategy<Value = u32> {
    prop_oneof![0u32..60, 0u32..=601]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn finds_each_pair_once(spread in any_spread(0..400 / FEWER), radius in any_radius(), widest in 1..=MAX_SEGMENT_BITS) {
        let table = Table::of(spread);
        let expected = table.naive_pairs(radius);
        prop_assert_eq!(&found(&table, radius), &expected);
        let middle = (spread.seed % (spread.rows + 1)) as usize;
        let (left, right) = table.words.split_at(middle * table.width);
        let left = CodeSlice::new(left, table.width);
        let right = CodeSlice::new(right, table.width);
        let mut pairs = Vec::new();
        let mut add = |a, b| push(&mut pairs, a, b + middle as u32);
        PairSearch::between([left, right], radius, widest).unwrap().all(JoinSides::between([left, right]), &mut || (), &mut add).unwrap();
        pairs.sort_unstable();
        let crosses = |&(a, b): &(u32, u32)| (a as usize) < middle && b as usize >= middle;
        prop_assert_eq!(pairs, expected.into_iter().filter(crosses).collect::<Vec<_>>());
    }

    #[test]
    fn clusters_are_those_of_the_definition(spread in any_spread(0..200 / FEWER), radius in any_radius()) {
        let table = Table::of(spread);
        let rows = table.codes().len() as u32;
        let mut leaders: Vec<u32> = Vec::new();
        let mut connected: Vec<u32> = (0..rows).collect();
        for row in 0..rows {
            let near: Vec<u32> = (0..row).filter(|&other| table.is_near(other, row, radius)).collect();
            let leader = near.iter().copied().find(|&other| leaders[other as usize] == other);
            leaders.push(leader.unwrap_or(row));
            for other in near {
                let a = connected[other as usize];
                let b = connected[row as usize];
                connected.iter_mut().filter(|keeper| **keeper == a.max(b)).for_each(|keeper| *keeper = a.min(b));
            }
        }
        for (linkage, expected) in [(Linkage::Leader, leaders), (Linkage::Connected, connected)] {
            prop_assert_eq!(keepers(table.codes(), radius, linkage, &mut || ()).unwrap(), expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn near_codes_share_a_block(
        spread in any_spread(0..200 / FEWER),
        radius in prop_oneof![3 => 0u32..20, 1 => 0u32..=600],
        parts in 1u32..14,
    ) {
        let table = Table::of(spread);
        let radius = radius.min(spread.bits);
        let blocks = PairBlocks::new(spread.bits, radius, parts);
        let blocks_of: Vec<_> = table.codes().iter().map(|code| blocks.blocks_of(code).unwrap()).collect();
        for (a, b) in table.naive_pairs(radius) {
            let [a, b] = [a, b].map(|place| &blocks_of[place as usize]);
            prop_assert!(a.iter().any(|block| b.contains(block)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    /// Enough rows for those with a popular word to be a crowd.
    #[test]
    fn crowds_are_joined_once(
        spread in any_spread(1500 / FEWER..4000 / FEWER),
        bits in prop_oneof![Just(65u32), 128u32..=300],
        skewed in 30u64..100,
        radius in 0u32..40,
    ) {
        let table = Table::of(Spread { bits, skewed, ..spread });
        prop_assert_eq!(found(&table, radius), table.naive_pairs(radius));
    }
}
