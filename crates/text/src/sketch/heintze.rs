//! Heintze's fingerprints: the substrings of a text that are probably the rarest.
//!
//! Nevin Heintze, "Scalable Document Fingerprinting", 1996. Of all substrings of a given number of letters,
//! those are chosen whose first five letters come least often in the text itself. These are likely to be
//! rare everywhere, so unrelated texts share fewer of them than of substrings taken at random. The
//! fingerprint that is stored is short (100) and the one to search with long (1,000), since two texts do
//! not quite agree on what is rare.
//!
//! Letters are those of the text after normalization and case folding, with nothing between them. Equally
//! rare substrings are chosen in an order that is the same in every text: by a scattering of their first
//! five letters, and then by their hash (XXH3). In a text that has letters beside a to z, five letters are
//! counted by 24 bits of their hash, which bounds the memory; few of them fall together.
//!
//! Guarantee: the fingerprint of a smaller size is a subset of that of a larger size. Cost: linear time;
//! memory for the letters, for at most 2^24 counters of 8 bytes, and for a few times the size.

use crate::features::chars::boundaries;
use crate::features::words::add_letters;
use crate::hash::xxh3_64;
use limits::{Heartbeat, Kind, Limit, OutOfMemory, Problem, reserve, sort};

/// Substrings in a fingerprint.
pub const SIZE: Limit = Limit::new("size", 1, 100_000);
/// Letters in a substring, at least the five by which it is judged.
pub const LENGTH: Limit = Limit::new("length", JUDGED as i64, 1_000);
/// Substrings that are known to be frequent.
const FREQUENT: Limit = Limit::new("length of frequent", 0, 1_000_000);

/// Bytes of letters in a text, at most.
const MAX_BYTES: usize = u32::MAX as usize;
/// A text with more five-letter sequences than this has a counter for every key. A shorter text has a hash
/// table, in which a longer text made for the purpose could bring about long searches.
const MANY: usize = 1 << 17;
/// Letters at the beginning of a substring by which its frequency is judged.
const JUDGED: usize = 5;
/// Bits of a key, by which five letters are told apart.
const KEY_BITS: u32 = 24;
/// Substrings between two heartbeats.
const STRIDE: usize = 1 << 14;
/// Bits of a count in a rank.
const COUNT_BITS: u32 = 20;
const MAX_COUNT: u32 = (1 << COUNT_BITS) - 1;
/// Spreads the keys; odd.
const SCATTER: u32 = 0x9e37_79b1;

/// How a fingerprint is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    size: usize,
    length: usize,
}

/// What decides whether a substring is chosen, from the highest bits to the lowest: how frequent it is
/// known to be, how often its first five letters come (both up to a million), where these are scattered to,
/// and its hash. The least ranks are chosen.
type Rank = u128;

fn rank(known: u32, frequency: u32, key: u32, hash: u64) -> Rank {
    let [known, frequency] = [known, frequency].map(|count| u64::from(count.min(MAX_COUNT)));
    let order =
        known << (64 - COUNT_BITS) | frequency << KEY_BITS | u64::from(scatter(key) >> (32 - KEY_BITS));
    Rank::from(order) << 64 | Rank::from(hash)
}

fn scatter(key: u32) -> u32 {
    key.wrapping_mul(SCATTER)
}

impl Parameters {
    /// Parameters by which `size` substrings of `length` letters are chosen.
    pub fn new(size: usize, length: usize) -> Result<Self, Problem> {
        Ok(Self { size: SIZE.of(size)?, length: LENGTH.of(length)? })
    }

    /// The hashes of the substrings chosen: sorted, distinct; of the whole text if it has fewer letters than
    /// one substring, and none if it has no letters.
    ///
    /// `frequent` are the hashes of substrings known to be frequent, from the least frequent to the most;
    /// they are chosen last.
    pub fn sketch(
        &self,
        text: &str,
        frequent: &[i64],
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Vec<i64>, Problem> {
        FREQUENT.of::<usize>(frequent.len())?;
        let letters = Letters::of(text, heartbeat)?;
        let mut chosen = Chosen::new(self.size);
        if letters.count() < self.length {
            if letters.count() > 0 {
                chosen.offer(rank(0, 0, 0, xxh3_64(&letters.text)), heartbeat);
            }
            return Ok(chosen.into_hashes(heartbeat));
        }
        let known = Known::new(frequent, heartbeat);
        let frequencies = Frequencies::count(&letters, heartbeat)?;
        letters.each_key(heartbeat, |start, key, heartbeat| {
            let is_whole = start + self.length <= letters.count();
            let frequency = frequencies.of(key);
            if is_whole && rank(0, frequency, key, 0) < chosen.limit {
                let hash = xxh3_64(letters.slice(start, self.length));
                chosen.offer(rank(known.rank(hash as i64), frequency, key, hash), heartbeat);
            }
        });
        Ok(chosen.into_hashes(heartbeat))
    }
}

/// The letters of a text, and nothing else.
struct Letters {
    /// In UTF-8.
    text: Vec<u8>,
    /// Where each letter begins, and the end; empty for ASCII, where every letter is one byte.
    starts: Vec<u32>,
}

impl Letters {
    fn of(text: &str, heartbeat: &mut dyn Heartbeat) -> Result<Self, Problem> {
        let mut letters = Vec::new();
        add_letters(text, &mut letters, heartbeat)?;
        if letters.len() > MAX_BYTES {
            let message = format!("text has {} bytes of letters, more than {MAX_BYTES}", letters.len());
            return Err(Problem::new(Kind::TooLarge, message));
        }
        let mut starts = Vec::new();
        if !letters.is_ascii() {
            let count = boundaries(&letters).count();
            reserve(&mut starts, count)?;
            starts.extend(boundaries(&letters).map(|start| start as u32));
        }
        Ok(Self { text: letters, starts })
    }

