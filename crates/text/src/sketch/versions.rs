//! A score of two texts: the higher it is, the more likely is one of them a version of the other.
//!
//! Texts that share most of their features may be versions of one text, or siblings: pages about two
//! commands, letters to two persons. A text names what it is about at its beginning, and again and again.
//! What tells siblings from versions is therefore, besides the weights of what they share ([`rarity`], whose
//! weights tell single rare words):
//!
//! - *lacking*: how many of the first twenty words of each text the other one lacks;
//! - *not at the beginning*: how many of the first twenty words of each text are not among the first sixty
//!   of the other one. A page of a command mentions other commands, but begins with its own;
//! - *least*, *most*: how often a word occurs in one text that the other one lacks: of each text, the largest
//!   number, and of the two, the smaller and the larger one;
//! - *substituted*: the largest number of places of such a word at which the other text has another word
//!   between the same two neighbours.
//!
//! Of the first two, the smaller number of the two texts counts, since a version may begin with words that
//! were inserted. The others enter by their logarithms, because the second occurrence of a word says more
//! than the tenth. That frequent words tell what a text is about is Luhn's ("The Automatic Creation of
//! Literature Abstracts", 1958), and that words of the title do is Edmundson's ("New Methods in Automatic
//! Extracting", 1969). The factors were chosen with pairs of versions and of siblings of many kinds of texts
//! in view, so that one threshold serves most of them; `docs/deduplication.md` shows what it keeps.
//! [`vocabulary`] defines what counts as a word.
//!
//! Guarantee: exact except for collisions of 64-bit hashes, symmetric, at most 1, and 1 for equal texts.
//! Cost: linear time, for any texts, except that neighbours of words are looked up in sorted arrays; memory
//! for the features ([`rarity`]), and for the first million words of each text, since more do not change what
//! it is about.
//!
//! [`rarity`]: super::rarity
//! [`vocabulary`]: super::vocabulary

use super::rarity::{FeatureCounter, FeatureWeights, WeightsInCommon};
use super::sort::sort_values;
use super::vocabulary::{STRIDE, Vocabulary, WordNumber};
use crate::features::{Scheme, Shingler};
use crate::hash::GOLDEN_RATIO;
use base::{Heartbeat, OutOfMemory, Problem, beat_every, collect, push};

/// The number of words that a text begins with. Titles of pages, and the names in the first line of letters,
/// are shorter.
const BEGINNING: usize = 20;
/// The number of words of the other text among which those of the beginning are looked for. More than at the
/// beginning, because a header may have been inserted.
const OTHER_BEGINNING: usize = 3 * BEGINNING;
/// The most words of a beginning that count, since the rest of another header says nothing about the text.
const MOST_LACKING: usize = 3;
const MOST_NOT_AT_BEGINNING: usize = 2;
/// The number of bits of a filter.
const FILTER_BITS: usize = 1 << 12;

/// What the score adds and subtracts. The first two make 1.
const OF_CONTAINMENT: f64 = 0.8;
const OF_SIMILARITY: f64 = 0.2;
const PER_LACKING: f64 = 0.08;
const PER_NOT_AT_BEGINNING: f64 = 0.1;
const PER_LEAST: f64 = 0.01;
const PER_MOST: f64 = 0.01;
const PER_SUBSTITUTED: f64 = 0.02;

/// Scores pairs of texts, and reuses its memory for the next pair.
#[derive(Debug, Default)]
pub struct VersionScorer {
    counter: FeatureCounter,
    shingler: Shingler,
}

impl VersionScorer {
    /// The score of two texts; `None` if no feature of one of them has a weight.
    pub fn score(
        &mut self,
        a: &str,
        b: &str,
        weights: &FeatureWeights<'_>,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Option<f64>, Problem> {
        let features_of_a = self.counter.features(a, weights.scheme, heartbeat)?;
        let features_of_b = self.counter.features(b, weights.scheme, heartbeat)?;
        let Some(in_common) = weights.in_common(&features_of_a, &features_of_b, heartbeat) else {
            return Ok(None);
        };
        drop((features_of_a, features_of_b));
        let topics = self.topics(a, b, weights.scheme, heartbeat)?;
        Ok(Some(score(in_common, &topics)))
    }

