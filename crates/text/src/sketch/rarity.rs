//! The weights of features: a feature weighs more if fewer texts of a corpus have it.
//!
//! [`FeatureCounter`] counts the texts of a sample that have a feature, in one row of cells, which hashes
//! choose (Cormode and Muthukrishnan, "An Improved Data Stream Summary: The Count-Min Sketch", 2005). A text
//! counts once in each of its cells, however many of its features are there. The average that falls into
//! every cell by chance is subtracted from a cell (Deng and Rafiei, "New Estimation Algorithms for Streaming
//! Data: Count-min Can Do More", 2007). A feature in a fraction s of the texts weighs log₂(1/s)²/8, rounded
//! up: hardly anything if many texts have it, and 32 if one of 65,536 has it.
//!
//! The resemblance of two texts is then the weight of the features that they share, divided by the weight of
//! all features of either. The containment of a text in another is the weight of the features that they
//! share, divided by the weight of its own features. A signature estimates the resemblance if each feature
//! counts as many times as it weighs (Haveliwala, Gionis and Indyk, "Scalable Techniques for Clustering the
//! Web", 2000).
//!
//! Guarantee: the order of the texts has no effect, nor has the way in which counting was divided; the
//! resemblance is exact, and its estimate from a signature is unbiased. A text changes the number of texts
//! that is estimated for a feature by at most 1, whatever it contains. The cells are part of stored weights,
//! so everyone can compute them; but whoever wants to change a weight needs as many texts as would be needed
//! to change the frequency of the feature itself. Cost: counting takes linear time, and memory for 32,768
//! counts. A comparison sorts the features of both texts, of which each has at most 8 million.

use crate::features::{Scheme, Shingler};
use crate::hash::mix;
use crate::sketch::SketchSample;
use base::{Heartbeat, Problem, ProblemKind, beat_every, collect};

/// The number of cells. A cell is for the features whose mixed hash begins with its number.
const CELLS: usize = 1 << CELL_BITS;
const CELL_BITS: u32 = 15;
/// The number of features between two heartbeats.
const STRIDE: usize = 1 << 14;
/// The number of bytes of a scheme's name, padded with zeros.
const NAME: usize = 32;
/// The number of bytes of the number of texts.
const NUMBER: usize = 8;
/// The number of bytes of a cell's count.
const COUNT: usize = 4;
/// The first bytes of weights. Another form needs another mark.
const MARK: &[u8; 8] = b"weights1";
/// The divisor of the square of a feature's rarity in bits.
const STEP: f64 = 8.0;

/// The size of counts: the number of texts, the scheme's name, and the cells, all little-endian.
pub const COUNTS_BYTES: usize = NUMBER + NAME + CELLS * COUNT;
/// The size of weights: their mark, the scheme's name, and a byte for each cell.
const WEIGHTS_BYTES: usize = MARK.len() + NAME + CELLS;

/// Finds the features of texts, or counts the texts that have them, and reuses its memory for the next text.
#[derive(Debug, Default)]
pub struct FeatureCounter {
    shingler: Shingler,
}

impl FeatureCounter {
    /// The hashes of the features of a text, sorted and distinct.
    pub fn features(
        &mut self,
        text: &str,
        scheme: Scheme,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Vec<i64>, Problem> {
        let mut sample = SketchSample::new(heartbeat);
        self.shingler.hash_features(text, scheme, &mut |features| {
            sample.beat();
            features.iter().for_each(|&feature| sample.push(feature as i64));
        })?;
        sample.into_values()
    }

    /// Adds a text to counts, which must be zeros before the first text.
    pub fn count(
        &mut self,
        counts: &mut [u8],
        text: &str,
        scheme: Scheme,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<(), Problem> {
        let mut text_counter = TextCounter::begin(counts, scheme)?;
        self.shingler.hash_features(text, scheme, &mut |features| {
            heartbeat.beat();
            features.iter().for_each(|&feature| text_counter.add(feature));
        })?;
        Ok(())
    }
}

/// Adds a text to counts, which must be zeros before the first text, by its features.
pub fn add_features(
    counts: &mut [u8],
    features: &[i64],
    scheme: Scheme,
    heartbeat: &mut dyn Heartbeat,
) -> Result<(), Problem> {
    let mut text_counter = TextCounter::begin(counts, scheme)?;
    for (number, &feature) in features.iter().enumerate() {
        beat_every(STRIDE, number, heartbeat);
        text_counter.add(feature as u64);
    }
    Ok(())
}

/// Adds one text to counts.
struct TextCounter<'a> {
    counts: CountsMut<'a>,
    /// A bit for each cell, which is set if the text was counted there.
    is_counted: [u64; CELLS.div_ceil(u64::BITS as usize)],
    has_features: bool,
}

impl<'a> TextCounter<'a> {
    fn begin(counts: &'a mut [u8], scheme: Scheme) -> Result<Self, Problem> {
        let counts = parts_mut(counts)?;
        take_name(counts.name, &padded(scheme))?;
        Ok(Self { counts, is_counted: [0; _], has_features: false })
    }