    fn count(&self) -> usize {
        if self.starts.is_empty() { self.text.len() } else { self.starts.len() - 1 }
    }

    fn slice(&self, start: usize, length: usize) -> &[u8] {
        let (start, end) = match self.starts.as_slice() {
            [] => (start, start + length),
            starts => (starts[start] as usize, starts[start + length] as usize),
        };
        &self.text[start..end]
    }

    /// Passes on the first letter's number and the key, below 2^24, of every five letters.
    fn each_key(
        &self,
        heartbeat: &mut dyn Heartbeat,
        mut consumer: impl FnMut(usize, u32, &mut dyn Heartbeat),
    ) {
        let mut key = 0;
        for start in 0..self.count() - JUDGED + 1 {
            if start.is_multiple_of(STRIDE) {
                heartbeat.beat();
            }
            if !self.starts.is_empty() {
                key = (xxh3_64(self.slice(start, JUDGED)) >> (u64::BITS - KEY_BITS)) as u32;
            } else if start == 0 {
                key = self.text[..JUDGED].iter().fold(0, |key, letter| key * 26 + number(letter));
            } else {
                key = (key - number(&self.text[start - 1]) * 26u32.pow(JUDGED as u32 - 1)) * 26
                    + number(&self.text[start + JUDGED - 1]);
            }
            consumer(start, key, heartbeat);
        }
    }
}

/// The number of a letter in the alphabet, from 0.
fn number(letter: &u8) -> u32 {
    u32::from(letter - b'a')
}

/// The number of occurrences of every five letters in a text.
struct Frequencies {
    /// The key in the upper half, the count in the lower; 0 is empty.
    slots: Vec<u64>,
    /// Whether the key is the slot. Otherwise open addressing, at most a quarter full.
    is_direct: bool,
}

impl Frequencies {
    fn count(letters: &Letters, heartbeat: &mut dyn Heartbeat) -> Result<Self, OutOfMemory> {
        let sequences = letters.count() - JUDGED + 1;
        let is_direct = sequences > MANY;
        let size = if is_direct { 1 << KEY_BITS } else { 4 * sequences.next_power_of_two() };
        let mut slots = Vec::new();
        reserve(&mut slots, size)?;
        slots.resize(size, 0);
        let mut frequencies = Self { slots, is_direct };
        letters.each_key(heartbeat, |_, key, _| {
            let slot = frequencies.find(key);
            let count = (frequencies.slots[slot] as u32).saturating_add(1);
            frequencies.slots[slot] = u64::from(key) << 32 | u64::from(count);
        });
        Ok(frequencies)
    }

    /// The number of occurrences of a key that was counted.
    fn of(&self, key: u32) -> u32 {
        self.slots[self.find(key)] as u32
    }

