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
//! In most texts enough sequences of five letters come only once. Then a part of them suffices, those that
//! are scattered lowest, and nothing need be counted. Otherwise every sequence is counted.
//!
//! Guarantee: the fingerprint of a smaller size is a subset of that of a larger size. Cost: linear time;
//! memory for the letters, for at most 2^24 counters of 8 bytes, and for 1,000 bytes for each substring.

use super::letters::{JUDGED, KEY_BITS, Letters};
use super::sort::sort_values;
use crate::hash::xxh3_64;
use limits::{Heartbeat, Limit, OutOfMemory, Problem, reserve, sort};

/// Substrings in a fingerprint.
pub const SIZE: Limit = Limit::new("size", 1, 100_000);
/// Letters in a substring, at least the five by which it is judged.
pub const LENGTH: Limit = Limit::new("length", JUDGED as i64, 1_000);
/// Substrings that are known to be frequent.
const FREQUENT: Limit = Limit::new("length of frequent", 0, 1_000_000);

/// A text with more five-letter sequences than this has a counter for every key. A shorter text has a hash
/// table, in which a longer text made for the purpose could bring about long searches.
const MANY: usize = 1 << 17;
/// Substrings between two heartbeats.
const STRIDE: usize = 1 << 14;
/// Bits of a count in a rank.
const COUNT_BITS: u32 = 20;
const MAX_COUNT: u32 = (1 << COUNT_BITS) - 1;
/// Scattered keys that count as one place.
const PLACE: u32 = 1 << (u32::BITS - KEY_BITS);
/// Of this many sequences of five letters, one is expected to come once: in short texts, and in long ones.
const SHARES: [usize; 2] = [3, 32];
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

fn rank(known: u32, frequency: u32, scattered: u32, hash: u64) -> Rank {
    let [known, frequency] = [known, frequency].map(|count| u64::from(count.min(MAX_COUNT)));
    let order = known << (64 - COUNT_BITS) | frequency << KEY_BITS | u64::from(scattered / PLACE);
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
        if letters.count() < self.length {
            let whole = (letters.count() > 0).then(|| xxh3_64(&letters.text) as i64);
            return Ok(whole.into_iter().collect());
        }
        let known = Known::new(frequent, heartbeat);
        for share in SHARES {
            if let Some(chosen) = self.choose_single(&letters, &known, share, heartbeat)? {
                return Ok(chosen.into_hashes(heartbeat));
            }
        }
        Ok(self.choose(&letters, &known, heartbeat)?.into_hashes(heartbeat))
    }

    /// The substrings of the lowest ranks; counts every five letters.
    fn choose(
        &self,
        letters: &Letters,
        known: &Known,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Chosen, OutOfMemory> {
        let mut chosen = Chosen::new(self.size);
        let frequencies = Frequencies::count(letters, heartbeat)?;
        letters.each_key(heartbeat, |start, key, heartbeat| {
            let is_whole = start + self.length <= letters.count();
            let frequency = frequencies.of(key);
            if is_whole && rank(0, frequency, scatter(key), 0) < chosen.limit {
                let hash = xxh3_64(letters.slice(start, self.length));
                chosen.offer(rank(known.rank(hash as i64), frequency, scatter(key), hash), heartbeat);
            }
        });
        chosen.settle(heartbeat);
        Ok(chosen)
    }

    /// The substrings of the lowest ranks, if all of them begin with five letters that come once. Only the
    /// fives that are scattered lowest are looked at, enough of them if one in `share` comes once.
    fn choose_single(
        &self,
        letters: &Letters,
        known: &Known,
        share: usize,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Option<Chosen>, OutOfMemory> {
        // A quarter more than needed, and some, for how many come once is left to chance.
        let wanted = share * (self.size + self.size / 4 + 16);
        if wanted >= letters.count() {
            return Ok(None);
        }
        let bound = (((wanted as u64) << KEY_BITS) / letters.count() as u64) as u32 * PLACE;
        let mut lowest = Vec::new();
        reserve(&mut lowest, 2 * wanted)?;
        letters.each_key(heartbeat, |start, key, _| {
            if scatter(key) < bound && lowest.len() < 2 * wanted {
                // The sign bit is turned over, so that signed numbers have the order of the unsigned.
                lowest.push((u64::from(scatter(key)) << u32::BITS | start as u64) as i64 ^ i64::MIN);
            }
        });
        if lowest.len() == 2 * wanted {
            return Ok(None);
        }
        sort_values(&mut lowest, heartbeat);
        let mut chosen = Chosen { limit: rank(0, 1, bound, 0), ..Chosen::new(self.size) };
        let single = lowest.chunk_by(|a, b| a >> u32::BITS == b >> u32::BITS).filter(|same| same.len() == 1);
        for (number, single) in single.enumerate() {
            if number.is_multiple_of(STRIDE) {
                heartbeat.beat();
            }
            let single = (single[0] ^ i64::MIN) as u64;
            let (scattered, start) = ((single >> u32::BITS) as u32, single as u32 as usize);
            if start + self.length <= letters.count() {
                let hash = xxh3_64(letters.slice(start, self.length));
                chosen.offer(rank(known.rank(hash as i64), 1, scattered, hash), heartbeat);
            }
        }
        chosen.settle(heartbeat);
        Ok((chosen.ranks.len() == self.size).then_some(chosen))
    }
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

    fn into_hashes(self, heartbeat: &mut dyn Heartbeat) -> Vec<i64> {
        let mut hashes: Vec<i64> = self.ranks.into_iter().map(|rank| rank as i64).collect();
        sort_values(&mut hashes, heartbeat);
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

    /// What is chosen if only sequences that come once are looked at, and if all are counted.
    fn both_ways(text: &str, share: usize, size: usize, frequent: &[i64]) -> (Option<Vec<i64>>, Vec<i64>) {
        let mut heartbeat = || ();
        let parameters = Parameters::new(size, 12).unwrap();
        let letters = Letters::of(text, &mut heartbeat).unwrap();
        let known = Known::new(frequent, &mut heartbeat);
        let single = parameters.choose_single(&letters, &known, share, &mut heartbeat).unwrap();
        let all = parameters.choose(&letters, &known, &mut heartbeat).unwrap();
        (single.map(|chosen| chosen.into_hashes(&mut || ())), all.into_hashes(&mut || ()))
    }

    #[test]
    fn sequences_that_come_once_suffice_in_most_texts() {
        let hashes = (0..200u64).map(|number| xxh3_64(&number.to_le_bytes()));
        let text: String =
            hashes.flat_map(|hash| hash.to_le_bytes().map(|byte| (b'a' + byte % 26) as char)).collect();
        for share in SHARES {
            let (single, all) = both_ways(&text, share, 10, &[]);
            assert_eq!(single, Some(all));
        }
        assert_eq!(both_ways(&text.repeat(2), SHARES[0], 10, &[]).0, None);
    }

    proptest! {
        #[test]
        fn both_ways_choose_the_same(
            text in prop_oneof!["[a-z]{300,3000}", "[a-zé]{300,2000}", "([a-z]{1,20}|rosesare){20,200}"],
            share in 1usize..5,
            size in 1usize..100,
        ) {
            let (_, all) = both_ways(&text, share, size, &[]);
            for frequent in [&[], all.as_slice(), &all[all.len() / 2..]] {
                if let (Some(single), all) = both_ways(&text, share, size, frequent) {
                    prop_assert_eq!(single, all);
                }
            }
        }

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
