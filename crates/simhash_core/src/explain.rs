//! What the fingerprints of two texts come from: their features, and what makes bits differ.

use crate::bit_counts::BitCounts;
use crate::common_crawl;
use crate::scheme::Scheme;
use crate::simhash::Shingler;
use crate::sink::Sink;
use serde::Serialize;
use std::collections::HashMap;
use std::fmt;
use xxhash_rust::xxh3::xxh3_64;

/// The most distinct features that are listed: more are no explanation.
pub const MAX_FEATURES: usize = 1_000_000;
/// Bytes that they may have together.
const MAX_BYTES: usize = 256 << 20;
/// Features that an explanation names of each kind.
const NAMED: usize = 20;
/// Features between two calls of the heartbeat.
const STRIDE: usize = 1 << 10;

/// A feature of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// The feature itself.
    pub text: String,
    /// Its hash, which votes for the bits of the fingerprint.
    pub hash: u64,
    /// How often it comes; each feature has one vote all the same.
    pub occurrences: u32,
}

/// The text has more distinct features than can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyFeatures;

impl fmt::Display for TooManyFeatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "text has more than {MAX_FEATURES} distinct features, or more than {MAX_BYTES} bytes of them"
        )
    }
}

impl std::error::Error for TooManyFeatures {}

/// The distinct features of a text, in the order in which they come first.
pub fn features(
    text: &str,
    scheme: Scheme,
    heartbeat: &mut dyn FnMut(),
) -> Result<Vec<Feature>, TooManyFeatures> {
    let mut list = List {
        scheme,
        features: Vec::new(),
        index: HashMap::new(),
        bytes: 0,
        taken: 0,
        too_many: false,
        heartbeat,
    };
    Shingler::default().features(text, scheme, &mut list);
    if list.too_many { Err(TooManyFeatures) } else { Ok(list.features) }
}

struct List<'a> {
    scheme: Scheme,
    features: Vec<Feature>,
    index: HashMap<u64, usize>,
    bytes: usize,
    taken: usize,
    too_many: bool,
    heartbeat: &'a mut dyn FnMut(),
}

impl List<'_> {
    fn add(&mut self, text: &[u8], hash: u64) {
        self.taken += 1;
        if self.taken.is_multiple_of(STRIDE) {
            (self.heartbeat)();
        }
        if let Some(&index) = self.index.get(&hash) {
            self.features[index].occurrences = self.features[index].occurrences.saturating_add(1);
        } else if self.features.len() == MAX_FEATURES || self.bytes + text.len() > MAX_BYTES {
            self.too_many = true;
        } else {
            self.index.insert(hash, self.features.len());
            self.bytes += text.len();
            let text = String::from_utf8_lossy(text).into_owned();
            self.features.push(Feature { text, hash, occurrences: 1 });
        }
    }
}

impl Sink for List<'_> {
    fn take(&mut self, feature: &[u8]) {
        debug_assert!(self.scheme != Scheme::CommonCrawl, "whose features have a hash of their own");
        self.add(feature, xxh3_64(feature));
    }

    fn take_units(&mut self, units: [u16; common_crawl::UNITS]) {
        self.add(String::from_utf16_lossy(&units).as_bytes(), common_crawl::hash(units));
    }

    fn pause(&mut self) {
        (self.heartbeat)();
    }
}

/// Two fingerprints, and why they differ.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    scheme: String,
    /// Differing bits; none if a text has no features.
    distance: Option<u32>,
    fingerprints: Sides<Option<i64>>,
    /// How many features each text has, and how many both have.
    features: FeatureCounts,
    /// Features of both texts, those that come first in the first.
    shared: Vec<String>,
    /// Features of one text alone that vote as it does in most of the differing bits.
    deciding: Vec<Deciding>,
    /// The differing bits, the weakest first.
    bits: Vec<DifferingBit>,
}

