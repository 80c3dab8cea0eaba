//! Explains the fingerprints of two texts: their features, and the features that make bits differ.
//!
//! A feature is identified by its hash, as in the fingerprint. Cost: memory for all distinct features, whose
//! number is limited, and one pass over them for each differing bit.

use super::bit_counts::BitCounts;
use super::doc2::LeastKeys;
use crate::features::pairs::KEY;
use crate::features::{Consumer, FeatureRule, Scheme, Shingler, pairs};
use crate::hash::rabin::{self, UNITS};
use crate::hash::xxh3_64;
use base::{
    Heartbeat, OutOfMemory, Problem, ProblemKind, beat_every, collect, grow_map, grow_text, push, sort,
};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::HashMap;

/// The most distinct features of a text: a longer list would explain nothing.
pub const MAX_FEATURES: usize = 1_000_000;
/// The most bytes of all these features together.
const MAX_BYTES: usize = 256 << 20;
/// The most features of each kind that an explanation names.
const NAMED: usize = 20;
/// How many features are processed between two heartbeats.
const STRIDE: usize = 1 << 10;

/// A feature of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// The text of the feature.
    pub text: String,
    /// Its hash, which votes for the bits of the fingerprint. With one permutation, it may be chosen to
    /// decide some of them.
    pub hash: u64,
    /// The weight of its votes, which is 1. With `doc2`, how often it is chosen: 1, 2 or 4.
    pub weight: f64,
    /// The number of its occurrences. A feature has one vote, however often it occurs.
    pub occurrences: u32,
}

/// The distinct features of a text, in the order of their first occurrence.
pub fn features(text: &str, scheme: Scheme, heartbeat: &mut dyn Heartbeat) -> Result<Vec<Feature>, Problem> {
    Ok(list(text, scheme, heartbeat)?.0)
}

/// The distinct features of a text, and for each hash the number of its feature.
fn list(
    text: &str,
    scheme: Scheme,
    heartbeat: &mut dyn Heartbeat,
) -> Result<(Vec<Feature>, HashMap<u64, usize>), Problem> {
    let mut list = FeatureList {
        scheme,
        features: Vec::new(),
        index: HashMap::new(),
        bytes: 0,
        taken: 0,
        problem: None,
        heartbeat,
    };
    Shingler::default().features(text, scheme, &mut list)?;
    list.problem.map_or(Ok((list.features, list.index)), Err)
}

fn too_many_features() -> Problem {
    let message = format!(
        "text has more than {MAX_FEATURES} distinct features, or more than {MAX_BYTES} bytes of them"
    );
    Problem::new(ProblemKind::TooLarge, message).with_hint("Use a part of the text.")
}

/// A copy of the text.
fn copy(text: &str) -> Result<String, OutOfMemory> {
    let mut copied = String::new();
    grow_text(&mut copied, text.len())?;
    copied.push_str(text);
    Ok(copied)
}

/// Collects the distinct features of a text.
struct FeatureList<'a> {
    scheme: Scheme,
    features: Vec<Feature>,
    index: HashMap<u64, usize>,
    bytes: usize,
    taken: usize,
    /// The first problem. After it, no more features are added.
    problem: Option<Problem>,
    heartbeat: &'a mut dyn Heartbeat,
}

impl FeatureList<'_> {
    fn add(&mut self, text: &[u8], hash: u64, weight: f64) {
        self.taken += 1;
        beat_every(STRIDE, self.taken, self.heartbeat);
        if let Some(&index) = self.index.get(&hash) {
            self.features[index].occurrences = self.features[index].occurrences.saturating_add(1);
        } else if self.problem.is_none() {
            self.problem = self.add_new(text, hash, weight).err();
        }
    }

    fn add_new(&mut self, text: &[u8], hash: u64, weight: f64) -> Result<(), Problem> {
        if self.features.len() == MAX_FEATURES || self.bytes + text.len() > MAX_BYTES {
            return Err(too_many_features());
        }
        self.bytes += text.len();
        // The text is UTF-8, so it is only copied once.
        let text = copy(&String::from_utf8_lossy(text))?;
        grow_map(&mut self.index, 1)?;
        push(&mut self.features, Feature { text, hash, weight, occurrences: 1 })?;
        self.index.insert(hash, self.features.len() - 1);
        Ok(())
    }
}

