//! The features of `doc2`: every word, and every two consecutive words (`docs/developers/doc2.md`).
//!
//! Each word is hashed once. The hash of a pair is computed from the hashes of its words. A single word
//! counts as a pair with an empty first word.

use super::Consumer;
use super::words::ReadableWord;
use crate::hash::GOLDEN_RATIO;

/// The number of bits of a hash that are the feature's key. The bits above them choose a cell.
pub(crate) const KEY_BITS: u32 = 55;
/// The bits of a hash that are the key.
pub(crate) const KEY: u64 = (1 << KEY_BITS) - 1;
/// The bits of a hash that choose a cell.
const CELL: u64 = !KEY;
/// The odd factor that XXH3 mixes the bits of short inputs with.
const CHUNK_FACTOR: u64 = 0x9fb2_1c65_1e98_df25;

/// The hash of a word, and whether the word is long.
#[derive(Clone, Copy, Debug, Default)]
struct HashedWord {
    hash: u64,
    /// 1 for a long word, else 0.
    long: u32,
}

impl HashedWord {
    #[inline(always)]
    fn new(word: ReadableWord<'_>) -> Self {
        Self { hash: word.fold_chunks(append), long: u32::from(word.is_long()) }
    }
}

/// Mixes eight more bytes of a word into its hash.
#[inline(always)]
fn append(hash: u64, chunk: u64) -> u64 {
    let hash = (hash ^ chunk).wrapping_mul(CHUNK_FACTOR);
    hash ^ hash >> 32
}

/// The hash of the feature of two words. Every long word halves the key, so that the feature is chosen more
/// often.
#[inline(always)]
fn hash(first: HashedWord, second: HashedWord) -> u64 {
    let hash = (first.hash.rotate_left(32) ^ second.hash).wrapping_mul(GOLDEN_RATIO);
    hash & CELL | (hash & KEY) >> (first.long + second.long)
}

/// The hash of a feature that is given as text: one word, or two words with a blank between them.
pub(crate) fn hash_feature(feature: &[u8]) -> u64 {
    let [first, second] = words_of(feature);
    hash(first, second)
}

/// How often such a feature is chosen, as a multiple of a feature without long words.
pub(crate) fn weigh_feature(feature: &[u8]) -> f64 {
    let [first, second] = words_of(feature);
    f64::from(1 << (first.long + second.long))
}

fn words_of(feature: &[u8]) -> [HashedWord; 2] {
    let mut buffer = Vec::new();
    let mut words = feature
        .split(|&byte| byte == b' ')
        .map(|word| HashedWord::new(ReadableWord::copied(word, &mut buffer)));
    let last = words.next_back().unwrap_or_default();
    [words.next().unwrap_or_default(), last]
}

/// Takes words, and hashes the features that they make.
pub(super) struct HashPairs<'a, T> {
    before: HashedWord,
    consumer: &'a mut T,
}

impl<'a, T: Consumer<u64>> HashPairs<'a, T> {
    pub(super) fn new(consumer: &'a mut T) -> Self {
        Self { before: HashedWord::default(), consumer }
    }
}

impl<T: Consumer<u64>> Consumer<ReadableWord<'_>> for HashPairs<'_, T> {
    #[inline(always)]
    fn take(&mut self, word: ReadableWord<'_>) {
        let word = HashedWord::new(word);
        // The first word makes no pair. With the empty word before it, it makes the same feature twice.
        self.consumer.take(hash(HashedWord::default(), word));
        self.consumer.take(hash(self.before, word));
        self.before = word;
    }

    fn pause(&mut self) {
        self.consumer.pause();
    }
}

/// Takes words, and writes the features that they make.
pub(super) struct WritePairs<'a, S> {
    before: Vec<u8>,
    consumer: &'a mut S,
}

impl<'a, S: for<'f> Consumer<&'f [u8]>> WritePairs<'a, S> {
    pub(super) fn new(consumer: &'a mut S) -> Self {
        Self { before: Vec::new(), consumer }
    }
}