    /// Takes a feature of the text, which may have been taken before.
    #[inline]
    fn add(&mut self, feature: u64) {
        if !self.has_features {
            self.has_features = true;
            let texts = u64::from_le_bytes(*self.counts.texts);
            *self.counts.texts = texts.saturating_add(1).to_le_bytes();
        }
        let cell = cell(feature);
        let word = &mut self.is_counted[cell / u64::BITS as usize];
        let bit = 1 << (cell % u64::BITS as usize);
        // Whether the text has a feature twice cannot be predicted, so there is no branch.
        increase(&mut self.counts.cells[cell], u32::from(*word & bit == 0));
        *word |= bit;
    }
}

/// Adds other counts to counts.
pub fn merge(counts: &mut [u8], others: &[u8]) -> Result<(), Problem> {
    let CountsMut { texts, name, cells } = parts_mut(counts)?;
    let others = parts(others)?;
    take_name(name, others.name)?;
    let sum = u64::from_le_bytes(*texts).saturating_add(u64::from_le_bytes(*others.texts));
    *texts = sum.to_le_bytes();
    cells.iter_mut().zip(others.cells).for_each(|(own, other)| increase(own, u32::from_le_bytes(*other)));
    Ok(())
}

/// The number of counted texts that have features.
pub fn texts(counts: &[u8]) -> Result<u64, Problem> {
    Ok(u64::from_le_bytes(*parts(counts)?.texts))
}

/// The weights of features by these counts, as they are stored; `None` if no text was counted.
pub fn weights(counts: &[u8]) -> Result<Option<Vec<u8>>, Problem> {
    let Counts { texts, name, cells } = parts(counts)?;
    let texts = u64::from_le_bytes(*texts) as f64;
    if texts == 0.0 {
        return Ok(None);
    }
    let counts = || cells.iter().map(|&count| u32::from_le_bytes(count));
    let sum: u64 = counts().map(u64::from).sum();
    let weights = counts().map(|count| {
        let by_chance = (sum - u64::from(count)) as f64 / (CELLS - 1) as f64;
        let having = (f64::from(count) - by_chance).clamp(1.0, texts);
        ((texts / having).log2().powi(2) / STEP).ceil() as u8
    });
    let bytes = MARK.iter().chain(name).copied().chain(weights);
    Ok(Some(collect(bytes, WEIGHTS_BYTES)?))
}

/// The weights of a scheme's features.
#[derive(Clone, Copy, Debug)]
pub struct FeatureWeights<'a> {
    /// The scheme whose features were counted.
    pub scheme: Scheme,
    cells: &'a [u8],
}