impl Consumer<&[u8]> for FeatureList<'_> {
    fn take(&mut self, feature: &[u8]) {
        match self.scheme.rule() {
            FeatureRule::WordsAndPairs => {
                self.add(feature, pairs::hash_feature(feature), pairs::weigh_feature(feature))
            }
            _ => self.add(feature, xxh3_64(feature), 1.0),
        }
    }

    fn pause(&mut self) {
        self.heartbeat.beat();
    }
}

impl Consumer<[u16; UNITS]> for FeatureList<'_> {
    fn take(&mut self, units: [u16; UNITS]) {
        self.add(String::from_utf16_lossy(&units).as_bytes(), rabin::hash(units), 1.0);
    }

    fn pause(&mut self) {
        self.heartbeat.beat();
    }
}

/// Two fingerprints, and why they differ.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    scheme: String,
    /// The number of differing bits; `None` if a text has no features.
    distance: Option<u32>,
    fingerprints: PerText<Option<i64>>,
    /// The number of features of each text, and of features in both texts.
    features: FeatureCounts,
    /// Features of both texts: the first ones in the first text.
    shared: Vec<String>,
    /// Features of only one text: those that vote as their text does in the most differing bits, or that
    /// decide the most of them.
    deciding: Vec<DecidingFeature>,
    /// The differing bits: those with the weakest votes first, or in ascending order.
    bits: Vec<DifferingBit>,
}

impl Explanation {
    /// Rewrites the text of every feature that the explanation names.
    pub fn rewrite_features(&mut self, rewrite: impl Fn(String) -> String) {
        let deciding = self.deciding.iter_mut().map(|deciding| &mut deciding.feature);
        let chosen = self.bits.iter_mut().filter_map(|bit| match &mut bit.reason {
            BitReason::Votes(_) => None,
            BitReason::Features(features) => Some(features),
        });
        let chosen = chosen.flat_map(|features| [&mut features.a, &mut features.b]);
        for feature in self.shared.iter_mut().chain(deciding).chain(chosen) {
            *feature = rewrite(std::mem::take(feature));
        }
    }
}

#[derive(Clone, Copy, Debug, Serialize)]
/// A value of each text.
struct PerText<T> {
    a: T,
    b: T,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct FeatureCounts {
    a: usize,
    b: usize,
    shared: usize,
}

#[derive(Clone, Debug, Serialize)]
struct DecidingFeature {
    feature: String,
    /// The text that has the feature: a or b.
    of: char,
    /// The number of differing bits in which the feature votes as its text does, or which it decides.
    bits: u32,
}

#[derive(Clone, Debug, Serialize)]
struct DifferingBit {
    bit: u32,
    #[serde(flatten)]
    reason: BitReason,
}

/// The reason why a bit is set or not.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum BitReason {
    /// The sum of the votes. A positive sum sets the bit. Near 0, a few features could change it.
    Votes(PerText<i64>),
    /// With one permutation: the feature that decides the bit.
    Features(PerText<String>),
}

impl BitReason {
    /// How certain the bit is; the least certain bits come first.
    fn strength(&self) -> i64 {
        match self {
            Self::Votes(votes) => votes.a.abs() + votes.b.abs(),
            Self::Features(_) => 0,
        }
    }
}

/// Compares the fingerprints of two texts.
pub fn explain(
    a: &str,
    b: &str,
    scheme: Scheme,
    heartbeat: &mut dyn Heartbeat,
) -> Result<Explanation, Problem> {
    let a = ExplainedText::of(a, scheme, heartbeat)?;
    let b = ExplainedText::of(b, scheme, heartbeat)?;
    let differing = a.fingerprint.zip(b.fingerprint).map_or(0, |(a, b)| a ^ b);
    let shared = || a.features.iter().filter(|feature| b.numbers.contains_key(&feature.hash));

    let mut deciding = a.deciding(&b, 'a', differing, heartbeat)?;
    deciding.extend(b.deciding(&a, 'b', differing, heartbeat)?);
    deciding.sort_by_key(|deciding| Reverse(deciding.bits));
    deciding.truncate(NAMED);

    let mut bits: Vec<DifferingBit> = (0..u64::BITS)
        .filter(|bit| differing >> bit & 1 == 1)
        .map(|bit| Ok(DifferingBit { bit, reason: a.reason(&b, bit, heartbeat)? }))
        .collect::<Result<_, OutOfMemory>>()?;
    bits.sort_by_key(|bit| bit.reason.strength());
    let signed = |fingerprint: Option<u64>| fingerprint.map(|bits| bits as i64);
    Ok(Explanation {
        scheme: scheme.to_string(),
        distance: a.fingerprint.zip(b.fingerprint).map(|(a, b)| (a ^ b).count_ones()),
        fingerprints: PerText { a: signed(a.fingerprint), b: signed(b.fingerprint) },
        features: FeatureCounts { a: a.features.len(), b: b.features.len(), shared: shared().count() },
        shared: shared().take(NAMED).map(|feature| copy(&feature.text)).collect::<Result<_, _>>()?,
        deciding,
        bits,
    })
}