impl<S: for<'f> Consumer<&'f [u8]>> Consumer<&[u8]> for WritePairs<'_, S> {
    fn take(&mut self, word: &[u8]) {
        self.consumer.take(word);
        if !self.before.is_empty() {
            self.before.push(b' ');
            self.before.extend_from_slice(word);
            self.consumer.take(&self.before);
            self.before.clear();
        }
        self.before.extend_from_slice(word);
    }

    fn pause(&mut self) {
        self.consumer.pause();
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::batch::tests::{any_text, feature_hashes};
    use super::super::{Scheme, Shingler};
    use super::*;
    use crate::hash::rabin::UNITS;
    use proptest::prelude::*;

    pub(in crate::features) struct Listed(pub Vec<String>);

    impl Consumer<&[u8]> for Listed {
        fn take(&mut self, feature: &[u8]) {
            self.0.push(String::from_utf8(feature.to_vec()).unwrap());
        }

        fn pause(&mut self) {}
    }

    impl Consumer<[u16; UNITS]> for Listed {
        fn take(&mut self, feature: [u16; UNITS]) {
            self.0.push(String::from_utf16_lossy(&feature));
        }

        fn pause(&mut self) {}
    }

    fn features(text: &str) -> Vec<String> {
        let mut listed = Listed(Vec::new());
        Shingler::default().features(text, Scheme::DOC2, &mut listed).unwrap();
        listed.0
    }

    #[test]
    fn features_are_words_and_pairs() {
        assert_eq!(features("To be, or 1994"), ["to", "be", "to be", "or", "be or"]);
        assert_eq!(features("One"), ["one"]);
        assert_eq!(features("42"), [""; 0]);
    }

    #[test]
    fn long_words_weigh_more() {
        let weights = ["the", "é", "да", "that", "語", "of the", "of that", "that 語"]
            .map(|feature| weigh_feature(feature.as_bytes()));
        assert_eq!(weights, [1.0, 1.0, 2.0, 2.0, 2.0, 1.0, 2.0, 4.0]);
    }

    #[test]
    fn hashes_are_as_defined() {
        let hash = |feature: &str| format!("{:016x}", hash_feature(feature.as_bytes()));
        let chunk = u64::from_le_bytes(*b"abcdefgh").wrapping_mul(CHUNK_FACTOR);
        let first = chunk ^ chunk >> 32;
        let chunk = (first ^ u64::from(b'i')).wrapping_mul(CHUNK_FACTOR);
        let value = (chunk ^ chunk >> 32).wrapping_mul(GOLDEN_RATIO);
        assert_eq!(hash("abcdefghi"), format!("{:016x}", value & CELL | (value & KEY) >> 1));
        let value = first.wrapping_mul(GOLDEN_RATIO);
        assert_eq!(hash("abcdefgh"), format!("{:016x}", value & CELL | (value & KEY) >> 1));
        assert_ne!(hash("a b"), hash("b a"));
    }

    #[test]
    fn words_of_every_length_are_hashed_where_they_stand() {
        let letters = "Abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";
        for (length, before) in (1..40).flat_map(|length| [(length, "7 "), (length, ""), (length, "é ")]) {
            let word = &letters[..length];
            let text = format!("{before}{word} {}", " ".repeat(100));
            let hashes = feature_hashes(&text, Scheme::DOC2);
            let expected = hash_feature(word.to_lowercase().as_bytes());
            assert!(hashes.contains(&expected), "{text}");
        }
    }

    proptest! {
        #[test]
        fn hashes_are_those_of_the_features(text in any_text()) {
            let mut hashes = feature_hashes(&text, Scheme::DOC2);
            // The first word is hashed twice.
            hashes.drain(..hashes.len().min(1));
            let written: Vec<u64> = features(&text).iter().map(|f| hash_feature(f.as_bytes())).collect();
            prop_assert_eq!(hashes, written);
        }
    }
}
