//! Heintze's fingerprints: the substrings of a text that are probably rarest.
//!
//! Nevin Heintze, "Scalable Document Fingerprinting", 1996. Of all substrings with a given number of letters,
//! those are chosen whose first five letters occur least often in the text itself. They are likely to be rare
//! everywhere, so unrelated texts share fewer of them than of random substrings. The stored fingerprint is
//! short (100), and the one of a query is long (1,000), since two texts do not quite agree about what is
//! rare.
//!
//! Letters are those of the text after normalization and case folding, without anything between them. The
//! order of equally rare substrings is the same in every text: they are ordered by the scattered key of their
//! first five letters, and then by their hash (XXH3). In a text with letters other than a to z, the key is 24
//! bits of the five letters' hash, which bounds the memory; few keys coincide.
//!
//! In most texts, enough sequences of five letters occur only once. Then it is enough to sort a part of them,
//! those with the lowest scattered keys. Otherwise all of them are sorted, or counted if there are many.
//!
//! Guarantee: a smaller fingerprint is a subset of a larger one. Cost: linear time; memory for the letters,
//! for at most 2^24 counters of 4 bytes, and for 1,000 bytes for each substring.

mod fives;
mod letters;
mod ranks;

use super::sort::sort_values;
use crate::hash::xxh3_64;
use base::{Heartbeat, Limit, OutOfMemory, Problem, beat_every, collect, filled, push, reserve, sort};
use fives::{EqualFives, Fives, scatter};
use letters::{JUDGED, KEY_BITS, Letters};
use ranks::{FrequentSubstrings, LowestRanks, PLACE, TakenSubstrings, rank};

/// The number of substrings in a fingerprint.
pub const SIZE: Limit = Limit::new("size", 1, 100_000);
/// The number of letters in a substring, at least the five that are counted.
pub const LENGTH: Limit = Limit::new("length", JUDGED as i64, 1_000);
/// The number of substrings that are known to be frequent.
const FREQUENT: Limit = Limit::new("length of frequent", 0, 1_000_000);

/// A text with more letters than this has a counter for every key. In a shorter text, all fives are sorted.
const MANY: usize = 1 << 17;
/// The number of substrings between two heartbeats.
const STRIDE: usize = 1 << 14;
/// One of this many fives is expected to occur only once: in short texts, and in long ones.
const ONE_IN: [usize; 2] = [3, 32];

/// The parameters of a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeintzeParameters {
    size: usize,
    length: usize,
}

impl HeintzeParameters {
    /// The parameters for `size` substrings of `length` letters.
    pub fn new(size: usize, length: usize) -> Result<Self, Problem> {
        Ok(Self { size: SIZE.of(size)?, length: LENGTH.of(length)? })
    }