/// One of the compared texts.
struct ExplainedText {
    features: Vec<Feature>,
    /// The number of each feature, by its hash.
    numbers: HashMap<u64, usize>,
    fingerprint: Option<u64>,
    /// With one permutation: for each bit, the number of the feature that decides it.
    choice: Option<Vec<usize>>,
}

impl ExplainedText {
    fn of(text: &str, scheme: Scheme, heartbeat: &mut dyn Heartbeat) -> Result<Self, Problem> {
        let (features, numbers) = list(text, scheme, heartbeat)?;
        let mut counts = BitCounts::default();
        let mut keys = LeastKeys::default();
        for features in features.chunks(STRIDE) {
            heartbeat.beat();
            for feature in features {
                counts.add_all(&[feature.hash]);
                keys.add(feature.hash);
            }
        }
        if !scheme.is_permuted {
            return Ok(Self { features, numbers, fingerprint: counts.majority(), choice: None });
        }
        heartbeat.beat();
        let mut by_key = HashMap::new();
        grow_map(&mut by_key, features.len())?;
        by_key.extend((0..).zip(&features).map(|(number, feature)| (feature.hash & KEY, number)));
        let choice =
            keys.deciding().map(|keys| keys.iter().filter_map(|key| by_key.get(key).copied()).collect());
        Ok(Self { features, numbers, fingerprint: keys.fingerprint(), choice })
    }

