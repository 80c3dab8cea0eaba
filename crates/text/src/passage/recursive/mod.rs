//! Recursive shingling: hashes of pieces of 4, 16, 64 … symbols, which occur wherever a text is repeated.
//!
//! Kragen Javier Sitaker, "Hashing text with recursive shingling to find duplication efficiently", 2021. A
//! text is cut into pieces of four symbols, beginning at the first, second and third symbol: three of the
//! four ways. The hashes of each way are a text of a quarter of the length, which is cut in the same way. So
//! a piece of level l has 4^l symbols, and begins at every position whose l lowest digits in base 4 are all
//! less than 3.
//!
//! Guarantee: every run of 5, 21, 85, 341 … symbols contains a whole piece of level 1, 2, 3, 4 …, wherever it
//! is. For a common hash of two texts, their common run must be longer, since the piece must be one in both
//! texts: 6, 26, 106, 426 … symbols. The source does not mention that.
//!
//! Cost: linear time. There are at most 3 hashes per symbol over all levels. Memory: four hashes for each
//! piece of the level below the highest that has begun.

mod rows;
mod sketch;

pub use sketch::passage_sketch;

use crate::passage::shared::MIN_LENGTH;
use base::{Heartbeat, Limit, Problem};
use rows::{GROUP, Row, hash_group, is_kept, kind_of, length_of};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// The highest level: pieces of 16,777,216 symbols.
const MAX_LEVEL: i64 = 12;

/// A piece of text and its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shingle {
    /// The level, from 1: a piece of level l has 4^l symbols.
    pub level: u32,
    /// The hash of the piece's symbols.
    pub hash: u64,
    /// The number of the piece's first symbol in the text, from 0.
    pub position: usize,
    /// The piece's length in symbols.
    pub length: usize,
}

/// The length of a run that always gives two texts a common hash of this level, wherever it is in each text.
pub fn shared_guarantee(level: u32) -> usize {
    (0..level).fold(1, |guarantee, _| 4 * guarantee + 2)
}

/// The highest level at which texts with a common run of this length always have a common hash; `None` for
/// less than 6 symbols.
pub fn level_for(length: usize) -> Option<u32> {
    (1..=MAX_LEVEL as u32).rev().find(|&level| shared_guarantee(level) <= length)
}

/// The problem of a length that is too short for any level.
pub fn no_level(length: impl Display) -> Problem {
    let min = shared_guarantee(1) as i64;
    let max = MIN_LENGTH.max();
    Problem::out_of_range("min_length", length, min, max)
        .with_hint("To find shorter passages, use shared_passages on the texts themselves.")
}

/// The range of levels from `min_level` to `max_level`, if both are allowed.
pub fn levels<T>(min_level: T, max_level: T) -> Result<RangeInclusive<u32>, Problem>
where
    T: Copy + Display + TryInto<i64>,
{
    let max: u32 = Limit::new("max_level", 1, MAX_LEVEL).of(max_level)?;
    let min = Limit::new("min_level", 1, max.into()).of(min_level)?;
    Ok(min..=max)
}

/// Takes the symbols of a text, and passes on the pieces that they complete.
#[derive(Clone, Debug)]
pub struct RecursiveShingler {
    levels: RangeInclusive<u32>,
    /// The number of symbols taken so far.
    symbols: usize,
    /// For each level but the highest, the last pieces. The pieces of level 0 are the symbols.
    rows: Vec<Row>,
}