impl<'a> FeatureWeights<'a> {
    /// Reads stored weights.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Problem> {
        let rest = bytes.strip_prefix(MARK).ok_or_else(damaged)?;
        let (name, cells) = rest.split_at_checked(NAME).ok_or_else(damaged)?;
        let name = std::str::from_utf8(name).map_err(|_| damaged())?;
        let scheme = name.trim_end_matches('\0').parse().map_err(|_| damaged())?;
        if cells.len() == CELLS { Ok(Self { scheme, cells }) } else { Err(damaged()) }
    }

    /// Equal weights of all features of a scheme.
    pub fn equal(scheme: Scheme) -> Self {
        Self { scheme, cells: &[1; CELLS] }
    }

    /// The resemblance of two texts by their sorted features, from 0 to 1; `None` if no feature has a weight.
    pub fn similarity(&self, a: &[i64], b: &[i64], heartbeat: &mut dyn Heartbeat) -> Option<f64> {
        let sums = self.sums(a, b, heartbeat);
        (sums.either() > 0).then(|| sums.shared as f64 / sums.either() as f64)
    }

    /// The containment of a text in another by their sorted features, from 0 to 1; `None` if no feature of
    /// the first has a weight.
    pub fn containment(&self, a: &[i64], b: &[i64], heartbeat: &mut dyn Heartbeat) -> Option<f64> {
        let sums = self.sums(a, b, heartbeat);
        (sums.of_a > 0).then(|| sums.shared as f64 / sums.of_a as f64)
    }

    /// What two texts have in common by their sorted features; `None` if no feature of one of them has a
    /// weight.
    pub fn in_common(&self, a: &[i64], b: &[i64], heartbeat: &mut dyn Heartbeat) -> Option<WeightsInCommon> {
        let sums = self.sums(a, b, heartbeat);
        let lighter = sums.of_a.min(sums.of_b);
        (lighter > 0).then(|| WeightsInCommon {
            similarity: sums.shared as f64 / sums.either() as f64,
            containment: sums.shared as f64 / lighter as f64,
        })
    }

    /// Merges two sorted lists of features, and adds up their weights. Nothing depends on which of two
    /// features is the smaller one, except numbers, so the processor need not guess it.
    fn sums(&self, a: &[i64], b: &[i64], heartbeat: &mut dyn Heartbeat) -> WeightSums {
        debug_assert!(a.is_sorted() && b.is_sorted());
        let mut sums = WeightSums::default();
        let mut at_a = 0;
        let mut at_b = 0;
        let mut steps = 0;
        while at_a < a.len() && at_b < b.len() {
            beat_every(STRIDE, steps, heartbeat);
            steps += 1;
            let is_of_a = a[at_a] <= b[at_b];
            let is_of_b = b[at_b] <= a[at_a];
            let weight = u64::from(self.of(a[at_a].min(b[at_b]) as u64));
            sums.of_a += weight * u64::from(is_of_a);
            sums.of_b += weight * u64::from(is_of_b);
            sums.shared += weight * u64::from(is_of_a && is_of_b);
            at_a += usize::from(is_of_a);
            at_b += usize::from(is_of_b);
        }
        sums.of_a += self.sum(&a[at_a..], heartbeat);
        sums.of_b += self.sum(&b[at_b..], heartbeat);
        sums
    }

    /// The weight of features.
    fn sum(&self, features: &[i64], heartbeat: &mut dyn Heartbeat) -> u64 {
        let of_part = |part: &[i64]| {
            heartbeat.beat();
            part.iter().map(|&feature| u64::from(self.of(feature as u64))).sum::<u64>()
        };
        features.chunks(STRIDE).map(of_part).sum()
    }

    /// The weight of the feature with this hash.
    #[inline]
    pub(super) fn of(&self, feature: u64) -> u8 {
        self.cells[cell(feature)]
    }
}

/// The weights of the features of two texts.
#[derive(Clone, Copy, Debug, Default)]
struct WeightSums {
    of_a: u64,
    of_b: u64,
    /// The weight of the features that both have.
    shared: u64,
}

impl WeightSums {
    /// The weight of the features that either has.
    fn either(&self) -> u64 {
        self.of_a + self.of_b - self.shared
    }
}

/// What two texts have in common, from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub struct WeightsInCommon {
    /// The resemblance.
    pub similarity: f64,
    /// The containment in the other text of that one whose features weigh less.
    pub containment: f64,
}

fn cell(feature: u64) -> usize {
    (mix(feature) >> (u64::BITS - CELL_BITS)) as usize
}

/// The parts of counts.
struct Counts<'a> {
    texts: &'a [u8; NUMBER],
    name: &'a [u8; NAME],
    cells: &'a [[u8; COUNT]],
}

/// The parts of counts, to be changed.
struct CountsMut<'a> {
    texts: &'a mut [u8; NUMBER],
    name: &'a mut [u8; NAME],
    cells: &'a mut [[u8; COUNT]],
}

fn parts(counts: &[u8]) -> Result<Counts<'_>, Problem> {
    let (texts, rest) = counts.split_first_chunk().ok_or_else(damaged)?;
    let (name, cells) = rest.split_first_chunk().ok_or_else(damaged)?;
    match cells.as_chunks() {
        (cells, []) if cells.len() == CELLS => Ok(Counts { texts, name, cells }),
        _ => Err(damaged()),
    }
}

fn parts_mut(counts: &mut [u8]) -> Result<CountsMut<'_>, Problem> {
    let (texts, rest) = counts.split_first_chunk_mut().ok_or_else(damaged)?;
    let (name, cells) = rest.split_first_chunk_mut().ok_or_else(damaged)?;
    match cells.as_chunks_mut() {
        (cells, []) if cells.len() == CELLS => Ok(CountsMut { texts, name, cells }),
        _ => Err(damaged()),
    }
}