    /// Compares the words of two texts.
    fn topics(
        &mut self,
        a: &str,
        b: &str,
        scheme: Scheme,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Topics, OutOfMemory> {
        let mut vocabulary = Vocabulary::new(a.len().saturating_add(b.len()), heartbeat)?;
        let a = vocabulary.read::<0>(a, scheme, &mut self.shingler, heartbeat)?;
        let b = vocabulary.read::<1>(b, scheme, &mut self.shingler, heartbeat)?;
        Topics::of(&a, &b, &vocabulary, heartbeat)
    }
}

/// The score by what two texts have in common and by what they are about.
fn score(in_common: WeightsInCommon, topics: &Topics) -> f64 {
    let log = |count: usize| (1.0 + count as f64).log2();
    OF_CONTAINMENT * in_common.containment + OF_SIMILARITY * in_common.similarity
        - PER_LACKING * topics.lacking.min(MOST_LACKING) as f64
        - PER_NOT_AT_BEGINNING * topics.not_at_beginning.min(MOST_NOT_AT_BEGINNING) as f64
        - PER_LEAST * log(topics.least)
        - PER_MOST * log(topics.most)
        - PER_SUBSTITUTED * log(topics.substituted)
}

/// What tells the topics of two texts apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Topics {
    lacking: usize,
    not_at_beginning: usize,
    least: usize,
    most: usize,
    substituted: usize,
}

impl Topics {
    /// Compares the words of two texts.
    fn of(
        a: &[WordNumber],
        b: &[WordNumber],
        vocabulary: &Vocabulary,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Self, OutOfMemory> {
        let is_own = |word| vocabulary.is_own(word);
        let most = vocabulary.most_of_own(heartbeat);
        let in_a = substituted(a, vocabulary, b, heartbeat)?;
        let in_b = substituted(b, vocabulary, a, heartbeat)?;
        Ok(Self {
            lacking: in_beginning(a, is_own).min(in_beginning(b, is_own)),
            not_at_beginning: not_at_beginning(a, b).min(not_at_beginning(b, a)),
            least: most[0].min(most[1]),
            most: most[0].max(most[1]),
            substituted: in_a.max(in_b),
        })
    }
}

/// The number of different words at the beginning of a text with some property.
fn in_beginning(text: &[WordNumber], has_property: impl Fn(WordNumber) -> bool) -> usize {
    let beginning = &text[..text.len().min(BEGINNING)];
    let is_first = |at: usize| !beginning[..at].contains(&beginning[at]);
    (0..beginning.len()).filter(|&at| has_property(beginning[at]) && is_first(at)).count()
}

/// The number of different words at the beginning of a text that the other one does not have at its.
fn not_at_beginning(text: &[WordNumber], other: &[WordNumber]) -> usize {
    let other_beginning = &other[..other.len().min(OTHER_BEGINNING)];
    in_beginning(text, |word| !other_beginning.contains(&word))
}

/// A Bloom filter with one bit for each pair of neighbours, which rejects most pairs that are not among a few
/// others. Those that pass, which may be all pairs of a chosen text, are searched for.
#[derive(Debug)]
struct BloomFilter([u64; FILTER_BITS / u64::BITS as usize]);

impl Default for BloomFilter {
    fn default() -> Self {
        Self([0; _])
    }
}

impl BloomFilter {
    fn add(&mut self, neighbours: i64) {
        let bit = Self::bit(neighbours);
        self.0[bit / u64::BITS as usize] |= 1 << (bit % u64::BITS as usize);
    }

    fn may_have(&self, neighbours: i64) -> bool {
        let bit = Self::bit(neighbours);
        self.0[bit / u64::BITS as usize] >> (bit % u64::BITS as usize) & 1 == 1
    }