    /// The reasons for a bit of this text and of the other text.
    fn reason(
        &self,
        other: &Self,
        bit: u32,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<BitReason, OutOfMemory> {
        Ok(match self.chosen(bit).zip(other.chosen(bit)) {
            Some((a, b)) => BitReason::Features(PerText { a: copy(&a.text)?, b: copy(&b.text)? }),
            None => {
                BitReason::Votes(PerText { a: self.votes(bit, heartbeat), b: other.votes(bit, heartbeat) })
            }
        })
    }

    /// The feature that decides the bit, with one permutation.
    fn chosen(&self, bit: u32) -> Option<&Feature> {
        self.features.get(*self.choice.as_ref()?.get(bit as usize)?)
    }

    /// The sum of the votes for a bit.
    fn votes(&self, bit: u32, heartbeat: &mut dyn Heartbeat) -> i64 {
        heartbeat.beat();
        self.features.iter().map(|feature| if feature.hash >> bit & 1 == 1 { 1 } else { -1 }).sum()
    }

    /// How many differing bits each feature decides, or votes for as this text does.
    fn bits_of_features(&self, differing: u64) -> Result<Vec<u32>, OutOfMemory> {
        let count = self.features.len();
        let Some(choice) = &self.choice else {
            let agreeing = |hash: u64| !(hash ^ self.fingerprint.unwrap_or_default()) & differing;
            return collect(self.features.iter().map(|feature| agreeing(feature.hash).count_ones()), count);
        };
        let mut bits = collect(std::iter::repeat_n(0, count), count)?;
        let chosen = (0..).zip(choice).filter(|(bit, _)| differing >> bit & 1 == 1);
        chosen.for_each(|(_, &feature)| bits[feature] += 1);
        Ok(bits)
    }

    /// The features that only this text has: those that vote as it does in the most differing bits, or that
    /// decide the most of them.
    fn deciding(
        &self,
        other: &Self,
        of: char,
        differing: u64,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Vec<DecidingFeature>, OutOfMemory> {
        if differing == 0 {
            return Ok(Vec::new());
        }
        let own = (0..).zip(&self.features).filter(|(_, own)| !other.numbers.contains_key(&own.hash));
        let bits = self.bits_of_features(differing)?;
        let own = own.map(|(index, _): (usize, _)| (Reverse(bits[index]), index));
        let mut deciding = collect(own, self.features.len())?;
        // With one permutation, most features decide no bit.
        deciding.retain(|(bits, _)| self.choice.is_none() || bits.0 > 0);
        sort(&mut deciding, heartbeat, |&deciding| deciding);
        let named = deciding.into_iter().take(NAMED);
        named
            .map(|(Reverse(bits), index)| {
                Ok(DecidingFeature { feature: copy(&self.features[index].text)?, of, bits })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::{SCHEMES, SchemeFamily};
    use crate::fingerprint::SimHasher;
    use proptest::prelude::*;

    #[test]
    fn features_come_in_the_order_of_the_text() {
        let found = features("To be, or not to be", "word:1".parse().unwrap(), &mut || ()).unwrap();
        let listed: Vec<(&str, u32)> =
            found.iter().map(|feature| (feature.text.as_str(), feature.occurrences)).collect();
        assert_eq!(listed, [("to", 2), ("be", 2), ("or", 1), ("not", 1)]);
    }

    #[test]
    fn an_explanation_adds_up() {
        let a = "the quick brown fox jumps over the dog";
        let b = "the quick brown cat jumps over the dog";
        let explanation = explain(a, b, "word:1".parse().unwrap(), &mut || ()).unwrap();
        assert_eq!((explanation.features.a, explanation.features.b, explanation.features.shared), (7, 7, 6));
        assert_eq!(explanation.bits.len() as u32, explanation.distance.unwrap());
        assert!(
            explanation
                .bits
                .iter()
                .all(|bit| matches!(bit.reason, BitReason::Votes(votes) if (votes.a > 0) != (votes.b > 0)))
        );
        let mut deciding: Vec<(&str, char)> =
            explanation.deciding.iter().map(|deciding| (deciding.feature.as_str(), deciding.of)).collect();
        deciding.sort_unstable();
        assert_eq!(deciding, [("cat", 'b'), ("fox", 'a')]);
        let empty = explain("", b, "word:1".parse().unwrap(), &mut || ()).unwrap();
        assert_eq!((empty.distance, empty.bits.len(), empty.deciding.len()), (None, 0, 0));
    }

    #[test]
    fn with_doc2_features_decide_bits() {
        let a = "the quick brown fox jumps over the dog";
        let b = "the quick brown cat jumps over the dog";
        let explanation = explain(a, b, Scheme::DOC2, &mut || ()).unwrap();
        // There are seven words and seven pairs, of which one word and two pairs differ.
        assert_eq!(
            (explanation.features.a, explanation.features.b, explanation.features.shared),
            (14, 14, 11)
        );
        assert_eq!(explanation.bits.len() as u32, explanation.distance.unwrap());
        let is_new = |feature: &str| feature.contains("fox") || feature.contains("cat");
        for bit in &explanation.bits {
            assert!(matches!(&bit.reason, BitReason::Features(f) if is_new(&f.a) || is_new(&f.b)), "{bit:?}");
        }
        assert!(explanation.deciding.iter().all(|deciding| is_new(&deciding.feature) && deciding.bits > 0));
    }

    proptest! {
        #[test]
        fn features_are_those_of_the_fingerprint(
            text in prop_oneof!["\\PC{0,60}", "[ab ]{0,100}"],
            scheme in prop::sample::select(SCHEMES.iter().map(SchemeFamily::example).collect::<Vec<_>>()),
            prefix in prop::sample::select(vec!["", "folded:", "perm:", "folded:perm:"]),
        ) {
            let scheme = format!("{prefix}{scheme}").parse().unwrap_or(scheme);
            let found = features(&text, scheme, &mut || ()).unwrap();
            let explained = ExplainedText::of(&text, scheme, &mut || ()).unwrap().fingerprint;
            prop_assert_eq!(explained, SimHasher::default().fingerprint(&text, scheme, &mut || ()).unwrap());
            for feature in &found {
                let is_of_text = xxh3_64(feature.text.as_bytes()) == feature.hash;
                let has_own_hash = [FeatureRule::CodeUnits, FeatureRule::WordsAndPairs].contains(&scheme.rule());
                prop_assert!(is_of_text || has_own_hash);
            }
        }
    }
}