impl RecursiveShingler {
    /// A shingler for these levels, and for a text of at most this number of symbols.
    pub fn new(
        levels: RangeInclusive<u32>,
        symbols: usize,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Self, Problem> {
        let levels = self::levels(*levels.start(), *levels.end())?;
        let fitting = (1..=*levels.end()).take_while(|&level| length_of(level) <= symbols).count() as u32;
        let rows = (0..fitting).map(|level| Row::new(level, symbols, heartbeat)).collect::<Result<_, _>>()?;
        Ok(Self { levels: *levels.start()..=fitting, symbols: 0, rows })
    }

    /// Takes symbols, and passes on the pieces that end with one of them.
    pub fn add(&mut self, symbols: impl IntoIterator<Item = u64>, consumer: &mut impl FnMut(Shingle)) {
        let mut symbols = symbols.into_iter();
        while !self.rows.is_empty() {
            let before = self.symbols;
            for (level, row) in (0..).zip(&mut self.rows) {
                row.make_room(level, before);
            }
            let places = self.rows[0].next_symbols(before).iter_mut();
            self.symbols += places.zip(&mut symbols).map(|(place, symbol)| *place = symbol).count();
            if self.symbols == before {
                return;
            }
            for level in 1..=self.rows.len() as u32 {
                self.complete(level, before, consumer);
            }
        }
    }

    /// Passes on the pieces of a level that end after the first `before` symbols.
    ///
    /// A group that is not complete is hashed as well, and once more after further symbols.
    fn complete(&mut self, level: u32, before: usize, consumer: &mut impl FnMut(Shingle)) {
        let length = length_of(level);
        let quarter = length_of(level - 1);
        let (below, above) = self.rows.split_at_mut(level as usize);
        let Some(below) = below.last() else { return };
        let mut above = above.first_mut();
        let mut highest = [0; GROUP];
        let is_wanted = self.levels.contains(&level);
        let new = (before + 1).saturating_sub(length)..(self.symbols + 1).saturating_sub(length);
        let kind = kind_of(level);
        let groups = (new.start / GROUP * GROUP..new.end).step_by(GROUP);
        for start in groups.filter(|start| is_kept(start % length)) {
            let parts = std::array::from_fn(|part| below.group(start + part * quarter));
            let hashes = above.as_mut().map_or(&mut highest, |row| row.group_mut(start));
            let mut pass_on = |at, hash| consumer(Shingle { level, hash, position: start + at, length });
            if !is_wanted {
                hash_group(parts, kind, hashes, |_, _| ());
            } else if new.start <= start && start + GROUP <= new.end {
                hash_group(parts, kind, hashes, pass_on);
            } else {
                hash_group(parts, kind, hashes, |at, hash| {
                    if new.contains(&(start + at)) {
                        pass_on(at, hash);
                    }
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::rows::hash;
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeSet, HashSet};

    /// The length of a run that always contains a whole piece of this level.
    fn guarantee(level: u32) -> usize {
        (0..level).fold(1, |guarantee, _| 4 * guarantee + 1)
    }

    fn shingles(text: &[u8], levels: RangeInclusive<u32>) -> Vec<Shingle> {
        let mut shingles = Vec::new();
        let mut shingler = RecursiveShingler::new(levels, text.len(), &mut || ()).unwrap();
        // In two calls, since a text may come in parts.
        let (head, tail) = text.split_at(text.len() / 3);
        for part in [head, tail] {
            shingler.add(part.iter().map(|&byte| byte.into()), &mut |shingle| shingles.push(shingle));
        }
        shingles
    }

    /// The recursion of the source: cuts a text in three of four ways, and then each text of hashes.
    fn naive_shingles(hashes: &[u64], level: u32, start: usize, step: usize, found: &mut Vec<Shingle>) {
        for way in 0..3.min(hashes.len()) {
            let summary: Vec<u64> =
                hashes[way..].chunks_exact(4).map(|four| hash(four.try_into().unwrap())).collect();
            let first = start + way * step;
            found.extend(summary.iter().enumerate().map(|(index, &hash)| Shingle {
                level,
                hash,
                position: first + index * 4 * step,
                length: 4 * step,
            }));
            naive_shingles(&summary, level + 1, first, 4 * step, found);
        }
    }

    #[test]
    fn guarantees_are_those_of_the_source() {
        let expected = [5, 21, 85, 341, 1365, 5461, 21845, 87381, 349_525, 1_398_101];
        assert_eq!((1..=10).map(guarantee).collect::<Vec<_>>(), expected);
        assert_eq!((1..=5).map(shared_guarantee).collect::<Vec<_>>(), [6, 26, 106, 426, 1706]);
        assert_eq!(level_for(5), None);
        assert_eq!(level_for(6), Some(1));
        assert_eq!(level_for(25), Some(1));
        assert_eq!(level_for(26), Some(2));
        assert_eq!(level_for(usize::MAX), Some(12));
    }

    /// The table of the source for 2^30 bytes, scaled down to 4^6 and to 4^9.
    #[test]
    fn each_level_has_three_quarters_of_the_hashes_of_the_last() {
        const OF_A_GIBIBYTE: [usize; 14] = [
            805_306_368,
            603_979_776,
            452_984_832,
            339_738_624,
            254_803_968,
            191_102_976,
            143_327_232,
            107_495_424,
            80_621_568,
            60_466_176,
            45_349_632,
            34_012_224,
            25_509_168,
            19_131_876,
        ];
        for (level, expected) in (1u32..).zip(OF_A_GIBIBYTE) {
            let kept =
                (0..1usize << 18).filter(|&position| is_kept(position % length_of(level.min(9)))).count();
            let above_nine = level.saturating_sub(9);
            let scaled = (kept << 12) * 3usize.pow(above_nine) / 4usize.pow(above_nine);
            assert_eq!(scaled, expected, "{level}");
        }
        let symbols = 4096;
        let found = shingles(&vec![b'x'; symbols + 4096], 1..=6);
        for level in 1..=6 {
            let begun_within = |shingle: &&Shingle| shingle.level == level && shingle.position < symbols;
            let expected = symbols * 3usize.pow(level) / 4usize.pow(level);
            assert_eq!(found.iter().filter(begun_within).count(), expected);
        }
        assert!(shingles(&vec![b'x'; 10_000], 1..=12).len() <= 30_000);
    }

    /// A motif that occurs twice. If its length is divisible by four, all of its hashes recur, otherwise
    /// those of two ways.
    #[test]
    fn hashes_of_a_motif_recur() {
        for length in 40..44 {
            let motif: Vec<u8> = (0..length as u8).collect();
            let found = shingles(&motif.repeat(2), 1..=1);
            let (first, second): (Vec<Shingle>, Vec<Shingle>) =
                found.into_iter().partition(|shingle| shingle.position < length);
            let again: HashSet<u64> = second.iter().map(|shingle| shingle.hash).collect();
            let ways: BTreeSet<usize> = first
                .iter()
                .filter(|shingle| shingle.position + 4 <= length && again.contains(&shingle.hash))
                .map(|shingle| shingle.position % 4)
                .collect();
            assert_eq!(ways.len(), if length % 4 == 0 { 3 } else { 2 }, "{length}");
        }
    }

    #[test]
    fn wrong_levels_are_named() {
        assert_eq!(
            RecursiveShingler::new(1..=13, 0, &mut || ()).unwrap_err().message,
            "max_level 13 is out of range"
        );
        assert_eq!(levels(3, 2).unwrap_err().message, "min_level 3 is out of range");
        assert_eq!(levels(-1, 2).unwrap_err().message, "min_level -1 is out of range");
        assert_eq!(
            RecursiveShingler::new(0..=2, 0, &mut || ()).unwrap_err().message,
            "min_level 0 is out of range"
        );
    }

    proptest! {
        #[test]
        fn shingles_are_those_of_the_recursion(text in prop::collection::vec(any::<u8>(), 0..4000)) {
            let mut expected = Vec::new();
            let symbols: Vec<u64> = text.iter().map(|&byte| byte.into()).collect();
            naive_shingles(&symbols, 1, 0, 1, &mut expected);
            let mut found = shingles(&text, 1..=MAX_LEVEL as u32);
            let key = |shingle: &Shingle| (shingle.level, shingle.position);
            expected.sort_by_key(key);
            found.sort_by_key(key);
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn every_shared_run_is_caught(
            level in 1u32..=4,
            before in prop::collection::vec(any::<u8>(), 0..300),
            after in prop::collection::vec(any::<u8>(), 0..300),
            run in prop::collection::vec(any::<u8>(), 426),
        ) {
            let run = &run[..shared_guarantee(level)];
            let hashes = |text: &[u8]| -> HashSet<u64> {
                shingles(text, level..=level).iter().map(|shingle| shingle.hash).collect()
            };
            let one = hashes(&[&before, run, &after].concat());
            let other = hashes(&[&after, run, &before].concat());
            prop_assert!(!one.is_disjoint(&other));
        }
    }

    /// For each symbol of a run at this position: whether a whole piece begins there.
    fn pieces_within(start: usize, length: usize, level: u32) -> Vec<bool> {
        let starts = start..=start + length - length_of(level);
        starts.map(|position| is_kept(position % length_of(level))).collect()
    }

    #[test]
    fn both_guarantees_hold_at_every_position_and_are_tight() {
        for level in 1..=4 {
            let starts = || 0..length_of(level);
            let has_piece =
                |length| starts().all(|start| pieces_within(start, length, level).contains(&true));
            assert!(has_piece(guarantee(level)) && !has_piece(guarantee(level) - 1));
            let share_piece = |length| {
                let runs: Vec<Vec<bool>> =
                    starts().map(|start| pieces_within(start, length, level)).collect();
                runs.iter().all(|one| runs.iter().all(|other| one.iter().zip(other).any(|(a, b)| *a && *b)))
            };
            assert!(share_piece(shared_guarantee(level)) && !share_piece(shared_guarantee(level) - 1));
        }
    }
}