impl Explanation {
    /// Writes the features in another way.
    pub fn rewrite_features(&mut self, rewrite: impl Fn(String) -> String) {
        let deciding = self.deciding.iter_mut().map(|deciding| &mut deciding.feature);
        for feature in self.shared.iter_mut().chain(deciding) {
            *feature = rewrite(std::mem::take(feature));
        }
    }
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Sides<T> {
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
struct Deciding {
    feature: String,
    /// The text that has it: a or b.
    of: char,
    /// Differing bits for which it votes as its text does.
    bits: u32,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct DifferingBit {
    bit: u32,
    /// The sum of the votes: positive sets the bit, and near 0 a few features turn it.
    votes: Sides<i64>,
}

/// Compares the fingerprints of two texts.
pub fn explain(
    a: &str,
    b: &str,
    scheme: Scheme,
    heartbeat: &mut dyn FnMut(),
) -> Result<Explanation, TooManyFeatures> {
    let (a, b) = (features(a, scheme, heartbeat)?, features(b, scheme, heartbeat)?);
    let (of_a, of_b) = (fingerprint(&a), fingerprint(&b));
    let differing = of_a.zip(of_b).map_or(0, |(a, b)| a ^ b);
    let hashes = |features: &[Feature]| -> HashMap<u64, ()> {
        features.iter().map(|feature| (feature.hash, ())).collect()
    };
    let (in_a, in_b) = (hashes(&a), hashes(&b));
    let shared: Vec<&Feature> = a.iter().filter(|feature| in_b.contains_key(&feature.hash)).collect();

    let mut deciding = deciding_features(&a, &in_b, 'a', differing, of_a);
    deciding.extend(deciding_features(&b, &in_a, 'b', differing, of_b));
    deciding.sort_by_key(|deciding| std::cmp::Reverse(deciding.bits));
    deciding.truncate(NAMED);

    let places = (0..u64::BITS).filter(|bit| differing >> bit & 1 == 1);
    let mut bits: Vec<DifferingBit> = places
        .map(|bit| DifferingBit { bit, votes: Sides { a: votes(&a, bit), b: votes(&b, bit) } })
        .collect();
    bits.sort_by_key(|bit| bit.votes.a.abs() + bit.votes.b.abs());
    Ok(Explanation {
        scheme: scheme.to_string(),
        distance: of_a.zip(of_b).map(|(a, b)| (a ^ b).count_ones()),
        fingerprints: Sides { a: of_a.map(|bits| bits as i64), b: of_b.map(|bits| bits as i64) },
        features: FeatureCounts { a: a.len(), b: b.len(), shared: shared.len() },
        shared: shared.iter().take(NAMED).map(|feature| feature.text.clone()).collect(),
        deciding,
        bits,
    })
}

fn fingerprint(features: &[Feature]) -> Option<u64> {
    let mut counts = BitCounts::default();
    features.iter().for_each(|feature| counts.add_all(&[feature.hash]));
    counts.majority()
}

fn votes(features: &[Feature], bit: u32) -> i64 {
    features.iter().map(|feature| if feature.hash >> bit & 1 == 1 { 1 } else { -1 }).sum()
}

/// The features that the other text does not have, by the differing bits for which they vote as their text.
fn deciding_features(
    features: &[Feature],
    in_other: &HashMap<u64, ()>,
    of: char,
    differing: u64,
    fingerprint: Option<u64>,
) -> Vec<Deciding> {
    let Some(fingerprint) = fingerprint.filter(|_| differing != 0) else { return Vec::new() };
    let agreeing = |hash: u64| (!(hash ^ fingerprint) & differing).count_ones();
    let own = features.iter().filter(|feature| !in_other.contains_key(&feature.hash));
    let mut deciding: Vec<(u32, &Feature)> = own.map(|feature| (agreeing(feature.hash), feature)).collect();
    deciding.sort_by_key(|&(bits, _)| std::cmp::Reverse(bits));
    let named = deciding.into_iter().take(NAMED);
    named.map(|(bits, feature)| Deciding { feature: feature.text.clone(), of, bits }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimHasher;
    use proptest::prelude::*;

    const SCHEMES: [&str; 5] = ["doc1", "commoncrawl", "char:3", "word:1", "word:3"];

    #[test]
    fn features_come_in_the_order_of_the_text() {
        let found = features("To be, or not to be", Scheme::Words(1), &mut || ()).unwrap();
        let listed: Vec<(&str, u32)> =
            found.iter().map(|feature| (feature.text.as_str(), feature.occurrences)).collect();
        assert_eq!(listed, [("to", 2), ("be", 2), ("or", 1), ("not", 1)]);
    }

    #[test]
    fn an_explanation_adds_up() {
        let (a, b) = ("the quick brown fox jumps over the dog", "the quick brown cat jumps over the dog");
        let explanation = explain(a, b, Scheme::Words(1), &mut || ()).unwrap();
        assert_eq!((explanation.features.a, explanation.features.b, explanation.features.shared), (7, 7, 6));
        assert_eq!(explanation.bits.len() as u32, explanation.distance.unwrap());
        assert!(explanation.bits.iter().all(|bit| (bit.votes.a > 0) != (bit.votes.b > 0)));
        let mut deciding: Vec<(&str, char)> =
            explanation.deciding.iter().map(|deciding| (deciding.feature.as_str(), deciding.of)).collect();
        deciding.sort_unstable();
        assert_eq!(deciding, [("cat", 'b'), ("fox", 'a')]);
        let empty = explain("", b, Scheme::Words(1), &mut || ()).unwrap();
        assert_eq!((empty.distance, empty.bits.len(), empty.deciding.len()), (None, 0, 0));
    }

    proptest! {
        #[test]
        fn features_are_those_of_the_fingerprint(
            text in prop_oneof!["\\PC{0,60}", "[ab ]{0,100}"],
            scheme in prop::sample::select(SCHEMES.to_vec()),
        ) {
            let scheme: Scheme = scheme.parse().unwrap();
            let found = features(&text, scheme, &mut || ()).unwrap();
            prop_assert_eq!(fingerprint(&found), SimHasher::default().fingerprint(&text, scheme, &mut || ()));
            for feature in &found {
                prop_assert!(scheme == Scheme::CommonCrawl || xxh3_64(feature.text.as_bytes()) == feature.hash);
            }
        }
    }
}