    fn bit(neighbours: i64) -> usize {
        (neighbours as u64).wrapping_mul(GOLDEN_RATIO) as usize >> (usize::BITS - FILTER_BITS.ilog2())
    }
}

/// The largest number of places of a word of one's own at which the other text has another word between the
/// same two neighbours. Few words are one's own, so the neighbours of these are looked for in the other text.
fn substituted(
    text: &[WordNumber],
    vocabulary: &Vocabulary,
    other: &[WordNumber],
    heartbeat: &mut dyn Heartbeat,
) -> Result<usize, OutOfMemory> {
    let mut places = Vec::new();
    for (at, &word) in text.iter().enumerate() {
        beat_every(STRIDE, at, heartbeat);
        if vocabulary.is_own(word) {
            push(&mut places, (neighbours(text, at), word))?;
        }
    }
    if places.is_empty() {
        return Ok(0);
    }
    let mut wanted =
        sorted(collect(places.iter().map(|&(neighbours, _)| neighbours), places.len())?, heartbeat);
    wanted.dedup();
    let mut filter = BloomFilter::default();
    wanted.iter().for_each(|&neighbours| filter.add(neighbours));
    let mut are_there = collect(std::iter::repeat_n(false, wanted.len()), wanted.len())?;
    for at in 0..other.len() {
        beat_every(STRIDE, at, heartbeat);
        let neighbours = neighbours(other, at);
        if filter.may_have(neighbours)
            && let Ok(place) = wanted.binary_search(&neighbours)
        {
            are_there[place] = true;
        }
    }
    let is_there = |neighbours| wanted.binary_search(&neighbours).is_ok_and(|place| are_there[place]);
    let mut found = Vec::new();
    for (number, &(neighbours, word)) in places.iter().enumerate() {
        beat_every(STRIDE, number, heartbeat);
        if is_there(neighbours) {
            push(&mut found, i64::from(word))?;
        }
    }
    let found = sorted(found, heartbeat);
    Ok(found.chunk_by(i64::eq).map(<[_]>::len).max().unwrap_or(0))
}

/// The numbers of the two words beside a word plus 1, or 0 before the first word and after the last one.
fn neighbours(text: &[WordNumber], at: usize) -> i64 {
    let number = |at: usize| text.get(at).map_or(0, |&word| u64::from(word) + 1);
    let before = at.checked_sub(1).map_or(0, number);
    (before << u32::BITS | number(at + 1)) as i64
}

fn sorted(mut values: Vec<i64>, heartbeat: &mut dyn Heartbeat) -> Vec<i64> {
    sort_values(&mut values, heartbeat);
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::rarity::{self, COUNTS_BYTES};
    use crate::sketch::vocabulary::{WORDS, tests::words};
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn weights_of(texts: &[&str]) -> Vec<u8> {
        let scheme = "word:2".parse().unwrap();
        let mut counts = vec![0; COUNTS_BYTES];
        for text in texts {
            let features = FeatureCounter::default().features(text, scheme, &mut || ()).unwrap();
            rarity::add_features(&mut counts, &features, scheme, &mut || ()).unwrap();
        }
        rarity::weights(&counts).unwrap().unwrap()
    }

    fn scored(a: &str, b: &str, weights: &[u8]) -> Option<f64> {
        let weights = FeatureWeights::read(weights).unwrap();
        VersionScorer::default().score(a, b, &weights, &mut || ()).unwrap()
    }

    fn topics(a: &str, b: &str) -> Topics {
        VersionScorer::default().topics(a, b, "word:2".parse().unwrap(), &mut || ()).unwrap()
    }

    /// The definition, by words that a text has between blanks.
    fn naive(a: &[&str], b: &[&str]) -> Topics {
        fn counts<'w>(own: &[&'w str], other: &[&str]) -> BTreeMap<&'w str, usize> {
            let mut counts = BTreeMap::new();
            own.iter()
                .filter(|word| !other.contains(word))
                .for_each(|word| *counts.entry(*word).or_insert(0) += 1);
            counts
        }
        fn places<'w>(text: &[&'w str], at: usize) -> [Option<&'w str>; 2] {
            [at.checked_sub(1).map(|at| text[at]), text.get(at + 1).copied()]
        }
        let most = |own, other| counts(own, other).into_values().max().unwrap_or(0);
        let missing = |own: &[&str], other: &[&str]| {
            own.iter().take(20).filter(|word| !other.contains(word)).collect::<BTreeSet<_>>().len()
        };
        let not_at_beginning = |own: &[&str], other: &[&str]| missing(own, &other[..other.len().min(60)]);
        let substituted = |own: &[&str], other: &[&str]| {
            let there: BTreeSet<_> = (0..other.len()).map(|at| places(other, at)).collect();
            let is_there = |at: &usize| there.contains(&places(own, *at)) && !other.contains(&own[*at]);
            let mut found = BTreeMap::new();
            (0..own.len()).filter(is_there).for_each(|at| *found.entry(own[at]).or_insert(0) += 1);
            found.into_values().max().unwrap_or(0)
        };
        Topics {
            lacking: missing(a, b).min(missing(b, a)),
            not_at_beginning: not_at_beginning(a, b).min(not_at_beginning(b, a)),
            least: most(a, b).min(most(b, a)),
            most: most(a, b).max(most(b, a)),
            substituted: substituted(a, b).max(substituted(b, a)),
        }
    }

    #[test]
    fn siblings_score_less_than_versions() {
        let page = |command: &str, more: &str| {
            format!(
                "{command} a disk. To {command} a disk, name its zone: {command} disk zone. This command and \
                 all of its options are described in the manual, and those of other commands beside it. {more}"
            )
        };
        let delete = page("delete", "");
        let newer = page("delete", "Since last year, the zone may be left out if a default zone was set.");
        let describe = page("describe", "");
        let weights = weights_of(&[&delete, &newer, &describe]);
        assert_eq!(scored(&delete, &delete, &weights), Some(1.0));
        assert!(scored(&delete, &newer, &weights) > Some(0.85));
        assert!(scored(&delete, &describe, &weights) < Some(0.65));
        let expected = Topics { lacking: 1, not_at_beginning: 1, least: 3, most: 3, substituted: 3 };
        assert_eq!(topics(&delete, &describe), expected);
    }

    /// Pages about commands mention other commands.
    #[test]
    fn a_word_of_the_beginning_is_looked_for_at_the_other_beginning() {
        let options: String = (0..60).map(|number| format!("option{number} ")).collect();
        let page = |name: &str, header: &str| format!("{header} {name} {options} see create, run, pause");
        let found = |a: &str, b: &str| {
            let topics = topics(a, b);
            [topics.lacking, topics.not_at_beginning]
        };
        assert_eq!(found(&page("create", ""), &page("run", "")), [0, 1]);
        assert_eq!(found(&page("create", ""), &page("create", "a page of the manual")), [0, 0]);
        let header: String = (0..40).map(|number| format!("header{number} ")).collect();
        assert_eq!(found(&page("create", ""), &page("create", &header)), [0, 0]);
        assert_eq!(found(&page("create", ""), &page("create", &format!("{header} more"))), [0, 1]);
    }

    #[test]
    fn texts_without_weights_have_no_score() {
        let weights = weights_of(&["a b", "a c"]);
        assert_eq!(scored("", "", &weights), None);
        assert_eq!(scored("a b", "?!", &weights), None);
        assert_eq!(scored("a b", "a b", &weights), Some(1.0));
    }

    /// Long names have a pulse, and a bound, too.
    #[test]
    fn names_of_many_words_are_divided() {
        let name = "a_".repeat(WORDS + STRIDE);
        let mut beats = 0;
        let words = words(&name, &mut || beats += 1);
        assert_eq!(words.len(), WORDS);
        assert!(beats > WORDS / STRIDE, "{beats} heartbeats");
        assert_eq!(topics("gcloud_beta_create describes beta", "gcloud_create describes beta").lacking, 0);
    }

    #[test]
    fn long_texts_have_a_pulse_and_a_bound() {
        let text: String = (0..WORDS + 1000).map(|at| format!("w{} ", at % 70_001)).collect();
        let others = text.replace('w', "v");
        let mut beats = 0;
        let mut vocabulary = Vocabulary::new(text.len(), &mut || ()).unwrap();
        let shingler = &mut Shingler::default();
        let a = vocabulary.read::<0>(&text, Scheme::DOC2, shingler, &mut || beats += 1).unwrap();
        assert_eq!(a.len(), WORDS);
        assert!(beats > WORDS / STRIDE, "{beats} heartbeats of reading");
        let b = vocabulary.read::<1>(&others, Scheme::DOC2, shingler, &mut || ()).unwrap();
        let mut beats = 0;
        Topics::of(&a, &b, &vocabulary, &mut || beats += 1).unwrap();
        assert!(beats > 4 * WORDS / STRIDE, "{beats} heartbeats of comparing");
    }

    proptest! {
        #[test]
        fn topics_are_as_defined(
            a in prop::collection::vec(0usize..40, 0..90),
            b in prop::collection::vec(0usize..40, 0..90),
            changes in prop::collection::vec((0usize..90, 0usize..40), 0..6),
            are_near: bool,
        ) {
            let vocabulary: Vec<String> = (0..40).map(|number| format!("w{number}")).collect();
            let mut b = if are_near { a.clone() } else { b };
            for (at, word) in changes {
                if let Some(changed) = b.get_mut(at) {
                    *changed = word;
                }
            }
            let [a, b] = [a, b].map(|text| text.iter().map(|&word| &*vocabulary[word]).collect::<Vec<_>>());
            let expected = naive(&a, &b);
            prop_assert_eq!(topics(&a.join(" "), &b.join(" ")), expected);
        }

        #[test]
        fn any_texts_have_a_symmetric_score(a: String, b: String, shared: String) {
            let (a, b) = (format!("{a} {shared}"), format!("{b} {shared}"));
            let weights = weights_of(&[&a, &b, "some words"]);
            let score = scored(&a, &b, &weights);
            prop_assert_eq!(score, scored(&b, &a, &weights));
            prop_assert!(score.is_none_or(|score| score <= 1.0));
            prop_assert!(scored(&a, &a, &weights).is_none_or(|score| score == 1.0));
        }
    }
}