/// Adds to a number that is stored as little-endian bytes, up to its limit.
fn increase(count: &mut [u8; COUNT], more: u32) {
    *count = u32::from_le_bytes(*count).saturating_add(more).to_le_bytes();
}

/// A scheme's name, as counts and weights store it.
fn padded(scheme: Scheme) -> [u8; NAME] {
    let name = scheme.to_string();
    std::array::from_fn(|at| name.as_bytes().get(at).copied().unwrap_or(0))
}

/// Takes the scheme of the first text. Later texts must have the same.
fn take_name(name: &mut [u8], other: &[u8]) -> Result<(), Problem> {
    if name.iter().all(|&byte| byte == 0) {
        name.copy_from_slice(other);
    }
    let is_empty = other.iter().all(|&byte| byte == 0);
    if name == other || is_empty { Ok(()) } else { Err(schemes_differ(name, other)) }
}

fn schemes_differ(a: &[u8], b: &[u8]) -> Problem {
    let [a, b] = [a, b].map(|name| String::from_utf8_lossy(name).trim_end_matches('\0').to_owned());
    let message = format!("cannot count features of \"{a}\" and of \"{b}\" together");
    Problem::new(ProblemKind::InvalidValue, message).with_hint("Use one scheme for all texts.")
}

fn damaged() -> Problem {
    Problem::new(ProblemKind::InvalidText, "invalid feature weights")
        .with_hint("Compute them by SELECT feature_weights(body, 'word:2') FROM document.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::minhash::{self, MinHasher};
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn features(text: &str, scheme: Scheme) -> Vec<i64> {
        FeatureCounter::default().features(text, scheme, &mut || ()).unwrap()
    }

    fn counts<T: AsRef<str>>(texts: &[T], scheme: &str) -> Vec<u8> {
        let mut counts = vec![0; COUNTS_BYTES];
        let scheme = scheme.parse().unwrap();
        for text in texts {
            FeatureCounter::default().count(&mut counts, text.as_ref(), scheme, &mut || ()).unwrap();
        }
        counts
    }

    fn weights_of<T: AsRef<str>>(texts: &[T], scheme: &str) -> Vec<u8> {
        weights(&counts(texts, scheme)).unwrap().unwrap()
    }

    fn similarity(a: &str, b: &str, weights: &[u8]) -> Option<f64> {
        let weights = FeatureWeights::read(weights).unwrap();
        let [a, b] = [a, b].map(|text| features(text, weights.scheme));
        weights.similarity(&a, &b, &mut || ())
    }

    fn containment(a: &str, b: &str, weights: &FeatureWeights<'_>) -> Option<f64> {
        let [a, b] = [a, b].map(|text| features(text, weights.scheme));
        weights.containment(&a, &b, &mut || ())
    }

    /// Texts of words, which `word:1` takes as features.
    fn written(texts: &[Vec<u16>]) -> Vec<String> {
        texts.iter().map(|text| text.iter().map(|word| format!("w{word} ")).collect()).collect()
    }

    /// The weight of a feature that this many of the texts have.
    fn weight(having: usize, texts: usize) -> u8 {
        ((texts as f64 / having as f64).log2().powi(2) / 8.0).ceil() as u8
    }

    fn hash(word: u16) -> u64 {
        crate::hash::xxh3_64(format!("w{word}").as_bytes())
    }

    #[test]
    fn rare_features_weigh_more() {
        let texts: Vec<String> = (0..1024).map(|at| format!("all {} w{at}", at % 4)).collect();
        let bytes = weights_of(&texts, "word:1");
        let weights = FeatureWeights::read(&bytes).unwrap();
        let of = |word: &str| weights.of(crate::hash::xxh3_64(word.as_bytes()));
        assert_eq!([of("all"), of("3"), of("w7"), of("unseen")], [1, 1, 13, 13]);
    }

    #[test]
    fn numbers_are_contained_as_words_are() {
        let words = FeatureWeights::equal("word:1".parse().unwrap());
        let of = |a, b| containment(a, b, &words);
        assert_eq!(of("Pay 12 euros", "please PAY 12 euros, now"), Some(1.0));
        assert_eq!(of("please pay 12 euros", "pay 13 euros"), Some(0.5));
        assert_eq!([of("", "a"), of("?!", ""), of("a", "")], [None, None, Some(0.0)]);
    }

    #[test]
    fn what_is_no_weights_is_refused() {
        let good = weights_of(&["a b"], "word:1");
        let mut named = good.clone();
        named[8] = b'x';
        for bytes in [&[][..], b"weights1", &good[1..], &good[..good.len() - 1], &named] {
            assert_eq!(FeatureWeights::read(bytes).unwrap_err().message, "invalid feature weights");
        }
        assert_eq!(weights(&vec![0; COUNTS_BYTES]).unwrap(), None);
        assert_eq!(weights(&counts(&["", "?!"], "word:1")).unwrap(), None);
        assert!(weights(&[0; 8]).is_err());
        assert!(merge(&mut vec![0; COUNTS_BYTES], &[]).is_err());
    }

    #[test]
    fn schemes_are_not_mixed() {
        let mut counted = counts(&["a b"], "word:1");
        let problem = merge(&mut counted, &counts(&["a b"], "char:4")).unwrap_err();
        assert_eq!(problem.message, "cannot count features of \"word:1\" and of \"char:4\" together");
        merge(&mut counted, &[0; COUNTS_BYTES]).unwrap();
    }

    /// 50,000 words of 4,000 texts share 32,768 cells. Still, the weights of frequent words are right, and
    /// those of rare words differ by at most a third.
    #[test]
    fn many_features_share_cells() {
        let word = |text: u64, at: u64| match at % 10 {
            0 => at / 10,
            _ => 100 + mix(text * 1000 + at) % 50_000,
        };
        let texts: Vec<Vec<u16>> =
            (0..4000).map(|text| (0..100).map(|at| word(text, at) as u16).collect()).collect();
        let mut having = BTreeMap::new();
        for text in &texts {
            for word in text.iter().collect::<BTreeSet<_>>() {
                *having.entry(*word).or_insert(0) += 1;
            }
        }
        let bytes = weights_of(&written(&texts), "word:1");
        let weights = FeatureWeights::read(&bytes).unwrap();
        let mut error = 0.0;
        let mut rare = 0.0;
        for (&word, &having) in &having {
            let estimated = weights.of(hash(word));
            let exact = weight(having, 4000);
            if having > 2000 {
                assert!(estimated.abs_diff(exact) <= 1, "{estimated} instead of {exact}");
            } else {
                error += f64::from(estimated.abs_diff(exact));
                rare += f64::from(exact);
            }
        }
        assert!(error / rare < 0.35, "{} of the weight of rare words", error / rare);
    }

    /// A text with as many features as one likes, in one cell or in all others, is no more than a text that
    /// has a feature or does not have it.
    #[test]
    fn a_text_counts_once_for_each_feature() {
        let scheme = "word:1".parse().unwrap();
        let of_cell = |number: u64| cell(number) == 5;
        let few = (1..).filter(|&number| of_cell(number));
        let steered: [Vec<i64>; 3] = [
            few.take(100).map(|feature| feature as i64).collect(),
            (1..200_000).filter(|&number| !of_cell(number)).map(|feature| feature as i64).collect(),
            (1..200_000).collect(),
        ];
        let having = |counts: &[u8]| {
            let cells: Vec<f64> =
                parts(counts).unwrap().cells.iter().map(|&count| u32::from_le_bytes(count).into()).collect();
            cells[5] - (cells.iter().sum::<f64>() - cells[5]) / (CELLS - 1) as f64
        };
        for features in steered {
            let mut counts = counts(&["a b", "b c", "c d"], "word:1");
            let before = having(&counts);
            add_features(&mut counts, &features, scheme, &mut || ()).unwrap();
            let change = having(&counts) - before;
            assert!(change.abs() <= 1.0, "{change} texts for {} features", features.len());
        }
    }

    /// 300 pairs of texts, half of whose words are common ones.
    #[test]
    fn bits_estimate_the_weighted_resemblance() {
        let texts: Vec<String> = (0..2000)
            .map(|text| (0..10).map(|at| format!("c{at} r{} ", mix(text * 16 + at) % 3000)).collect())
            .collect();
        let bytes = weights_of(&texts, "word:1");
        let weights = FeatureWeights::read(&bytes).unwrap();
        let bits = |text: &str| {
            let signature = MinHasher::default().weighted_bins(text, 256, &weights, &mut || ()).unwrap();
            minhash::bits(&signature.unwrap(), &mut || ()).unwrap()
        };
        let mut errors = Vec::new();
        for pair in texts.windows(2).take(300) {
            let a = &pair[0];
            let b = pair[0].split_at(pair[0].len() / 2).0.to_owned() + &pair[1];
            let x = bits(a);
            let y = bits(&b);
            let differing: u32 = x.iter().zip(&y).map(|(x, y)| (x ^ y).count_ones()).sum();
            let estimate = 1.0 - 2.0 * f64::from(differing) / 256.0;
            errors.push(estimate - similarity(a, &b, &bytes).unwrap());
        }
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let spread = (errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64).sqrt();
        assert!(mean.abs() < 0.02 && spread < 0.12, "{mean} {spread}");
    }

    #[test]
    fn texts_without_weight_have_no_signature() {
        let bytes = weights_of(&["a b", "a c"], "word:1");
        let weights = FeatureWeights::read(&bytes).unwrap();
        let signature = |text| MinHasher::default().weighted_bins(text, 8, &weights, &mut || ()).unwrap();
        assert_eq!(signature(""), None);
        assert!(signature("b").is_some());
        assert_eq!(similarity("", "", &bytes), None);
        assert_eq!(similarity("b", "b", &bytes), Some(1.0));
        assert_eq!(similarity("b", "c", &bytes), Some(0.0));
    }

    proptest! {
        /// Tests the definition, with a set of words for each text.
        #[test]
        fn weights_and_resemblance_are_as_defined(
            texts in prop::collection::vec(prop::collection::vec(0u16..60, 0..20), 1..40),
            parts in 1usize..5,
        ) {
            let all = written(&texts);
            let mut merged = vec![0; COUNTS_BYTES];
            for part in all.chunks(all.len().div_ceil(parts)) {
                merge(&mut merged, &counts(part, "word:1")).unwrap();
            }
            prop_assert!(merged == counts(&all, "word:1"));
            let mut by_features = vec![0; COUNTS_BYTES];
            let scheme = "word:1".parse().unwrap();
            for text in &all {
                add_features(&mut by_features, &features(text, scheme), scheme, &mut || ()).unwrap();
            }
            prop_assert!(merged == by_features);
            let sets: Vec<BTreeSet<u16>> = texts.iter().map(|text| text.iter().copied().collect()).collect();
            let counted = sets.iter().filter(|set| !set.is_empty()).count();
            let Some(bytes) = weights(&merged).unwrap() else {
                prop_assert_eq!(counted, 0);
                return Ok(());
            };
            let weights = FeatureWeights::read(&bytes).unwrap();
            let mut cells = BTreeMap::new();
            for set in &sets {
                for cell in set.iter().map(|&word| mix(hash(word)) >> 49).collect::<BTreeSet<_>>() {
                    *cells.entry(cell).or_insert(0u32) += 1;
                }
            }
            let sum: u32 = cells.values().sum();
            let weight = |word: u16| {
                let count = cells.get(&(mix(hash(word)) >> 49)).copied().unwrap_or(0);
                let having = f64::from(count) - f64::from(sum - count) / 32_767.0;
                ((counted as f64 / having.max(1.0).min(counted as f64)).log2().powi(2) / 8.0).ceil() as u8
            };
            for word in 0..70 {
                prop_assert_eq!(weights.of(hash(word)), weight(word));
            }
            let sum = |words: &mut dyn Iterator<Item = &u16>| {
                words.map(|&word| u32::from(weight(word))).sum::<u32>()
            };
            let a = &sets[0];
            let b = &sets[sets.len() - 1];
            let either = sum(&mut a.union(b));
            let expected = (either > 0).then(|| f64::from(sum(&mut a.intersection(b))) / f64::from(either));
            prop_assert_eq!(similarity(&all[0], &all[all.len() - 1], &bytes), expected);
            for (weights, weight) in [(weights, &weight as &dyn Fn(u16) -> u8), (FeatureWeights::equal(weights.scheme), &|_| 1)] {
                let sum = |words: &mut dyn Iterator<Item = &u16>| words.map(|&word| u32::from(weight(word))).sum::<u32>();
                let of_a = sum(&mut a.iter());
                let expected = (of_a > 0).then(|| f64::from(sum(&mut a.intersection(b))) / f64::from(of_a));
                prop_assert_eq!(containment(&all[0], &all[all.len() - 1], &weights), expected);
            }
        }

        #[test]
        fn any_bytes_are_weights_or_refused(
            mut bytes in prop::collection::vec(any::<u8>(), 0..100),
            whole: bool,
        ) {
            if whole {
                bytes.splice(0..0, MARK.iter().copied());
                bytes.resize(WEIGHTS_BYTES, 0);
            }
            let _ = FeatureWeights::read(&bytes);
        }
    }
}