    /// The slot of the key, or the empty one where it belongs.
    fn find(&self, key: u32) -> usize {
        if self.is_direct {
            return key as usize;
        }
        let mask = self.slots.len() - 1;
        let mut slot = scatter(key) as usize >> 7 & mask;
        while self.slots[slot] != 0 && (self.slots[slot] >> 32) as u32 != key {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

/// Substrings that are known to be frequent.
struct Known {
    /// Their hashes, sorted, each with its rank: 1 for the least frequent.
    ranks: Vec<(i64, u32)>,
}

impl Known {
    fn new(frequent: &[i64], heartbeat: &mut dyn Heartbeat) -> Self {
        let mut ranks: Vec<(i64, u32)> = frequent.iter().copied().zip(1..).collect();
        sort(&mut ranks, heartbeat, |&rank| rank);
        Self { ranks }
    }

    /// The rank of a substring by its hash; 0 if it is not known to be frequent.
    fn rank(&self, hash: i64) -> u32 {
        let index = self.ranks.partition_point(|&(known, _)| known < hash);
        self.ranks.get(index).filter(|&&(known, _)| known == hash).map_or(0, |&(_, rank)| rank)
    }
}

/// The substrings of the lowest ranks so far.
struct Chosen {
    size: usize,
    ranks: Vec<Rank>,
    /// Ranks that are not below this one are not chosen.
    limit: Rank,
}

impl Chosen {
    fn new(size: usize) -> Self {
        Self { size, ranks: Vec::new(), limit: Rank::MAX }
    }

    fn offer(&mut self, rank: Rank, heartbeat: &mut dyn Heartbeat) {
        if rank < self.limit {
            self.ranks.push(rank);
            if self.ranks.len() >= 3 * self.size + 64 {
                self.settle(heartbeat);
            }
        }
    }

    /// Drops all but the lowest ranks.
    fn settle(&mut self, heartbeat: &mut dyn Heartbeat) {
        sort(&mut self.ranks, heartbeat, |&rank| rank);
        self.ranks.dedup();
        self.ranks.truncate(self.size);
        if self.ranks.len() == self.size {
            self.limit = self.ranks[self.size - 1];
        }
    }

    fn into_hashes(mut self, heartbeat: &mut dyn Heartbeat) -> Vec<i64> {
        self.settle(heartbeat);
        let mut hashes: Vec<i64> = self.ranks.into_iter().map(|rank| rank as i64).collect();
        sort(&mut hashes, heartbeat, |&hash| hash);
        hashes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeSet, HashMap};

    fn sketch(text: &str, size: usize, length: usize, frequent: &[i64]) -> Vec<i64> {
        Parameters::new(size, length).unwrap().sketch(text, frequent, &mut || ()).unwrap()
    }

    /// By the definition. The letters other than a to z are few here, so their keys do not fall together.
    fn naive_sketch(letters: &str, size: usize, length: usize, frequent: &[i64]) -> Vec<i64> {
        let letters: Vec<char> = letters.chars().collect();
        let mut counts: HashMap<&[char], u32> = HashMap::new();
        letters.windows(JUDGED).for_each(|five| *counts.entry(five).or_default() += 1);
        let hash = |part: &[char]| xxh3_64(part.iter().collect::<String>().as_bytes()) as i64;
        if letters.len() < length {
            return if letters.is_empty() { vec![] } else { vec![hash(&letters)] };
        }
        let known = |hash| frequent.iter().position(|&known| known == hash).map_or(0, |at| at + 1);
        let is_latin = letters.iter().all(char::is_ascii);
        let scattered = |five: &[char]| {
            let in_latin = || five.iter().fold(0u32, |key, &letter| key * 26 + (letter as u32 - 'a' as u32));
            let key = if is_latin { in_latin() } else { (hash(five) as u64 >> 40) as u32 };
            key.wrapping_mul(SCATTER) >> 8
        };
        let rank = |part: &[char]| {
            let five = &part[..JUDGED];
            (known(hash(part)), counts[five], scattered(five), hash(part) as u64)
        };
        let ranks: BTreeSet<_> = letters.windows(length).map(rank).collect();
        let hashes: BTreeSet<i64> = ranks.into_iter().take(size).map(|rank| rank.3 as i64).collect();
        hashes.into_iter().collect()
    }

    #[test]
    fn letters_are_all_that_counts() {
        assert_eq!(sketch("Hello, World!", 10, 5, &[]), sketch("h e l l o w o r l d 42", 10, 5, &[]));
        assert_eq!(sketch("1234 ... ", 10, 5, &[]), []);
        assert_eq!(sketch("Ab", 10, 5, &[]), [xxh3_64(b"ab") as i64]);
    }

    #[test]
    fn wrong_parameters_are_named() {
        for (size, length, name) in [(0, 32, "size"), (100_001, 32, "size"), (100, 4, "length")] {
            let problem = Parameters::new(size, length).unwrap_err();
            assert!(problem.message.starts_with(name), "{problem}");
        }
    }

    proptest! {
        #[test]
        fn sketches_equal_the_definition(
            letters in prop_oneof!["[ab]{0,300}", "[a-z]{0,4000}", "[aé日жß]{0,200}"],
            size in prop_oneof![1usize..20, 1usize..3000],
            length in 5usize..40,
        ) {
            // Normalization is that of words, and is tested there; here it changes ß alone.
            let folded = letters.replace('ß', "ss");
            let expected = naive_sketch(&folded, size, length, &[]);
            prop_assert_eq!(&sketch(&letters, size, length, &[]), &expected);
            // Frequent substrings are avoided, and taken in their order where there are no others.
            let frequent: Vec<i64> = expected.iter().copied().rev().step_by(2).collect();
            prop_assert_eq!(
                sketch(&letters, size, length, &frequent),
                naive_sketch(&folded, size, length, &frequent)
            );
        }

        #[test]
        fn what_is_stored_is_part_of_what_is_searched_with(text in "[a-d ]{0,3000}", size in 1usize..200) {
            let stored: BTreeSet<i64> = sketch(&text, size, 12, &[]).into_iter().collect();
            let searched: BTreeSet<i64> = sketch(&text, 10 * size, 12, &[]).into_iter().collect();
            prop_assert!(stored.is_subset(&searched));
        }
    }
}