    /// The hashes of the chosen substrings, sorted and distinct. If the text has fewer letters than a
    /// substring, it is the hash of the whole text; if it has no letters, there is none.
    ///
    /// `frequent` has the hashes of substrings that are known to be frequent, the least frequent first. They
    /// are chosen last.
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
        let known = FrequentSubstrings::new(frequent, heartbeat)?;
        for one_in in ONE_IN {
            // A quarter more than needed and a few more, since it is a matter of chance how many occur once.
            let wanted = one_in * (self.size + self.size / 4 + 16);
            if 2 * wanted < letters.count()
                && let Some(chosen) = self.choose_single(&letters, &known, wanted, heartbeat)?
            {
                return Ok(chosen);
            }
        }
        let chosen = if letters.count() > MANY { Self::choose_of_many } else { Self::choose };
        Ok(chosen(self, &letters, &known, heartbeat)?)
    }

    /// The hashes of the substrings with the lowest ranks in a long text. Counts all fives.
    fn choose_of_many(
        &self,
        letters: &Letters,
        known: &FrequentSubstrings,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Vec<i64>, OutOfMemory> {
        let mut chosen = LowestRanks::new(self.size)?;
        let mut frequencies = filled(0u32, 1 << KEY_BITS, heartbeat)?;
        letters.each_key(heartbeat, |_, key, _| {
            let frequency = &mut frequencies[key as usize];
            *frequency = frequency.saturating_add(1);
        });
        letters.each_key(heartbeat, |start, key, heartbeat| {
            let is_whole = start + self.length <= letters.count();
            let frequency = frequencies[key as usize];
            if is_whole && rank(0, frequency, scatter(key), 0) < chosen.limit {
                let hash = xxh3_64(letters.slice(start, self.length));
                chosen.offer(rank(known.rank(hash as i64), frequency, scatter(key), hash), heartbeat);
            }
        });
        chosen.settle(heartbeat);
        chosen.into_hashes(heartbeat)
    }

    /// The hashes of the substrings with the lowest ranks; `None` unless all of them begin with five letters
    /// that occur once. Only fives with low scattered keys are examined, probably about `wanted`.
    fn choose_single(
        &self,
        letters: &Letters,
        known: &FrequentSubstrings,
        wanted: usize,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Option<Vec<i64>>, OutOfMemory> {
        let bound = ((wanted as u64) << KEY_BITS) / letters.count() as u64 * u64::from(PLACE);
        let Some(fives) = Fives::below(bound, 2 * wanted, letters, heartbeat)? else { return Ok(None) };
        let [single, _] = fives.groups()?;
        let TakenSubstrings { mut hashes, .. } =
            self.take(letters, known, &fives, single.into_iter(), heartbeat)?;
        sort_values(&mut hashes, heartbeat);
        Ok((hashes.len() == self.size).then_some(hashes))
    }

    /// The hashes of the substrings with the lowest ranks. Sorts all fives.
    fn choose(
        &self,
        letters: &Letters,
        known: &FrequentSubstrings,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Vec<i64>, OutOfMemory> {
        let all = 1 << u32::BITS;
        let Some(fives) = Fives::below(all, letters.count(), letters, heartbeat)? else {
            return Ok(Vec::new());
        };
        let [single, several] = fives.groups()?;
        let mut several = collect(several.iter().map(|group| group.0), several.len())?;
        sort_values(&mut several, heartbeat);
        let groups = single.into_iter().chain(several.into_iter().map(EqualFives));
        let TakenSubstrings { mut hashes, mut avoided, .. } =
            self.take(letters, known, &fives, groups, heartbeat)?;
        sort(&mut avoided, heartbeat, |&rank| rank);
        avoided.dedup();
        let missing = self.size - hashes.len();
        reserve(&mut hashes, missing.min(avoided.len()))?;
        hashes.extend(avoided.into_iter().take(missing).map(|rank| rank as i64));
        sort_values(&mut hashes, heartbeat);
        Ok(hashes)
    }

    /// Takes the substrings that begin with these groups of fives, which must be in the order of ranks.
    fn take(
        &self,
        letters: &Letters,
        known: &FrequentSubstrings,
        fives: &Fives,
        groups: impl Iterator<Item = EqualFives>,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<TakenSubstrings, OutOfMemory> {
        let mut taken = TakenSubstrings::default();
        let mut last = 0;
        let mut passed = 0;
        for group in groups {
            let (scattered, starts) = fives.of(group);
            let frequency = group.len() as u32;
            let rank_without_hash = rank(0, frequency, scattered, 0);
            if rank_without_hash != last {
                taken.settle();
                if taken.settled >= self.size {
                    break;
                }
                last = rank_without_hash;
            }
            for start in starts.filter(|start| start + self.length <= letters.count()) {
                let hash = xxh3_64(letters.slice(start, self.length));
                match known.rank(hash as i64) {
                    0 => push(&mut taken.hashes, hash as i64)?,
                    known => push(&mut taken.avoided, rank(known, frequency, scattered, hash))?,
                }
                passed += 1;
                beat_every(STRIDE, passed, heartbeat);
            }
        }
        taken.settle();
        taken.hashes.truncate(self.size);
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeSet, HashMap};

    fn sketch(text: &str, size: usize, length: usize, frequent: &[i64]) -> Vec<i64> {
        HeintzeParameters::new(size, length).unwrap().sketch(text, frequent, &mut || ()).unwrap()
    }

    /// The definition: fives are counted by their keys, some of which coincide.
    fn naive_sketch(letters: &str, size: usize, length: usize, frequent: &[i64]) -> Vec<i64> {
        let letters: Vec<char> = letters.chars().collect();
        let hash = |part: &[char]| xxh3_64(part.iter().collect::<String>().as_bytes()) as i64;
        if letters.len() < length {
            return if letters.is_empty() { vec![] } else { vec![hash(&letters)] };
        }
        let known = |hash| frequent.iter().position(|&known| known == hash).map_or(0, |at| at + 1);
        let is_latin = letters.iter().all(char::is_ascii);
        let key = |five: &[char]| {
            let in_latin = || five.iter().fold(0u32, |key, &letter| key * 26 + (letter as u32 - 'a' as u32));
            if is_latin { in_latin() } else { (hash(five) as u64 >> 40) as u32 }
        };
        let mut counts: HashMap<u32, u32> = HashMap::new();
        letters.windows(JUDGED).for_each(|five| *counts.entry(key(five)).or_default() += 1);
        let rank = |part: &[char]| {
            let key = key(&part[..JUDGED]);
            (known(hash(part)), counts[&key], scatter(key) >> 8, hash(part) as u64)
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
            let problem = HeintzeParameters::new(size, length).unwrap_err();
            assert!(problem.message.starts_with(name), "{problem:?}");
        }
    }

    /// The choice if only fives that occur once are examined, and if all are. Long texts are processed
    /// differently, which must not change the result.
    fn both_ways(text: &str, one_in: usize, size: usize, frequent: &[i64]) -> (Option<Vec<i64>>, Vec<i64>) {
        let mut heartbeat = || ();
        let parameters = HeintzeParameters::new(size, 12).unwrap();
        let letters = Letters::of(text, &mut heartbeat).unwrap();
        let known = FrequentSubstrings::new(frequent, &mut heartbeat).unwrap();
        let wanted = one_in * (size + size / 4 + 16);
        let single = parameters.choose_single(&letters, &known, wanted, &mut heartbeat).unwrap();
        let all = parameters.choose(&letters, &known, &mut heartbeat).unwrap();
        let of_many = parameters.choose_of_many(&letters, &known, &mut heartbeat).unwrap();
        assert_eq!(all, of_many);
        (single, all)
    }

    #[test]
    fn sequences_that_come_once_suffice_in_most_texts() {
        let hashes = (0..200u64).map(|number| xxh3_64(&number.to_le_bytes()));
        let text: String =
            hashes.flat_map(|hash| hash.to_le_bytes().map(|byte| (b'a' + byte % 26) as char)).collect();
        for one_in in ONE_IN {
            let (single, all) = both_ways(&text, one_in, 10, &[]);
            assert_eq!(single, Some(all));
        }
        assert_eq!(both_ways(&text.repeat(2), ONE_IN[0], 10, &[]).0, None);
    }

    proptest! {
        // Each case needs tables of many megabytes.
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn both_ways_choose_the_same(
            text in prop_oneof!["[a-z]{300,3000}", "[a-zé]{300,2000}", "([a-z]{1,20}|rosesare){20,200}"],
            one_in in 1usize..5,
            size in 1usize..100,
        ) {
            let (_, all) = both_ways(&text, one_in, size, &[]);
            for frequent in [&[], all.as_slice(), &all[all.len() / 2..]] {
                if let (Some(single), all) = both_ways(&text, one_in, size, frequent) {
                    prop_assert_eq!(single, all);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn sketches_equal_the_definition(
            letters in prop_oneof!["[ab]{0,300}", "[a-z]{0,4000}", "[aé日жß]{0,200}"],
            size in prop_oneof![1usize..20, 1usize..3000],
            length in 5usize..40,
        ) {
            // Normalization is tested with words; here it only changes ß.
            let folded = letters.replace('ß', "ss");
            let expected = naive_sketch(&folded, size, length, &[]);
            prop_assert_eq!(&sketch(&letters, size, length, &[]), &expected);
            // Frequent substrings are avoided; if there are no others, they are chosen in their order.
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
